# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on a configless Slurm: slurmctld serves slurm.conf, slurmd keeps a copy,
# and Slurm's commands read that copy.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2016	# part.sh has the variables, calls these; $a of sed

part_configless() {
	usual
	# slurmd fetches the file with the munge of the system: its socket is not in it
	mkdir -p /run/munge
	ln -sfn "$T/slurm/munge/socket" /run/munge/munge.socket.2
}

copy=/run/slurm/conf/slurm.conf
lab_nodes() { sinfo -h -N -o %N | sort -u; }
# slurmd_with NODE OPTION...: not from the environment
slurmd_with() {
	env -u SLURM_CONF slurmd -N "$@" </dev/null >>"$T/slurm/log/slurmd.$1.out" 2>&1
}
# Each slurmd starts again; the jobs go on.
slurmds_with() {
	local node
	lab ctl stop slurmd
	for node in $(lab_nodes); do
		slurmd_with "$node" "$@"
	done
	wait_for 40 nodes_well
}
copy_answers() { env -u SLURM_CONF squeue -h -t R >/dev/null; }
suite_conf_is() {
	conf "slurmConf=$1"
	reload
}

# so many slurmds have the file from slurmctld
served() { [ "$(pgrep -a -x slurmd | grep -c -- --conf-server)" = "$1" ]; }

# The act of the admin: slurmctld serves the file, slurmd and the suite have none.
act_configless-on() {
	with_conf '$a SlurmctldParameters=enable_configless'
	daemon_again slurmctld
	slurmds_with --conf-server "127.0.0.1:$LAB_PORT"
	wait_for 20 copy_answers || return 1
	suite_conf_is ''
}
seen_configless-on() { wait_for 10 served "$(lab_nodes | wc -l)"; }
# slurmctld sends the new files to each slurmd
act_configless-changed() {
	with_conf '$a PartitionName=served Nodes=n[1-2] MaxTime=60 DefaultTime=10'
	scontrol reconfigure
	wait_for 30 grep -q '^PartitionName=served' "$copy" || return 1
	batch labalice "sleep 3" -p served -n1
}
# Without its copy each slurmd asks slurmctld again; meanwhile no command works,
# and none of the suite.
act_configless-fetched() {
	lab ctl stop slurmd
	rm -rf /run/slurm "$T"/slurm/spool/*/conf-cache
	not copy_answers || return 1
	wait_for 40 said 'slurmctld does not answer' || return 1
	slurmds_with --conf-server "127.0.0.1:$LAB_PORT"
	wait_for 20 copy_answers
}
# slurmctld is restarted while it is the only one that has the file
act_configless-restarted() {
	daemon_again slurmctld
	wait_for 40 nodes_well
}
act_configless-off() {
	slurmds_with -f "$SLURM_CONF"
	rm -rf /run/slurm
	suite_conf_is "$SLURM_CONF"
}
seen_configless-off() {
	pgrep -x slurmd >/dev/null && wait_for 10 served 0 && [ ! -e "$copy" ] && not copy_answers
}
