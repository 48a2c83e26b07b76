#!/bin/bash
# SPDX-License-Identifier: MIT
# A stop is sent after a list has shown its start.  Runs that another client
# stopped, that stay open or that are exchanged are found by a comparison and
# logged; only repair changes them.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "the race of cc-backend's stops"
groups delivery.py race
test_end
