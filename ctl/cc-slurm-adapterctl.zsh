#compdef cc-slurm-adapterctl
# SPDX-License-Identifier: MIT
# zsh completion of cc-slurm-adapterctl: options, verbs, flags, job ids, log
# levels.

_cc_slurm_adapterctl_jobs() {
	local -a rejected
	[[ $1 == (retry|drop) ]] && rejected=(--rejected)
	shift
	timeout 2 cc-slurm-adapterctl "$@" --no-color queue $rejected \
	    --limit 500 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }' | sort -un
}

_cc_slurm_adapterctl() {
	local -a where verbs found
	local verb='' prev=${words[CURRENT-1]} i=2 jobs=0
	while (( i < CURRENT )); do
		case ${words[i]} in
		(-s|-c) where=(${words[i]} ${words[i+1]}); (( i++ )) ;;
		(-*) ;;
		(*) verb=${words[i]}; break ;;
		esac
		(( i++ ))
	done
	if [[ -z $verb ]]; then
		if [[ $prev == (-s|-c) ]]; then
			_files
			return
		fi
		verbs=('status:is all well?' 'watch:live screen'
		    'queue:deliveries that wait' 'retry:send rejected runs again'
		    'drop:discard rejected runs' 'sync:compare cc-backend with Slurm'
		    'backfill:read a past time range' 'repair:correct runs'
		    'log:set the log level' 'reload:read the configuration again'
		    'metrics:print all metrics' 'explain:the life of a job'
		    'history:counters of the last month'
		    'warnings:the last warnings and errors'
		    'report:a page for a ticket'
		    'gpus:compare GPUs and gpuPciAddrs' 'spool:check, export, import')
		_describe command verbs
		compadd -- -c -s -j --no-color
		return
	fi
	case $prev in
	(--direction) compadd -- start stop both; return ;;
	(--job) compadd -- $(_cc_slurm_adapterctl_jobs $verb $where); return ;;
	(--limit|--cluster|--from|--to) return ;;
	(--file|import|-o) _files; return ;;
	esac
	case $verb in
	(status) found=(-v) ;;
	(queue) found=(--rejected --limit --job --cluster) ;;
	(retry) found=(--all --cluster) jobs=1 ;;
	(drop) found=(--cluster) jobs=1 ;;
	(sync) found=(--job --cluster --limit --dry-run --force --direction) ;;
	(backfill) found=(--from --to --cluster --dry-run --nats --status --cancel) ;;
	(repair) found=(--dry-run --cluster) jobs=1 ;;
	(log) found=(fatal error warn info debug trace) ;;
	(metrics) found=(--prometheus) ;;
	(explain) found=(--cluster --from --anonymize) jobs=1 ;;
	(report) found=(-o --anonymize) ;;
	(spool)
		case $prev in
		(spool) found=(check export import) ;;
		(check) found=(--file) ;;
		(export) found=(--all) ;;
		esac ;;
	esac
	(( jobs )) && found+=($(_cc_slurm_adapterctl_jobs $verb $where))
	compadd -- $found
}

_cc_slurm_adapterctl "$@"
