#!/bin/bash
# SPDX-License-Identifier: MIT
# Executes the commands of each section of runbook(7), as the page has them, in
# the situation of the section.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/page.sh"
test_begin "the runbook"
page=cc-slurm-adapter-runbook.7
lab_up LAB_PRIVATE=jobs
backend_up
nats_up ''
install -m 600 "$TOKEN" "$T/etc/jwt"
conf ccRestJwt= "ccRestJwtFile=$T/etc/jwt" natsServer=127.0.0.1 "natsPort=$NATS_PORT"
suite_up
# the daemon tries cc-backend and the broker again in its own time
cc-slurm-adapterctl() {
	[ "$*" != status ] || wait_for 60 "$CTL" -c "$T/etc/config.json" status
	"$CTL" -c "$T/etc/config.json" "$@"
}
done_sections=()
run_section() {
	say "$1"
	page_run $page "$1"
	done_sections+=("$1")
}
a=$(batch labalice "sleep 600" -n1)
b=$(batch labbob "sleep 1" -n1)
is "jobs arrive" wait_for 60 backend_has_ended "$b"
is "and the running one" wait_for 30 backend_has "$a"

# cc-backend is away, and a job ends meanwhile
backend_down
c=$(batch labbob "sleep 1" -n1)
wait_for 30 job_state_is "$c" COMPLETED
backend_up
run_section "Jobs do not arrive: the first 15 minutes"
is "the job arrives" wait_for 60 backend_has_ended "$c"

lab ctl stop slurmctld
lab ctl start slurmctld
run_section "Slurm is upgraded"
run_section "A cluster is renamed"
run_section "A failover pair of slurmctld"
is "the queue is printed" page_shown 'no delivery waits|alpha'
# needs two centres: 616-two-centres executes it
done_sections+=("The centre of a fan-in is replaced, or fails over")

# the same cc-backend at another address
backend_down
BACKEND_PORT=$(lib freeport 1)
backend_up
conf "ccRestUrl=$BACKEND"
run_section "cc-backend is moved to another address"
run_section "cc-backend is restored from an older copy"
is "the backfill begins" wait_for 20 logged 'backfill of alpha, from '
# needs a centre: 617-centre-restored executes it
done_sections+=("The cc-backend of a centre is restored or moved")
run_section "cc-backend is upgraded"

mkdir -p "$T/root"
cp "$TOKEN" "$T/root/new.jwt"
run_section "The token is renewed"
is "the new token is not left in the other file" not test -e "$T/root/new.jwt"
is "only root can read it" [ "$(stat -c %a "$T/etc/jwt")" = 600 ]

nats_down
NATS_PORT=$(lib freeport 1)
nats_up ''
conf "natsPort=$NATS_PORT"
run_section "The broker of NATS is replaced"
is "the broker is the new one" wait_for 20 sh -c \
    "'$CTL' -s '$T/run/ctl.sock' status | grep -q 'connected to 127.0.0.1:$NATS_PORT'"
backfill_done() { ctl backfill --status | grep -q 'done: '; }
is "the backfill ends" wait_for 60 backfill_done
run_section "The stream of NATS was purged"
is "the backfill by NATS begins" wait_for 20 logged 'backfill of alpha by NATS, from '

run_section "The disk of the spool is full"
run_section "The spool is damaged"
is "the export has a line for the open run" grep -q "\"job\": *$a\b" "$T/root/runs.jsonl"

# the new machine has the archive and no state
rm -f "$T/root/state.tar"
run_section_in_two() {
	say "$1"
	local command
	while IFS= read -r command <&8; do
		[[ "$command" != systemd-sysusers* ]] || rm -rf "$T/state"
		is "# $command" page_eval "$(page_here "$command")"
	done 8< <(page_commands $page "$1")
	done_sections+=("$1")
}
run_section_in_two "The machine is replaced, with its spool"
is "the spool is the old one" wait_for 10 logged '\] 1 runs in the spool'
suite_down
rm -rf "$T/state"
run_section "The machine is replaced, without its spool"
is "the running job was not started again" wait_for 30 backend_has "$a"

conf 'gpuPciAddrs={"^n3$":["00000000:00:00.0"]}'
ctl reload >/dev/null
# the value that the first command prints goes into the configuration before
# the reload
gpus_done=0
cc-slurm-adapterctl() {
	"$CTL" -c "$T/etc/config.json" "$@" || return
	if [ "$1" = gpus ] && [ "$gpus_done" = 0 ]; then
		gpus_done=1
		"$CTL" -c "$T/etc/config.json" gpus >"$T/log/gpus"
		conf "gpuPciAddrs=$(sed -n '/^"gpuPciAddrs": {$/,$p' "$T/log/gpus" | sed '1s/^"gpuPciAddrs": //')"
	fi
}
run_section "A wrong GPU map for a month"
is "the map fits now" page_shown 'gpuPciAddrs matches'

# no section of the page is left out
is "every section was executed" \
    [ "$(printf '%s\n' "${done_sections[@]}")" = "$(page_sections $page)" ]
scancel "$a"
is "all as Slurm says" compare --wait 60
test_end
