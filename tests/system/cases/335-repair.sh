#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs that another hand has closed in cc-backend: found, said, left alone until
# repair, which comes to the same end wherever it is killed.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "closed by another hand, and mended"
export CC_BACKEND=		# 360 has the real one
groups repair_checks.py closed kills
test_end
