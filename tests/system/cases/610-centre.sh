#!/bin/bash
# SPDX-License-Identifier: MIT
# The processes at the centre of a fan-in: which configurations are refused and
# why, what -test reports, which process has which secret and which connection,
# what a killed receiver, a reload and another user of the service change.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the centre of a fan-in"
command -v nats-server >/dev/null || skip "no nats-server"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
SLURM_CONF=
SUITE_USER=root
NATS_PORT=$(lib freeport 1)
backend_up
suite_users
centre() {
	rm -f "$T/etc/config.json"
	conf source=stream 'clusters=["alpha","beta"]' "natsServer=127.0.0.1:$NATS_PORT" \
	    natsUser=centre natsPassword=word-of-nats natsStreamReplicas=1 \
	    natsStreamMaxBytes=67108864 "$@"
}
out=
check() {
	out=$("$ADAPTER" -daemon -test -config "$T/etc/config.json" 2>&1)
}
has() { grep -qE -- "$1" <<<"$out"; }
refused() {	# WHAT REASON KEY=VALUE...
	local what=$1 reason=$2
	shift 2
	centre "$@"
	is "$what: is refused" not check
	is "the line names file and key" has "config.json:[0-9]+: $reason" || printf '%s\n' "$out"
}

refused "no names of clusters" 'source: is "stream", which needs the names of the clusters' 'clusters=[]'
refused "no broker" 'source: is "stream", which needs natsServer' natsServer=
refused "both ends of the fan-in" 'source: and deliver must not both be "stream"' deliver=stream
refused "NATS alone" 'ccRestSubmitJobs: must not be false while source is "stream"' ccRestSubmitJobs=false
centre activeOnly=true natsLeaseTime=29
check
is "a short lease: is warned of" has 'natsLeaseTime: is less than 30 s'
refused "an unknown word" 'deliver: must be one of direct stream' deliver=streams
rm -f "$T/etc/config.json"
conf 'clusters=["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q"]'
is "seventeen clusters of one Slurm: is refused" not check
is "with the limit" has 'clusters: must have at most 16 names while source is "slurm"'

# the login is refused first, then accepted
nats_up 'jetstream { store_dir: "'"$T"'/jetstream" }
authorization { user: centre, password: "word-of-nats" }'
centre natsPassword=wrong
is "-test with a wrong login: the daemon would start" check
is "it names NATS and the remedy" has '^warn NATS: no connection.*correct natsServer and the login'
centre
is "-test: the daemon would start" check
printf '%s\n' "$out" | sed 's/^/      /'
is "NATS is connected" has "^ok   NATS: connected to 127.0.0.1:$NATS_PORT"
is "a stream that the start makes" has '^ok   stream of cluster beta: the daemon makes it at the start'
is "the clusters are compared with cc-backend" has '^warn cc-backend does not have the cluster beta'
is "nothing is asked of Slurm" not has 'PrologSlurmctld|slurmctld|hook socket'
is "without activeOnly the lease is not checked" not has 'lease'
centre activeOnly=true
is "-test with activeOnly: the daemon would start" check
is "the bucket of the lease is made at the start" \
    has '^ok   lease of the active centre: there is no bucket; the daemon makes it at the start'
is "-test has made no bucket" [ ! -e "$T/jetstream/jetstream/\$G/streams/KV_CC_LEASE" ]
centre
is "-test has made no stream" [ ! -e "$T/jetstream/jetstream/\$G/streams/CC_RECORD_alpha" ]

first() { ctl status | head -n 1; }
connected() { ctl status -v | grep -q 'nats  *connected to'; }
tcp_of() { ss -tnpH state established dport = ":$2" | grep -c "pid=$(worker_pid "$1"),"; }
suite_up root
is "three processes" [ "$(suite_pids | wc -l)" = 2 ]
is "the first line has the clusters" [ "$(first | cut -d, -f1,2)" = "OK: 3 processes, 2 clusters" ] || first
is "NATS is connected" wait_for 20 connected
reads() { ctl status | grep -qE "^  $1 +reads, no message yet$"; }
is "the stream of each cluster was made and is read" wait_for 20 reads alpha
is "also that of the second one" wait_for 20 reads beta
is "metrics have both" [ "$(ctl metrics | grep -c '^cc_slurm_adapter_stream_up{cluster="[a-z]*"} 1$')" = 2 ]
ctl -j status >"$T/json"
is "the JSON is that of the schema" python3 "$SYS/schema.py" \
    "$CSA_INST/share/cc-slurm-adapter/ctl.schema.json" "$T/json"
is "the receiver is connected to the broker" [ "$(tcp_of receiver "$NATS_PORT")" -ge 1 ]
is "the submitter is not" [ "$(tcp_of submitter "$NATS_PORT")" = 0 ]
# 0 when the writable memory of the process that can be read has the text
memory_has() {
	python3 - "$1" "$2" <<'P'
import re, sys
pid, text = sys.argv[1], sys.argv[2].encode()
found = False
with open("/proc/%s/maps" % pid) as maps, open("/proc/%s/mem" % pid, "rb", 0) as mem:
    for line in maps:
        m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
        if not m:
            continue
        a, b = (int(x, 16) for x in m.groups())
        try:
            mem.seek(a)
            found = found or text in mem.read(b - a)
        except OSError:
            pass
sys.exit(0 if found else 1)
P
}
has_in_memory() { memory_has "$(worker_pid "$1")" "$2"; }
is "the login of NATS is in the memory of the receiver" has_in_memory receiver word-of-nats
is "the receiver has no token" not has_in_memory receiver "$(cut -c1-60 "$TOKEN")"
is "the submitter has no login of NATS" not has_in_memory submitter word-of-nats
is "the supervisor has neither" not memory_has "$suite_pid" word-of-nats

before=$(worker_pid receiver)
submitter=$(worker_pid submitter)
descriptors() { find "/proc/$suite_pid/fd" -type l | wc -l; }
had=$(descriptors)
kill -KILL "$before"
fresh() { [ -n "$(worker_pid receiver)" ] && [ "$(worker_pid receiver)" != "$before" ]; }
is "it is another process" wait_for 20 fresh
is "a killed receiver connects again" wait_for 20 connected
has_no_more() { [ "$(descriptors)" = "$had" ]; }
is "the supervisor has as many descriptors as before" wait_for 10 has_no_more || descriptors
is "the submitter stays" [ "$(worker_pid submitter)" = "$submitter" ]

conf 'clusters=["alpha","beta","gamma"]'
is "another cluster: reload" ctl reload
is "its stream is made and read" wait_for 20 reads gamma
is "the streams of the others are read" wait_for 20 reads alpha
before=$(worker_pid receiver)
submitter=$(worker_pid submitter)
conf "natsServer=127.0.0.1:$NATS_PORT, 127.0.0.1:9"
is "another port of the broker: reload" ctl reload
is "the receiver is restarted, because its rules cannot be extended" wait_for 20 fresh
is "the submitter is not" [ "$(worker_pid submitter)" = "$submitter" ]
conf source=slurm
is "another source: reload" ctl reload
is "its value stays until a restart" logged 'source changes only with a restart of the service'
suite_down 10
centre
rm -rf "$T/run" "$T/state"
mkdir "$T/state"
: >"$T/state/lastrun"
chown cc-slurm-adapter: "$T/state" "$T/state/lastrun"
suite_up cc-slurm-adapter
is "as another user: NATS is connected" wait_for 20 connected
is "its sandbox has no uid of its own" wait_for 10 eval 'ctl status -v | grep -q "token not separated"'
test_end
