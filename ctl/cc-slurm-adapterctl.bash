# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# bash completion of cc-slurm-adapterctl: options, verbs, flags, job ids, log
# levels.  It needs no other package.

# The ids of the jobs that a verb can be applied to, from the running daemon.
_cc_slurm_adapterctl_jobs() {
	local rejected=()
	case $1 in
	retry | drop) rejected=(--rejected) ;;
	esac
	timeout 2 cc-slurm-adapterctl "${@:2}" --no-color queue "${rejected[@]}" \
	    --limit 500 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }' | sort -un
}

# The words that may follow the verb $1; $2 is the word before.
_cc_slurm_adapterctl_words() {
	case $2 in
	--direction) echo "start stop both" && return ;;
	--job) echo JOBS && return ;;
	--limit | --cluster | --from | --to) return ;;
	esac
	case $1 in
	status) echo "-v" ;;
	queue) echo "--rejected --limit --job --cluster" ;;
	retry) echo "--all --cluster JOBS" ;;
	drop) echo "--cluster JOBS" ;;
	sync) echo "--job --cluster --limit --dry-run --force --direction" ;;
	backfill) echo "--from --to --cluster --dry-run --nats --status --cancel" ;;
	repair) echo "--dry-run --cluster JOBS" ;;
	log) echo "fatal error warn info debug trace" ;;
	metrics) echo "--prometheus" ;;
	explain) echo "--cluster --from --anonymize JOBS" ;;
	report)
		case $2 in
		-o) echo FILES ;;
		*) echo "-o --anonymize" ;;
		esac ;;
	spool)
		case $2 in
		spool) echo "check export import" ;;
		check) echo "--file" ;;
		export) echo "--all" ;;
		import | --file) echo FILES ;;
		esac ;;
	esac
}

_cc_slurm_adapterctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local i=1 verb='' where=() words jobs=''
	COMPREPLY=()
	while [ "$i" -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[i]} in
		-s | -c)
			where=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]-}")
			i=$((i + 1)) ;;
		-*) ;;
		*)
			verb=${COMP_WORDS[i]}
			break ;;
		esac
		i=$((i + 1))
	done
	if [ -z "$verb" ]; then
		case $prev in
		-s | -c) words=FILES ;;
		*) words="-c -s -j --no-color status watch queue retry drop sync
			backfill repair explain history warnings report log
			reload metrics gpus spool" ;;
		esac
	else
		words=$(_cc_slurm_adapterctl_words "$verb" "$prev")
	fi
	case " $words " in
	*' FILES '*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
	*' JOBS '*) [[ $cur == -* ]] ||
		jobs=$(_cc_slurm_adapterctl_jobs "$verb" "${where[@]}") ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "${words/JOBS/} $jobs" -- "$cur")
}

complete -F _cc_slurm_adapterctl cc-slurm-adapterctl
