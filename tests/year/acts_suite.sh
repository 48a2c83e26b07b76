# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on cc-backend, on the broker and on the suite itself.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2034	# part.sh has the variables, calls these; $a of sed

reload() { kill -HUP "$suite_pid"; }

# a real cc-backend wants the hosts of each subcluster
REAL_CLUSTERS='alpha=n[1-8];big[01-04]'

# --- cc-backend --------------------------------------------------------------------

part_backend() {
	[ -n "${CC_BACKEND_OLD:-}" ] || skip "needs CC_BACKEND_OLD"
	[ -n "${CC_BACKEND:-}" ] || skip "needs CC_BACKEND"
	# a start that cc-backend accepted and lost is repeated after 6 minutes
	JUDGE_WAIT=420
	upgraded_to=$CC_BACKEND
	CC_BACKEND=$CC_BACKEND_OLD
	CLUSTERS=$REAL_CLUSTERS
	usual
}

backend_again() {
	backend_down
	"${1:-true}"
	backend_up
}
act_backend-restarted() { backend_again; }
act_backend-killed() {
	kill -KILL "$backend_pid"
	wait_for 10 not kill -0 "$backend_pid"
	backend_pid=
	backend_up
}
act_backend-away() { backend_again away; }
act_backend-stopped() {
	kill -STOP "$backend_pid"
	away
	kill -CONT "$backend_pid"
}
# lab/ccbackend migrates the database as the manual of cc-backend says
act_backend-upgraded() {
	backend_down
	CC_BACKEND=$upgraded_to
	backend_up
}
act_backend-moved() {
	backend_down
	BACKEND_PORT=$(lib freeport 1)
	backend_up
	watch_backend
	conf "ccRestUrl=$BACKEND"
	reload
}
new_token() {
	(cd "$T/backend" && "$CC_BACKEND" -jwt api) 2>&1 | grep -oE 'eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+' >"$TOKEN.new"
	chmod 600 "$TOKEN.new"
	mv "$TOKEN.new" "$TOKEN"
}
act_token-renewed() {
	sleep 1		# the token's time of issue is in seconds
	new_token
	conf "ccRestJwt=$(cat "$TOKEN")"
	reload
}
# with another key every token of before is refused
act_token-revoked() {
	backend_down
	rm -f "$T/backend/.env"
	python3 - "$LAB/ccbackend" "$T/backend/.env" <<-'P'
	import importlib.machinery, importlib.util, os, sys
	loader = importlib.machinery.SourceFileLoader("ccbackend", sys.argv[1])
	lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("ccbackend", loader))
	loader.exec_module(lab)
	private, public = lab.keypair()
	lab.write(sys.argv[2], 'JWT_PUBLIC_KEY="%s"\nJWT_PRIVATE_KEY="%s"\nSESSION_KEY="%s"\n'
	          % (public, private, os.urandom(16).hex()))
	P
	new_token
	backend_up
	wait_for 40 said '401|nauthorized'
	sleep "$AWAY"
	conf "ccRestJwt=$(cat "$TOKEN")"
	reload
}
act_backend-emptied() {
	backend_down
	(
		cd "$T/backend" || exit 1
		rm -f var/job.db*
		"$CC_BACKEND" -migrate-db
		"$CC_BACKEND" -init-db -add-user api:api:secret
	)
	emptied=$(date +%s)
	backend_up
	# the command of the manual for ended runs
	ctl backfill --from "$((emptied - 7200))" --to "$emptied" &&
	    wait_for 120 backfill_done
}
backfill_done() { ctl backfill --status | grep -q 'done: '; }

# --- NATS -----------------------------------------------------------------------

# NATS beside REST: JetStream has each event once, and REST does not notice.
part_nats() {
	NATS_PORT=$(lib freeport 1)
	nats_users one
	STREAM=$NATS_PORT:watch:watch
	python3 "$here/year.py" stream "$STREAM" || broken "no stream"
	more_conf=(natsServer=127.0.0.1 natsPort="$NATS_PORT" natsUser=suite natsPassword=one natsJetStream=true)
	usual
}
nats_users() {
	nats_up "jetstream: {store_dir: \"$T/js\"}
authorization: {users: [{user: suite, password: $1}, {user: watch, password: watch}]}"
}
act_broker-restarted() {
	nats_down
	nats_users one
}
act_broker-away() {
	nats_down
	away
	nats_users one
}
act_credentials() {
	nats_down
	nats_users two
	wait_for 20 said 'uthorization'
	conf natsPassword=two
	reload
}

# The purge of all messages, and the command of the manual.  Runs begin and end
# between both.
act_stream-purged() {
	local purged
	python3 "$here/year.py" purge "$STREAM" || return 1
	purged=$(date +%s)
	away
	ctl backfill --nats --from "$((purged - 7200))" --to "$purged" &&
	    wait_for 180 backfill_done
}

# --- the suite -------------------------------------------------------------------

part_suite() {
	[ -e "${CSA_OLD:-}$CSA_INST/sbin/cc-slurm-adapter" ] || skip "needs CSA_OLD, see tests/year/run"
	new=$T/new
	mkdir "$new"
	cp -a "$CSA_INST/." "$new/"
	install_files "$CSA_OLD$CSA_INST"
	usual
}
# install_files DIR: as install(1) does, each file takes the name of the one before
install_files() {
	local file to
	(cd "$1" && find . -type f -o -type l) | while read -r file; do
		to=$CSA_INST/$file
		mkdir -p "$(dirname "$to")"
		cp -a "$1/$file" "$to.new"
		mv -f "$to.new" "$to"
	done
}
act_installed-newer() {
	install_files "$new"
	sleep "$AWAY"	# the older processes go on, their hook client is the newer
	suite_down 10
	suite_start
}
spool_files() { (cd "$T/state/spool" && find . -type f ! -name '*-shm' -exec cksum {} + | sort); }
older_refuses() { [ "$(grep -c 'spool.*written by a newer version' "$T/log/older")" -ge 2 ]; }
# The submitter of the older version refuses the spool, also when its supervisor
# starts it again, and leaves the spool of a killed daemon as it is.
act_installed-older() {
	local before older run=(setsid)
	suite_kill
	before=$(spool_files)
	install_files "$CSA_OLD$CSA_INST"
	[ "$user" = root ] || run=(setsid setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups)
	env -i PATH="$PATH" "${run[@]}" "$CSA_INST/sbin/cc-slurm-adapter" \
	    -daemon -config "$T/etc/config.json" >"$T/log/older" 2>&1 </dev/null &
	older=$!
	wait_for 30 older_refuses || { cat "$T/log/older"; return 1; }
	kill "$older"
	wait "$older"
	[ "$before" = "$(spool_files)" ] || { diff <(echo "$before") <(spool_files); return 1; }
	install_files "$new"
	suite_start
}
act_installed-again() {
	install_files "$new"
	suite_down 10
	suite_start
}
act_reloaded() { reload; }

# Every key that may change live gets another value, one reload for each.  A new
# key needs a value here.
live_keys() {
	sed -nE 's/^KEY\([A-Z_]+, "([A-Za-z]+)", ([A-Z_]+), .*, LIVE\)$/\1 \2/p' "$here/../../common/model/conf_keys.h"
}
# other_value KEY: another valid value that does not change what arrives.  Status 2:
# other acts change the key; 1: no act does.
other_value() {
	case $1 in
	ccRestUrl | ccRestJwt | ccRestCaFile | ccRestJwtFile | gpuPciAddrs | natsServer) return 2 ;;
	# nothing would arrive by REST; files of a login to a broker (system test 165)
	ccRestSubmitJobs | natsCredsFile | natsNKeySeedFile | nats*File) return 2 ;;
	prepSockConnectPath) echo "$T/run/../run/daemon.sock" ;;
	slurmPollInterval) echo $((POLL + 1)) ;;
	slurmQueryDelay) echo 0 ;;
	slurmQueryMaxSpan) echo 86400 ;;
	slurmQueryMaxRetries) echo 5 ;;
	ccPollInterval) echo 10 ;;
	natsPort) echo 4223 ;;
	natsSubject) echo other ;;
	natsUser | natsPassword | natsToken) echo unused ;;	# without a broker
	natsFormat) echo json ;;
	natsTls | natsJetStream | strictModes | activeOnly) echo true ;;
	ccUpdateSlurmInfo) echo false ;;
	ccBackendVersion) echo '"1.5"' ;;
	ccCommitInterval) echo 3 ;;
	ignoreHosts) echo '^nosuch' ;;
	spoolMaxBytes) echo 1073741824 ;;
	ctlUsers | prepAllowedUids) echo '["labalice"]' ;;
	prepAllowedHosts) echo '["192.0.2.1"]' ;;
	prepAuth) echo munge ;;				# of hooks on TCP
	prepMungeSocket) echo "$T/slurm/munge/socket" ;;
	slurmBinDir) dirname "$(command -v squeue)" ;;
	slurmConf) echo "$T/slurm/etc/copy.conf" ;;
	slurmExtraPaths) echo '["/opt"]' ;;
	slurmAccountingLag) echo 60 ;;
	clusterNames) echo '{"beta":"gamma"}' ;;
	cpuMap) echo '{"^nosuch":"block"}' ;;
	gpuGresNames) echo '["gpu","shard"]' ;;
	jobScriptMaxBytes) echo 32768 ;;
	metaDataFields) echo '["jobName","jobScript","slurmInfo","submitTime","arrayTaskId","message"]' ;;
	optOutWord) echo not_to_cc ;;
	nodeStatePollInterval) echo 5 ;;
	nodeStateRefresh) echo 30 ;;
	tags) echo '[{"type":"queue","name":"night","when":{"partition":"^nosuch"}}]' ;;
	requeuedState) echo cancelled ;;	# no job of the load is requeued
	requeuedRuns) echo first ;;
	historyDays) echo 20 ;;
	historyMaxBytes) echo 33554432 ;;
	# of a centre
	natsStreamReplicas) echo 1 ;;
	natsStreamMaxAge) echo 86400 ;;
	natsStreamMaxBytes) echo 1073741824 ;;
	natsLeaseTime) echo 60 ;;
	*) return 1 ;;
	esac
}
act_live-keys() {
	local key value changes=() before rc
	cp -p "$SLURM_CONF" "$T/slurm/etc/copy.conf"
	while read -r key _; do
		rc=0
		value=$(other_value "$key") || rc=$?
		[ $rc != 2 ] || continue
		[ $rc = 0 ] || { echo "no other value for $key"; return 1; }
		changes+=("$key")
		before=$(grep -c 'configuration [0-9]* is in force: ' "$T/log/lines")
		conf "$key=$value"
		reload
		reloaded() { [ "$(grep -c 'configuration [0-9]* is in force: ' "$T/log/lines")" -gt "$before" ]; }
		wait_for 10 reloaded || { echo "reload of $key: no line"; return 1; }
	done < <(live_keys)
	echo "changed: ${changes[*]}"
}
