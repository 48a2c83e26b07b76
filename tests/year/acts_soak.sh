# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# The part of tests/year/soak: for SOAK_MINUTES one random act every
# SOAK_EVERY seconds, of those after which everything is as it was.  Read by
# part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2034	# part.sh has the variables, calls these, reads others

soak_acts=(user-unrelated group-added password nsswitch resolv-conf hosts localtime
    squeue all-commands libslurm plugins plugin-directory libc shell commands-away
    all-stopped listener-stopped collector-stopped runner-stopped submitter-stopped supervisor-stopped
    listener-killed collector-killed runner-killed submitter-killed supervisor-killed all-killed
    restarted log-full log-reader-killed reloaded
    run-emptied run-removed spool-removed spool-emptied disk-full read-only
    reconfigure include-replaced gres-conf partition node-state
    slurmctld-restarted slurmctld-killed slurmctld-away slurmctld-stopped
    slurmdbd-restarted slurmdbd-away slurmdbd-stopped mariadb-restarted mariadb-away
    munge-restarted munge-key limits operator-right backend-stopped)

part_soak() {
	all_of_it=soak
	part_disk LAB_CTLD_DEBUG=verbose
	with_include
}

# The acts and the lengths of the outages follow from the seed.
soak() {
	local end=$((SECONDS + SOAK_MINUTES * 60)) next=$SECONDS longest=$AWAY
	local choice=$RANDOM
	while [ $SECONDS -lt $end ]; do
		RANDOM=$choice	# how often an act draws a number varies
		choice=$RANDOM
		AWAY=$((5 * POLL + RANDOM % (longest - 5 * POLL + 1)))
		act "${soak_acts[RANDOM % ${#soak_acts[@]}]}"
		next=$((next + SOAK_EVERY))
		[ $next -le $SECONDS ] || sleep $((next - SECONDS))
	done
}
