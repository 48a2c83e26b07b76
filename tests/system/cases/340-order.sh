#!/bin/bash
# SPDX-License-Identifier: MIT
# Requeued runs and ids used again, runs of one id that wait together, zero
# and negative lengths, every final state, repeated records; every version of
# cc-backend, and one that changes while we run.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "order, reuse, times and versions"
groups delivery.py order versions
test_end
