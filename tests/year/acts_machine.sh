# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on the machine: users, files of /etc, programs and libraries, processes,
# directories, disks.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2016	# part.sh has the variables, calls these; $a of sed

# replace FILE [SED-SCRIPT]: as dpkg does, a new file takes its name
replace() {
	local file
	file=$(realpath "$1")
	cp -p "$file" "$file.dpkg-new"
	[ $# -lt 2 ] || sed -i "$2" "$file.dpkg-new"
	ln -f "$file" "$file.dpkg-tmp" 2>/dev/null
	mv -f "$file.dpkg-new" "$file"
	rm -f "$file.dpkg-tmp"
}

# --- users -------------------------------------------------------------------

part_users() { usual; }

a_job_of() { batch "$1" "sleep ${2:-4}" -p big -n1 --mem=1 -J "of-$1"; }

act_user-added() {
	useradd -M -d /tmp -s /bin/bash yearone
	sacctmgr -i add user yearone account=proj1 cluster=alpha
	user_is_known() { a_job_of yearone 30; }
	# slurmctld reads users of slurmdbd in its own time
	wait_for 20 user_is_known
}
act_user-unrelated() {
	useradd -M -s /usr/sbin/nologin yeartmp
	userdel yeartmp
}
act_user-renamed() { usermod -l yeartwo -f -1 yearone 2>&1 || sed -i.old 's/^yearone:/yeartwo:/' /etc/passwd; }
act_user-removed() { userdel -f yeartwo; }
act_group-added() {
	groupadd yeargroup
	usermod -a -G yeargroup labalice
	groupdel yeargroup
}
act_password() { echo 'labbob:secret' | chpasswd; }
act_nsswitch() {
	replace /etc/nsswitch.conf 's/^passwd:.*/passwd: files sss systemd/; s/^group:.*/group: files sss systemd/'
}
act_resolv-conf() { replace /etc/resolv.conf '1i # replaced'; }
act_hosts() { replace /etc/hosts '$a 192.0.2.7 elsewhere'; }
act_localtime() {
	ln -sf /usr/share/zoneinfo/Asia/Kolkata /etc/localtime.new
	mv -f /etc/localtime.new /etc/localtime
}

# --- programs and libraries -----------------------------------------------------

part_programs() { usual; }

act_squeue() { replace "$(command -v squeue)"; }
act_all-commands() {
	local c
	for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
		replace "$(command -v $c)"
	done
}
slurm_libraries() { dirname "$(ldd "$(command -v squeue)" | awk '/libslurmfull/ { print $3 }')"; }
act_libslurm() { replace "$(slurm_libraries)/libslurmfull.so"; }
act_plugins() {
	local file
	for file in "$(slurm_libraries)"/*.so; do
		replace "$file"
	done
}
# a directory takes the place of another: what links to a version do
act_plugin-directory() {
	local d
	d=$(slurm_libraries)
	cp -a "$d" "$d.new"
	mv "$d" "$d.old"
	mv "$d.new" "$d"
	rm -rf "$d.old"
}
act_libc() {
	local name file
	for name in libc.so.6 libresolv.so.2 libm.so.6 libmunge.so.2 libnss_files.so.2 libnss_systemd.so.2; do
		file=$(ldconfig -p | awk -v n="$name" '$1 == n { print $NF; exit }')
		[ -z "$file" ] || replace "$file"
	done
	ldconfig
}
act_shell() {
	replace /bin/bash
	replace /bin/dash
}
act_commands-away() {
	local c
	c=$(command -v sacct)
	mv "$c" "$c.away"
	sleep $((3 * POLL))
	mv "$c.away" "$c"
}

# --- processes --------------------------------------------------------------------

part_processes() { usual; }

suite_all() { echo "$suite_pid"; suite_pids; }

act_all-stopped() {
	local pids
	mapfile -t pids < <(suite_all)
	kill -STOP "${pids[@]}"
	sleep "$AWAY"
	kill -CONT "${pids[@]}"
}
# stopped ROLE: a worker that does not answer is replaced, or goes on
stopped() {
	local pid
	pid=$(worker_pid "$1")
	[ -n "$pid" ] || return 1
	kill -STOP "$pid"
	sleep "$AWAY"
	kill -CONT "$pid" 2>/dev/null
	wait_for 20 worker_alive "$1"
}
act_listener-stopped() { stopped listener; }
act_collector-stopped() { stopped collector; }
act_runner-stopped() { stopped runner; }
act_submitter-stopped() { stopped submitter; }
act_supervisor-stopped() {
	kill -STOP "$suite_pid"
	sleep "$AWAY"
	kill -CONT "$suite_pid"
}
killed() {
	local pid
	pid=$(worker_pid "$1")
	[ -n "$pid" ] || return 1
	kill -KILL "$pid"
	other_worker() { worker_alive "$1" && [ "$(worker_pid "$1")" != "$2" ]; }
	wait_for 20 other_worker "$1" "$pid"
}
act_listener-killed() { killed listener; }
act_collector-killed() { killed collector; }
act_runner-killed() { killed runner; }
act_submitter-killed() { killed submitter; }
act_supervisor-killed() {
	kill -KILL "$suite_pid"
	wait "$suite_pid" 2>/dev/null
	suite_again
}
act_all-killed() {
	suite_kill
	suite_again
}
act_restarted() {
	suite_down 10
	suite_start
}
act_log-full() {
	local reader
	reader=$(reader_pid)
	kill -STOP "$reader"
	# more than a pipe holds, as a journald that does not read
	for _ in $(seq 40); do
		timeout 5 "$CTL" -s "$T/run/ctl.sock" sync >/dev/null 2>&1
	done
	sleep "$AWAY"
	kill -CONT "$reader"
}
act_log-reader-killed() { kill -KILL "$(reader_pid)"; }

# --- directories and disks ---------------------------------------------------------

part_disk() {
	mkdir -p "$T/state"
	# several times the reserve of the spool
	mount -t tmpfs -o size=128m tmpfs "$T/state"
	chown laboper: "$T/state"
	: >"$T/state/lastrun"
	chown laboper: "$T/state/lastrun"
	usual "$@"
}

# The suite says what was removed and exits; systemd starts it again.
exits_for_a_restart() {
	wait_for 20 not suite_alive || return 1
	said 'was removed or replaced' || return 1
	suite_again
}
act_run-emptied() {
	rm -rf "$T/run/"*
	exits_for_a_restart
}
act_run-removed() {
	rm -rf "$T/run"
	exits_for_a_restart
}
act_spool-removed() {
	rm -rf "$T/state/spool"
	exits_for_a_restart
}
act_spool-emptied() {
	rm -rf "$T/state/spool/"*
	exits_for_a_restart
}
act_disk-full() {
	dd if=/dev/zero of="$T/state/full" bs=64k status=none
	sleep "$AWAY"
	rm -f "$T/state/full"
}
act_read-only() {
	# a file that is open for writing would keep the remount from happening
	suite_down 10
	mount -o remount,ro "$T/state"
	setsid timeout 5 "$ADAPTER" -daemon -config "$T/etc/config.json" >>"$T/log/read-only" 2>&1
	mount -o remount,rw "$T/state"
	suite_start
}
