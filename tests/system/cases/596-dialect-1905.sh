#!/bin/bash
# SPDX-License-Identifier: MIT
# The dialect of Slurm 19.05, from which Fsched is derived: a replay of text
# that was adapted from a newer version's recordings, NOT a live 19.05, through
# the whole suite.  What arrives is held against the records expected of those
# jobs (tests/data/slurm/20.11/job.expected).
TOPOLOGY=block
CLUSTERS='lab1905=n[1-4]'
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a replay of the dialect of 19.05 (no live Slurm)"
data=$(cd "$SYS/../../data/slurm/19.05" && pwd)
getent passwd laboper >/dev/null || useradd -r -M -s /usr/sbin/nologin laboper || broken "no user laboper"
getent group slurm >/dev/null || groupadd -r slurm || broken "no group slurm"
# slurmUser has to be able to run and read it, wherever the sources are
python=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3 in /usr/bin"
mkdir -p "$T/bin" "$T/replay"
cp "$data"/scontrol-*.txt "$SYS/../../fake/slurm1905.py" "$T/replay/"
date +%s >"$T/replay/now"
chmod -R a+rX "$T/replay"
for c in squeue scontrol sacct sacctmgr sinfo sdiag; do
	printf '#!/bin/sh\nexec %s -B %s/slurm1905.py %s %s %s "$@"\n' \
	    "$python" "$T/replay" $c "$T/replay" "$T/replay" >"$T/bin/$c"
	chmod 755 "$T/bin/$c"
done
SLURM_CONF=/dev/null
backend_up
conf "slurmBinDir=$T/bin" slurmConf= "slurmExtraPaths=[\"$T/replay\"]" slurmUser=laboper slurmPollInterval=1 \
    ccPollInterval=4 nodeStatePollInterval=0 slurmSource=json
suite_up
obsolete() { [ "$(grep -c 'slurmSource: the key has no effect' "$SUITE_LOG")" = "$1" ]; }
held() {
	backend_jobs | python3 -B "$SYS/replayed.py" "$data/../20.11/job.expected" \
	    "$(cat "$T/replay/now")" "$T/etc/config.json" "$@"
}
is "it knows that this is 19.05" wait_for 20 logged 'Slurm 19\.05\.5, cluster lab1905'
is "slurmSource, which has no effect, causes one warning" obsolete 1
wait_for 60 held running >/dev/null
is "all that run arrive, with threads, devices and times" held running
: >"$T/replay/ended"
wait_for 60 held ended >/dev/null
is "and their ends" held ended
is "the configuration is read again" ctl reload
is "a reload causes one more warning" wait_for 20 obsolete 2
is "nothing died" not grep -qiE 'restart|crashed|killed by' "$SUITE_LOG"
test_end
