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

partitions_are() {
	local p
	for p in $(sinfo -h -o %R | sort -u); do
		scontrol update partitionname="$p" state="$1"
	done
}
# slurmdbd has each run that squeue shows
records_complete() {
	local runs
	runs=$(SLURM_TIME_FORMAT=%s squeue -h -a -r -t all -o '%A %S %N') || return 1
	runs=$(awk 'NF == 3 { print $1, $2 }' <<<"$runs" | sort)
	[ -z "$(comm -23 <(echo "$runs") <(truth runs "$T/slurm" | cut -d ' ' -f 1,2 | sort))" ]
}
# No run begins from now on; slurmctld stops when slurmdbd has all of them.
slurmctld_frozen() {
	partitions_are down
	wait_for 30 records_complete || return 1
	accounting_saved
	lab ctl pause slurmctld
	records_saved
}

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
	wait_for 30 records_complete && accounting_saved
	# not what ended just now: slurmctld writes a part of such a record again
	purged 10
	suite_start
}

dump() { mariadb-dump --no-defaults -S "$T/slurm/run/mysql.sock" -uroot --databases slurm_acct >"$T/dump"; }
act_records-dumped() { dump; }
# Runs have begun and ended since the dump.  Slurm's keys of the lost records
# must not be given to other runs: slurmctld would write their ends into these.
act_records-restored() {
	local next user_of_lab
	sleep $((10 * POLL))
	slurmctld_frozen || return 1
	next=$(sql "select max(job_db_inx) + 1000 from alpha_job_table")
	lab ctl stop slurmdbd
	mariadb --no-defaults -S "$T/slurm/run/mysql.sock" -uroot <"$T/dump"
	sql "alter table alpha_job_table auto_increment = $next"
	lab ctl start slurmdbd
	lab ctl resume slurmctld
	# slurmctld has keys of lost records also for jobs that wait: slurmdbd
	# would never have their runs
	for user_of_lab in labalice labbob labcarol; do
		scancel -t PD -u "$user_of_lab"
	done
	partitions_are up
}
