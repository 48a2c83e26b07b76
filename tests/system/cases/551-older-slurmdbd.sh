#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmdbd restored from an older copy while jobs run: rows that were read are
# gone, runs that go on are unknown to it.  The witness is missing, so nothing
# that is unknown counts: nobody ends, the cursor stands, it is said; what
# slurmctld tells goes on, ends among it that this slurmdbd never learns.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "slurmdbd restored from an older copy"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
cursor() { status '^ *cursor '; }
db() { "mariadb$1" --no-defaults -S "$T/slurm/run/mysql.sock" -uroot "${@:2}"; }

one labalice 600 -n1 -J "since before the copy"
before=$mix_id
one labbob 1 -n1 -J "ends before the copy"
wait_for 40 backend_has_ended "$mix_id"
wait_for 20 backend_has "$before"
db -dump slurm_acct >"$T/copy.sql" || broken "no copy of the database"
for ((i = 0; i < 3; i++)); do
	one labalice 600 -n1 -J "since after the copy"
done
after=$mix_id
one labbob 1 -n1 -J "ends after the copy"
is "what came after the copy arrives" wait_for 40 backend_has_ended "$mix_id"
wait_for 20 backend_has "$after"
moved() { [ "$(cursor)" != "$c0" ]; }
c0=$(cursor)
wait_for 20 moved
# the end may have come from slurmctld first: accounting has to have told it,
# or there is nothing that its next answer can lack
is "accounting has told of both that ended" \
    wait_for 40 logged "runs of the last day: read again up to [-+0-9T:]+, 2 rows"
ended=$(stops)

lab ctl stop slurmdbd
db "" slurm_acct <"$T/copy.sql" || broken "the copy does not go back"
lab ctl start slurmdbd
is "the answer lacks what was in it before: said" \
    wait_for 30 logged "accounting's answer lacks job"
c0=$(cursor)
say "$c0"
is "there is a cursor" [ -n "$c0" ]
sleep 10	# three rounds of comparing, ten polls
is "nobody ends" [ "$(stops)" = "$ended" ]
is "the cursor stands" [ "$(cursor)" = "$c0" ]
is "no run is unknown" status 'unknown +0 once, 0 twice'
is "status says why" status "last_error.*lacks job"

hooks_off
one labbob 1 -n1 -J "after it was restored"
is "a new job starts and ends" wait_for 40 backend_has_ended "$mix_id"
scancel "$after"
say "sacct on $after: $(sacct -D -X -n -P -o state,start,end -j "$after" | tail -n 1)"
is "what slurmctld knows the end of is stopped" wait_for 60 backend_has_ended "$after"
is "and nobody else" [ "$(stops)" = $((ended + 2)) ]
is "the suite is well" ctl status >/dev/null
test_end
