# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A centre of a fan-in on the host of the cluster: it has its own folders and
# sockets, and its log is log/suite.centre.

centre=
# centre_conf CLUSTER [KEY=VALUE...]: for the broker and the cc-backend of the test
centre_conf() {
	local cluster=$1
	shift
	mkdir -p "$T/centre/run" "$T/centre/state"
	lib conf "$T/etc/centre.json" "pidFilePath=$T/centre/run/centre.pid" \
	    "lastRunPath=$T/centre/state/lastrun" source=stream "clusters=[\"$cluster\"]" \
	    natsServer=127.0.0.1 "natsPort=$NATS_PORT" natsStreamReplicas=1 \
	    natsStreamMaxBytes=67108864 \
	    "ccCommitInterval=$COMMIT" "ccRestUrl=$BACKEND" "ccRestJwt=$(cat "$TOKEN")" "$@"
}
centre_up() {
	setsid "$ADAPTER" -daemon -config "$T/etc/centre.json" -debug 4 \
	    >>"$T/log/suite.centre" 2>&1 </dev/null &
	centre=$!
}
centre_kill() {
	[ -n "$centre" ] || return 0
	# shellcheck disable=SC2046	# a list of ids
	kill -9 "$centre" $(ps -o pid= --ppid "$centre") 2>/dev/null
	wait "$centre" 2>/dev/null
	centre=
}
centre_ctl() { "$CTL" -c "$T/etc/centre.json" "$@"; }
