#!/bin/bash
# SPDX-License-Identifier: MIT
# TERM ends the daemon within five seconds while slurmctld, slurmdbd, the
# backend and all workers are stopped, in the middle of work; what was stored
# goes out afterwards.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the end, while everything hangs"
lab_up
backend_up
suite_up
hooks_on
id=$(batch labalice "sleep 12" -n1)
is "a job is reported" wait_for 30 backend_has "$id"
backend_is_fake && backend_pids=$backend_pid || backend_pids=$(cat "$T/backend/pid")
batch labalice "sleep 1" -n1 >/dev/null
lab ctl pause slurmctld
lab ctl pause slurmdbd
kill -STOP "$backend_pids"
sleep 1
for role in listener collector runner submitter; do
	kill -STOP "$(worker_pid $role)"
done
workers=$(suite_pids)
t0=$(date +%s%N)
kill -TERM "$suite_pid"
is "TERM ends it within 5 s" wait_for 5 not kill -0 "$suite_pid"
say "after $((($(date +%s%N) - t0) / 1000000)) ms"
wait "$suite_pid"
is "with status 0" [ $? = 0 ]
suite_pid=
# shellcheck disable=SC2086	# pids, not names
is "nothing of it is left" not ps -o pid= -p "$(echo $workers | tr ' ' ,)"
is "pid file and sockets are gone" not ls "$T/run/daemon.pid" "$T/run/daemon.sock" "$T/run/ctl.sock" 2>/dev/null
kill -CONT "$backend_pids"
lab ctl resume slurmctld
lab ctl resume slurmdbd
suite_up
is "what was under way arrives" wait_for 40 backend_has_ended "$id"
test_end
