# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests that are groups of a Python file: groups FILE GROUP... runs them at
# once, each in a folder of its own below $T, and prints them one by one.
# Needs lib.sh.
groups() {
	local file=$1 g rc pids=() wrong
	shift
	for g; do
		mkdir -p "$T/$g/log"
		T=$T/$g python3 "$SYS/$file" "$g" >"$T/$g.said" 2>&1 &
		pids+=($!)
		started_pids+=($!)
	done
	for g; do
		wait "${pids[0]}"
		rc=$?
		pids=("${pids[@]:1}")
		printf '   -- %s\n' "$g"
		cat "$T/$g.said"
		if [ $rc != 0 ]; then
			failures=$((failures + 1))
			mapfile -t wrong < <(sed -nE "s/^ +FAILED +(.{1,150}).*/$g: \1/p" "$T/$g.said")
			failed+=("${wrong[@]:-$g: status $rc}")
			tail -n 25 "$T/$g"/log/suite.* | cut -c1-300
		fi
	done
}
