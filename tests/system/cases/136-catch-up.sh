#!/bin/bash
# SPDX-License-Identifier: MIT
# The suite was away for a week in which 10,000 runs began and ended: all of
# them arrive, and Slurm is asked no more than ten questions from the start on.
# Once more with a slurmdbd that refuses long ranges: then it is asked in
# shorter ones.  Slurm's commands are played (tests/bench/many.c); every key but
# the poll's interval is as it is by default.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/many.sh"
count=10000 week=604800 most=10
test_begin "a catch-up of $count ended runs"
need_fake
many_alone
many_jobs $((EPOCHSECONDS - week + 600)) \
    "$(awk -v n=$count -v s=$((week - 7200)) 'BEGIN { printf "%.9f", n / s }')" 60 $count 300

# catch_up: with an empty spool
catch_up() {
	rm -rf "$T/state" "$T/run"
	mkdir -p "$T/state"
	touch -d "@$((EPOCHSECONDS - week + 600))" "$T/state/lastrun"
	getent passwd laboper >/dev/null || useradd -r -M -s /usr/sbin/nologin laboper || broken "no laboper"
	chown laboper: "$T/state" "$T/state/lastrun"
	backend_up
	conf_first
	python3 - "$T/etc/config.json" <<-'E'
	import json, sys
	keys = json.load(open(sys.argv[1]))
	for key in "ccPollInterval", "slurmQueryDelay", "nodeStatePollInterval":
	    keys.pop(key, None)
	json.dump(keys, open(sys.argv[1], "w"))
	E
	conf "slurmBinDir=$T/bin" slurmPollInterval=600
	SUITE_DEBUG=5 suite_up
}
value() { ctl -j status | lib get - status collector "$1"; }
read_all() { [ "$(value records_sent)" -ge "$count" ] && [ "$(value queue_unacked)" = 0 ]; }
asked() { grep -c ' asks ' "$SUITE_LOG"; }
asked_few() {
	grep -o ' asks .*' "$SUITE_LOG" | sed "s|$T/bin/||" >"$T/asked"
	say "$(wc -l <"$T/asked") commands: $(cut -d' ' -f3- "$T/asked" | tr -s ' ' | tr '\n' ';')"
	[ "$(wc -l <"$T/asked")" -le "$most" ]
}
stops() { [ "$(grep -c '"effect":"stop"' "$LEDGER")" -ge "$count" ]; }

catch_up
is "accounting is read" wait_for 120 read_all
is "with $most commands at most" asked_few
is "all have arrived, started and stopped" wait_for 120 stops
is "each once" [ "$(grep -c '"effect":"start"' "$LEDGER")$(grep -c '"effect":"stop"' "$LEDGER")" = $count$count ]
suite_down
backend_down

say "--- slurmdbd's MaxQueryTimeRange is a day"
echo 86400 >"$T/bin/widest"
chmod 644 "$T/bin/widest"
catch_up
is "accounting is read all the same" wait_for 120 read_all
is "in shorter ranges" wait_for 10 logged 'refuses such a long range: the next queries cover [0-9a-z ]+ each'
is "and is not taken to be away" not logged 'slurmdbd does not answer'
is "all have arrived" wait_for 120 stops
test_end
