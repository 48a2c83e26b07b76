#!/bin/bash
# SPDX-License-Identifier: MIT
# Two clusters of a federation that show the jobs of all clusters (fed_display).
# The suite of one reports its own jobs only, by the list, by details of all jobs
# and by accounting, and with both clusters configured each job once.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
. "$(dirname "$0")/../lib/beta.sh"
test_begin "a federation"
CLUSTERS='alpha=n[1-4],beta=n[1-4]'
lab_up LAB_BIG=0 LAB_CONF=FederationParameters=fed_display
backend_up
beta_up LAB_CONF=FederationParameters=fed_display
sacctmgr -i add federation labfed clusters=alpha,beta >/dev/null || broken "no federation"
in_federation() { scontrol show federation 2>/dev/null | grep -q 'Sibling:.*beta.*ACTIVE'; }
wait_for 60 in_federation || broken "alpha does not see beta"
conf slurmPollInterval=1
suite_up
hooks_on
# the ids of the first cluster of a federation begin with 1, those of the second with 2
beta_jobs_at() { truth jobs "$BACKEND" "$TOKEN" --cluster "$1" | grep -c "\"jobId\": ${beta_id:0:3}"; }

for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	beta_one 20 -M beta -n1
done
is "alpha's squeue shows beta's jobs" wait_for 30 sh -c "squeue -h -o %A | grep -qx '$beta_id'"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	one labalice 12 -n1 -M alpha -J "in alpha $i"
done
is "alpha's jobs arrive and end" wait_for 60 ended_at alpha "$mix_id"
is "none of beta's is reported as alpha's" [ "$(beta_jobs_at alpha)" = 0 ]

suite_down
beta_one 2 -M beta -n1
beta_one 2 -M beta -n1
one labbob 2 -n2 -M alpha -J "while the suite is away"
ended_there() { sacct -M beta -n -X -j "$beta_id" -o state | grep -q COMPLETED; }
wait_for 60 ended_there || broken "beta's job does not end"
suite_up
is "what ended meanwhile arrives" wait_for 60 ended_at alpha "$mix_id"
is "none of beta's is read from accounting" [ "$(beta_jobs_at alpha)" = 0 ]
is "alpha: all as Slurm says" compare --cluster alpha --short 4 --wait 60 --expect "$mix_count"

conf 'clusters=["alpha","beta"]'
suite_down
suite_up
beta_one 3 -M beta -n1
is "with both clusters configured, beta's job arrives" wait_for 60 ended_at beta "$beta_id"
is "and not as one of alpha's" [ "$(beta_jobs_at alpha)" = 0 ]
test_end
