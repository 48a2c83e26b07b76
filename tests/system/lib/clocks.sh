# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests whose clocks are not this machine's; needs lib.sh.  A process that
# shows another time preloads walltime_shift.c or boottime_shift.c; the test sets
# the time while the process runs.

# Starts the test again in a mount namespace of its own, for the mounts below.
own_mounts() {
	[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare --mount --propagation private bash "$0"
}

# clock_new FILE: a clock that shows this machine's time
clock_new() {
	[ -e "$T/walltime_shift.so" ] ||
	    cc -shared -fPIC -o "$T/walltime_shift.so" "$SYS/walltime_shift.c" || skip "no compiler"
	: >"$1"
	step "$1" 0
}

# step FILE SECONDS: it shows so much more
step() {
	python3 -c 'import struct, sys
with open(sys.argv[1], "r+b") as f:
	f.write(struct.pack("=q", int(sys.argv[2])))' "$1" "$2"
}

# by FILE COMMAND...: a command that sees this clock
by() { LD_PRELOAD=$T/walltime_shift.so WALLTIME_SHIFT=$1 "${@:2}"; }

# suite_by FILE: so do the suite's workers, in the time zone of $TZ, by scripts
# in their places.  The supervisor dates nothing, and looks for them beside itself.
suite_by() {
	local w program
	mkdir -p "$T/bin"
	for w in listener collector runner submitter; do
		program=$CSA_INST/libexec/cc-slurm-adapter/$w
		if [ ! -e "$T/bin/$w" ]; then
			cp "$program" "$T/bin/$w"
			: >"$T/$w"
			chmod 755 "$T/$w"
			mount --bind "$T/$w" "$program" || skip "no bind mounts"
		fi
		cat >"$T/$w" <<-E
		#!/bin/bash
		export LD_PRELOAD=$T/walltime_shift.so WALLTIME_SHIFT=$1 TZ=$TZ
		exec -a $w $T/bin/$w "\$@"
		E
	done
}

# The boot clock of each submitter is from now on that of boottime_shift.c, by a
# script in the submitter's place.  later() sets it.  Needs own_mounts.
submitter_clock_new() {
	local submitter=$CSA_INST/libexec/cc-slurm-adapter/submitter
	: >"$T/ahead"
	later 0
	mkdir -p "$T/bin"
	cp "$submitter" "$T/bin/submitter"
	cc -shared -fPIC -o "$T/boottime_shift.so" "$SYS/boottime_shift.c" || skip "no compiler"
	cat >"$T/submitter" <<-E
	#!/bin/bash
	export LD_PRELOAD=$T/boottime_shift.so BOOTTIME_SHIFT=$T/ahead
	exec -a submitter $T/bin/submitter "\$@"
	E
	chmod 755 "$T/submitter"
	mount --bind "$T/submitter" "$submitter" || skip "no bind mounts"
}

# later SECONDS: the submitters' clock shows so much more than this machine's
later() { step "$T/ahead" "$1"; }

# slurm_shows: slurmctld's clock, epoch
slurm_shows() {
	SLURM_TIME_FORMAT=%s sdiag | sed -n 's/^sdiag output at .*(\([0-9]*\))$/\1/p'
}
