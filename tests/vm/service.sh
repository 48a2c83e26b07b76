# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Inside the machine: the suite installed as the README says, as a service of a
# real systemd, beside a real Slurm.  For systemd.sh and apparmor.sh, which have
# sourced lib.sh and called test_begin.
name=cc-slurm-adapter
etc=/etc/$name
wait_long=30
export LAB_PATIENCE=20	# an emulated machine on a busy one is slow

service() { systemctl "$@" $name; }
prop() { systemctl show -P "$1" $name; }
journal() { journalctl -q -o cat --sync >/dev/null 2>&1; journalctl -q -o cat -u $name; }
in_journal() { journal | grep -qE -- "$1"; }
main_pid() { prop MainPID; }
worker_of() { ps -o pid=,comm= --ppid "$(main_pid)" | awk -v r="$1" '$2 == r { print $1 }'; }
layers_of() { "$CTL" status -v | tr -s ' ' | grep -E "$1"; }
status_of() { grep "^$2:" "/proc/$(worker_of "$1")/status" | awk '{ print $2 }'; }
user_of() { ps -o user:32= -p "$(worker_of "$1")"; }

one_job() {
	local id
	id=$(batch labalice "sleep 3" -n2)
	is "job $id arrives, with its end" wait_for $wait_long backend_has_ended "$id"
}

# install_keys KEYS: the configuration, with these keys at its end, and the token
install_keys() {
	local keys
	mkdir -p $etc
	keys=$(cat <<-E
	{"ccRestUrl": "$BACKEND", "slurmConf": "$SLURM_CONF", "slurmPollInterval": 5,
	 "ccPollInterval": 30, "ccCommitInterval": $COMMIT$1}
	E
	)
	printf '%s\n' "$keys" >$etc/config.json
	chmod 600 $etc/config.json
	install -m 600 "$TOKEN" $etc/jwt
}

install_service() {
	install_keys "$1"
	cp "$CSA_INST/lib/systemd/system/$name.service" /etc/systemd/system/
	mkdir -p /etc/systemd/system/$name.service.d
}

# The processes around the suite; the tests of this file cannot go on without them.
machine_up() {
	is "systemd is the first process" [ "$(cat /proc/1/comm)" = systemd ]
	trap 'tail -n 5 "$T"/slurm/log/* "$T"/slurm/munge/log; exit 1' EXIT
	lab_up
	trap 'tail -n 5 "$T"/log/backend; exit 1' EXIT
	backend_up
	trap - EXIT
}
