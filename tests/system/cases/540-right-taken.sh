#!/bin/bash
# SPDX-License-Identifier: MIT
# The operator permission taken away under load: Slurm answers with status 0 and
# without the jobs.  The witness is missing: no job ends, the cursor stands,
# and with the right all that happened meanwhile arrives.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "the right taken away under load"
lab_up LAB_PRIVATE=jobs,users,accounts,usage
backend_up
conf slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
cursor() { ctl status -v | grep -E '^ *cursor '; }
for ((i = 0; i < 8; i++)); do
	one labalice 600 -n1 -J stays
done
last=$mix_id
is "eight jobs run" wait_for 60 backend_has "$last"
wait_for 20 sh -c "'$CTL' -s '$T/run/ctl.sock' status -v | grep -q 'cursor *[0-9].*T'"
sleep 2
sacctmgr -i modify user laboper set AdminLevel=None >/dev/null
sleep 3
before=$(cursor)
one labbob 2 -n2 -J meanwhile
meanwhile=$mix_id
sleep 15	# five rounds of comparing, and as many polls as seconds
is "the questions are answered with nothing, and nobody ends" [ "$(stops)" = 0 ]
is "the cursor stands still" [ "$(cursor)" = "$before" ]
say "$before"
is "the log names the command that restores the right" \
    wait_for 10 logged 'sacctmgr.*laboper.*[Aa]dmin[Ll]evel=Operator'
ctl sync --dry-run >"$T/sync" 2>&1
say "sync --dry-run: $(tail -n 1 "$T/sync")"
ctl sync >/dev/null 2>&1
sleep 3
is "a sync by hand ends nobody either" [ "$(stops)" = 0 ]
sacctmgr -i modify user laboper set AdminLevel=Operator >/dev/null
is "with the right, what came meanwhile arrives" wait_for 120 backend_has_ended "$meanwhile"
scancel -n stays
wait_for 30 queue_empty
is "all as Slurm says" compare --short 4 --wait 60 --expect "$mix_count"
test_end
