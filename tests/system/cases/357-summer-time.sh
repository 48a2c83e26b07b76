#!/bin/bash
# SPDX-License-Identifier: MIT
# Summer time begins and ends while Slurm's daemons and the suite run, in three
# zones, one of which changes by half an hour: what runs across the change, what
# begins in the hour that comes twice or behind the one that is left out, and
# what ran while the suite was down.  The clocks are set to seconds before each
# change (clocks.sh); the rows of 355 are only written for such times.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/clocks.sh"
own_mounts
test_begin "summer time begins and ends"
need_fake
clock=$T/clock
clock_new "$clock"
COMMIT=1
shows() { [ $(($(slurm_shows) - $1)) -ge 0 ]; }
runs() { job_state_is "$1" RUNNING; }
all_since() {	# WHAT EPOCH N: as Slurm says, by Slurm's clock
	is "$1" by "$clock" compare --since "$2" --short 3 --wait 40 --expect "$3" --quiet
}

# change ZONE UTC: at that second summer time begins or ends there.  Each zone has a
# cc-backend of its own, because all of them use the same job ids.
change() {
	local at=0 across before after down
	export TZ=$1
	at=$(date -u -d "$2" +%s)
	say "$TZ: $(date -d "@$((at - 1))" '+%F %T %Z') is followed by $(date -d "@$at" '+%T %Z')"
	step "$clock" $((at - 300 - $(date +%s)))
	suite_by "$clock"
	lab_up LD_PRELOAD="$T/walltime_shift.so" WALLTIME_SHIFT="$clock"
	backend_down
	rm -f "$T/ledger" "$T/token"
	backend_up
	conf "ccRestJwt=$(cat "$TOKEN")" slurmPollInterval=1 ccPollInterval=3600 slurmQueryDelay=0 slurmAccountingLag=60
	rm -rf "$T/state/spool"
	suite_up
	hooks_on
	across=$(batch labalice "sleep 20" -n1 -t 1-0 -J across)
	is "a run begins before" wait_for 40 backend_has "$across"
	is "(in time)" not shows "$at"
	before=$(batch labbob "sleep 4" -n2 -J before)
	wait_for 40 runs "$before"
	step "$clock" $((at - 3 - $(date +%s)))
	is "(the change)" wait_for 30 shows "$at"
	hooks_off
	after=$(batch labbob "sleep 4" -n2 -J "after, by poll")
	is "one begins after" wait_for 40 backend_has "$after"
	hooks_on
	is "one that began before ends after" wait_for 60 backend_has_ended "$before"
	suite_down
	down=$(batch labalice "sleep 4" -n3 -J "while the suite is down")
	wait_for 40 job_state_is "$down" COMPLETED
	suite_up
	is "what ran while the suite was down" wait_for 60 backend_has_ended "$down"
	is "so does the one across" wait_for 60 backend_has_ended "$across"
	all_since "all have their seconds" $((at - 3600)) 4
	suite_down
	"$LAB/slurm" down "$T/slurm"
}

change America/New_York "2026-03-08 07:00"
change Australia/Lord_Howe "2026-04-04 15:00"
change Europe/Berlin "2026-10-25 01:00"
test_end
