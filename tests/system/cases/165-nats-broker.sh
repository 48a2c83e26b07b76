#!/bin/bash
# SPDX-License-Identifier: MIT
# What publishes to NATS, on its own, against real nats-servers: all ways to
# log in, TLS, a broker that is stopped, killed, restarted, several, JetStream.
. "$(dirname "$0")/../lib/lib.sh"
test_begin "NATS: brokers of all kinds"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
command -v nats-server >/dev/null || skip "no nats-server"
is "every check of tests/lab/nats" "$LAB/nats" "$CSA_BUILD"
test_end
