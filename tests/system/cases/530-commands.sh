#!/bin/bash
# SPDX-License-Identifier: MIT
# Slurm's commands gone mad, one at a time: printing for ever, never ending,
# deaf to TERM with children of their own, silent with status 0, slower than
# the interval, killed, not to be executed.  Nothing is ended by them, what
# they started is gone afterwards, memory stays, the rest of the work goes on.
# CSA_LONG=1: all six commands and more ways, in place of the two that are
# asked most.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "Slurm's commands gone mad"
lab_up
backend_up
bin=$T/bin
mkdir -p "$bin" "$T/how"
for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
	cat >"$bin/$c" <<-E
	#!/bin/bash
	how=\$(cat $T/how/$c 2>/dev/null)
	case \$how in
	endless) exec yes 1234567890 ;;
	never) sleep 3000 & wait ;;
	deaf) trap '' TERM INT HUP; sleep 3000 & while :; do sleep 3001; done ;;
	silent) exit 0 ;;
	half) $(command -v $c) "\$@" | head -c 60; exit 0 ;;
	slow) sleep 3 ;;
	fails) echo "slurm_load_jobs error: Unexpected message received" >&2; exit 1 ;;
	esac
	exec $(command -v $c) "\$@"
	E
	chmod 755 "$bin/$c"
done
conf "slurmBinDir=$bin" "slurmExtraPaths=[\"$T/how\"]" slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
prompt() { limited 2 "$CTL" -s "$T/run/ctl.sock" queue >/dev/null; }
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
rss() { awk '/^VmHWM/ { print $2 }' "/proc/$(worker_pid collector)/status"; }
left() { pgrep -f '^sleep 300[01]$|^yes 1234567890$' | wc -l; }
none_left() { [ "$(left)" = 0 ]; }
one labalice 600 -n2 -J stays
stays=$mix_id
one labbob 600 -p gpu -n1 --gres=gpu:1 -J stays
wait_for 20 backend_has "$mix_id"
wait_for 20 backend_has "$stays"
pids=$(suite_pids)
commands=(squeue sacct)
ways=(silent endless)
stuck=(squeue)
if [ -n "${CSA_LONG:-}" ]; then
	commands+=(scontrol sacctmgr sinfo sdiag)
	ways+=(half fails)
	stuck=("${commands[@]}")	# sacct may take two minutes
fi
for c in "${commands[@]}"; do
	for how in "${ways[@]}"; do
		echo "$how" >"$T/how/$c"
		one labalice 1 -n1 -J "$c $how"
		sleep 7
		is "$c $how: no job that runs is ended" not backend_has_ended "$stays"
		rm "$T/how/$c"
		is "   well again: all arrives" wait_for 60 backend_has_ended "$mix_id"
	done
done
kb=$(rss)
is "the collector's memory stayed small ($((kb / 1024)) MiB)" [ "$kb" -lt 65536 ]
for c in "${stuck[@]}"; do
	for how in never deaf; do
		echo "$how" >"$T/how/$c"
		sleep 3
		is "$c $how: status answers" prompt
		n=$(left)
		is "   one of it at a time ($n)" [ "$n" -le 3 ]
		rm "$T/how/$c"
	done
done
one labbob 1 -n1 -J "after what hung"
is "after their deadlines all arrives" wait_for 200 backend_has_ended "$mix_id"
is "and nothing they started is left" wait_for 150 none_left
is "nobody was ended by it" not backend_has_ended "$stays"
echo slow >"$T/how/squeue"
echo slow >"$T/how/scontrol"
one labalice 8 -n1 -J "with a cycle longer than the interval"
is "a cycle longer than the interval: a job arrives" wait_for 40 backend_has "$mix_id"
rm -f "$T"/how/*
is "no process was restarted" [ "$(suite_pids)" = "$pids" ]
t0=$SECONDS
echo deaf >"$T/how/squeue"
sleep 2
is "TERM ends the suite while a command is deaf" suite_down 6
is "with what it had started" wait_for 3 none_left
say "after $((SECONDS - t0 - 2)) s"
rm -f "$T"/how/*
suite_up
scancel -u labalice -u labbob
scancel "$stays"
scancel -n stays
wait_for 30 queue_empty
is "all as Slurm says" compare --short 12 --wait 90 --expect "$mix_count"
test_end
