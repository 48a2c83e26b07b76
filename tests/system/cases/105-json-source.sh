#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmSource json: what squeue and sacct print as JSON makes the same runs as
# their text does; where it lacks something, that is said once and text helps.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "mixed jobs read from JSON"
lab_up
backend_up
conf slurmSource=json
suite_up
hooks_on
is "it says how it reads" wait_for 20 logged 'read by --json'
mix 20
one labalice 5 -J $'JobId=1 UserId=root(0) "quoted" \\ \n|new line' -n2
say "jobs submitted that make $mix_count runs"
mix_end
wait_for 240 queue_empty
is "the queue of Slurm is empty" queue_empty
is "all as Slurm says" compare --wait $((60 + 2 * COMMIT)) --expect "$mix_count"
is "squeue was asked for JSON" logged 'asks .*/squeue -a -t'
is "nothing died" not grep -qiE 'restart|died|killed by' "$SUITE_LOG"
say "$(grep -c 'JSON lacks' "$SUITE_LOG") fields lacking: $(sed -n 's/.*JSON lacks \([^,]*\),.*/\1/p' "$SUITE_LOG" | tr '\n' ' ')"
is "no field is named twice" eval '[ -z "$(sed -n "s/.*JSON lacks \([^,]*\),.*/\1/p" "$SUITE_LOG" | sort | uniq -d)" ]'
conf slurmSource=text
is "text again, live" ctl reload
one labbob 2 -n3 -N2
sleep 4
is "and a run more" compare --wait 40 --expect "$mix_count"
test_end
