#!/bin/bash
# SPDX-License-Identifier: MIT
# A cluster of cloud nodes that are powered down, of which older versions of Slurm
# show none: jobs are read all the same; a job that powers up its node gets the
# hardware threads and not the numbers of the cores, by hook and by poll; the node
# is down in cc-backend when Slurm has powered it down.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "cloud nodes"
need_fake
cat >"$T/resume" <<E
#!/bin/bash
echo "\$1" >>"$T/resumed"
E
chmod 755 "$T/resume"
: >"$T/resumed"
chmod 666 "$T/resumed"
chmod 777 "$T"
lab_up "LAB_CONF=ResumeProgram=$T/resume
SuspendProgram=/bin/true
SuspendTime=6
SuspendTimeout=2
ResumeTimeout=120
ResumeRate=0
SuspendRate=0"
for n in n1 n2 n3 n4; do
	lab ctl stop slurmd:$n
done
lab ctl stop slurmctld
sed -i '/^NodeName=/s/$/ State=CLOUD/' "$SLURM_CONF"
LAB_COLD=1 lab ctl start slurmctld
# Newer versions of Slurm show a node that is powered down.
all_off() { ! scontrol show node -o --all | grep '^NodeName=' | grep -qv '+POWERED_DOWN'; }
is "all nodes are powered down" wait_for 60 all_off || scontrol show node -o
say "$(scontrol -V) shows $(scontrol show node -o --all | grep -c '^NodeName=') of them"
backend_up
conf slurmPollInterval=1 nodeStatePollInterval=1
suite_up

# boot NODE: as a cloud does it, once Slurm wants the node
is_resumed() { grep -q "$1" "$T/resumed"; }
boot() {
	wait_for 60 is_resumed "$1" || return 1
	mkdir -p "$T/slurm/spool/$1"
	slurmd -b -N "$1" -f "$SLURM_CONF" </dev/null >>"$T/log/slurmd.$1" 2>&1
}
threads() {
	backend_jobs | python3 -c '
import json, sys
for line in sys.stdin:
    job = json.loads(line)
    if job["jobId"] == int(sys.argv[1]):
        print(*(t for r in job["resources"] for t in r.get("hwthreads") or ["none"]))
' "$1"
}
# one WHAT NODE JOB THREADS: the job powers up its node
one() {
	local what=$1 node=$2 job=$3
	shift 3
	is "$what: the run is stored before its node is up" \
	    wait_for 30 eval "ctl queue | grep -q ' $job '"
	is "$what: the node boots" boot "$node"
	is "$what: the job runs" wait_for 60 eval "[ \$(squeue -h -j $job -o %T) = RUNNING ]"
	is "$what: its start arrives" wait_for 60 backend_has "$job"
	is "$what: with its threads" [ "$(threads "$job")" = "$*" ] ||
	    say "$(threads "$job"): $(scontrol show job -d "$job" | grep CPU_IDs)"
}
a=$(batch labalice 'sleep 20' -w n1 -n4 -J part)
one "by hook" n1 "$a" 0 4 8 12
lab hook ""
b=$(batch labbob 'sleep 20' -w n2 --exclusive -J whole)
one "by poll" n2 "$b" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
is "both end" wait_for 60 eval "backend_has_ended $a && backend_has_ended $b"
is "no start was sent twice" [ "$(backend_count)" = 2 ]
down() { lab ctl kill "slurmd:$1"; }
down n1
down n2
is "all nodes are powered down again" wait_for 90 all_off || scontrol show node -o
state() {
	grep -oE "\"hostname\": ?\"$1\"[^}]*" "$LEDGER" | tail -n 1 |
	    sed 's/.*"stored": *"//; s/".*//'
}
is_down() { [ "$(state "$1")" = down ]; }
for n in n1 n2; do
	is "$n is down in cc-backend" wait_for 30 is_down $n || say "$n: $(state $n)"
done
is "slurmctld answered always" not logged 'slurmctld.*(does not answer|is away)'
test_end
