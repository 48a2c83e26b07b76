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
job=$(batch labalice "true" -n1)
is "a job comes and goes" wait_for 60 backend_has_ended "$job"

ctl metrics >"$T/metrics"
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
value() { awk -v name="cc_slurm_adapter_$1" '$1 == name { print $2 }' "$T/metrics"; }
is "the submitter counts records" [ "$(value records_total)" -ge 1 ]
is "and the collector" [ "$(value records_sent_total)" -ge 1 ]
ctl metrics --prometheus | promtool check metrics >"$T/promtool" 2>&1
status=$?
is "promtool reads the older text form and finds no fault" [ $status = 0 ]
[ $status = 0 ] || sed -n 1,20p "$T/promtool"
test_end
