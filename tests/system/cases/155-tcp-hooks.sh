#!/bin/bash
# SPDX-License-Identifier: MIT
# Hooks on TCP: the Go adapter's documented setup of several slurmctld hosts,
# and names with IPv4 and IPv6 addresses, as Debian's localhost.  The test has a
# network of its own; a second network is another host.
if [ -z "${CSA_OWN_NET:-}" ] && unshare -m -n true 2>/dev/null; then
	CSA_OWN_NET=1 exec unshare -m -n --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/../lib/lib.sh"
test_begin "hooks on TCP"
[ -n "${CSA_OWN_NET:-}" ] || skip "no network of its own"
ip link set lo up
ip link add csa0 type veth peer name csa1 || skip "no veth"
unshare -n sleep 600 &
other=$!
started_pids+=("$other")
other_is_there() { [ "$(readlink /proc/"$other"/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 5 other_is_there
on_other() { nsenter -t "$other" -n "$@"; }
ip link set csa1 netns "$other"
ip addr add 198.51.100.1/24 dev csa0
ip link set csa0 up
on_other ip addr add 198.51.100.2/24 dev csa1
on_other ip link set csa1 up
{
	cat /etc/hosts
	echo "198.51.100.1 slurmctld-host"
	echo "127.0.0.1 both"
	echo "::1 both"
} >"$T/hosts"
mount --bind "$T/hosts" /etc/hosts || skip "no mount"
lab_up
backend_up
port=$(lib freeport 1)

job=1000
message() {	# SOCKET [COMMAND...]: a hook's message of a new job
	local socket=$1
	shift
	job=$((job + 1))
	"$@" env -i SLURM_JOB_ID="$job" SLURM_CLUSTER_NAME=alpha \
	    SLURM_SCRIPT_CONTEXT=prolog_slurmctld "$ADAPTER" -socket "$socket" 2>"$T/log/hook"
}
came() { logged "hook: job $1 of alpha"; }
# the message of the last job was accepted
is_taken() {
	message "$@"
	wait_for 5 came "$job"
}

# as the Go adapter documents it
conf "prepSockListenPath=tcp:0.0.0.0:$port" "prepSockConnectPath=tcp:slurmctld-host:$port"
printf '{ "prepSockConnectPath": "tcp:slurmctld-host:%s" }\n' "$port" >"$T/etc/hook.json"
suite_up
lab hook "$ADAPTER -config $T/etc/hook.json"
id=$(batch labalice "sleep 3" -n1)
is "slurmctld's hook reaches the daemon by an address of this host" wait_for 20 came "$id"
is "without an entry in prepAllowedHosts" not logged "hook message from .*refused"
is "the job arrives" wait_for 60 backend_has_ended "$id"
message "tcp:slurmctld-host:$port" on_other
is "the hook of another host is refused" wait_for 5 logged "hook message from 198.51.100.2: refused"
is "(no message)" not came "$job"
line=$(sed -n 's/.*add the line \(.*\) to the configuration.*/\1/p' "$SUITE_LOG" | tail -n 1)
say "the log names the line $line"
sed -i "s|^{|{ $line,|" "$T/etc/config.json"
is "with this line the daemon reloads" ctl reload
is "and takes the message" is_taken "tcp:slurmctld-host:$port" on_other
suite_down

# a name with two addresses
conf "prepSockListenPath=tcp:both:$port" prepAllowedHosts=
suite_up
is "the daemon has both addresses of a name: IPv4" is_taken "tcp:127.0.0.1:$port"
is "and IPv6" is_taken "tcp:[::1]:$port"
is "and no other" not bash -c "exec 9<>/dev/tcp/198.51.100.1/$port" 2>/dev/null
suite_down
for only in 127.0.0.1 '[::1]'; do
	conf "prepSockListenPath=tcp:$only:$port"
	suite_up
	is "the hook finds a daemon that has only $only: by a name" is_taken "tcp:both:$port"
	is "as this host" is_taken "tcp::$port"
	is "as localhost" is_taken "tcp:localhost:$port"
	suite_down
done
conf "prepSockListenPath=tcp::$port"
suite_up
is "every address: IPv4" is_taken "tcp:127.0.0.1:$port"
is "IPv6" is_taken "tcp:[::1]:$port"
is "own" is_taken "tcp:198.51.100.1:$port"
sed "s|$T/run/daemon.pid|$T/run/b.pid|; s|$T/run/ctl.sock|$T/run/b.sock|; s|$T/state/lastrun|$T/state/b|" \
    "$T/etc/config.json" >"$T/etc/second.json"
limited 20 "$ADAPTER" -daemon -config "$T/etc/second.json" >"$T/log/second" 2>&1
is "a second daemon on the port ends with an error" [ $? = 1 ]
is "and names the port" grep -q "cannot listen on host \"\" port $port: Address already in use" "$T/log/second"
suite_down
test_end
