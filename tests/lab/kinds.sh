#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tests/lab/kinds.sh RESULT [KIND...] -- every kind of job on the Slurm
# of this machine (or of the chroot it runs in), through the whole suite; what
# the backend then has is held against what Slurm said (kinds.py) and written
# to the file RESULT.  Takes some 3 minutes.
# Needs CSA_INST and CSA_BUILD, as the system tests do.
#
# The kinds themselves are in kinds_jobs.sh.
#
# shellcheck disable=SC2317,SC2119	# called by name; helpers with options
set -u
result=$1
shift
only=("$@")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/system/lib/lib.sh
CLUSTERS='alpha=n[1-8]'
. "$here/../system/lib/lib.sh"
TOPOLOGY=${TOPOLOGY:-crossed}
S=${MATRIX_SLEEP:-8}		# seconds that a job of no special kind runs
AGE=${MATRIX_MINJOBAGE:-40}	# slurmctld forgets an ended job after these

# as lib.sh has it, but without reading lab/slurm each time
declare -A gids
as() {
	local user=$1
	shift
	[ -n "${gids[$user]:-}" ] || gids[$user]=$(id -g "$user")
	(cd "$T/slurm/out" && exec setpriv --reuid "$user" --regid "${gids[$user]}" --init-groups \
	    env HOME=/tmp USER="$user" LOGNAME="$user" "$@")
}

# --- what a kind says of its jobs -----------------------------------------------

declare -A id		# of the job with this label
kind=

# remember ID NAME SCRIPT [FLAG]: kinds.py reads it; a FLAG is never (may not
# arrive), late (nobody may have looked in time), noscript
remember() {
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$kind" "$1" "$(base64 -w0 <<<"$2")" \
	    "$(base64 -w0 <<<"$3")" "${4:-}" "$EPOCHSECONDS" >>"$T/kinds"
}

# job LABEL USER SCRIPT OPTION...: a batch job; its name is $name, else KIND;
# $flag as remember has it
name='' flag=''
job() {
	local label=$1 user=$2 script=$3 got
	shift 3
	[ -n "${named:-}" ] || name=$kind
	if ! got=$(batch "$user" "$script" -J "$name" "$@" 2>"$T/log/sbatch.$kind"); then
		say "$kind: sbatch $*: $(head -n 1 "$T/log/sbatch.$kind")"
		printf '%s\t0\t\t\tunsubmitted\t0\n' "$kind" >>"$T/kinds"
		return 1
	fi
	got=${got%%;*}
	id[$label]=$got
	remember "$got" "$name" "#!/bin/bash
$script" "$flag"
}

state_of() { squeue -h -a -t all -j "$1" -o %T 2>/dev/null | head -n 1; }
runs_now() { [ "$(state_of "$1")" = RUNNING ]; }
running() { wait_slow "${2:-120}" runs_now "$1" || say "$kind: job $1 does not run: $(state_of "$1")"; }
wait_slow() {
	local end=$((SECONDS + $(patience "$1")))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.8
	done
}
# seen by the suite: some seconds of running
settled() { running "$1" && sleep "${2:-4}"; }

# shellcheck source=tests/lab/kinds_jobs.sh
. "$here/kinds_jobs.sh"

scancel_all() {
	local u
	for u in labalice labbob labcarol; do
		scancel -u $u
	done
}

# --- the round -----------------------------------------------------------------------

PARALLEL=(exclusive other-cluster timed-out prolog-fails preempted node-fails requeued resized suspended
    cancelled limit-raised no-script reserved gpu-mixed held plain unequal shared gpu gpu-other
    array het fails-at-once one-second opted-out hostile)
ALONE=(while-down id-reused federation)

wanted() {
	local k
	[ ${#only[@]} -gt 0 ] || return 0
	for k in "${only[@]}"; do
		[ "$k" != "$1" ] || return 0
	done
	return 1
}

lab_for_kinds() {
	local port conf
	port=$(lib freeport 45)
	conf="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=low Nodes=n7 PriorityTier=1 DefaultTime=10
PartitionName=high Nodes=n7 PriorityTier=10 DefaultTime=10
PartitionName=mig Nodes=n5 DefaultTime=10
PartitionName=dcu Nodes=n6 DefaultTime=10
PartitionName=fail Nodes=n5,n8 DefaultTime=10
PartitionName=force Nodes=n[1-2] OverSubscribe=FORCE:2 DefaultTime=10"
	limited 120 env LAB_QUIET=1 LAB_TRUTH=1 LAB_BIG=0 LAB_GPUS=mixed LAB_MINJOBAGE="$AGE" LAB_CONF="$conf" \
	    "$LAB/slurm" up "$T/slurm" "$port" || broken "no Slurm"
	# shellcheck disable=SC1091	# written by lab/slurm
	. "$T/slurm/env.sh"
	python3 "$here/kinds.py" watch "$T/slurm" >"$T/log/truth" 2>&1 &
	started_pids+=($!)
}

# shellcheck disable=SC2120	# with options by hand
judge() {
	ctl -j queue --rejected >"$T/rejected.json" 2>"$T/log/rejected"
	python3 "$here/kinds.py" judge "$T" "$BACKEND" "$TOKEN" --topology "$TOPOLOGY" \
	    --version "$(slurmctld -V)" --out "$result" "$@"
}

test_begin "kinds of jobs: $(slurmctld -V)"
: >"$T/kinds"
lab_for_kinds
backend_up
a=00000000
conf ccPollInterval=10 slurmPollInterval=2 \
    gpuGresNames='["gpu","shard","mps","dcu"]' \
    "gpuPciAddrs={\"^n3\$\":[\"$a:00:00.0\",\"$a:01:00.0\",\"$a:02:00.0\",\"$a:03:00.0\"],
    \"^n4\$\":[\"$a:03:00.0\",\"$a:02:00.0\",\"$a:01:00.0\",\"$a:00:00.0\"],
    \"^n[58]\":[\"$a:01:00.0\",\"$a:03:00.0\",\"$a:00:00.0\",\"$a:02:00.0\"],
    \"n6\":{\"1\":\"$a:03:00.0\",\"0\":\"$a:02:00.0\",\"3\":\"$a:00:00.0\",\"2\":\"$a:01:00.0\"}}"
suite_up root
hooks_of_kinds
say "Slurm and the suite are up after $SECONDS s"
began=$SECONDS
is_function() { [ "$(type -t "$1")" = function ]; }
acts=()
# all at the same time; what wants whole nodes gets a little ahead
for kind in "${PARALLEL[@]}"; do
	wanted "$kind" || continue
	(
		trap - EXIT
		"kind_$kind"
		! is_function "act_$kind" || "act_$kind"
	) 2>>"$T/log/act" &
	acts+=($!)
	[ "$kind" != exclusive ] || wait_for 10 grep -q "^exclusive" "$T/kinds"
done
[ ${#acts[@]} -eq 0 ] || wait "${acts[@]}"
say "submitted, and done to them what was to be done, after $((SECONDS - began)) s"
# the one that waits for its time limit may go on
only_timed_out() { squeue -h -a -o %j >"$T/queue" 2>&1 && ! grep -vqx timed-out "$T/queue"; }
wait_slow 200 only_timed_out || { say "jobs that do not end:"; squeue -a; scancel_all; }
say "queue empty after $((SECONDS - began)) s"
for kind in "${ALONE[@]}"; do
	wanted "$kind" || continue
	"alone_$kind" 2>>"$T/log/act"
	say "$kind: $((SECONDS - began)) s"
done
wait_slow 200 queue_empty || { say "jobs that do not end:"; squeue -a; scancel_all; }
say "all done after $((SECONDS - began)) s"
end=$((SECONDS + $(patience "${MATRIX_WAIT:-60}")))
until judge >"$T/judged"; do
	[ $SECONDS -lt $end ] || { failures=$((failures + 1)); break; }
	sleep 2
done
cat "$T/judged"
say "judged after $((SECONDS - began)) s"
grep -E 'restart|died|killed by|signal' "$T"/log/suite.* | grep -v 'restarts worker' | head -n 5 >"$T/died"
[ ! -s "$T/died" ] || { say "the suite's log has:"; cut -c1-300 "$T/died"; failures=$((failures + 1)); }
test_end
