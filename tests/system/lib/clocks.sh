# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests whose clocks are not this machine's; needs lib.sh.  walltime_shift.c
# is preloaded by whoever shall see another time, which is set while they run.

# In a mount namespace of the test's own, for what is mounted below.
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

# slurm_shows: slurmctld's clock, epoch
slurm_shows() {
	SLURM_TIME_FORMAT=%s sdiag | sed -n 's/^sdiag output at .*(\([0-9]*\))$/\1/p'
}
