#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs are open in cc-backend that no Slurm knows.  The centre of a fan-in asks the
# cluster.  While the cluster is away they stay open; two answers of the cluster's
# Slurm an hour apart end one of them.  The hour passes in a jump of the boot clock
# of the submitters (boottime_shift.c), as in 422-absence.sh.  At the end, the centre
# requests a range whose messages have expired, and cancels a backfill of the cluster.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/clocks.sh"
. "$(dirname "$0")/../lib/centre.sh"
. "$(dirname "$0")/../lib/jobs.sh"
own_mounts
test_begin "the centre asks a cluster about runs"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
lab_up LAB_PRIVATE=jobs,users,accounts,usage
backend_up
nats_up "jetstream: {store_dir: \"$T/js\"}"
cluster=$(scontrol show config | sed -n 's/^ClusterName *= //p')
suite_users
trap 'rc=$?; centre_kill; trap - EXIT; test_exit $rc' EXIT
submitter_clock_new

centre_conf "$cluster" ccPollInterval=2
centre_logged() { grep -qE -- "$1" "$T/log/suite.centre"; }
centre_unknown() { centre_ctl status -v 2>/dev/null | grep -qE "^ *unknown +$1"; }
# N: so many questions were sent
centre_asked() {
	[ "$(centre_ctl status -v | sed -nE 's/^ *questions +([0-9]+) to clusters.*/\1/p')" -ge "$1" ]
}
ghost() {	# JOB: open in cc-backend alone
	request POST "$BACKEND/api/jobs/start_job/" "{\"jobId\":$1,\"cluster\":\"$cluster\",\"user\":\"u1\",
		\"numNodes\":1,\"startTime\":$(($(date +%s) - 3000)),\"resources\":[{\"hostname\":\"n1\"}]}" \
	    "$TOKEN" >/dev/null
}

conf deliver=stream "clusters=[\"$cluster\"]" natsServer=127.0.0.1 "natsPort=$NATS_PORT" \
    ccRestUrl= ccRestJwt= slurmPollInterval=1
centre_up
is "the centre reads the stream" wait_for 60 centre_logged "stream CC_RECORD_$cluster is read from"
suite_up
hooks_on
one labbob 1 -n1 -J "a sentinel for accounting"
is "a job has ended" wait_for 60 backend_has_ended "$mix_id"
one labalice 600 -n1 -J "one for squeue"
stays=$mix_id
is "another one runs" wait_for 60 backend_has "$stays"

# the cluster is away: no answer is evidence, whatever time passes
suite_down 10
ghost 4000000
is "a run is open there that Slurm does not know" wait_for 10 backend_has 4000000
# The first comparison without a command is a minute after the start.  The command
# waits for the answer of the cluster, the test does not.
centre_ctl sync >"$T/log/sync.away" 2>&1 &
is "the cluster is away: the centre says so" \
    wait_for 90 centre_logged "cluster $cluster does not answer which of"
is "a backfill is refused" not centre_ctl backfill --cluster "$cluster" --from 2026-01-01 --to 2026-01-02 2>"$T/log/fill"
is "because the cluster does not answer" grep -q "cluster $cluster does not answer" "$T/log/fill"
later 3600
is "the cluster is asked again" wait_for 30 centre_asked 2
is "no answer is no evidence" centre_unknown '0 once, 0 twice'
is "the run is open" not backend_has_ended 4000000

suite_up
is "the cluster is back: its Slurm does not know the run" wait_for 90 centre_unknown '1 once, 0 twice'
is "one answer ends nothing" not backend_has_ended 4000000
is "the cluster counts the questions" eval 'ctl status -v | grep -qE "questions +[0-9]+ of the centre"'
ghost 4000001
is "another such run" wait_for 20 backend_has 4000001
centre_ctl sync --job 4000001 >"$T/log/sync" 2>&1
is "sync asks the cluster" grep -q "unknown to Slurm: ended only when Slurm says so twice" "$T/log/sync" ||
    cat "$T/log/sync"
later 7300
is "after an hour again: it is ended" wait_for 90 backend_has_ended 4000000
is "as failed" sh -c "python3 '$SYS/expected.py' jobs '$BACKEND' '$TOKEN' |
    grep '\"jobId\": 4000000,' | grep -q failed"
is "the run that Slurm knows is open" not backend_has_ended "$stays"
is "no answer was refused" eval 'centre_ctl status -v | grep -qE "questions .* 0 answers refused"'
scancel "$stays"
is "its end arrives" wait_for 60 backend_has_ended "$stays"

# The centre is away, and messages that it has not read expire.  The centre requests
# these runs again.
stream() { python3 "$SYS/stream.py" "$NATS_PORT" "$@" "$cluster" "$mix_id"; }
in_stream() { stream states | grep -q completed; }
first_line() { centre_ctl status | head -n 1; }
fill() { centre_ctl backfill --cluster "$1" --from "$((began - 60))" --to "$(date +%s)" >"$T/log/fill" 2>&1; }
filled() { centre_ctl backfill --status --cluster "$cluster" | grep -q "^cluster $cluster: done: backfill by NATS"; }
centre_kill
began=$(date +%s)
one labbob 1 -n1 -J "not read by the centre"
is "the stream has the end of a job that the centre does not read" wait_for 60 in_stream
is "its messages expire" stream expire
is "they are gone" wait_for 30 not in_stream
centre_up
is "the centre is back: the status names the command" wait_for 30 eval \
    'first_line | grep -q "expired .*; run: cc-slurm-adapterctl backfill --cluster $cluster "'
is "explain: the cluster tells of the job" eval \
    'centre_ctl explain "$mix_id" --cluster "$cluster" | grep -q "cluster $cluster: 1 run, .*: the run is"'
is "another cluster is refused" not fill nonsense
is "by its name" grep -q "unknown cluster" "$T/log/fill"
is "the centre requests the range" fill "$cluster" || cat "$T/log/fill"
is "the reply names the command for the progress" \
    grep -q "^cluster $cluster has begun; .*backfill --status --cluster $cluster" "$T/log/fill"
is "a second request is refused" not fill "$cluster"
is "with the reason of the cluster" grep -qE "cluster $cluster refuses: a backfill" "$T/log/fill"
is "the job arrives" wait_for 60 backend_has_ended "$mix_id"
is "the centre shows that the backfill is done" wait_for 60 filled || centre_ctl backfill --status

# A backfill of many years, which an admin began at the cluster.
cancel() { centre_ctl backfill --cancel --cluster "$1" >"$T/log/cancel" 2>&1; }
is "a backfill begins at the cluster" ctl backfill --nats --from 2000-01-01 --to "$(date +%s)"
is "the centre shows that it is under way" eval \
    'centre_ctl backfill --status --cluster "$cluster" | grep -q "^cluster $cluster: backfill by NATS"'
is "another cluster is refused" not cancel nonsense
is "the centre cancels it" cancel "$cluster" || cat "$T/log/cancel"
is "and prints the answer of the cluster" grep -q "^cluster $cluster: cancelled; " "$T/log/cancel"
is "the cluster logs it" wait_for 10 logged "the centre has cancelled the backfill of $cluster"
is "a second time there is none" cancel "$cluster"
is "and the centre says so" grep -q "^cluster $cluster: none is under way" "$T/log/cancel"
is "nor at the cluster" eval 'ctl backfill --cancel | grep -q "none is under way"'
is "no run is doubled" [ -z "$(truth jobs "$BACKEND" "$TOKEN" | grep '"jobId"' | sort | uniq -d)" ]
test_end
