#!/bin/bash
# SPDX-License-Identifier: MIT
# Requeued, resized and suspended jobs of a real Slurm: a requeued run that
# cc-backend refuses is reported and harms nobody; two runs of one id that wait
# together arrive both, oldest first, their stops behind both starts; a job that
# runs again after its node crashed has its job script; a resized or suspended job
# stays one run.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "requeued, resized, suspended"
need_fake
lab_up LAB_CONF=BatchStartTimeout=1
COMMIT=3
backend_up
conf slurmPollInterval=1 ccPollInterval=5 slurmQueryDelay=0
suite_up
hooks_on
effects() { grep "\"jobId\":$1," "$LEDGER" | grep -oE '"effect":"(start|stop)"' | cut -d'"' -f4 | xargs; }
effects_are() { [ "$(effects "$1")" = "$2" ]; }
rejected_is() { [ "$(ctl -j queue --rejected | grep -oE "\"job\": *\"?$1\b" | wc -l)" = "$2" ]; }
# requeue JOB: Slurm lets it wait for two minutes; it must not start in the
# second in which its credential was revoked
requeue() {
	scontrol requeue "$1"
	wait_for 30 job_state_is "$1" PENDING || return 1
	sleep 2
	scontrol update jobid="$1" StartTime=now
}
second_runs() { job_state_is "$1" RUNNING && scontrol show job "$1" | grep -q 'Restarts=1'; }
ran_for() { [ $(($(date +%s) - $(SLURM_TIME_FORMAT=%s squeue -h -j "$1" -o %S))) -ge "$2" ]; }

# after its first run is committed there cc-backend refuses the second
again=$(batch labalice "sleep 10" -n1 --requeue)
small=$(batch labalice "sleep 14" -N2 -n2)
pause=$(batch labbob "sleep 10" -n1)
is "(the first run arrives)" wait_for 40 backend_has "$again"
wait_for 40 job_state_is "$small" RUNNING
wait_for 40 job_state_is "$pause" RUNNING
scontrol update jobid="$small" NumNodes=1 >/dev/null 2>&1 || say "this Slurm does not resize it"
scontrol suspend "$pause"
requeue "$again"
is "requeued: the second run runs" wait_for 60 second_runs "$again"
scontrol resume "$pause"
is "the second run is refused and kept" wait_for 40 rejected_is "$again" 1
say "$(ctl queue --rejected | tail -n 1 | cut -c1-170)"
is "the first run ends as requeuedState says" wait_for 40 sh -c \
    "grep '\"jobId\":$again,' '$LEDGER' | grep '\"effect\":\"stop\"' | grep -q '\"jobState\":\"preempted\"'"
is "a resized job is one run" wait_for 60 effects_are "$small" "start stop"
is "a suspended job is one run" wait_for 60 effects_are "$pause" "start stop"
wait_for 60 queue_empty
is "the refused run makes no second entry when it ends" rejected_is "$again" 1
is "and no stop was sent for it" effects_are "$again" "start stop"

# both learned while cc-backend is away, the second one as it runs
suite_down
both=$(batch labbob "[ -n \"\$SLURM_RESTART_COUNT\" ] && sleep 15 || sleep 60" -n2 --requeue)
is "(while the suite is down a job runs)" wait_for 40 job_state_is "$both" RUNNING
sleep 2
requeue "$both"
is "(is requeued and runs again)" wait_for 60 second_runs "$both"
# cc-backend gets both starts between two of its commits
fault '{"action":"status","status":503,"count":-1}'
suite_up
both_wait() { [ "$(ctl -j queue | grep -oE "\"job\": *\"?$both\b" | wc -l)" = 2 ]; }
is "(both runs wait)" wait_for 60 both_wait
faults_off
is "both runs arrive, starts first" wait_for 90 effects_are "$both" "start start stop stop"
is "the older one first" [ "$(grep "\"jobId\":$both," "$LEDGER" | grep '"effect":"start"' |
    grep -oE '"startTime":[0-9]+' | cut -d: -f2 | sort -cn 2>&1)" = "" ]
is "it is not refused" rejected_is "$both" 0
stop_of() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"stop"' | grep -oE '"stopTime":[0-9]+' | cut -d: -f2; }
for job in "$small" "$pause"; do
	is "job $job ends when Slurm says" [ "$(stop_of "$job")" = \
	    "$(SLURM_TIME_FORMAT=%s sacct -D -X -n -P -j "$job" -o end | tail -n 1)" ]
done

# slurmctld misses the job on its node, BatchStartTimeout + MessageTimeout after its start
suite_down
crash=$(batch labbob "[ -n \"\$SLURM_RESTART_COUNT\" ] || sleep 40" -n1 -w n4 --requeue)
is "(while the suite is down a job runs)" wait_for 40 job_state_is "$crash" RUNNING
wait_for 30 ran_for "$crash" 13
lab ctl crash slurmd:n4
lab ctl start slurmd:n4
is "(its node crashes)" wait_for 60 job_state_is "$crash" PENDING
scontrol update jobid="$crash" StartTime=now
suite_up
is "both runs arrive after a crash" wait_for 90 effects_are "$crash" "start start stop stop"
# in its start, or in an update when slurmctld is slow
has_script() { grep "\"jobId\":$1," "$LEDGER" | grep -q '"jobScript"'; }
is "the second one has its job script" wait_for 30 has_script "$crash"
ctl drop "$again" >/dev/null
is "dropped: the list is empty" wait_for 5 rejected_is "$again" 0
test_end
