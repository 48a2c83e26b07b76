#!/bin/bash
# SPDX-License-Identifier: MIT
# A night of upgrades: slurmdbd away and back, then slurmctld, then the
# commands replaced under us; a version that nobody has seen, whose sacct has
# lost a column.  All is found again by itself, what is missing is named once,
# and every job arrives.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "Slurm is upgraded to a version nobody has seen"
lab_up LAB_BIG=0
backend_up
bin=$T/bin
mkdir -p "$bin" "$T/how"
echo 22.05.8 >"$T/how/version"
for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
	cat >"$bin/$c" <<-E
	#!/bin/bash
	if [ -e $T/how/new ] && [ $c = sacct ] && [[ \$* == *Reservation* ]]; then
		echo 'sacct: error: Invalid field requested: "Reservation"' >&2
		exit 1
	fi
	if [ "$c \$*" = "scontrol show config" ]; then
		$(command -v $c) "\$@" | sed "s/^\(SLURM_VERSION *= \).*/\1\$(cat $T/how/version)/"
		exit "\${PIPESTATUS[0]}"
	fi
	exec $(command -v $c) "\$@"
	E
	chmod 755 "$bin/$c"
done
conf "slurmBinDir=$bin" "slurmExtraPaths=[\"$T/how\"]" slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
found() { logged "Slurm $1, cluster alpha"; }
is "22.05.8 is found" wait_for 20 found 22.05.8
one labalice 2 -n1 -J before
is "a job arrives" wait_for 30 backend_has_ended "$mix_id"

echo 27.11.1 >"$T/how/version"
lab ctl stop slurmdbd
one labbob 3 -n2 -J "while slurmdbd is upgraded"
is "slurmdbd is away: said" wait_for 60 logged 'slurmdbd does not answer'
touch "$T/how/new"
lab ctl start slurmdbd
is "it is back: Slurm is looked at again" wait_for 60 found 27.11.1
is "the column that its sacct lacks is named" wait_for 30 logged 'has no column Reservation'
is "the job arrives" wait_for 60 backend_has_ended "$mix_id"

echo 27.11.2 >"$T/how/version"
lab ctl stop slurmctld
is "slurmctld is away: said" wait_for 60 logged 'slurmctld does not answer'
lab ctl start slurmctld
is "it is back: looked at again" wait_for 60 found 27.11.2

echo 28.05.0 >"$T/how/version"
cp "$bin/squeue" "$bin/squeue.new"
mv "$bin/squeue.new" "$bin/squeue"
is "the commands were replaced: looked at again" wait_for 20 found 28.05.0
one labalice 2 -p gpu -n1 --gres=gpu:2 -J after
is "a job arrives" wait_for 60 backend_has_ended "$mix_id"
is "the column was named once" [ "$(grep -c 'has no column Reservation' "$SUITE_LOG")" = 1 ]
is "nobody said that slurmdbd was away for it" [ "$(grep -c 'slurmdbd does not answer' "$SUITE_LOG")" = 1 ]
wait_for 30 queue_empty
is "all as Slurm says" compare --short 4 --wait 60 --expect "$mix_count"
test_end
