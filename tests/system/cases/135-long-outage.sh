#!/bin/bash
# SPDX-License-Identifier: MIT
# cc-backend is away while many jobs begin and end, slurmctld forgets all of
# them, and the suite is killed and started again twice: all arrive when it is
# back, with threads and GPUs.  Six hours in fast motion: 400 jobs in 16 s; with
# CSA_LONG=1 5,000 jobs in 100 s.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/many.sh"
count=400 rate=25
[ -z "${CSA_LONG:-}" ] || count=5000 rate=50
life=4
test_begin "an outage with $count jobs in it"
need_fake
lab_up
many_up
many_jobs $((EPOCHSECONDS + 3600)) 1 1 0 10
backend_up
conf "slurmBinDir=$T/bin" slurmQueryDelay=0 slurmPollInterval=1 ccPollInterval=3600 \
    nodeStatePollInterval=0
suite_up
is "the backend is up" wait_for 20 logged 'is version 1.5'
backend_down
begin=$((EPOCHSECONDS + 2))
many_jobs $begin $rate $life $count 10
many_knock >"$T/log/knocks" &
knocks=$!
for part in 3 2; do
	until [ "$EPOCHSECONDS" -ge $((begin + count / rate / part)) ]; do sleep 0.2; done
	suite_kill
	suite_up
done
wait $knocks
say "$(cat "$T/log/knocks")"
until [ "$EPOCHSECONDS" -ge $((begin + count / rate + life + 11)) ]; do sleep 0.2; done
is "slurmctld has forgotten all of them" [ -z "$(SLURM_CONF=$SLURM_CONF "$T/bin/scontrol" show job -d -o)" ]
say "spool: $(du -sk "$T/state/spool" | cut -f1) kB, $(ctl status -v | grep -E 'spool_runs|start_due' | tr -s ' ' | tr '\n' ';')"
took=$SECONDS
backend_up
stops() { [ "$(grep -c '"effect":"stop"' "$LEDGER")" -ge "$count" ]; }
is "all are stopped there" wait_for 300 stops
say "$((SECONDS - took)) s after the backend came back"
is "each once, as it was" python3 "$SYS/outage.py" "$LEDGER" $begin $rate $life $count
test_end
