/* SPDX-License-Identifier: MIT */
/*
 * Named points at which the crash tests kill a process: CRASH_POINT("name")
 * kills with SIGKILL when the page that the file in CSA_CRASH holds has that
 * name and its count runs out here.  Compiled only with --enable-crash-points.
 */
#ifndef COMMON_CRASH_POINT_H
#define COMMON_CRASH_POINT_H

#ifdef CRASH_POINTS
/* Before the sandbox closes: maps the page; nothing when there is none. */
void crash_init(void);
void crash_point(const char *name);
#define CRASH_POINT(name)	crash_point(name)
#else
#define crash_init()		do { } while (0)
#define CRASH_POINT(name)	do { } while (0)
#endif

#endif
