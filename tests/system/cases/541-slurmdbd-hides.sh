#!/bin/bash
# SPDX-License-Identifier: MIT
# slurm.conf hides no jobs, slurmdbd.conf does: who is no operator would see all
# runs begin and none end.  That is said, nobody's run is ended by it, and when
# slurmdbd hides them no longer, or begins to, it is noticed as the suite runs.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "PrivateData of slurmdbd.conf"
lab_up
dbd_private() {	# LIST
	sed -i '/^PrivateData/d' "$T/slurm/etc/slurmdbd.conf"
	echo "PrivateData=$1" >>"$T/slurm/etc/slurmdbd.conf"
	lab ctl stop slurmdbd
	lab ctl start slurmdbd
}
right_is() { ctl status -v | grep -E '^ +right ' | grep -q "$1"; }
dbd_private jobs,users
told() { sacctmgr -n -P show configuration | sed '1,/^SlurmDBD configuration/d' | grep -q '^PrivateData *= *jobs'; }
told || skip "$(sacct --version) does not tell what slurmdbd hides"
backend_up
mkdir "$T/bin"
chmod 755 "$T/bin"
for f in squeue scontrol sacct sdiag sinfo; do
	ln -s "$(command -v $f)" "$T/bin/$f"
done
cat >"$T/bin/sacctmgr" <<-S
	#!/bin/sh
	[ "\$4" = configuration ] && [ -e $T/bin/silent ] && exit 0
	exec $(command -v sacctmgr) "\$@"
S
chmod 755 "$T/bin/sacctmgr"
conf slurmUser=labbob slurmPollInterval=2 ccPollInterval=5 slurmBinDir="$T/bin"
: >"$T/bin/silent"
suite_up
is "an answer without a word of it proves nothing" \
    wait_for 30 logged "says nothing of slurmdbd's configuration"
rm "$T/bin/silent"
is "it says that it may not see their ends" wait_for 60 logged "no ends of jobs are reported: "
is "and which command repairs that" wait_for 10 logged 'sacctmgr.*labbob.*adminlevel=Operator'
is "status says it" wait_for 20 right_is 'hidden'
a=$(batch labalice "sleep 300" -n2)
wait_for 20 job_state_is "$a" RUNNING
dbd_private none
is "open to all, the right is not needed" wait_for 90 right_is 'not needed'
is "and the job arrives" wait_for 60 backend_has "$a"
b=$(batch labalice "sleep 2" -n1)
is "runs end" wait_for 60 backend_has_ended "$b"
dbd_private jobs
is "hidden again, that is noticed" wait_for 90 right_is 'hidden'
c=$(batch labalice "sleep 1" -n1)
wait_for 30 sh -c "! squeue -h -j $c -t R,PD,CG | grep -q ." 2>/dev/null
is "and ends nobody" not backend_has_ended "$a"
sacctmgr -i modify user labbob set AdminLevel=Operator >/dev/null
is "an operator sees them" wait_for 90 right_is 'operator'
is "the end of meanwhile arrives" wait_for 60 backend_has_ended "$c"
scancel "$a"
is "and the end arrives" wait_for 60 backend_has_ended "$a"
# a job's script is its user's and an operator's
is "all as Slurm says" compare --no-scripts --short 4 --wait 60 --expect 3
test_end
