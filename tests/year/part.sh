#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tests/year/part.sh PART USER -- one part of tests/year/run, inside the
# private machine (tests/year/machine): a cluster, the suite as root or as
# USER, a load of jobs, and the acts of this part one after the other.  Writes
# $RESULT (JSON) and prints the table.
#
# T: the directory of the test; CSA_INST, CSA_BUILD, CC_BACKEND as for the
# system tests; YEAR_POLL: slurmPollInterval; YEAR_AWAY: seconds that an outage
# lasts; CSA_OLD: the files of the previous version (see run); FETCHED: what
# tests/year/fetch downloaded for this part.
#
# shellcheck disable=SC2317,SC2119,SC2034	# acts are called by name; they read variables
set -u
part=$1 user=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
POLL=${YEAR_POLL:-2}
AWAY=${YEAR_AWAY:-10}
JUDGE_WAIT=60		# seconds after which everything has to be there
SUITE_DEBUG=${SUITE_DEBUG:-4}
COMMIT=${COMMIT:-2}
CLUSTERS='alpha=*'
# shellcheck source=tests/system/lib/lib.sh
. "$here/../system/lib/lib.sh"
# shellcheck source=tests/system/lib/load.sh
. "$here/../system/lib/load.sh"
LIMIT=$((POLL + $(patience 5)))
rate=${YEAR_RATE:-1}
RANDOM=${CSA_SEED:-$$}

now() { echo "${EPOCHREALTIME/,/.}"; }


# expected_of ACT: what must become of the runs that the act touches; the soak
# has acts of all parts
expected_of() {
	awk -v p="$part" -v a="$1" '($1 == p || p == "soak") && $2 == a { print $3; found = 1; exit }
	    END { exit !found }' "$here/expected"
}

# --- the suite, as systemd would run it ------------------------------------------

# Standard error is a pipe, as journald's: year.py writes its lines with times.
write_adapter() {
	mkdir -p "$T/bin"
	cat >"$T/bin/adapter" <<-E
	#!/bin/bash
	pipe=$T/log/pipe.\$\$
	mkfifo -m 600 "\$pipe"
	exec 3<>"\$pipe"	# neither end waits for the other
	exec 4<"\$pipe" 5>"\$pipe" 3>&-
	setsid -f python3 $here/year.py lines $T/log <&4 4<&- 5>&-
	exec $ADAPTER "\$@" 2>&5 4<&- 5>&-
	E
	chmod 755 "$T/bin" "$T/bin/adapter"
	chmod 1777 "$T/log"
	: >"$T/log/lines"
	chmod 666 "$T/log/lines"
}

suite_start() {
	local ADAPTER=$T/bin/adapter
	suite_up "$user"
}

is_confined() {
	[ "$(grep -cE 'sandbox: .*seccomp' "$T/log/lines")" -ge "$(suite_pids | wc -l)" ]
}

# What Restart=on-failure does.
suite_again() {
	if ! suite_alive; then
		say "the suite ended; started again"
		suite_kill
		suite_start
	fi
}

reader_pid() { cat "$T/log/reader.pid"; }
# said PATTERN: the suite has written it since the act began
said() {
	awk -v t="$begin" '$1 + 0 >= t + 0' "$T/log/lines" | grep -qE -- "$1"
}

# --- acts ---------------------------------------------------------------------------

probe_arrived() {
	suite_again >&2
	if [ -n "$LEDGER" ]; then
		grep -q "\"effect\":\"start\",\"jobId\":$1," "$LEDGER"
	else
		grep -q " $1 " "$T/arrivals"
	fi
}

# perform NAME: unless YEAR_SKIP names the act (seen.sh)
perform() {
	case " ${YEAR_SKIP:-} " in
	*" $1 "*) echo "skipped: $1" ;;
	*) "act_$1" ;;
	esac
}

# act NAME: performs it, and waits until a job that began after it has arrived
act() {
	local name=$1 begin back probe status=0
	expected_of "$name" >/dev/null || broken "no line for $part $name in tests/year/expected"
	state_before "$name"
	begin=$(now)
	say "$name"
	perform "$name" >>"$T/log/acts" 2>&1 || status=$?
	back=$(now)
	probe=$(batch labalice "sleep 2" -p big -n1 --mem=1 -J "after-$name" 2>>"$T/log/acts")
	was_performed "$name" $((${back%.*} - ${begin%.*})) || status=1
	[ "$status" = 0 ] || is "$name was performed" false
	# the verdict on it is the judge's
	wait_for $((2 * LIMIT + 10)) probe_arrived "${probe:-none}" || say "$name: no start arrives"
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$(expected_of "$name")" "$begin" "$back" "${probe:-0}" >>"$T/acts"
}

# fetched: apt-get finds what tests/year/fetch downloaded into $FETCHED
fetched() {
	cp -a "$FETCHED"/sources.list* /etc/apt/ &&
	    cp -a "$FETCHED/lists/." /var/lib/apt/lists/ &&
	    cp -a "$FETCHED/archives/." /var/cache/apt/archives/
}
install_fetched() {
	# shellcheck disable=SC2046	# a list of names
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends --no-download \
	    -o Dpkg::Options::=--force-confold install $(cat "$FETCHED/packages")
}

# until the run is known to Slurm's state files, or a kill makes it run again
state_saved() {
	: >"$T/mark"
	wait_for 30 test "$T/slurm/state/job_state" -nt "$T/mark"
}

for file in "$here"/acts_*.sh "$here/seen.sh"; do
	# shellcheck source=/dev/null
	. "$file"
done

# --- the end ------------------------------------------------------------------------

end_of_load() {
	local d u
	rm -f "$T/loading"
	wait "$loader"
	for d in munged mariadbd slurmdbd slurmctld; do
		lab ctl resume $d
		lab ctl start $d
	done >>"$T/log/acts" 2>&1
	for u in labalice labbob labcarol; do scancel -t PD -u $u; done
	squeue -h -a -r -t S -o %A | xargs -r -n1 scontrol resume
	wait_for 60 queue_empty || for u in labalice labbob labcarol; do scancel -u $u; done
	wait_for 60 queue_empty || say "Slurm's queue does not empty: $(squeue -h -a | head -n 3)"
}

judge() {
	local options=(--limit "$LIMIT" --commit "$COMMIT" --topology "$TOPOLOGY" --gpus "$T/etc/config.json")
	[ -z "$LEDGER" ] || options+=(--ledger "$LEDGER")
	[ -z "${STREAM:-}" ] || options+=(--stream "$STREAM")
	ctl -j queue --rejected >"$T/rejected.json" 2>>"$T/log/acts"
	python3 "$here/year.py" judge "$T" "$BACKEND" "$TOKEN" --part "$part" --user "$user" \
	    --rejected "$T/rejected.json" --wait "$JUDGE_WAIT" --out "$RESULT" "${options[@]}"
}

all_acts() {
	awk -v p="$part" '$1 == p { print $2 }' "$here/expected"
}

each_act() {
	local name
	for name in ${YEAR_ACTS:-$(all_acts)}; do
		act "$name"
	done
}

main() {
	declare -F "part_$part" >/dev/null || { echo "no part '$part'" >&2; exit 2; }
	test_begin "$part, as $user"
	write_adapter
	: >"$T/acts"
	"part_$part"	# the cluster and the suite of this part
	is "the sandbox of each process is enforced" wait_for 10 is_confined
	: >"$T/loading"
	load "$RANDOM" &
	loader=$!
	started_pids+=("$loader")
	sleep $((2 * POLL))
	"${all_of_it:-each_act}"
	printf 'end\t-\t%s\t%s\t0\n' "$(now)" "$(now)" >>"$T/acts"
	end_of_load
	is "as tests/year/expected says" judge
	test_end
}

# the cluster and the suite of most parts, with the stand-in unless the part
# has said which cc-backend
usual() {
	[ "$CLUSTERS" != 'alpha=*' ] || unset CC_BACKEND
	lab_up LAB_BIG=4 LAB_MINJOBAGE=60 "$@"
	# how runs ended of which slurmdbd lacks the record
	python3 "$SYS/expected.py" ends "$T/slurm" >>"$T/log/truth" 2>&1 &
	started_pids+=($!)
	backend_up
	[ -n "$LEDGER" ] || watch_backend
	conf slurmPollInterval="$POLL" slurmQueryDelay=1 ccPollInterval=15 slurmAccountingLag=120 \
	    "${more_conf[@]}"
	suite_start
	hooks_on
}

more_conf=()	# KEY=VALUE of this part

watch_backend() {
	[ -z "${watcher:-}" ] || kill "$watcher"
	: >>"$T/arrivals"
	python3 "$here/year.py" watch "$BACKEND" "$TOKEN" "$T/arrivals" >>"$T/log/watch" 2>&1 &
	watcher=$!
	started_pids+=("$watcher")
}

main
