#!/bin/bash
# SPDX-License-Identifier: MIT
# The centre of a fan-in: the streams of two clusters, a real nats-server and a
# cc-backend.  Each process is killed; each run must be there once.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the centre reads the streams of two clusters"
[ -x "$CSA_INST/libexec/cc-slurm-adapter/receiver" ] || skip "built without NATS"
CLUSTERS='alpha=n[1-4],beta=n[1-4]'
BOTH='["alpha","beta"]'
backend_up
mkdir -p "$T/run" "$T/state"
broker="jetstream: {store_dir: \"$T/jetstream\"}"
nats_up "$broker"
lib conf "$T/etc/config.json" "pidFilePath=$T/run/daemon.pid" "ctlSockPath=$T/run/ctl.sock" \
    "lastRunPath=$T/state/lastrun" "source=stream" "clusters=$BOTH" natsServer=127.0.0.1 \
    "natsPort=$NATS_PORT" natsStreamReplicas=1 \
    natsStreamMaxBytes=67108864 ccPollInterval=15 "ccCommitInterval=$COMMIT" \
    "ccRestUrl=$BACKEND" "ccRestJwt=$(cat "$TOKEN")"

publish() { python3 "$SYS/publish_records.py" "$NATS_PORT" "$@"; }
jobs_of_both() { truth jobs "$BACKEND" "$TOKEN" --cluster alpha; truth jobs "$BACKEND" "$TOKEN" --cluster beta; }
# every run of both clusters up to this id has ended there, once
all_ended() {
	jobs_of_both >"$T/jobs" 2>/dev/null
	[ "$(grep -c '"jobState": "completed"' "$T/jobs")" = $((2 * $1)) ] &&
	    [ "$(wc -l <"$T/jobs")" = $((2 * $1)) ]
}
reads() { logged "stream CC_RECORD_alpha is read from" && logged "stream CC_RECORD_beta is read from"; }
acknowledged() { [ "$(publish unacked alpha)" = "${1:-0}" ]; }
both() { publish runs alpha "$1" "$2" && publish runs beta "$1" "$2"; }

suite_up
is "the receiver is in the sandbox" logged 'receiver \(pid [0-9]+\): sandbox: .*seccomp'
is "it makes the streams" wait_for 30 reads
both 1 20
is "each run is there once" wait_for 60 all_ended 20
is "its messages are acknowledged" wait_for 20 acknowledged
spool=$(ctl -j status | lib get - status supervisor spool_dir)

# the spool of now, to be restored
suite_down
cp -a "$spool" "$T/spool.saved"
both 21 30
suite_up
kill -9 "$(worker_pid receiver)"
both 31 40
kill -9 "$(worker_pid submitter)"
both 41 50
publish runs alpha 51 60
kill -9 "$nats_pid"
wait "$nats_pid" 2>/dev/null
nats_up "$broker"
publish runs beta 51 60
is "centre away, then receiver, submitter and broker killed: each run is there once" wait_for 60 all_ended 60
suite_kill
rm -rf "$spool"
cp -a "$T/spool.saved" "$spool"
jobs_of_both >"$T/before"
suite_up
is "a restored spool reads the streams again" wait_for 30 logged 'stream CC_RECORD_alpha is read from message 1; messages up to 40 were read before$'
is "up to their end" wait_for 30 acknowledged

publish as alpha beta 900
is "a record of another cluster is refused" wait_for 30 logged 'alpha is refused: it is of cluster beta'
publish garbage alpha
is "what is no record is dropped" wait_for 30 logged 'alpha is no record and is dropped'
publish schema alpha 901
is "a newer record waits at the broker" wait_for 30 acknowledged 1
is "and is told" logged 'of cluster alpha stays at the broker'
both 61 62
is "later records are not held up" wait_for 60 all_ended 62
is "none of the three is in cc-backend" not grep -qE '"jobId": 90[01],' "$T/jobs"
jobs_of_both | grep -vE '"jobId": 6[12],' >"$T/after"
is "the restored spool has changed no run" cmp "$T/before" "$T/after"
backfill_is_refused() { ! ctl backfill --from 2026-11-01 --to 2026-11-02 >"$T/backfill" 2>&1; }
is "a backfill without a cluster is refused" backfill_is_refused
is "and the reason is given" grep -q 'several clusters: use --cluster' "$T/backfill"
suite_down
test_end
