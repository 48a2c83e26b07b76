#!/bin/bash
# SPDX-License-Identifier: MIT
# A heterogeneous job: slurmctld keeps another script for the second component,
# which never runs.  Each component arrives with the script that ran.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the script of a heterogeneous job"
need_fake
lab_up
COMMIT=1
backend_up
conf slurmPollInterval=1 ccPollInterval=60 slurmQueryDelay=0
suite_up
leader=$(batch labalice "sleep 4" -n1 : -n2)
component=$((leader + 1))
is "job $leader is heterogeneous" wait_for 20 sh -c \
    "scontrol show job $component | grep -q 'HetJobId=$leader HetJobOffset=1'"
say "slurmctld keeps for the component: $(scontrol write batch_script "$component" - | tr '\n' '|')"
script() {
	backend_jobs | python3 -c '
import json, sys
for line in sys.stdin:
    job = json.loads(line)
    if job["jobId"] == int(sys.argv[1]):
        print(job["metaData"].get("jobScript", ""))' "$1"
}
for job in "$leader" "$component"; do
	is "job $job ends" wait_for 60 backend_has_ended "$job"
	is "and has the script that ran" [ "$(script "$job")" = '#!/bin/bash
sleep 4' ]
done
test_end
