#!/bin/bash
# SPDX-License-Identifier: MIT
# Executes the commands of runbook(7) about the spool while its disk is really
# full, and after bytes of the file were overwritten: no run is lost.  It takes a
# minute and needs CSA_LONG=1.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/page.sh"
test_begin "the runbook with a full disk and a damaged spool"
[ -n "${CSA_LONG:-}" ] || skip "needs CSA_LONG=1"
page=cc-slurm-adapter-runbook.7
spool=$T/state/spool
eval "lib_$(declare -f cleanup)"
cleanup() {
	suite_kill
	umount "$spool" 2>/dev/null
	lib_cleanup
}
lab_up
backend_up
conf slurmPollInterval=1 spoolMaxBytes=16777216
suite_up
suite_down
owner=$(stat -c 'uid=%u,gid=%g,mode=%a' "$spool")
mount -t tmpfs -o "size=24m,$owner" tmpfs "$spool" || broken "no tmpfs"
suite_up

# the exit status of status and of a check is 1 while something is wrong
cc-slurm-adapterctl() {
	local rc=0
	"$CTL" -c "$T/etc/config.json" "$@" || rc=$?
	case "$*" in
	status | "spool check"*) [ "$rc" != 1 ] || rc=0 ;;
	esac
	return "$rc"
}
# the last commands of the section about damage need cc-backend
sleep() {
	[ "$1" = 60 ] || { command sleep "$@"; return; }
	backend_up
	wait_for 60 ctl sync --dry-run
}
script=$(printf '# %.0s' {1..14000})
waits() {	# a job with a long script that ends while cc-backend is away
	batch labalice "sleep 1
$script" -s -p share -n1
}
sentence() { ctl status | head -n 1; }
says() { ctl status | grep -qE "$1"; }
ok() { sentence | grep -q '^OK: '; }

running=$(batch labbob "sleep 600" -n1)
is "a job arrives" wait_for 60 backend_has "$running"
is "the reserve file exists" wait_for 20 test -s "$spool/spool.reserve"

# a start needs space for SQLite's log: it takes that of the reserve
suite_down
dd if=/dev/zero of="$spool/filler" bs=4k 2>/dev/null
suite_up
is "the daemon starts on a full disk" not grep -q "the spool cannot be opened" "$T"/log/suite.*
rm "$spool/filler"
suite_down
suite_up
is "the reserve file is made again" wait_for 20 test -s "$spool/spool.reserve"

# another program fills the disk
backend_down
dd if=/dev/zero of="$spool/filler" bs=64k 2>/dev/null
jobs=()
full() {
	says 'the (disk of the )?spool is full' && return 0
	jobs+=("$(waits)")
	wait_for 3 says 'the (disk of the )?spool is full'
}
is "status says that the spool is full" wait_for 120 full
say "$(ctl status | grep -m 1 'the (disk of the )?spool is full')"
is "the reserve file is given up" wait_for 10 not test -e "$spool/spool.reserve"
late=$(batch labbob "sleep 600" -n1)	# starts now: its threads are stored
stub() { [ "$(ctl -j status | lib get - status submitter spool_stubs)" -ge 1 ]; }
is "the threads of a job that begins now are stored" wait_for 60 stub
is "only the space of the reserve is left" [ "$(df --output=pcent "$spool" | tr -dc 0-9)" -ge 85 ]
page_run $page "The disk of the spool is full"
is "status names the full spool" page_shown 'the (disk of the )?spool is full'
rm "$spool/filler"	# "Make space on the file system"
backend_up
is "space: all is well again, without a restart" wait_for 120 ok || say "$(sentence)"
is "the reserve file is made again" wait_for 60 test -s "$spool/spool.reserve"
for job in "${jobs[@]}"; do
	is "job $job arrives" wait_for 120 backend_has_ended "$job"
done
is "and the one that began meanwhile" wait_for 60 backend_has "$late"
is "nothing is lost or changed" compare --wait 90

# bytes of the file are overwritten
backend_down
jobs=()
for _ in 1 2 3 4 5 6; do
	jobs+=("$(waits)")
done
stored() { [ "$(ctl -j queue | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["queue"]))')" -ge 6 ]; }
is "six runs wait" wait_for 90 stored
suite_down
pages=$(($(stat -c %s "$spool/spool.db") / 4096))
for at in $((pages / 3)) $((pages / 2)) $((pages - 3)); do
	dd if=/dev/urandom of="$spool/spool.db" bs=4096 seek=$at count=2 conv=notrunc 2>/dev/null
done
is "the file is damaged" not "$CTL" spool check --file "$spool/spool.db"
suite_up
page_run $page "The spool is damaged"
is "the export has lines" [ -s "$T/root/runs.jsonl" ]
is "the damaged file is kept under another name" ls "$spool"/spool.db.damaged-*
is "the daemon says so" grep -qE 'is damaged: .*; the file is renamed, its valid rows are' "$T"/log/suite.*
is "and what it has recovered" grep -qE 'recovered from the damaged spool: [1-9][0-9]* runs' "$T"/log/suite.*
for job in "${jobs[@]}"; do
	is "job $job arrives" wait_for 120 backend_has_ended "$job"
done
is "the running jobs are not started again" backend_has "$running"
is "nothing is lost or changed" compare --wait 90
is "the new spool is intact" ctl spool check
is "all is well" wait_for 60 ok || say "$(sentence)"
scancel "$running" "$late"
is "their ends arrive" compare --wait 60
test_end
