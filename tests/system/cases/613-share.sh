#!/bin/bash
# SPDX-License-Identifier: MIT
# One cluster publishes without end while cc-backend is away: it fills its share of
# the centre's spool and waits, the other cluster does not.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "one cluster cannot fill the spool of the centre"
[ -x "$CSA_INST/libexec/cc-slurm-adapter/receiver" ] || skip "built without NATS"
CLUSTERS='alpha=n[1-4],beta=n[1-4]'
COMMIT=1
RUNS=600
SCRIPT=2000	# bytes; so many runs are more than the spool can have
backend_up
backend_down
mkdir -p "$T/run" "$T/state"
nats_up "jetstream: {store_dir: \"$T/jetstream\"}"
lib conf "$T/etc/config.json" "pidFilePath=$T/run/daemon.pid" "ctlSockPath=$T/run/ctl.sock" \
    "lastRunPath=$T/state/lastrun" "source=stream" 'clusters=["alpha","beta"]' natsServer=127.0.0.1 \
    "natsPort=$NATS_PORT" natsStreamReplicas=1 \
    natsStreamMaxBytes=67108864 "ccCommitInterval=$COMMIT" spoolMaxBytes=1048576 \
    "ccRestUrl=$BACKEND" "ccRestJwt=$(cat "$TOKEN")"

publish() { python3 "$SYS/publish_records.py" "$NATS_PORT" "$@"; }
reads() { logged "stream CC_RECORD_alpha is read from" && logged "stream CC_RECORD_beta is read from"; }
waits() { ctl status | grep -qE "^  $1 +its runs fill its share of the spool"; }
queued() {
	[ "$(ctl -j queue --cluster beta | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["queue"]))')" = "$1" ]
}
up() { ctl metrics | grep -q "^cc_slurm_adapter_stream_up{cluster=\"$1\"} $2$"; }
ended() { [ "$(truth jobs "$BACKEND" "$TOKEN" --cluster "$1" | grep -c '"jobState": "completed"')" = "$2" ]; }

suite_up
is "the streams are read" wait_for 30 reads
# a run ends some runs after its start: few are open at a time
for ((i = 1; i < RUNS; i += 100)); do
	publish runs alpha $i $((i + 99)) "$SCRIPT"
done
is "the first cluster waits, and status says why" wait_for 60 waits alpha
publish runs beta 1 20
is "the runs of the second one are stored" wait_for 30 queued 20
is "the spool is not full" not logged "the spool is full"
is "metrics: the first stream is not read" up alpha 0
is "the second one is" up beta 1
backend_up
is "cc-backend is back: each run of the second one arrives" wait_for 60 ended beta 20
is "and each of the first one" wait_for 120 ended alpha "$RUNS"
is "it does not wait any more" wait_for 10 up alpha 1
suite_down
test_end
