#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGHUP: a good file is taken, a bad one refused with line and reason, and
# what is in force stays in force, for workers restarted later too.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "reload"
lab_up
backend_up
# what slurmctld has left for slurmdbd after its start makes the suite read both again
wait_for 30 slurmdbd_told || broken "slurmctld keeps messages for slurmdbd"
conf slurmPollInterval=3600 slurmQueryMaxRetries=0
suite_up
wait_for 20 logged 'asks sacct' || broken "the suite does not read accounting"
# The first answers can be followed by more questions.
asks() { grep -c ' asks ' "$SUITE_LOG"; }
no_question_for() {
	local before
	before=$(asks)
	sleep "$1"
	[ "$(asks)" = "$before" ]
}
wait_for 60 no_question_for 5 || broken "the suite does not end its questions"
pids=$(suite_pids)
# Without the process that reads the configuration, which ends by itself
same_pids() { [ "$(suite_pids)" = "$pids" ]; }
notified() { [ "$(grep -c "^$1" "$T/notify.$suite_number")" -ge "$2" ]; }

# with polls once an hour and no hooks a job is not seen
id=$(batch labalice "sleep 60" -n1)
wait_for 20 job_state_is "$id" RUNNING
sleep 4
is "a job between two polls is not there yet" not backend_has "$id"
conf slurmPollInterval=1
kill -HUP "$suite_pid"
is "systemd is told: RELOADING, then READY" wait_for 5 notified READY=1 2
is "RELOADING=1 came before" notified RELOADING=1 1
is "the shorter interval is in force" wait_for 20 backend_has "$id"
is "no process was restarted" wait_for 5 same_pids

cp "$T/etc/config.json" "$T/etc/good.json"
conf 'slurmPollInterval="often"'
kill -HUP "$suite_pid"
is "a wrong type is named with its key" wait_for 5 logged 'slurmPollInterval'
is "all go on" wait_for 5 same_pids
printf '{"ccRestUrl": "http://127.0.0.1:1"' >"$T/etc/config.json"
kill -HUP "$suite_pid"
sleep 1
is "a torn file changes nothing" wait_for 5 same_pids
old=$(worker_pid submitter)
kill -KILL "$old"
back() { local p; p=$(worker_pid submitter); [ -n "$p" ] && [ "$p" != "$old" ]; }
is "a worker restarted now" wait_for 5 back
id=$(batch labalice "sleep 3" -n1)
is "has the old configuration" wait_for 40 backend_has_ended "$id"

cp "$T/etc/good.json" "$T/etc/config.json"
conf "pidFilePath=$T/run/other.pid"
kill -HUP "$suite_pid"
is "a key that takes a restart is named" wait_for 5 logged 'pidFilePath'
is "and the pid file stays where it is" test -s "$T/run/daemon.pid"
is "the reload ends" wait_for 10 logged 'is in force: 0 values changed'
cp "$T/etc/good.json" "$T/etc/config.json"
is "the admin tool reloads too" ctl reload
old=$(worker_pid submitter) collector=$(worker_pid collector)
conf ccRestUrl=http://127.0.0.1:9
is "another port of cc-backend is accepted" ctl reload
is "the submitter is restarted, because its sandbox has the ports" wait_for 10 back
cp "$T/etc/good.json" "$T/etc/config.json"
is "the first port again" ctl reload
is "no other process was restarted" [ "$(worker_pid collector)" = "$collector" ]
is "all as Slurm says" compare --wait 30 --short 3
test_end
