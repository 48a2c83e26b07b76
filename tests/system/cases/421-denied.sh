#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs that Slurm denies: one denial ends nobody, nor two within the hour, nor
# two with a word of Slurm's between them; and never more than twenty, or two
# in a hundred, within an hour without an admin's word.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/parallel_groups.sh"
test_begin "runs that Slurm denies"
groups missing_run_checks.py evidence twenty percent force
test_end
