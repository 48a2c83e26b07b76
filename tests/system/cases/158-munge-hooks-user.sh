#!/bin/bash
# SPDX-License-Identifier: MIT
# With CSA_LONG=1: test 157 with a daemon that another user has started, as with
# User= in the unit: unmunge runs as this user, who is not slurmctld's.
if [ -z "${CSA_LONG:-}" ]; then
	echo "SKIP: 70 s, with CSA_LONG=1"
	exit 77
fi
export MUNGE_HOOKS_USER=laboper
exec bash "$(dirname "$0")/157-munge-hooks.sh"
