#!/bin/bash
# SPDX-License-Identifier: MIT
# -migrate prints the configuration of the Go adapter and of cc-slurm-sync as
# ours, and explains each changed key.  The commands of migration(7)
# replace the Go adapter, and its last-run file is there for the way back.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/page.sh"
test_begin "migration"
data=$TOP/tests/data/migrate
page=cc-slurm-adapter-migration.7
section="Replace the Go adapter, and run the daemon as root"

migrate() {
	(cd "$data" && "$ADAPTER" -migrate "$@" >"$T/log/out" 2>"$T/log/err")
}
for kind in go blank sync; do
	is "$kind: is migrated" migrate $kind.json
	is "$kind: the result is the expected one" diff -u "$data/$kind.expected" "$T/log/out"
	is "$kind: each changed key is explained" diff -u "$data/$kind.explained" "$T/log/err"
	cp "$T/log/out" "$T/etc/again.json"
	is "$kind: the result is taken" migrate "$T/etc/again.json"
	is "$kind: and stays the same" cmp "$T/etc/again.json" "$T/log/out"
done
refused() {
	printf '%s' "$2" >"$T/etc/bad.json"
	is "$1" not migrate "$T/etc/bad.json"
	is "nothing is printed" not test -s "$T/log/out"
	is "the error names file and key" grep -q "bad.json.*$3" "$T/log/err"
}
refused "a wrong type" '{"slurmPollInterval": "often"}' ':1: slurmPollInterval: must be'
refused "a wrong address of cc-slurm-sync" '{"accelerators": {"n": {"0": 5}}}' 'gpuPciAddrs: n: GPU 0 must be'
refused "a torn file" '{"slurm": {' 'not valid JSON'
refused "no object" '[]' 'must be one JSON object'
head -c 1100000 /dev/zero | tr '\0' ' ' >"$T/etc/bad.json"
is "a file that is too long" not migrate "$T/etc/bad.json"
is "no file" not migrate "$T/etc/none.json"

# the commands keep a file that -migrate refuses, also at a second try
change() {
	while IFS= read -r command; do
		page_eval "$(page_here "$command")"
	done < <(page_commands $page "$section" | grep -e "config\.json")
}
mkdir -p "$T/root"
printf '{"slurmPollInterval": "often"}' >"$T/etc/config.json"
cp "$T/etc/config.json" "$T/etc/old.json"
for try in first second; do
	change
	is "$try try: the refused file is unchanged" cmp "$T/etc/old.json" "$T/etc/config.json"
	is "and its copy is complete" cmp "$T/etc/old.json" "$T/root/config.json.go"
done
cp "$data/go.json" "$T/etc/config.json"
change
is "the corrected file is migrated" diff -u "$data/go.expected" "$T/etc/config.json"
change
is "and stays the same at the next try" diff -u "$data/go.expected" "$T/etc/config.json"
rm "$T/etc/config.json"* "$T/root/config.json.go"

# a site of the Go adapter, which runs as cc-slurm-adapter
lab_up
backend_up
suite_users
sacctmgr -i add user cc-slurm-adapter Account=root AdminLevel=Operator >/dev/null
conf slurmMaxRetries=5 ipcSockPath=/x
go_state() {
	mkdir -p "$T/state" "$T/run"
	: >"$T/state/lastrun"
	chmod 644 "$T/state/lastrun"
	chown cc-slurm-adapter: "$T/state" "$T/state/lastrun" "$T/etc/config.json"
}
go_state
chgrp slurm "$T/run"
chmod 750 "$T/run"
page_run $page "$section"
is "the old file is kept" grep -q ipcSockPath "$T/root/config.json.go"
is "the new file belongs to root, and others cannot read it" \
    [ "$(stat -c '%U:%G %a' "$T/etc/config.json")" = "root:root 600" ]
id=$(batch labalice "sleep 2" -n1)
is "a job arrives" wait_for 40 backend_has_ended "$id"
page_run $page "What to check afterwards"
is "all as Slurm says" compare --wait 40

# the unit of the Go adapter, whose user runs the daemon, until root does
suite_down
rm -rf "$T/state"
go_state
suite_up cc-slurm-adapter
SUITE_USER=root
page_run $page "Then run the daemon as root"
is "the daemon belongs to root" [ "$(ps -o user= -p "$suite_pid")" = root ]
is "only root can read the configuration" \
    [ "$(stat -c '%U:%G %a' "$T/etc/config.json")" = "root:root 600" ]

# the way back: what the Go adapter finds
page_run $page "Return to the Go adapter"
form() { stat -c '%F, %s bytes, %h name, mode %a, of %U' "$T/state/lastrun"; }
is "the last-run file is as the Go adapter makes it: $(form)" \
    [ "$(form)" = "regular empty file, 0 bytes, 1 name, mode 644, of cc-slurm-adapter" ]
age=$(($(date +%s) - $(stat -c %Y "$T/state/lastrun")))
is "its time is the end of what was read, $age s ago" [ $age -ge 0 ] && [ $age -lt 120 ]
as_go() { setpriv --reuid cc-slurm-adapter --regid slurm --init-groups "$@"; }
is "the Go adapter can set its time" as_go touch -m "$T/state/lastrun"
is "and can make its socket and pid file" as_go touch "$T/run/daemon.pid"
is "no socket is in its way" not test -e "$T/run/daemon.sock"
is "and can read its configuration" as_go test -r "$T/etc/config.json"
test_end
