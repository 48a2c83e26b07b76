#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs that Slurm denies: one denial ends nobody, nor two within the hour, nor
# two with a word of Slurm's between them; and never more than twenty, or two
# in a hundred, within an hour without an admin's word.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/groups.sh"
test_begin "runs that Slurm denies"
groups denials.py evidence twenty percent force
test_end
