#!/bin/bash
# SPDX-License-Identifier: MIT
# replay.sh FAKE: starts the stand-in cc-backend (the program FAKE) as each
# version, and holds it against what the real servers answered; then tries
# its faults.  Ends with "N passed, N failed".
set -u
here=$(cd "$(dirname "$0")" && pwd)
fake=$1
answers=$here/../data/answers
tmp=$(mktemp -d)
pid=
# shellcheck disable=SC2317 # called by the trap
cleanup() {
	[ -n "$pid" ] && kill "$pid" 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT

# start OPTIONS...: sets pid and port.
start() {
	mkfifo "$tmp/port"
	"$fake" --port 0 --token-file "$tmp/token" "$@" >"$tmp/port" &
	pid=$!
	read -r port <"$tmp/port"
	rm -f "$tmp/port"
}

stop() {
	kill "$pid"
	wait "$pid"
	pid=
}

passed=0 failed=0
# count TEXT: adds the figures of its last line.
count() {
	local last=${1##*$'\n'}

	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	else
		failed=$((failed + 1))
	fi
}

# replay NAME OPTIONS...: a long commit interval, for the answers say
# themselves when a commit was; a short limit, so that waiting for it is short.
replay() {
	local out

	start --commit 3600 --limit 3 "${@:2}"
	out=$(python3 "$here/replay.py" "$port" "$tmp/token" "$fake" \
	    "$answers/$1.jsonl" 2>&1)
	stop
	echo "$1: $out"
	count "$out"
}

replay 1.5.4 --version 1.5.4
replay 1.5.4-nats --version 1.5.4 --nats-mode
replay 1.4.4 --version 1.4.4
replay 1.4.1 --version 1.4.1
replay 1.3.1 --version 1.3.1

start --commit 3600 --limit 3 --ledger "$tmp/ledger"
out=$(python3 "$here/faults.py" "$port" "$tmp/token" "$tmp/ledger" 2>&1)
stop
echo "faults: $out"
count "$out"
start --commit 3600 --limit 3 --ledger "$tmp/ledger"
out=$(python3 "$here/faults.py" "$port" "$tmp/token" "$tmp/ledger" \
    --restored 2>&1)
stop
echo "restart: $out"
count "$out"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
