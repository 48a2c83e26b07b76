#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmdbd dead while jobs start and end, then all ends come at once, with old
# times; slurmdbd hanging.  CSA_LONG=1: half an hour of it in place of twenty
# seconds, and MariaDB dead behind it.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "slurmdbd dead and hanging"
lab_up LAB_MINJOBAGE=15
backend_up
conf slurmPollInterval=1 ccPollInterval=4 slurmAccountingLag=60
suite_up
hooks_on
prompt() { limited 2 "$CTL" -s "$T/run/ctl.sock" queue >/dev/null; }
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
cursor() { status '^ *cursor '; }
away=20
[ -z "${CSA_LONG:-}" ] || away=1800
one labalice 3 -n1 -J first
wait_for 30 backend_has_ended "$mix_id"
wait_for 10 status 'cursor +[0-9]+-.*T'

lab ctl kill slurmdbd
t0=$SECONDS
one labbob 600 -n2 -J stays
stays=$mix_id
is "slurmdbd dead: starts arrive all the same" wait_for 20 backend_has "$stays"
is "status says since when" wait_for 30 status 'slurmdbd.*away since'
say "$(status slurmdbd)"
before=$(cursor)
mix 12
mix_end
one_left() { [ "$(squeue -h -a -o %A | wc -l)" -le 1 ]; }
wait_for 90 one_left
while [ $((SECONDS - t0)) -lt $away ]; do sleep 1; done
is "the cursor stands still" [ "$(cursor)" = "$before" ]
is "nothing is ended without a word from accounting or slurmctld" not backend_has_ended "$stays"
suite_kill
suite_up
say "the suite was killed meanwhile"
sleep 3
lab ctl start slurmdbd
is "back: said" wait_for 90 logged 'slurmdbd.*answers|cursor|right'
is "slurmctld has told it all" wait_for 90 slurmdbd_told
scancel "$stays"
wait_for 60 queue_empty
is "all ends, with their old times" compare --short 6 --wait 120 --expect "$mix_count"

lab ctl pause slurmdbd
one labalice 2 -n1 -J "while it hangs"
hangs=$mix_id
is "slurmdbd hangs: a start arrives" wait_for 20 backend_has "$hangs"
sleep 6
is "status answers" prompt
lab ctl resume slurmdbd
is "continued: its end arrives" wait_for 120 backend_has_ended "$hangs"
if [ -n "${CSA_LONG:-}" ]; then
	lab ctl kill mariadbd
	one labbob 2 -n1 -J "without a database"
	sleep 8
	lab ctl start mariadbd
fi
is "all as Slurm says, in the end" compare --short 6 --wait 150 --expect "$mix_count"
test_end
