#!/bin/bash
# SPDX-License-Identifier: MIT
# Hooks on TCP with prepAuth munge: the key of Slurm and another key.  Only a
# credential of SlurmUser or root for exactly this hook, used once, is accepted.
# While munged is down the poll finds the job.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "hooks with munge"
helper=$(dirname "$ADAPTER")/../libexec/cc-slurm-adapter/cc-slurm-adapter-munge
[ -x "$helper" ] || skip "built without munge"
lab_up
backend_up
port=$(lib freeport 1)
own=$T/slurm/munge/socket

# two more munged: one of another site, with a key of its own; one with Slurm's
# key for the daemon, so that Slurm works while this one is down
other=$T/other
local=$T/local
install -d -o munge "$other" "$local"
dd if=/dev/urandom of="$other/key" bs=128 count=1 status=none
cp "$T/slurm/munge/key" "$local/key"
chown munge: "$other/key" "$local/key"
chmod 400 "$other/key" "$local/key"
munged_up() {	# DIR
	runuser -u munge -- munged --foreground --force --key-file="$1/key" --socket="$1/socket" \
	    --pid-file="$1/pid" --log-file="$1/log" --seed-file="$1/seed" 2>>"$T/log/munged" &
	started_pids+=($!)
	wait_for 10 munge -n -S "$1/socket" >/dev/null
}
munged_up "$other"
munged_up "$local"

hook_file() {	# NAME SOCKET: the configuration of a hook
	printf '{ "prepSockConnectPath": "tcp:127.0.0.1:%s", "prepAuth": "munge", "prepMungeSocket": "%s" }\n' \
	    "$port" "$2" >"$T/etc/$1.json"
	chmod 644 "$T/etc/$1.json"
}
hook_file own "$own"
hook_file other "$other/socket"
printf '{ "prepSockConnectPath": "tcp:127.0.0.1:%s" }\n' "$port" >"$T/etc/none.json"

job=1000
message() {	# CONFIG [USER]: a hook's message of a new job
	job=$((job + 1))
	runuser -u "${2:-slurm}" -- env -i SLURM_JOB_ID="$job" SLURM_CLUSTER_NAME=alpha \
	    SLURM_SCRIPT_CONTEXT=prolog_slurmctld "$ADAPTER" -config "$T/etc/$1.json" 2>"$T/log/hook"
}
came() { logged "the munge credential of job $1 "; }
taken() { ctl status -v | grep -q "hook_credentials *$1 accepted, $2 refused, $3 dropped, 0 waiting"; }

conf "prepSockListenPath=tcp:127.0.0.1:$port" prepAuth=munge "prepMungeSocket=$local/socket" slurmPollInterval=3600
"$ADAPTER" -daemon -test -config "$T/etc/config.json" >"$T/log/test" 2>&1
is "-test asks munged" grep -q "^ok.*munged answers on $local/socket" "$T/log/test"
suite_up "${MUNGE_HOOKS_USER:-root}"
if [ "$SUITE_USER" != root ]; then
	is "all processes belong to $SUITE_USER" [ "$(ps -o user= -p "$suite_pid" --ppid "$suite_pid" | sort -u)" = "$SUITE_USER" ]
fi
message own
is "a credential of SlurmUser is accepted" wait_for 10 taken 1 0 0
message own root
is "of root" wait_for 10 taken 2 0 0
message own labalice
is "of another user is refused" wait_for 10 taken 2 1 0
is "and the log says why" logged "hook message of job $job .* is refused: .*neither of SlurmUser nor of root"
message none
is "a message without a credential is refused" wait_for 10 logged "from 127.0.0.1: refused: the message has no munge credential"
message other
is "the other key is refused" wait_for 10 taken 2 2 0

# the same bytes a second time, and a credential of another job
credential() {	# JOB
	env -i SLURM_JOB_ID="$1" SLURM_CLUSTER_NAME=alpha SLURM_SCRIPT_CONTEXT=epilog_slurmctld "$helper" "$own"
}
raw() {	# JOB CREDENTIAL
	printf '{"SLURM_JOB_ID":"%s","SLURM_CLUSTER_NAME":"alpha","SLURM_SCRIPT_CONTEXT":"epilog_slurmctld","MUNGE_CREDENTIAL":"%s"}' \
	    "$1" "$2" >"$T/raw"
	lib send "tcp:127.0.0.1:$port" "$T/raw"
}
stolen=$(credential 2001)
raw 2001 "$stolen"
is "a message with a credential of root" wait_for 10 taken 3 2 0
raw 2001 "$stolen"
is "is refused the second time" wait_for 10 taken 3 3 0
raw 2003 "$(credential 2002)"
is "a credential of another job is refused" wait_for 10 taken 3 4 0

is "the metrics have the numbers" bash -c "'$CTL' -s '$T/run/ctl.sock' metrics | grep -q '^cc_slurm_adapter_hook_credentials_total{result=\"refused\"} 4'"
old=$(printf 'cc-slurm-adapter-hook alpha 2004 end' | munge -S "$own" -t 1)
made=$(date +%s)
clock_after() { [ "$(date +%s)" -gt "$1" ]; }
wait_for 10 clock_after $((made + 2))
raw 2004 "$old"
is "an expired credential is refused" wait_for 10 taken 3 5 0
is "and the log names the clocks" logged "job 2004 .* is refused: its munge credential is too old .*set the clocks of both hosts.* was made [0-9]+ s ago"
# munged decodes 700 kB from 228 bytes
raw 2005 "$(head -c 700000 /dev/zero | munge -S "$own" -z bzlib)"
is "a credential with a long payload is refused" wait_for 10 taken 3 6 0
is "and does not look as if munged were away" not logged "unmunge does not answer"

# the polls are an hour apart: the hook brings the job
lab hook "$ADAPTER -config $T/etc/own.json"
id=$(batch labalice "sleep 2" -n1)
is "a job arrives by its hook" wait_for 30 backend_has "$id"
is "and ends" wait_for 60 backend_has_ended "$id"

# munged is down
conf slurmPollInterval=1
is "the daemon reloads" ctl reload
kill "$(cat "$local/pid")"
wait_for 10 not munge -n -S "$local/socket" 2>/dev/null
id=$(batch labalice "sleep 3" -n1)
is "without munged the poll finds the job" wait_for 60 backend_has_ended "$id"
is "the log says that munged does not answer" wait_for 10 logged "unmunge does not answer: .*systemctl status munge"
away() { ctl status -v | grep -q 'hook_credentials .*munged does not answer since'; }
is "and status" away
is "-test says it" bash -c "'$ADAPTER' -daemon -test -config '$T/etc/config.json' | grep -q '^warn.*munged does not answer'"
message own
munged_up "$local"
answers() { ctl status -v | grep -q 'hook_credentials .*munged answers'; }
is "a message that waited is accepted when munged is back" wait_for 40 came "$job"
is "and status shows it" answers

# slurmctld up to 20.11 starts its scripts without standard descriptors
job=$((job + 1))
env -i SLURM_JOB_ID="$job" SLURM_CLUSTER_NAME=alpha SLURM_SCRIPT_CONTEXT=prolog_slurmctld \
    "$ADAPTER" -config "$T/etc/own.json" <&- >&- 2>&-
is "a hook without standard descriptors sends its credential" wait_for 20 came "$job"

# with CSA_LONG=1, a flood: Slurm is asked as before, few commands are started
checks() { ctl metrics | sed -n 's/.*slurm_command_seconds_count{.*question="hook_credential"} //p'; }
if [ -n "${CSA_LONG:-}" ]; then
	before=$(checks)
	python3 - "$port" >"$T/log/flood" <<'E' &
import socket, sys, time
end = time.time() + 20
sent = 0
while time.time() < end:
    sent += 1
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
        s.sendall(b'{"SLURM_JOB_ID":"%d","SLURM_CLUSTER_NAME":"alpha","MUNGE_CREDENTIAL":"MUNGE:%s:"}'
                  % (sent, b"A" * 900))
print(sent)
E
	flood=$!
	began=$SECONDS
	id=$(batch labalice "sleep 2" -n1)
	is "in a flood of messages the poll finds a job" wait_for 20 backend_has "$id"
	wait "$flood"
	is "and its end" wait_for 20 backend_has_ended "$id"
	after=$(checks)
	seconds=$((SECONDS - began))
	say "$(cat "$T/log/flood") messages, $((after - before)) checks in $seconds s"
	is "few commands check credentials" [ $((after - before)) -le $((100 + 20 * (seconds + 1))) ]
	is "others are dropped" logged "hook message of job .* is dropped|events with a munge credential wait"
fi
is "no command was denied by its sandbox" not logged "audit|Operation not permitted"
is "nothing died" not logged 'is killed|was killed|ended with'
test_end
