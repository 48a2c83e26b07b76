#!/bin/bash
# SPDX-License-Identifier: MIT
# slurmctld is slow with a job script, also of jobs that end in their first
# second: a start waits some seconds for it; later than that, it is an update.
# A command that fails is repeated.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a job script that comes late"
need_fake
lab_up
COMMIT=1
backend_up
mkdir "$T/bin"
chmod 755 "$T/bin"
for f in squeue sacct sacctmgr sdiag sinfo; do
	ln -s "$(command -v $f)" "$T/bin/$f"
done
printf 0 >"$T/bin/delay"
cat >"$T/bin/scontrol" <<-S
	#!/bin/sh
	# the real one, slow with scripts
	[ "\$1" != write ] || sleep "\$(cat "$T/bin/delay")"
	[ "\$1" != write ] || [ ! -e "$T/bin/fails" ] || {
		echo "job script retrieval failed: Socket timed out on send/recv operation" >&2
		exit 0
	}
	exec $(command -v scontrol) "\$@"
S
chmod 755 "$T/bin/scontrol"
conf slurmPollInterval=1 ccPollInterval=60 slurmQueryDelay=0 "slurmBinDir=$T/bin"
suite_up
hooks_on
script() {
	backend_jobs | python3 -c '
import json, sys
for line in sys.stdin:
    job = json.loads(line)
    if job["jobId"] == int(sys.argv[1]):
        print(job["metaData"].get("jobScript", ""))' "$1"
}
has_script() { [ "$(script "$1")" = $'#!/bin/bash\n'"$2" ]; }
start_is_bare() { grep '"effect":"start' "$LEDGER" | grep "\"jobId\":$1," | grep -vq jobScript; }
effects() { grep "\"jobId\":$1," "$LEDGER" | grep -oE '"effect":"[a-z_]*"' | cut -d'"' -f4 | paste -sd ' '; }
scripts_sent() { grep '"effect":"edit_meta"' "$LEDGER" | grep "\"jobId\":$1," | grep -c '"key":"jobScript"'; }

# less than a start waits: the end comes before the script
printf 2 >"$T/bin/delay"
brief=$(batch labalice "true" -n1)
is "job $brief arrives and ends" wait_for 60 backend_has_ended "$brief"
is "its start has the script" has_script "$brief" true
is "no update was needed for it" [ "$(scripts_sent "$brief")" = 0 ]

# more than a start waits, less than the command may take
printf 8 >"$T/bin/delay"
long=$(batch labbob "sleep 60" -n1)
brief=$(batch labalice "exit 3" -n1)
for job in "$long" "$brief"; do
	is "job $job arrives" wait_for 30 backend_has "$job"
	is "without its script" start_is_bare "$job"
done
is "job $brief ends" wait_for 60 backend_has_ended "$brief"
is "its script comes later" wait_for 60 has_script "$brief" "exit 3"
is "job $long has its script while it runs" wait_for 60 has_script "$long" "sleep 60"
is "each by one update" [ "$(scripts_sent "$brief") $(scripts_sent "$long")" = "1 1" ]
say "job $brief: $(effects "$brief"); job $long: $(effects "$long")"
scancel "$long"
is "job $long ends" wait_for 60 backend_has_ended "$long"

# slurmctld does not give a script for longer than a start waits
printf 0 >"$T/bin/delay"
: >"$T/bin/fails"
long=$(batch labbob "sleep 61" -n1)
brief=$(batch labalice "exit 4" -n1)
for job in "$long" "$brief"; do
	is "job $job arrives" wait_for 30 backend_has "$job"
	is "without its script" start_is_bare "$job"
done
is "job $brief ends" wait_for 60 backend_has_ended "$brief"
rm "$T/bin/fails"
is "its script is asked again" wait_for 60 has_script "$brief" "exit 4"
is "also that of job $long" wait_for 60 has_script "$long" "sleep 61"
is "each by one update" [ "$(scripts_sent "$brief") $(scripts_sent "$long")" = "1 1" ]
scancel "$long"
is "job $long ends" wait_for 60 backend_has_ended "$long"
test_end
