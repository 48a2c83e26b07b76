#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmctld limits requests by user (rl_enable, 23.02+; before that the limit
# is made up, and the commands are counted all the same): a third of the bucket is
# never touched, scripts come one a second, a refusal is waited out, and all
# jobs arrive (a script that comes too late for its start is left out).
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "slurmctld limits requests"
release=$(slurmctld -V)
release=${release##* }
rules=rl_enable,rl_bucket_size=60,rl_refill_rate=4
limit=
case $release in
20.* | 21.* | 22.*) limit="SlurmctldParameters = $rules" ;;
esac
lab_up LAB_BIG=0 "LAB_CONF=${limit:+#}SlurmctldParameters=$rules"
backend_up
bin=$T/bin calls=$T/calls
mkdir -p "$bin"
: >"$calls"
chmod 666 "$calls"
for c in squeue sacct scontrol sacctmgr sinfo sdiag; do
	cat >"$bin/$c" <<-E
	#!/bin/bash
	case $c in squeue | scontrol | sdiag) echo "\$EPOCHREALTIME $c \$*" >>$calls ;; esac
	if [ -e $T/refuse ] && [ $c = squeue ]; then
		echo "slurm_load_jobs error: Rate limit exceeded, please retry momentarily" >&2
		exit 1
	fi
	[ "$c \$*" != "scontrol show config" ] || echo "$limit"
	exec $(command -v $c) "\$@"
	E
	chmod 755 "$bin/$c"
done
# Without the sandbox: the commands in $bin write a list of their calls.
conf "slurmBinDir=$bin" sandbox=off slurmPollInterval=1 ccPollInterval=4
suite_up
hooks_on
status() { ctl status -v 2>/dev/null | grep -E "$1"; }
is "the limit is found" wait_for 20 logged 'limits requests \(bucket 60, refill 4 in 1 s\)'
for ((i = 0; i < 4; i++)); do
	one labalice 4 -n$((1 + i % 3)) -J "single-$i"
done
one labbob 6 -n1 -a 1-24 -J "tasks have one script"
mix_count=$((mix_count + 23))
is "28 runs arrive" compare --no-scripts --short 4 --wait 90 --expect "$mix_count"

# The bucket as slurmctld keeps it.
judge() {
	python3 - "$calls" <<-'E'
	import sys
	tokens, last, least, scripts, gap, n = 60.0, None, 60.0, None, 99.0, 0
	cost = {"squeue": 2, "scontrol": 2, "sdiag": 1}
	for line in open(sys.argv[1], encoding="latin-1"):  # delimiters
	    t, what = line.split(" ", 1)
	    t, n = float(t), n + 1
	    tokens = min(60.0, tokens + 4 * (t - (last or t)))
	    tokens -= 1 if "batch_script" in what else cost[what.split()[0]]
	    last, least = t, min(least, tokens)
	    if "batch_script" in what:
	        gap = min(gap, t - scripts) if scripts else gap
	        scripts = t
	print("%d %.1f %.2f" % (n, least, gap))
	E
}
read -r n least gap <<<"$(judge)"
say "$n commands to slurmctld, at least $least tokens of 60 were left, $gap s between scripts"
is "the bucket never falls below fifteen" [ "${least%.*}" -ge 15 ]
is "scripts come one a second" [ "$(printf '%s' "$gap" | tr -d .)" -ge 90 ]
grep -qs batch_script "$calls" || is "scripts were asked for" false
if [ -z "$limit" ]; then
	is "slurmctld has refused nothing" not grep -qi 'rate.*limit.*exceeded' "$T/slurm/log/slurmctld.log"
fi

touch "$T/refuse"
is "a refusal is said" wait_for 30 logged 'slurmctld refuses, too many requests'
is "status counts it" status 'rate_limit.*refused [1-9]'
is "slurmctld does not count as away" not status 'slurmctld +away'
rm "$T/refuse"
one labalice 2 -n1 -J after
is "and waited out: jobs arrive" wait_for 60 backend_has_ended "$mix_id"
is "all as Slurm says" compare --no-scripts --short 4 --wait 60 --expect "$mix_count"
if [ -z "$limit" ]; then
	# somebody else of our user empties the bucket
	end=$((SECONDS + 15))
	for ((i = 0; i < 4; i++)); do
		while [ $SECONDS -lt $end ]; do
			as laboper squeue -h -o %A
		done >/dev/null 2>&1 &
		started_pids+=($!)
	done
	one labbob 2 -n1 -J "in the storm"
	is "with the bucket emptied by others: jobs arrive" wait_for 90 backend_has_ended "$mix_id"
	is "slurmctld has refused those" grep -qi 'rate.*limit.*exceeded' "$T/slurm/log/slurmctld.log"
	is "nobody is called away for it" not logged 'slurmctld does not answer'
fi
test_end
