#!/bin/bash
# SPDX-License-Identifier: MIT
# The files and directories of the daemon have the owners, groups and modes that FILES
# of cc-slurm-adapter(8) says: after systemd-tmpfiles has made the directories by the
# file that `make install` installs, without systemd-tmpfiles, and as a plain user.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "the files are as the manual says"
page=$SYS/../../../man/cc-slurm-adapter.8
SLURM_CONF=$T/etc/slurm.conf
printf 'ClusterName=alpha\nSlurmUser=slurm\n' >"$SLURM_CONF"
as_manual() {	# USER [PAGE]
	python3 "$SYS/files.py" "${2:-$page}" "$1" "$T/run" "$T/state" "$T/etc/config.json"
}
suite_folders() { :; }	# the test makes them
# slurmUser follows the owner of this file
last_run() { install -o laboper -m 644 /dev/null "$T/state/lastrun"; }
tmpfiles() {
	sed "s|/run/cc-slurm-adapter|$T/run|; s|/var/lib/cc-slurm-adapter|$T/state|" \
	    "$CSA_INST/lib/tmpfiles.d/cc-slurm-adapter.conf" >"$T/tmpfiles.conf" &&
	    systemd-tmpfiles --create "$T/tmpfiles.conf" &&
	    # the daemon does this in the usual directory only
	    chgrp slurm "$T/run"
}
removed() {
	suite_down 5
	rm -rf "$T/run" "$T/state"
}

conf ccRestUrl=http://127.0.0.1:9
is "systemd-tmpfiles makes the directories" tmpfiles
last_run
suite_up root
is "as root: as in the manual" wait_for 10 as_manual root
sed 's/^the mode is 750\.$/the mode is 755./' "$page" >"$T/mode.8"
is "another mode in the manual is a difference" not as_manual root "$T/mode.8"
sed '/^The owner is root; the group is /{N;s/.*/The owner is root; the group is root;/}' "$page" >"$T/group.8"
is "another group in the manual is a difference" not as_manual root "$T/group.8"
removed
install -d -m 750 "$T/state"
last_run
suite_up root
is "as root, without systemd-tmpfiles: as in the manual" wait_for 10 as_manual root
suite_down 5
chown -R nobody "$T/state/spool"
is "a spool of another user: the daemon does not start" \
    not timeout 30 "$ADAPTER" -daemon -config "$T/etc/config.json" 2>"$T/log/refused"
said=$(grep "ERROR .*$T/state/spool belongs to user [0-9]*; if it is the spool of this daemon, run: chown -R" "$T/log/refused")
is "the log says so" [ -n "$said" ]
sh -c "${said#*, run: }"
suite_up root
is "after the named command: as in the manual" wait_for 10 as_manual root
removed
install -d -o laboper -g laboper -m 750 "$T/run" "$T/state"
suite_up laboper
is "as a plain user: as in the manual" wait_for 10 as_manual laboper
suite_down 5
test_end
