#!/bin/bash
# SPDX-License-Identifier: MIT
# Doubles asked for by ranges, past a damaged row; what only the end tells; tags
# by rule; cc-backend exchanged for another version, up and down.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/groups.sh"
test_begin "looked up, told later, tagged, exchanged"
export CC_BACKEND=		# 360 has the real one
groups mending.py halves late tags upgrade
test_end
