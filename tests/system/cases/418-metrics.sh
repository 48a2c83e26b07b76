#!/bin/bash
# SPDX-License-Identifier: MIT
# `cc-slurm-adapterctl metrics` is read by Prometheus' own parsers: the one for
# OpenMetrics, and promtool, which reads the older text form as node_exporter's
# textfile collector does.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "metrics for Prometheus"
"$LAB/packages" metrics || skip "no parser of Prometheus can be installed"
# Debian's module is for Debian's interpreter
for python in python3 /usr/bin/python3; do
	"$python" -c 'import prometheus_client' 2>/dev/null && break
	python=
done
[ -n "$python" ] || skip "python3 has no prometheus_client"
lab_up
need_fake
backend_up
suite_up
hooks_on
job=$(batch labalice "true" -n1)
is "a job comes and goes" wait_for 60 backend_has_ended "$job"

value() { grep -E "^cc_slurm_adapter_$1 " "$T/metrics" | cut -d" " -f2; }
# cc-backend has the end before the submitter has the answer
counted() {
	ctl metrics >"$T/metrics" &&
	    [ "$(value 'end_delivered_seconds_count\{to="cc-backend"\}')" -ge 1 ] &&
	    [ "$(value hook_stored_seconds_count)" -ge 1 ]
}
is "the end and the hook are counted" wait_for 20 counted
is "it is not empty" [ "$(grep -cv '^#' "$T/metrics")" -ge 30 ]
# each family once, each sample once, a counter's name as it must be
openmetrics() {
	"$python" - "$T/metrics" <<'PY'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
seen = set()
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.documentation, family.name
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in seen, key
        seen.add(key)
print(len(seen))
PY
}
is "OpenMetrics' parser reads all of it" [ "$(openmetrics)" = "$(grep -cv '^#' "$T/metrics")" ]
# the stages, histograms and reasons
has() { grep -qE "^cc_slurm_adapter_$1 " "$T/metrics"; }
recent() {
	local at
	at=$(value "stage_last_success_timestamp_seconds\{stage=\"$1\"\}")
	[ "$(($(date +%s) - at < 60))" = 1 ]
}
for stage in hooks slurmctld slurmdbd spool cc-backend; do
	is "$stage: the last success is less than a minute ago" recent "$stage"
	is "$stage: no old item waits" [ "$(value "stage_oldest_waiting_seconds\{stage=\"$stage\"\}")" -lt 60 ]
	is "$stage: errors by kind" has "stage_errors_total\{stage=\"$stage\",kind=\"[a-z_-]+\"\}"
done
is "times of squeue" has 'slurm_command_seconds_bucket\{command="squeue",question="running_list",le="\+Inf"\}'
is "the start was delivered" [ "$(value 'start_delivered_seconds_count\{to="cc-backend"\}')" -ge 1 ]
is "the end was delivered" [ "$(value 'end_delivered_seconds_count\{to="cc-backend"\}')" -ge 1 ]
is "the hook was stored" [ "$(value hook_stored_seconds_count)" -ge 1 ]
is "rejections by reason" has 'rejections_total\{reason="duplicate"\}'
is "the version" has 'build_info\{version="[0-9.]+",nats="(yes|no)"\}'
is "the submitter counts records" [ "$(value records_total)" -ge 1 ]
is "and the collector" [ "$(value records_sent_total)" -ge 1 ]
ctl metrics --prometheus | promtool check metrics >"$T/promtool" 2>&1
status=$?
is "promtool reads the older text form and finds no fault" [ $status = 0 ]
[ $status = 0 ] || sed -n 1,20p "$T/promtool"

# the expiry of the token: of each kind, after a reload
token_of() {
	python3 - "$1" <<'PY'
import base64, json, sys, time
def part(o):
    return base64.urlsafe_b64encode(json.dumps(o).encode()).decode().rstrip("=")
claims = {"sub": "x", "roles": ["api"]}
if sys.argv[1] != "none":
    claims["exp"] = int(time.time()) + int(sys.argv[1])
print(part({"alg": "EdDSA"}) + "." + part(claims) + ".c2ln")
PY
}
is "the metrics have the kind of the token" grep -q '^cc_slurm_adapter_token_info{kind="' "$T/metrics"
token_is() {
	conf "ccRestJwt=$1"
	ctl reload >/dev/null || return 1
	ctl status -v >"$T/status"
	grep -q "  token  *$2" "$T/status"
}
is "a token that expires in 10 days" token_is "$(token_of 864000)" "expires .*, in \(10 d\|9 d 23 h\)"
is "is logged" grep -q "the token for cc-backend at .* expires at .*, in" "$SUITE_LOG"
ctl metrics >"$T/metrics"
left=$(value token_remaining_seconds)
is "is a metric" [ "$((left > 863000 && left <= 864000))" = 1 ]
is "a token that has expired" token_is "$(token_of -7200)" "expired .*, 2 h.* ago"
is "is logged as an error" grep -q "ERROR.*the token for cc-backend at .* expired at" "$SUITE_LOG"
is "a token without exp" token_is "$(token_of none)" "without exp"
is "a token that is no JWT" token_is "not-a-jwt" "not a JWT"
test_end
