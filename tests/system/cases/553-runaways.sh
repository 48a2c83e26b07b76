#!/bin/bash
# SPDX-License-Identifier: MIT
# A job that accounting shows as running and that slurmctld does not have: the
# suite neither ends nor starts it; status lists it with the command that
# corrects it, and when that command was run, its end arrives.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "a runaway job"
lab_up LAB_MINJOBAGE=5
backend_up
conf slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
one labalice 600 -n1 -J "will run away"
known=$mix_id
one labbob 600 -n1 -J "unknown to cc-backend"
is "two jobs run" wait_for 30 backend_has "$known"
wait_for 30 backend_has "$mix_id"
is "there is no runaway" status 'runaways +none'
is "both are seen at cc-backend" wait_for 30 status 'compared_runs +2'
sleep 1	# until that is stored as well
suite_down
# one of them cc-backend never heard of
backend_down
grep -v "\"jobId\":$mix_id," "$LEDGER" >"$T/ledger.2"
mv "$T/ledger.2" "$LEDGER"
backend_up
scancel "$known" "$mix_id"
wait_for 30 queue_empty
gone() { ! scontrol show job "$known" && ! scontrol show job "$mix_id"; }
ends() { sacct -D -X -n -P -o end -j "$1" | grep -qv Unknown; }
wait_for 30 ends "$known"
is "slurmctld forgets them" wait_for 120 gone
db "UPDATE alpha_job_table SET time_end=0, state=1 WHERE id_job IN ($known, $mix_id)"
is "accounting calls them running" \
    [ "$(sacct -X -n -P -o state -j "$known,$mix_id" | sort | uniq -c | tr -s ' ')" = " 2 RUNNING" ]
suite_up
is "status lists them, with the command that corrects them" \
    wait_for 60 status "runaways +2, jobs .*sacctmgr show runawayjobs"
say "$(status runaways)"
is "the one cc-backend has is not ended" not backend_has_ended "$known"
is "the one it has not is not started" not backend_has "$mix_id"
echo y | sacctmgr show runawayjobs >"$T/log/runawayjobs" 2>&1
is "corrected in accounting: the end arrives" wait_for 90 backend_has_ended "$known"
test_end
