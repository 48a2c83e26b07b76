/* SPDX-License-Identifier: MIT */
/*
 * Log lines.  One write(2) writes a line, so that the lines of several
 * processes on one descriptor never mix.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text.h"

#define LINE_MAX_BYTES 2048 /* journald accepts more */
#define REPEAT_SECONDS 60   /* between two lines of one cause */
/* Bytes of a line that leave room for " (4294967295 more suppressed)". */
#define SUPPRESSED_TEXT_MAX (LINE_MAX_BYTES - 40)

static struct {
	const char *name;
	enum log_level level;
	int journal; /* standard error goes to journald */
} logger = { "cc-slurm-adapter", LOG_LEVEL_WARN, 0 };

static const struct {
	const char *word;
	int priority; /* syslog's number */
} levels[LOG_LEVEL__COUNT] = {
	[LOG_LEVEL_FATAL] = { "FATAL", 2 },
	[LOG_LEVEL_ERROR] = { "ERROR", 3 },
	[LOG_LEVEL_WARN] = { "WARN", 4 },
	[LOG_LEVEL_INFO] = { "INFO", 6 },
	[LOG_LEVEL_DEBUG] = { "DEBUG", 7 },
	[LOG_LEVEL_TRACE] = { "TRACE", 7 },
};

void
log_init(const char *name, enum log_level level)
{
	logger.name = name;
	logger.level = level;
	logger.journal = getenv("JOURNAL_STREAM") != NULL;
}

void
log_set_level(enum log_level level)
{
	if (level < LOG_LEVEL__COUNT)
		logger.level = level;
}

enum log_level
log_get_level(void)
{
	return logger.level;
}

static void emit(const char *, int, const char *, va_list, const char *)
    LOG_PRINTF(3, 0);
static void emit_level(enum log_level, const char *, va_list, const char *)
    LOG_PRINTF(2, 0);

static void
emit(const char *word, int priority, const char *fmt, va_list ap,
    const char *reason)
{
	char raw[LINE_MAX_BYTES], text[LINE_MAX_BYTES];
	char line[LINE_MAX_BYTES + 128];
	int n;

	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(raw))
		memcpy(raw + sizeof(raw) - 4, "...", 4);
	/* Bytes from outside must not begin a line or control a terminal. */
	text_vis(raw, text, sizeof(text));
	if (logger.journal)
		n = snprintf(line, sizeof(line), "<%d>%s: %s%s%s\n", priority,
		    logger.name, text, reason != NULL ? ": " : "",
		    reason != NULL ? reason : "");
	else
		n = snprintf(line, sizeof(line), "%-5s [%s] %s%s%s\n", word,
		    logger.name, text, reason != NULL ? ": " : "",
		    reason != NULL ? reason : "");
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	/* The daemon continues when the log cannot be written. */
	if (write(STDERR_FILENO, line, (size_t)n) == -1)
		return;
}

static void
emit_level(enum log_level level, const char *fmt, va_list ap,
    const char *reason)
{
	if (level <= logger.level)
		emit(levels[level].word, levels[level].priority, fmt, ap,
		    reason);
}

#define EMIT(level, reason) \
	do { \
		int saved = errno; \
		va_list ap; \
\
		va_start(ap, fmt); \
		emit_level((level), fmt, ap, (reason)); \
		va_end(ap); \
		errno = saved; \
	} while (0)

void
log_error(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_ERROR, strerror(saved));
}

void
log_errorx(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_ERROR, NULL);
}

void
log_warn(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_WARN, strerror(saved));
}

void
log_warnx(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_WARN, NULL);
}

void
log_notice(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	if (logger.level >= LOG_LEVEL_WARN)
		emit("NOTE", 5, fmt, ap, NULL);
	va_end(ap);
	errno = saved;
}

void
log_info(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_INFO, NULL);
}

void
log_debug(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_DEBUG, NULL);
}

void
log_trace(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_TRACE, NULL);
}

void
fatal(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_FATAL, strerror(saved));
	exit(1);
}

void
fatalx(const char *fmt, ...)
{
	EMIT(LOG_LEVEL_FATAL, NULL);
	exit(1);
}

int
log_allowed(struct log_limit *limit, unsigned *suppressed)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (limit->last != 0 && now.tv_sec - limit->last < REPEAT_SECONDS) {
		limit->suppressed++;
		return 0;
	}
	*suppressed = limit->suppressed;
	limit->suppressed = 0;
	limit->last = now.tv_sec != 0 ? now.tv_sec : 1;
	return 1;
}

int
log_limited(struct log_limit *limit, void (*log)(const char *, ...),
    const char *fmt, ...)
{
	char text[LINE_MAX_BYTES + 1];
	unsigned suppressed;
	int n, saved = errno;
	va_list ap;

	if (!log_allowed(limit, &suppressed))
		return 0;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		text[0] = '\0';
	if (suppressed > 0 && n > SUPPRESSED_TEXT_MAX)
		memcpy(text + SUPPRESSED_TEXT_MAX - 3, "...", 3);
	errno = saved;
	if (suppressed > 0)
		log("%.*s (%u more suppressed)", SUPPRESSED_TEXT_MAX, text,
		    suppressed);
	else
		log("%s", text);
	errno = saved;
	return 1;
}
