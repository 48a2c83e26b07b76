#!/bin/bash
# SPDX-License-Identifier: MIT
# A job whose name is a whole record of slurmctld's, of another user, with other
# threads, and then a newline: what arrives is what is, not what the name says.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a record forged in a job's name"
need_fake
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=60
plain=$(batch labbob "sleep 60" -n2)
wait_for 20 job_state_is "$plain" RUNNING
record=$(scontrol show job -d -o "$plain")
# what follows the name, with another's user and threads; a name has 1,024 bytes
forged=$(sed -E 's/.* (UserId=)[^ ]+ (GroupId=)[^ ]+ /\1root(0) \2root(0) /; s/CPU_IDs=[^ ]+/CPU_IDs=4-15/' <<<"$record" |
    tr ' ' '\n' | grep -vE '^(Priority|Nice|Requeue|Restarts|BatchFlag|DerivedExitCode|EligibleTime|AccrueTime|SuspendTime|SecsPreSuspend|LastSchedEval|Scheduler|Features|DelayBoot|Command|WorkDir|Std[A-Za-z]*|Power|MailUser|MailType|Comment|Network|Dependency|Deadline|PreemptEligibleTime|PreemptTime|ReqB:S:C:T|Socks/Node|NtasksPerN:B:S:C|CoreSpec|MinCPUsNode|AllocNode:Sid|Req[A-Za-z]*List|ExcNodeList|Contiguous|Licenses)=' |
    paste -sd ' ')
is "the forged part has a record's shape" grep -q '^UserId=root(0) .* CPU_IDs=4-15 ' <<<"$forged"
bad=$(batch labalice "sleep 60" -n2 -J "x $forged"$'\n'"y")
# its rest looks like a record of a job that nobody knows
worse=$(batch labalice "sleep 60" -n2 -J "x $forged"$'\n'"JobId=4711 JobName=y")
others=()
for _ in 1 2 3 4; do	# many: all jobs are asked for at once
	others+=("$(batch labbob "sleep 60" -n1)")
done
wait_for 20 job_state_is "$bad" RUNNING
is "slurmctld shows it as two lines" [ "$(scontrol show job -o "$bad" | grep -c .)" = 2 ]
suite_up
start_of() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"start"'; }
is "the others arrive" wait_for 30 start_of "${others[3]}"
is "it arrives" wait_for 30 start_of "$bad"
is "as its user's" grep -q '"user":"labalice"' <<<"$(start_of "$bad")"
threads() { grep -oE '"hwthreads":\[[0-9,]*\]' <<<"$(start_of "$1")" | tr -cd ',\n' | wc -c; }
is "so does the other" wait_for 60 start_of "$worse"
is "as its user's" grep -q '"user":"labalice"' <<<"$(start_of "$worse")"
is "with no thread that it does not have" [ "$(threads "$bad")" -le "$(threads "$plain")" ]
is "nor the other" [ "$(threads "$worse")" -le "$(threads "$plain")" ]
is "and no other job" not start_of 4711
scancel -u labalice
scancel -u labbob
test_end
