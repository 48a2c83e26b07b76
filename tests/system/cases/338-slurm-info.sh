#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmInfo as people read it: the lines of `scontrol show job -d`, with the end
# from accounting and times of the site's zone.  Names, comments and folders of
# users cannot begin a line.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "slurmInfo after the end"
need_fake
export TZ=America/St_Johns	# half an hour off, and west
lab_up
COMMIT=1
backend_up
conf slurmPollInterval=1 ccPollInterval=60 slurmQueryDelay=0
suite_up
forged=$'x\n   JobState=FORGED Reason=Forged Dependency=(null)\n   UserId=root(0) GroupId=root(0) MCS_label=N/A\n   EndTime=1'
mkdir -p "$T/w"$'\n'"   JobState=FORGED"
chmod -R 777 "$T/w"*
good=$(batch labalice "sleep 6" -n1)
failing=$(batch labalice "sleep 6; exit 3" -n1)
cancelled=$(batch labbob "sleep 600" -n1)
hostile=$(batch labbob "sleep 6" -n1 -J "$forged" --comment "$forged" --chdir "$T/w"$'\n'"   JobState=FORGED")
info() {
	backend_jobs | python3 -c '
import json, sys
for line in sys.stdin:
    job = json.loads(line)
    if job["jobId"] == int(sys.argv[1]):
        print(job["metaData"].get("slurmInfo", ""))' "$1"
}
has() { info "$1" | grep -qE -- "$2"; }
one() { [ "$(info "$1" | grep -cE -- "$2")" = 1 ]; }
for job in "$good" "$failing" "$cancelled" "$hostile"; do
	is "job $job arrives" wait_for 30 has "$job" '^   JobState=(RUNNING|CONFIGURING) '
done
scancel "$cancelled"
# final JOB STATE REASON EXIT: its last description
final() {
	local job=$1 end
	is "job $job has its final state" wait_for 60 has "$job" "^   JobState=$2 Reason=$3 Dependency="
	end=$(date -d "$(sacct -X -n -j "$job" -o End%30 | tr -d ' ')" +%FT%T%:z)
	is "and its end, $end" one "$job" "^   StartTime=[^ ]*-0[23]:30 EndTime=$end Deadline="
	is "and its exit code" one "$job" "^   Requeue=1 .* ExitCode=$4\$"
	is "and one state, owner and end" [ "$(info "$job" |
	    grep -cE '^ *(JobState|UserId|StartTime)=|EndTime=[^1]')" = 3 ]
	is "in lines" [ "$(info "$job" | grep -c .)" -gt 25 ]
	is "by one request" [ "$(grep '"effect":"edit_meta"' "$LEDGER" | grep "\"jobId\":$job," |
	    grep -c '"key":"slurmInfo"')" = 1 ]
}
final "$good" COMPLETED None 0:0
final "$failing" FAILED None 3:0
final "$cancelled" CANCELLED 'CANCELLED by 0' 0:0
final "$hostile" COMPLETED None 0:0
is "the forged lines are text" has "$hostile" '^JobId=.* JobName=x\\n   JobState=FORGED'
is "begin no line" not has "$hostile" '^ *(JobState=FORGED|UserId=root|EndTime=1)'
is "the owner is who it is" one "$hostile" '^   UserId=labbob\('
conf ccUpdateSlurmInfo=false
ctl reload >/dev/null
is "without the key" wait_for 20 logged 'configuration.*(reload|in force)'
quiet=$(batch labalice "sleep 4; exit 4" -n1)
is "job $quiet ends" wait_for 60 backend_has_ended "$quiet"
sent() { grep '"effect":"edit_meta"' "$LEDGER" | grep "\"jobId\":$quiet," | grep -q "\"key\":\"$1\""; }
is "its exit code is sent" wait_for 30 sent exitCode
is "its description is not" not sent slurmInfo
test_end
