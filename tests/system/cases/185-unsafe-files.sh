#!/bin/bash
# SPDX-License-Identifier: MIT
# A configuration or a secret file that other users can change: the daemon
# starts, says so in the log and in status, and names the command that repairs
# it; with strictModes it refuses the file.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "files that other users can change"
suite_users
mkdir -p "$T/state" "$T/secret"
: >"$T/state/lastrun"
chown cc-slurm-adapter: "$T/state" "$T/state/lastrun"
# a slurmctld that nobody runs: the daemon waits for it
SLURM_CONF=$T/etc/slurm.conf
printf 'ClusterName=alpha\nSlurmctldHost=localhost\nSlurmctldPort=%s\nSlurmUser=root\n' \
    "$(lib freeport 1)" >"$SLURM_CONF"
echo token >"$T/secret/jwt"
chmod 600 "$T/secret/jwt"
conf ccRestUrl=http://127.0.0.1:9 ccRestJwt= "ccRestJwtFile=$T/secret/jwt"
state() { ctl -j status | lib get - status supervisor state; }
conf_test() { "$ADAPTER" -daemon -test -config "$T/etc/config.json" >"$T/log/test" 2>&1; }
# the command in the line, run as it is
repair() { sh -c "$(sed -nE 's/.*: (ch(own|mod) .*)/\1/p' <<<"$1" | head -n 1)"; }

suite_up
is "all is well: status says ok" [ "$(state)" = ok ]
is "-test ends with 0" conf_test
is "-test confines the process that gets the token" grep -q 'submitter: sandbox of the test: .*uid,.*nocaps,.*seccomp' \
    <("$ADAPTER" -daemon -test -debug 3 -config "$T/etc/config.json" 2>&1)
suite_down

# the supervisor of -test, while its collector runs: dac_read_search,
# kill, setgid, setuid, setpcap, net_bind_service
mkdir "$T/bin"
for name in sacct sacctmgr scontrol sdiag sinfo squeue; do
	printf '#!/bin/sh\nexec sleep 2\n' >"$T/bin/$name"
	chmod 755 "$T/bin/$name"
done
cp "$T/etc/config.json" "$T/etc/usual.json"
conf "slurmBinDir=$T/bin"
"$ADAPTER" -daemon -test -config "$T/etc/config.json" >"$T/log/test" 2>&1 &
suite_pid=$!
is "-test starts its workers" wait_for 20 worker_alive collector
rights=$(grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$suite_pid/status" | tr -d ' \t\n')
for right in CapPrm:00000000000005e4 CapEff:00000000000005e4 CapBnd:00000000000005e4 NoNewPrivs:1 Seccomp:2; do
	is "-test has $right" grep -qF $right <<<"$rights"
done
wait "$suite_pid"
suite_pid=
cp "$T/etc/usual.json" "$T/etc/config.json"

chown nobody "$T/etc/config.json"
suite_up
is "a configuration of another user: the daemon starts" suite_alive
is "the log says so" wait_for 10 logged "WARN .*config.json: belongs to user .*: chown root $T/etc/config.json"
is "status says DEGRADED" grep -q "^DEGRADED: $T/etc/config.json: belongs to user" <<<"$(state)"
is "-test ends with an error" not conf_test
repair "$(state)"
is "after the named command and a reload" ctl reload
is "status says ok" [ "$(state)" = ok ]
is "and -test ends with 0" conf_test

chmod 775 "$T/secret"
is "the directory of the token is open to its group: reload" ctl reload
is "status says DEGRADED" grep -q "^DEGRADED: $T/secret/jwt: the group of $T/secret can replace it" <<<"$(state)"
conf strictModes=true
is "with strictModes a reload is refused" not ctl reload
is "the log names the key and the file" \
    wait_for 10 logged "ccRestJwtFile: $T/secret/jwt: .*chmod go-w $T/secret \(strictModes is true\)"
suite_down
limited 10 "$ADAPTER" -daemon -config "$T/etc/config.json" >"$T/log/refused" 2>&1
is "and the daemon does not start" [ $? = 1 ]
chmod go-w "$T/secret"
suite_up
is "after the repair it starts" [ "$(state)" = ok ]
suite_down
test_end
