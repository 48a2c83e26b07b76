#!/bin/bash
# SPDX-License-Identifier: MIT
# The log lines of a worker go through the supervisor: a worker cannot write a
# line of another, a flood of one worker neither blocks the suite nor hides lines
# of others, its lines are counted, and a log whose reader hangs stops nothing.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "log lines of a worker"
SUITE_DEBUG=2	# -debug 4 permits 64 times as many lines
lab_up
backend_up
suite_up
hooks_on
for role in listener collector runner submitter; do
	echo "$role $(readlink "/proc/$(worker_pid $role)/fd/2")"
done >"$T/log/descriptors"
is "each worker has a pipe of its own as standard error" \
    [ "$(awk '$2 ~ /^pipe:/ { print $2 }' "$T/log/descriptors" | sort -u | wc -l)" = 4 ]
is "no worker has the log" not grep -qlF "$SUITE_LOG" \
    <(for role in listener collector runner submitter; do ls -l "/proc/$(worker_pid $role)/fd"; done)

listener=$(worker_pid listener)
printf 'ERROR [supervisor] forged\n<1,0,0,>a \033[31mred\rERROR [supervisor] line\n' >"/proc/$listener/fd/2"
is "a forged line has the name of its sender" wait_for 10 logged '^WARN  \[listener\] ERROR \[supervisor\] forged$'
is "control bytes are escaped" wait_for 10 logged '^ERROR \[listener\] a \\x1b\[31mred\\x0dERROR \[supervisor\] line$'
is "no line begins with a forged name" not logged '^ERROR \[supervisor\] (forged|line)'

id=$(batch labalice "sleep 2" -n1)
yes '<2,0,0,>a line that the listener repeats again and again' | head -c 600000 >"/proc/$listener/fd/2" &
flood=$!
t0=$SECONDS
is "the admin tool is answered during a flood" ctl status
is "at once" [ $((SECONDS - t0)) -le "$(patience 5)" ]
wait "$flood"
kill -KILL "$listener"
is "the lines that were suppressed are counted" wait_for 15 logged '^WARN  \[supervisor\] [0-9]+ log lines of the listener are suppressed: more than'
is "the end of the listener is logged after its lines" \
    grep -qE '^ERROR \[supervisor\] the listener \(pid [0-9]+\)' \
    <(sed -n '/log lines of the listener are suppressed/,$p' "$SUITE_LOG")
is "the others logged on, and the run is delivered" wait_for 40 backend_has_ended "$id"
is "the log did not get the flood" [ "$(stat -c %s "$SUITE_LOG")" -lt 500000 ]
test_end
