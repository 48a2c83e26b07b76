#!/bin/bash
# SPDX-License-Identifier: MIT
# A squeue of our own, started by the runner, tries to read config.json, the
# token and the spool, to change files, to signal the runner, to type into its
# terminal, to open ports: all of it is refused, as root and as a plain user.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a hostile squeue changes nothing"
lab_up
backend_up
probe=$CSA_BUILD/confine_probe
[ -x "$probe" ] || flock "$CSA_BUILD/config.status" make -s -C "$CSA_BUILD" confine_probe ||
	broken "no confine_probe"
bin=$T/bin
mkdir -p "$bin" "$T/secret"
for c in sacct scontrol sacctmgr sinfo sdiag; do
	ln -s "$(command -v $c)" "$bin/$c"
done
cp "$probe" "$bin/squeue"
args=$(dirname "$SLURM_CONF")/probe.args

# What a Slurm command may do, through the C library or itself.
POSSIBLE="write-null memfd read-memfd read-passwd kill-self tgkill-self fork
netlink-route udp getaddrinfo getpwnam getgrgid random end"

listen() {	# FILE: keeps the lines of the last datagram
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
with open(sys.argv[1] + ".port", "w") as f:
    print(s.getsockname()[1], file=f)
while True:
    text = s.recv(65536)
    with open(sys.argv[1] + ".new", "wb") as f:
        f.write(text)
    os.rename(sys.argv[1] + ".new", sys.argv[1])' "$1" &
	started_pids+=("$!")
	wait_for 20 test -s "$1.port" || broken "no ear for the probe"
}

try() {	# USER: what the probe is told to try, from its next start on
	local user=$1 place=$T/place.$1
	mkdir -p "$place"
	: >"$place/new.own"
	# the user of Slurm's commands in both modes
	chown -R laboper "$place"
	printf '%s\n' "$(cat "$T/told.$user.port")" "$T/etc/config.json" "$place/new" \
	    "$(worker_pid runner)" "$T/secret/jwt" "$T/state/spool/spool.db" "$T/run/ctl.sock" \
	    /proc/1/environ "/proc/$(worker_pid submitter)/environ" >"$args.new"
	chmod 644 "$args.new"
	mv "$args.new" "$args"
}

possible() { awk '$2 == 0 { print $1 }' "$1" | tr '\n' ' '; }

one_mode() {	# USER
	local user=$1 told=$T/told.$1 pids
	cp "$TOKEN" "$T/secret/jwt"
	chown -R "$user" "$T/secret"
	chmod 700 "$T/secret"
	chmod 600 "$T/secret/jwt"
	listen "$told"
	conf "slurmBinDir=$bin" ccRestJwt= "ccRestJwtFile=$T/secret/jwt" "ccRestUrl=$BACKEND"
	suite_up "$user"
	pids=$(suite_pids)
	try "$user"
	is "$user: the probe was run" wait_for 30 test -s "$told" || return
	say "$(grep -c . "$told") acts tried, possible: $(possible "$told")"
	# shellcheck disable=SC2086,SC2116	# its words in one line
	is "$user: nothing is possible that Slurm does not need" \
	    [ "$(possible "$told")" = "$(echo $POSSIBLE) " ]
	is "   its signals, its typing are refused" \
	    [ "$(grep -cxE '(kill|tgkill|tkill|ptrace|tiocsti|tiocsti-high) 1' "$told")" = 6 ]
	is "   the secrets are refused by Landlock" \
	    [ "$(grep -cE "^($T/(etc/config.json|secret/jwt|state/spool/spool.db)|read-secret|read-shadow) 13$" "$told")" = 4 ]
	is "   its file is as it was" [ "$(stat -c '%a %U' "$T/place.$user/new.own")" = "644 laboper" ]
	is "   and there is no other" [ "$(ls "$T/place.$user")" = new.own ]
	is "   no process was restarted" [ "$(suite_pids)" = "$pids" ]
	rm "$args"
	suite_down 5
	rm -rf "$T/run" "$T/state"
}

one_mode root
one_mode laboper

# Outside the sandbox the same user may: so it was the sandbox.
one=$T/told.outside
sleep 100 &
started_pids+=("$!")
env CONFINE_TEST=1 setpriv --reuid laboper --regid laboper --init-groups \
    "$bin/squeue" "$T/etc/config.json" "$T/place.laboper/new" "$!" "$T/secret/jwt" >"$one"
for act in read-secret create write-own chmod-own unlink-own listen exec setsid "$T/secret/jwt"; do
	is "outside the sandbox: $act" grep -qx "$act 0" "$one"
done
test_end
