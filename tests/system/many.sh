# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A Slurm with more jobs than this machine could run: the commands of
# tests/bench/many.c, with a real one (lab_up) for the rest.  Needs lib.sh.

# What the collector is to find: its sandbox lets it run these six, no more.
many_up() {
	local c
	flock "$CSA_BUILD/config.status" make -s -C "$CSA_BUILD" tests/bench/many || broken "no many"
	mkdir -p "$T/bin"
	for c in many squeue sacct scontrol; do
		cp "$CSA_BUILD/tests/bench/many" "$T/bin/$c"
	done
	for c in sacctmgr sinfo sdiag; do
		cp "$(command -v $c)" "$T/bin/$c"
	done
	scontrol show config >"$T/bin/config.text"
	scontrol --all show node -o >"$T/bin/node.text"
	chmod 755 "$T/bin" "$T/bin"/*
}

# many_jobs WHEN RATE LIFE COUNT AGE: COUNT jobs, RATE a second from WHEN on,
# each runs LIFE seconds; slurmctld remembers it for AGE more
many_jobs() {
	echo "$*" >"$T/bin/jobs"
	chmod 644 "$T/bin/jobs"
}

# Its hooks, until all jobs have ended.
many_knock() { "$T/bin/many" "$T/run/daemon.sock"; }
