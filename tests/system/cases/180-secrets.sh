#!/bin/bash
# SPDX-License-Identifier: MIT
# A squeue of our own, run by the collector, tries to open config.json, the
# credentials and the spool: refused, as root and as a plain user.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a hostile squeue gets no secret"
lab_up
backend_up
# a prefix of its own: what lies beside slurmBinDir counts as Slurm's
bin=$T/slurm-prefix/bin
mkdir -p "$bin"
chmod 755 "$T/slurm-prefix" "$bin"
for c in sacct scontrol sacctmgr sinfo sdiag; do
	cp "$(command -v $c)" "$bin/"
done
cp "$(command -v squeue)" "$bin/squeue.real"
cc -O1 -Wall -static -DPROBE_LIST="\"$bin/probe.list\"" -o "$bin/squeue" "$SYS/probe.c" ||
    broken "probe.c"
mkdir -p "$T/secret"
cp "$TOKEN" "$T/secret/jwt"
cp "$TOKEN" "$T/secret/nats.creds"
port=$(lib freeport 1)

listen() {	# one line for each thing the probe tells
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2] + ".ready", "w").close()
with open(sys.argv[2], "a", buffering=1) as f:
    while True:
        f.write(s.recv(4096).decode("utf-8", "replace"))' "$port" "$1" &
	ear=$!
	started_pids+=("$ear")
	wait_for 20 test -e "$1.ready" || broken "no ear for the probe"
}

one_mode() {	# USER
	local user=$1 told=$T/told.$1 probed
	chown -R "$user" "$T/secret"
	chmod 700 "$T/secret"
	chmod 600 "$T/secret"/*
	listen "$told"
	conf "slurmBinDir=$bin" "slurmExtraPaths=[\"$bin\"]" ccRestJwt= \
	    "ccRestJwtFile=$T/secret/jwt" "ccRestUrl=$BACKEND"
	{
		echo "$port"
		echo "$bin/squeue.real"
		printf '%s\n' "$T/etc/config.json" "$T/secret/jwt" "$T/secret/nats.creds" \
		    "$T/state/spool/spool.db" "$T/run/ctl.sock" /etc/shadow /proc/1/environ
	} >"$bin/probe.list"
	chmod 644 "$bin/probe.list"
	suite_up "$user"
	is "$user: the probe was run" wait_for 30 test -s "$told"
	probed=$(worker_pid submitter)
	printf '%s\n' "/proc/$probed/environ" "/proc/$probed/mem" "/proc/$suite_pid/environ" \
	    >>"$bin/probe.list"
	wait_for 20 grep -q "/proc/$suite_pid/environ" "$told"
	sort "$told" | uniq -c | sed 's/^/   /'
	is "$user: nothing was opened" not grep -q 'OPENED' "$told"
	is "$user: the real squeue works in there" wait_for 10 not grep -q 'not executed' "$told"
	suite_down 5
	kill "$ear"
	if [ "$user" != root ]; then
		# without the sandbox the same user may: so it was the sandbox
		listen "$told.free"
		setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups \
		    "$bin/squeue" >/dev/null 2>&1
		wait_for 5 grep -q "$T/etc/config.json" "$told.free"
		is "outside the sandbox $user opens config.json" \
		    grep -q "$T/etc/config.json OPENED" "$told.free"
		kill "$ear"
	fi
}

one_mode root
rm -rf "$T/run" "$T/state"
one_mode laboper
test_end
