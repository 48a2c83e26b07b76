/* SPDX-License-Identifier: MIT */
/* The wait before the next attempt after a failure. */
#ifndef COMMON_BACKOFF_H
#define COMMON_BACKOFF_H

#include <stdint.h>

/*
 * first for tries = 0, twice as long for each further try, never longer than
 * max.  Any unit; 0 < first.
 */
int64_t backoff_wait(unsigned tries, int64_t first, int64_t max);

/*
 * A random duration between ms / 2 and ms, so that many clients do not repeat
 * at the same time.  Not for secrets.  0 <= ms.
 */
int64_t backoff_jitter(int64_t ms);

#endif
