#!/bin/bash
# SPDX-License-Identifier: MIT
# The whole suite is killed by SIGKILL in the middle, twice, and once the
# supervisor alone: nothing is lost, nothing comes twice.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "SIGKILL in the middle"
lab_up
backend_up
suite_up
hooks_on
mix 40
count() { [ "$(wc -l <"$LEDGER")" -ge "$1" ]; }
for n in 20 50; do
	if [ -n "$LEDGER" ]; then
		wait_for 60 count $n
	else
		sleep 8
	fi
	suite_kill
	is "killed; the door is shut" not lib send "unix:$T/run/daemon.sock" /dev/null 2>/dev/null
	sleep 4		# jobs start and end meanwhile, and hooks find no door
	suite_up
	is "stale pid file and socket were replaced" [ "$(cat "$T/run/daemon.pid")" = "$suite_pid" ]
done
mapfile -t workers < <(suite_pids)
kill -KILL "$suite_pid"
wait "$suite_pid" 2>/dev/null
orphans() { kill -0 "${workers[@]}" 2>/dev/null; }
is "without a supervisor the workers end" wait_for 5 not orphans
suite_pid=
suite_up
mix_end
wait_for 240 queue_empty
is "all as Slurm says" compare --short 12 --wait 90 --expect "$mix_count"
test_end
