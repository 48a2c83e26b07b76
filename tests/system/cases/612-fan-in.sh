#!/bin/bash
# SPDX-License-Identifier: MIT
# The whole way: a real Slurm, the daemon of its cluster with deliver "stream", a
# real nats-server, the daemon of the centre with source "stream", cc-backend.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/centre.sh"
test_begin "jobs of a real Slurm through a stream to the centre"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
lab_up
backend_up
nats_up "jetstream: {store_dir: \"$T/js\"}"
cluster=$(scontrol show config | sed -n 's/^ClusterName *= //p')
suite_users
trap 'rc=$?; centre_kill; trap - EXIT; test_exit $rc' EXIT

centre_conf "$cluster" ccPollInterval=15
centre_reads() { grep -q "stream CC_RECORD_$cluster is read from" "$T/log/suite.centre"; }

conf deliver=stream "clusters=[\"$cluster\"]" natsServer=127.0.0.1 "natsPort=$NATS_PORT" \
    ccRestUrl= ccRestJwt= slurmPollInterval=1 nodeStatePollInterval=1
centre_up
is "the centre makes the stream" wait_for 60 centre_reads
suite_up
hooks_on
one=$(batch labalice "true" -n1)
bad=$(batch labbob "exit 3" -n1)
wide=$(batch labalice "sleep 20" -N2)
is "a short job is there" wait_for 90 backend_has_ended "$one"
is "a job that fails is there" wait_for 90 backend_has_ended "$bad"
is "a job that runs is there" wait_for 90 backend_has "$wide"
# states NODE: what cc-backend got of it, a line each time
states() {
	python3 - "$LEDGER" "$1" <<'END'
import json, sys
def walk(x):
    if isinstance(x, dict):
        if x.get("hostname") == sys.argv[2] and "stored" in x:
            print(x["stored"], "cpus", x.get("cpusAllocated"), "jobs", x.get("jobsRunning"))
        x = list(x.values())
    for v in x if isinstance(x, list) else []:
        walk(v)
for line in open(sys.argv[1]):
    if "cpusAllocated" in line:
        walk(json.loads(line))
END
}
busy() { states n1 | grep -qE '^(mixed|allocated) cpus [1-9][0-9]* jobs [1-9]'; }
idle() { states n3 | grep -qxF 'idle cpus 0 jobs 0'; }
if backend_is_fake; then
	is "the state of a node with a job is there" wait_for 30 busy || say "n1: $(states n1 | tail -n 3)"
	is "and that of a node without" wait_for 30 idle || say "n3: $(states n3 | tail -n 3)"
fi
centre_kill
away=$(batch labbob "sleep 1" -n1 --array=0-2)
is "the centre killed: jobs end" wait_for 90 job_state_is "${away}_2" COMPLETED
centre_up
is "the centre is back: they are there" wait_for 90 backend_has_ended "$away"
scancel "$wide"
is "the end of the job that ran" wait_for 90 backend_has_ended "$wide"
is "every run is as Slurm has it" compare --wait $((60 + 2 * COMMIT)) --expect 6
is "the centre names the cluster" eval 'centre_ctl status | grep -q "^  $cluster "'
centre_ctl status >"$T/status.centre"
is "it compares with the records, not with Slurm" grep -qE '^  compared with records +[^ ]' "$T/status.centre"
is "and has no other comparison" not grep -q 'compared with Slurm' "$T/status.centre"
ctl status >"$T/status.cluster"
is "the cluster shows nothing of cc-backend" not grep -qE '^cc-backend|starts delivered|compared' "$T/status.cluster"
is "but what it has published" grep -qE '^  ends published +[6-9]' "$T/status.cluster"
is "and that the stream accepts it" grep -qE '^  delivery +stream, accepted' "$T/status.cluster"
accepts() { ctl metrics | grep -qxF "cc_slurm_adapter_stream_accepts{cluster=\"$cluster\"} 1"; }
is "as a metric, too" accepts
position() { centre_ctl metrics | grep -qE "^cc_slurm_adapter_stream_position\{cluster=\"$cluster\"\} [1-9]"; }
is "the position is a metric of the centre" position
# what the commands for a job and for the nodes say on both sides
ctl gpus >"$T/gpus" 2>&1
is "the cluster compares its GPUs with gpuPciAddrs alone" grep -qE '^  cc-backend +not known$' "$T/gpus"
is "not with a topology" not grep -q 'lists no GPU' "$T/gpus"
is "and says who has the topology" grep -qx 'this host has no cc-backend: .*' "$T/gpus"
is "the centre refuses to compare" not centre_ctl gpus 2>"$T/gpus"
is "because it has no nodes" grep -q 'a centre has no nodes of Slurm' "$T/gpus"
is "it refuses to find a task" not centre_ctl explain "${away}_2" 2>"$T/explain"
is "because it has no Slurm" grep -q 'a centre has no Slurm: name the job id' "$T/explain"
test_end
