#!/bin/bash
# SPDX-License-Identifier: MIT
# A Slurm without accounting: ends come from slurmctld while it remembers
# them, with and without hooks, also those of while the suite was dead; what is
# less is said once; nothing heaps up.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "a Slurm without slurmdbd"
lab_up LAB_NODBD=1 LAB_BIG=0 LAB_MINJOBAGE=90
backend_up
conf slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
job_line() { backend_jobs | grep "\"jobId\": $1,"; }
in_state() { job_line "$1" | grep -q "\"jobState\": \"$2\""; }
with_threads() { job_line "$1" | grep -q '"hwthreads": \['; }
# $1 jobs from $2 on: started with threads, ended as they did
all_right() {
	is "$1: completed, on two nodes" wait_for 60 in_state "$plain" completed
	is "$1: failed" wait_for 30 in_state "$fails" failed
	is "$1: cancelled" wait_for 30 in_state "$cancelled" cancelled
	is "$1: with their threads" eval "with_threads $plain && with_threads $fails && with_threads $cancelled"
}
some_jobs() {
	one labalice "$1" -N2 -n5 -J plain
	plain=$mix_id
	fails=$(batch labbob "sleep $1; exit 3" -n1)
	one labalice 600 -n2 -J "is cancelled"
	cancelled=$mix_id
}
some_jobs 3
wait_for 30 backend_has "$cancelled"
scancel "$cancelled"
all_right "with hooks"
is "said, once" [ "$(grep -c 'has no slurmdbd: ends are read' "$SUITE_LOG")" = 1 ]
is "status says it" status 'slurmdbd +none: ends are read from slurmctld only'
hooks_off
some_jobs 3
wait_for 30 backend_has "$cancelled"
scancel "$cancelled"
all_right "without hooks"

some_jobs 4
is "they run" wait_for 30 backend_has "$cancelled"
suite_kill
scancel "$cancelled"
one labbob 1 -n1 -J "starts and ends meanwhile"
wait_for 60 queue_empty
suite_up
all_right "ended while the suite was dead"
is "started and ended while it was dead" wait_for 30 in_state "$mix_id" completed
suite_kill
one labbob 1 -n1 -J "alone meanwhile"
wait_for 60 queue_empty
suite_up
is "no other run has changed" wait_for 30 in_state "$mix_id" completed
is "with its threads" with_threads "$mix_id"
hooks_on
one labalice 1 -n1 -J last
is "one more arrives" wait_for 40 in_state "$mix_id" completed
no_events() { ctl -j status | lib get - status collector events | grep -qx 0; }
is "no event is left behind" wait_for 60 no_events
is "twelve runs were started, each once" [ "$(grep -c '"effect":"start"' "$LEDGER")" = 12 ]
test_end
