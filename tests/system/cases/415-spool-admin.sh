#!/bin/bash
# SPDX-License-Identifier: MIT
# cc-slurm-adapterctl spool check, export, import on the whole suite: what a
# spool held is taken over into a new one, with threads and GPUs that Slurm has
# long forgotten; without a daemon the file alone is checked; who is not root reads, without scripts, and changes nothing.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
spool_has() { [ "$(ctl -j status | lib get - status submitter spool_runs)" -ge "$1" ]; }
serves() { ctl queue >/dev/null 2>&1; }
as_laboper() { as laboper "$CTL" -s "$T/run/ctl.sock" "$@"; }
denied() { as_laboper "$@" 2>&1 | grep -q 'not allowed'; }
no_copy_left() { [ ! -e "$T/state/spool/spool.import" ]; }

test_begin "the spool in an admin's hands"
need_fake
lab_up LAB_MINJOBAGE=5
backend_up
conf_first
conf 'ctlUsers=["laboper"]'
suite_up
hooks_on
setfacl -m u:laboper:x "$T" "$T/run" 2>/dev/null || chmod o+x "$T" "$T/run"
fault '{"match":"*","action":"status","status":503,"count":-1,"body":"away"}'
mix 20
mix_end
wait_for 200 queue_empty
wait_for 60 spool_has "$mix_count" || broken "the spool has not all $mix_count runs"
is "check finds it whole" ctl spool check
ctl spool export --all >"$T/all" || say "export: status $?"
is "a line a run, $mix_count of them" [ "$(wc -l <"$T/all")" -ge "$mix_count" ]
as_laboper spool export >"$T/plain" || say "export of laboper: status $?"
is "a named user may read" [ "$(wc -l <"$T/plain")" = "$(wc -l <"$T/all")" ]
is "but no scripts" denied spool export --all
is "nor import" denied spool import "$T/plain"
is "no file: says so" not ctl spool import "$T/none"
file=$T/state/spool/spool.db
offline() { ctl spool check --file "$1" 2>&1; }
is "a file in use is not looked at" sh -c "! '$CTL' spool check --file '$file' 2>'$T/used' && grep -q 'in use by process' '$T/used'"
is "the suite ends" suite_down 10
# as the admin finds it when the daemon does not start: read, and left alone
sums() { (cd "$T/state/spool" && sha256sum spool.db*; ls); }
before=$(sums)
offline "$file"
is "the file of no daemon is whole" sh -c "'$CTL' spool check --file '$file' | grep -q 'is valid: .* runs'"
cp "$file" "$T/flipped"
printf xxxx | dd of="$T/flipped" bs=1 seek=9000 conv=notrunc status=none
is "a flipped byte is found" sh -c "! '$CTL' spool check --file '$T/flipped' 2>'$T/said' && grep -q 'checksum of page 3 is wrong' '$T/said'"
is "said in JSON as well" sh -c "'$CTL' -j spool check --file '$T/flipped' | grep -q '\"result\":\"error\"'"
is "who may not read it learns nothing" sh -c "! setpriv --reuid laboper --clear-groups '$CTL' spool check --file '$file' 2>&1 | grep -q valid"
is "nothing was altered" [ "$before" = "$(sums)" ]
rm -rf "$T/state/spool"
suite_up
is "import of all" ctl spool import "$T/all"
is "again, from standard input" sh -c "'$CTL' -s '$T/run/ctl.sock' spool import - <'$T/all'"
is "its copy is gone" no_copy_left
sed 's/"job":/"job":9/' "$T/all" >"$T/wrong"
is "lines of other runs are refused" not ctl spool import "$T/wrong"
is "check finds it whole again" ctl spool check
faults_off
is "all as Slurm says, with threads and GPUs" compare --wait 90 --expect "$mix_count"
is "the daemon is well" serves
test_end
