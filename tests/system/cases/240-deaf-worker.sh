#!/bin/bash
# SPDX-License-Identifier: MIT
# A worker that is stopped is deaf to pings: it is killed and started again,
# alone, while the others keep their pids; the admin tool is answered all the
# same, by those who hear.  A deaf runner is replaced together with the collector.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a deaf worker"
lab_up
backend_up
suite_up
hooks_on
declare -A old
for role in listener submitter collector runner; do
	old[$role]=$(worker_pid $role)
done
t0=$SECONDS
kill -STOP "${old[listener]}" "${old[submitter]}"
ctl status -v >"$T/log/status" 2>&1
rc=$?
is "status comes all the same, and says that it is not whole" [ $rc = 1 ]
say "after $((SECONDS - t0)) s"
is "it names who does not answer" grep -q 'no answer from the listener.*submitter' "$T/log/status"
is "and has what the collector knows" grep -q slurm_version "$T/log/status"
replaced() {
	local p
	p=$(worker_pid "$1")
	[ -n "$p" ] && [ "$p" != "${old[$1]}" ]
}
for role in listener submitter; do
	is "the $role is replaced" wait_for $((t0 + 60 - SECONDS)) replaced $role
done
say "after $((SECONDS - t0)) s"
is "the collector keeps its pid" [ "$(worker_pid collector)" = "${old[collector]}" ]
is "the runner keeps its pid" [ "$(worker_pid runner)" = "${old[runner]}" ]
is "the log says why" wait_for 10 logged 'listener \(pid [0-9]+\) is killed: it does not answer'
is "the supervisor is the same" suite_alive
id=$(batch labalice "sleep 2" -n1)
is "and it works" wait_for 40 backend_has_ended "$id"

# The collector waits for the answers of the runner: both are replaced.
for role in listener submitter; do
	old[$role]=$(worker_pid $role)
done
t0=$SECONDS
kill -STOP "${old[runner]}"
for role in runner collector; do
	is "the $role is replaced" wait_for $((t0 + 60 - SECONDS)) replaced $role
done
say "after $((SECONDS - t0)) s"
for role in listener submitter; do
	is "the $role keeps its pid" [ "$(worker_pid $role)" = "${old[$role]}" ]
done
is "the log says why" wait_for 10 logged 'runner \(pid [0-9]+\) is killed: it does not answer'
is "the supervisor is the same" suite_alive
id=$(batch labalice "sleep 2" -n1)
is "and it works" wait_for 40 backend_has_ended "$id"
test_end
