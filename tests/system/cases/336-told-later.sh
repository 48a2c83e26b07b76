#!/bin/bash
# SPDX-License-Identifier: MIT
# Doubles asked for by ranges, past a damaged row; what only the end tells; tags
# by rule; cc-backend exchanged for another version, up and down.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "looked up, told later, tagged, exchanged"
export CC_BACKEND=		# 360 has the real one
groups repair_checks.py halves late tags upgrade
test_end
