#!/bin/bash
# SPDX-License-Identifier: MIT
# The hook client exits 0 within a second, whatever is dead, stopped, full or
# unreachable, for its status decides whether Slurm runs the job.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the hook client never stands in the way"
python3 "$SYS/hook_client.py" "$ADAPTER" "$T" || failures=$((failures + 1))
test_end
