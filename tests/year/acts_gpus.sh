# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on GPUs: an admin takes two of four out of a node and puts them into
# another one, and back.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2034	# part.sh has the variables, calls these

part_gpus() { usual; }

# gpus_are NODE COUNT FILES: in slurm.conf and gres.conf; COUNT 0: none
gpus_are() {
	local node=$1 count=$2 files=$3 gres=$T/slurm/etc/gres.conf
	with_conf "/^NodeName=$node /s/ Gres=[^ ]*//"
	grep -v "^NodeName=$node " "$gres" >"$gres.new"
	if [ "$count" != 0 ]; then
		with_conf "/^NodeName=$node /s/\$/ Gres=gpu:a100:$count/"
		echo "NodeName=$node Name=gpu Type=a100 File=$T/slurm/dev/gpu$files" >>"$gres.new"
	fi
	mv -f "$gres.new" "$gres"
}
# Both nodes are down while the hardware is moved.
nodes_off() {
	local node
	for node; do
		emptied "$node" || return 1
	done
	for node; do
		lab ctl stop "slurmd:$node"
	done
}
nodes_on() {
	local node
	for node; do
		fresh "$node"
	done
}
# in the order of the node's devices; n3 keeps the addresses of its first two
addresses() {
	local a=00000000
	conf "gpuPciAddrs={\"^n2\$\":[\"$a:12:00.0\",\"$a:13:00.0\"],
	    \"^n3\$\":[\"$a:00:00.0\",\"$a:01:00.0\",\"$a:02:00.0\",\"$a:03:00.0\"],
	    \"^n4\$\":[\"$a:03:00.0\",\"$a:02:00.0\",\"$a:01:00.0\",\"$a:00:00.0\"]}"
	reload
}
gpu_job() { batch labbob "sleep 4" -w "$1" -p "$2" --gres=gpu:"$3"; }
# until slurmctld has the GPUs of the node
gpu_job_soon() { wait_for 30 gpu_job "$@"; }

# The new node is in the configuration before it has GPUs.
act_gpu-addresses() { addresses; }
act_gpus-moved() {
	nodes_off n2 n3 || return 1
	gpus_are n3 2 '[0-1]'
	gpus_are n2 2 '[2-3]'
	daemon_again slurmctld
	nodes_on n2 n3
	gpu_job_soon n2 main 2 && gpu_job_soon n3 gpu 1
}
# gres.conf names the cores beside each GPU, as AutoDetect does.
act_gpu-cores() {
	nodes_off n4 || return 1
	gpus_are n4 4 '[0-3] Cores=0-3'
	scontrol reconfigure
	nodes_on n4
	gpu_job_soon n4 gpu 3
}
act_gpus-returned() {
	nodes_off n2 n3 || return 1
	gpus_are n2 0 ''
	gpus_are n3 4 '[0-3]'
	daemon_again slurmctld
	nodes_on n2 n3
	gpu_job_soon n3 gpu 4
}
