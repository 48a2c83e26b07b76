#!/bin/bash
# SPDX-License-Identifier: MIT
# A second instance is refused and touches nothing of the first; what a
# killed one left behind is replaced; one that fails to start leaves nothing.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a second instance"
lab_up
backend_up
suite_up
hooks_on
state() {
	stat -c '%n %i %a %U:%G' "$T/run/daemon.pid" "$T/run/daemon.sock" "$T/run/ctl.sock"
	cat "$T/run/daemon.pid"
}
before=$(state)
pids=$(suite_pids)
limited 10 "$ADAPTER" -daemon -config "$T/etc/config.json" >"$T/log/second" 2>&1
rc=$?
is "the second ends with an error at once" [ $rc -ne 0 ] && is "(not by the time limit)" [ $rc -ne 124 ]
say "it says: $(tail -n 1 "$T/log/second" | cut -c1-150)"
is "pid file and sockets are untouched" [ "$(state)" = "$before" ]
is "the first one's processes too" [ "$(suite_pids)" = "$pids" ]
id=$(batch labalice "sleep 2" -n1)
is "the first works" wait_for 40 backend_has_ended "$id"
suite_kill
is "SIGKILL leaves pid file and socket" test -S "$T/run/daemon.sock" -a -s "$T/run/daemon.pid"
echo -n 1 >"$T/run/daemon.pid"	# by now another's pid, and alive
suite_up
is "they are replaced" [ "$(cat "$T/run/daemon.pid")" = "$suite_pid" ]
id=$(batch labalice "sleep 2" -n1)
is "and it works" wait_for 40 backend_has_ended "$id"
kill -INT "$suite_pid"
is "INT ends it within 5 s" wait_for 5 not kill -0 "$suite_pid"
is "and cleans up" not ls "$T/run/daemon.pid" "$T/run/daemon.sock" 2>/dev/null

# the end comes in time even if all outside hangs
suite_pid=
suite_up
if backend_is_fake; then
	fault '{"match":"*","action":"hang","count":-1}'
fi
lab ctl pause slurmctld
lab ctl pause slurmdbd
sleep 4
t0=$(date +%s%N)
is "TERM ends it within 5 s while Slurm and cc-backend hang" suite_down 5
say "after $((($(date +%s%N) - t0) / 1000000)) ms"
lab ctl resume slurmctld
lab ctl resume slurmdbd
test_end
