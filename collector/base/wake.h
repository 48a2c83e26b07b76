/* SPDX-License-Identifier: MIT */
/* Wakes the scheduler up, which then runs every lane that has work. */
#ifndef COLLECTOR_BASE_WAKE_H
#define COLLECTOR_BASE_WAKE_H

struct cluster;
struct site;

/* The scheduler runs once the current event is handled. */
void wake(struct cluster *c);
/* The same, in ms. */
void wake_in(struct site *site, int ms);

#endif
