# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What shows that an act was performed, beside its exit status.  Read by part.sh.
# YEAR_SKIP='ACT...' skips these acts and not their checks: the part must fail.
#
# shellcheck disable=SC2154,SC2317	# part.sh has the variables, calls these

# restarted_by ACT: the daemons that the act starts again; `suite` is the supervisor
restarted_by() {
	case $1 in
	slurmctld-restarted | slurmctld-killed | slurmctld-away | slurmctld-moved) echo slurmctld ;;
	prolog-interrupted | slurmctld-upgraded | cold-start | old-id | primary-back) echo slurmctld ;;
	node-added | node-removed | node-reshaped | node-renamed | topology) echo slurmctld ;;
	gpus-moved | gpus-returned | configless-on | configless-restarted) echo slurmctld ;;
	conf-server-away | sackd-installed) echo slurmctld ;;
	slurmdbd-restarted | slurmdbd-away | slurmdbd-upgraded | records-restored) echo slurmdbd ;;
	clock-back | clock-hour-back | commands-first | slurm-discarded) echo slurmdbd slurmctld ;;
	mariadb-restarted | mariadb-away) echo mariadbd ;;
	munge-restarted) echo munged ;;
	munge-key) echo munged slurmdbd slurmctld ;;
	host-rebooted) echo munged mariadbd slurmdbd slurmctld suite ;;
	takeover) echo backup ;;
	restarted | supervisor-killed | all-killed | suite-restarted | suite-on-sssd) echo suite ;;
	conf-server | conf-dns) echo suite ;;
	run-emptied | run-removed | spool-removed | spool-emptied | read-only) echo suite ;;
	installed-newer | installed-older | installed-again | purged-unread) echo suite ;;
	esac
}

# is_outage ACT: it lasts $AWAY
is_outage() {
	case $1 in
	commands-away) return 1 ;;	# three polls
	*-away | *-stopped | *-slow | host-rebooted | conf-broken | disk-full | log-full | operator-right | broker-lost) ;;
	*) return 1 ;;
	esac
}

# is_reload ACT: the suite reads a changed configuration
is_reload() {
	case $1 in
	gpu-addresses | live-keys) ;;
	configless-on | configless-off | sackd-installed | sackd-removed) ;;
	backend-moved | name-moved | certificate-other | credentials | token-*) ;;
	*) return 1 ;;
	esac
}

running_pid() {
	if [ "$1" = suite ]; then
		echo "$suite_pid"
	else
		cat "$T/slurm/run/$1.pid" 2>/dev/null
	fi
}

declare -A pid_before
# state_before ACT
state_before() {
	local daemon
	for daemon in $(restarted_by "$1"); do
		pid_before[$daemon]=$(running_pid "$daemon")
	done
}

# was_performed ACT SECONDS: the act took so long
was_performed() {
	local daemon
	for daemon in $(restarted_by "$1"); do
		[ "$(running_pid "$daemon")" != "${pid_before[$daemon]}" ] ||
		    { say "$1: $daemon is the process of before"; return 1; }
	done
	! is_outage "$1" || [ "$2" -ge $((AWAY - 1)) ] || { say "$1: $2 s are less than an outage"; return 1; }
	! is_reload "$1" || wait_for 10 said 'configuration [0-9]+ is in force: ' ||
	    { say "$1: no other configuration is in force"; return 1; }
	! declare -F "seen_$1" >/dev/null || "seen_$1" || { say "$1: its result is not there"; return 1; }
}
