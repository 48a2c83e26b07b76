# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on Slurm: its configuration, nodes, daemons, accounting; a primary and a
# backup slurmctld.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2016,SC2034	# part.sh has and reads the variables, calls these; $a of sed

# with_conf SED-SCRIPT: a new slurm.conf takes the place of the old one
with_conf() {
	cp -p "$SLURM_CONF" "$SLURM_CONF.new"
	sed -i "$1" "$SLURM_CONF.new"
	mv -f "$SLURM_CONF.new" "$SLURM_CONF"
}
daemon_again() {
	lab ctl stop "$1"
	"${2:-true}"
	lab ctl start "$1"
}
nodes_well() { ! sinfo -h -N -o %T | grep -qE 'down|unk|\*'; }

part_slurm() {
	usual
	with_include
}
# an include beside slurm.conf, as sites have it
with_include() {
	echo "PartitionName=extra Nodes=n[1-2] MaxTime=60 DefaultTime=10" >"$T/slurm/etc/partitions.conf"
	with_conf '$a Include '"$T/slurm/etc/partitions.conf"
	scontrol reconfigure
}

act_reconfigure() {
	with_conf 's/^SlurmctldDebug=.*/SlurmctldDebug=verbose/'
	scontrol reconfigure
}
act_include-replaced() {
	sed 's/MaxTime=60/MaxTime=120/' "$T/slurm/etc/partitions.conf" >"$T/slurm/etc/partitions.conf.new"
	mv -f "$T/slurm/etc/partitions.conf.new" "$T/slurm/etc/partitions.conf"
	scontrol reconfigure
}
act_include-added() {
	mkdir -p "$T/slurm/etc/more"
	echo "PartitionName=more Nodes=n[1-2] MaxTime=60 DefaultTime=10" >"$T/slurm/etc/more/more.conf"
	with_conf '$a Include '"$T/slurm/etc/more/more.conf"
	scontrol reconfigure
	batch labalice "sleep 3" -p more -n1
}
act_include-moved() {
	mv "$T/slurm/etc/more" "$T/slurm/etc/moved"
	with_conf "s|etc/more/more.conf|etc/moved/more.conf|"
	scontrol reconfigure
}
act_gres-conf() {
	cp -p "$T/slurm/etc/gres.conf" "$T/slurm/etc/gres.conf.new"
	echo "# changed" >>"$T/slurm/etc/gres.conf.new"
	mv -f "$T/slurm/etc/gres.conf.new" "$T/slurm/etc/gres.conf"
	scontrol reconfigure
}
# a typing error: no command works, also none of the suite; Slurm's daemons go on
act_conf-broken() {
	local status=0
	with_conf '$a NoSuchKey=1'
	# within a minute of another outage the warning is left out
	wait_for 40 said 'slurmctld(:| does not answer:) .*NoSuchKey' || status=1
	away
	with_conf '/^NoSuchKey=/d'
	return $status
}
act_partition() {
	scontrol create partitionname=live nodes=n1 maxtime=60 state=up
	batch labalice "sleep 2" -p live -n1 --wait
	scontrol delete partitionname=live
}

part_nodes() { usual; }

act_node-added() {
	local line
	line=$(grep '^NodeName=n2 ' "$SLURM_CONF" | sed "s/NodeName=n2 /NodeName=n5 /; s/Port=[0-9]*/Port=$((LAB_PORT + 15))/")
	with_conf '/^NodeName=n4 /a '"$line"
	with_conf 's/^PartitionName=main Nodes=n\[1-4\]/PartitionName=main Nodes=n[1-5]/'
	mkdir -p "$T/slurm/spool/n5"
	daemon_again slurmctld
	slurmd -N n5 -f "$SLURM_CONF" </dev/null >>"$T/slurm/log/slurmd.n5.out" 2>&1
	node_is_up() { sinfo -h -n n5 -o %T | grep -qE 'idle|mixed|alloc'; }
	wait_for 40 node_is_up
	batch labbob "sleep 4" -w n5 -n2
}
act_node-removed() {
	scontrol update nodename=n5 state=drain reason=leaves
	node_is_idle() { [ -z "$(squeue -h -w n5 -o %A)" ]; }
	wait_for 40 node_is_idle
	kill "$(cat "$T/slurm/run/slurmd.n5.pid")"
	with_conf '/^NodeName=n5 /d; s/^PartitionName=main Nodes=n\[1-5\]/PartitionName=main Nodes=n[1-4]/'
	daemon_again slurmctld
}
node_drains() { scontrol show node n2 | grep -q 'State=.*DRAIN'; }
act_node-state() {
	scontrol update nodename=n2 state=drain reason=disk
	sleep "$POLL"
	# slurmctld has taken the node back already if its slurmd registered
	scontrol update nodename=n2 state=undrain || ! node_drains
}

part_shapes() { usual; }

# emptied NODE: no job runs on it, and none begins
emptied() {
	local node=$1
	scontrol update nodename="$node" state=drain reason=changes
	node_is_empty() { [ -z "$(squeue -h -t R,CG,CF -w "$node" -o %A)" ]; }
	wait_for 60 node_is_empty
}
# fresh NODE: its slurmd starts with the slurm.conf of now
fresh() {
	mkdir -p "$T/slurm/spool/$1"
	slurmd -N "$1" -f "$SLURM_CONF" </dev/null >>"$T/slurm/log/slurmd.$1.out" 2>&1
	scontrol update nodename="$1" state=resume
	wait_for 40 nodes_well
}
# half of the cores are taken out
act_node-reshaped() {
	emptied big04 || return 1
	lab ctl stop slurmd:big04
	with_conf '/^NodeName=big04 /s/CoresPerSocket=1024/CoresPerSocket=512/'
	daemon_again slurmctld
	fresh big04
	batch labbob "sleep 4" -w big04 -p big -n2 --mem=1
}
act_node-renamed() {
	emptied big04 || return 1
	lab ctl stop slurmd:big04
	with_conf 's/^NodeName=big04 /NodeName=big05 /; s/^\(PartitionName=big Nodes=\)big\[01-04\]/\1big[01-03,05]/'
	daemon_again slurmctld
	fresh big05
	batch labbob "sleep 4" -w big05 -p big -n2 --mem=1
	# lab/slurm ends big04
	ln -s slurmd.big05.pid "$T/slurm/run/slurmd.big04.pid"
}
act_topology() {
	echo 'SwitchName=s0 Nodes=n[1-4],big[01-03,05]' >"$T/slurm/etc/topology.conf"
	with_conf '$a TopologyPlugin=topology/tree'
	daemon_again slurmctld
	wait_for 40 nodes_well
}
# another tree of switches, without a restart
act_topology-changed() {
	printf '%s\n' 'SwitchName=leaf0 Nodes=n[1-4]' 'SwitchName=leaf1 Nodes=big[01-03,05]' \
	    'SwitchName=root Switches=leaf[0-1]' >"$T/slurm/etc/topology.conf.new"
	mv -f "$T/slurm/etc/topology.conf.new" "$T/slurm/etc/topology.conf"
	scontrol reconfigure
}
has_switch() { scontrol show topology | grep -q 'SwitchName=leaf1 .*Nodes=big'; }
seen_topology-changed() { wait_for 20 has_switch; }

# --- daemons ---------------------------------------------------------------------

part_daemons() { usual LAB_CTLD_DEBUG=verbose; }

act_slurmctld-restarted() { daemon_again slurmctld; }
# slurmctld kills its prolog when it ends, and runs it again when it is back
act_prolog-interrupted() {
	local id
	lab hook "sleep 3; $ADAPTER -config $T/etc/config.json -socket $T/run/daemon.sock"
	id=$(batch labbob "sleep 6" -p big -n1 --mem=1) && wait_for 20 job_state_is "$id" CONFIGURING &&
	    daemon_again slurmctld
	hooks_on
	wait_for 40 job_state_is "$id" RUNNING
}
act_slurmctld-killed() {
	state_saved
	lab ctl kill slurmctld
	lab ctl start slurmctld
}
act_slurmctld-away() { daemon_again slurmctld away; }
act_slurmctld-stopped() {
	lab ctl pause slurmctld
	away
	lab ctl resume slurmctld
}
away() { sleep "$AWAY"; }
act_slurmdbd-restarted() { daemon_again slurmdbd; }
act_slurmdbd-away() { daemon_again slurmdbd away; }
act_slurmdbd-stopped() {
	lab ctl pause slurmdbd
	away
	lab ctl resume slurmdbd
}
act_mariadb-restarted() { daemon_again mariadbd; }
act_mariadb-away() { daemon_again mariadbd away; }
# slow DAEMON: it works a quarter of the time
slow() {
	local end=$((SECONDS + AWAY))
	while [ $SECONDS -lt $end ]; do
		lab ctl pause "$1"
		sleep 1.5
		lab ctl resume "$1"
		sleep 0.5
	done
}
act_slurmdbd-slow() { slow slurmdbd; }
act_mariadb-slow() { slow mariadbd; }
act_slurmctld-moved() {
	lab ctl stop slurmctld
	# without its flag slurmctld listens at each address of the host
	with_conf 's/^SlurmctldHost=\(.*\)(127.0.0.1)/SlurmctldHost=\1(127.0.0.3)/; s/,NoCtldInAddrAny//'
	lab ctl start slurmctld
	# slurmd reads the address when it starts
	lab ctl stop slurmd
	lab ctl start slurmd
	wait_for 40 nodes_well
}
act_munge-restarted() { daemon_again munged; }
# The host of slurmctld, of the database and of the suite is restarted; the nodes
# work.  /run is empty, and the suite is the first that is up.
act_host-rebooted() {
	local daemon
	suite_down 10
	for daemon in slurmctld slurmdbd mariadbd munged; do
		lab ctl stop $daemon
	done
	rm -rf "${T:?}/run"
	away
	suite_start
	sleep $((3 * POLL))
	for daemon in munged mariadbd slurmdbd slurmctld; do
		lab ctl start $daemon
	done
	wait_for 40 nodes_well
}
# every daemon that keeps credentials is started again with the new key
act_munge-key() {
	lab ctl stop slurmctld
	lab ctl stop slurmdbd
	lab ctl stop slurmd
	lab ctl stop munged
	dd if=/dev/urandom of="$T/slurm/munge/key.new" bs=128 count=1 status=none
	chown munge: "$T/slurm/munge/key.new"
	chmod 400 "$T/slurm/munge/key.new"
	mv -f "$T/slurm/munge/key.new" "$T/slurm/munge/key"
	lab ctl start munged
	lab ctl start slurmdbd
	lab ctl start slurmctld
	lab ctl start slurmd
	wait_for 30 nodes_well
}

# Without its jobs slurmctld counts ids from 1 again: cc-backend refuses an id
# within a day.
part_cold() { usual LAB_CTLD_DEBUG=verbose; }
# What slurmctld has not told slurmdbd yet goes with its state.
accounting_saved() {
	told() { sdiag | grep -q 'DBD Agent queue size: 0$'; }
	wait_for 30 told
}
act_cold-start() {
	accounting_saved
	lab ctl kill slurmctld
	rm -rf "${T:?}"/slurm/state/*
	LAB_COLD=1 lab ctl start slurmctld
	wait_for 30 nodes_well
	# ids that are in cc-backend are not used again before those behind them
	with_conf '$a FirstJobId=50000'
	daemon_again slurmctld
}
act_old-id() {
	with_conf '/^FirstJobId=/d'
	with_conf '$a FirstJobId=2\nMaxJobId=12'
	accounting_saved
	lab ctl kill slurmctld
	rm -rf "${T:?}"/slurm/state/*
	LAB_COLD=1 lab ctl start slurmctld
	wait_for 30 nodes_well
}

# --- accounting -----------------------------------------------------------------

part_accounting() { usual; }

act_account-added() {
	sacctmgr -i add account proj3 Description=three Organization=lab cluster=alpha
	sacctmgr -i add user labalice account=proj3 cluster=alpha
	in_account() { batch labalice "sleep 3" -A proj3 -p big -n1 --mem=1; }
	wait_for 20 in_account
}
act_account-renamed() {
	# Slurm has no rename: another account takes over, the old one goes
	sacctmgr -i add account proj4 Description=four Organization=lab cluster=alpha
	sacctmgr -i add user labalice account=proj4 cluster=alpha
	sacctmgr -i modify user labalice set DefaultAccount=proj4
}
account_unused() { [ -z "$(squeue -h -A proj3 -o %A)" ]; }
act_account-removed() {
	wait_for 40 account_unused
	sacctmgr -i delete user labalice account=proj3 cluster=alpha
	sacctmgr -i delete account proj3 cluster=alpha
}
act_qos() {
	sacctmgr -i add qos special priority=10
	sacctmgr -i modify user labbob set qos+=special
	with_qos() { batch labbob "sleep 3" --qos=special -p big -n1 --mem=1; }
	wait_for 20 with_qos
}
act_qos-removed() {
	qos_unused() { ! squeue -h -a -o %q | grep -qx special; }
	wait_for 60 qos_unused
	sacctmgr -i modify user labbob set qos-=special
	sacctmgr -i delete qos special
}
act_limits() { sacctmgr -i modify user labbob set MaxJobs=20; }
act_user-moved() {
	sacctmgr -i add user labbob account=proj4 cluster=alpha
	sacctmgr -i modify user labbob set DefaultAccount=proj4
}
# The right that the suite needs goes and comes back.
act_operator-right() {
	sacctmgr -i modify user laboper set AdminLevel=None
	sleep "$AWAY"
	sacctmgr -i modify user laboper set AdminLevel=Operator
}

# --- a primary and a backup slurmctld -----------------------------------------------

# Slurm's commands wait for a stopped primary as long as MessageTimeout says.
part_failover() { usual LAB_BACKUP=labbackup LAB_CTLD_TIMEOUT=5 LAB_CONF=MessageTimeout=3 LAB_CTLD_DEBUG=verbose; }

backup_serves() { timeout 20 squeue -h >/dev/null; }
act_primary-killed() {
	state_saved
	lab ctl kill slurmctld
	wait_for 60 backup_serves
}
primary_serves() { scontrol ping | grep -E 'rimary' | grep -q 'is UP'; }
act_primary-back() {
	lab ctl start slurmctld
	wait_for 30 primary_serves
	wait_for 30 backup_serves
}
# Slurm's commands ask a stopped primary first and fail, also when the backup
# serves.  Continued, the primary serves beside the backup for a moment, and
# both start the same jobs.
act_primary-stopped() {
	lab ctl pause slurmctld
	away
	lab ctl resume slurmctld
	wait_for 60 backup_serves
}
act_backup-killed() { lab ctl kill backup; }
act_takeover() {
	lab ctl start backup
	scontrol takeover
	wait_for 60 backup_serves
}

# --- a suite beside each controller -------------------------------------------------

part_both() {
	more_conf=(activeOnly=true)
	usual LAB_BACKUP=labbackup LAB_CTLD_TIMEOUT=5 LAB_CONF=MessageTimeout=3 LAB_CTLD_DEBUG=verbose
	other=$T/other
	other_start
	# each controller's hooks call the suite on its host
	# shellcheck disable=SC2016	# of the hook's shell
	lab hook 'case $(hostname) in labbackup) d='"$other"' ;; *) d='"$T"' ;; esac
		'"$CSA_INST/sbin/cc-slurm-adapter"' -config $d/etc/config.json -socket $d/run/daemon.sock'
}
other_start() {
	local run=()
	[ "$user" = root ] || run=(setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups)
	mkdir -p "$other/etc" "$other/run" "$other/state"
	chmod 755 "$other" "$other/etc"
	sed "s|$T/run/|$other/run/|g; s|$T/state/|$other/state/|g" "$T/etc/config.json" >"$other/etc/config.json"
	chmod 600 "$other/etc/config.json"
	chown "$user" "$other/etc/config.json"
	chmod 750 "$other/run"
	chown "$user":slurm "$other/run"
	: >"$other/state/lastrun"
	chown laboper: "$other/state" "$other/state/lastrun"
	env -i PATH="$PATH" unshare --uts sh -c 'hostname labbackup; exec "$@"' sh "${run[@]}" \
	    "$CSA_INST/sbin/cc-slurm-adapter" -daemon -config "$other/etc/config.json" -debug 4 \
	    >"$T/log/suite.other" 2>&1 </dev/null &
	started_pids+=($!)
	other_stands_by() {
		"$CTL" -s "$other/run/ctl.sock" -j status | lib get - status submitter side | grep -q standby
	}
	wait_for 60 other_stands_by || broken "the suite beside the backup does not stand by"
	is "the suite beside the backup is confined" \
	    [ "$(grep -cE 'sandbox: .*seccomp' "$T/log/suite.other")" -ge 4 ]
}
