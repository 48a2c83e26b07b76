#!/bin/bash
# SPDX-License-Identifier: MIT
# What is read of cc-backend - listings, clusters - hangs, never ends, lies or is
# huge: stops wait for it, and every run arrives all the same.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "answers that are read"
export CC_BACKEND=		# faults are the stand-in's
groups repair_checks.py readings
test_end
