#!/bin/bash
# SPDX-License-Identifier: MIT
# Started without root, as a unit with User= does: all of the sandbox that
# needs no root, the rest is named; jobs arrive all the same.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/jobs.sh"
no_new_privs() {
	local p
	for p in $(suite_pids); do
		grep -q '^NoNewPrivs:.1' "/proc/$p/status" || return 1
		grep -q '^Seccomp:.2' "/proc/$p/status" || return 1
	done
}
test_begin "as a plain user"
lab_up
backend_up
suite_up laboper
hooks_on
is "all processes are laboper's" [ "$(ps -o user= -p "$suite_pid" --ppid "$suite_pid" | sort -u)" = laboper ]
is "no worker can gain privileges, each has a filter" no_new_privs
is "it says that the token is not separated" wait_for 10 logged 'not separated'
is "it says that the runner can read the token" wait_for 10 logged 'not protected: .*the runner can read the token'
is "status says it, too" grep -q 'not_protected.*can read the token' <(ctl status -v)
own=(setpriv --reuid laboper --regid "$(id -g laboper)" --init-groups)
is "its own user may ask for the status" "${own[@]}" "$CTL" -s "$T/run/ctl.sock" status
is "its own user may not drop a run" grep -q 'only root' <("${own[@]}" "$CTL" -s "$T/run/ctl.sock" drop 1 2>&1)
is "nor force stops" grep -q 'only root' <("${own[@]}" "$CTL" -s "$T/run/ctl.sock" sync --force 2>&1)
mix 20
mix_end
wait_for 200 queue_empty
is "all as Slurm says" compare --wait 60 --expect "$mix_count"
is "TERM ends it within 5 s" suite_down 5
test_end
