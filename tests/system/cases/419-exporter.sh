#!/bin/bash
# SPDX-License-Identifier: MIT
# The exporter: Prometheus scrapes the metrics from a process of its own, which
# hostile, slow and many clients neither stop nor fill.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "metrics over HTTP"
"$LAB/packages" metrics || skip "promtool cannot be installed"
lab_up
backend_up
port=$(lib freeport 1)
conf "metricsListen=127.0.0.1:$port"
suite_up
hooks_on
job=$(batch labalice "true" -n1)
is "a job comes and goes" wait_for 60 backend_has_ended "$job"
url=http://127.0.0.1:$port/metrics
exporter_pid() { ctl -j status | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["exporter"]["pid"])'; }
get() { curl -sS --max-time 20 -o "$T/page" -w '%{http_code}' "$@"; }
sample() { grep -E "^cc_slurm_adapter_$1 " "$T/page" | cut -d" " -f2; }

is "the page comes" [ "$(get "$url")" = 200 ]
older_form() { promtool check metrics <"$T/page" >"$T/promtool" 2>&1; }
is "in the older text form" older_form
is "OpenMetrics when the client asks" \
    [ "$(get -H 'Accept: application/openmetrics-text; version=1.0.0' "$url")" = 200 ]
is "it has its last line" [ "$(tail -n 1 "$T/page")" = "# EOF" ]
for worker in listener collector submitter exporter; do
	is "the $worker is up" [ "$(sample "worker_up\\{worker=\"$worker\"\\}")" = 1 ]
done
is "it has rows of the submitter" [ -n "$(sample spool_runs)" ]
is "and of the collector" [ -n "$(sample open_runs)" ]

# the process
pid=$(exporter_pid)
is "it is not root" [ "$(stat -c %U "/proc/$pid")" = cc-slurm-export ]
is "its root is empty" [ -z "$(ls -A "/proc/$pid/root/")" ]
is "it has no capability" grep -q '^CapEff:.0*$' "/proc/$pid/status"
is "it has a filter of system calls" grep -q '^Seccomp:.2$' "/proc/$pid/status"
layers() { ctl -j status | lib get - status "$1" sandbox; }
is "its layers are those of the listener" [ "$(layers exporter)" = "$(layers listener)" ]
is "and one of them is the filter" grep -q seccomp <<<"$(layers exporter)"

# hostile requests
is "another path" [ "$(get "http://127.0.0.1:$port/")" = 404 ]
is "another method" grep -qE '^[45]' <<<"$(get -X POST -d x "$url")"
is "long headers" not grep -q '^200$' <<<"$(get -H "X: $(head -c 20000 /dev/zero | tr '\0' a)" "$url")"
python3 - "$port" >"$T/hostile" <<'PY'
import os, socket, sys
def open_to():
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.settimeout(25)
    return s
def send(s, data):
    try:
        s.sendall(data)
    except OSError:
        pass
def rest(s):
    try:
        data = b""
        while chunk := s.recv(65536):
            data += chunk
    except OSError:
        pass
    return data
bad = 0
for data in (os.urandom(4096), b"GET /metrics HTTP/9.9\r\n\r\n", b"\0" * 9000, b"GET http://[ HTTP/1.1\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n"):
    s = open_to()
    s.settimeout(1)
    send(s, data)
    try:
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    rest(s)
    s.close()
many = [open_to() for _ in range(50)] # silent
s = open_to()
send(s, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
for m in many:
    m.close()
print("answered" if b" 200 " in rest(s) else "not answered")
PY
is "after 50 silent clients there is a place" grep -q '^answered$' "$T/hostile"
is "the process is the same" [ "$(exporter_pid)" = "$pid" ]
is "and answers" [ "$(get "$url")" = 200 ]

# killed, it comes back alone
other=$(ctl -j status | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["submitter"]["pid"])')
kill -9 "$pid"
page_comes() { [ "$(get "$url" 2>/dev/null)" = 200 ]; }
is "after SIGKILL it serves again" wait_for 10 page_comes
is "no other process was restarted" [ "$(sample 'worker_restarts_total\{worker="submitter"\}')" = 0 ]
is "the submitter is the same" [ "$(ctl -j status | python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["submitter"]["pid"])')" = "$other" ]

# a real Prometheus
if command -v prometheus >/dev/null; then
	prometheus_up "127.0.0.1:$port" 1 "$SYS/../../../etc/prometheus/cc-slurm-adapter.rules.yml"
	up() { prometheus_ask 'up{job="csa"}' | grep -q '"1"'; }
	is "Prometheus scrapes it" wait_for 20 up
	rules_loaded() { curl -sS "http://$PROMETHEUS/api/v1/rules" | grep -q CcTokenExpired; }
	is "and loads the alert rules" rules_loaded
	scraped_often() { prometheus_ask 'count_over_time(up{job="csa"}[1m]) >= 4' | grep -q csa; }
	is "it has scraped it several times" wait_for 30 scraped_often
	is "each query of the board returns data" "$SYS/../../prometheus/board" "$PROMETHEUS"
	alerts=$(curl -sSf "http://$PROMETHEUS/api/v1/alerts")
	is "Prometheus lists the alerts" grep -q '"status":"success"' <<<"$alerts"
	is "no alert fires on a healthy lab" not grep -q '"state":"firing"' <<<"$alerts"
	prometheus_down
fi
suite_down

# other addresses
for bad in 0.0.0.0:9310 192.0.2.1:9310 '[::]:9310' 'tcp::9310' example.org:9310 127.0.0.1 relative/path; do
	conf "metricsListen=$bad"
	is "$bad is refused" not "$ADAPTER" -daemon -test -config "$T/etc/config.json" 2>/dev/null
done
conf "metricsListen=$T/run/metrics.sock"
suite_up
is "a UNIX socket" [ "$(get --unix-socket "$T/run/metrics.sock" http://x/metrics)" = 200 ]
is "status has the exporter" ctl -j status
suite_down
is "the socket is removed" [ ! -e "$T/run/metrics.sock" ]

# with User= the exporter has the user of the daemon
rm -rf "$T/state" "$T/run"
suite_up laboper
is "with User=: a UNIX socket" [ "$(get --unix-socket "$T/run/metrics.sock" http://x/metrics)" = 200 ]
suite_down
conf "metricsListen=127.0.0.1:$port"
suite_up laboper
is "with User=: a loopback address" [ "$(get "$url")" = 200 ]
pid=$(exporter_pid)
is "with User=: the user" [ "$(stat -c %U "/proc/$pid")" = laboper ]
is "with User=: the filter of system calls" grep -q '^Seccomp:.2$' "/proc/$pid/status"
suite_down
test_end
