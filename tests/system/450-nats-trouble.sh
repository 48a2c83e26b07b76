#!/bin/bash
# SPDX-License-Identifier: MIT
# The NATS broker stopped, killed, restarted, refusing, too small: REST never
# notices, and JetStream loses nothing, whoever is killed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/groups.sh"
test_begin "NATS in trouble beside REST"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
command -v nats-server >/dev/null || skip "no nats-server"
groups broker.py core refused jetstream
test_end
