#!/bin/bash
# SPDX-License-Identifier: MIT
# A prolog that fails in the second in which Slurm begins the job again leaves
# two rows in accounting with one id and one start: one that was requeued after
# no time, and the run.  cc-backend has one, and it is the run.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "two rows of one second"
lab_up
backend_up
mkdir "$T/bin"
chmod 755 "$T/bin"
for f in squeue scontrol sacctmgr sdiag sinfo; do
	ln -s "$(command -v $f)" "$T/bin/$f"
done
cat >"$T/bin/sacct" <<-S
	#!/bin/sh
	# the real one's rows, and before a completed run's what a failed prolog leaves
	for a; do
	    case \$a in --delimiter=*) d=\${a#*=} ;; esac
	    [ "\$before" != -o ] || o=\$a
	    before=\$a
	done
	$(command -v sacct) "\$@" | awk -v d="\$d" -v o="\$o" '
	BEGIN { n = split(o, name, ","); for (i = 1; i <= n; i++) at[name[i]] = i }
	{ k = split(\$0, f, d); line = "" }
	k >= n && f[at["State"]] ~ /^COMPLETED/ {
	    f[at["State"]] = "REQUEUED"; f[at["End"]] = f[at["Start"]]
	    for (i = 1; i <= k; i++) line = line (i > 1 ? d : "") f[i]
	    print line
	}
	{ print }'
S
chmod 755 "$T/bin/sacct"
conf slurmPollInterval=1 ccPollInterval=10 slurmBinDir="$T/bin"
suite_up
id=$(batch labalice "sleep 6" -n1)
is "it arrives as it runs" wait_for 30 backend_has "$id"
is "its end arrives" wait_for 60 backend_has_ended "$id"
is "accounting has two rows of it" [ "$("$T/bin/sacct" -X -D -P -n --delimiter=@@ -o JobID,Start,End,State -j "$id" |
    grep -cE "^$id@@([0-9TUK:-]+)@@.*@@(REQUEUED|COMPLETED)")" = 2 ]
is "it has run, and completed" compare --short 4 --wait 30 --expect 1
test_end
