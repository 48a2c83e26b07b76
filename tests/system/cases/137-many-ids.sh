#!/bin/bash
# SPDX-License-Identifier: MIT
# 12,000 runs that are open in the spool have left squeue, and no range that is
# still asked for holds their ends: they are asked for by id, in lists of which
# none outgrows an argument (128 KiB; these ids would be 132,000 bytes).  One id
# that Slurm has forgotten costs nobody else, among many or asked for alone.
# `queue` says how many rows it leaves out.
# Slurm's commands are played (tests/bench/many.c).
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/many.sh"
count=12000 first=4000000000 later=4100000000
forgotten=$((first + count))
test_begin "$count ids, and one that is forgotten"
need_fake
many_alone
begin=$((EPOCHSECONDS - 2 * 86400))
many_jobs $begin 100000 3600 $count 0 $first
backend_up
conf "slurmBinDir=$T/bin" slurmPollInterval=3600 ccPollInterval=3600 nodeStatePollInterval=0
suite_up
value() { ctl -j status | lib get - status "$1" "$2"; }
is_value() { [ "$(value "$1" "$2")" = "$3" ]; }
effects() { grep -c "\"effect\":\"$1\"" "$LEDGER"; }
has_effects() { [ "$(effects "$1")" -ge "$2" ]; }
has_id() { grep "\"effect\":\"$1\"" "$LEDGER" | grep -q "\"jobId\":$2,"; }
dry_run_tells() {
	ctl sync --dry-run >"$T/dry"
	[ "$(grep -c 'completed in accounting, open here' "$T/dry")" = "$1" ]
}

# the lines of an export of runs that were open when it was made
python3 - "$SYS" $begin $first $((count + 1)) >"$T/open" <<-'E'
import base64, json, sys
sys.path.insert(0, sys.argv[1])
import fake_collector
begin, first, count = map(int, sys.argv[2:])
for job in range(first, first + count):
    run = fake_collector.Run(job, begin, threads=((0, 1),), script="")
    print(json.dumps({"cluster": "alpha", "job": job, "start": run.start,
                      "record": base64.b64encode(run.bytes()).decode()}))
E
backend_down
is "$((count + 1)) open runs are imported" ctl spool import "$T/open"
ctl -j queue >"$T/queue"
is "queue -j has 1000 of them and says how many more there are" \
    [ "$(lib get "$T/queue" rows 0 shown) $(lib get "$T/queue" rows 0 not_shown)" = "1000 $((count - 999))" ]
is "so many rows" [ "$(grep -o '"state"' "$T/queue" | wc -l)" = 1000 ]
is "--limit shows all of them" \
    [ "$(ctl -j queue --limit 20000 | lib get - rows 0 shown)" = $((count + 1)) ]
backend_up
is "a dry run finds the ends of as many as it tells" dry_run_tells 10000
suite_down
conf slurmPollInterval=1
SUITE_DEBUG=5 suite_up
is "all are started" wait_for 120 has_effects start $((count + 1))
is "and stopped, but for the one that nobody knows" wait_for 120 has_effects stop $count
is "each once" [ "$(effects start) $(effects stop)" = "$((count + 1)) $count" ]
is "the forgotten one is open" is_value collector open_runs 1
is "and was not stopped" not has_id stop $forgotten
asked=$(grep -c ' asks .*/sacct ' "$SUITE_LOG")
is "sacct was asked $asked times, for ranges and ids" [ "$asked" -le 200 ]
is "Slurm was never taken to be away" not logged 'does not answer'

say "--- a hook speaks of a forgotten id, between two that are new"
conf slurmPollInterval=3600
ctl reload >/dev/null
sleep 2
many_jobs $((EPOCHSECONDS - 1)) 1000 600 2 300 $later
knock() {
	printf '{"SLURM_CLUSTER_NAME":"alpha","SLURM_JOB_ID":"%s","SLURM_SCRIPT_CONTEXT":"prolog_slurmctld"}' \
	    "$1" >"$T/message"
	lib send "unix:$T/run/daemon.sock" "$T/message"
}
for id in $later $((later + 7)) $((later + 1)); do
	is "a message about $id" knock "$id"
done
is "the first arrives" wait_for 60 has_id start $later
is "so does the last" wait_for 60 has_id start $((later + 1))
is "Slurm was never taken to be away" not logged 'does not answer'
is "the forgotten id is let go" wait_for 60 is_value listener events_waiting 0
test_end
