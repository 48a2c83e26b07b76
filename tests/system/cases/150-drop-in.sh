#!/bin/bash
# SPDX-License-Identifier: MIT
# A site of the Go adapter changes the program and nothing else: its
# configuration, its unit (User=, RuntimeDirectory=, /opt), its hook script.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "a drop-in for the Go adapter"
home=/opt/cc-slurm-adapter
for f in "$home" /run/cc-slurm-adapter /var/lib/cc-slurm-adapter; do
	[ ! -e "$f" ] || skip "$f is there: this machine uses the real thing"
done
remove() {
	rm -rf "$home" /run/cc-slurm-adapter /var/lib/cc-slurm-adapter
}
trap 'rc=$?; trap - EXIT; suite_kill; remove; test_exit $rc' EXIT
lab_up
backend_up
suite_users
sacctmgr -i add user cc-slurm-adapter Account=root AdminLevel=Operator >/dev/null

# as its README has it: program, config and hook in one folder
mkdir -p $home
ln -s "$ADAPTER" $home/cc-slurm-adapter
cat >$home/config.json <<E
{
  "pidFilePath": "/run/cc-slurm-adapter/daemon.pid",
  "prepSockListenPath": "/run/cc-slurm-adapter/daemon.sock",
  "prepSockConnectPath": "/run/cc-slurm-adapter/daemon.sock",
  "lastRunPath": "/var/lib/cc-slurm-adapter/last_run",
  "slurmPollInterval": 10,
  "slurmQueryDelay": 1,
  "slurmQueryMaxSpan": 604800,
  "slurmQueryMaxRetries": 5,
  "ccPollInterval": 30,
  "ccRestSubmitJobs": true,
  "ccRestUrl": "$BACKEND",
  "ccRestJwt": "$(cat "$TOKEN")",
  "gpuPciAddrs": {
    "^n3$": ["00000000:00:00.0", "00000000:01:00.0", "00000000:02:00.0", "00000000:03:00.0"],
    "^n4$": ["00000000:03:00.0", "00000000:02:00.0", "00000000:01:00.0", "00000000:00:00.0"]
  },
  "ignoreHosts": "",
  "natsServer": "mynatsserver.example",
  "natsPort": 4222,
  "natsSubject": "mysubject",
  "natsUser": "myuser",
  "natsPassword": "123456789",
  "natsCredsFile": "/etc/cc-slurm-adapter/nats.creds",
  "natsNKeySeedFile": "/etc/ss-slurm-adapter/nats.nkey"
}
E
chown cc-slurm-adapter:slurm $home/config.json
chmod 640 $home/config.json
cp $home/config.json "$T/etc/config.json"
cat >$home/prep.sh <<E
#!/bin/sh
$home/cc-slurm-adapter
exit 0
E
chmod 755 $home/prep.sh
cat >$home/cc-slurm-adapter.service <<E
[Unit]
Description=cc-slurm-adapter
Wants=network.target
After=network.target

[Service]
User=cc-slurm-adapter
Group=slurm
ExecStart=$home/cc-slurm-adapter -daemon -config $home/config.json
WorkingDirectory=$home
RuntimeDirectory=cc-slurm-adapter
RuntimeDirectoryMode=0750
StateDirectory=cc-slurm-adapter
Restart=on-failure
RestartSec=15s

[Install]
WantedBy=multi-user.target
E

# what systemd makes of such a unit
unit_start() {
	local exec_start
	mkdir -p /run/cc-slurm-adapter /var/lib/cc-slurm-adapter
	chown cc-slurm-adapter:slurm /run/cc-slurm-adapter /var/lib/cc-slurm-adapter
	chmod 750 /run/cc-slurm-adapter
	exec_start=$(sed -n 's/^ExecStart=//p' "$home"/cc-slurm-adapter.service)
	SUITE_LOG=$T/log/suite.1
	# shellcheck disable=SC2086	# words of a unit's line
	(cd $home && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
	    SLURM_CONF="$SLURM_CONF" setsid setpriv --reuid cc-slurm-adapter --regid slurm --init-groups \
	    $exec_start) >"$SUITE_LOG" 2>&1 </dev/null &
	suite_pid=$!
	wait_for 15 test -S /run/cc-slurm-adapter/daemon.sock
}
as_adapter() { setpriv --reuid cc-slurm-adapter --regid slurm --init-groups "$@"; }
is "the old configuration is good" as_adapter "$ADAPTER" -daemon -test -config $home/config.json \
    2>"$T/log/test"
# its three logins of NATS: the README names files that need not exist
is "and the NATS login is named" \
    grep -q 'natsNKeySeedFile: .* does not exist; the NATS login is natsUser' "$T/log/test"
is "the unit starts it" unit_start
is "the pid file has the pid, and no newline" [ "$(cat /run/cc-slurm-adapter/daemon.pid)" = "$suite_pid" ]
is "(none)" [ "$(wc -l </run/cc-slurm-adapter/daemon.pid)" = 0 ]
lab hook $home/prep.sh
a=$(batch labalice "sleep 4" -p gpu -n2 --gres=gpu:2)
b=$(batch labbob "sleep 4; exit 2" -N2 -n5)
is "jobs arrive" wait_for 60 backend_has_ended "$a"
is "both" wait_for 60 backend_has_ended "$b"
is "all as Slurm says" compare --wait 40 --expect 2

# a site may have the old client in its hook for a while: its message is one
# JSON object of strings, with keys we do not know, and no newline
lab hook ""
c=$(batch labalice "sleep 30" -n1)
wait_for 20 job_state_is "$c" RUNNING
printf '{"SLURM_ARRAY_JOB_ID":"","SLURM_CLUSTER_NAME":"alpha","SLURM_JOB_ID":"%s","SLURM_JOB_NAME":"a \\u003cb\\u003e","SLURM_SCRIPT_CONTEXT":"prolog_slurmctld","UNKNOWN":"x"}' "$c" >"$T/message"
t0=$SECONDS
is "its message is taken" lib send unix:/run/cc-slurm-adapter/daemon.sock "$T/message"
is "and the job arrives" wait_for 12 backend_has "$c"
say "after $((SECONDS - t0)) s, with a commit every $COMMIT s"
scancel "$c"
touch -d '2020-01-01' /var/lib/cc-slurm-adapter/last_run
# slurmctld has started with the test: for a minute accounting may lack records
is "the last-run file moves" wait_for 70 [ /var/lib/cc-slurm-adapter/last_run -nt "$TOKEN" ]
is "TERM ends it" suite_down 5
is "pid file and socket are gone" not ls /run/cc-slurm-adapter/daemon.pid /run/cc-slurm-adapter/daemon.sock 2>/dev/null
test_end
