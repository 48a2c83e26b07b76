# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Runs the commands of a manual page as it has them, so that page and test
# cannot differ.  A command is a line "# COMMAND" of a literal block or of .Dl.
# The names of this machine are replaced by those of the test, and the commands
# that a lab does not have are functions here.

TOP=$(cd "$SYS/../../.." && pwd)

# page_commands PAGE SECTION: one command a line
page_commands() {
	awk -v wanted="$2" '
	/^\.S[hs] / { on = (substr($0, 5) == wanted); next }
	!on { next }
	/^\.Dl # / { print substr($0, 7); next }
	/^# / { line = substr($0, 3)
		while (line ~ /\\e$/) { sub(/\\e$/, "", line); getline rest; line = line rest }
		print line }' "$TOP/man/$1"
}

# page_sections PAGE: the sections with commands below the first .Sh with any
page_sections() {
	local s
	while IFS= read -r s; do
		[ -z "$(page_commands "$1" "$s")" ] || printf '%s\n' "$s"
	done < <(sed -n 's/^\.S[hs] //p' "$TOP/man/$1")
}

page_here() {
	sed -e "s#/etc/cc-slurm-adapter#$T/etc#g" -e "s#/var/lib/cc-slurm-adapter#$T/state#g" \
	    -e "s#/run/cc-slurm-adapter#$T/run#g" -e "s#/root/#$T/root/#g" <<<"$1"
}

# page_run PAGE SECTION: every command must end with status 0
page_run() {
	local command n=0
	mkdir -p "$T/root"
	while IFS= read -r command <&9; do
		n=$((n + 1))
		: >"$T/log/page.out"
		if ! is "# $command" page_eval "$(page_here "$command")"; then
			sed 's/^/      /' "$T/log/page.out" | head -n 20
		fi
	done 9< <(page_commands "$1" "$2")
	[ $n -gt 0 ] || broken "$1 has no commands in the section '$2'"
}

page_eval() {
	eval "$1" >>"$T/log/page.out" 2>&1 </dev/null
}

# page_shown PATTERN: the output of the last command has it
page_shown() { grep -qE -- "$1" "$T/log/page.out"; }

cc-slurm-adapter() {
	if [[ " $* " == *" -config "* || " $* " == *" -migrate "* ]]; then
		"$ADAPTER" "$@"
	else
		"$ADAPTER" "$@" -config "$T/etc/config.json"
	fi
}
cc-slurm-adapterctl() { "$CTL" -c "$T/etc/config.json" "$@"; }
systemctl() {
	case "$*" in
	# no effect on an active service
	"start cc-slurm-adapter" | "enable --now cc-slurm-adapter") [ -n "$suite_pid" ] || suite_up ;;
	"stop cc-slurm-adapter" | "disable --now cc-slurm-adapter") suite_down ;;
	"restart cc-slurm-adapter") suite_down && suite_up ;;
	daemon-reload | "enable cc-slurm-adapter") ;;
	*) echo "systemctl $*: not in this test"; return 1 ;;
	esac
}
# the daemon has queried Slurm
sleep() {
	case $1 in
	60) wait_for 60 ctl sync --dry-run ;;
	*) command sleep "$@" ;;
	esac
}
systemd-sysusers() { suite_users; }
systemd-tmpfiles() { mkdir -p "$T/run" "$T/state"; }
journalctl() {
	[ "$*" = "-u cc-slurm-adapter -p warning --since -1h" ] || return 1
	grep -hE '^(WARN|ERROR|FATAL)' "$T"/log/suite.* || true
}
