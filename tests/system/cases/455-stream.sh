#!/bin/bash
# SPDX-License-Identifier: MIT
# deliver "stream", on a real Slurm with the sandbox: jobs of several kinds, the
# broker restarted, the stream full, the submitter and the daemon killed.  The
# stream has each run once per state, with what Slurm says of it.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the runs of a cluster in its stream"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
lab_up
nats_up "jetstream: {store_dir: \"$T/js\"}"
stream() { python3 "$SYS/stream.py" "$NATS_PORT" "$@"; }
cluster=$(scontrol show config | sed -n 's/^ClusterName *= //p')
stream make "$cluster" || broken "no stream"
conf deliver=stream "clusters=[\"$cluster\"]" natsServer=127.0.0.1 "natsPort=$NATS_PORT" \
	slurmPollInterval=1 ccPollInterval=10 slurmQueryDelay=0
suite_up
hooks_on
in_stream() { stream states "$cluster" "$1"; }
states_are() { [ "$(in_stream "$1")" = "$2" ]; }
# a job of a moment may have ended before its first record is published
ends_as() { states_are "$1" "running $2" || states_are "$1" "$2"; }

done1=$(batch labalice "true" -n1 -J "a\"b")
fail=$(batch labbob "exit 3" -n1)
long=$(batch labalice "sleep 300" -n1)
batch labbob "sleep 1" -n1 --array=0-1 >/dev/null
is "a job that ends" wait_for 60 ends_as "$done1" completed
is "a job that fails" wait_for 60 ends_as "$fail" failed
is "a job that runs" wait_for 60 states_are "$long" "running"

nats_down
away=$(batch labalice "sleep 2" -n1)
is "the broker is away: a job ends" wait_for 60 job_state_is "$away" COMPLETED
is "its record stays in the spool" wait_for 30 eval 'ctl queue | grep -qw "$away"'
kill -9 "$(worker_pid submitter)"
nats_up "jetstream: {store_dir: \"$T/js\"}"
is "the broker is back, the submitter was killed: the job is there" \
	wait_for 90 eval 'in_stream "$away" | grep -q completed'

stream limit "$cluster"
full=$(batch labalice "sleep 2" -n1)
is "the stream is full: status says so" wait_for 60 eval 'ctl status | head -n 1 | grep -q "does not accept records"'
waits_for_stream() { ctl explain "$1" | grep -q "waits to be published to the stream"; }
is "explain says so" waits_for_stream "$full"
suite_kill
suite_up
stream unlimit "$cluster"
is "the stream has room, the daemon was killed: the job is there" \
	wait_for 90 eval 'in_stream "$full" | grep -q completed'
is "sync is for the centre" eval 'ctl sync 2>&1 | grep -q "at the centre"'

scancel "$long"
is "the long job is cancelled" wait_for 60 states_are "$long" "running cancelled"
is "no run is left in the spool" wait_for 60 eval '[ "$(ctl status -v | grep -c "nats_waiting *0")" = 1 ]'
is "status has no problem" wait_for 60 eval 'ctl status | head -n 1 | grep -q "^OK"'
is "each run once per state, and as accounting has it" stream compare "$cluster"
is "nobody asked for cc-backend" not logged "cc-backend is unreachable"
test_end
