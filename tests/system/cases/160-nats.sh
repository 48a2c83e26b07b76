#!/bin/bash
# SPDX-License-Identifier: MIT
# NATS with user and password, creds file and NKey, against a real
# nats-server; beside REST and alone.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "NATS: three ways to log in, and NATS alone"
objdump -p "$CSA_INST/libexec/cc-slurm-adapter/submitter" | grep -q 'NEEDED.*nats' ||
    skip "built without NATS"
lab_up
backend_up
nats() { python3 "$SYS/nats.py" "$@"; }
subscriber=
watch() {	# FILE LOGIN...
	local out=$1
	shift
	: >"$out"
	python3 "$SYS/nats.py" "$@" "$out" 2>>"$T/log/watch" &
	subscriber=$!
	started_pids+=("$subscriber")
	wait_for 10 grep -q '^%% ready' "$out" || broken "the subscriber cannot log in"
}

# a job's start and stop, each once, start before stop, in line protocol
events_of() { grep -a "^job,function=$2" "$1" | grep -acF "\\\"jobId\\\":$3,"; }
both_came() {
	[ "$(events_of "$1" start_job "$2")" = 1 ] && [ "$(events_of "$1" stop_job "$2")" = 1 ]
}
order_is_right() {
	local a b
	a=$(grep -anF "\\\"jobId\\\":$2," "$1" | grep -a function=start_job | cut -d: -f1)
	b=$(grep -anF "\\\"jobId\\\":$2," "$1" | grep -a function=stop_job | cut -d: -f1)
	[ -n "$a" ] && [ -n "$b" ] && [ "$a" -lt "$b" ]
}

one_way() {	# TITLE WAIT
	local job out=$T/messages.$1
	hooks_on
	job=$(batch labalice "sleep 3" -n2 -J 'a "name", with\backslash')
	is "$1: start and stop arrive once each" wait_for "$2" both_came "$out" "$job" ||
	    tail -n 5 "$out" | cut -c1-300
	is "$1: the start first" order_is_right "$out" "$job"
	if [ "${3:-}" != alone ]; then
		is "$1: REST has it too" wait_for 60 backend_has_ended "$job"
	fi
}

stop_all() {
	suite_down 10
	kill "$subscriber" 2>/dev/null
	nats_down
}

watcher='{user: watch, password: watch}'
nats_up "authorization: {users: [$watcher, {user: csa, password: \"pa ss\\\\word\"}]}"
watch "$T/messages.password" listen "127.0.0.1:$NATS_PORT" watch watch 'jobs'
conf natsServer=127.0.0.1 "natsPort=$NATS_PORT" natsUser=csa 'natsPassword="pa ss\\word"'
suite_up
one_way password 40
is "the password is in no log line" not grep -qF 'pa ss\word' "$SUITE_LOG"
say "$(grep -am1 '^job,function=start_job' "$T/messages.password" | cut -c1-200)"
stop_all

public=$(nats nkey "$T/etc/nkey")
nats_up "authorization: {users: [$watcher, {nkey: $public}]}"
watch "$T/messages.nkey" listen "127.0.0.1:$NATS_PORT" watch watch 'jobs'
conf natsUser= natsPassword= "natsNKeySeedFile=$T/etc/nkey"
suite_up
one_way nkey 40
is "the seed is in no log line" not grep -qFf "$T/etc/nkey" "$SUITE_LOG"
stop_all

mkdir -p "$T/accounts"
nats accounts "$T/accounts" || broken "no accounts"
nats_up "$(cat "$T/accounts/server.conf")"
watch "$T/messages.creds" listen-creds "127.0.0.1:$NATS_PORT" "$T/accounts/watch.creds" 'events'
conf natsNKeySeedFile= "natsCredsFile=$T/accounts/user.creds" natsSubject=events
suite_up
one_way creds 40
stop_all

# a secret that others may read is refused by name
chmod 644 "$T/accounts/user.creds"
is "a creds file that others may read is refused" not "$ADAPTER" -daemon -test \
    -config "$T/etc/config.json" 2>"$T/log/test"
is "and named" grep -q natsCredsFile "$T/log/test"
chmod 600 "$T/accounts/user.creds"

# NATS alone: a stop no sooner than the commit age behind its start
backend_down
nats_up "authorization: {users: [$watcher, {user: csa, password: secret-word}]}"
watch "$T/messages.alone" listen "127.0.0.1:$NATS_PORT" watch watch 'jobs'
conf natsCredsFile= natsSubject= natsUser=csa natsPassword=secret-word ccRestSubmitJobs=false
suite_up
one_way alone 60 alone
suite_down 10
kill "$subscriber" 2>/dev/null
test_end
