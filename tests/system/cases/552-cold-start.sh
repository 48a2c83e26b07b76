#!/bin/bash
# SPDX-License-Identifier: MIT
# Another slurmctld under this cluster's name, without its jobs, tells its
# slurmdbd that they are over: while our own shows them running nobody ends.
# Then the own one is started cold (-c) without its state, so that it counts
# job ids from 1 again: who ends then is whom accounting has an end of.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "slurmctld is another one, or was started cold"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
# stopped_at JOB TIME: that is when it ended, for cc-backend
stopped_at() {
	local row start long
	row=$(backend_jobs | grep "\"jobId\": $1," | grep -v '"jobState": "running"' | head -n 1)
	start=$(sed -n 's/.*"startTime": \([0-9]*\).*/\1/p' <<<"$row")
	long=$(sed -n 's/.*"duration": \([0-9]*\).*/\1/p' <<<"$row")
	[ -n "$row" ] && [ $((start + long)) = "$2" ]
}
# ended_before JOB TIME
ended_before() {
	local row start long
	row=$(backend_jobs | grep "\"jobId\": $1," | head -n 1)
	start=$(sed -n 's/.*"startTime": \([0-9]*\).*/\1/p' <<<"$row")
	long=$(sed -n 's/.*"duration": \([0-9]*\).*/\1/p' <<<"$row")
	[ $((start + long)) -lt "$2" ]
}
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
one labbob 1 -n1 -J "ends before"
for ((i = 0; i < 5; i++)); do
	one labalice 600 -n1 -J stays
done
last=$mix_id
is "five jobs run" wait_for 60 backend_has "$last"
ended() { [ "$(stops)" = 1 ]; }
wait_for 30 ended

# elsewhere: its own port, state and nodes that it does not reach
mine=$SLURM_CONF
other=$T/slurm/etc/other.conf
port=$(lib freeport 1)
mkdir -p "$T/slurm/other"
chown slurm: "$T/slurm/other"
sed -E "s#^SlurmctldPort=.*#SlurmctldPort=$port#
s#^StateSaveLocation=.*#StateSaveLocation=$T/slurm/other#
s#^SlurmctldPidFile=.*#SlurmctldPidFile=$T/slurm/run/other.pid#
s#^SlurmctldLogFile=.*#SlurmctldLogFile=$T/slurm/log/other.log#
s#^(NodeName=.* Port=)[0-9]+#\19#" "$mine" >"$other"
SLURM_CONF=$other setpriv --reuid slurm --regid "$(id -g slurm)" --init-groups \
    slurmctld </dev/null >>"$T/log/other" 2>&1
other_up() { SLURM_CONF=$other timeout 5 scontrol ping | grep -q 'is UP'; }
wait_for 20 other_up || broken "no second slurmctld"
other_pid=$(cat "$T/slurm/run/other.pid")
started_pids+=("$other_pid")
cancelled() { sacct -D -X -n -P -o state -j "$last" | grep -q CANCELLED; }
is "it has told slurmdbd that our jobs are over" wait_for 20 cancelled
is "squeue shows them all the same" [ "$(squeue -h -t R | wc -l)" = 5 ]
is "it is said that the two do not agree" wait_for 50 logged 'squeue shows it running after that'
sleep 4
is "nobody ends" ended
is "no run is unknown" status 'unknown +0 once, 0 twice'
kill "$other_pid"
one labbob 1 -n1 -J after
is "a new job comes and goes" wait_for 40 backend_has_ended "$mix_id"
is "nobody else ended" [ "$(stops)" = 2 ]
t0=$(date +%s)
scancel "$last"
is "one of them ends in truth: it does for cc-backend" wait_for 40 backend_has_ended "$last"
is "and at that time" not ended_before "$last" "$t0"
last=$((last - 1))

lab ctl kill slurmctld
rm -rf "${T:?}"/slurm/state/*
LAB_COLD=1 lab ctl start slurmctld
again=$(batch labbob "sleep 60" -n1 -J "with an old id")
is "started cold, ids begin anew ($again)" [ "$again" -lt "$last" ]
sleep 8
# accounting may end them (a cold start does), or go on calling them running
for ((i = 2; i <= last; i++)); do
	f=$(TZ=UTC SLURM_TIME_FORMAT=%s sacct -D -X -n -P -o jobname,state,start,end -j "$i" |
	    grep '^stays|' | tail -n 1)
	said=${f##*|}
	has=$(backend_jobs | grep "\"jobId\": $i," | head -n 1)
	case $said in
	Unknown) is "job $i, running in accounting, runs on" grep -q '"jobState": "running"' <<<"$has" ;;
	*) is "job $i ends when accounting says ($f)" wait_for 40 stopped_at "$i" "$said" ;;
	esac
done
is "the suite has no other problem than runs" sh -c "'$CTL' -s '$T/run/ctl.sock' status | head -n 1 | grep -qE '^(OK|DEGRADED since [^:]*:[0-9]*: [0-9,]+ runs? )'"
test_end
