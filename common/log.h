/* SPDX-License-Identifier: MIT */
/*
 * Log lines, one per event.  A worker writes its lines as records (log_line.h)
 * into a pipe to the supervisor; the supervisor adds the name of the sender.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of -debug; the default is LOG_LEVEL_WARN. */
enum log_level {
	LOG_LEVEL_FATAL,
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_TRACE,
	LOG_LEVEL__COUNT
};

/* Messages with a MESSAGE_ID in the journal; the ids are in log_ids.h. */
enum log_id {
	LOG_ID_NONE,
#define LOG_ID(name, uuid) LOG_ID_##name,
#include "common/log_ids.h"
#undef LOG_ID
	LOG_ID__COUNT
};

struct log_line;

/* name is printed in each line ("collector"); borrowed for ever. */
void log_init(const char *name, enum log_level level);
/* Lines go to sink, not to standard error. */
void log_sink_set(void (*sink)(const struct log_line *line));
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

#define LOG_PRINTF(f, a) __attribute__((format(printf, f, a)))

/*
 * log_error and log_warn add the text of errno, log_errorx and log_warnx do
 * not.  A text of more than 2 KiB is cut and ends with "...".  Control bytes
 * are escaped.
 */
void log_error(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_errorx(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_warn(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_warnx(const char *fmt, ...) LOG_PRINTF(1, 2);
/*
 * Not an error, but visible at the default level: the state of the sandbox, the
 * end of an outage.
 */
void log_notice(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_info(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_debug(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_trace(const char *fmt, ...) LOG_PRINTF(1, 2);

/* For start-up and broken invariants: logs, then exits with status 1. */
void fatal(const char *fmt, ...) LOG_PRINTF(1, 2) __attribute__((noreturn));
void fatalx(const char *fmt, ...) LOG_PRINTF(1, 2) __attribute__((noreturn));

/*
 * Fields of the next line of this thread, logged or not: its MESSAGE_ID, and
 * CC_CLUSTER and CC_JOB.  cluster may be NULL, job 0.
 */
void log_about(enum log_id id, const char *cluster, uint64_t job);

/*
 * A line that may repeat: the first is logged at once, then at most one a
 * minute.  Zero-initialise; one per place and cause.
 */
struct log_limit {
	long long last;	     /* CLOCK_MONOTONIC seconds, 0 = never */
	unsigned suppressed; /* lines not logged since then */
};
/*
 * Logs the line with log (log_warnx, log_notice, ...) unless a line of the
 * same limit was logged less than a minute ago.  " (N more suppressed)" is
 * added when N > 0 lines were not logged.  Returns 1 when the line was logged.
 */
int log_limited(struct log_limit *limit, void (*log)(const char *, ...),
    const char *fmt, ...) LOG_PRINTF(3, 4);
/*
 * For lines that one call of log_limited() cannot log: returns 1 when a line
 * may be logged now; *suppressed becomes the number of lines that were not
 * logged.
 */
int log_allowed(struct log_limit *limit, unsigned *suppressed);

#endif
