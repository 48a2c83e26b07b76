#!/bin/bash
# SPDX-License-Identifier: MIT
# Two centres with one stream and one cc-backend (activeOnly): the one with the
# lease sends.  It is stopped (SIGSTOP), continued, killed, and stopped in order, also
# while one of its processes is killed; each run is there once, and no two centres
# send at the same time.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/page.sh"
test_begin "two centres, one active"
[ -x "$CSA_INST/libexec/cc-slurm-adapter/receiver" ] || skip "built without NATS"
need_fake
CLUSTERS='alpha=n[1-4]'
backend_up
suite_users
nats_up "jetstream: {store_dir: \"$T/js\"}"
declare -A pid port=([a]=$(lib freeport 1) [b]=$(lib freeport 1))
python3 "$SYS/two_centres.py" proxy "$BACKEND_PORT" "$T/sent" a="${port[a]}" b="${port[b]}" &
proxy=$!
# The link of the first centre to the broker: a stopped process is a silent link.
link=$(lib freeport 1)
python3 "$SYS/two_centres.py" proxy "$NATS_PORT" /dev/null link="$link" &
link_pid=$!
trap 'rc=$?; centre_kill a; centre_kill b; kill $proxy; kill -KILL $link_pid; trap - EXIT; test_exit $rc' EXIT
centre_conf() {
	mkdir -p "$T/$1/run" "$T/$1/state"
	lib conf "$T/etc/$1.json" "pidFilePath=$T/$1/run/centre.pid" \
	    "lastRunPath=$T/$1/state/lastrun" source=stream 'clusters=["alpha"]' \
	    natsServer=127.0.0.1 "natsPort=$2" natsStreamReplicas=1 \
	    natsStreamMaxBytes=67108864 activeOnly=true \
	    "natsLeaseTime=$lease" ccPollInterval=15 "ccCommitInterval=$COMMIT" "ccRestUrl=http://127.0.0.1:${port[$1]}" \
	    "ccRestJwt=$(cat "$TOKEN")"
}
centre_up() {
	setsid "$ADAPTER" -daemon -config "$T/etc/$1.json" -debug 4 >>"$T/log/suite.$1" 2>&1 </dev/null &
	pid[$1]=$!
}
processes() { ps -o pid= --ppid "${pid[$1]}"; echo "${pid[$1]}"; }
centre_signal() { # shellcheck disable=SC2046	# a list of ids
	kill "-$1" $(processes "$2"); }
centre_kill() {
	[ -n "${pid[$1]:-}" ] || return 0
	centre_signal KILL "$1" 2>/dev/null
	wait "${pid[$1]}" 2>/dev/null
	unset "pid[$1]"
}
side() { "$CTL" -c "$T/etc/$1.json" status -v | grep -qE -- "$2"; }
active() { side "$1" 'lease  *active since' && side "$1" 'side  *active'; }
publish() { python3 "$SYS/publish_records.py" "$NATS_PORT" "$@"; }
all_ended() {
	truth jobs "$BACKEND" "$TOKEN" --cluster alpha >"$T/jobs" 2>/dev/null
	[ "$(grep -c '"jobState": "completed"' "$T/jobs")" = "$1" ] && [ "$(wc -l <"$T/jobs")" = "$1" ]
}

lease=3
centre_conf a "$link"
centre_conf b "$NATS_PORT"
is "-test warns of the short lease" eval \
    '"$ADAPTER" -daemon -test -config "$T/etc/a.json" 2>&1 | grep -q "natsLeaseTime: is less than 30 s"'
centre_up a
is "the first centre takes the lease" wait_for 30 active a
centre_up b
is "the other one is the standby" wait_for 30 side b 'standby: .* is active since'
is "its first line says so" eval '"$CTL" -c "$T/etc/b.json" status | head -n 1 | grep -q "standby: the other daemon sends"'
# a bucket with one replica is a warning
is "-test shows the holder of the lease" eval \
    '"$ADAPTER" -daemon -test -config "$T/etc/a.json" 2>&1 | grep -q "^warn lease of the active centre: $(uname -n) has it since .*; its bucket has 1 replica; run: nats stream edit"'
is "it has sent nothing" not grep -q ' b ' "$T/sent"
publish runs alpha 1 10
is "the runs are sent" wait_for 30 all_ended 10
centre_signal STOP a
publish runs alpha 11 20
is "the active one is stopped: the other one takes the lease" wait_for 30 active b
is "and sends" wait_for 30 all_ended 20
centre_signal CONT a
is "the first one continues and is the standby" wait_for 30 side a 'standby: .* is active since'
is "its receiver is killed: it stays so" kill -KILL "$(ps -o pid=,comm= --ppid "${pid[a]}" | awk '$2 == "receiver" {print $1}')"
kill -KILL "$(ps -o pid=,comm= --ppid "${pid[b]}" | awk '$2 == "receiver" {print $1}')"
publish runs alpha 21 25
is "a new receiver of the active one continues" wait_for 30 all_ended 25
is "it is still active" wait_for 10 active b
centre_kill b
publish runs alpha 26 30
is "the active one is killed: the first one takes the lease again" wait_for 30 active a
is "each run is there once" wait_for 30 all_ended 30
order=(a b a) on=a off=b n=30
centre_up b
is "the killed one is started: it is the standby" wait_for 30 side b 'standby: .* is active since'
# The active one is stopped in order.  Its submitter does not answer, or its broker
# does not, until one of its processes is killed.
child() { ps -o pid=,comm= --ppid "${pid[$1]}" | awk -v name="$2" '$2 == name {print $1}'; }
# killed PROCESS drain|write PATTERN [GAP]: PATTERN is a line of the log that follows,
# GAP the time before the other one sends
killed() {
	local log="$T/log/suite.$on" lines victim submitter line="then the lease is released"
	lines=$(wc -l <"$log")
	fresh() { tail -n +$((lines + 1)) "$log" | grep -q -- "$1"; }
	victim=$(child "$on" "$1") submitter=$(child "$on" submitter)
	if [ "$2" = drain ]; then
		kill -STOP "$submitter"
	else
		kill -STOP "$link_pid"
		line="the submitter has ended its requests"
	fi
	kill "${pid[$on]}"
	is "the active one is stopped: its lease is to be released ($2)" wait_for 10 fresh "$line"
	kill -KILL "$victim"
	[ "$1" = receiver ] || is "the receiver sees its end" wait_for 10 fresh "receiver. channel to the submitter"
	kill -CONT "$link_pid"
	wait "${pid[$on]}"
	unset "pid[$on]"
	[ -z "$3" ] || is "its $1 is killed: $3" fresh "$3"
	publish runs alpha $((n + 1)) $((n + 5))
	n=$((n + 5))
	is "the $1 of the active one is killed ($2): the other one is active" wait_for 30 active "$off"
	is "and sends" wait_for 30 all_ended "$n"
	order+=("$off=${4:-}")
	centre_up "$on"
	is "the stopped one is started: it is the standby" wait_for 30 side "$on" 'standby: .* is active since'
	victim=$on on=$off off=$victim
}
killed receiver write "" 0
killed submitter drain "is not released: the submitter has ended before its requests"
killed submitter write "the lease is released: the other" 0
killed receiver drain ""
# cc-backend is silent while a start is under way: it is ended after one second.
kill -STOP "$proxy"
publish runs alpha $((n + 1)) $((n + 5))
n=$((n + 5))
is "a start has no answer" wait_for 10 eval '"$CTL" -c "$T/etc/$on.json" queue | grep -q sending'
kill "${pid[$on]}"
wait "${pid[$on]}"
unset "pid[$on]"
is "the active one is stopped: its request is ended, its lease is not released" eval \
    'tail -n 12 "$T/log/suite.$on" | grep -q "is not released: a request to cc-backend had no answer"'
kill -CONT "$proxy"
is "the other one takes the lease" wait_for 30 active "$off"
is "and sends" wait_for 30 all_ended "$n"
order+=("$off=")
centre_up "$on"
is "the stopped one is started: it is the standby" wait_for 30 side "$on" 'standby: .* is active since'
victim=$on on=$off off=$victim
if [ -n "${CSA_LONG:-}" ]; then
	kill -STOP "$link_pid"
	publish runs alpha $((n + 1)) $((n + 10))
	is "the link of the active one is silent: the other one takes the lease" wait_for 30 active b
	is "and sends" wait_for 60 all_ended $((n + 10))
	is "the first one is not active" not active a
	kill -CONT "$link_pid"
	is "its link is back: it is the standby" wait_for 60 side a 'standby: .* is active since'
	n=$((n + 20))
	publish runs alpha $((n - 9)) "$n"
	is "each run is there once" wait_for 30 all_ended "$n"
	order+=(b) on=b off=a
fi
# the section of runbook(7): its first command is for the one host, its second for
# the other
systemctl() {
	[ "$*" = "stop cc-slurm-adapter" ] && kill "${pid[$on]}" && wait "${pid[$on]}" && unset "pid[$on]"
}
cc-slurm-adapterctl() { wait_for 30 active "$off" && "$CTL" -c "$T/etc/$off.json" "$@"; }
# The other one need not wait.  Without the release it would, for 18 s at least: 8 s
# of this lease and 10 s for cc-backend.
lease=12
centre_conf a "$link"
centre_conf b "$NATS_PORT"
"$CTL" -c "$T/etc/a.json" reload && "$CTL" -c "$T/etc/b.json" reload
publish runs alpha $((n + 1)) $((n + 5))
is "the lease is longer" wait_for 30 all_ended $((n + 5))
began=$(date +%s%N)
page_run cc-slurm-adapter-runbook.7 "The centre of a fan-in is replaced, or fails over"
ms=$((($(date +%s%N) - began) / 1000000))
is "the active one is stopped: the other one is active after $ms ms" [ "$ms" -lt 15000 ]
is "because the lease was released" grep -q "the lease is released" "$T/log/suite.$on"
publish runs alpha $((n + 6)) $((n + 10))
is "and sends" wait_for 30 all_ended $((n + 10))
order+=("$off=0")
# the margin of a lease of 3 s is 2.5 s; the time is that of the proxy
is "one sends after the other" python3 "$SYS/two_centres.py" check "$T/sent" 2 "${order[@]}"
test_end
