#!/bin/bash
# SPDX-License-Identifier: MIT
# `cc-slurm-adapterctl backfill`: what ended beyond slurmQueryMaxSpan comes,
# once, whatever was killed meanwhile and though no tombstone tells of it; live
# work does not wait for it.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "backfill of a past range"
lab_up LAB_MINJOBAGE=2
need_fake
backend_up
conf slurmPollInterval=2 ccPollInterval=3600 slurmQueryMaxSpan=86400

RUNS=40
days_ago() { echo $(($(date +%s) - $1 * 86400)); }
in_accounting() { [ "$(db "select count(*) from alpha_job_table where time_end > 0")" = "$1" ]; }
# effects EFFECT: how many runs had it; doubled EFFECT: how many more than once
effects() { grep -c "\"effect\":\"$1\"" "$LEDGER"; }
doubled() {
	grep "\"effect\":\"$1\"" "$LEDGER" | grep -oE '"jobId":[0-9]+,"startTime":[0-9]+' | sort | uniq -d | wc -l
}
stopped() { [ "$(effects stop)" -ge "$1" ]; }
progress() { ctl backfill --status; }

for ((i = 0; i < RUNS; i++)); do
	batch labalice "true" -n1 >/dev/null
done
is "jobs come and go" wait_for 90 in_accounting $RUNS
# slurmctld tells slurmdbd of a start more than once
settled() {
	[ "$(db "select count(*) from alpha_job_table where mod_time > unix_timestamp() - 7")" = 0 ]
}
is "slurmdbd has them" wait_for 60 settled
# and slurmctld has forgotten them: it would tell of other times
wait_for 90 sh -c "scontrol show job | grep -q 'No jobs'"
# as if they had run 20 to 24 days ago
for c in submit eligible start end; do
	db "update alpha_job_table set time_$c = time_$c - 86400 * (20 + mod(id_job, 5))"
done
is "they lie far back" [ "$(db "select count(*) from alpha_job_table where
    time_end > unix_timestamp() - 86400 * 19")" = 0 ]
suite_up
wait_for 60 logged "compared with cc-backend"
sleep 5
is "they are beyond slurmQueryMaxSpan" [ "$(backend_count)" = 0 ]

ctl backfill --from "$(days_ago 25)" --to "$(days_ago 19)" --dry-run >"$T/dry"
is "a dry run names all of them" [ "$(grep -c "would be sent$" "$T/dry")" -ge $RUNS ]
is "and counts them" grep -q "$RUNS ended runs in accounting, $RUNS would be sent" "$T/dry"
is "but sends nothing" [ "$(backend_count)" = 0 ]

ctl backfill --from $(($(days_ago 20) - 3600)) --to "$(days_ago 19)" >/dev/null
is "a part of the range" wait_for 60 stopped 8
is "it is said to be done" wait_for 30 sh -c "'$CTL' -s '$T/run/ctl.sock' backfill --status | grep -q '^done: '"
is "and it was no more" [ "$(effects start)" = 8 ]
suite_down
rm -rf "$T/state/spool"		# no tombstone is left
suite_up
wait_for 60 logged "compared with cc-backend"
ctl backfill --from "$(days_ago 25)" --to "$(days_ago 19)" --dry-run >"$T/dry"
is "cc-backend's own listing tells what it has" grep -q "$RUNS ended runs in accounting, $((RUNS - 8)) would be sent" "$T/dry"

fault '{"match":"start_job","action":"delay","ms":300,"count":-1}'
is "it begins" ctl backfill --from "$(days_ago 25)" --to "$(days_ago 19)"
is "a second one is refused" not ctl backfill --from "$(days_ago 25)" --to "$(days_ago 19)"
wait_for 60 stopped 12
suite_kill
is "killed in the middle" [ "$(effects start)" -lt $RUNS ]
suite_up
is "the next process goes on" wait_for 20 logged "backfill of alpha goes on"
live=$(batch labbob "sleep 2" -n1)
is "a live run comes meanwhile" wait_for 60 backend_has "$live"
before=$(grep -n "\"jobId\":$live," "$LEDGER" | head -n 1 | cut -d: -f1)
say "$(progress)"
kill -KILL "$(worker_pid collector)"
faults_off
is "all are there" wait_for 90 stopped $((RUNS + 1))
say "$(progress)"
after=$(tail -n "+$before" "$LEDGER" | grep -c '"effect":"start"')
is "it did not wait for the past ($((after - 1)) started after it)" [ "$after" -gt 1 ]
is "each started once" [ "$(effects start)" = $((RUNS + 1)) ]
is "each stopped once" [ "$(effects stop)" = $((RUNS + 1)) ]
is "none twice" [ "$(doubled start)$(doubled stop)" = 00 ]
wait_for 30 sh -c "'$CTL' -s '$T/run/ctl.sock' backfill --status | grep -q '^done: '"
is "status shows it" sh -c "'$CTL' -s '$T/run/ctl.sock' status | grep -q 'backfill .*100 %'"
is "once more" ctl backfill --from "$(days_ago 25)" --to "$(days_ago 19)"
wait_for 60 sh -c "'$CTL' -s '$T/run/ctl.sock' backfill --status | grep -q '^done: .*$RUNS runs'"
is "changes nothing" [ "$(effects start)$(effects stop)" = $((RUNS + 1))$((RUNS + 1)) ]

# cc-backend loses three runs that this daemon has delivered: two that only the
# collector remembers, because the tombstones of old runs are removed, and one
# that has a tombstone
lost=$({ backend_jobs | grep -v "\"jobId\": $live," | head -n 2
	backend_jobs | grep "\"jobId\": $live,"; } | python3 -c '
import json, sys
for line in sys.stdin:
    j = json.loads(line)
    print(json.dumps({k: j[k] for k in ("jobId", "cluster", "startTime")}))')
while read -r key; do
	request DELETE "$BACKEND/api/jobs/delete_job/" "$key" "$TOKEN" >/dev/null
done <<<"$lost"
is "cc-backend lost three runs" [ "$(backend_count)" = $((RUNS - 2)) ]
now=$(date +%s)
ctl backfill --from "$(days_ago 25)" --to "$now" --dry-run >"$T/dry"
is "a dry run finds them" grep -q "$((RUNS + 1)) ended runs in accounting, 3 would be sent" "$T/dry"
is "backfill restores them" ctl backfill --from "$(days_ago 25)" --to "$now"
is "all three" wait_for 120 stopped $((RUNS + 4))
is "it says so" wait_for 60 sh -c "'$CTL' -s '$T/run/ctl.sock' backfill --status | grep -q '^done: .*$((RUNS + 1)) runs, $RUNS new, 1 restored'"
is "and nothing else" [ "$(backend_count)/$(effects start)/$(effects stop)" = "$((RUNS + 1))/$((RUNS + 4))/$((RUNS + 4))" ]
is "nothing was refused" sh -c "'$CTL' -s '$T/run/ctl.sock' queue --rejected | grep -q 'no delivery is rejected'"
ctl backfill --from "$(days_ago 300)" --to "$(days_ago 19)" >/dev/null
is "a long one can be cancelled" ctl backfill --cancel
is "and is" sh -c "'$CTL' -s '$T/run/ctl.sock' backfill --cancel | grep -q 'none is under way'"
test_end
