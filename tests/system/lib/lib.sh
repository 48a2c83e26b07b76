# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the system tests share.  A test sources this file, gives its title to
# test_begin, brings up what it needs, says what it saw with `is`, and ends
# with test_end.  Everything it starts lives in $T and ends with the test.
#
# From run (or by hand): CSA_INST, the installed suite, and CSA_BUILD, where
# it was built; CC_BACKEND, a real cc-backend instead of the stand-in.
set -u
export LC_ALL=C.UTF-8 TZ=UTC
[ -n "${PYTHONPYCACHEPREFIX:-}" ] || export PYTHONDONTWRITEBYTECODE=1
# All limits of time are multiplied by it, here and in the Python files: on a
# machine that does other work as well only a failure reaches them.
export LAB_PATIENCE=${LAB_PATIENCE:-1}
SYS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB=$SYS/../../lab
: "${CSA_INST:?the folder with the installed suite; tests/system/run sets it}"
: "${CSA_BUILD:?the folder it was built in; tests/system/run sets it}"
ADAPTER=$CSA_INST/sbin/cc-slurm-adapter
CTL=$CSA_INST/sbin/cc-slurm-adapterctl
FAKE=$CSA_BUILD/tests/fake/fake-cc-backend
failures=0
failed=()	# what, for the last lines
started_pids=()

# without http: see request
lib() { python3 "$SYS/lib.py" "$@"; }
truth() { python3 "$SYS/expected.py" "$@"; }

say() { printf '   %s\n' "$*"; }

skip() {
	echo "SKIP: $*"
	trap - EXIT
	cleanup
	exit 77
}

# The test cannot go on.
broken() {
	echo "BROKEN: $*"
	failures=$((failures + 1))
	failed+=("$*")
	exit 1
}

# is "what should be seen" COMMAND...: runs it, says ok or FAILED, counts.
is() {
	local what=$1
	shift
	if "$@"; then
		printf '   ok      %s\n' "$what"
	else
		printf '   FAILED  %s\n' "$what"
		failures=$((failures + 1))
		failed+=("$what")
		return 1
	fi
}

not() { ! "$@"; }

# request METHOD URL [BODY] [TOKENFILE]: prints the answer's body; 1 unless the status is
# 2xx.  curl takes a twentieth of the CPU time that python3 takes to load its HTTP client.
# The token is in no command line.
request() {
	local answer options=()
	[ -z "${3:-}" ] || options+=(-H 'Content-Type: application/json' --data-binary "$3")
	answer=$(curl -q -sS -k -m 30 --noproxy '*' -X "$1" "${options[@]}" -w '\n%{http_code}' \
	    -K <([ -z "${4:-}" ] || printf 'header = "X-Auth-Token: %s"\n' "$(<"$4")") "$2" 2>&1)
	printf '%s\n' "${answer%$'\n'*}"
	[[ ${answer##*$'\n'} == 2?? ]]
}

# patience NUMBER: the limit on this machine, in the same unit
patience() { echo $(($1 * LAB_PATIENCE)); }

# wait_for SECONDS COMMAND...: runs the command again and again until it succeeds; 1 when
# it never did.  The pause between two runs grows from 0.1 to 0.4 s: on a busy machine
# the runs themselves would take the CPU time that the tested programs need.
wait_for() {
	local end=$((SECONDS + $(patience "$1"))) pause=1
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.$pause
		[ $pause -ge 4 ] || pause=$((pause + 1))
	done
}

# limited SECONDS COMMAND...: ends the command after that time; 124 then.
limited() { timeout "$(patience "$1")" "${@:2}"; }

test_begin() {
	echo "== $1"
	if [ -z "${T:-}" ]; then
		T=$(mktemp -d /tmp/csa-sys.XXXXXX)
	fi
	export T
	mkdir -p "$T/etc" "$T/log"
	chmod 755 "$T"
	trap 'rc=$?; trap - EXIT; test_exit $rc' EXIT
	trap 'exit 1' INT TERM
	[ "$(id -u)" = 0 ] || skip "needs root"
}

test_exit() {
	[ "$1" = 0 ] || [ $failures -gt 0 ] || failures=1
	if [ $failures -gt 0 ]; then
		show_trouble
	fi
	cleanup
	[ $failures -gt 0 ] || exit 0
	# once more, below all the logs
	printf 'FAILED: %s\n' "${failed[@]:-the script itself, status $1}"
	echo "kept: $T"
	exit 1
}

test_end() {
	suite_secrets_unseen
	suite_states_moved
	exit 0
}

show_trouble() {
	local f
	for f in "$T"/log/suite.*; do
		[ -s "$f" ] || continue
		echo "--- end of $f"
		tail -n 25 "$f" | cut -c1-400
	done
}

cleanup() {
	local p
	suite_kill
	nats_down
	backend_down
	# the id of one that has ended may be that of a process of another test
	for p in "${started_pids[@]}"; do
		[ "$(ps -o ppid= -p "$p" | tr -d ' ')" != $$ ] || kill "$p" 2>/dev/null
	done
	[ ! -e "$T/slurm/env.sh" ] || "$LAB/slurm" down "$T/slurm"
	[ -n "${CSA_KEEP:-}" ] || [ $failures -gt 0 ] || rm -rf "${T:?}"
}

# --- Slurm --------------------------------------------------------------------

# lab_up [NAME=VALUE...]: a Slurm of this test's own; see lab/slurm for names
lab_up() {
	local port
	port=$(lib freeport 45)
	limited 120 env LAB_QUIET=1 LAB_TRUTH=1 "$@" "$LAB/slurm" up "$T/slurm" "$port" ||
	    broken "no Slurm"
	# shellcheck disable=SC1091	# written by lab/slurm
	. "$T/slurm/env.sh"
	python3 "$SYS/expected.py" watch "$T/slurm" >"$T/log/truth" 2>&1 &
	started_pids+=($!)
}

lab() {
	local verb=$1
	shift
	"$LAB/slurm" "$verb" "$T/slurm" "$@"
}

as() { "$LAB/slurm" as "$T/slurm" "$@"; }

# db STATEMENTS: executes them in the database of slurmdbd; prints the rows
db() { mariadb --no-defaults -S "$T/slurm/run/mysql.sock" -uroot -N slurm_acct -e "$1"; }

# batch USER SCRIPT SBATCH-OPTION...: prints the job id
batch() {
	local user=$1 script=$2
	shift 2
	printf '#!/bin/bash\n%s\n' "$script" |
	    as "$user" sbatch --parsable -o /dev/null "$@"
}

queue_empty() { [ -z "$(squeue -h -a -o %A 2>&1)" ]; }
job_state_is() { [ "$(squeue -h -a -t all -j "$1" -o %T 2>/dev/null)" = "$2" ]; }

# slurmctld has sent all messages for slurmdbd
slurmdbd_told() { sdiag | grep -q 'DBD Agent queue size: *0$'; }

# The hooks of slurmctld call our hook client from now on.
hooks_on() {
	lab hook "$ADAPTER -config $T/etc/config.json -socket ${1:-$T/run/daemon.sock}"
}
hooks_off() { lab hook ""; }

# --- cc-backend ---------------------------------------------------------------

# backend_up [FAKE-OPTION...]: a stand-in, or the real one of $CC_BACKEND.
# Sets BACKEND (URL), TOKEN (file).  COMMIT, TOPOLOGY, CLUSTERS may be set.
COMMIT=${COMMIT:-2}
TOPOLOGY=${TOPOLOGY:-interleaved}
CLUSTERS=${CLUSTERS:-alpha=n[1-4]}
BACKEND_PORT=
backend_up() {
	local scheme=http o
	[ -n "$BACKEND_PORT" ] || BACKEND_PORT=$(lib freeport 1)
	LEDGER=$T/ledger
	if [ -n "${CC_BACKEND:-}" ]; then
		LEDGER=
		limited 60 "$LAB/ccbackend" "$CC_BACKEND" "$T/backend" "$BACKEND_PORT" \
		    --clusters "$CLUSTERS" --commit "$COMMIT" --topology "$TOPOLOGY" ||
		    broken "no cc-backend"
		backend_pid=$(cat "$T/backend/pid")
		TOKEN=$T/backend/token
	else
		[ -x "$FAKE" ] || broken "no $FAKE"
		for o; do
			[ "$o" != --tls ] || scheme=https
		done
		TOKEN=$T/token
		"$FAKE" --port "$BACKEND_PORT" --commit "$COMMIT" --clusters "$CLUSTERS" \
		    --topology "$TOPOLOGY" --token-file "$TOKEN" --ledger "$LEDGER" \
		    "$@" >>"$T/log/backend" 2>&1 &
		backend_pid=$!
	fi
	BACKEND=$scheme://127.0.0.1:$BACKEND_PORT
	wait_for 20 backend_answers || broken "the backend does not answer"
}

backend_answers() {
	[ -s "$TOKEN" ] && request GET "$BACKEND/api/clusters/" "" "$TOKEN"
}

backend_pid=
backend_down() {
	[ -n "$backend_pid" ] || return 0
	kill "$backend_pid" 2>/dev/null
	wait "$backend_pid" 2>/dev/null
	wait_for 10 not kill -0 "$backend_pid"
	backend_pid=
}

backend_is_fake() { [ -z "${CC_BACKEND:-}" ]; }
need_fake() { backend_is_fake || skip "needs the stand-in's faults"; }
fault() { request POST "$BACKEND/fake/faults" "$1" >/dev/null; }
faults_off() { request DELETE "$BACKEND/fake/faults" >/dev/null; }
backend_jobs() { truth jobs "$BACKEND" "$TOKEN"; }
# backend_states: job id and state of each run at the backend, a line each.  Each job of
# the listing has both keys once.  Quotes inside a value are escaped: no value looks like a key.
backend_states() {
	local page=1 rows
	while :; do
		rows=$(request GET "$BACKEND/api/jobs/?items-per-page=500&page=$page" "" "$TOKEN" |
		    grep -oE '"(jobId|jobState)": *("[a-z_]*"|[0-9]+)' |
		    awk -F '": *"?' '{ sub(/"$/, "", $2) }
			$1 == "\"jobId" { id = $2 } $1 == "\"jobState" { state = $2 }
			NR % 2 == 0 { print id, state }')
		[ -z "$rows" ] || printf '%s\n' "$rows"
		[ "$(wc -l <<<"$rows")" -ge 500 ] || return 0
		page=$((page + 1))
	done
}
backend_has() { backend_states | awk -v j="$1" '$1 == j { n++ } END { exit !n }'; }
backend_has_ended() { backend_states | awk -v j="$1" '$1 == j && $2 != "running" { n++ } END { exit !n }'; }
backend_count() { backend_states | wc -l; }

# compare [OPTION...]: the backend against Slurm's truth
compare() {
	local ledger=()
	[ -z "$LEDGER" ] || ledger=(--ledger "$LEDGER")
	truth compare "$T/slurm" "$BACKEND" "$TOKEN" --topology "$TOPOLOGY" \
	    --gpus "$T/etc/config.json" "${ledger[@]}" "$@"
}

# --- NATS ---------------------------------------------------------------------

nats_pid=
# nats_up CONFIG-TEXT: a nats-server on $NATS_PORT
NATS_PORT=
nats_up() {
	command -v nats-server >/dev/null || skip "no nats-server"
	[ -n "$NATS_PORT" ] || NATS_PORT=$(lib freeport 1)
	printf 'listen: 127.0.0.1:%s\n%s\n' "$NATS_PORT" "$1" >"$T/etc/nats.conf"
	nats-server -c "$T/etc/nats.conf" >>"$T/log/nats" 2>&1 &
	nats_pid=$!
	wait_for 10 bash -c "exec 9<>/dev/tcp/127.0.0.1/$NATS_PORT" || broken "no nats-server"
}
nats_down() {
	[ -n "$nats_pid" ] || return 0
	kill "$nats_pid" 2>/dev/null
	wait "$nats_pid" 2>/dev/null
	nats_pid=
}

# --- Prometheus -------------------------------------------------------------

prometheus_pid=
# prometheus_up ADDRESS SECONDS [FILE]: scrapes it, loads the rules of FILE
prometheus_up() {
	PROMETHEUS=127.0.0.1:$(lib freeport 1)
	printf 'global: {scrape_interval: %ss, evaluation_interval: %ss}\nscrape_configs:\n- job_name: csa\n  static_configs: [{targets: ["%s"]}]\n' \
	    "$2" "$2" "$1" >"$T/etc/prometheus.yml"
	[ -z "${3:-}" ] || printf 'rule_files: ["%s"]\n' "$3" >>"$T/etc/prometheus.yml"
	prometheus --config.file="$T/etc/prometheus.yml" --storage.tsdb.path="$T/prometheus" \
	    --web.listen-address="$PROMETHEUS" >"$T/log/prometheus" 2>&1 &
	prometheus_pid=$!
	wait_for 20 curl -sf "http://$PROMETHEUS/-/ready" -o /dev/null || broken "no Prometheus"
}
# prometheus_ask QUERY: its answer
prometheus_ask() { curl -sS -G "http://$PROMETHEUS/api/v1/query" --data-urlencode "query=$1"; }
prometheus_down() {
	[ -n "$prometheus_pid" ] || return 0
	kill "$prometheus_pid" 2>/dev/null
	wait "$prometheus_pid" 2>/dev/null
	prometheus_pid=
}

# --- the suite ----------------------------------------------------------------

# The users that the package would have made.
suite_user_names="cc-slurm-adapter cc-slurm-collect cc-slurm-submit cc-slurm-listen
    cc-slurm-export cc-slurm-receive"
suite_users() {
	local u
	for u in $suite_user_names; do
		getent passwd "$u" >/dev/null || useradd -r -M -d /nonexistent -s /usr/sbin/nologin "$u" ||
		    broken "no user $u"
	done
}

# conf KEY=VALUE...: the configuration of this test, on top of what it needs
conf() {
	[ -e "$T/etc/config.json" ] || conf_first
	lib conf "$T/etc/config.json" "$@"
}

conf_first() {
	local a=00000000
	: >"$T/etc/config.json"
	rm "$T/etc/config.json"
	lib conf "$T/etc/config.json" \
	    "pidFilePath=$T/run/daemon.pid" "prepSockListenPath=$T/run/daemon.sock" \
	    "prepSockConnectPath=$T/run/daemon.sock" "ctlSockPath=$T/run/ctl.sock" \
	    "lastRunPath=$T/state/lastrun" "slurmConf=$SLURM_CONF" \
	    slurmPollInterval=2 slurmQueryDelay=1 ccPollInterval=15 \
	    "ccCommitInterval=$COMMIT" "ccRestUrl=${BACKEND:-}" \
	    "ccRestJwt=$(cat "${TOKEN:-/dev/null}")" \
	    "gpuPciAddrs={\"^n3\$\":[\"$a:00:00.0\",\"$a:01:00.0\",\"$a:02:00.0\",\"$a:03:00.0\"],
	    \"^n4\$\":[\"$a:03:00.0\",\"$a:02:00.0\",\"$a:01:00.0\",\"$a:00:00.0\"]}"
}

# suite_folders USER: as tmpfiles.d makes them; as root slurmUser follows the
# last-run file's owner
suite_folders() {
	mkdir -p "$T/run" "$T/state"
	chmod 750 "$T/run"
	chown "$1":slurm "$T/run"
	if [ ! -e "$T/state/lastrun" ]; then
		: >"$T/state/lastrun"
		chown laboper: "$T/state" "$T/state/lastrun"
	fi
}

suite_number=0
SUITE_USER=root
SUITE_DEBUG=${SUITE_DEBUG:-4}
# suite_up [root|USER]: starts it and waits for READY=1
suite_up() {
	local run=(setsid)
	SUITE_USER=${1:-$SUITE_USER}
	suite_users
	[ -e "$T/etc/config.json" ] || conf_first
	suite_folders "$SUITE_USER"
	if [ "$SUITE_USER" != root ]; then
		chown "$SUITE_USER" "$T/etc/config.json"
		run=(setsid setpriv --reuid "$SUITE_USER" --regid "$(id -g "$SUITE_USER")" --init-groups)
	fi
	suite_number=$((suite_number + 1))
	SUITE_LOG=$T/log/suite.$suite_number
	notify_up
	env -i PATH="$PATH" NOTIFY_SOCKET="$T/notify.sock" \
	    ${TZ:+TZ="$TZ"} ${SUITE_CONF_SERVER:+SLURM_CONF_SERVER="$SUITE_CONF_SERVER"} \
	    ${CSA_CRASH:+CSA_CRASH="$CSA_CRASH"} "${run[@]}" \
	    "$ADAPTER" -daemon -config "$T/etc/config.json" -debug "$SUITE_DEBUG" \
	    >"$SUITE_LOG" 2>&1 </dev/null &
	suite_pid=$!
	if ! wait_for 30 suite_ready_or_dead || ! kill -0 "$suite_pid" 2>/dev/null; then
		broken "the suite does not start"
	fi
}

suite_ready_or_dead() {
	grep -q '^READY=1' "$T/notify.$suite_number" || ! kill -0 "$suite_pid" 2>/dev/null
}

notify_pid=
notify_up() {
	if [ -n "$notify_pid" ]; then
		kill "$notify_pid" 2>/dev/null
		wait "$notify_pid" 2>/dev/null
	fi
	rm -f "$T/notify.sock"
	# not by way of lib(): $! must be python's pid
	python3 "$SYS/lib.py" notify "$T/notify.sock" "$T/notify.$suite_number" \
	    >>"$T/log/notify" 2>&1 &
	notify_pid=$!
	started_pids+=("$notify_pid")
	# made after its socket
	wait_for 60 test -e "$T/notify.$suite_number" || broken "nobody listens to READY=1"
}

suite_pid=
# suite_down: TERM and wait; its exit status is the function's
suite_down() {
	local rc
	[ -n "$suite_pid" ] || return 0
	kill "$suite_pid" 2>/dev/null
	wait_for "${1:-10}" not kill -0 "$suite_pid" || { say "it does not end"; suite_kill; return 1; }
	wait "$suite_pid"
	rc=$?
	suite_pid=
	if sed -n '/ending: /,$p' "$SUITE_LOG" | grep -E 'restart (in|now)'; then
		is "no process is said to be restarted at the end" false
	fi
	return $rc
}

# SIGKILL for the whole of it, as a power cut for processes
suite_kill() {
	local victims
	[ -n "$suite_pid" ] || return 0
	mapfile -t victims < <(suite_pids)
	kill -KILL "$suite_pid" "${victims[@]}" 2>/dev/null
	wait "$suite_pid" 2>/dev/null
	suite_pid=
}

suite_pids() { ps -o pid= --ppid "$suite_pid" | tr -d ' '; }

# worker_pid ROLE: listener, collector, runner or submitter
worker_pid() {
	ps -o pid=,comm= --ppid "$suite_pid" | awk -v r="$1" '$2 == r { print $1 }'
}
worker_alive() { [ -n "$(worker_pid "$1")" ]; }
suite_alive() { [ -n "$suite_pid" ] && kill -0 "$suite_pid" 2>/dev/null; }

ctl() { "$CTL" -s "$T/run/ctl.sock" "$@"; }

# logged PATTERN: the running suite has said so
logged() { grep -qE -- "$1" "$SUITE_LOG"; }

# An event that the table of states does not allow is a mistake in the submitter.
suite_states_moved() {
	is "every change of a run's state was allowed" \
	    not grep -rF --include='suite.*' 'is not allowed in the state' "$T"
}

suite_secrets_unseen() {
	local token
	[ -n "${TOKEN:-}" ] && [ -s "$TOKEN" ] || return 0
	ls "$T"/log/suite.* >/dev/null 2>&1 || return 0
	token=$(cat "$TOKEN")
	is "the token is in no log line" not grep -qF -- "$token" "$T"/log/suite.*
}
