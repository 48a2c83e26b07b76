# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Acts on cc-backend behind TLS, on its database and on its clusters; on a
# cluster of three NATS brokers.  Read by part.sh.
#
# shellcheck disable=SC2154,SC2317,SC2034	# part.sh has the variables, calls these

# --- TLS in front of cc-backend ------------------------------------------------------

# The name cc.test is in the hosts file of the private machine.
part_tls() {
	CLUSTERS=$REAL_CLUSTERS
	FRONT_PORT=$(lib freeport 1)
	mkdir -p "$T/etc/tls"
	authority one
	authority two
	certificate one 2
	host_is 127.0.0.1 cc.test
	front_up 127.0.0.1
	more_conf=("ccRestUrl=https://cc.test:$FRONT_PORT" "ccRestCaFile=$T/etc/ca.pem")
	cp "$T/etc/tls/one.pem" "$T/etc/ca.pem"
	chmod 755 "$T/etc/tls"
	chmod 644 "$T/etc/ca.pem"
	usual
}

# authority NAME: an authority of certificates
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=authority $1" \
	    -keyout "$T/etc/tls/$1.key" -out "$T/etc/tls/$1.pem" 2>>"$T/log/acts"
}
# certificate AUTHORITY DAYS: for both names of cc-backend; 0 days: it has expired
certificate() {
	local at=$T/etc/tls
	printf 'subjectAltName=DNS:cc.test,DNS:cc2.test\n' >"$at/names"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=cc.test \
	    -keyout "$at/front.key" -out "$at/front.csr" &&
	    openssl x509 -req -in "$at/front.csr" -CA "$at/$1.pem" -CAkey "$at/$1.key" -CAcreateserial \
	    -days "$2" -extfile "$at/names" -out "$at/front.pem"
} 2>>"$T/log/acts"
has_expired() { ! openssl x509 -checkend 0 -noout -in "$T/etc/tls/front.pem" >/dev/null; }
# host_is ADDRESS NAME: the hosts file is replaced, as an admin's tool does it
host_is() {
	{ grep -vw "$2" /etc/hosts; echo "$1 $2"; } >/etc/hosts.new
	mv /etc/hosts.new /etc/hosts
}
front_up() {
	[ -n "$BACKEND_PORT" ] || BACKEND_PORT=$(lib freeport 1)
	"$LAB/tls_front" "$1" "$FRONT_PORT" "$T/etc/tls/front.pem" "$T/etc/tls/front.key" "$BACKEND_PORT" \
	    >>"$T/log/front" 2>&1 &
	front=$!
	started_pids+=("$front")
	wait_for 30 bash -c "exec 9<>/dev/tcp/$1/$FRONT_PORT" || broken "nothing in front of cc-backend"
}
front_down() {
	kill "$front"
	wait "$front"
}
# front_again AUTHORITY DAYS [ADDRESS]: with a new certificate
front_again() {
	front_down
	certificate "$1" "$2"
	front_up "${3:-127.0.0.1}"
}

act_certificate-renewed() { front_again one 2; }
# the suite logs another reason of one outage at most once a minute
refuses_certificate() { wait_for 70 said 'ertificate'; }
act_certificate-expired() {
	front_down
	certificate one 0
	wait_for 10 has_expired
	front_up 127.0.0.1
	refuses_certificate || return 1
	away
	front_again one 2
}
act_certificate-other() {
	front_again two 2
	refuses_certificate || return 1
	away
	cat "$T/etc/tls/one.pem" "$T/etc/tls/two.pem" >"$T/etc/ca.pem"
	reload
}
act_name-moved() {
	front_down
	host_is 127.0.0.3 cc2.test
	front_up 127.0.0.3
	conf "ccRestUrl=https://cc2.test:$FRONT_PORT"
	reload
}
# the same name at another address; nobody tells the suite
act_address-moved() {
	front_down
	host_is 127.0.0.4 cc2.test
	front_up 127.0.0.4
}

# --- the database, the clusters and the token of a real cc-backend --------------------

part_database() {
	[ -n "${CC_BACKEND:-}" ] || skip "needs CC_BACKEND"
	# a start that cc-backend accepted and lost is repeated after 6 minutes
	JUDGE_WAIT=420
	CLUSTERS=$REAL_CLUSTERS
	usual
}

database_copy() {
	python3 - "$T/backend/var/job.db" "$1" <<-'P'
	import sqlite3, sys
	with sqlite3.connect(sys.argv[1]) as a, sqlite3.connect(sys.argv[2]) as b:
	    a.backup(b)
	P
}
# The copy of yesterday replaces the database; the manual names backfill for the
# runs that ended since.
act_database-restored() {
	local from
	from=$(date +%s)
	database_copy "$T/backend/yesterday.db"
	away
	backend_down
	rm -f "$T"/backend/var/job.db*
	mv "$T/backend/yesterday.db" "$T/backend/var/job.db"
	backend_up
	ctl backfill --from "$((from - 60))" --to "$(date +%s)" &&
	    wait_for 120 backfill_done
}
# A subcluster and a cluster more; cc-backend reads them when it starts.
act_clusters-edited() {
	backend_down
	CLUSTERS="$REAL_CLUSTERS;extra[01-02],beta=b[1-2]"
	backend_up
}
# cc-backend signs a token that ends; the admin replaces the token later
act_token-expired() {
	local config=$T/backend/config.json
	cp "$config" "$config.old"
	sed -i 's/2000h/8s/' "$config"
	new_token
	cp "$config.old" "$config"
	conf "ccRestJwt=$(cat "$TOKEN")"
	reload
	wait_for 40 said '401|nauthorized' || return 1
	away
	new_token
	conf "ccRestJwt=$(cat "$TOKEN")"
	reload
}

# --- three brokers -------------------------------------------------------------------

# A JetStream stream on three brokers beside REST: each event is in it once.
part_brokers() {
	local i text='authorization: {users: [{user: suite, password: one}, {user: watch, password: watch}]}'
	NATS_PORT=$(lib freeport 6)
	mkdir -p "$T/nats"
	"$LAB/nats" --cluster "$T/nats" "$NATS_PORT" "$text" || broken "no configuration of brokers"
	for i in 1 2 3; do
		broker_up $i
	done
	STREAM=$NATS_PORT:watch:watch
	python3 "$here/year.py" stream "$STREAM" 3 || broken "no stream on three brokers"
	more_conf=("natsServer=127.0.0.1:$NATS_PORT, 127.0.0.1:$((NATS_PORT + 1)), 127.0.0.1:$((NATS_PORT + 2))"
	    natsUser=suite natsPassword=one natsJetStream=true)
	usual
}
broker_up() {
	nats-server -c "$T/nats/$1.conf" >>"$T/log/nats.$1" 2>&1 &
	broker[$1]=$!
	started_pids+=($!)
	wait_for 30 bash -c "exec 9<>/dev/tcp/127.0.0.1/$((NATS_PORT + $1 - 1))" || broken "no broker $1"
}
broker_down() {	# NUMBER SIGNAL
	kill -s "$2" "${broker[$1]}"
	wait "${broker[$1]}"
}
# the number of the broker to which the suite is connected
broker_used() {
	local i
	for i in 1 2 3; do
		ss -Htn state established "sport = :$((NATS_PORT + i - 1))" | grep -q . && echo $i && return
	done
}
used_is_not() { [ -n "$(broker_used)" ] && [ "$(broker_used)" != "$1" ]; }
act_broker-lost() {
	lost=$(broker_used)
	[ -n "$lost" ] || return 1
	broker_down "$lost" KILL
	wait_for 20 used_is_not "$lost" || return 1
	away
}
act_broker-back() { broker_up "$lost"; }
# as an admin upgrades them: one after the other
act_brokers-restarted() {
	local i
	for i in 1 2 3; do
		broker_down $i TERM
		sleep 2
		broker_up $i
		sleep 5	# the stream's copies become equal again
	done
}
