#!/bin/bash
# SPDX-License-Identifier: MIT
# cc-backend is away while jobs start and end and Slurm forgets them, and the
# suite is killed meanwhile: all arrive afterwards, with threads and GPUs.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "cc-backend away for longer than MinJobAge"
lab_up LAB_MINJOBAGE=10
backend_up
suite_up
hooks_on
one labalice 300 -n2 -J "before"
before=$mix_id
is "a job before the outage arrives" wait_for 30 backend_has "$before"
backend_down
say "the backend is gone"
mix 25
one labbob 400 -n3 -J "outlives the outage"
mix_end
ctl report -o "$T/report.html"
is "the report has the text of the outage" grep -q 'down for .*connect' "$T/report.html"
ctl report --anonymize -o "$T/report.html"
is "--anonymize removes it" grep -q 'down for .*: (removed)' "$T/report.html"
is "and every name of a user" not grep -qE 'labalice|labbob|laboper' "$T/report.html"
scancel "$before"
some_forgotten() { [ -z "$(squeue -h -a -t CD,F,CA -o %A)" ] && [ "$(squeue -h -a -o %A | wc -l)" -le 1 ]; }
wait_for 120 some_forgotten
suite_kill
say "the suite was killed while all of it waited in the spool"
one labalice 2 -p gpu --gres=gpu:1 -n1
sleep 4
suite_up
# slurmctld purges once a minute at most
is "slurmctld has forgotten what ended" wait_for 150 some_forgotten
sleep 21	# MinJobAge twice
one labalice 3 -p gpu --gres=gpu:2 -n1
sleep 5
backend_up
is "all as Slurm says" compare --short 4 --wait 90 --expect "$mix_count"
is "the long job runs on at the backend" backend_has "$mix_id"
test_end
