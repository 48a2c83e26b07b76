#!/bin/bash
# SPDX-License-Identifier: MIT
# Resets, silence, half answers, wrong lengths, endless, slow and huge ones,
# before and after the effect; 502 to 504; no port; a stopped and a killed
# backend; its own limit of 20 s: each run arrives once, and what hangs holds
# up nobody.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "answers that never come, never end, or lie"
groups delivery.py transport limit outages
test_end
