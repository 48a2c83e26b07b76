#!/bin/bash
# SPDX-License-Identifier: MIT
# The opt-out word in a job's admin comment keeps it from cc-backend and NATS.
# Said before its start, nothing is ever sent; said while the start still waits,
# neither; said after the start was tried, its stop is all that follows, for
# cc-backend would show it running for ever.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "opting out by admin comment"
lab_up
backend_up
nats_up ""
need_fake
conf slurmPollInterval=2 ccPollInterval=3600 natsServer=127.0.0.1 "natsPort=$NATS_PORT" \
    natsSubject=jobs optOutWord=keep_away
comment() { scontrol update "job=$1" "admincomment=$2"; }
python3 "$SYS/nats.py" listen "127.0.0.1:$NATS_PORT" "" "" jobs "$T/published" 2>>"$T/log/nats" &
started_pids+=($!)
wait_for 10 grep -q '^%% ready' "$T/published" || broken "nobody listens to NATS"
published() { tr -d '\\ ' <"$T/published" | grep -q "\"jobId\":$1,"; }
# N: so many requests about the job that waits are due to cc-backend
due() {
	[ "$(ctl -j queue | python3 -c 'import json, sys
print(sum(r["job"] == int(sys.argv[1]) and r["to"] == "rest" for r in json.load(sys.stdin)["queue"]))' "$waiting")" = "$1" ]
}
suite_up

before=$(batch labalice "sleep 4" -n1 -H)
comment "$before" "please keep_away, thank you"
plain=$(batch labbob "sleep 300" -n1)
scontrol release "$before"
wait_for 30 job_state_is "$before" COMPLETED
is "another job is reported" wait_for 60 backend_has "$plain"
comment "$plain" keep_away
fault '{"action":"status","status":503,"count":-1}'
# what was tried once may have arrived, so cc-backend has to be known to be away
wait_for 30 sh -c "'$CTL' -s '$T/run/ctl.sock' sync >/dev/null 2>&1; grep -q 'is unreachable' '$SUITE_LOG'"
waiting=$(batch labalice "sleep 15" -n1)
wait_for 20 job_state_is "$waiting" RUNNING
is "a start waits" wait_for 30 due 1
comment "$waiting" "keep_away"
wait_for 40 job_state_is "$waiting" COMPLETED
is "the comment takes a start that waits out of the queue" wait_for 60 due 0
faults_off
scancel "$plain"
is "what cc-backend has got is ended there" wait_for 90 backend_has_ended "$plain"
last=$(batch labbob "true" -n1)
is "and all goes on" wait_for 90 backend_has_ended "$last"
is "opted out before its start: nothing is sent" not backend_has "$before"
is "opted out while its start waited: nothing" not backend_has "$waiting"
is "NATS hears of the others" wait_for 30 published "$last"
is "but not of that one" not published "$before"
test_end
