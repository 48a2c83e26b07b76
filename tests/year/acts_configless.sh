# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on a configless Slurm: slurmctld serves slurm.conf; slurmd or sackd keeps a
# copy that Slurm's commands read, or each command asks slurmctld, which an
# environment variable or a name server names.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2016,SC2034	# part.sh has and reads the variables, calls these; $a of sed

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
# of this host without a configuration of its own, as the suite runs them
copy_answers() { env -u SLURM_CONF squeue -h -t R >/dev/null 2>&1; }
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
	wait_for 40 said 'slurmctld(:.*; again in| does not answer)' || return 1
	slurmds_with --conf-server "127.0.0.1:$LAB_PORT"
	wait_for 20 copy_answers
}
# slurmctld is restarted while it is the only one that has the file
act_configless-restarted() {
	daemon_again slurmctld
	wait_for 40 nodes_well
}
# A host without slurmd, before sackd: Slurm's commands ask slurmctld each time.
act_conf-server() {
	slurmds_with -f "$SLURM_CONF"
	rm -rf /run/slurm
	suite_down 10
	SUITE_CONF_SERVER=127.0.0.1:$LAB_PORT
	suite_start
}
seen_conf-server() { [ ! -e "$copy" ] && not copy_answers; }
act_conf-server-changed() {
	with_conf '/^PartitionName=served /s/n\[1-2\]/n[1-3]/'
	scontrol reconfigure
	batch labalice "sleep 3" -p served -w n3 -n1
}
act_conf-server-away() { daemon_again slurmctld away; }
# The host of slurmctld comes from a name server.
act_conf-dns() {
	suite_down 10
	SUITE_CONF_SERVER=
	"$LAB/dns_srv" 127.0.0.1 53 _slurmctld._tcp.lab.test localhost "$LAB_PORT" >>"$T/log/dns" 2>&1 &
	name_server=$!
	started_pids+=("$name_server")
	printf 'search lab.test\nnameserver 127.0.0.1\n' >/etc/resolv.conf.new
	mv /etc/resolv.conf.new /etc/resolv.conf
	wait_for 20 copy_answers || return 1
	suite_start
}
seen_conf-dns() { [ ! -e "$copy" ] && [ -z "$SUITE_CONF_SERVER" ] && copy_answers; }
act_configless-off() {
	kill "$name_server"
	wait "$name_server"
	slurmds_with -f "$SLURM_CONF"
	rm -rf /run/slurm
	suite_conf_is "$SLURM_CONF"
}
seen_configless-off() {
	pgrep -x slurmd >/dev/null && wait_for 10 served 0 && [ ! -e "$copy" ] && not copy_answers
}

# --- sackd, from 24.05 on ------------------------------------------------------------

# The suite is on a host without slurmd: its slurm.conf is the copy of sackd.
part_sackd-24.11() {
	usual
	fetched || broken "no packages"
	mkdir -p /run/munge
	ln -sfn "$T/slurm/munge/socket" /run/munge/munge.socket.2
}

# as SlurmUser: slurmctld encrypts new files for this user
sackd_up() {
	install -d -o slurm /run/slurm
	env -u SLURM_CONF setsid setpriv --reuid slurm --regid "$(id -g slurm)" --init-groups \
	    sackd -D --conf-server "127.0.0.1:$LAB_PORT" </dev/null >>"$T/log/sackd" 2>&1 &
	sackd=$!
	started_pids+=("$sackd")
	wait_for 20 copy_answers
}
sackd_down() {
	kill -s "$1" "$sackd"
	wait "$sackd"
}
act_sackd-installed() {
	install_fetched || return 1
	with_conf '$a SlurmctldParameters=enable_configless'
	daemon_again slurmctld
	sackd_up || return 1
	suite_conf_is ''
}
# slurmctld sends the new files to sackd
act_sackd-changed() {
	with_conf '$a PartitionName=served Nodes=n[1-2] MaxTime=60 DefaultTime=10'
	scontrol reconfigure
	wait_for 30 grep -q '^PartitionName=served' "$copy" || return 1
	batch labalice "sleep 3" -p served -n1
}
# Without sackd the copy stays.
act_sackd-away() {
	sackd_down KILL
	away
	copy_answers || return 1
	sackd_up
}
# Its end by systemd removes the copy; then no command works.
act_sackd-restarted() {
	sackd_down TERM
	rm -rf /run/slurm
	wait_for 40 said 'slurm(ctld|dbd)(:.*; again in| does not answer)' || return 1
	sackd_up
}
act_sackd-removed() {
	sackd_down TERM
	rm -rf /run/slurm
	suite_conf_is "$SLURM_CONF"
}
seen_sackd-removed() { [ ! -e "$copy" ] && not copy_answers; }
