#!/bin/bash
# SPDX-License-Identifier: MIT
# Bits flipped, torn, overwritten, another program's, a newer version's: clear
# words, the file set aside or left alone, never deleted, and it goes on; and
# what an admin can do: check, export, import.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "damaged spools"
groups spool.py damage part recovery_killed foreign live admin
test_end
