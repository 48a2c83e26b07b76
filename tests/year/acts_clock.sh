# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on the wall clock of the whole machine: every program that starts on it
# is linked at run time with a library that adds what a file says.  Read by
# part.sh.
#
# shellcheck disable=SC2154,SC2317	# part.sh has the variables, calls these

# shellcheck source=tests/system/lib/clocks.sh
. "$SYS/clocks.sh"

part_clock() {
	wall=/usr/lib/walltime.shift
	[ -e "$wall" ] || clock_begin
	usual
}
# This shell and its children begin again with the library.
clock_begin() {
	command -v cc >/dev/null || skip "no compiler"
	cc -shared -fPIC -DWALLTIME_DEFAULT="\"$wall\"" -o /usr/lib/walltime_shift.so "$SYS/walltime_shift.c" ||
	    broken "walltime_shift.c"
	: >"$wall"
	step "$wall" 0
	echo /usr/lib/walltime_shift.so >/etc/ld.so.preload
	trap - EXIT
	exec bash "$here/part.sh" "$part" "$user"
}

ahead=0
# stepped SECONDS: the clock shows so much more than before
stepped() {
	local was
	was=$(date +%s)
	ahead=$((ahead + $1))
	step "$wall" "$ahead"
	[ $(($(date +%s) - was)) -ge $(($1 - 2)) ]
}
# Set back, slurmctld starts no job until its clock shows the time of before.
slurm_again() {
	daemon_again slurmdbd
	daemon_again slurmctld
	wait_for 60 nodes_well
}
act_clock-forward() {
	stepped 3600
	wait_for 60 nodes_well
}
act_clock-back() {
	stepped -30
	slurm_again
}
act_clock-hour-back() {
	stepped -3600
	slurm_again
}
# a second at a time, also back
act_clock-slewed() {
	local seconds
	for seconds in 1 1 -1 1 1; do
		stepped $seconds || return 1
		sleep "$POLL"
	done
}
