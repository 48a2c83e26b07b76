#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs that another client has stopped in cc-backend: they are found and logged,
# and only repair changes them.  A repair that is killed at any step continues.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "runs that another client stopped, and their repair"
export CC_BACKEND=		# 360 has the real one
groups repair_checks.py closed kills
test_end
