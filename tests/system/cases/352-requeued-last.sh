#!/bin/bash
# SPDX-License-Identifier: MIT
# requeuedRuns last, on a real Slurm, against the stand-in or the real
# cc-backend: a run that was requeued within a minute is deleted there when the
# job runs again, and the later run is started; killed when the earlier one is
# to be deleted, and before the later one comes.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "requeued runs: the last"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=5 slurmQueryDelay=0 requeuedRuns='"last"'
suite_up
hooks_on
requeue() {
	scontrol requeue "$1"
	wait_for 30 job_state_is "$1" PENDING || return 1
	sleep 2
	[ -z "${2:-}" ] || { "$2" "$1"; }
	scontrol update jobid="$1" StartTime=now
}
second_runs() { job_state_is "$1" RUNNING && scontrol show job "$1" | grep -q 'Restarts=1'; }
rows_of() { backend_jobs | grep -c "\"jobId\": $1,"; }
last_start() { SLURM_TIME_FORMAT=%s sacct -D -X -n -P -j "$1" -o start | tail -n 1; }
has_last() {
	[ "$(rows_of "$1")" = 1 ] &&
	    backend_jobs | grep "\"jobId\": $1," | grep -q "\"startTime\": $(last_start "$1")"
}
ended_last() { has_last "$1" && backend_has_ended "$1"; }
# wait until the first run is stopped there, then kill it all
stopped_and_killed() {
	is "its first run is delivered in full" wait_for 60 backend_has_ended "$1"
	suite_kill
	suite_up
}
a=$(batch labalice "sleep 12" -n1 --requeue)
is "(the first run arrives)" wait_for 60 backend_has "$a"
is "requeued with its first run running there" requeue "$a"
is "it runs again" wait_for 60 second_runs "$a"
is "the second run is there in place of the first" wait_for 60 has_last "$a"
b=$(batch labbob "sleep 12" -n1 --requeue)
is "(another one arrives)" wait_for 60 backend_has "$b"
requeue "$b" stopped_and_killed
is "it runs again" wait_for 60 second_runs "$b"
is "the second run is there, after a kill between them" wait_for 60 has_last "$b"
is "said so" wait_for 10 logged "job $b .*requeued after .* deleted in cc-backend"
is "both end" wait_for 60 ended_last "$a"
is "and the other" wait_for 60 ended_last "$b"
is "nothing is refused" [ -z "$(ctl -j queue --rejected | grep -o '"job":')" ]
test_end
