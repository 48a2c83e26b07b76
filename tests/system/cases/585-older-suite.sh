#!/bin/bash
# SPDX-License-Identifier: MIT
# The suite replaces an older version: runs that wait in the older version's
# spool, runs that started under it and events of its hook client arrive once.
# CSA_OLD_INST is the installation of the older version (tests/lab/build DIR in
# a work tree of that commit; then DIR/inst).
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
[ -n "${CSA_OLD_INST:-}" ] || skip "needs CSA_OLD_INST, the installation of an older version"
test_begin "an older version's spool is opened and delivered"
lab_up LAB_MINJOBAGE=10
backend_up
new=$CSA_INST
use() {
	CSA_INST=$1
	ADAPTER=$1/sbin/cc-slurm-adapter
	CTL=$1/sbin/cc-slurm-adapterctl
}
use "$CSA_OLD_INST"
suite_up
hooks_on
one labalice 300 -n2 -J "runs through the upgrade"
through=$mix_id
is "a job arrives through the older version" wait_for 30 backend_has "$through"
backend_down
mix 15
one labbob 2 -p gpu --gres=gpu:2 -n1 -J "ends before the upgrade"
mix_end
all_forgotten() { [ "$(squeue -h -a -t all -o %A | wc -l)" -le 1 ]; }
is "slurmctld has forgotten what ended" wait_for 150 all_forgotten
waits() { [ "$(ctl -j queue | grep -o '"job"' | wc -l)" -ge 10 ]; }
is "the runs wait in the older version's spool" wait_for 20 waits
suite_kill
use "$new"
suite_up
is "the new version has all of them in its queue" wait_for 20 waits
backend_up
is "all as Slurm says" compare --short 4 --wait 90 --expect "$mix_count"
scancel "$through"
is "the run that started under the older version ends" wait_for 60 backend_has_ended "$through"
use "$CSA_OLD_INST"
one labalice 3 -n1 -J "the older hook client reports it"
is "a message of the older hook client is accepted" wait_for 30 backend_has "$mix_id"
is "no state of a run was refused" not logged "is not allowed in the state"
test_end
