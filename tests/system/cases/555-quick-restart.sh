#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmctld is restarted between two commands of the collector, with nodes of
# another shape: sdiag shows the restart, and the nodes are read again.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a restart of slurmctld that no command meets"
lab_up
backend_up
conf slurmPollInterval=4 ccPollInterval=600 slurmQueryDelay=0
suite_up
value() { ctl -j status | lib get - status collector "$1"; }
polled() { [ "$(value polls)" -gt "$polls" ]; }
next_poll() {
	polls=$(value polls)
	wait_for 20 polled
}
job=$(batch labalice "sleep 300" -w n2 -n2)
is "job $job arrives" wait_for 20 backend_has "$job"
is "its node is as cc-backend has it" not logged 2x8x1
scancel "$job"
next_poll	# sdiag was read
next_poll
sed -i '/^NodeName=n2 /s/CoresPerSocket=4 ThreadsPerCore=2/CoresPerSocket=8 ThreadsPerCore=1/' "$SLURM_CONF"
next_poll
# No command meets the restart, however long it takes: the collector starts none.
runner_is_idle() { [ -z "$(ps -o pid= --ppid "$(worker_pid runner)")" ]; }
wait_for 20 runner_is_idle
collector=$(worker_pid collector)
kill -STOP "$collector"
lab ctl stop slurmctld
lab ctl start slurmctld
kill -CONT "$collector"
reshaped() { scontrol show node n2 | grep -q 'CoresPerSocket=8'; }
is "the node has another shape" wait_for 30 reshaped
is "the restart is seen" wait_for 40 logged 'slurmctld counts since .* restarted'
is "the collector is the same process" [ "$(worker_pid collector)" = "$collector" ]
is "no command failed" not logged 'slurmctld does not answer'
next_poll
node_is_idle() { sinfo -h -n n2 -o %T | grep -q idle; }
wait_for 20 node_is_idle
job=$(batch labbob "sleep 300" -w n2 -n2)
is "job $job arrives" wait_for 20 backend_has "$job"
is "with the new shape of its node" wait_for 20 logged 'n2.* 2x8x1|2x8x1.* n2'
scancel "$job"
test_end
