#!/bin/bash
# SPDX-License-Identifier: MIT
# The first line of status in each state that needs an admin: it names the
# cause, its exit status is 1, systemd has the same line; after the repair it
# is OK again.  CSA_LONG=1: five situations more.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "status names what is wrong"
need_fake
lab_up LAB_PRIVATE=jobs,users,accounts,usage
backend_up
conf slurmPollInterval=1 ccPollInterval=4
with_nats=
if grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" && command -v nats-server >/dev/null; then
	with_nats=yes
	nats_up ""
	conf "natsServer=127.0.0.1" "natsPort=$NATS_PORT" natsSubject=cc
fi
suite_up
hooks_on

sentence() { ctl status | head -n 1; }
says() { sentence | grep -qE "$1"; }
is_ok() { ctl status >"$T/status" && head -n 1 "$T/status" | grep -qE '^OK: 5 processes, .* (waits?|wait), (last job|no job)'; }
systemd_has() { grep -a '^STATUS=' "$T/notify.$suite_number" | tail -n 1 | grep -qE "$1"; }
exit_status() {
	ctl status >/dev/null
	[ $? = "$1" ]
}
# named WHAT PATTERN: status and systemd name it
named() {
	is "$1: status names it" wait_for 60 says "^DEGRADED since [0-9:]{5}: .*$2"
	say "$(sentence)"
	is "$1: exit status 1" exit_status 1
	is "$1: systemd has the sentence" wait_for 10 systemd_has "DEGRADED since .*$2"
}
repaired() { is "$1: OK after the repair" wait_for 90 is_ok || say "$(sentence)"; }

# every verb with -j has the form of the installed schema
valid() {
	"$CTL" -s "$T/run/ctl.sock" -j "$@" >"$T/json" 2>"$T/json.err"
	"$SYS/schema.py" "$CSA_INST/share/cc-slurm-adapter/ctl.schema.json" "$T/json" ||
	    { cat "$T/json.err"; return 1; }
}

one labalice 600 -n1 -J stays
is "a job arrives" wait_for 60 backend_has "$mix_id"
is "all is well: OK" wait_for 30 is_ok
say "$(sentence)"
is "the job is counted" wait_for 10 says ' 1 job running, '
is "systemd has the sentence" wait_for 40 systemd_has 'STATUS=OK: 5 processes'

backend_down
one labbob 600 -n1 -J waits
waits=$mix_id
named "cc-backend down" 'cc-backend does not work: .*; [0-9]+ runs? waits?, none lost$'
backend_up
repaired "cc-backend down"
is "the job arrives" wait_for 30 backend_has "$waits"

fault '{"match":"start_job","action":"status","status":400,"count":1}'
one labbob 2 -n1 -J rejected
named "rejected run" '1 run is rejected: see .*queue --rejected'
is "-j status" valid status
is "-j queue --rejected" valid queue --rejected
is "-j retry" valid retry --all
repaired "rejected run"
wait_for 30 backend_has_ended "$mix_id"

lab ctl kill slurmdbd
named "slurmdbd down" 'slurmdbd does not answer'
lab ctl start slurmdbd
repaired "slurmdbd down"

# each failure of a worker in a row makes the next start later
kills() {
	local pid
	pid=$(worker_pid listener)
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	says "^DEGRADED since .*the listener is being restarted: was killed by signal 9"
}
is "worker restarting: status names it" wait_for 60 kills
say "$(sentence)"
repaired "worker restarting"

chown nobody "$T/etc/config.json"
ctl reload >/dev/null
named "unsafe file" 'config.json: belongs to user .*: chown root'
chown root "$T/etc/config.json"
ctl reload >/dev/null
repaired "unsafe file"

cp "$T/etc/config.json" "$T/etc/good.json"
echo '{' >"$T/etc/config.json"
ctl reload >/dev/null 2>&1
named "reload refused" 'the last reload failed: configuration refused'
cp "$T/etc/good.json" "$T/etc/config.json"
ctl reload >/dev/null
repaired "reload refused"

more_situations() {
	fault '{"match":"*","action":"401","count":-1}'
	one labbob 600 -n1 -J unauthorized
	named "token refused" 'cc-backend refuses the token: 401'
	faults_off
	conf ccPollInterval=5
	ctl reload >/dev/null	# the next probe would be after 30 s
	repaired "token refused"

	lab ctl stop slurmctld	# killed, it would forget jobs: runaways
	named "slurmctld down" 'slurmctld does not answer'
	lab ctl start slurmctld
	repaired "slurmctld down"

	if [ -n "$with_nats" ]; then
		nats_down
		named "NATS down" 'NATS has no connection'
		nats_up ""
		repaired "NATS down"
	fi

	sacctmgr -i modify user laboper set AdminLevel=None >/dev/null
	named "operator permission missing" 'laboper may not see other users.*adminlevel=Operator'
	sacctmgr -i modify user laboper set AdminLevel=Operator >/dev/null
	repaired "operator permission missing"

	# scripts fill the smallest spool
	backend_down
	conf spoolMaxBytes=1048576
	ctl reload >/dev/null
	script=$(printf '# %.0s' {1..14000})	# a record has at most 32 KiB then
	fill() {
		batch labalice "sleep 1
$script" -s -p share -n1 -J fills >/dev/null
	}
	lists() { ctl status | grep -qE "^  for .* $1"; }
	for ((i = 0; i < 24; i++)); do
		fill
	done
	fills() {
		lists 'the spool is nearly full: ' && return 0
		fill
		wait_for 3 lists 'the spool is nearly full: '
	}
	is "spool nearly full: status lists it" wait_for 60 fills
	named "two problems" 'cc-backend does not work.*, and 1 more; '
	say "$(ctl status | grep -E '^  for .*spool')"
	backend_up
	conf spoolMaxBytes=104857600
	ctl reload >/dev/null
	repaired "spool nearly full"
}
[ -z "${CSA_LONG:-}" ] || more_situations

file=$T/etc/export
ctl spool export >"$file"
is "-j queue without rows" valid queue --job 999999
is "-j drop" valid drop 999999
is "-j repair" valid repair --dry-run
is "-j metrics" valid metrics
is "each counter has the name of metrics(7)" python3 -c "import json, sys
counters = [m['name'] for m in json.load(open(sys.argv[1]))['metrics'] if m['type'] == 'counter']
sys.exit(not counters or not all(name.endswith('_total') for name in counters))" "$T/json"
is "-j warnings" valid warnings
is "the rejected run is among the warnings" grep -q "\"process\":\"submitter\".*is rejected" "$T/json"
is "-j log" valid log debug
is "-j reload" valid reload
is "-j backfill" valid backfill --status
is "-j spool check" valid spool check
is "-j spool check of a file that is none" valid spool check --file "$T/etc/config.json"
is "-j spool import" valid spool import "$file"
wait_for 60 is_ok
is "-j sync" valid sync --dry-run
is "-j backfill --dry-run" valid backfill --from 2020-01-01 --to 2020-01-02 --dry-run
is "a refused request" valid backfill --from 2020-01-01 --to 2020-01-02 --cluster none
is "no daemon" valid -s /none status

# the manual's questions, each with its command: an answer, no usage error
while read -r _ words; do
	case $words in
	*--file*) continue ;;	# needs no daemon
	esac
	read -ra words <<<"${words//4711/$mix_id}"
	(cd "$T" && "$CTL" -s run/ctl.sock "${words[@]}") </dev/null >"$T/answer" 2>&1
	rc=$?
	case " ${words[*]} " in
	*' -o report.html '*) mv "$T/report.html" "$T/answer" ;;
	esac
	is "answers: ${words[*]}" [ $rc -le 1 -a -s "$T/answer" ]
done < <(sed -n '/^\.Ss Questions/,/^\.El/s/^\.Dl //p' "$CSA_INST/share/man/man8/cc-slurm-adapterctl.8" | sort -u)
scancel -u labalice
scancel -u labbob
wait_for 60 queue_empty
test_end
