#!/bin/bash
# SPDX-License-Identifier: MIT
# Garbage at every door: socket, admin door, Slurm's output, HTTP answers,
# configuration.  A clear message, nothing dies, nothing is lost.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "garbage at every door"
need_fake
lab_up
backend_up
conf slurmPollInterval=2
suite_up
hooks_on
pids=$(suite_pids)
same_pids() { [ "$(suite_pids)" = "$pids" ] && suite_alive; }

# --- the hooks' door
g=$T/garbage
mkdir -p "$g"
printf '' >"$g/empty"
head -c 100000 /dev/urandom >"$g/random"
head -c 3000000 /dev/zero >"$g/zeros"
printf '{"SLURM_JOB_ID":"1"' >"$g/torn"
printf '{"SLURM_JOB_ID":1,"SLURM_CLUSTER_NAME":[]}' >"$g/types"
printf '{"SLURM_JOB_ID":"99999999999999999999999","SLURM_CLUSTER_NAME":"alpha"}' >"$g/bigid"
printf '{"SLURM_JOB_ID":"-1","SLURM_CLUSTER_NAME":"alpha"}' >"$g/negative"
printf '{"SLURM_JOB_ID":"1","SLURM_CLUSTER_NAME":"nosuch"}' >"$g/cluster"
printf '{"SLURM_JOB_ID":"1; rm -rf /","SLURM_CLUSTER_NAME":"alpha"}' >"$g/shell"
printf '{"SLURM_JOB_ID":"77777","SLURM_CLUSTER_NAME":"alpha","SLURM_SCRIPT_CONTEXT":"epilog_slurmctld"}' >"$g/unknown"
python3 -c 'print("[" * 60000)' >"$g/deep"
python3 -c 'print("{\"" + "k" * 60000 + "\":\"v\"}")' >"$g/longkey"
for f in "$g"/*; do
	lib send "unix:$T/run/daemon.sock" "$f" 2>/dev/null
done
is "the socket takes garbage ($(find "$g" -type f | wc -l) kinds)" same_pids
python3 - "$T/run/daemon.sock" <<'E'
import socket, sys
held = []
for _ in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(0.2)
    try:
        s.connect(sys.argv[1])
        s.send(b"{")
    except OSError:
        pass
    held.append(s)
E
is "300 half messages at once" same_pids
id=$(batch labalice "sleep 2" -n1)
is "a job's hook still gets through" wait_for 30 backend_has_ended "$id"

# --- the admin's door
for f in "$g"/*; do
	lib send "unix:$T/run/ctl.sock" "$f" 2>/dev/null
done
is "the admin's door takes garbage" same_pids
ctl_works() { ctl status -v | grep -q '^collector'; }
is "and works" ctl_works
as labalice "$CTL" -s "$T/run/ctl.sock" status >/dev/null 2>&1
is "it is shut for others" [ $? -ne 0 ]

# --- HTTP answers; each a few times, while jobs come and go
for action in garbage html truncate wrong-length reset halfopen redirect slow endless big 401 hang; do
	fault "{\"match\":\"*\",\"action\":\"$action\",\"count\":3,\"delayMs\":500}"
	one labbob 1 -n1 -J "http-$action"
	sleep 1
done
for status in 400 404 500 502 503 204 302; do
	fault "{\"match\":\"*\",\"action\":\"status\",\"status\":$status,\"count\":2,\"body\":\"<<<\\u0000{\"}"
	sleep 0.5
	one labalice 1 -n1 -J "status-$status"
done
sleep 5
faults_off
is "no answer ends a process" same_pids
"$CTL" -s "$T/run/ctl.sock" retry --all >/dev/null 2>&1
wait_for 60 queue_empty
one labalice 2 -n1 -J after
wait_for 60 queue_empty
is "all as Slurm says" compare --short 4 --wait 150 --expect "$((mix_count + 1))"

# --- configuration
bad() {	# TITLE TEXT PATTERN
	printf '%s' "$2" >"$T/etc/bad.json"
	chmod 600 "$T/etc/bad.json"
	"$ADAPTER" -daemon -test -config "$T/etc/bad.json" >"$T/log/bad" 2>&1
	local rc=$?
	is "configuration: $1" [ $rc -ne 0 ] && is "   it says so: $(tail -n 1 "$T/log/bad" | cut -c1-90)" grep -qE "$3" "$T/log/bad"
}
bad "torn" '{"slurmPollInterval": 60' 'line|1'
bad "no object" '[]' 'object'
bad "empty" '' '.'
bad "wrong type" '{"slurmPollInterval": "often"}' 'slurmPollInterval'
bad "impossible value" '{"natsPort": 70000}' 'natsPort'
bad "bytes" "$(printf '\001\002\377')" '.'
bad "a pattern that is none" '{"gpuPciAddrs": {"n[": ["x"]}}' 'gpuPciAddrs'
bad "what only a worker can tell" '{"ccRestUrl": "http://x", "natsServer": "nats://h:99999"}' 'natsServer'

# --- Slurm's output: programs in its place that print rubbish now and then
suite_down 5
bin=$T/bin
mkdir -p "$bin" "$T/how"
for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
	cat >"$bin/$c" <<-E
	#!/bin/bash
	[ -s $T/how/rubbish ] || exec $(command -v $c) "\$@"
	case \$((RANDOM % 8)) in
	0) head -c 70000 /dev/urandom ;;
	1) yes "1 R 1" | head -n 20000 ;;
	2) exit 0 ;;
	3) echo "slurm_load_jobs error: who knows" >&2; exit 1 ;;
	4) $(command -v $c) "\$@" | head -c 100 ;;
	5) $(command -v $c) "\$@" | tr '0-9' '9' ;;
	6) kill -SEGV \$\$ ;;
	7) printf 'JobId=1 JobName=x UserId=root(0) GroupId=root(0) JobState=RUNNING\n%0300000d' 0 ;;
	esac
	E
	chmod 755 "$bin/$c"
done
conf "slurmBinDir=$bin" "slurmExtraPaths=[\"$T/how\"]" slurmPollInterval=1
suite_up
pids=$(suite_pids)
echo yes >"$T/how/rubbish"
one labalice 6 -n2
one labbob 6 -n1 -p gpu --gres=gpu:1
sleep 12
is "rubbish from Slurm ends nothing" same_pids
: >"$T/how/rubbish"
one labalice 5 -n1
wait_for 60 queue_empty
is "all as Slurm says, and nothing more" compare --short 20 --wait 90 --expect "$((mix_count + 1))"
is "nothing died" same_pids
test_end
