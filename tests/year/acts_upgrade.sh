# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts that replace Slurm by the packages of the next Debian.  The machine
# begins as the older Debian.  /host/new has the newer one, /host/old the older
# one once more: a daemon on them has the programs and the slurm.conf of that
# host.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317	# part.sh has the variables, calls these

part_upgrade-20.11() { upgrade_begin; }
part_upgrade-24.11() { upgrade_begin; }
part_commands-20.11() { commands_begin; }
part_commands-24.11() { commands_begin; }
part_discarded-22.05() { hosts_begin; }

# --- hosts -------------------------------------------------------------------------

# host_ready NAME: the users, the suite and the tests of this machine, and a
# directory of its own with Slurm's configuration
host_ready() {
	local at=/host/$1 etc=$T/slurm/etc.$1 dir
	cp -p /etc/passwd /etc/group /etc/shadow /etc/gshadow /etc/hosts "$at/etc/"
	for dir in "$(realpath "$here/../..")" "$(dirname "$CSA_INST")"; do
		mkdir -p "$at$dir"
		mount --bind "$dir" "$at$dir"
	done
	cp -a "$T/slurm/etc" "$etc"
	host_conf "$at" "$etc"
	mount --bind "$etc" "$at$T/slurm/etc"
}

# host_conf ROOT ETC: what differs by the version of Slurm in ROOT
host_conf() (
	# shellcheck source=tests/lab/slurm_files.sh
	. "$LAB/slurm_files.sh"
	release=$(chroot "$1" slurmctld -V)
	release=${release##* }
	cgroup_plugin >"$2/cgroup.conf"
	sed -i "s/^AccountingStore\(Flags\|JobComment\)=.*/$(store_flags)/" "$2/slurm.conf"
)

# lab_at HOST VERB...: lab/slurm with the programs of that host
lab_at() {
	local at=/host/$1 verb=$2
	shift 2
	chroot "$at" "$LAB/slurm" "$verb" "$T/slurm" "$@"
}

# moved_to HOST DAEMON: the daemon goes on there
moved_to() {
	lab ctl stop "$2"
	lab_at "$1" ctl start "$2"
}

hosts_begin() {
	usual LAB_MINJOBAGE=300
	host_ready old
	host_ready new
	fetched || broken "no packages"
	say "$(squeue -V) becomes $(chroot /host/new squeue -V)"
}

# The packages of this machine are replaced while the suite runs; then this
# machine has the configuration of the newer Slurm.
packages_replaced() {
	local file before
	before=$(squeue -V)
	install_fetched || return 1
	for file in "$T/slurm/etc.new"/*; do
		cp -p "$file" "$T/slurm/etc/upgraded"
		mv -f "$T/slurm/etc/upgraded" "$T/slurm/etc/${file##*/}"
	done
	[ "$before" != "$(squeue -V)" ]
}

# --- in the order of Slurm's manual ---------------------------------------------------

upgrade_begin() { hosts_begin; }

act_slurmdbd-upgraded() { moved_to new slurmdbd; }
act_slurmctld-upgraded() { moved_to new slurmctld; }
act_slurmd-upgraded() {
	moved_to new slurmd
	wait_for 30 nodes_well
}
act_commands-upgraded() { packages_replaced; }
# the suite that was built on the older Debian has the libraries of the newer one
act_suite-restarted() {
	suite_down 10
	suite_start
}

# --- the commands first -----------------------------------------------------------------

# On this machine are no daemons of Slurm but the commands.
commands_begin() {
	local d
	hosts_begin
	for d in slurmdbd slurmctld slurmd; do
		moved_to old $d
	done >>"$T/log/acts" 2>&1
	wait_for 30 nodes_well || broken "the nodes do not come up"
}
# The commands are refused until slurmctld is as new; jobs start and end.
act_commands-first() {
	local end=$((SECONDS + AWAY)) d
	packages_replaced || return 1
	while [ $SECONDS -lt $end ]; do
		printf '#!/bin/bash\nsleep %d\n' $((RANDOM % 30)) |
		    lab_at old as labalice sbatch --parsable -o /dev/null -p big -n1 --mem=1 || return 1
		sleep "$POLL"
	done
	for d in slurmdbd slurmctld slurmd; do
		moved_to new $d || return 1
	done
	wait_for 30 nodes_well
}

# --- a version that cannot read the state of the older one -------------------------------

# The jobs end unseen: the new Slurm has neither them nor the records of before.
act_slurm-discarded() {
	local d
	sleep $((10 * POLL))	# some runs end before
	slurmctld_frozen || return 1
	for d in slurmd slurmctld slurmdbd; do
		lab ctl kill $d
	done
	pkill -KILL -x slurmstepd	# in this machine are no others
	mariadb --no-defaults -S "$T/slurm/run/mysql.sock" -uroot -e 'drop database slurm_acct; create database slurm_acct'
	rm -rf "${T:?}"/slurm/state/* "$T"/slurm/spool/*/*
	# cc-backend refuses an id of the last day
	echo FirstJobId=50000 >>"$T/slurm/etc.new/slurm.conf"
	packages_replaced || return 1
	lab_at new ctl start slurmdbd
	sacctmgr -i <"$T/slurm/etc/accounts"
	lab_at new ctl start slurmctld
	lab_at new ctl start slurmd
	wait_for 30 nodes_well
}
