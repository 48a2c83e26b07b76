# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on the records of slurmdbd: purged, and restored from a dump.  Read by
# part.sh.
#
# shellcheck disable=SC2154,SC2317	# part.sh has the variables, calls these

part_records() { usual LAB_MINJOBAGE=10; }

sql() { mariadb --no-defaults -S "$T/slurm/run/mysql.sock" -uroot slurm_acct -N -e "$1"; }

# The records are kept for the judge before slurmdbd loses them.
records_saved() { truth runs "$T/slurm" >>"$T/slurm/truth/saved"; }

# purged SECONDS: what slurmdbd's PurgeJobAfter does to runs that ended before;
# its shortest time is an hour
purged() {
	records_saved
	sql "delete from alpha_job_table where time_end != 0 and time_end < unix_timestamp() - $1;
	    delete from alpha_step_table where time_end != 0 and time_end < unix_timestamp() - $1;"
}

# what ended is delivered: nothing changes in cc-backend
act_records-purged() { purged 20; }

# Runs end while the suite is away, slurmctld forgets them, and slurmdbd as well.
act_purged-unread() {
	local ids
	mapfile -t ids < <(squeue -h -a -t R -o %A)
	suite_down 10
	ended_and_forgotten() { ! squeue -h -a -r -t all -o %A | grep -qxF "$(printf '%s\n' "${ids[@]}")"; }
	# slurmctld removes the jobs of MinJobAge once a minute
	wait_for 150 ended_and_forgotten || return 1
	wait_for 30 told_slurmdbd
	purged 0
	suite_start
}
told_slurmdbd() { sdiag | grep -q 'DBD Agent queue size: 0$'; }

dump() { mariadb-dump --no-defaults -S "$T/slurm/run/mysql.sock" -uroot --databases slurm_acct >"$T/dump"; }
act_records-dumped() { dump; }
# Runs have begun and ended since the dump.  Slurm's keys of the lost records
# must not be given to other runs: slurmctld would write their ends into these.
act_records-restored() {
	local next
	sleep $((10 * POLL))
	wait_for 30 told_slurmdbd
	next=$(sql "select max(job_db_inx) + 1000 from alpha_job_table")
	# no run begins after its record was kept
	lab ctl pause slurmctld
	records_saved
	lab ctl stop slurmdbd
	mariadb --no-defaults -S "$T/slurm/run/mysql.sock" -uroot <"$T/dump"
	sql "alter table alpha_job_table auto_increment = $next"
	lab ctl start slurmdbd
	lab ctl resume slurmctld
}
