#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmctld dead, then hanging, while jobs end: nothing is ended by that, it
# is said since when, and all arrives afterwards.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "slurmctld dead and hanging"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
prompt() { limited 2 "$CTL" -s "$T/run/ctl.sock" queue >/dev/null; }
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
one labalice 300 -n2 -J stays
stays=$mix_id
one labbob 15 -n1 -J "ends meanwhile"
one labalice 16 -p gpu -n1 --gres=gpu:2 -J "ends meanwhile too"
wait_for 20 backend_has "$mix_id"
wait_for 20 backend_has "$stays"

# killed before it has written its state it would count from job 1 again
saved() { [ "$(find "$T/slurm/state/job_state" -newer "$T/log/mark" 2>/dev/null)" ]; }
touch "$T/log/mark"
wait_for 15 saved
sleep 1
lab ctl kill slurmctld
before=$(stops)	# on a busy machine it took longer than the jobs
is "dead: status says so and since when" wait_for 25 status 'slurmctld.*away since'
say "$(status slurmctld)"
is "the log has one line of it" [ "$(grep -c 'slurmctld does not answer' "$SUITE_LOG")" = 1 ]
sleep 12
is "no job is ended by that" [ "$(stops)" = "$before" ]
lab ctl start slurmctld
is "back: said" wait_for 90 logged 'slurmctld answers again'
is "what ended meanwhile arrives" wait_for 90 backend_has_ended "$mix_id"

lab ctl pause slurmctld
is "hanging: status says so" wait_for 60 status 'slurmctld.*away since'
say "$(status slurmctld)"
is "status itself answers at once" prompt
is "no worker was killed for it" not logged 'is killed|was killed'
commands=$(pgrep -P "$(worker_pid runner)" | wc -l)
is "a few commands at most hang on it ($commands)" [ "$commands" -le 6 ]
before=$(stops)
sleep 5
is "no job is ended by that" [ "$(stops)" = "$before" ]
lab ctl resume slurmctld
one labalice 2 -n1 -J after
is "continued: new jobs arrive" wait_for 90 backend_has_ended "$mix_id"
scancel "$stays"
wait_for 30 queue_empty
is "all as Slurm says" compare --short 4 --wait 60 --expect "$mix_count"
test_end
