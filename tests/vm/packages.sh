#!/bin/bash
# SPDX-License-Identifier: MIT
# Inside the machine: the whole life of the Debian package under a real systemd,
# beside a real Slurm, while jobs run.  Argument: the folder with the packages.
T=/srv/test
mkdir -p "$T"
. "$(dirname "$0")/../system/lib/lib.sh"
test_begin "the life of the Debian package"
name=cc-slurm-adapter
etc=/etc/$name
packages=$1
ADAPTER=/usr/sbin/cc-slurm-adapter
CTL=/usr/sbin/cc-slurm-adapterctl
wait_long=30
export LAB_PATIENCE=20	# an emulated machine on a busy one is slow
rm -f /usr/sbin/policy-rc.d	# the packages may stop and restart the service

service() { systemctl "$@" "$name"; }
prop() { systemctl show -P "$1" $name; }
install_version() { DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i "$packages/${name}_$1"_*.deb; }
version_is() { [ "$(dpkg-query -W -f '${Version}' "$name")" = "$1" ]; }
has_ended() { wait_for "$wait_long" backend_has_ended "$1"; }

lab_up
backend_up

# --- 0.1.0 on a new machine -----------------------------------------------------
is "0.1.0 installs" install_version 0.1.0
is "it is 0.1.0" version_is 0.1.0
is "its unit is not enabled" not service -q is-enabled
is "and not active" not service -q is-active
is "it has a configuration" test -s $etc/config.json
cat >$etc/config.json <<-E
{"ccRestUrl": "$BACKEND", "ccRestJwtFile": "$etc/jwt", "slurmConf": "$SLURM_CONF",
 "slurmPollInterval": 5, "ccPollInterval": 30, "ccCommitInterval": $COMMIT}
E
install -m 600 "$TOKEN" $etc/jwt
sacctmgr -i add user cc-slurm-adapter account=root adminlevel=Operator >/dev/null
is "configured, it is enabled and started" service -q enable --now
is "it is active" service -q is-active
lab hook /usr/libexec/$name/prep-hook.sh
early=$(batch labalice "sleep 3" -n2)
is "job $early arrives, with its end" has_ended "$early"

# --- upgrade while jobs run -----------------------------------------------------
kept=$(cksum <$etc/config.json)
running=$(batch labalice "sleep 60" -n1)
is "job $running runs" wait_for $wait_long backend_has "$running"
during=$(batch labbob "sleep 2" -n1)
pid=$(prop MainPID)
is "the upgrade" install_version 0.2.0
is "it is 0.2.0" version_is 0.2.0
is "the service is active" wait_for $wait_long service -q is-active
is "it was restarted" not [ "$(prop MainPID)" = "$pid" ]
is "it is still enabled" service -q is-enabled
is "the configuration is as it was" [ "$(cksum <$etc/config.json)" = "$kept" ]
is "the new users exist" getent passwd cc-slurm-collect cc-slurm-export cc-slurm-receive
is "job $during, which ended during the upgrade, arrives" has_ended "$during"
is "job $running, which ran during the upgrade, ends" has_ended "$running"

# --- removal, with jobs that end meanwhile --------------------------------------
running=$(batch labalice "sleep 20" -n1)
is "job $running runs" wait_for $wait_long backend_has "$running"
is "the removal" dpkg -r $name
is "the service has stopped" not service -q is-active
is "the programs are gone" not test -e "$ADAPTER"
is "the configuration stays" [ "$(cksum <$etc/config.json)" = "$kept" ]
is "the spool stays" test -d /var/lib/$name/spool
# without the programs, a hook that names them would hold jobs
lab hook /bin/true
away=$(batch labbob "sleep 2" -n1)
ended() { sacct -nXPo state -j "$1" | grep -q COMPLETED; }
is "job $away ends without the suite" wait_for $wait_long ended "$away"
is "job $running too" wait_for $((wait_long * 2)) ended "$running"

# --- installed again, purged ----------------------------------------------------
is "it installs again" install_version 0.2.0
is "the service starts" service -q enable --now
is "job $running has its end" has_ended "$running"
is "job $away arrives, with its end" has_ended "$away"
"$CTL" status | sed 's/^/   | /' | head -n 20
is "each run once" compare --gpus "$etc/config.json" --wait 60 --expect "$(backend_count)"
is "the purge" dpkg -P $name
is "the service has stopped" not service -q is-active
is "the spool is gone" not test -e /var/lib/$name
is "the configuration is gone" not test -e $etc/config.json
is "the token stays" test -s $etc/jwt
is "nothing of the unit is left" [ -z "$(find /etc/systemd /run/systemd/system -name "$name*")" ]
exit $((failures > 0))
