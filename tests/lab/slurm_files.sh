# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The files of lab/slurm's cluster: slurm.conf, slurmdbd.conf, gres.conf, the
# hooks, env.sh.  Read by lab/slurm, whose variables it uses: dir, port, host,
# share, cluster, backup, big, bigcpus, mixed, release, and LAB_* of the
# environment.
#
# shellcheck disable=SC2154	# they are set there

write_slurmdbd_conf() {
	cat >"$dir/etc/slurmdbd.conf" <<-E
	AuthType=auth/munge
	AuthInfo=socket=$dir/munge/socket
	DbdHost=localhost
	DbdAddr=127.0.0.1
	DbdPort=$((port + 1))
	CommunicationParameters=NoInAddrAny
	SlurmUser=slurm
	DebugLevel=info
	LogFile=$dir/log/slurmdbd.log
	PidFile=$dir/run/slurmdbd.pid
	StorageType=accounting_storage/mysql
	StorageHost=127.0.0.1
	StoragePort=$((port + 2))
	StorageUser=slurm
	StoragePass=slurm
	StorageLoc=slurm_acct
	${LAB_PRIVATE:+PrivateData=$LAB_PRIVATE}
	E
	chown slurm: "$dir/etc/slurmdbd.conf"
	chmod 600 "$dir/etc/slurmdbd.conf"
}

node_line() {	# NAME PORTOFFSET SOCKETS CORES THREADS MEMORY [MORE]
	echo "NodeName=$1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + $2))" \
	    "Sockets=$3 CoresPerSocket=$4 ThreadsPerCore=$5 RealMemory=$6 ${7:-}"
}

write_nodes() {
	local i last
	node_line n1 11 2 4 2 64000
	node_line n2 12 2 4 2 64000
	node_line n3 13 2 4 2 64000 Gres=gpu:a100:4
	node_line n4 14 2 4 2 64000 "Gres=$(gpus_of_n4)"
	if [ -n "$mixed" ]; then
		node_line n5 15 2 4 2 64000 Gres=gpu:a100_1g.5gb:4
		node_line n6 16 2 4 2 64000 Gres=dcu:z100:4
		node_line n7 17 2 4 2 64000
		node_line n8 18 2 4 2 64000 Gres=gpu:a100:4
	fi
	for ((i = 1; i <= big; i++)); do
		node_line "$(printf 'big%02d' "$i")" $((20 + i)) 2 $((bigcpus / 2)) 1 900000
	done
	echo "PartitionName=main Nodes=n[1-4] Default=YES MaxTime=1-0 DefaultTime=10"
	echo "PartitionName=gpu Nodes=n[3-4] MaxTime=UNLIMITED DefaultTime=10"
	echo "PartitionName=share Nodes=n[1-2] MaxTime=UNLIMITED DefaultTime=10 OverSubscribe=YES:4"
	echo "PartitionName=whole Nodes=n[1-4] MaxTime=UNLIMITED DefaultTime=10 OverSubscribe=EXCLUSIVE"
	last=$(printf '%02d' "$big")
	[ "$big" = 0 ] || echo "PartitionName=big Nodes=big[01-$last] MaxTime=UNLIMITED DefaultTime=60"
}

# Mixed: two types on one node, and devices that can be shared; 22.05 has
# shards, before there is MPS alone.
gpus_of_n4() {
	if [ -n "$mixed" ]; then
		echo "gpu:a100:2,gpu:mi-250x:2,$(share_name):$share_count"
	else
		echo "gpu:a100:4"
	fi
}

share_name() {
	case $release in
	19.* | 20.* | 21.*) echo mps ;;
	*) echo shard ;;
	esac
}
share_count=400		# Slurm wants MPS in hundreds a device

write_gres_conf() {
	local i
	echo "NodeName=n3 Name=gpu Type=a100 File=$dir/dev/gpu[0-3]"
	if [ -z "$mixed" ]; then
		echo "NodeName=n4 Name=gpu Type=a100 File=$dir/dev/gpu[0-3]"
		return
	fi
	echo "NodeName=n4 Name=gpu Type=a100 File=$dir/dev/gpu[0-1]"
	echo "NodeName=n4 Name=gpu Type=mi-250x File=$dir/dev/gpu[2-3]"
	echo "NodeName=n4 Name=$(share_name) Count=$share_count"
	for i in 0 1 2 3; do
		mig_line "$i"
	done
	echo "NodeName=n6 Name=dcu Type=z100 File=$dir/dev/gpu[0-3]"
	echo "NodeName=n8 Name=gpu Type=a100 File=$dir/dev/gpu[0-3]"
}

# A part of a GPU is several files; 21.08 learned to take them as one device.
mig_line() {
	local files="MultipleFiles=$dir/dev/part$1,$dir/dev/cap$1"
	case $release in
	19.* | 20.*) files="File=$dir/dev/part$1" ;;
	esac
	echo "NodeName=n5 Name=gpu Type=a100_1g.5gb $files"
}

# What slurmdbd keeps of a job's texts; 21.08 renamed the key.
store_flags() {
	case $release in
	19.* | 20.*) echo "AccountingStoreJobComment=YES" ;;
	*) echo "AccountingStoreFlags=job_script,job_comment" ;;
	esac
}

# No plugin here uses cgroups; these start where systemd is not.
cgroup_plugin() {
	case $release in
	19.* | 20.*) ;;
	21.* | 22.*) echo "CgroupPlugin=cgroup/v1" ;;
	*) echo "CgroupPlugin=disabled" ;;
	esac
}

accounting() {
	if [ -n "${LAB_NODBD:-}" ]; then
		echo "AccountingStorageType=accounting_storage/none"
		return
	fi
	cat <<-E
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=127.0.0.1
	AccountingStoragePort=$((${share_port:-$port} + 1))
	AccountingStoragePass=$share/munge/socket
	AccountingStorageTRES=gres/gpu,gres/gpu:a100${mixed:+,gres/gpu:mi-250x,gres/gpu:a100_1g.5gb,gres/dcu,gres/$(share_name)}
	$(store_flags)
	E
}

write_slurm_conf() {
	cat >"$SLURM_CONF" <<-E
	ClusterName=$cluster
	SlurmctldHost=$host(127.0.0.1)
	${backup:+SlurmctldHost=$backup(127.0.0.2)}
	SlurmctldPort=$port
	SlurmUser=slurm
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$share/munge/socket
	CredType=cred/munge
	CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
	StateSaveLocation=$dir/state
	SlurmdSpoolDir=$dir/spool/%n
	SlurmctldPidFile=$dir/run/slurmctld.pid
	SlurmdPidFile=$dir/run/slurmd.%n.pid
	SlurmctldLogFile=$dir/log/slurmctld.log
	SlurmdLogFile=$dir/log/slurmd.%n.log
	SlurmctldDebug=${LAB_CTLD_DEBUG:-info}
	SlurmdDebug=info
	SlurmctldTimeout=${LAB_CTLD_TIMEOUT:-30}
	SlurmdTimeout=60
	ReturnToService=2
	KillWait=2
	MinJobAge=${LAB_MINJOBAGE:-300}
	MaxJobCount=60000
	MaxArraySize=20001
	SlurmdParameters=config_overrides
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SwitchType=switch/none
	MpiDefault=none
	JobAcctGatherType=jobacct_gather/none
	JobCompType=jobcomp/none
	$(accounting)
	SchedulerType=sched/backfill
	SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,bf_interval=2,default_queue_depth=2000,requeue_delay=1
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	PriorityType=priority/basic
	PreemptMode=OFF
	GresTypes=gpu${mixed:+,dcu,$(share_name)}
	${LAB_PRIVATE:+PrivateData=$LAB_PRIVATE}
	${LAB_CONF:-}
	E
	if [ -z "${LAB_NOHOOKS:-}" ]; then
		echo "PrologSlurmctld=$dir/etc/prolog"
		echo "EpilogSlurmctld=$dir/etc/epilog"
	fi >>"$SLURM_CONF"
	write_nodes >>"$SLURM_CONF"
	write_gres_conf >"$dir/etc/gres.conf"
	cgroup_plugin >"$dir/etc/cgroup.conf"
}

# The hooks call whatever `lab/slurm hook` has put into DIR/hook, and note
# when, for how long, and with which exit status, in DIR/truth/hooks.
write_hooks() {
	local kind truth
	for kind in prolog epilog; do
		truth=
		[ $kind = prolog ] && [ -n "${LAB_TRUTH:-}" ] &&
		    truth="SLURM_TIME_FORMAT=%s TZ=UTC flock $dir/truth/lock scontrol show job -d -o \"\$SLURM_JOB_ID\" >>$dir/truth/prolog 2>/dev/null"
		cat >"$dir/etc/$kind" <<-E
		#!/bin/bash
		export SLURM_CONF=$SLURM_CONF
		$truth
		[ -s $dir/hook ] || exit 0
		a=\${EPOCHREALTIME/[.,]/}
		. $dir/hook
		rc=\$?
		b=\${EPOCHREALTIME/[.,]/}
		echo "\$a $kind \$SLURM_JOB_ID rc=\$rc us=\$((b - a))" >>$dir/truth/hooks
		exit 0
		E
		chmod 755 "$dir/etc/$kind"
	done
}

write_env() {
	cat >"$dir/env.sh" <<-E
	export SLURM_CONF=$SLURM_CONF
	export LAB_BACKUP=$backup
	export LAB_DIR=$dir LAB_PORT=$port LAB_CLUSTER=$cluster LAB_BIG=$big LAB_MIXED=$mixed
	E
}
