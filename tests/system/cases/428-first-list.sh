#!/bin/bash
# SPDX-License-Identifier: MIT
# The first start on a cc-backend that another program has filled with running
# jobs: they are listed first, and none of them is started again.  CSA_FILLED is
# their number.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "a filled cc-backend"
groups repair_checks.py filled
test_end
