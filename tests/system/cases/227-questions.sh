#!/bin/bash
# SPDX-License-Identifier: MIT
# An admin's questions on a cluster where one thing after the other is broken:
# the one command that answers each, and the right answer in its output.  The
# questions and answers are kept as a table in the file CSA_TABLE.  It takes some
# minutes and needs CSA_LONG=1.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "an admin's questions on a broken cluster"
[ -n "${CSA_LONG:-}" ] || skip "needs CSA_LONG=1"
need_fake
lab_up LAB_PRIVATE=jobs,users,accounts,usage
backend_up
conf slurmPollInterval=1 ccPollInterval=4 'ignoreHosts=^n2$' optOutWord=keep_away
with_nats=
if grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" && command -v nats-server >/dev/null; then
	with_nats=yes
	nats_up ""
	conf natsServer=127.0.0.1 "natsPort=$NATS_PORT" natsSubject=cc
fi
suite_up
hooks_on

table=${CSA_TABLE:-$T/log/table}
printf '| situation | question | command | answer |\n|---|---|---|---|\n' >"$table"
questions=0
# situation WHAT: of the questions that follow
situation() {
	now=$1
	say "-- $1"
}
answered() {
	(cd "$T" && "$CTL" -s run/ctl.sock --no-color "${command[@]}") </dev/null >"$T/answer" 2>&1
	[ -z "${answer_file:-}" ] || cat "$T/$answer_file" >>"$T/answer"
	grep -qE -- "$answer" "$T/answer"
}
# ask QUESTION ANSWER VERB...: the output of the command has the answer
ask() {
	local question=$1 answer=$2 command=("${@:3}")
	questions=$((questions + 1))
	if ! is "$question  (${command[*]})" wait_for 60 answered; then
		say "no line has: $answer"
		sed 's/^/      /' "$T/answer" | head -n 30
		return
	fi
	printf '| %s | %s | `%s` | %s |\n' "$now" "$question" "${command[*]}" \
	    "$(grep -m 1 -E -- "$answer" "$T/answer" | tr -s ' ' | sed 's/|/\\|/g; s/^ //' | cut -c1-200)" >>"$table"
}
is_ok() { ctl status | head -n 1 | grep -q '^OK: '; }
# mended: the next situation begins when all is well
mended() { is "all is well again" wait_for 120 is_ok || ctl status | head -n 3; }
start_of() { backend_jobs | python3 -c 'import json, sys
for line in sys.stdin:
    j = json.loads(line)
    if j["jobId"] == int(sys.argv[1]): print(j["startTime"])' "$1" | tail -n 1; }

# --- all is well
situation "all is well"
one labalice 900 -n1 -w n1
stays=$mix_id
one labbob 1 -n1 -w n1
done_job=$mix_id
array=$(batch labalice "sleep 1" -n1 -w n1 --array=1-3)
one labalice 1 -n1 -w n2
ignored=$mix_id
out=$(batch labalice "sleep 2" -n1 -w n1 -H)
scontrol update "job=$out" admincomment="please keep_away"
scontrol release "$out"
held=$(batch labbob true -n1 -H)
wait_for 60 backend_has_ended "$done_job"
wait_for 60 backend_has "$stays"
ask "Is the suite working?" '^OK: 5 processes, .*job.* running, ' status
ask "What happens now?" 'running [0-9]+ +rejected 0 +delivered' watch
ask "Where is job $done_job?" 'now +now +the run is delivered' explain "$done_job"
ask "When was the end of job $done_job reported?" 'T.* stop-accepted +cc-backend accepted the stop' explain "$done_job"
ask "Why is job $stays shown as running?" 'cc-backend shows the run as running; the stop is sent when Slurm reports its end' explain "$stays"
ask "What does cc-backend have of job $stays?" "$stays .* runs, its start is delivered +none" sync --dry-run --job "$stays"
ask "What happened to task 2 of array $array?" 'now +now +the run is delivered' explain "${array}_2"
ask "Why is job $ignored not in ClusterCockpit?" 'reason +all its hosts match ignoreHosts' explain "$ignored"
ask "And job $out?" 'opted-out +the job has the word of optOutWord' explain "$out"
ask "And job $held?" 'reason +the job is pending: it is sent when' explain "$held"
ask "And job 999999?" 'unknown to Slurm: .*oldest job in accounting: [0-9]+, submitted' explain 999999
ask "Does cc-backend answer, and which version is it?" '^ +version +1\.[0-9.]+' status
ask "Is slurmctld slow?" 'squeue: p50 .*, p99 ' watch
ask "Do the hooks of slurmctld arrive?" '^ +received +[1-9]' status
ask "Up to which time was accounting read?" 'accounting read +[0-9]+ .* ago' status
ask "When does the token expire?" 'token +.*(exp|JWT)' status
ask "Which user asks Slurm?" 'asked as +laboper' status
ask "Which sandbox layers are active?" 'sandbox +.*seccomp' status -v
ask "How full is the spool?" 'in use +[0-9.]+ [KM]iB' status
ask "Is the stored data intact?" 'the spool is valid; [0-9]+ runs' spool check

# --- cc-backend is down
backend_down
one labbob 900 -n1 -w n1
waits=$mix_id
situation "cc-backend is down"
ask "What is wrong, and since when?" '^DEGRADED since [0-9:]{5}: cc-backend does not work: ' status
ask "Are runs lost?" '[0-9]+ runs? waits?, none lost$' status
ask "Where is job $waits?" 'waits +cc-backend: ' explain "$waits"
ask "Which jobs wait, and for how long?" "^ *(alpha +)?$waits .*start due" queue
ask "How long was cc-backend away, minute by minute?" 'minute +[0-9]+ +backend_away_s +[1-9]' history
backend_up
situation "cc-backend is back"
ask "When is the backlog gone?" 'Waiting +0' watch
mended

# --- a wrong token
fault '{"match":"*","action":"401","count":-1}'
one labalice 900 -n1 -w n1
situation "cc-backend answers 401"
ask "Why does nothing arrive?" 'cc-backend refuses the token: 401' status
ask "Why is job $mix_id not there?" 'waits +cc-backend: .*401' explain "$mix_id"
ask "What does the log say?" '401' warnings
faults_off
conf ccPollInterval=5
ctl reload >/dev/null	# the next probe would be after 30 s
mended

# --- refused runs
fault '{"match":"start_job","action":"status","status":400,"body":"{\"error\":\"unknown subcluster\"}","count":2}'
one labalice 1 -n1 -w n1
refused=$mix_id
one labbob 1 -n1 -w n1
useless=$mix_id
both_refused() { [ "$(ctl queue --rejected | grep -c 'unknown subcluster')" = 2 ]; }
is "two runs are refused" wait_for 60 both_refused
situation "cc-backend refused two runs"
ask "What did cc-backend refuse tonight?" 'unknown subcluster' queue --rejected
ask "Why is job $refused not there?" 'refused +.*unknown subcluster' explain "$refused"
ask "And what can be done?" 'remedy +correct the cause, then run .cc-slurm-adapterctl retry JOB' explain "$refused"
ask "The cause is corrected: how is it sent again?" '1 runs are due again' retry "$refused"
is "job $refused arrives" wait_for 60 backend_has_ended "$refused"
ask "Job $useless is not needed: how does it go away?" '1 runs were dropped' drop "$useless"
mended

# --- slurmdbd is down
lab ctl kill slurmdbd
one labbob 2 -n1 -w n1
situation "slurmdbd is down"
ask "What is wrong?" 'slurmdbd does not answer' status
ask "Job $mix_id ended: is it there?" 'now +now +the run is delivered' explain "$mix_id"
ask "And job 999999?" 'not known: slurmdbd does not answer' explain 999999
lab ctl start slurmdbd
mended

# --- slurmctld is down
lab ctl stop slurmctld
situation "slurmctld is down"
ask "What is wrong?" 'slurmctld does not answer' status
ask "Is job $stays still shown?" 'cc-backend shows the run as running' explain "$stays"
ask "And job 999999?" 'not known: slurmctld does not answer' explain 999999
ask "What was the last error of Slurm?" 'Last +error of Slurm: .+' watch
lab ctl start slurmctld
mended

# --- the operator permission is gone
sacctmgr -i modify user laboper set AdminLevel=None >/dev/null
one labcarol 1 -n1 -w n1
situation "the operator permission is missing"
ask "Why are jobs of other users missing?" 'laboper may not see other users.*adminlevel=Operator' status
sacctmgr -i modify user laboper set AdminLevel=Operator >/dev/null
mended
wait_for 60 backend_has_ended "$mix_id"

# --- another client changes runs
end=$(($(date +%s)))
request POST "$BACKEND/api/jobs/stop_job/" \
    "{\"jobId\":$stays,\"cluster\":\"alpha\",\"startTime\":$(start_of "$stays"),\"stopTime\":$end,\"jobState\":\"failed\"}" "$TOKEN" >/dev/null
situation "another client stopped a job in cc-backend"
ask "Why is job $stays shown as failed?" 'stopped.*by another client|another client stopped' explain "$stays"
ask "Which jobs did another client stop?" "$stays" repair --dry-run
ask "How are they corrected?" "$stays" repair
is "job $stays runs again" wait_for 60 sh -c "python3 '$SYS/expected.py' jobs '$BACKEND' '$TOKEN' | grep '\"jobId\": $stays,' | grep -q running"
mended
request DELETE "$BACKEND/api/jobs/delete_job/" \
    "{\"jobId\":$done_job,\"cluster\":\"alpha\",\"startTime\":$(start_of "$done_job")}" "$TOKEN" >/dev/null
situation "a job was deleted in cc-backend"
ask "Which ended jobs does cc-backend lack?" "$done_job" backfill --from "$(($(date +%s) - 7200))" --to "$(date +%s)" --dry-run
ask "How are they sent again?" 'backfill' backfill --from "$(($(date +%s) - 7200))" --to "$(date +%s)"
is "job $done_job is there again" wait_for 60 backend_has_ended "$done_job"
ask "How far is the backfill?" 'backfill of alpha, .*: read up to ' backfill --status

# --- a process dies, the configuration is wrong
situation "a process was killed"
kill -KILL "$(worker_pid listener)"
wait_for 30 worker_alive listener
ask "Which process was restarted, and why?" 'killed by signal 9' status -v
mended
cp "$T/etc/config.json" "$T/etc/good.json"
conf ccPollInterval=often
situation "a wrong configuration"
ask "Is the changed configuration valid?" 'ccPollInterval' reload
ask "Which configuration is in force?" 'the last reload failed' status
cp "$T/etc/good.json" "$T/etc/config.json"
ctl reload >/dev/null
mended
chmod o+w "$T/etc/config.json"
ctl reload >/dev/null
situation "other users can write the configuration"
ask "What is unsafe, and which command repairs it?" 'config.json: .*: chmod ' status
chmod o-w "$T/etc/config.json"
ctl reload >/dev/null
mended
conf 'gpuPciAddrs={"^n3$":["00000000:00:00.0"]}'
ctl reload >/dev/null
situation "a wrong GPU map"
ask "Do the GPU addresses agree?" 'result +gpuPciAddrs has' gpus

if [ -n "$with_nats" ]; then
	nats_down
	situation "the broker of NATS is down"
	ask "What is wrong?" 'NATS has no connection' status
	nats_up ""
	mended
fi

# --- a ticket, and the daemon is dead
situation "a ticket is written"
answer_file=report.html
ask "What can be attached to it?" '<svg' report --anonymize -o report.html
answer_file=
ask "How is the log made detailed?" 'log level 4' log debug
ask "How does a script read the state?" '"state": ?"ok"' -j status
db=$(echo "$T"/state/*/spool.db)
suite_down
situation "the daemon is dead"
ask "Does it run?" 'cannot reach the daemon at .*is it running' status
ask "Is its spool intact?" '[Ii]ntact|[0-9]+ runs' spool check --file "$db"
suite_up
mended
is "$questions questions" [ "$questions" -ge 40 ]
scancel -u labalice
scancel -u labbob
# the drop of a job was undone by the backfill; these three are not sent
lost() {
	local id
	for id in $(sacct -X -n -P -a -S 1970-01-02 -o jobidraw | sort -nu); do
		case " $ignored $out $held " in
		*" $id "*) ;;
		*) backend_has_ended "$id" || echo "$id" ;;
		esac
	done
}
none_lost() { [ -z "$(lost)" ]; }
is "nothing was lost" wait_for 120 none_lost || say "lost: $(lost | xargs)"
is "what must not be sent was not sent" not backend_has "$ignored"
test_end
