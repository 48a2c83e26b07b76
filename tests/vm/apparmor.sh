#!/bin/bash
# SPDX-License-Identifier: MIT
# Inside the machine: the suite as a service of root with the exporter, confined by
# the example profile in the mode enforce, beside a real Slurm.
T=/srv/test
mkdir -p "$T"
. "$(dirname "$0")/../system/lib/lib.sh"
test_begin "the AppArmor profile in force"
. "$(dirname "$0")/service.sh"
machine_up
profile=/etc/apparmor.d/$name
elsewhere=/srv/elsewhere

# lines of the kernel about the profile; the audit subsystem limits their rate,
# not the first one
said() {
	journalctl -q --sync
	journalctl -q -b -o cat | grep -E "apparmor=\"$1\".* profile=\"$name"
}
nothing_denied() {
	is "$1: the kernel has denied nothing" not said DENIED ||
	    said DENIED | sort | uniq -c | sed 's/^/   | /' | head -n 40
}
confined() {
	local w pid
	for w in supervisor "$@"; do
		pid=$(main_pid)
		[ "$w" = supervisor ] || pid=$(worker_of "$w")
		is "$w: the profile is in force" \
		    [ "$(cat "/proc/$pid/attr/current")" = "$name (enforce)" ]
	done
}

metrics() {
	python3 - <<-'P' | grep -q '^cc_slurm_adapter_'
	import socket
	s = socket.socket(socket.AF_UNIX)
	s.connect("/run/cc-slurm-adapter/metrics.sock")
	s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	while part := s.recv(65536):
	    print(part.decode(), end="")
	P
}
token_denied() { said DENIED | grep -qF "name=\"$elsewhere/jwt\""; }

# As the comment of the profile says: copied, the paths of this site, no complain.
install_profile() {
	local example=$CSA_INST/share/doc/$name/examples/apparmor/$name
	mkdir -p /etc/apparmor.d/local
	sed 's/,complain)/)/' "$example" >$profile
	printf '%s r,\n' "$T/slurm/etc/{,**}" >/etc/apparmor.d/local/$name
	printf '%s rw,\n' "$T/slurm/munge/socket" >>/etc/apparmor.d/local/$name
	is "the example only logs" grep -q '^profile .*,complain)' "$example"
	is "the kernel takes the profile" apparmor_parser -r $profile
	is "the profile enforces" grep -qx "$name (enforce)" /sys/kernel/security/apparmor/profiles
}

as_root() {
	install_service ', "ccRestJwtFile": "/etc/cc-slurm-adapter/jwt",
	 "metricsListen": "/run/cc-slurm-adapter/metrics.sock"'
	systemctl daemon-reload
	is "the service starts" service start
	sacctmgr -i add user cc-slurm-adapter account=root adminlevel=Operator >/dev/null
	chown cc-slurm-adapter /var/lib/$name/lastrun
	is "it answers" wait_for $wait_long "$CTL" status
	confined listener collector runner submitter exporter
	lab hook "$CSA_INST/libexec/$name/prep-hook.sh"
	one_job
	is "the metrics are served" metrics
	is "it reloads" service reload
	one_job
	is "explain asks Slurm" bash -c "'$CTL' explain 1 | grep -q 'job 1'"
	is "it restarts" service restart
	one_job
	nothing_denied "as root"
}

# The owner root could read the file; the profile does not contain its directory.
denial() {
	install -d $elsewhere
	install -m 600 "$TOKEN" $elsewhere/jwt
	cp -p $etc/config.json "$T/good.json"
	sed "s,/etc/$name/jwt,$elsewhere/jwt," "$T/good.json" >$etc/config.json
	service reload
	is "a token that the profile does not contain is refused" \
	    wait_for $wait_long in_journal "$elsewhere/jwt: Permission denied"
	is "the kernel logs this denial" wait_for $wait_long token_denied
	is "and no other" [ "$(said DENIED | grep -vc "$elsewhere/jwt")" = 0 ]
	cat "$T/good.json" >$etc/config.json
	is "it reloads again" service reload
	one_job
	is "it stops" service stop
}

is "AppArmor is enabled in the kernel" grep -qx Y /sys/module/apparmor/parameters/enabled
install_profile
as_root
denial
is "each run once" compare --gpus "$etc/config.json" --wait 60 --expect "$(backend_count)"
if [ $failures != 0 ]; then
	journal | tail -n 40
	said DENIED | sort | uniq -c | head -n 60
fi
exit $((failures > 0))
