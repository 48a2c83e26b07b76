#!/bin/bash
# SPDX-License-Identifier: MIT
# cc-backend of a centre is restored from an older copy: the section of runbook(7)
# restores the runs that it has lost, and no run is reported as stopped by another
# client.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/page.sh"
test_begin "the cc-backend of a centre is restored"
[ -x "$CSA_INST/libexec/cc-slurm-adapter/receiver" ] || skip "built without NATS"
need_fake
SLURM_CONF=
SUITE_USER=root
CLUSTERS='alpha=n[1-4]'
backend_up
nats_up "jetstream: {store_dir: \"$T/js\"}"
conf source=stream 'clusters=["alpha"]' natsServer=127.0.0.1 "natsPort=$NATS_PORT" \
    natsStreamReplicas=1 natsStreamMaxBytes=67108864
publish() { python3 "$SYS/publish_records.py" "$NATS_PORT" "$@"; }
all_ended() {
	truth jobs "$BACKEND" "$TOKEN" --cluster alpha >"$T/jobs" 2>/dev/null
	[ "$(grep -c '"jobState": "completed"' "$T/jobs")" = "$1" ] && [ "$(wc -l <"$T/jobs")" = "$1" ]
}
nothing_waits() { ctl queue | grep -q 'no delivery waits'; }
suite_up
is "the stream is read" wait_for 30 eval 'ctl status | grep -q "alpha .*reads"'
publish runs alpha 1 40
is "the runs are sent" wait_for 60 all_ended 40
cp "$LEDGER" "$T/copy"
publish runs alpha 41 60
is "the runs after the copy are sent" wait_for 60 all_ended 60
backend_down
cp "$T/copy" "$LEDGER"
backend_up
is "cc-backend has lost them" all_ended 40
page_run cc-slurm-adapter-runbook.7 "The cc-backend of a centre is restored or moved"
is "repair has nothing to do" not page_shown alpha
is "each run is there once" wait_for 60 all_ended 60
is "no run waits" wait_for 60 nothing_waits
is "no run counts as stopped by another client" not grep -q "its state differs" "$T"/log/suite.*
is "the old spool is there" [ -e "$T/state/spool.old/spool.db" ]
test_end
