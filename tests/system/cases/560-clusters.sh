#!/bin/bash
# SPDX-License-Identifier: MIT
# Two clusters in one slurmdbd, both asked.  Job ids are the same in both.  The
# slurmctld of one is killed, then that of the other hangs from before the
# suite's start: neither holds up the other, and each has its own cursor.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
. "$(dirname "$0")/../lib/beta.sh"
test_begin "two clusters, one away"
CLUSTERS='alpha=n[1-4],gamma=n[1-4]'
lab_up LAB_BIG=0
backend_up
beta_up LAB_TRUTH=1
python3 "$SYS/expected.py" watch "$beta" >"$T/log/truth2" 2>&1 &
started_pids+=($!)
conf 'clusters=["alpha","beta"]' 'clusterNames={"beta":"gamma"}' \
    slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
hook="$ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock"
"$LAB/slurm" hook "$beta" "$hook"
status() { ctl status -v 2>/dev/null | grep -E "$1"; }

one labalice 3 -n3 -J "in alpha"
beta_one 3 -N2 -n5 -J "in beta"
is "both clusters' first jobs have one id" [ "$mix_id" = "$beta_id" ]
is "alpha's job arrives" wait_for 30 ended_at alpha "$mix_id"
is "beta's job arrives, under the name it has there" wait_for 40 ended_at gamma "$beta_id"
is "status has rows of each" status 'beta\.cursor +[0-9]+-.*T'
is "alpha is the local one, beta is asked by name" wait_for 10 logged 'cluster beta, queried as user laboper, by name'
is "and alpha is not" not logged 'cluster alpha.*by name'

# beta's slurmctld is killed, with a job that ends meanwhile
saved() { [ "$(find "$beta/state/job_state" -newer "$T/log/mark" 2>/dev/null)" ]; }
beta_one 6 -n1 -J "ends meanwhile"
meanwhile=$beta_id
is "beta: it runs" wait_for 30 at gamma "$meanwhile"
touch "$T/log/mark"
wait_for 15 saved
"$LAB/slurm" ctl "$beta" kill slurmctld
is "beta's slurmctld is dead: said of beta alone" wait_for 60 status 'beta\.slurmctld +away since'
is "alpha's answers" status 'alpha\.slurmctld +last answer'
t0=$SECONDS
one labbob 2 -n1 -J "while beta is away"
is "alpha's jobs come and go meanwhile" wait_for 20 ended_at alpha "$mix_id"
say "seen ended after $((SECONDS - t0)) s"
# slurmctld has just started: it moves after a minute
is "alpha's cursor moves" wait_for 90 sh -c "a=\$('$CTL' -s '$T/run/ctl.sock' status -v | grep alpha.cursor); sleep 3; [ \"\$a\" != \"\$('$CTL' -s '$T/run/ctl.sock' status -v | grep alpha.cursor)\" ]"
is "the metrics tell them apart" eval 'ctl metrics | grep -q "slurmctld_up{cluster=\"beta\"} 0"'
"$LAB/slurm" ctl "$beta" start slurmctld
is "back: said" wait_for 90 logged 'slurmctld of beta answers again'
is "what ended meanwhile arrives" wait_for 90 ended_at gamma "$meanwhile"

# the local one hangs before the suite starts: nobody knows that it is local
suite_down
lab ctl pause slurmctld
suite_up
beta_one 2 -n2 -J "while alpha hangs"
is "alpha hangs from the start: beta's jobs arrive" wait_for 90 ended_at gamma "$beta_id"
is "said of alpha alone" status 'alpha\.slurmctld +away since'
lab ctl resume slurmctld
one labalice 2 -n1 -J after
is "alpha is back: its jobs arrive" wait_for 90 ended_at alpha "$mix_id"
wait_for 30 queue_empty
is "alpha: all as Slurm says" compare --cluster alpha --short 4 --wait 60 --expect "$mix_count"
is "beta: all as Slurm says" truth compare "$beta" "$BACKEND" "$TOKEN" --topology "$TOPOLOGY" \
    --gpus "$T/etc/config.json" ${LEDGER:+--ledger "$LEDGER"} --cluster gamma --short 4 --wait 60 \
    --expect "$beta_count"
test_end
