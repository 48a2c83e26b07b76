#!/bin/bash
# SPDX-License-Identifier: MIT
# A prolog that fails the first time, slurmctld's or a node's: Slurm takes the
# job back and runs it again.  The run that never ran must not reach
# cc-backend, which would refuse the real one for a day; with hooks and with
# polls only, and when the suite is killed meanwhile.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "prolog fails"
mkdir "$T/fail"
chmod 777 "$T" "$T/fail"
cat >"$T/node-prolog" <<E
#!/bin/bash
[ -e "$T/fail/node.\$SLURM_JOB_ID" ] || exit 0
mv "$T/fail/node.\$SLURM_JOB_ID" "$T/fail/was.\$SLURM_JOB_ID"
sleep 4
exit 1
E
chmod 755 "$T/node-prolog"
lab_up "LAB_CONF=PrologFlags=Alloc
Prolog=$T/node-prolog"
COMMIT=5
backend_up
conf slurmPollInterval=1 ccPollInterval=5 slurmQueryDelay=0
suite_up

# hook CALLS: slurmctld's prolog fails once after some seconds for jobs that
# are named ctld; CALLS: does it call ours?
hook() {
	lab hook "if [ \$SLURM_SCRIPT_CONTEXT.\$SLURM_JOB_NAME = prolog_slurmctld.ctld ] && mkdir $T/fail/ctld.\$SLURM_JOB_ID 2>/dev/null; then
	$1 $ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock
	sleep 4
	exit 1
fi
$1 $ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock"
}
# again JOB: Slurm lets a requeued job wait for two minutes, and holds it after
# a node's prolog failed, which drains the node.  It must not start in the
# second in which its credential was revoked.
again() {
	wait_for 30 job_state_is "$1" PENDING || return 1
	sleep 2
	scontrol update nodename="n1,n2,n3,n4" state=resume 2>/dev/null
	scontrol release "$1" 2>/dev/null
	scontrol update jobid="$1" StartTime=now
	wait_for 60 job_runs_or_ran "$1"
}
job_runs_or_ran() {
	case $(squeue -h -a -t all -j "$1" -o %T) in
	RUNNING | COMPLETED | COMPLETING) ;;
	*) return 1 ;;
	esac
}
held_in_queue() { ctl queue | grep "$1" | grep -q 'waits until Slurm shows'; }
runs_are() { [ "$(sacct -D -X -n -P -j "$1" -o state | xargs)" = "$2" ]; }
# one WHAT JOB: after the prolog's failure only the real run arrives
one_run() {
	is "$1: its start is held while the prolog runs" wait_for 15 held_in_queue "$2"
	[ -z "${3:-}" ] || { suite_kill; suite_up; }
	is "$1: Slurm runs it again" again "$2"
	is "$1: the real run arrives" wait_for 60 backend_has_ended "$2"
	is "$1: Slurm had two" wait_for 20 runs_are "$2" "REQUEUED COMPLETED" ||
	    say "$(sacct -D -n -P -j "$2" -o jobidraw,state,submit,start,end,exitcode)"
	is "$1: cc-backend has one" [ "$(backend_jobs | grep -c "\"jobId\": $2,")" = 1 ]
}
starts() { SLURM_TIME_FORMAT=%s sacct -D -X -n -P -j "$1" -o start | tail -n 1; }
has_start() { backend_jobs | grep "\"jobId\": $1," | grep -q "\"startTime\": $(starts "$1")"; }

hook ""
a=$(batch labalice "sleep 4" -n2 -J ctld --requeue)
one_run "slurmctld's prolog, by hook" "$a"
b=$(batch labbob "sleep 4" -n2 -J node -H --requeue)
: >"$T/fail/node.$b"
chmod 666 "$T/fail/node.$b"
scontrol release "$b"
one_run "a node's prolog, by hook" "$b"
hook ": "
c=$(batch labalice "sleep 4" -p gpu -n1 --gres=gpu:1 -J ctld --requeue)
one_run "slurmctld's prolog, by poll, killed meanwhile" "$c" kill
d=$(batch labbob "sleep 4" -n2 -J plain)
is "a plain job arrives" wait_for 40 backend_has_ended "$d"
for j in "$a" "$b" "$c"; do
	is "job $j has the start of its real run" has_start "$j"
done
is "nothing is refused" [ -z "$(ctl -j queue --rejected | grep -o '"job":')" ]

# Both first seen in accounting: one was requeued as it ran, one never ran.
suite_down
hooks_on
e=$(batch labalice "touch $T/fail/really; sleep 6" -n2 -J really --requeue)
# Slurm shows the job as running before its script runs, and a run of less than a
# second as one that never ran.
wait_for 60 [ -e "$T/fail/really" ]
sleep 2
scontrol requeue "$e"
f=$(batch labbob "sleep 4" -n2 -J node -H --requeue)
: >"$T/fail/node.$f"
chmod 666 "$T/fail/node.$f"
scontrol release "$f"
is "while the suite is down Slurm runs a job again that ran" again "$e"
is "and one that never did" again "$f"
wait_for 60 queue_empty
say "$(sacct -D -n -P -j "$e,$f" -o jobidraw,state,submit,start,end,exitcode)"
suite_up
is "what ran is reported, what never did is not" \
    compare --never-ran "$a,$b,$c,$f" --wait 60 --expect 6 --short 8
test_end
