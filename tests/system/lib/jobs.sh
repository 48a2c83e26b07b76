# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A mixture of jobs as a site has them, for the lab's nodes n1..n4.  Needs
# lib.sh.  mix SCALE submits 2 x SCALE jobs per hundred: mix 100 is 200 jobs.
# MIX_SLEEP sets the shortest run (seconds); runs are up to twice as long.
# MIX_TIMEOUTS=yes has some that run into their limit, which takes Slurm 90 s.

MIX_SLEEP=${MIX_SLEEP:-4}
mix_count=0	# runs, not jobs: what is cancelled before its start has none
mix_cancel=()

# one USER SECONDS OPTION...: a job that sleeps; counts it; its id in mix_id
one() {
	local user=$1 seconds=$2
	shift 2
	mix_id=$(batch "$user" "sleep $seconds" "$@") || broken "sbatch $*"
	mix_id=${mix_id%%;*}
	mix_count=$((mix_count + 1))
}

# share SCALE OF-100
share() { echo $(($1 * $2 / 100)); }

mix() {
	local scale=$1 i n s=$MIX_SLEEP users=(labalice labbob labcarol)
	n=$(share "$scale" 50)
	for ((i = 0; i < n; i++)); do
		one "${users[i % 3]}" $((s + i % (s + 1))) -n $((1 + i % 5)) -J "single-$i"
	done
	n=$(share "$scale" 25)
	for ((i = 0; i < n; i++)); do	# several nodes, not the same on each
		one labalice $((s + i % 3)) -N $((2 + i % 2)) -n $((5 + i % 4)) -t 0:05:00
	done
	n=$(share "$scale" 20)
	for ((i = 0; i < n; i++)); do
		one labbob $((s + i % 4)) -p share -s -n $((1 + i % 3)) -t UNLIMITED
	done
	n=$(share "$scale" 25)
	for ((i = 0; i < n; i++)); do
		case $((i % 4)) in
		0) one labalice "$s" -p gpu -n1 --gres=gpu:1 ;;
		1) one labbob "$s" -p gpu -n2 --gres=gpu:a100:2 ;;
		2) one labalice "$s" -p gpu -N2 -n3 --gres=gpu:a100:1 ;;
		3) one labbob "$s" -p gpu -n1 --gpus=3 ;;
		esac
	done
	n=$(share "$scale" 8)
	for ((i = 0; i < n; i++)); do
		case $((i % 2)) in
		0) one labalice "$s" -p whole -N1 ;;
		1) one labbob "$s" --exclusive=user -n1 ;;
		esac
	done
	n=$(share "$scale" 12)
	for ((i = 0; i < n; i++)); do
		batch labbob "sleep $s; exit 3" -n2 -J "fails-$i" >/dev/null
		mix_count=$((mix_count + 1))
	done
	n=$(share "$scale" 4)
	[ -n "${MIX_TIMEOUTS:-}" ] || n=0
	for ((i = 0; i < n; i++)); do
		one labalice 600 -n1 -t 1 -J "times-out"
	done
	n=$(share "$scale" 10)
	for ((i = 0; i < n; i++)); do
		one labbob 600 -n2 -J "is-cancelled"
		mix_cancel+=("$mix_id")
	done
	n=$(share "$scale" 4)
	for ((i = 0; i < n; i++)); do	# never starts, so it never arrives
		one labalice 10 -H -n1
		mix_count=$((mix_count - 1))
		scancel "$mix_id"
	done
	one labalice "$s" -n1 -J 'a "quoted" name, with: JobId=1 | NumCPUs=99'
	one labbob "$s" -n1 -J $'two\nlines\tand a tab'
	one labcarol "$s" -n1 -J 'grün-名前'
	n=$(share "$scale" 40)
	one labalice "$s" -n1 -a "1-$n%8" -J "array"
	mix_count=$((mix_count + n - 1))
}

# Cancels what is to be cancelled, once it has run for a moment.
mix_end() {
	local id
	for id in "${mix_cancel[@]}"; do
		wait_for 240 job_state_is "$id" RUNNING
		wait_for 10 backend_knows_or_long "$id"
		scancel "$id"
	done
	mix_cancel=()
}

# Some seconds of running, by Slurm's own count
backend_knows_or_long() {
	[ "$(squeue -h -j "$1" -o %M | tr -d :)" -ge 3 ]
}
