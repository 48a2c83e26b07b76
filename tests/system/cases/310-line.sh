#!/bin/bash
# SPDX-License-Identifier: MIT
# Token refused, wrong address, a cc-backend that takes no REST, redirects, a
# captive portal, TLS that does not hold, names nobody knows: all is kept,
# said once, asked slowly, and it goes on by itself or with a reload.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "a backend that refuses everything"
groups delivery.py line nats_mode tls names
test_end
