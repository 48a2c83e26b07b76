/* SPDX-License-Identifier: MIT */
/*
 * Named points at which the crash tests kill a process.  CRASH_POINT("name")
 * counts down when the file that CSA_CRASH names contains this name, and kills
 * the process with SIGKILL at 0.  Compiled only with --enable-crash-points.
 */
#ifndef COMMON_CRASH_POINT_H
#define COMMON_CRASH_POINT_H

#include <stdint.h>

#ifdef CRASH_POINTS
/* Maps the file; call it before the sandbox closes. */
void crash_init(void);
void crash_point(const char *name);
#define CRASH_POINT(name) crash_point(name)
/*
 * The same for the process that handles this job: the name is
 * "collector.inflight:10", the signal SIGABRT, each time until the count is 0.
 */
void crash_inflight(uint64_t job);
#else
#define crash_init() \
	do { \
	} while (0)
#define CRASH_POINT(name) \
	do { \
	} while (0)
#define crash_inflight(job) \
	do { \
	} while (0)
#endif

#endif
