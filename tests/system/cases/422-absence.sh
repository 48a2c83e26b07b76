#!/bin/bash
# SPDX-License-Identifier: MIT
# A run is open in cc-backend that no Slurm knows.  It does not count as unknown while
# squeue or sacct answer with nothing and status 0, nor while our right to see
# all jobs is gone; it is ended when both do not know it, in answers with their
# witness, twice an hour apart.  The hour passes in a jump of the submitter's
# boot clock (boottime_shift.c), which a script in the submitter's place, mounted for
# this test alone, preloads.  A run that was about to begin when Slurm forgot it
# has nothing to be ended: it is set aside, until Slurm tells of it.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/clocks.sh"
. "$(dirname "$0")/../lib/jobs.sh"
. "$(dirname "$0")/../lib/prolog.sh"
own_mounts
test_begin "a run that Slurm does not know"
lab_up LAB_PRIVATE=jobs,users,accounts,usage
backend_up
bin=$T/bin
mkdir -p "$bin" "$T/how"
for c in scontrol sacctmgr sinfo sdiag; do
	ln -s "$(command -v $c)" "$bin/$c"
done
for c in squeue sacct; do
	cat >"$bin/$c" <<-E
	#!/bin/bash
	[ ! -e $T/how/silent.$c ] || exit 0
	exec $(command -v $c) "\$@"
	E
	chmod 755 "$bin/$c"
done
submitter_clock_new
conf "slurmBinDir=$bin" "slurmExtraPaths=[\"$T/how\"]" slurmPollInterval=1 ccPollInterval=2
suite_up
hooks_on
unknown() { ctl status -v 2>/dev/null | grep -qE "^ *unknown +$1"; }
one labbob 1 -n1 -J "a witness for accounting"
wait_for 40 backend_has_ended "$mix_id"
one labalice 600 -n1 -J "one for squeue"
stays=$mix_id
wait_for 20 backend_has "$stays"
# The first comparison waits until accounting was read once.
is "cc-backend is compared" wait_for 60 logged "compared with cc-backend"

# squeue's and sacct's silence is there before the question about the run
touch "$T/how/silent.squeue" "$T/how/silent.sacct"
start=$(($(date +%s) - 3000))
ghost=4000000
request POST "$BACKEND/api/jobs/start_job/" "{\"jobId\":$ghost,\"cluster\":\"alpha\",\"user\":\"u1\",
	\"numNodes\":1,\"startTime\":$start,\"resources\":[{\"hostname\":\"n1\"}]}" "$TOKEN" >/dev/null
is "a run is open there that Slurm does not know" wait_for 10 backend_has "$ghost"
is "squeue silent: its answer does not count" \
    wait_for 40 logged "job $ghost \(alpha, started .*\) is unknown to Slurm, but the answer of squeue lacks the sentinel run"
rm "$T/how/silent.squeue"
sleep 5
is "nor while sacct alone is silent" unknown '0 once, 0 twice'
sacctmgr -i modify user laboper set AdminLevel=None >/dev/null
rm "$T/how/silent.sacct"
sleep 6
is "nor without the operator permission" unknown '0 once, 0 twice'
sacctmgr -i modify user laboper set AdminLevel=Operator >/dev/null
is "all well: it is unknown to Slurm" wait_for 40 unknown '1 once, 0 twice'
sleep 4
is "that alone ends nobody" not backend_has_ended "$ghost"
later 3600
is "unknown again after an hour: it is ended" wait_for 60 backend_has_ended "$ghost"
is "as failed" sh -c "python3 '$SYS/expected.py' jobs '$BACKEND' '$TOKEN' |
    grep '\"jobId\": $ghost,' | grep -q failed"
is "nobody else is" not backend_has_ended "$stays"
scancel "$stays"
wait_for 30 backend_has_ended "$stays"
is "all as Slurm says" compare --since "$((start + 1))" --short 4 --wait 40 --expect 2

# about to begin when slurmctld loses all it knows; accounting loses it as well
prolog_waits
forgotten() { ctl queue --rejected --job "$1" | grep -q 'neither squeue nor accounting has it'; }
lost=$(batch labalice "sleep 600" -n1 -J lost)
is "the start of a run in its prolog is held" wait_for 30 is_held "$lost"
# slurmctld sends starts to slurmdbd every five seconds
is "accounting has its row" wait_for 30 in_accounting "$lost"
is "slurmctld has saved the job id and will not use it again" \
    wait_for 30 grep -qa lost "$T/slurm/state/job_state"
# A killed slurmctld sends no end.  A cold start ends all open rows: the row is
# deleted before it.
lab ctl kill slurmctld
db "create table kept select * from alpha_job_table where id_job=$lost; delete from alpha_job_table where id_job=$lost"
LAB_COLD=1 lab ctl start slurmctld
rm "$T/prolog"
one labbob 600 -n1 -J "another one for squeue"
other=$mix_id
is "another run starts" wait_for 40 backend_has "$other"
is "forgotten by both: unknown" wait_for 60 unknown '1 once, 0 twice'
sleep 4
is "that alone is no reason to give it up" is_held "$lost"
later 7200
is "unknown again after an hour: it is set aside" wait_for 60 forgotten "$lost"
is "the log says so" wait_for 10 logged "job $lost .*: the run was never seen running, and Slurm has reported it as unknown twice"
is "cc-backend has never heard of it" not backend_has "$lost"
ctl reload >/dev/null
sleep 3
is "a reload does not send it" forgotten "$lost"
# The admin runs sync before accounting has the row.  The row then comes as
# slurmdbd writes it for an end without a start: no partition, another name.
ctl sync --job "$lost" >/dev/null
is "sync finds nothing yet: the start stays rejected" forgotten "$lost"
db "update kept set time_end=time_start+5, state=5, exit_code=256, \`partition\`='', job_name='allocation';
    insert into alpha_job_table select * from kept"
ctl sync --job "$lost" >/dev/null
is "accounting remembers it after all: it arrives" wait_for 60 backend_has_ended "$lost"
is "and nothing is rejected" [ -z "$(ctl -j queue --rejected | grep -o '"job":')" ]
test_end
