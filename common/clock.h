/* SPDX-License-Identifier: MIT */
/* The clock for deadlines: CLOCK_MONOTONIC; for a lease, CLOCK_BOOTTIME. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <sys/time.h>

/* CLOCK_MONOTONIC in ms; always > 0, so that 0 can mean "never". */
long long clock_ms(void);
/* CLOCK_BOOTTIME in ms, which includes the time of a suspended host; > 0. */
long long clock_boot_ms(void);
/* ms until end, a value of clock_ms(), for poll(2); 0 when end has passed. */
int clock_left(long long end);
/* A duration for libevent; 0 <= ms. */
struct timeval clock_timeval(long long ms);

#endif
