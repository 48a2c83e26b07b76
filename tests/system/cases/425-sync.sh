#!/bin/bash
# SPDX-License-Identifier: MIT
# `cc-slurm-adapterctl sync`: a round now, with a row for each run.  The dry
# run changes nothing; --job, --direction and --limit confine what is done.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "sync on request"
lab_up
need_fake
backend_up
conf slurmPollInterval=5 ccPollInterval=3600

there() { request "$1" "$BACKEND/api/jobs/$2/" "$3" "$TOKEN" >/dev/null; }
stranger() {	# ID: a run that cc-backend has and Slurm never had
	there POST start_job "{\"jobId\":$1,\"cluster\":\"alpha\",\"user\":\"u1\",\"numNodes\":1,
	    \"startTime\":$(($(date +%s) - 600)),\"resources\":[{\"hostname\":\"n1\"}]}"
}
# row FILE JOB PATTERN: the report has that of the job
row() { grep -E "^[a-z]+ +$2 " "$1" | grep -qE -- "$3"; }

a=$(batch labalice "sleep 300" -n1)
b=$(batch labbob "sleep 300" -n1)
wait_for 20 job_state_is "$b" RUNNING
# a witness: without one Slurm's not knowing a run means nothing
e=$(batch labalice "true" -n1)
suite_up
is "a short one comes and goes" wait_for 60 backend_has_ended "$e"
is "two runs are started" wait_for 60 sh -c "[ \"\$('$CTL' -s '$T/run/ctl.sock' status -v | awk '\$1 == \"open\" { print \$2 }')\" = 2 ]"
wait_for 60 backend_has "$a"
wait_for 60 logged "compared with cc-backend"
sleep $((COMMIT * 3 + 2))	# until not being shown means something
is "nothing differs" ctl sync --dry-run

start_of() { squeue -h -j "$1" -o %S | xargs -I{} date -d {} +%s; }
for id in "$a" "$b"; do
	there DELETE delete_job "{\"jobId\":$id,\"cluster\":\"alpha\",\"startTime\":$(start_of "$id")}"
done
stranger 900001
strange_is_shown() { [ "$(backend_count)" = 2 ]; }
is "cc-backend lost two runs and has a strange one" wait_for 20 strange_is_shown

ctl sync --dry-run >"$T/dry"
is "the dry run names what it would start" row "$T/dry" "$a" "open here, not in cc-backend +would be looked up"
is "and what Slurm would be asked for" row "$T/dry" 900001 "open in cc-backend, unknown here +would be looked up"
is "it counts them" grep -q "3 runs would be touched" "$T/dry"
ctl sync --dry-run --limit 1 >"$T/dry"
is "--limit leaves the others alone" [ "$(grep -c "left alone because of --limit" "$T/dry")" = 2 ]
ctl sync --dry-run --direction stop >"$T/dry"
is "--direction stop looks at no start" not row "$T/dry" "$a" "open here"
is "but at the stops" row "$T/dry" 900001 "open in cc-backend"
sleep 6
is "and nothing was changed" [ "$(backend_count)" = 2 ]

ctl sync --job "$b" >"$T/real"
is "--job: Slurm has it" row "$T/real" "$b" "runs in Slurm, known here +queried again"
is "it is started again" row "$T/real" "$b" "not in cc-backend +runs in Slurm: started"
is "cc-backend has it" wait_for 20 backend_has "$b"
is "and only this one" not backend_has "$a"
ctl sync --direction stop >"$T/real"
is "a stop without an end in Slurm: no" row "$T/real" 900001 "unknown to Slurm"
is "nor a start" not backend_has "$a"
ctl sync >"$T/real"
is "without --job the other one too" row "$T/real" "$a" "not in cc-backend +runs in Slurm: started"
is "which arrives" wait_for 20 backend_has "$a"
is "the strange one is ended by nobody" not backend_has_ended 900001

fault '{"action":"status","status":503,"count":-1}'
c=$(batch labalice "sleep 300" -n1)
wait_for 20 job_state_is "$c" RUNNING
ctl sync --direction start --dry-run >"$T/dry" 2>&1
is "an unseen run is found in Slurm" row "$T/dry" "$c" "runs in Slurm, unknown here|start "
wait_for 30 sh -c "'$CTL' -s '$T/run/ctl.sock' queue | grep -q ' $c '"
is "while cc-backend is away, no comparison" not ctl sync --dry-run >"$T/dry" 2>&1
is "what waits is told all the same" row "$T/dry" "$c" "start (is due|waits|under way)"
faults_off
is "and goes when it is back" wait_for 60 backend_has "$c"
scancel "$a"
is "an end" wait_for 60 backend_has_ended "$a"
ctl sync --job "$a" >"$T/real"
is "--job names what is done as well" row "$T/real" "$a" "delivered in full"
is "and what nobody knows" sh -c "'$CTL' -s '$T/run/ctl.sock' sync --job 424242 | grep -q 'unknown here'"
is "options that make no sense are refused" not ctl sync --job "$a" --force 2>/dev/null
test_end
