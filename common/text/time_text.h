/* SPDX-License-Identifier: MIT */
/*
 * Times, durations and numbers as log lines and the admin tool print them.
 *
 * Each function returns static memory of the calling thread.  The text stays
 * valid until the fourth later call of the same function, so that one log line
 * can have two of them.
 */
#ifndef COMMON_TIME_TEXT_H
#define COMMON_TIME_TEXT_H

#include <stdint.h>

/*
 * Loads the time zone (TZ, else /etc/localtime).  A worker calls this before
 * its sandbox closes: the file is not in its root.
 */
void time_zone_load(void);

/*
 * ISO 8601 with the offset of the site's zone: "2026-11-21T14:00:05+01:00".
 * epoch is in seconds; 0 means that there is no time yet and gives "never".
 */
const char *time_text(int64_t epoch);

/*
 * The two largest units, the second only when it is not 0: "6 d 2 h",
 * "5 min", "1 min 5 s".  Below 10 s: "1.5 s", below 1 s: "14 ms".  A negative
 * duration gets a minus sign.
 */
const char *duration_text(int64_t ms);

/* With commas: "1,204". */
const char *count_text(uint64_t n);

#endif
