#!/bin/bash
# SPDX-License-Identifier: MIT
# The sockets or the spool are removed while the suite runs: it says which path
# and ends with status 1 for a restart; then hooks and jobs arrive again.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "sockets and spool are removed"
lab_up
backend_up
conf "metricsListen=$T/run/metrics.sock"
suite_up
hooks_on
# removed PATH...: they are removed, the suite ends and is started again
removed() {
	local rc
	rm -rf "$@"
	wait_for 20 not suite_alive || return 1
	wait "$suite_pid"
	rc=$?
	suite_pid=
	[ "$rc" = 1 ] && logged "$1.* was removed or replaced while the service runs"
}
again() {
	suite_up
	id=$(batch labalice "sleep 2" -n1)
	is "the next job arrives" wait_for 40 backend_has_ended "$id"
}
id=$(batch labalice "sleep 2" -n1)
is "a job arrives" wait_for 40 backend_has_ended "$id"
is "the socket of the hooks is removed: it ends" removed "$T/run/daemon.sock"
again
is "the socket of the admin tool: it ends" removed "$T/run/ctl.sock"
again
is "the socket of the metrics: it ends" removed "$T/run/metrics.sock"
again
long=$(batch labbob "sleep 60" -n1)
is "a job runs" wait_for 40 backend_has "$long"
is "the spool's files: it ends" removed "$T/state/spool/spool.db" "$T/state/spool"/*
again
is "the spool's directory: it ends" removed "$T/state/spool"
again
kill -HUP "$suite_pid"
sleep 6
is "nothing is removed: it runs" suite_alive
scancel "$long"
is "the job that ran meanwhile ends" wait_for 60 backend_has_ended "$long"
wait_for 60 queue_empty
is "all as Slurm says" compare --short 4 --wait 60
test_end
