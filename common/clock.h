/* SPDX-License-Identifier: MIT */
/* Time for deadlines, which no administrator and no NTP sets. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

/* CLOCK_MONOTONIC in milliseconds; always > 0, so that 0 can mean "never". */
long long clock_ms(void);
/* Milliseconds until end (a value of clock_ms()), for poll(2); 0 when it is over. */
int clock_left(long long end);

#endif
