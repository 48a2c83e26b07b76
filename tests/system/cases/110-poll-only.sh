#!/bin/bash
# SPDX-License-Identifier: MIT
# No hooks in slurm.conf: the polls find everything.  Runs longer than two
# poll intervals come with threads and GPUs, shorter ones with counts and a
# message that says what is missing.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "hooks off, polls only"
lab_up LAB_NOHOOKS=1
backend_up
conf slurmPollInterval=2
suite_up
MIX_SLEEP=7
mix 50
for i in 1 2 3 4 5 6 7 8 9 10; do
	one labalice 0.2 -n$((1 + i % 3)) -J "short-$i"
done
say "jobs submitted that make $mix_count runs, ten of them very short"
mix_end
wait_for 240 queue_empty
is "all as Slurm says" compare --short 5 --wait 60 --expect "$mix_count"
is "nothing died" not grep -qiE 'restart|died|killed by' "$SUITE_LOG"
test_end
