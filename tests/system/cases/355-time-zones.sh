#!/bin/bash
# SPDX-License-Identifier: MIT
# Slurm's daemons and the suite in a time zone with summer time: what begins or
# ends in the hour that is left out, or in the one that comes twice, arrives
# with its own second.  Real rows of accounting are moved there, to both changes
# of three zones.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "time zones"
need_fake
export TZ=Australia/Lord_Howe	# its summer time is half an hour
lab_up LAB_MINJOBAGE=2
COMMIT=1
backend_up
conf slurmPollInterval=1 ccPollInterval=3600 slurmQueryDelay=0
suite_up
one=$(batch labalice "sleep 1" -n1)
is "a job of now arrives" wait_for 60 backend_has_ended "$one"
started() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"start"' | grep -oE '"startTime":[0-9]+' | head -n 1 | cut -d: -f2; }
stopped() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"stop"' | grep -oE '"stopTime":[0-9]+' | head -n 1 | cut -d: -f2; }
is "with Slurm's second" [ "$(started "$one")" = \
    "$(db "select time_start from alpha_job_table where id_job=$one")" ]
suite_down
# The changes of 2026, in UTC: Lord Howe, New York, Berlin; spring and autumn
changes=("2026-04-04 15:00" "2026-10-03 15:30" "2026-03-08 07:00" "2026-11-01 06:00"
    "2026-03-29 01:00" "2026-10-25 01:00")
jobs=()
for ((i = 0; i < 2 * ${#changes[@]}; i++)); do
	jobs+=("$(batch labbob "true" -n1)")
done
wait_for 120 queue_empty
all_ended() { [ "$(db "select count(*) from alpha_job_table where time_end > 0")" = $((${#jobs[@]} + 1)) ]; }
is "accounting has them" wait_for 60 all_ended
# while slurmctld knows a job it may write its row anew
forgotten() { [ -z "$(squeue -h -a -t all -o %A)" ]; }
is "slurmctld has forgotten them" wait_for 120 forgotten
for ((i = 0; i < ${#jobs[@]}; i++)); do
	c=$(date -u -d "${changes[i / 2]}" +%s)
	# across the change, and in the hour behind it
	s=$((c - 600)) e=$((c + 600))
	[ $((i % 2)) = 0 ] || s=$((c + 1)) e=$((c + 3599))
	db "update alpha_job_table set time_submit=$((s - 60)), time_eligible=$((s - 60)),
	    time_start=$s, time_end=$e where id_job=${jobs[i]}"
	want[i]="$s $e"
done
rm -f "$T/state/spool/"*
suite_up
both_there() { [ -n "$(stopped "${jobs[$1]}")" ] && [ -n "$(stopped "${jobs[$1 + 1]}")" ]; }
for ((i = 0; i < ${#changes[@]}; i++)); do
	c=$(date -u -d "${changes[i]}" +%s)
	# a new spool learns its cluster with the first poll; one range at a time
	is "what is past is asked for" wait_for 30 ctl backfill --from $((c - 7200)) --to $((c + 7200))
	is "both arrive" wait_for 60 both_there $((2 * i))
done
for ((i = 0; i < ${#jobs[@]}; i++)); do
	is "job ${jobs[i]} at ${changes[i / 2]} UTC has its seconds" \
	    [ "$(started "${jobs[i]}") $(stopped "${jobs[i]}")" = "${want[i]}" ]
done
test_end
