#!/bin/bash
# SPDX-License-Identifier: MIT
# The rights, limits, descriptors, namespaces and directories of the running
# processes are those of the tables in cc-slurm-adapter-security(7), as root, as a
# plain user, and at the centre of a fan-in.  As root, the users of the workers can
# read no secret.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the processes have what the manual says"
lab_up
page=$SYS/../../../man/cc-slurm-adapter-security.7
as_manual() {	# TABLE [FILE]
	python3 "$SYS/processes.py" "${2:-$page}" "$1" "$suite_pid" "$T/etc/config.json"
}
uid_of() { awk '$1 == "Uid:" { print $2 }' "/proc/$(worker_pid "$1")/status"; }
reads() { setpriv --reuid "$(uid_of "$1")" --clear-groups --regid 65534 cat "$2" >/dev/null 2>&1; }

conf ccRestUrl=http://127.0.0.1:9 "metricsListen=$T/run/metrics.sock"
suite_up root
is "as root: as in the manual" as_manual root
sed 's/^\(.It memory .*\)256 MiB/\1255 MiB/' "$page" >"$T/other.7"
is "another value in the manual is a difference" not as_manual root "$T/other.7"
sed 's/^\(.It memory .*\) 64 MiB/\1 65 MiB/' "$page" >"$T/other.7"
is "also one of the exporter" not as_manual root "$T/other.7"
is "the table of the plain user is another" not as_manual user
for role in listener collector runner exporter; do
	is "the user of the $role cannot read the configuration" not reads $role "$T/etc/config.json"
	is "the user of the $role cannot read the spool" not reads $role "$T/state/spool/spool.db"
done
is "the submitter's user can read the spool" reads submitter "$T/state/spool/spool.db"
is "but not the configuration" not reads submitter "$T/etc/config.json"
suite_down 5
rm -rf "$T/run" "$T/state"
suite_up laboper
is "as a plain user: as in the manual" as_manual user
suite_down 5
rm -rf "$T/run" "$T/state"
# At the centre of a fan-in; nothing answers at the address of the broker.
conf source=stream 'clusters=["alpha"]' natsServer=127.0.0.1:9 natsToken=secret slurmConf= metricsListen=
suite_up root
is "the centre: as in the manual" as_manual receiver
is "no socket for hooks is made" [ ! -e "$T/run/daemon.sock" ]
is "the user of the receiver cannot read the configuration" not reads receiver "$T/etc/config.json"
is "the user of the receiver cannot read the spool" not reads receiver "$T/state/spool/spool.db"
test_end
