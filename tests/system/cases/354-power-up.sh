#!/bin/bash
# SPDX-License-Identifier: MIT
# The node of a run is powered up first.  Slurm shows the run as CONFIGURING, and its
# start moves to the second in which the node is up.  cc-backend has one run for it,
# with this start: of a run that the suite sees running, and of one that runs while the
# suite is away.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/prolog.sh"
test_begin "a node that is powered up"
power=$T/power
mkdir "$power"
for kind in suspend resume; do
	printf '#!/bin/sh\necho "$@" >>%s/%s.said\n' "$power" "$kind" >"$power/$kind"
	chmod 755 "$power/$kind"
done
chmod 777 "$power"
lab_up LAB_CONF="SuspendProgram=$power/suspend
	ResumeProgram=$power/resume
	SuspendTime=86400
	SuspendTimeout=2
	ResumeTimeout=120"
backend_up
conf slurmPollInterval=1 ccPollInterval=5
suite_up
node_is() { scontrol show node n4 | grep -q "State=[A-Z+_]*$1"; }
power_down() {
	scontrol update nodename=n4 state=power_down
	wait_for 60 node_is POWERED_DOWN
}
# The node has been booted: a new slurmd, with a new time of its boot.
boot() {
	wait_for 30 grep -q n4 "$power/resume.said" || return 1
	sleep 3
	rm "$power/resume.said"
	lab ctl kill slurmd:n4
	slurmd -N n4 -b -f "$SLURM_CONF" </dev/null >>"$T/slurm/log/slurmd.n4.out" 2>&1
}
start_of() { scontrol show job "$1" | grep -o 'StartTime=[^ ]*'; }
configures() { scontrol show job "$1" | grep -q 'JobState=CONFIGURING'; }
runs() { scontrol show job "$1" | grep -q 'JobState=RUNNING'; }

is "the node is powered down" power_down
id=$(batch labalice "sleep 12" -n1 -w n4)
is "the run waits for its node" wait_for 30 configures "$id"
before=$(start_of "$id")
is "the node boots" boot
is "it runs" wait_for 60 runs "$id"
is "its start has moved" [ "$before" != "$(start_of "$id")" ]
is "it is there while it runs" wait_for 30 backend_has "$id"
is "its end arrives" wait_for 60 backend_has_ended "$id"

is "the node is powered down again" power_down
away=$(batch labbob "sleep 1" -n1 -w n4)
is "the next run waits for it" wait_for 30 configures "$away"
is "the suite has seen it" wait_for 20 is_held "$away"
shown=$(date -d "$(start_of "$away" | cut -d= -f2)" +%s)
suite_down
is "it boots while the suite is away" boot
job_done() { scontrol show job "$1" | grep -q 'JobState=COMPLETED'; }
is "the run ends" wait_for 60 job_done "$away"
suite_up
is "its end arrives, too" wait_for 60 backend_has_ended "$away"
# The notes of `compare` have each run with both starts.
rows() { python3 "$SYS/expected.py" jobs "$BACKEND" "$TOKEN" | grep "\"jobId\": $1,"; }
accounted() { date -d "$(sacct -n -X -P -o Start -j "$1")" +%s; }
has_start() { rows "$1" | grep -qE "\"startTime\": ($2)\b"; }
for run in "$id" "$away"; do
	is "job $run is there once" [ "$(rows "$run" | wc -l)" = 1 ]
	is "as completed" [ "$(rows "$run" | grep -c completed)" = 1 ]
done
is "the first has the start that accounting has" has_start "$id" "$(accounted "$id")"
# The suite has seen only the first start of the other one.
is "the other one has one of its starts" has_start "$away" "$(accounted "$away")|$shown"
test_end
