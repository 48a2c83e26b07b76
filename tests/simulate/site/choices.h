/* SPDX-License-Identifier: MIT */
/* What a seed chooses of Slurm, its hooks and the collector's configuration. */
#ifndef TESTS_SIMULATE_SITE_CHOICES_H
#define TESTS_SIMULATE_SITE_CHOICES_H

#include "tests/simulate/supervisor.h"

/* gpuPciAddrs of the simulated nodes */
#define SITE_DEVICES "{\"n[0-9][0-9]\":[\"gpu0\",\"gpu1\",\"gpu2\",\"gpu3\"]}"

/* Begins the simulated Slurm. */
void slurm_choose(struct prng *choices);
/* The poll interval and the accounting lag. */
void reload_choose(struct supervised *collector, struct prng *choices);
/* Of a million hooks. */
unsigned lost_hooks_choose(struct prng *choices);

#endif
