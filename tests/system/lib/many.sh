# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A Slurm with more jobs than this machine could run: the commands of
# tests/bench/many.c, with a real one (lab_up) for the rest, or without.  Needs
# lib.sh.

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

# many_alone: the same without any Slurm.  slurmUser is laboper.
many_alone() {
	local c
	flock "$CSA_BUILD/config.status" make -s -C "$CSA_BUILD" tests/bench/many || broken "no many"
	mkdir -p "$T/bin"
	for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
		cp "$CSA_BUILD/tests/bench/many" "$T/bin/$c"
	done
	cat >"$T/bin/config.text" <<-E
	ClusterName             = alpha
	SLURM_VERSION           = 22.05.8
	SlurmUser               = slurm(64030)
	MinJobAge               = 300 sec
	AccountingStorageType   = accounting_storage/slurmdbd
	E
	for c in 1 2 3 4; do
		echo "NodeName=n$c Arch=x86_64 CoresPerSocket=4 CPUTot=16 Gres=(null) RealMemory=64000 Sockets=2 Boards=1 State=MIXED ThreadsPerCore=2"
	done >"$T/bin/node.text"
	: >"$T/bin/slurm.conf"
	export SLURM_CONF=$T/bin/slurm.conf
	chmod -R a+rX "$T/bin"
}

# many_jobs WHEN RATE LIFE COUNT AGE [ID]: COUNT jobs, RATE a second from WHEN
# on, each runs LIFE seconds; slurmctld remembers it for AGE more; the first
# one's id, 100000 if not said
many_jobs() {
	echo "$*" >"$T/bin/jobs"
	chmod 644 "$T/bin/jobs"
}

# Its hooks, until all jobs have ended.
many_knock() { "$T/bin/many" "$T/run/daemon.sock"; }
