#!/bin/bash
# SPDX-License-Identifier: MIT
# SlurmUser is not slurm: its hooks reach the daemon, and the daemon says when
# the directory of the socket keeps them out.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "hooks of another SlurmUser"
suite_users
mkdir -p "$T/state" "$T/etc"
: >"$T/state/lastrun"
chown cc-slurm-adapter: "$T/state" "$T/state/lastrun"
# a slurmctld that nobody runs: the daemon waits for it
SLURM_CONF=$T/etc/slurm.conf
printf 'ClusterName=alpha\nSlurmctldHost=localhost\nSlurmctldPort=%s\nInclude users.conf\n' \
    "$(lib freeport 1)" >"$SLURM_CONF"
echo 'SlurmUser=daemon' >"$T/etc/users.conf"
conf ccRestUrl=http://127.0.0.1:9 ccRestJwt=x
message() {	# USER JOB
	env -i SLURM_JOB_ID="$2" SLURM_CLUSTER_NAME=alpha SLURM_SCRIPT_CONTEXT=prolog_slurmctld \
	    setpriv --reuid "$1" --regid "$(id -g "$1")" --clear-groups \
	    "$ADAPTER" -socket "$T/run/daemon.sock" 2>>"$T/log/hook"
}
came() { logged "hook: job $1 of alpha"; }

suite_up
gid=$(id -g daemon)
is "the daemon says that SlurmUser cannot enter the directory of the socket" \
    wait_for 10 logged "user $(id -u daemon), who runs slurmctld and the hooks, cannot enter $T/run .*chgrp $gid $T/run"
chgrp "$gid" "$T/run"
message daemon 4711
is "with the right group, SlurmUser's hook reaches the daemon" wait_for 5 came 4711
chmod 755 "$T/run"
message nobody 4712
is "another user is refused" wait_for 5 logged "hook message from uid $(id -u nobody): refused"
is "(no message)" not came 4712
# a configuration that SlurmUser cannot read
printf '{"prepSockConnectPath": "%s"}' "$T/run/daemon.sock" >"$T/etc/hook.json"
with_file() {	# JOB
	env -i SLURM_JOB_ID="$1" SLURM_CLUSTER_NAME=alpha SLURM_SCRIPT_CONTEXT=prolog_slurmctld \
	    setpriv --reuid daemon --regid "$gid" --clear-groups \
	    "$ADAPTER" -config "$T/etc/hook.json" 2>"$T/log/hook.file"
}
chmod 644 "$T/etc/hook.json"
is "the hook takes the address from a file that it can read" with_file 4714
is "(the message)" wait_for 5 came 4714
is "(no error)" not test -s "$T/log/hook.file"
chmod 600 "$T/etc/hook.json"
is "a file that the hook cannot read is no failure" with_file 4715
is "the hook says so" \
    grep -q "cannot read $T/etc/hook.json: Permission denied; the message goes to /" "$T/log/hook.file"
suite_down

# the daemon makes the directory itself
rm -rf "$T/run"
suite_folders() { :; }
suite_up
is "a new directory has the group of SlurmUser" [ "$(stat -c '%u:%g %a' "$T/run")" = "0:$gid 750" ]
message daemon 4713
is "SlurmUser's hook reaches the daemon" wait_for 5 came 4713
is "no warning about the directory" not logged "cannot enter"
suite_down
test_end
