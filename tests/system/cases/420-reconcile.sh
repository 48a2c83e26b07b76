#!/bin/bash
# SPDX-License-Identifier: MIT
# What is open there and not here, here and not there; listings that fail; a
# backend restored from an older database; pages that shift while they are
# read.  Nothing ends without evidence.  CSA_LONG=1: 20,000 running jobs.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "comparing with cc-backend"
groups delivery.py reconcile many
test_end
