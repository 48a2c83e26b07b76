/* SPDX-License-Identifier: MIT */
/* Wakes the scheduler, which runs every lane. */
#ifndef COLLECTOR_BASE_WAKE_H
#define COLLECTOR_BASE_WAKE_H

#include <stdint.h>

struct cluster;
struct site;

/* The scheduler runs after the current event. */
void wake(struct cluster *c);
/* The scheduler runs in this number of ms, or sooner. */
void wake_in(struct site *site, int64_t ms);

#endif
