#!/bin/bash
# SPDX-License-Identifier: MIT
# Each answer to one run's start and stop is judged as it must be: done, asked
# back, refused and kept, tried again; one poisoned run among thousands is
# alone.  CSA_LONG=1: ten thousand, in place of two.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "what becomes of one run"
groups delivery.py answers poison
test_end
