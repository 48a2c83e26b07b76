#!/bin/bash
# SPDX-License-Identifier: MIT
# 200 jobs of all kinds, from real Slurm through hooks and polls to the
# backend: each arrives once, as scontrol and sacct say it was.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "200 mixed jobs, once each and right"
lab_up
backend_up
suite_up
hooks_on
is "each worker says which layers hold it" wait_for 10 logged 'sandbox|layers'
MIX_TIMEOUTS=yes mix 100
say "jobs submitted that make $mix_count runs"
mix_end
wait_for 240 queue_empty
is "the queue of Slurm is empty" queue_empty
is "all as Slurm says" compare --wait $((60 + 2 * COMMIT)) --expect "$mix_count"
n=$(grep -c 'rc=0' "$T/slurm/truth/hooks")
is "hooks ran ($n), each ended with 0" not grep -qv 'rc=0' "$T/slurm/truth/hooks"
say "slowest hook: $(sed 's/.*us=//' "$T/slurm/truth/hooks" | sort -n | tail -1) us"
is "nothing died" not grep -qiE 'restart|died|killed by' "$SUITE_LOG"
is "TERM ends it within 5 s" suite_down 5
is "pid file and socket are gone" not ls "$T/run/daemon.pid" "$T/run/daemon.sock" 2>/dev/null
test_end
