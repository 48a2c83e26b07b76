#!/bin/bash
# SPDX-License-Identifier: MIT
# The spool is removed while it holds runs that cc-backend has not got, and the
# last-run file stays, with a time after their ends: the new spool gets them from
# the last day of accounting, which is read at once.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a spool that was removed"
lab_up LAB_BIG=0
backend_up
backend_down
conf slurmPollInterval=1 slurmAccountingLag=1 ccPollInterval=3600
suite_up
first=$(batch labalice "exit 0" -n1)
second=$(batch labbob "sleep 1" -N2)
wait_for 60 queue_empty
ended=$EPOCHSECONDS
read_past() { [ "$(stat -c %Y "$T/state/lastrun")" -gt $((ended + 3)) ]; }
is "accounting is read past their ends" wait_for 180 read_past
suite_kill
rm -rf "$T/state/spool"
backend_up
suite_up
is "the first one arrives" wait_for 60 backend_has_ended "$first"
is "the second one, too" wait_for 20 backend_has_ended "$second"
is "with the state of each" compare --wait 30 --expect 2
test_end
