#!/bin/bash
# SPDX-License-Identifier: MIT
# -daemon -test prints what it finds: Slurm, the hooks, cc-backend, NATS, the
# spool and the hook socket.  Each failed check is a line with the command that
# repairs it; only a FAIL line changes the exit status.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the checklist of -test"
lab_up LAB_PRIVATE=jobs
backend_up
nats_up ''
suite_users
mkdir -p "$T/state" "$T/run"
chmod 750 "$T/run"
chgrp slurm "$T/run"
: >"$T/state/lastrun"
chown laboper: "$T/state/lastrun"
conf "natsServer=127.0.0.1" "natsPort=$NATS_PORT"
hook=$T/etc/prolog.sh
printf '#!/bin/sh\n%s\nexit 0\n' "$ADAPTER" >"$hook"
chmod 755 "$hook"
sed -i "s#^\(Pro\|Epi\)logSlurmctld=.*#\1logSlurmctld=$hook#" "$SLURM_CONF"
as root scontrol reconfigure

# check: runs the test; its status is the function's, its lines are in $out
out=
check() {
	local rc began=$SECONDS
	out=$("$ADAPTER" -daemon -test -config "$T/etc/config.json" 2>"$T/log/check")
	rc=$?
	[ $((SECONDS - began)) -le "$(patience 40)" ] || return 9
	return "$rc"
}
has() { grep -qE -- "$1" <<<"$out"; }
show() { printf '%s\n' "$out" | sed 's/^/      /'; }

is "a good site: exit status 0" check
show
is "every line is ok" not grep -qvE '^(ok   .*|configuration OK)$' <<<"$out"
is "Slurm's version, cluster and user" \
    has '^ok   Slurm 2[0-9]\.[0-9.]+, cluster alpha, asked as laboper \(Operator\)$'
is "nodes and GPUs" has '^ok   [0-9]+ nodes, 2 with GPUs, gpuPciAddrs matches$'
is "PrologSlurmctld" has "^ok   PrologSlurmctld calls this hook \($hook\)$"
is "EpilogSlurmctld" has "^ok   EpilogSlurmctld calls this hook"
is "cc-backend and its clusters" has '^ok   cc-backend 1\.5 or newer at 127\.0\.0\.1:[0-9]+: has the clusters alpha; the token is valid for 8[0-9] d'
is "the cluster in cc-backend" has '^ok   cc-backend has the cluster alpha$'
is "NATS" has '^ok   NATS: connected to '
is "the spool and its space" has "^ok   spool $T/state/spool \(made at the start\): writable, [0-9.]+ GiB free"
is "the hook socket" has "^ok   hook socket $T/run/daemon.sock: the daemon makes it at the start"
is "the last line is as before" [ "$(tail -n 1 <<<"$out")" = "configuration OK" ]
is "no file was made" not test -e "$T/state/spool"
is "standard error is empty" not test -s "$T/log/check"
is "the token is not printed" not grep -qF -- "$(cat "$TOKEN")" <<<"$out"

chmod 700 "$hook"
is "a script that slurmctld cannot execute" eval 'check; has "^warn PrologSlurmctld: user [0-9]+, who runs slurmctld, cannot execute $hook: "'
chmod 755 "$hook"

suite_up
before=$(stat -c '%i %Y' "$T/state/spool/spool.db")
is "while the daemon runs: exit status 0" check
is "the list names the daemon" has "^ok   hook socket .*: the daemon \(pid $suite_pid\) listens$"
is "the daemon has logged nothing of it" not logged 'WARN|ERROR'
gpus() { ctl gpus >"$T/log/gpus" 2>&1; }
agree() { gpus && [ "$(grep -c 'result        all agree$' "$T/log/gpus")" = "$1" ]; }
is "gpus: each of the two classes of nodes agrees" wait_for 10 agree 2
conf 'gpuPciAddrs={"^n3$":["00000000:00:00.0"]}'
is "gpuPciAddrs is wrong: reload" ctl reload
is "gpus names what differs" gpus
sed 's/^/      /' "$T/log/gpus"
is "for the node without addresses" grep -q 'gpuPciAddrs has no addresses for these nodes' "$T/log/gpus"
is "for the node with too few" grep -q 'another number of GPUs than Slurm' "$T/log/gpus"
# the proposed value, as it is printed
conf "gpuPciAddrs=$(sed -n '/^"gpuPciAddrs": {$/,$p' "$T/log/gpus" | sed '1s/^"gpuPciAddrs": //')"
is "the proposed value is taken" ctl reload
is "and fits" agree 1
is "the JSON form has rows of Slurm and of cc-backend" \
    lib get - gpus 0 cluster <<<"$(ctl -j gpus)" >/dev/null
is "its spool is the same file" [ "${before% *}" = "$(stat -c %i "$T/state/spool/spool.db")" ]
suite_down

# all that can fail without Slurm's help, at once: Slurm answers quickly
cp "$T/etc/config.json" "$T/etc/good.json"
printf '#!/bin/sh\n# %s\nexit 0\n' "$ADAPTER" >"$hook"
conf gpuPciAddrs='{"^n3$":["00000000:00:00.0"]}' 'clusterNames={"alpha":"gamma"}' \
    'ccRestJwt="x.y.z"' spoolMaxBytes=1099511627776
mkdir "$T/shut"
chmod 700 "$T/shut"
conf "prepSockListenPath=$T/shut/daemon.sock"
nats_down
is "a site with faults: the daemon would start" check
show
is "a script without the hook" \
    has "^warn PrologSlurmctld=$hook does not call cc-slurm-adapter; add this line to the script: /.*/prep-hook.sh$"
is "gpuPciAddrs that does not fit" \
    has '^warn [0-9]+ nodes, 2 with GPUs: gpuPciAddrs does not match 2 of them, such as n[34] .*cc-slurm-adapterctl gpus$'
is "a token that is refused" has '^warn cc-backend at .*401.*cc-backend -jwt USER$'
is "no broker" has '^warn NATS: .*systemctl status nats-server; or correct natsServer'
is "too little space" has "^warn spool .* GiB free, less than spoolMaxBytes \(1024\.0 GiB\); .*: df -h "
is "a directory that the hook cannot enter" has "^warn hook socket .*run chgrp [0-9]+ $T/shut && chmod g\+x $T/shut$"
sh -c "$(grep -oE 'chgrp [0-9]+ /.*' <<<"$out")"
chmod 750 "$T/shut"
cp "$T/etc/good.json" "$T/etc/config.json"
conf 'clusterNames={"alpha":"gamma"}' "prepSockListenPath=$T/shut/daemon.sock" natsServer= \
    'gpuPciAddrs={}'
sed -i "s#^\(Pro\|Epi\)logSlurmctld=.*##" "$SLURM_CONF"
as root scontrol reconfigure
as root sacctmgr -i modify user where name=laboper set adminlevel=None >/dev/null
is "other faults: the daemon would start" check
show
is "the command has repaired the directory" has "^ok   hook socket $T/shut/daemon.sock"
is "a cluster that cc-backend does not have" \
    has '^warn cc-backend does not have the cluster gamma, it has alpha: .*clusterNames'
is "no hooks" has '^warn PrologSlurmctld is not set: .*PrologSlurmctld=/.*/prep-hook.sh, then run: scontrol reconfigure$'
is "gpuPciAddrs is not set" has '^warn .* 2 with GPUs, gpuPciAddrs is not set'
is "no operator permission" has '^warn Slurm .*run: sacctmgr -i modify user where name=laboper set adminlevel=Operator$'
repair=$(sed -nE 's/^warn Slurm .*run: (sacctmgr .*)$/\1/p' <<<"$out")
# shellcheck disable=SC2086	# the words of the command
as root $repair >/dev/null

# neither Slurm nor cc-backend answers
cp "$T/etc/good.json" "$T/etc/config.json"
conf natsServer= ccRestUrl=http://127.0.0.1:9 slurmBinDir=/nonexistent
is "no commands, no cc-backend: the daemon would start" check
show
is "the commands are missing" has "^warn Slurm's commands are missing in /nonexistent: .*slurmBinDir"
is "cc-backend is away" has '^warn cc-backend at 127\.0\.0\.1:9: .*correct ccRestUrl$'
lab ctl stop slurmctld
conf slurmBinDir=
is "no slurmctld: the daemon would start" check
show
is "slurmctld does not answer" has '^warn slurmctld does not answer: .*; run: runuser -u laboper -- /.*/scontrol ping$'

# what prevents a start
rm -rf "$T/state/spool"
: >"$T/state/spool"
rm -f "$T/run/daemon.sock"
: >"$T/run/daemon.sock"
is "a file in place of the spool and of the socket: exit status 1" not check
show
is "the spool" has "^FAIL spool $T/state/spool: .* is not a directory"
is "the socket" has "^FAIL hook socket $T/run/daemon.sock: .*run: rm $T/run/daemon.sock$"
is "the list does not end with OK" not has '^configuration OK'
limited 20 "$ADAPTER" -daemon -config "$T/etc/config.json" >"$T/log/refused" 2>&1
is "and the daemon does not start" [ $? = 1 ]
chown nobody "$T/etc/config.json"
is "a configuration of another user: exit status 1" not check
is "its line has the command" has "^FAIL .*chown root $T/etc/config.json"
test_end
