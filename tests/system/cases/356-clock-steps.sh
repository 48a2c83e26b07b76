#!/bin/bash
# SPDX-License-Identifier: MIT
# The wall clock is set forward and back by an hour, the suite's alone and then
# that of all of Slurm: no run is lost, doubled or wrong, and nothing waits for
# the hour to pass.  The clock of this machine stays as it is; see clocks.sh.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/clocks.sh"
own_mounts
test_begin "clocks that are set"
need_fake
ours=$T/step.ours slurms=$T/step.slurm
clock_new "$ours"
clock_new "$slurms"
suite_by "$ours"
is_slurms() {	# SECONDS: sdiag shows the clock so far ahead
	local t
	t=$(slurm_shows)
	[ $((t - $(date +%s) - $1)) -ge -5 ] && [ $((t - $(date +%s) - $1)) -le 5 ]
}
ours_is() {	# SECONDS: a process of the suite dates so, by what status says
	local t
	t=$(ctl -j status | lib get - status collector last_poll)
	t=$(date -d "$t" +%s)
	[ $((t - $(date +%s) - $1)) -ge -10 ] && [ $((t - $(date +%s) - $1)) -le 10 ]
}
lab_up LD_PRELOAD="$T/walltime_shift.so" WALLTIME_SHIFT="$slurms"
COMMIT=1
backend_up
conf slurmPollInterval=1 ccPollInterval=5 slurmQueryDelay=0 slurmAccountingLag=60
suite_up
hooks_on
all=0
# run NAME SECONDS [OPTION...]: a job of labbob's, in $job
run() {
	local name=$1 seconds=$2
	shift 2
	job=$(batch labbob "sleep $seconds" -n2 -J "$name" "$@") || broken "sbatch"
	all=$((all + 1))
}
right() { is "$1" compare --short 2 --wait 60 --expect $all --quiet; }
runs() { job_state_is "$1" RUNNING; }
compared() { grep -c 'compared with cc-backend' "$SUITE_LOG"; }
is_down() { ctl status -v | grep -qE '^ *backend +(down|coming back)'; }
compared_since() { [ "$(compared)" -gt "$1" ]; }

# Set back, slurmctld starts no job until its clock is where it was.
slurmctld_again() {
	lab ctl stop slurmctld
	by "$slurms" lab ctl start slurmctld
}

run "over all steps" 600 -t 1-0
long=$job
is "a run is there" wait_for 30 backend_has "$long"

# --- the suite's clock: forward, two hours back, and right again ------------------
for by in 3600 -3600; do
	run "before ours shows $by" 4
	wait_for 20 runs "$job"
	step "$ours" $by
	hooks_off
	run "found by poll" 3
	is "the suite's clock is $by s ahead" wait_for 10 ours_is $by
	wait_for 20 backend_has "$job"
	hooks_on
	run "told by its hook" 3
	# cc-backend goes and comes: the comparison is made again, not in an hour
	wait_for 20 backend_has "$job"
	fault '{"match":"*","action":"status","status":503,"count":-1}'
	is "(cc-backend is away)" wait_for 30 is_down
	n=$(compared)
	faults_off
	is "clock at $by: compared again soon" wait_for 30 compared_since "$n"
	# ended while nobody looked; slurmctld still knows its threads
	suite_down
	run "while the suite is down" 3
	wait_for 30 job_state_is "$job" COMPLETED
	suite_up
	right "clock at $by: all as Slurm says, with the threads of what was missed"
done
step "$ours" 0
is "no run is doubted" not logged 'but squeue shows it running'

# --- Slurm's clock, with the suite up and down ------------------------------------
# The last day is not asked again by itself.
conf ccPollInterval=3600
suite_down
suite_up
for by in -3600 0; do
	run "before Slurm's shows $by" 6 -t 1-0
	is "(it is there)" wait_for 30 backend_has "$job"
	hooks_off
	step "$slurms" $by
	slurmctld_again
	is "Slurm's clock is $by s ahead" wait_for 20 is_slurms $by
	run "found by poll, at $by" 3
	is "what no hook tells of arrives" wait_for 40 backend_has "$job"
	hooks_on
	run "told by its hook, at $by" 3
	is "so does what a hook tells of" wait_for 40 backend_has "$job"
	suite_down
	run "while the suite is down, at $by" 3
	wait_for 30 job_state_is "$job" COMPLETED
	suite_up
	is "and what ended while the suite was down" wait_for 40 backend_has_ended "$job"
	right "Slurm's clock at $by: all as Slurm says"
done
scancel "$long"
is "the long one ends" wait_for 40 backend_has_ended "$long"
right "and all is as Slurm says"
test_end
