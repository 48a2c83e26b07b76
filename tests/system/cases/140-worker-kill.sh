#!/bin/bash
# SPDX-License-Identifier: MIT
# kill -9 of each worker in turn under load: it comes back alone, collector and
# runner together; the others keep their pids, no hook is refused, nothing is
# lost.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "kill -9 of each worker under load"
lab_up
backend_up
conf slurmPollInterval=5
suite_up
hooks_on
mix 50
new_pid() { local p; p=$(worker_pid "$1"); [ -n "$p" ] && [ "$p" != "$2" ]; }
others_of() {
	local same=$1
	case $1 in collector | runner) same='collector|runner' ;; esac
	ps -o pid=,comm= --ppid "$suite_pid" | grep -E 'listener|collector|runner|submitter' |
	    grep -vE " ($same)"
}
partner_of() { case $1 in collector) echo runner ;; runner) echo collector ;; esac; }
for role in submitter collector listener submitter runner listener; do
	sleep 2
	old=$(worker_pid $role)
	others=$(others_of $role)
	partner=$(partner_of $role)
	[ -z "$partner" ] || old_partner=$(worker_pid "$partner")
	t0=$(date +%s%N)
	kill -KILL "$old"
	is "$role is back within 2 s" wait_for 2 new_pid $role "$old"
	say "after $((($(date +%s%N) - t0) / 1000000)) ms"
	is "the others keep their pids" [ "$others" = "$(others_of $role)" ]
	[ -z "$partner" ] ||
	    is "the $partner is another one, too" wait_for 4 new_pid "$partner" "$old_partner"
done
is "the supervisor says who died" wait_for 10 logged 'signal 9|SIGKILL|[Kk]illed'
mix_end
wait_for 240 queue_empty
is "all as Slurm says" compare --wait 90 --expect "$mix_count"
is "no hook waited a second" awk -F'us=' -v most="$(patience 1000000)" '$2 > most { exit 1 }' "$T/slurm/truth/hooks"
test_end
