# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A job whose PrologSlurmctld does not end: the suite holds its start, because
# no Slurm has shown it running.  Needs lib.sh.

# The prolog of each later job with the name "lost" runs until $T/prolog is removed.
prolog_waits() {
	: >"$T/prolog"
	lab hook "[ \"\$SLURM_SCRIPT_CONTEXT.\$SLURM_JOB_NAME\" != prolog_slurmctld.lost ] ||
    while [ -e '$T/prolog' ]; do sleep 0.2; done"
}
is_held() { ctl queue --job "$1" | grep -q 'waits until Slurm shows it running'; }
# in_accounting ID: slurmdbd has one row of the job, with its start
in_accounting() { [ "$(db "select count(*) from alpha_job_table where id_job=$1 and \`partition\`='main' and time_start>0")" = 1 ]; }
