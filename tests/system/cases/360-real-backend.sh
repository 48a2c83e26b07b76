#!/bin/bash
# SPDX-License-Identifier: MIT
# Repair, late metadata, tags, a thousand runs with a damaged one, and an upgrade
# on the same database, with real cc-backends: CC_BACKEND is one of 1.5,
# CC_BACKEND_OLD one of 1.4.  CSA_LONG=1: ten thousand.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "a real cc-backend"
[ -n "${CC_BACKEND:-}" ] || skip "CC_BACKEND names no cc-backend"
groups repair_checks.py closed kills late tags upgrade
groups repair_checks.py poison
test_end
