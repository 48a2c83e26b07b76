# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A load of jobs of all kinds on the lab's nodes, for tests/soak and tests/year.
# Needs lib.sh.  load SEED runs while the file $T/loading exists; $rate is the
# number of jobs per second.
#
# shellcheck disable=SC2154	# rate is set by the program that reads this file

# kinds of jobs, mostly short; arrays make many of one sbatch
submit() {
	local users=(labalice labbob labcarol) u n=$1 id
	u=${users[RANDOM % 3]}
	case $((RANDOM % 12)) in
	0 | 1) batch "$u" "sleep $((RANDOM % 4))" -p big -n1 --mem=1 -a "1-$n" ;;
	2) batch "$u" "sleep $((1 + RANDOM % 9))" -p big -n$((1 + RANDOM % 40)) --mem=1 -a "1-$((n / 2 + 1))" ;;
	3) batch "$u" "sleep $((RANDOM % 9))" -p gpu -n1 --gres=gpu:$((1 + RANDOM % 4)) ;;
	4) batch "$u" "sleep $((RANDOM % 9))" -p gpu -N2 -n3 --gres=gpu:a100:1 ;;
	5) batch "$u" "sleep $((RANDOM % 5)); exit $((RANDOM % 3))" -n$((1 + RANDOM % 16)) ;;
	6) batch "$u" "sleep $((RANDOM % 9))" -N$((1 + RANDOM % 3)) -n4 ;;
	7) batch "$u" "sleep $((RANDOM % 9))" -p whole -N1 ;;
	8) batch "$u" "sleep $((RANDOM % 9))" -p share -s -n2 -t UNLIMITED ;;
	9) scancel "$(batch "$u" "sleep 60" -p big -n2 --mem=1)" ;;
	10) batch "$u" "kill -9 \$\$" -p big -n1 --mem=1 -J 'a "name", with | and JobId=1' ;;
	11) id=$(batch "$u" "sleep 5" -p big -n2 --mem=1)
	    sleep 1
	    scontrol suspend "$id"
	    scontrol resume "$id" ;;
	esac >/dev/null 2>&1
}

load() {
	local waiting
	RANDOM=$1
	while [ -e "$T/loading" ]; do
		waiting=$(squeue -h -a -t PD -r -o %A 2>/dev/null | wc -l)
		[ "$waiting" -gt $((rate * 20)) ] || submit $((rate * 2))
		sleep 1
	done
}
