#!/bin/bash
# SPDX-License-Identifier: MIT
# activeOnly: a primary and a backup slurmctld with a suite beside each.  One
# side sends at a time, the other takes over and hands back, and when both
# believe to be the one, every run is in cc-backend once all the same
# (the split lasts some 15 s; with CSA_LONG=1 75 s).
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a suite beside each of two controllers"
unshare --uts true 2>/dev/null || skip "no UTS namespaces"
lab_up LAB_BACKUP=labbackup LAB_CTLD_TIMEOUT=5
backend_up
# what squeue needs the primary for waits no longer than a poll
conf slurmPollInterval=2 ccPollInterval=10 activeOnly=true
suite_up
main=$suite_pid

# the other side: its own folders, its own host name, and a scontrol that may
# be told to see the primary down
B=$T/b
mkdir -p "$B/etc" "$B/run" "$B/state" "$B/bin"
chmod 755 "$B" "$B/bin"
: >"$B/state/lastrun"
chown laboper: "$B/state" "$B/state/lastrun"
for f in squeue sacct sacctmgr sdiag sinfo; do
	ln -s "$(command -v $f)" "$B/bin/$f"
done
cat >"$B/bin/scontrol" <<-S
	#!/bin/sh
	[ "\$1" = ping ] && [ -e $B/bin/split ] &&
	    exec sh -c "$(command -v scontrol) ping | sed '1s/is UP/is DOWN/'"
	exec $(command -v scontrol) "\$@"
S
chmod 755 "$B/bin/scontrol"
sed "s|$T/run/|$B/run/|g; s|$T/state/|$B/state/|g" "$T/etc/config.json" >"$B/etc/config.json"
lib conf "$B/etc/config.json" "slurmBinDir=$B/bin"
env -i PATH="$PATH" unshare --uts sh -c 'hostname labbackup; exec "$@"' sh \
    "$ADAPTER" -daemon -config "$B/etc/config.json" -debug 4 >"$T/log/suite.b" 2>&1 </dev/null &
other=$!
started_pids+=("$other")

ctl_a() { "$CTL" -s "$T/run/ctl.sock" "$@"; }
ctl_b() { "$CTL" -s "$B/run/ctl.sock" "$@"; }
side() { "ctl_$1" -j status | lib get - status submitter side | grep -q "$2"; }
# everything in the ledger is there once
effects() { grep -c "\"effect\":\"$1\"" "$LEDGER"; }
doubled() {
	grep "\"effect\":\"$1\"" "$LEDGER" | grep -oE '"jobId":[0-9]+,"startTime":[0-9]+' | sort | uniq -d
}
sent_by() { grep -cE "job [0-9]+ \(.*: (start|stop)_job: done: 20" "$1"; }
ended() { backend_has_ended "$1"; }

is "the primary's side is active" wait_for 60 side a active
is "the backup's side is the standby" wait_for 60 side b standby
a=$(batch labalice "sleep 400" -n1)
b=$(batch labbob "sleep 2" -n1)
is "runs arrive" wait_for 60 backend_has "$a"
is "and end" wait_for 90 ended "$b"
knows_runs() { [ "$(ctl_b -j status | lib get - status submitter records)" -gt 0 ]; }
is "the standby knows of them" wait_for 60 knows_runs
is "and has sent nothing" [ "$(sent_by "$T/log/suite.b")" = 0 ]

: >"$T/killed"
# what slurmctld has not saved yet, a kill makes it run once more
wait_for 60 test "$T/slurm/state/job_state" -nt "$T/killed"
say "the primary is killed"
lab ctl kill slurmctld
is "the standby takes over" wait_for 90 side b active
is "the other side stands by" wait_for 60 side a standby
c=$(batch labalice "sleep 3" -n1)
is "a new run arrives by way of it" wait_for 90 ended "$c"
is "it was sent by the backup's side" sh -c "grep -q 'job $c (.*: start_job: done: 201' '$T/log/suite.b'"
is "what had been delivered was not sent again" not grep -q "job $a (.*: start_job: done: 201" "$T/log/suite.b"

say "the primary comes back"
lab ctl start slurmctld
is "its side is active again" wait_for 90 side a active
is "the backup's is the standby" wait_for 60 side b standby
d=$(batch labbob "sleep 3" -n1)
is "runs arrive" wait_for 90 ended "$d"

say "a split: both believe to be the one"
: >"$B/bin/split"
is "both are active" wait_for 60 side b active
is "indeed" side a active
for i in $(seq $((${CSA_LONG:+20} + 6))); do	# CSA_LONG=1: for a minute and more
	last=$(batch labalice "sleep $((i % 6 + 1))" -n1)
	[ -z "${CSA_LONG:-}" ] || sleep 2.5
done
is "runs begin and end meanwhile" wait_for 120 ended "$last"
sleep 10	# the one that comes second has had its chance
rm "$B/bin/split"
is "it is over" wait_for 60 side b standby
scancel "$a"
is "the long one ends" wait_for 90 ended "$a"
is "nothing waits" wait_for 90 sh -c "'$CTL' -s '$T/run/ctl.sock' queue | grep -q 'no delivery waits'"
if backend_is_fake; then
	is "each run started once" [ -z "$(doubled start)" ]
	is "each run stopped once" [ -z "$(doubled stop)" ]
fi
is "none was refused" sh -c "'$CTL' -s '$T/run/ctl.sock' queue --rejected | grep -q 'no delivery is rejected'"
is "nor by the other side" sh -c "'$CTL' -s '$B/run/ctl.sock' queue --rejected | grep -q 'no delivery is rejected'"
is "all as Slurm says" compare --short 4 --wait 60
suite_pid=$main
kill "$other"
test_end
