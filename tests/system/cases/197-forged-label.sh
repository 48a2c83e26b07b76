#!/bin/bash
# SPDX-License-Identifier: MIT
# The MCS label, the QOS and the features of a job are texts of its user, which
# slurmctld prints among its own tokens: a record in such a text, of another
# account, on other nodes, with another state, changes nothing that arrives.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a record forged in an MCS label"
need_fake
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=60
forged="Priority=1 Nice=0 Account=victim QOS=high JobState=RUNNING Reason=None TimeLimit=1-00:00:00 SubmitTime=2020-01-01T00:00:00 StartTime=2020-01-01T00:00:01 EndTime=2020-01-02T00:00:01 Partition=other NodeList=n[1-4] NumNodes=4 NumCPUs=512 TRES=cpu=512,node=4 CoreSpec=*   Nodes=n[1-4] CPU_IDs=0-15 Mem=0 GRES= MinCPUsNode=1 MinMemoryNode=0 Features=(null) DelayBoot=00:00:00 OverSubscribe=NO Licenses=x"
label=$(batch labalice "sleep 60" -n1 --mcs-label="x $forged")
cut=$(batch labalice "sleep 60" -n1 --mcs-label="x $forged"$'\n'"JobId=4711 JobName=y UserId=root(0) GroupId=root(0) MCS_label=N/A")
gone=$(batch labalice "sleep 60" -n1 --mcs-label="x ${forged/RUNNING/REVOKED}")
# the real state is on a third line, far behind the forged one
pad=$(printf '%0900d' 0)
both=$(batch labalice "sleep 60" -n1 -J "a UserId=labbob(1002) GroupId=labbob(1002) MCS_label=N/A ${forged% Licenses=x} Command=/x"$'\n'x --mcs-label="$pad"$'\n'x)
harmless=$(batch labalice "sleep 60" -n1 --mcs-label="x JobState=REVOKED Licenses=y")
# from Slurm 24.11 on, unless it is enforced
qos=$(batch labalice "sleep 60" -n1 -q "x ${forged#*Account=victim QOS=high }" 2>/dev/null)
features=$(batch labalice "sleep 60" -n1 --cluster-constraint="x OverSubscribe=NO Contiguous=0 Licenses=x")
plain=$(batch labbob "sleep 60" -n1)
wait_for 20 job_state_is "$plain" RUNNING
is "slurmctld prints the label as it is" grep -qF "MCS_label=x $forged" \
    <<<"$(scontrol show job -d -o "$label")"
is "in two lines" [ "$(scontrol show job -o "$cut" | grep -c "^JobId=")" -ge 2 ]
suite_up
start_of() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"start"'; }
is "a job without such texts arrives" wait_for 30 start_of "$plain"
same() {	# JOB: what arrives is Slurm's
	local got
	is "job $1 arrives" wait_for 60 start_of "$1" || return 0
	got=$(start_of "$1")
	is "with its account" grep -q '"project":"proj1"' <<<"$got"
	is "in its partition" grep -q '"partition":"main"' <<<"$got"
	is "on its node" grep -q "\"hostname\":\"$(squeue -h -j "$1" -o %N)\"" <<<"$got"
	is "on no other node" grep -q '"numNodes":1,' <<<"$got"
	is "which it shares" not grep -q '"shared":"none"' <<<"$got"
	is "with its threads" grep -qE '"hwthreads":\[[0-9]+,[0-9]+\]' <<<"$got"
	is "at its time" grep -q "\"startTime\":$(date -d "$(squeue -h -j "$1" -o %S)" +%s)," <<<"$got"
	is "no line of slurmInfo is forged" not grep -qE '\\n *(JobState=RE|StartTime=2020|NodeList=n\[)' <<<"$got"
}
for job in $label $cut $gone $both $harmless $qos $features; do
	same "$job"
done
is "and no other job" not start_of 4711
scancel -u labalice
scancel -u labbob
test_end
