#!/bin/bash
# SPDX-License-Identifier: MIT
# A Slurm that has forgotten: another cluster of the same name answers, and
# later slurmctld starts without its state, counting job ids from 1 again.
# Not one job is ended without evidence, and ids used twice harm nobody.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
test_begin "a Slurm that knows nothing of its jobs"
lab_up
backend_up
conf slurmPollInterval=1 ccPollInterval=3
suite_up
hooks_on
stops() { grep -c '"effect":"stop"' "$LEDGER"; }
for ((i = 0; i < 6; i++)); do
	one labalice 600 -n1 -J stays
done
last=$mix_id
is "six jobs run" wait_for 60 backend_has "$last"

mine=$SLURM_CONF
port=$(lib freeport 45)
limited 120 env LAB_QUIET=1 LAB_BIG=0 "$LAB/slurm" up "$T/slurm2" "$port" || broken "no second Slurm"
conf "slurmConf=$T/slurm2/etc/slurm.conf"
kill -HUP "$suite_pid"
sleep 15
is "a second cluster of the same name answers: nobody ends" [ "$(stops)" = 0 ]
is "ctl tells what differs" sh -c "'$CTL' -s '$T/run/ctl.sock' sync --dry-run >/dev/null 2>&1; true"
conf "slurmConf=$mine"
kill -HUP "$suite_pid"
env SLURM_CONF="$T/slurm2/etc/slurm.conf" "$LAB/slurm" down "$T/slurm2" --purge
one labbob 2 -n1 -J after
is "the own one again: new jobs arrive" wait_for 60 backend_has_ended "$mix_id"
is "nobody was ended" [ "$(stops)" = 1 ]
is "all as Slurm says" compare --short 4 --wait 60 --expect "$mix_count"

# without its state: all jobs are gone from slurmctld, ids begin at 1
lab ctl kill slurmctld
rm -rf "${T:?}"/slurm/state/*
lab ctl start slurmctld
sleep 2
again=$(batch labbob "sleep 60" -n1 -J "with an old id")
say "ids begin anew: $again"
sleep 12
for ((i = 2; i <= last; i++)); do
	f=$(sacct -D -X -n -P -o state,end -j "$i" | tail -n 1)
	case $f in
	*Unknown) backend_has_ended "$i" && is "job $i is RUNNING in accounting and was ended" false ;;
	esac
done
is "what slurmctld has forgotten and accounting calls running is not ended" true
is "status names the run with an old id, which cc-backend refuses" wait_for 20 \
    sh -c "'$CTL' -s '$T/run/ctl.sock' status | grep -q '1 run is rejected'"
test_end
