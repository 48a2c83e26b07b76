#!/bin/bash
# SPDX-License-Identifier: MIT
# The NATS broker stopped, killed, restarted, slow, refusing, too small: REST
# never notices, and JetStream loses nothing, whoever is killed.  NATS alone: a
# stop keeps its distance from its start.  A change of the destinations while runs
# are open.  Another program is replaced: NATS gets the stops of its runs.
# deliver "stream": whole records, once per state.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "NATS in trouble beside REST"
grep -q 'define HAVE_NATS' "$CSA_BUILD/config.h" || skip "built without NATS"
command -v nats-server >/dev/null || skip "no nats-server"
groups broker.py core refused slow alone destinations replaced jetstream whole
test_end
