#!/bin/bash
# SPDX-License-Identifier: MIT
# A Slurm without accounting, where runs that began and ended between two polls
# are found in the answer about all jobs: a job's name with a line that tells of
# another's ended run makes no such run, nor does it hide one that was.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a run forged in a job's name"
need_fake
lab_up LAB_NODBD=1 LAB_BIG=0
backend_up
conf slurmPollInterval=1 ccPollInterval=60
short=$(batch labbob "true" -n1)
wait_for 20 sh -c "squeue -h -t CD -j $short -o %A | grep -q ."
record=$(scontrol show job -d -o "$short")
forge() {	# ID: the ended job's line with that id; a name has 1,024 bytes
	sed -E "s/^JobId=[0-9]+/JobId=$1/; s/UserId=[^ ]+ GroupId=[^ ]+/UserId=root(0) GroupId=root(0)/" <<<"$record" |
	    tr ' ' '\n' | grep -vE '^(Priority|Nice|Requeue|Restarts|BatchFlag|DerivedExitCode|EligibleTime|AccrueTime|SuspendTime|SecsPreSuspend|LastSchedEval|Scheduler|Features|DelayBoot|Command|WorkDir|Std[A-Za-z]*|Power|MailUser|MailType|Comment|Network|Dependency|Deadline|PreemptEligibleTime|PreemptTime|ReqB:S:C:T|Socks/Node|NtasksPerN:B:S:C|CoreSpec|MinCPUsNode|AllocNode:Sid|Req[A-Za-z]*List|ExcNodeList|Contiguous|Licenses)=' |
	    paste -sd ' '
}
bad=$(batch labalice "sleep 60" -n1 -J "x"$'\n'"$(forge 4711)"$'\n'"JobId=4712 JobName=y")
hides=$(batch labalice "sleep 60" -n1 -J "x"$'\n'"$(forge "$short") y")
wait_for 20 job_state_is "$hides" RUNNING
is "slurmctld shows a run that never was" grep -q '^JobId=4711 .*UserId=root(0) .*JobState=COMPLETED ' \
    <<<"$(scontrol show job -d -o)"
suite_up
hooks_on
start_of() { grep "\"jobId\":$1," "$LEDGER" | grep '"effect":"start"'; }
is "the users' jobs arrive" wait_for 30 start_of "$hides"
is "both" wait_for 30 start_of "$bad"
is "so does the run that had ended before" wait_for 30 start_of "$short"
is "as its user's" grep -q '"user":"labbob"' <<<"$(start_of "$short")"
is "what never was does not" not start_of 4711
is "three runs, no more" [ "$(grep -c '"effect":"start"' "$LEDGER")" = 3 ]
test_end
