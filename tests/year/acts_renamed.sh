# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on names in Slurm while jobs that use them run: users, accounts, QOS and
# partitions are renamed and deleted.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2016	# part.sh has the variables, calls these; $a of sed

part_renamed() {
	usual
	useradd -M -d /tmp -s /bin/bash yearone
	sacctmgr -i add account proj5 Description=five Organization=lab cluster=alpha
	sacctmgr -i add user yearone account=proj5 cluster=alpha
	sacctmgr -i add qos leaves
	sacctmgr -i modify user labbob set qos+=leaves
} >>"$T/log/acts" 2>&1

# job_of USER SECONDS OPTION...: a job that runs when this returns
job_of() {
	local user=$1 seconds=$2 id
	shift 2
	submitted() { id=$(batch "$user" "sleep $seconds" -p big -n1 --mem=1 "$@"); }
	# slurmctld reads what is new in slurmdbd in its own time
	wait_for 20 submitted && wait_for 20 job_state_is "$id" RUNNING
}
# The name changes in Slurm and in passwd; the job of the old name runs on.
act_slurm-user-renamed() {
	job_of yearone 12 || return 1
	sacctmgr -i modify user yearone set newname=yeartwo || return 1
	usermod -l yeartwo -f -1 yearone 2>&1 || sed -i.old 's/^yearone:/yeartwo:/' /etc/passwd
	job_of yeartwo 4
}
# Slurm refuses to delete a user who has a job: the admin ends the job first.
# slurmdbd refuses this when it has the start of the job.
runs_in_slurmdbd() {
	local ids
	ids=$(squeue -h -u "$1" -t R -o %A | sort)
	[ -n "$ids" ] && [ "$(sacct -n -X -P -u "$1" -s R -o JobIDRaw | sort)" = "$ids" ]
}
act_slurm-user-deleted() {
	job_of yeartwo 60 && wait_for 20 runs_in_slurmdbd yeartwo || return 1
	not sacctmgr -i delete user yeartwo account=proj5 cluster=alpha || return 1
	scancel -u yeartwo
	wait_for 30 sacctmgr -i delete user yeartwo account=proj5 cluster=alpha
}
# Slurm cannot rename an account: the admin creates a new one and deletes the old.
act_slurm-account-renamed() {
	sacctmgr -i add account proj6 Description=six Organization=lab cluster=alpha
	sacctmgr -i add user labcarol account=proj5,proj6 cluster=alpha
	job_of labcarol 60 -A proj5 || return 1
	job_of labcarol 10 -A proj6 || return 1
	scancel -u labcarol -A proj5
	sacctmgr -i modify user labcarol set DefaultAccount=proj6
	wait_for 30 sacctmgr -i delete user labcarol account=proj5 cluster=alpha &&
	    wait_for 30 sacctmgr -i delete account proj5 cluster=alpha
}
# Slurm lets the job run on without its QOS.
act_qos-deleted() {
	job_of labbob 12 --qos=leaves || return 1
	sacctmgr -i modify user labbob set qos-=leaves
	sacctmgr -i delete qos leaves
}
# Slurm kills the jobs of a partition that slurm.conf does not name any more; by
# scontrol it deletes only a partition without jobs.
act_partition-renamed() {
	with_conf '$a PartitionName=before Nodes=big[01-02] MaxTime=60 DefaultTime=10'
	scontrol reconfigure
	job_of labalice 60 -p before || return 1
	with_conf 's/^PartitionName=before /PartitionName=after /'
	scontrol reconfigure
	job_of labalice 3 -p after
}
act_partition-deleted() {
	job_of labalice 60 -p after || return 1
	scontrol delete partitionname=after || {
		scancel -u labalice -p after
		wait_for 30 scontrol delete partitionname=after
	} || return 1
	with_conf '/^PartitionName=after /d'
	scontrol reconfigure
}
