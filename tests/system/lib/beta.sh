# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Tests with a second cluster, beta, in the slurmdbd of the first: sourced after lib.sh.

# beta_up [NAME=VALUE...]: see lab/slurm for names.  Sets beta, its folder.
beta_up() {
	local port
	beta=$T/slurm2
	port=$(lib freeport 45)
	limited 120 env LAB_QUIET=1 LAB_BIG=0 LAB_SHARE="$T/slurm" LAB_CLUSTER=beta "$@" \
	    "$LAB/slurm" up "$beta" "$port" || broken "no second Slurm"
	trap 'beta_exit $?' EXIT
}
beta_end() { "$LAB/slurm" down "$beta"; }
beta_exit() {
	beta_end
	trap - EXIT
	test_exit "$1"
}

# beta_one SECONDS OPTION...: a job of beta's; its id in beta_id
beta_count=0
beta_one() {
	local seconds=$1
	shift
	beta_id=$(printf '#!/bin/bash\nsleep %s\n' "$seconds" |
	    "$LAB/slurm" as "$beta" labalice sbatch --parsable -o /dev/null "$@")
	beta_id=${beta_id%%;*}
	[ -n "$beta_id" ] || broken "sbatch in beta"
	beta_count=$((beta_count + 1))
}

# CLUSTER JOB: cc-backend has it; and has its end
at() { truth jobs "$BACKEND" "$TOKEN" --cluster "$1" | grep "\"jobId\": $2,"; }
ended_at() { at "$@" | grep -qv '"jobState": "running"'; }
