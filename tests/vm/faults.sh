# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Inside the machine: what only a real systemd shows of faults around the service:
# directories that are removed under the mounts of the unit, the kernel that kills
# a process for the memory of the unit's cgroup, a second service.  For systemd.sh,
# which has sourced lib.sh.  The service is active, hooks reach it.
. "$(dirname "$0")/service.sh"

# is_anew PID: systemd has started the service again since this main process
is_anew() {
	local pid
	pid=$(main_pid)
	[ "$pid" != "$1" ] && [ "$pid" != 0 ] && service -q is-active
}

# said_by INVOCATION PATTERN: this start of the service has logged it
said_by() {
	journalctl -q --sync >/dev/null 2>&1
	journalctl -q -o cat "_SYSTEMD_INVOCATION_ID=$1" | grep -qE -- "$2"
}

# --- removed directories ------------------------------------------------------------

# ends_for_restart WHAT PATH COMMAND...: the command removes PATH; a job runs before
# and after it, another one is submitted between
ends_for_restart() {
	local what=$1 path=$2 pid invocation number running during
	shift 2
	running=$(batch labbob "sleep 15" -n1)
	is "$what: job $running runs" wait_for $wait_long backend_has "$running"
	pid=$(main_pid) invocation=$(prop InvocationID) number=$(prop NRestarts)
	"$@"
	during=$(batch labalice "sleep 2" -n1)
	is "$what: the service says so" wait_for $wait_long said_by "$invocation" \
	    "$path.* was removed or replaced while the service runs; the service ends"
	is "$what: systemd starts it again" wait_for $wait_long is_anew "$pid"
	is "$what: once" [ "$(prop NRestarts)" = $((number + 1)) ]
	is "$what: job $during arrives, with its end" wait_for $wait_long backend_has_ended "$during"
	is "$what: job $running ends" wait_for $wait_long backend_has_ended "$running"
}

# The supervisor stands still until the new directory is there: it is no mount of the
# unit, and the sockets are not in it.
remove_and_make() {
	local pid owner
	pid=$(main_pid)
	owner=$(stat -c '%U:%G' /run/$name)
	kill -STOP "$pid"
	rm -rf /run/$name
	mkdir -m 750 /run/$name
	chown "$owner" /run/$name
	kill -CONT "$pid"
}

directories_removed() {
	ends_for_restart "/run emptied" "/run/$name/" find /run/$name -mindepth 1 -delete
	ends_for_restart "/run/$name removed" "/run/$name/" rm -rf /run/$name
	ends_for_restart "/run/$name made anew" "/run/$name/" remove_and_make
	ends_for_restart "spool removed" "/var/lib/$name/spool" rm -rf /var/lib/$name/spool
	ends_for_restart "/var/lib/$name removed" "/var/lib/$name/spool" rm -rf /var/lib/$name
	is "the socket of the hooks is there" test -S /run/$name/daemon.sock
	is "the status is said" wait_for $wait_long "$CTL" status
}

# --- out of memory ------------------------------------------------------------------

killed_for_memory() { dmesg | grep -q "Memory cgroup out of memory: Killed process $1 "; }

# prefer PID ADJUSTMENT: the kernel kills no process of the service but this one; a
# process that starts meanwhile is as safe as its parent.  "prefer 0 0": as usual.
prefer() {
	local p group
	group=/sys/fs/cgroup$(prop ControlGroup)
	while read -r p; do
		[ "$p" = "$1" ] || echo "$2" >"/proc/$p/oom_score_adj"
	done <"$group/cgroup.procs"
	[ "$1" = 0 ] || echo 1000 >"/proc/$1/oom_score_adj"
}

# Sets kills; no process is started between a kill and the end of the shortage.
count_kills() {
	local key value
	kills=gone	# the cgroup ends with the supervisor
	while read -r key value; do
		[ "$key" != oom_kill ] || kills=$value
	done <"$1/memory.events"
} 2>/dev/null

# squeeze_once PID: the limit of the unit's cgroup falls in small steps until the
# kernel has killed a process.
squeeze_once() {
	local group old limit before step=65536
	group=/sys/fs/cgroup$(prop ControlGroup)
	old=$(cat "$group/memory.max")
	prefer "$1" -1000 2>/dev/null
	limit=$(awk '$1 == "anon" || $1 == "kernel" { n += $2 } END { print n + 4194304 }' "$group/memory.stat")
	count_kills "$group"
	before=$kills
	while [ "$kills" = "$before" ] && [ "$limit" -gt $step ]; do
		limit=$((limit - step))
		echo $limit >"$group/memory.max"
		count_kills "$group"
	done 2>/dev/null
	echo "$old" >"$group/memory.max"
} 2>/dev/null

# squeeze PID: the first victim may be a command that the runner has started
squeeze() {
	for _ in 1 2 3 4 5; do
		squeeze_once "$1"
		wait_for 2 killed_for_memory "$1" && break
	done
}

# others ROLE: the processes that stay when this one dies
others() {
	local role
	for role in listener collector runner submitter exporter; do
		case $1:$role in
		"$role:$role" | collector:runner | runner:collector) ;;
		*) echo "$role $(worker_of $role)" ;;
		esac
	done
}

worker_is_anew() { [ -n "$(worker_of "$1")" ] && [ "$(worker_of "$1")" != "$2" ]; }

worker_without_memory() {
	local role=$1 pid before number id
	pid=$(worker_of "$role") before=$(others "$role") number=$(prop NRestarts)
	id=$(batch labbob "sleep 5" -n1)
	squeeze "$pid"
	is "the kernel kills the $role for its memory" killed_for_memory "$pid"
	is "the log says so" wait_for $wait_long in_journal "the $role \(pid $pid\) was killed by signal 9"
	is "the $role is started again" wait_for $wait_long worker_is_anew "$role" "$pid"
	is "the other processes stay" [ "$(others "$role")" = "$before" ]
	is "systemd did not restart the service" [ "$(prop NRestarts)" = "$number" ]
	prefer 0 0 2>/dev/null
	is "job $id arrives, with its end" wait_for $wait_long backend_has_ended "$id"
}

without_memory() {
	local role pid number id
	is "the unit has a limit of memory" [ "$(prop MemoryMax)" = 4294967296 ]
	for role in listener collector runner submitter exporter; do
		worker_without_memory $role
	done
	pid=$(main_pid) number=$(prop NRestarts)
	id=$(batch labbob "sleep 5" -n1)
	squeeze "$pid"
	is "the kernel kills the supervisor for its memory" killed_for_memory "$pid"
	is "systemd starts the service again" wait_for $wait_long is_anew "$pid"
	is "once" [ "$(prop NRestarts)" = $((number + 1)) ]
	is "job $id arrives, with its end" wait_for $wait_long backend_has_ended "$id"
	one_job
}

# --- a second service -----------------------------------------------------------------

at_beta() { truth jobs "$BETA" "$T/beta.token" | grep "\"jobId\": $1,"; }
ended_at_beta() { at_beta "$1" | grep -qv '"jobState": "running"'; }
beta() { systemctl "$@" $name@beta; }
beta_ctl() { "$CTL" -c $etc/beta.json -j status | lib get - status supervisor "$1"; }
beta_answers() { [ -s "$T/beta.token" ] && request GET "$BETA/api/clusters/" "" "$T/beta.token"; }

beta_up() {
	local port
	port=$(lib freeport 1)
	BETA=http://127.0.0.1:$port
	"$FAKE" --port "$port" --commit "$COMMIT" --clusters "$CLUSTERS" --topology "$TOPOLOGY" \
	    --token-file "$T/beta.token" --ledger "$T/beta.ledger" >>"$T/log/beta" 2>&1 &
	wait_for 20 beta_answers || broken "the second backend does not answer"
	cat >$etc/beta.json <<-E
	{"ccRestUrl": "$BETA", "ccRestJwtFile": "$etc/beta.jwt", "slurmConf": "$SLURM_CONF",
	 "pidFilePath": "/run/$name/beta.pid", "prepSockListenPath": "/run/$name/beta.sock",
	 "prepSockConnectPath": "/run/$name/beta.sock", "lastRunPath": "/var/lib/$name/beta",
	 "slurmPollInterval": 5, "ccPollInterval": 30, "ccCommitInterval": $COMMIT}
	E
	chmod 600 $etc/beta.json
	install -m 600 "$T/beta.token" $etc/beta.jwt
	cp "$CSA_INST/lib/systemd/system/$name@.service" /etc/systemd/system/
	systemctl daemon-reload
}

# both_have JOB
both_have() {
	is "job $1 arrives at the first, with its end" wait_for $wait_long backend_has_ended "$1"
	is "job $1 arrives at the second, with its end" wait_for $wait_long ended_at_beta "$1"
}

second_service() {
	local pid id since
	beta_up
	pid=$(main_pid)
	since=$(date +%s)
	is "$name@beta starts beside the first" beta start
	is "it is active" beta -q is-active
	is "the first stays" [ "$(main_pid)" = "$pid" ]
	is "it has its own configuration" [ "$(beta_ctl configuration)" = $etc/beta.json ]
	is "it has its own spool" [ "$(beta_ctl spool_dir)" = /var/lib/$name/beta.spool ]
	is "the first has another one" test -s /var/lib/$name/spool/spool.db
	is "it has its own sockets" test -S /run/$name/beta.sock -a -S /run/$name/beta.ctl.sock
	lab hook "$CSA_INST/libexec/$name/prep-hook.sh; $ADAPTER -socket /run/$name/beta.sock"
	both_have "$(batch labalice "sleep 3" -n2)"
	is "the second is stopped" beta stop
	is "its socket is removed" not test -e /run/$name/beta.sock
	id=$(batch labalice "sleep 3" -n2)
	is "job $id arrives at the first, with its end" wait_for $wait_long backend_has_ended "$id"
	is "the first is active still" [ "$(main_pid)" = "$pid" ]
	is "the second has no job $id" not at_beta "$id"
	is "the second starts again" beta start
	is "job $id arrives at the second, with its end" wait_for $wait_long ended_at_beta "$id"
	pid=$(systemctl show -P MainPID $name@beta)
	is "the first is restarted" service restart
	is "the second stays" [ "$(systemctl show -P MainPID $name@beta)" = "$pid" ]
	both_have "$(batch labbob "sleep 3" -n1)"
	is "at the second, each run since its start once" \
	    env_of_beta compare --since "$since" --wait 60 --expect 3
	is "it stops" beta stop
	lab hook "$CSA_INST/libexec/$name/prep-hook.sh"
}

# env_of_beta COMMAND...: with the second backend
env_of_beta() { BACKEND=$BETA TOKEN=$T/beta.token LEDGER=$T/beta.ledger "$@" --gpus $etc/beta.json; }
