# SPDX-License-Identifier: MIT
# Programs that print figures beside a baseline; none of them passes or fails.
EXTRA_PROGRAMS += spawn_cost
spawn_cost_SOURCES = tests/bench/spawn_cost.c
