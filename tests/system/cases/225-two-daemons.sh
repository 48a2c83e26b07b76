#!/bin/bash
# SPDX-License-Identifier: MIT
# Two clusters with one daemon each on one host.  The configurations are those
# of the Go adapter: they name the pid file, the hook socket and the last-run
# file, in the same two directories.  All other paths are derived.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/beta.sh"
test_begin "two daemons on one host"
CLUSTERS='alpha=n[1-4],beta=n[1-4]'
lab_up LAB_BIG=0
backend_up
suite_users
beta_up LAB_TRUTH=1
beta_conf=$("$LAB/slurm" as "$beta" root printenv SLURM_CONF)
trap 'rc=$?; daemons_end; beta_end; trap - EXIT; test_exit $rc' EXIT

config() {	# NAME SLURM-CONF
	lib conf "$T/etc/$1.json" "pidFilePath=$T/run/$1.pid" \
	    "prepSockListenPath=$T/run/$1.sock" "prepSockConnectPath=$T/run/$1.sock" \
	    "lastRunPath=$T/state/$1_last_run" slurmPollInterval=2 ccPollInterval=15 \
	    "ccRestUrl=$BACKEND" "ccRestJwt=$(cat "$TOKEN")" "slurmConf=$2" \
	    slurmUser=laboper "ccCommitInterval=$COMMIT"
}
config a "$SLURM_CONF"
config b "$beta_conf"

declare -A daemon
as_user=()
daemon_start() {	# NAME
	setsid "${as_user[@]}" "$ADAPTER" -daemon -config "$T/etc/$1.json" -debug 4 \
	    >>"$T/log/suite.$1" 2>&1 </dev/null &
	daemon[$1]=$!
}
is_up() { "$CTL" -c "$T/etc/$1.json" queue >"$T/status.$1" 2>/dev/null; }
daemon_stop() {
	kill "${daemon[$1]}" && wait "${daemon[$1]}"
	unset "daemon[$1]"
}
daemons_end() {
	local name
	for name in "${!daemon[@]}"; do
		daemon_stop "$name"
	done
}
config_of() { "$CTL" -c "$T/etc/$1.json" -j status | lib get - status supervisor configuration; }
spool_of() { "$CTL" -c "$T/etc/$1.json" -j status | lib get - status supervisor spool_dir; }
beta_batch() {
	printf '#!/bin/bash\nsleep 3\n' |
	    "$LAB/slurm" as "$beta" labalice sbatch --parsable -o /dev/null "$@"
}

mkdir -p "$T/run" "$T/state"
chmod 750 "$T/run"
chown root:slurm "$T/run"
daemon_start a
is "the first starts" wait_for 30 is_up a
daemon_start b
is "the second starts beside it" wait_for 30 is_up b
is "ctl -c reaches the first" [ "$(config_of a)" = "$T/etc/a.json" ]
is "ctl -c reaches the second" [ "$(config_of b)" = "$T/etc/b.json" ]
is "the derived sockets are there" test -S "$T/run/a.ctl.sock" -a -S "$T/run/b.ctl.sock"
is "each has its own spool" [ "$(spool_of a) $(spool_of b)" = \
    "$T/state/a_last_run.spool $T/state/b_last_run.spool" ]
lab hook "$ADAPTER -config $T/etc/a.json -socket $T/run/a.sock"
"$LAB/slurm" hook "$beta" "$ADAPTER -config $T/etc/b.json -socket $T/run/b.sock"
id=$(batch labalice "sleep 3" -n1)
beta_id=$(beta_batch -n1)
is "the job of the first cluster arrives" wait_for 60 ended_at alpha "$id"
is "the job of the second cluster arrives" wait_for 60 ended_at beta "${beta_id%%;*}"

# the same configuration but for the pid file and the socket: the same spool
lib conf "$T/etc/c.json" "pidFilePath=$T/run/c.pid" "prepSockListenPath=$T/run/c.sock" \
    "lastRunPath=$T/state/a_last_run" "ccRestUrl=$BACKEND" ccRestJwt=x "slurmConf=$SLURM_CONF" \
    slurmUser=laboper
limited 20 "$ADAPTER" -daemon -config "$T/etc/c.json" >"$T/log/third" 2>&1
is "a third daemon with the spool of the first ends with an error" [ $? = 1 ]
is "and says why" grep -q "another daemon uses the spool $T/state/a_last_run.spool" "$T/log/third"
is "it leaves nothing" not ls "$T/run/c.pid" "$T/run/c.sock" "$T/run/c.ctl.sock" 2>/dev/null
is "the first daemon is untouched" [ "$(config_of a)" = "$T/etc/a.json" ]

# 0.1.0 had the spool of every daemon in "spool"
daemon_stop a
daemon_stop b
mv "$T/state/a_last_run.spool" "$T/state/spool"
daemon_start a
is "the first starts on its spool of 0.1.0" wait_for 30 is_up a
is "and keeps the place" [ "$(spool_of a)" = "$T/state/spool" ]
rm -r "$T/state/b_last_run.spool"
daemon_start b
is "the second starts" wait_for 30 is_up b
is "and does not use that spool" [ "$(spool_of b)" = "$T/state/b_last_run.spool" ]
daemon_stop a
daemon_stop b
rm -r "$T/state/b_last_run.spool"
daemon_start b
is "not while the first is stopped either" wait_for 30 is_up b
is "(its own place)" [ "$(spool_of b)" = "$T/state/b_last_run.spool" ]
daemon_start a
is "the first starts again" wait_for 30 is_up a
is "in the old place" [ "$(spool_of a)" = "$T/state/spool" ]
id=$(batch labalice "sleep 3" -n1)
beta_id=$(beta_batch -n1)
is "jobs of the first arrive" wait_for 60 ended_at alpha "$id"
is "jobs of the second arrive" wait_for 60 ended_at beta "${beta_id%%;*}"
daemon_stop a
daemon_stop b

# the units of the Go adapter: both daemons have the same unprivileged user
rm -r "$T/run" "$T/state"
mkdir -p "$T/run" "$T/state"
chown laboper:slurm "$T/run"
chmod 750 "$T/run"
chown laboper: "$T/state" "$T/etc/a.json" "$T/etc/b.json"
as_user=(setpriv --reuid laboper --regid slurm --init-groups)
daemon_start a
daemon_start b
is "with User=, the first starts" wait_for 30 is_up a
is "and the second" wait_for 30 is_up b
is "each is reached" [ "$(config_of a) $(config_of b)" = "$T/etc/a.json $T/etc/b.json" ]
is "each has its own spool" [ "$(spool_of a) $(spool_of b)" = \
    "$T/state/a_last_run.spool $T/state/b_last_run.spool" ]
id=$(batch labalice "sleep 3" -n1)
beta_id=$(beta_batch -n1)
is "jobs of the first arrive" wait_for 60 ended_at alpha "$id"
is "jobs of the second arrive" wait_for 60 ended_at beta "${beta_id%%;*}"
test_end
