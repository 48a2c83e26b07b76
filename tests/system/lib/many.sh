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

# many_alone [NODES]: the same without any Slurm, with NODES nodes beside n1..n4.
# slurmUser is laboper.
many_alone() {
	local c nodes=${1:-0}
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
	# as long as a real line
	awk -v n="$nodes" 'BEGIN {
		for (i = 1; i <= n; i++)
			printf "NodeName=c%05d Arch=x86_64 CoresPerSocket=32  CPUAlloc=%d CPUEfctv=128 CPUTot=128 CPULoad=0.99 AvailableFeatures=gpu,smt ActiveFeatures=gpu,smt Gres=gpu:a100:4 GresDrain=N/A GresUsed=gpu:a100:4(IDX:0-3) NodeAddr=192.0.2.1 NodeHostName=c%05d Version=22.05.8 OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC RealMemory=512000 AllocMem=0 FreeMem=22010 Sockets=2 Boards=1 State=MIXED ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=main,excl,low  BootTime=2026-11-20T21:33:13 SlurmdStartTime=2026-11-20T22:05:28 LastBusyTime=2026-11-20T22:05:28 CfgTRES=cpu=128,mem=500G,billing=128,gres/gpu=4,gres/gpu:a100=4 AllocTRES=cpu=14,gres/gpu=4,gres/gpu:a100=4 CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n", i, i % 128 + 1, i
	}' >>"$T/bin/node.text"
	echo "$nodes" >"$T/bin/nodes"
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
