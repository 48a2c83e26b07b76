#!/bin/bash
# SPDX-License-Identifier: MIT
# States, CPUs, GPUs and jobs of each node reach cc-backend: at the start, when
# they change, and slowly when they do not; a node that is of no use is never
# idle; ignored hosts are left out; an older cc-backend is left alone.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "node states"
need_fake
lab_up
backend_up
conf nodeStatePollInterval=1 nodeStateRefresh=0 slurmPollInterval=1

# state NODE: what the backend has of it now
state() {
	python3 - "$LEDGER" "$1" <<'END'
import json, sys
last = None
for line in open(sys.argv[1]):
    entry = json.loads(line)
    text = json.dumps(entry)
    if "cpusAllocated" not in text:
        continue
    def walk(x):
        if isinstance(x, dict):
            if "hostname" in x and "stored" in x:
                yield x
            for v in x.values():
                yield from walk(v)
        elif isinstance(x, list):
            for v in x:
                yield from walk(v)
    for node in walk(entry):
        if node["hostname"] == sys.argv[2]:
            last = node
if last:
    print(last["stored"], "cpus", last["cpusAllocated"], "gpus",
          last["gpusAllocated"], "jobs", last["jobsRunning"])
END
}
state_is() { [ "$(state "$1")" = "$2" ]; }
soon() { wait_for 15 state_is "$@" || { say "$1: $(state "$1")"; return 1; }; }
messages() { grep -c '"nodestate"' "$LEDGER"; }

suite_up
for n in n1 n2 n3 n4; do
	is "$n is idle" soon $n "idle cpus 0 gpus 0 jobs 0"
done
a=$(batch labalice 'sleep 600' -w n1 -n4 -J four)
b=$(batch labbob 'sleep 600' -w n1 -n4 -J other)
c=$(batch labalice 'sleep 600' -w n3 -n2 --gres=gpu:a100:2 -J gpu)
d=$(batch labalice 'sleep 600' -w n4 -n16 --gres=gpu:a100:1 -J whole)
is "n1: two jobs of four CPUs" soon n1 "mixed cpus 8 gpus 0 jobs 2"
is "n3: two CPUs, two GPUs" soon n3 "mixed cpus 2 gpus 2 jobs 1"
is "n4: full, one GPU" soon n4 "allocated cpus 16 gpus 1 jobs 1"
scontrol update nodename=n2 state=drain reason="State=ALLOCATED GresUsed=gpu:4"
is "n2: drained, not idle" soon n2 "down cpus 0 gpus 0 jobs 0"
scontrol update nodename=n1 state=drain reason=soon
sleep 3
is "n1: drained, its jobs go on" state_is n1 "mixed cpus 8 gpus 0 jobs 2"
scancel "$a" "$b"
is "n1: drained and empty" soon n1 "down cpus 0 gpus 0 jobs 0"
scontrol update nodename=n1,n2 state=resume
is "n1: back" soon n1 "idle cpus 0 gpus 0 jobs 0"
is "n2: back" soon n2 "idle cpus 0 gpus 0 jobs 0"
scontrol create reservation reservationname=kept starttime=now duration=60 \
    nodes=n2 users=labbob >/dev/null
is "n2: reserved" soon n2 "reserved cpus 0 gpus 0 jobs 0"
scontrol delete reservationname=kept

is "n2: given back" soon n2 "idle cpus 0 gpus 0 jobs 0"
before=$(messages)
sleep 5
is "nothing changes, nothing is said" [ "$(messages)" = "$before" ]
conf nodeStateRefresh=2
ctl reload >/dev/null
refreshed() { [ "$(messages)" -ge $((before + 2)) ]; }
is "the refresh says it again" wait_for 20 refreshed

# A cc-backend that fails and comes back has the last state soon.
conf nodeStateRefresh=0
ctl reload >/dev/null
sleep 1
fault '{"match":"nodestate","action":"status","status":500}'
scancel "$c" "$d"
is "n3: idle, after one failure" wait_for 40 state_is n3 "idle cpus 0 gpus 0 jobs 0"
is "n4: idle" soon n4 "idle cpus 0 gpus 0 jobs 0"
is "cc-backend counts as up" eval 'ctl status -v | grep -qE "backend +up"'
faults_off
is "the jobs went their way" compare --wait 60 --expect 4

conf 'ignoreHosts=^n4$' nodeStateRefresh=1
before=$(grep -c '"n4"' "$LEDGER")
ctl reload >/dev/null
sleep 2
before=$(grep -c '"n4"' "$LEDGER")
sleep 4
is "an ignored host is left out" [ "$(grep -c '"n4"' "$LEDGER")" = "$before" ]
conf nodeStatePollInterval=0
ctl reload >/dev/null
sleep 2
before=$(messages)
sleep 4
is "0 turns it off" [ "$(messages)" = "$before" ]
is "nothing died" not grep -qiE 'restart|died|killed by' "$SUITE_LOG"
test_end
