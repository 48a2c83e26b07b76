#!/bin/bash
# SPDX-License-Identifier: MIT
# sacct fails each time that it has to print the steps of one requeued job: the ends of
# other jobs, and of other requeued runs, arrive as before.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "steps that sacct cannot read"
lab_up
backend_up
mkdir "$T/bin"
chmod 755 "$T/bin"
for f in squeue scontrol sacctmgr sdiag sinfo sacct; do
	ln -s "$(command -v $f)" "$T/bin/$f"
done
# sacct_fails JOB: the real one, which cannot read the steps of the job
sacct_fails() {
	cat >"$T/sacct" <<-S
		#!/bin/sh
		for a; do
		    [ "\$before" != -j ] || ids=,\$a,
		    [ "\$a" != JobIDRaw,Start,End,ExitCode ] || steps=1
		    before=\$a
		done
		case \$steps\$ids in
		1*,$1,*)
		    echo "sacct: error: Query result exceeds size limit" >&2
		    exit 1 ;;
		esac
		exec $(command -v sacct) "\$@"
	S
	chmod 755 "$T/sacct"
	mv "$T/sacct" "$T/bin/sacct"
}
# requeue JOB: its run ends early, and the job stays pending
requeue() {
	wait_for 30 job_state_is "$1" RUNNING
	sleep 2
	scontrol requeuehold "$1"
}
conf slurmPollInterval=1 ccPollInterval=10 slurmBinDir="$T/bin"
suite_up
bad=$(batch labalice "sleep 300" -n1 --requeue)
sacct_fails "$bad"
is "the job arrives" wait_for 30 backend_has "$bad"
requeue "$bad"
is "sacct fails for its steps" wait_for 60 logged "exceeds size limit"
sleep 5
other=$(batch labbob "sleep 5" -n1)
is "another job arrives" wait_for 30 backend_has "$other"
is "its end arrives" wait_for 60 backend_has_ended "$other"
again=$(batch labbob "sleep 300" -n1 --requeue)
is "a second requeued job arrives" wait_for 30 backend_has "$again"
requeue "$again"
is "the end of its run arrives" wait_for 150 backend_has_ended "$again"
is "the run of the first one waits" not backend_has_ended "$bad"
ln -sf "$(command -v sacct)" "$T/bin/sacct"
is "its end arrives when sacct can read its steps" wait_for 150 backend_has_ended "$bad"
scancel -u labalice
scancel -u labbob
test_end
