#!/bin/bash
# SPDX-License-Identifier: MIT
# kill -9 while it writes, a full disk, a full spool, a disk that becomes
# read-only, a second process, a hundred restarts: nothing acknowledged is
# lost, and threads and GPUs of what begins are kept even then.  CSA_LONG=1: ten times as many kills.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "the spool under violence"
groups spool.py kills full cap stubs reserve readonly twice
test_end
