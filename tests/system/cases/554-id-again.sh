#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmctld dies in the prolog of a job that it has not saved, and gives the id
# to the next job.  The suite holds the start of the first one, because no Slurm
# has shown it running.  The second one does not wait for it: not while slurmdbd
# has no row of the first one, and not when it has one that will never end.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
. "$(dirname "$0")/../lib/prolog.sh"
test_begin "a job id that slurmctld gives again"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=600
suite_up
hooks_on
prolog_waits
saved() { grep -qa "$1" "$T/slurm/state/job_state"; }
one labbob 1 -n1 -J "sentinel of accounting"
wait_for 40 backend_has_ended "$mix_id"
one labalice 600 -n1 -J "sentinel of squeue"
first=$mix_id
wait_for 20 backend_has "$first"
is "slurmctld has saved its state" wait_for 40 saved "sentinel of squeue"

for row in "no row" "a row without an end"; do
	: >"$T/prolog"
	# what a slurmctld that dies now finds after its restart
	rm -rf "$T/before"
	cp -a "$T/slurm/state" "$T/before"
	lost=$(batch labalice "sleep 600" -n1 -J lost)
	is "the start of job $lost is held" wait_for 30 is_held "$lost"
	is "accounting has its row" wait_for 30 in_accounting "$lost"
	lab ctl kill slurmctld
	[ "$row" != "no row" ] || db "delete from alpha_job_table where id_job=$lost"
	rm -rf "$T/slurm/state" "$T/prolog"
	cp -a "$T/before" "$T/slurm/state"
	lab ctl start slurmctld
	again=$(batch labbob "sleep 600" -n1 -J again)
	is "its id is given again" [ "$again" = "$lost" ]
	is "$row in accounting: the second job arrives" wait_for 30 backend_has "$again"
	is "with its own user" sh -c "python3 '$SYS/expected.py' jobs '$BACKEND' '$TOKEN' |
	    grep '\"jobId\": $again,' | grep -q labbob"
	is "the first one is kept, with the reason" \
	    wait_for 10 sh -c "'$CTL' -s '$T/run/ctl.sock' queue --rejected --job $lost |
	    grep -q 'its job id belongs to a later submission'"
	is "the log says so" logged "job $lost .*: the run was never seen running, and its job id belongs to a later submission"
	scancel "$again"
	is "the second one ends" wait_for 40 backend_has_ended "$again"
done
is "no other run was touched" not backend_has_ended "$first"
is "each start was sent once" [ "$(grep -c '"effect":"start"' "$LEDGER")" = 4 ]
test_end
