#!/bin/bash
# SPDX-License-Identifier: MIT
# ignoreHosts is changed while a run on such a host is reported as running: the run
# gets its end.  A run that begins on such a host afterwards is not reported.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "hosts that are ignored later"
lab_up
backend_up
suite_up
hooks_on

reported=$(batch labalice "sleep 20" -n1 -w n2)
is "a run on n2 is reported" wait_for 30 backend_has "$reported"
conf 'ignoreHosts=^n2$'
is "n2 is ignored from now on" ctl reload
is "the run ends" wait_for 60 queue_empty
is "and has its end" wait_for 60 backend_has_ended "$reported"
ignored=$(batch labalice "sleep 1" -n1 -w n2)
seen=$(batch labbob "sleep 1" -n1 -w n1)
is "a run on n1 is reported with its end" wait_for 60 backend_has_ended "$seen"
is "both have ended" wait_for 30 queue_empty
is "accounting was read once more" wait_for 30 backend_has_ended "$(batch labbob true -n1 -w n1)"
is "the run that began on n2 is not reported" not backend_has "$ignored"
test_end
