#!/bin/bash
# SPDX-License-Identifier: MIT
# munged dead, and with CSA_LONG=1 hanging: no command of Slurm works, whatever
# runs goes on; nothing is ended, all arrives afterwards.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "munge dead and hanging"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
said() { limited 2 "$CTL" -s "$T/run/ctl.sock" status -v | grep -q 'away since'; }
one labalice 300 -n2 -J stays
stays=$mix_id
one labbob 6 -n1 -J "ends meanwhile"
wait_for 20 backend_has "$mix_id"
ways=(kill)
[ -z "${CSA_LONG:-}" ] || ways+=(pause)	# a minute until a command gives up
for how in "${ways[@]}"; do
	before=$(stops)
	lab ctl "$how" munged
	is "$how munged: status answers, and says since when" wait_for 100 said
	sleep 4
	is "no job is ended by that" [ "$(stops)" = "$before" ]
	case $how in
	kill) lab ctl start munged ;;
	pause) lab ctl resume munged ;;
	esac
	wait_for 60 squeue -h
	one labalice 2 -n1 -J "after $how"
	is "back: new jobs arrive" wait_for 120 backend_has_ended "$mix_id"
done
scancel "$stays"
wait_for 60 queue_empty
is "all as Slurm says" compare --short 8 --wait 90 --expect "$mix_count"
is "nothing died" not logged 'is killed|was killed|ended with'
test_end
