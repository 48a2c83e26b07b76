# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts that move the users from /etc/passwd to sssd.  The provider of sssd reads
# /var/lib/extrausers, so that no directory service is needed.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317	# part.sh has the variables, calls these

part_sssd() {
	usual
	fetched || broken "no packages"
}

sssd_start() {
	setsid sssd -i >>"$T/log/sssd" 2>&1 </dev/null &
	sssd_pid=$!
	wait_for 30 getent -s sss passwd "$1"
}
sssd_stop() {
	kill "$sssd_pid"
	wait "$sssd_pid"
}

# The packages put sss into nsswitch.conf.
act_sssd-installed() {
	install_fetched || return 1
	grep -q '^passwd:.*sss' /etc/nsswitch.conf || return 1
	mkdir -p /var/lib/extrausers
	echo 'yearsss:x:61000:61000::/tmp:/bin/bash' >/var/lib/extrausers/passwd
	echo 'yearsss:x:61000:' >/var/lib/extrausers/group
	: >/var/lib/extrausers/shadow
	cat >/etc/sssd/sssd.conf <<-C
	[sssd]
	services = nss
	domains = lab
	[nss]
	entry_negative_timeout = 1
	[domain/lab]
	id_provider = proxy
	proxy_lib_name = extrausers
	auth_provider = none
	access_provider = permit
	C
	chmod 600 /etc/sssd/sssd.conf
	sssd_start yearsss
}
# moved FILE: the lines of the users go to the file that sssd reads
moved() {
	grep -E '^lab' "/etc/$1" >>"/var/lib/extrausers/$1"
	replace "/etc/$1" '/^lab/d'
}
act_users-moved() {
	moved group
	moved passwd
	moved shadow
	! grep -q labalice /etc/passwd && wait_for 10 id labalice
}
act_sssd-restarted() {
	sssd_stop
	sssd_start labalice
}
act_suite-on-sssd() {
	suite_down 10
	suite_start
}
