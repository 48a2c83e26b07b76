#!/bin/bash
# SPDX-License-Identifier: MIT
# Inside the machine: the suite installed as the README says, as a service of a
# real systemd, beside a real Slurm.
T=/srv/test
mkdir -p "$T"
. "$(dirname "$0")/../system/lib/lib.sh"
test_begin "a service of systemd"
. "$(dirname "$0")/faults.sh"
machine_up

# --- as root, each process with a user of its own ------------------------------
root_start() {
	install_service ', "ccRestJwtFile": "/etc/cc-slurm-adapter/jwt", "metricsListen": "/run/cc-slurm-adapter/metrics.sock"'
	systemctl daemon-reload
	is "it starts and says it is ready" service start
	is "it is active" service is-active
	is "sysusers made the users" getent passwd cc-slurm-collect cc-slurm-submit cc-slurm-listen cc-slurm-adapter
	sacctmgr -i add user cc-slurm-adapter account=root adminlevel=Operator >/dev/null
	chown cc-slurm-adapter /var/lib/$name/lastrun 2>/dev/null
	is "the status is said" wait_for $wait_long "$CTL" status
	"$CTL" status | sed 's/^/   | /' | head -n 60
	for w in listener collector runner submitter exporter; do
		is "$w: a user of its own: $(user_of $w)" not [ "$(user_of $w)" = root ]
		is "$w: seccomp in force" [ "$(status_of $w Seccomp)" = 2 ]
		is "$w: no new privileges" [ "$(status_of $w NoNewPrivs)" = 1 ]
		is "$w: no capability" [ "$(status_of $w CapEff)" = 0000000000000000 ]
	done
	is "Landlock in force" layers_of landlock
	lab hook "$CSA_INST/libexec/$name/prep-hook.sh"
	one_job
}

# --- reload -----------------------------------------------------------------------
root_reload() {
	pid=$(main_pid)
	is "reload" service reload
	is "the process is the same" [ "$(main_pid)" = "$pid" ]
	is "it is active still" service is-active
	echo '{"ccRestUrl": 5}' >"$T/bad.json"
	cp -p $etc/config.json "$T/good.json"
	cat "$T/bad.json" >$etc/config.json
	service reload
	is "a bad configuration is refused, in the journal" wait_for $wait_long in_journal 'config.json:.*ccRestUrl'
	cat "$T/good.json" >$etc/config.json
	one_job
}

# --- the watchdog and a death -------------------------------------------------
root_deaths() {
	printf '[Service]\nWatchdogSec=10\nRestartSec=1\n' >/etc/systemd/system/$name.service.d/quick.conf
	systemctl daemon-reload
	service restart
	is "active with a short watchdog" service is-active
	fed() { [ "$(prop WatchdogTimestampMonotonic)" != "$last" ]; }
	for time in first second third; do
		last=$(prop WatchdogTimestampMonotonic)
		is "the watchdog is fed, $time" wait_for $wait_long fed
	done
	is "and nobody restarted it" [ "$(prop NRestarts)" = 0 ]
	pid=$(main_pid)
	kill -STOP "$pid"
	is "a supervisor that hangs is ended by it and begins anew" wait_for $wait_long is_anew "$pid"
	one_job
	pid=$(main_pid)
	kill -KILL "$pid"
	is "a supervisor that dies begins anew" wait_for $wait_long is_anew "$pid"
	one_job
	pid=$(worker_of submitter)
	kill -KILL "$pid"
	back() { [ -n "$(worker_of submitter)" ] && [ "$(worker_of submitter)" != "$pid" ]; }
	is "a worker that dies begins anew, without systemd" wait_for $wait_long back
	one_job
}

# --- the token by LoadCredential ------------------------------------------------
root_credential() {
	sed -i 's/, "ccRestJwtFile": "[^"]*"//' $etc/config.json
	printf '[Service]\nLoadCredential=ccRestJwt:%s/jwt\n' $etc >/etc/systemd/system/$name.service.d/token.conf
	systemctl daemon-reload
	service restart
	is "the token as a credential of systemd" service is-active
	one_job
	t0=$SECONDS
	is "stop" service stop
	is "in time: $((SECONDS - t0)) s" [ $((SECONDS - t0)) -lt 15 ]
	is "its end was no failure" [ "$(prop Result)" = success ]
	is "priorities arrive in the journal" [ -n "$(journalctl -q -u $name -p warning -o cat | head -n 1)" ]
	is "messages have ids and the name of the process" [ -n "$(journalctl -q -u $name CC_WORKER=supervisor MESSAGE_ID=92b0fb70bb1d4e86a733d27899399a14 -o cat)" ]
	is "the token is not in it" not grep -qF -- "$(cat "$TOKEN")" <(journal)
	is "nothing denied by a filter" not grep -qiE 'SIGSYS|status=31' <(journal)
	rm -r /etc/systemd/system/$name.service.d
}

# --- as a plain user ---------------------------------------------------------------
plain_user() {
	suite_users
	sacctmgr -i add user cc-slurm-adapter account=root adminlevel=Operator >/dev/null
	lab hook "$CSA_INST/libexec/$name/prep-hook.sh"
	rm -rf /var/lib/$name /run/$name
	install_service ', "ccRestJwtFile": "/etc/cc-slurm-adapter/jwt", "metricsListen": "/run/cc-slurm-adapter/metrics.sock"'
	cp "$CSA_INST/share/doc/$name/examples/$name-user.service" /etc/systemd/system/$name.service
	rm -rf /etc/systemd/system/$name.service.d
	chown cc-slurm-adapter $etc/config.json $etc/jwt
	systemctl daemon-reload
	is "the unit with User= starts" service start
	if ! is "it is active as a plain user" service is-active; then
		journal | tail -n 20
		return
	fi
	is "all of it: the same user" [ "$(user_of submitter)" = cc-slurm-adapter ]
	is "the submitter: seccomp in force" [ "$(status_of submitter Seccomp)" = 2 ]
	one_job
}

faults() {
	without_memory
	directories_removed
}

case ${1:-} in
'' | root)
	root_start
	faults
	second_service
	root_reload
	root_deaths
	root_credential ;;
root-faults)
	root_start
	faults
	second_service ;;
esac
case ${1:-} in
'' | user | user-faults)
	plain_user && faults
	is "it stops" service stop ;;
esac
is "each run once" compare --gpus "$etc/config.json" --wait 60 --expect "$(backend_count)"
[ $failures = 0 ] || journal | tail -n 60
exit $((failures > 0))
