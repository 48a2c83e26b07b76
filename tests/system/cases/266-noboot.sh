#!/bin/bash
# SPDX-License-Identifier: MIT
# A node that does not boot within ResumeTimeout, and a preemption of a job that is
# CONFIGURING: Slurm requeues both jobs, and accounting calls their first runs
# NODE_FAIL and PREEMPTED.  These runs were never executed: they are not reported, and
# the next runs are.  A job whose node does not boot and that is not requeued is
# reported.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/prolog.sh"
test_begin "a node that does not boot; preempted while configuring"
need_fake
lab_up LAB_BIG=0 "LAB_CONF=SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=86400
SuspendTimeout=2
ResumeTimeout=10
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=high Nodes=n[1-4] PriorityTier=10 PreemptMode=OFF
PartitionName=low Nodes=n2 PriorityTier=1 PreemptMode=REQUEUE"
backend_up
conf slurmPollInterval=1 ccPollInterval=5 slurmQueryDelay=1
suite_up
is_off() { scontrol show node "$1" | grep -q 'State=[A-Z+_]*POWERED_DOWN'; }
state_of() { sacct -n -X -D -P -j "$1" -o state | head -n 1; }
started() {
	grep -oE "\"effect\":\"start\",\"jobId\":$1,\"startTime\":[0-9]+" "$LEDGER" |
	    grep -oE '[0-9]+$' | xargs
}
for n in n3 n4; do
	scontrol update nodename=$n state=power_down
	is "$n is powered down" wait_for 60 is_off $n
done
a=$(batch labalice 'sleep 3' -n1 -w n4 --requeue -J noboot)
c=$(batch labalice 'sleep 3' -n1 -w n3 --no-requeue -J final)
prolog_waits
b=$(batch labbob 'sleep 3' -p low -n16 --requeue -J lost)
for job in $a $b $c; do
	is "the start of job $job is held" wait_for 30 is_held "$job"
done
high=$(batch labalice 'sleep 2' -p high -w n2 -n16 -J high)
is "job $b is preempted" wait_for 30 eval "[ \$(squeue -h -j $b -o %T) = PENDING ]"
rm -f "$T/prolog"
is "the node of job $a does not boot" \
    wait_for 90 eval "[ \$(squeue -h -j $a -o %T) = PENDING ]"
is "accounting calls the first runs so" \
    [ "$(state_of "$a") $(state_of "$b")" = "NODE_FAIL PREEMPTED" ]
is "the job that is not requeued is reported" wait_for 60 backend_has_ended "$c"
is "the job with the higher priority, too" wait_for 60 backend_has_ended "$high"
sleep 3
# Slurm 26.05 runs them again at once: only their first runs count here.
first_of() { SLURM_TIME_FORMAT=%s sacct -n -X -D -P -j "$1" -o start | head -n 1; }
is_sent() { [[ " $(started "$1") " == *" $(first_of "$1") "* ]]; }
is "nothing of the other two was sent" not eval "is_sent $a || is_sent $b"
for job in $a $b; do
	scontrol update jobid="$job" ReqNodeList= StartTime=now
done
completed() { SLURM_TIME_FORMAT=%s sacct -n -X -D -P -j "$1" -s completed -o start | head -n 1; }
is_completed() { [ -n "$(completed "$1")" ]; }
for job in $a $b; do
	is "job $job completes" wait_for 60 is_completed "$job"
	is "its next run arrives" wait_for 60 backend_has_ended "$job"
	is "as its only one" [ "$(started "$job")" = "$(completed "$job")" ] ||
	    say "$(started "$job"), $(completed "$job")"
done
sleep 3
is "nothing was rejected" eval "ctl queue --rejected | grep -q 'no delivery is rejected'"
test_end
