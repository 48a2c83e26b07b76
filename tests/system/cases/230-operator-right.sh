#!/bin/bash
# SPDX-License-Identifier: MIT
# Without the operator permission Slurm shows a part of the jobs and says nothing,
# and denies the query for the nodes: the suite notices at start, names the command that grants it, and when the
# right is taken away while it runs, no job is ended by that.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the operator permission"
lab_up LAB_PRIVATE=jobs,nodes,users,accounts,usage
backend_up
conf slurmUser=labbob slurmPollInterval=2 ccPollInterval=5
suite_up
is "it says that it may not see the jobs" wait_for 20 logged 'no jobs are reported|[Oo]perator'
is "and which command repairs that" wait_for 20 logged 'sacctmgr.*labbob.*[Aa]dmin[Ll]evel=Operator'
is "slurmctld does not count as away" not logged 'slurmctld does not answer'
hooks_on
id=$(batch labalice "sleep 300" -n2 -p gpu --gres=gpu:1)
wait_for 20 job_state_is "$id" RUNNING
sacctmgr -i modify user labbob set AdminLevel=Operator >/dev/null
is "with the right the job arrives, without a restart" wait_for 90 backend_has "$id"
sacctmgr -i modify user labbob set AdminLevel=None >/dev/null
sleep 15	# several polls and two rounds of reconciling
is "the right taken away ends no job" not backend_has_ended "$id"
noticed() { [ "$(grep -cE 'no jobs are reported|[Oo]perator' "$SUITE_LOG")" -ge 2 ]; }
is "and is noticed" wait_for 30 noticed
late=$(batch labalice "sleep 2" -n1)
sleep 6
sacctmgr -i modify user labbob set AdminLevel=Operator >/dev/null
is "what came meanwhile arrives" wait_for 90 backend_has_ended "$late"
scancel "$id"
is "all as Slurm says" compare --short 4 --wait 60 --expect 2
test_end
