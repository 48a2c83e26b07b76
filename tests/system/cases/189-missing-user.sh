#!/bin/bash
# SPDX-License-Identifier: MIT
# A user of a process is missing, as after an upgrade that has a new one: the daemon
# does not start, and its error names the key and the command that creates the user.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a missing user"
suite_users
mkdir -p "$T/state"
: >"$T/state/lastrun"
chown cc-slurm-adapter: "$T/state" "$T/state/lastrun"
SLURM_CONF=$T/etc/slurm.conf
printf 'ClusterName=alpha\nSlurmUser=slurm\n' >"$SLURM_CONF"
conf ccRestUrl=http://127.0.0.1:9 ccRestJwt=x
user=csa-absent-$$
refused() {
	limited 10 "$ADAPTER" -daemon -config "$T/etc/config.json" >"$T/log/refused" 2>&1
	[ $? = 1 ]
}
command_of() { sed -nE "s/.*user $user \($1\) does not exist or is root: run systemd-sysusers, .*, or (useradd .*)/\1/p" "$T/log/refused"; }
for key in listenerUser collectorUser submitterUser; do
	conf $key=$user
	is "$key: the daemon does not start" refused
	create=$(command_of $key)
	is "the error names the key and the command" [ "$create" = "useradd --system $user" ]
	conf $key=
done
sh -c "$create"
conf collectorUser=$user
suite_up
is "after the named command the daemon starts, and the collector has this user" \
    [ "$(ps -o user:32= -p "$(worker_pid collector)")" = "$user" ]
suite_down
userdel "$user"
conf collectorUser= slurmUser=$user
is "slurmUser: the daemon does not start" refused
is "the error names the key and the command" \
    grep -q "user $user, who runs Slurm's commands, does not exist: set slurmUser .*, or run systemd-sysusers" "$T/log/refused"
test_end
