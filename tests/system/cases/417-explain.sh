#!/bin/bash
# SPDX-License-Identifier: MIT
# `cc-slurm-adapterctl explain` for jobs with different fates: the events of
# each run, what waits and why, and the rule that excluded a job; tasks and
# components by their own names; NATS alone.  The history does not survive damage,
# and no record depends on it.  CSA_LONG=1: at least 40 jobs; a time limit, a node
# that fails.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "explain"
need_fake
lab_up
COMMIT=3
backend_up
hook_conf() {
	conf slurmPollInterval=1 ccPollInterval=3600 slurmQueryDelay=0 slurmAccountingLag=0 \
	    'ignoreHosts=^n2$' optOutWord=keep_away "$@"
}
hook_conf
explain() { ctl explain "$@" >"$T/explain" 2>&1; }
# tells JOB REGEX...: each regular expression matches a line about the job
tells() {
	local job=$1 want
	shift
	echo "$job" >>"$T/asked"
	explain "$job" || { cat "$T/explain"; return 1; }
	for want; do
		grep -qE -- "$want" "$T/explain" && continue
		say "job $job: no line has: $want"
		sed 's/^/      /' "$T/explain"
		return 1
	done
}
# tells_not JOB REGEX: no line matches
tells_not() { explain "$1" && ! grep -qE -- "$2" "$T/explain"; }
soon() { wait_for "$1" tells "${@:2}"; tells "${@:2}"; }
runs() { explain "$1" && grep -c '^job .* run started' "$T/explain"; }
history_sum() {	# COUNTER: of all hours
	ctl -j history | python3 -c 'import json, sys
print(sum(r["value"] for r in json.load(sys.stdin)["history"] if r["span"] == "hour" and r["counter"] == sys.argv[1]))' "$1"
}
raw() { sacct -X -n -P -j "$1" -o jobidraw | sort -n | xargs; }
time='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}[+-][0-9]{2}:[0-9]{2}'
delivered="now +now +the run is delivered"

# before the suite: the last-run file is newer than the ends of these jobs
older=$(batch labalice true -n1 -w n1)
old=$(batch labalice true -n1 -w n1)
wait_for 40 job_state_is "$older" COMPLETED
wait_for 40 job_state_is "$old" COMPLETED
wait_for 60 sh -c "sacct -X -n -P -j $old -o state | grep -q COMPLETED"
wait_for 60 slurmdbd_told
db "update alpha_job_table set time_submit = time_submit - 259200, time_eligible = time_eligible - 259200,
    time_start = time_start - 259200, time_end = time_end - 259200 where id_job = $older"
sleep 2	# the time of the last-run file has seconds
suite_up
is "a job that ended before the last-run file: the last day was read" soon 20 "$old" \
    "stored +the record was stored: ended, 1 node" "$delivered"
hooks_on

good=() bad=() cancelled=() ignored=() pending=() out=()
many="1 2 3"
[ -n "${CSA_LONG:-}" ] || many=1
for _ in $many 4; do
	good+=("$(batch labalice "sleep 3" -n1 -w n1)")
done
for _ in $many; do
	bad+=("$(batch labbob "sleep 2; exit 3" -n1 -w n1)")
	ignored+=("$(batch labalice "sleep 2" -n1 -w n2)")
	pending+=("$(batch labbob true -n1 -H)")
	cancelled+=("$(batch labalice "sleep 300" -n1 -w n3)")
	out+=("$(batch labalice "sleep 2" -n1 -w n1 -H)")
done
if [ -n "${CSA_LONG:-}" ]; then
	too_long=$(batch labalice "sleep 600" -n1 -t 1 -w n1)
	killed=$(batch labalice 'kill -KILL $$' -n1 -w n1)
	dependent=$(batch labalice true -n1 -d "afternotok:$too_long" -H)
fi
never=$(batch labbob true -n1 -H)
waiting=$(batch labbob true -n1 -H --array=4-8:2)
array=$(batch labalice "sleep 2" -n1 --array=1-4 -w n1)
het=$(printf '#!/bin/bash\n#SBATCH -n1 --exclude=n2\n#SBATCH hetjob\n#SBATCH -n1 --exclude=n2\nsleep 2\n' |
    as labbob sbatch --parsable -o /dev/null)
running=$(batch labbob "sleep 600" -N2 -n2 -w 'n[3-4]')
again=$(batch labalice "[ -n \"\$SLURM_RESTART_COUNT\" ] && exit 0; sleep 60" -n1 -w n4 --requeue)
scancel "$never"
for job in "${out[@]}"; do
	scontrol update "job=$job" admincomment="please keep_away"
	scontrol release "$job"
done

is "a running job" soon 60 "$running" "^job $running \\(alpha\\), run started" \
    "$time +hook +PrologSlurmctld called the hook" \
    "$time +stored +the record was stored: .*, 2 nodes" \
    "$time +start-sent " "$time +start-accepted " "$time +committed " \
    "now +job +user labbob, .*2 nodes" \
    "now +now +cc-backend shows the run as running; the stop is sent when"
for job in "${cancelled[@]}"; do
	wait_for 40 job_state_is "$job" RUNNING
	wait_for 40 tells "$job" start-accepted
	scancel "$job"
done
wait_for 40 job_state_is "$again" RUNNING
wait_for 40 tells "$again" start-accepted
scontrol requeue "$again"

for job in "${good[@]}"; do
	is "a completed job ($job)" soon 60 "$job" "$time +ended +Slurm reports the end: completed at .*, after [0-9]" \
	    "$time +hook +PrologSlurmctld" "stop-sent" "$time +stop-accepted" "$delivered"
done
is "the hook at its end" tells "${good[0]}" "hook +EpilogSlurmctld called the hook"
is "its events are in their order" [ "$(awk '/^ /{print $2}' "$T/explain" | grep -vE 'hook|running|now|metadata|committed' | xargs)" = \
    "stored start-sent start-accepted ended stop-sent stop-accepted" ] ||
    awk '/^ /{print $2}' "$T/explain" | xargs
for job in "${bad[@]}"; do
	is "a failed job ($job)" soon 60 "$job" "ended +Slurm reports the end: failed" "$delivered"
done
if [ -n "${CSA_LONG:-}" ]; then
	is "a job that was killed" soon 60 "$killed" "Slurm reports the end: failed" "$delivered"
fi
for job in "${cancelled[@]}"; do
	is "a cancelled job ($job)" soon 60 "$job" "Slurm reports the end: cancelled" "$delivered"
done
for job in "${ignored[@]}"; do
	wait_for 40 job_state_is "$job" COMPLETED
	is "a job on ignored hosts ($job)" tells "$job" "reason +all its hosts match ignoreHosts" \
	    "slurmctld +COMPLETED, start .*, end .*, 1 node" "remedy +change ignoreHosts"
done
for job in "${pending[@]}"; do
	is "a pending job ($job)" tells "$job" "slurmctld +PENDING" "reason +the job is pending: it is sent when"
done
for job in "${out[@]}"; do
	is "a job whose user opted out ($job)" soon 40 "$job" "opted-out +the job has the word of optOutWord" \
	    "the run is not sent"
done
is "a job that was cancelled before its start" tells "$never" "reason +the job ended before it had a node"
is "tasks of an array" [ "$(raw "$array" | wc -w)" = 4 ]
for job in $(raw "$array"); do
	is "a task of an array ($job)" soon 60 "$job" "Slurm reports the end: completed" "$delivered"
done
is "(by its number in the array)" tells "${array}_3" "job-id +this is the job id of ${array}_3" "$delivered" \
    "Slurm reports the end: completed"
is "(the same job)" grep -q "^job $(sacct -X -n -P -j "${array}_3" -o jobidraw | head -n 1) (alpha), run started" "$T/explain"
is "a task that waits" tells "${waiting}_6" "reason +${waiting}_6 is pending"
is "a task that the array does not have" tells "${waiting}_5" "unknown to Slurm: job $waiting in cluster alpha has other tasks, but no task 5"
is "a task of a job that is no array" tells "${good[0]}_1" "reason +job ${good[0]} in cluster alpha has no tasks" \
    "remedy +run .cc-slurm-adapterctl explain ${good[0]}"
is "a task of an array that Slurm does not know" tells 999999_1 "unknown to Slurm: neither slurmctld nor accounting has 999999_1"
for job in $(raw "$het"); do
	is "a component of a heterogeneous job ($job)" soon 60 "$job" "ended +Slurm reports the end: completed" "$delivered"
done
is "a component by its number" tells "$het+1" "job-id +this is the job id of $het\\+1" "component 1 of|$delivered"
is "(the same job)" grep -q "^job $(raw "$het" | tr ' ' '\n' | sed -n 2p) (alpha), run started" "$T/explain"
oldest=$(sacct -X -D -a -n -P -S 1970-01-02 -o jobidraw | sort -n | head -n 1)
is "a job that Slurm does not know" tells 999999 "reason +unknown to Slurm: neither slurmctld nor accounting has this job in cluster alpha" \
    "\\(oldest job in accounting: $oldest, submitted 20"
explain --cluster beta "${good[0]}"
is "a job of another cluster" grep -q "reason .*another cluster: this daemon does not read cluster beta; it reads alpha" "$T/explain"
is "several jobs at once" explain "${good[@]}" "${pending[@]}"
is "(each once)" [ "$(grep -c '^job ' "$T/explain")" = $((${#good[@]} + ${#pending[@]})) ] ||
    grep -A2 "^job " "$T/explain"

# both runs of a requeued job
wait_for 30 job_state_is "$again" PENDING
scontrol update jobid="$again" StartTime=now
is "a requeued job has two runs" wait_for 90 sh -c "[ \"\$('$CTL' -s '$T/run/ctl.sock' explain $again | grep -c 'run started')\" = 2 ]"
is "its first run ended as requeued, the second one was refused" soon 60 "$again" \
    "ended +Slurm reports the end: requeued at" "refused +.*" "remedy +.*retry JOB"

# refused and waiting
fault '{"match":"start_job","action":"status","status":400,"body":"{\"error\":\"<img src=x> labalice is not welcome\"}","count":1}'
refused=$(batch labalice "sleep 2" -n1 -w n1 -J '<b>secretname</b>')
is "a job that cc-backend refuses" soon 60 "$refused" "rejected +the start is rejected for good" \
    "refused +.*labalice is not welcome" "remedy +correct the cause, then run .cc-slurm-adapterctl retry JOB"
is "its user and name" tells "$refused" "job +user labalice, account .*name <b>secretname</b>"
explain --anonymize "$refused"
is "--anonymize replaces them" not grep -qE "labalice|secretname" "$T/explain"
is "(the text is there)" grep -q "refused .*USER is not welcome" "$T/explain"
ctl -j explain "$refused" >"$T/explain.json"
is "-j prints the rows" python3 - "$T/explain.json" "$refused" <<-'END'
	import json, sys
	rows = json.load(open(sys.argv[1]))["explain"]
	assert all(r["job"] == int(sys.argv[2]) and r["cluster"] == "alpha" for r in rows), rows
	assert [r for r in rows if r["event"] == "rejected" and r["time"] > 1.7e9], rows
	assert [r for r in rows if r["event"] == "refused" and r["time"] is None], rows
END

# the page for a ticket, in a browser
browser() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
	    --disable-background-networking --disable-component-update --disable-sync \
	    "--user-data-dir=$T/browser" "$@" "file://$T/report.html" 2>/dev/null
}
is "report writes a page" "$CTL" -s "$T/run/ctl.sock" report -o "$T/report.html"
is "only its owner may read it" [ "$(stat -c %a "$T/report.html")" = 600 ]
is "a hostile text stays text" grep -q '&lt;img src=x&gt; labalice is not welcome' "$T/report.html"
is "no token is in it" not grep -qF "$(cat "$TOKEN")" "$T/report.html"
is "it loads nothing" not grep -qE '(src|href)=["'"'"']?(http|//|file)' "$T/report.html"
ctl report --anonymize -o "$T/anonymous.html"
is "--anonymize removes names" not grep -qE 'labalice|secretname' "$T/anonymous.html"
if command -v chromium >/dev/null; then
	browser --dump-dom >"$T/dom"
	is "a browser draws the plots" [ "$(grep -c '<svg' "$T/dom")" = 14 ]
	is "and makes no element of the text" not grep -qE '<img|<b>' "$T/dom"
fi

ctl retry "$refused" >/dev/null
is "after a retry it is delivered" soon 60 "$refused" "retried +an admin or a reload" "$delivered"
backend_down
waits=$(batch labbob "sleep 1" -n1 -w n1)
is "a job that waits since cc-backend is away" soon 60 "$waits" "now +now +the start waits to be sent" \
    "waits +cc-backend: "
backend_up
is "then it is delivered" soon 90 "$waits" "$delivered"

# damage of the history loses explanations, no record
kill -STOP "$(worker_pid submitter)"
head -c 65536 /dev/urandom >"$(echo "$T"/state/*/spool.history.db)"
rm -f "$T"/state/*/spool.history.db-wal
kill -KILL "$(worker_pid submitter)"
wait_for 20 worker_alive submitter
last=$(batch labalice true -n1 -w n1)
is "with a damaged history jobs arrive" wait_for 60 backend_has_ended "$last"
is "and the history begins anew" wait_for 60 logged "the history spool.history.db is removed and begun anew"
is "a delivered job without history" soon 30 "${good[0]}" "now +now +the run is done; the history has no events of it"
is "the file has the mode of the spool" [ "$(stat -c '%a %U' "$T"/state/*/spool.history.db)" = \
    "$(stat -c '%a %U' "$T"/state/*/spool.db)" ]

if [ -n "${CSA_LONG:-}" ]; then
	fault '{"match":"stop_job","action":"status","status":400,"body":"{\"error\":\"no stop\"}","count":1}'
	stop=$(batch labbob "sleep 1" -n1 -w n1)
	is "a job whose stop is refused" soon 60 "$stop" "rejected +the stop is rejected for good" "refused +.*no stop" \
	    "remedy +correct the cause, then run .cc-slurm-adapterctl retry JOB"
	fault '{"match":"start_job","action":"status","status":503,"count":2}'
	late=$(batch labbob "sleep 3" -n1 -w n1)
	is "a job whose start failed and was repeated" soon 60 "$late" "failed +cc-backend answered with HTTP status 503" "$delivered"
	lost=$(batch labbob "sleep 600" -n1 -w n4 --no-requeue)
	wait_for 60 tells "$lost" start-accepted
	scontrol update nodename=n4 state=down reason=test
	is "a job whose node failed" soon 90 "$lost" "Slurm reports the end: (node_fail|failed)" "$delivered"
	scontrol update nodename=n4 state=resume 2>/dev/null # it may be idle already
	is "a job that waits for another one" tells "$dependent" "reason +the job is pending"
	is "a job at its time limit" soon 150 "$too_long" "Slurm reports the end: timeout" "$delivered"
	ctl backfill --from "$(($(date +%s) - 345600))" --to "$(date +%s)" >/dev/null
	is "a job of a backfill" soon 60 "$older" "backfilled +the record was stored by a backfill: ended, 1 node"
	jobs=$(sort -u "$T/asked" | wc -l)
	is "$jobs jobs of different fates" [ "$jobs" -ge 40 ]
fi

# without polls and hooks nothing is read
hooks_off
hook_conf slurmPollInterval=600
ctl reload >/dev/null
polls_end() {
	local last
	last=$(ctl -j status | lib get - status collector last_poll)
	[ $(($(date +%s) - $(date -d "$last" +%s))) -ge 3 ]
}
wait_for 20 polls_end || broken "the polls go on"
unread=$(batch labbob "sleep 30" -n1 -w n1)
wait_for 40 job_state_is "$unread" RUNNING
is "a job that was not read yet" tells "$unread" "slurmctld +RUNNING, start" \
    "reason +not read yet: the job has started since the last poll; the next poll is in [0-9]+ min"

# NATS is the only destination
nats_alone() {
	local starts stops job
	nats_up ""
	conf slurmPollInterval=1 ccRestSubmitJobs=false natsServer=127.0.0.1 "natsPort=$NATS_PORT" natsSubject=cc
	suite_down
	suite_up
	hooks_on
	scancel "$unread"
	wait_for 60 tells "$unread" nats-stop
	starts=$(history_sum starts)
	stops=$(history_sum stops)
	job=$(batch labalice "sleep 1" -n1 -w n1)
	is "with NATS alone: the deliveries" soon 60 "$job" "nats-start +the start was published by NATS" \
	    "nats-stop +the stop was published by NATS" "$delivered"
	is "(each is counted)" [ "$(history_sum starts) $(history_sum stops)" = "$((starts + 1)) $((stops + 1))" ] ||
	    say "before: $starts starts, $stops stops; now: $(history_sum starts), $(history_sum stops)"
	published_again() { ctl backfill --status | grep -qE 'done: .*, [1-9][0-9]* published again'; }
	published_twice() { explain "$job" && [ "$(grep -c ' nats-start ' "$T/explain")" = 2 ]; }
	ctl backfill --nats --from "$(($(date +%s) - 3600))" --to "$(date +%s)" >/dev/null
	is "backfill --nats publishes ended runs again" wait_for 60 published_again || ctl backfill --status
	is "(the run that was published before)" wait_for 30 published_twice || cat "$T/explain"
}
if grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" && command -v nats-server >/dev/null; then
	nats_alone
fi
test_end
