/* SPDX-License-Identifier: MIT */
/* The functions that log; see log.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log_line.h"
#include "common/text/text.h"

#define REPEAT_SECONDS 60 /* between two lines of one cause */
/* Bytes of a line that leave room for " (4294967295 more suppressed)". */
#define SUPPRESSED_TEXT_MAX (LOG_TEXT_MAX - 40)

static struct {
	const char *name;
	enum log_level level;
	void (*sink)(const struct log_line *line);
} logger = { "cc-slurm-adapter", LOG_LEVEL_WARN, log_line_send };

/* Fields of the next line of this thread. */
static _Thread_local struct {
	enum log_id id;
	uint64_t job;
	char cluster[LOG_CLUSTER_MAX];
} about;

void
log_init(const char *name, enum log_level level)
{
	logger.name = name;
	logger.level = level;
}

void
log_sink_set(void (*sink)(const struct log_line *line))
{
	logger.sink = sink;
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

void
log_about(enum log_id id, const char *cluster, uint64_t job)
{
	about.id = id;
	about.job = job;
	about.cluster[0] = '\0';
	if (cluster != NULL && log_cluster_is_valid(cluster))
		snprintf(about.cluster, sizeof(about.cluster), "%s", cluster);
}

static void emit(enum log_kind, const char *, va_list, const char *)
    LOG_PRINTF(2, 0);

static void
emit(enum log_kind kind, const char *fmt, va_list ap, const char *reason)
{
	char raw[LOG_TEXT_MAX], text[LOG_TEXT_MAX + LOG_ERRNO_MAX];
	char cluster[LOG_CLUSTER_MAX];
	struct log_line line = { .sender = logger.name,
		.kind = kind,
		.id = about.id,
		.cluster = cluster,
		.job = about.job,
		.text = text };
	size_t len;
	int n;

	memcpy(cluster, about.cluster, sizeof(cluster));
	log_about(LOG_ID_NONE, NULL, 0);
	if (log_kind_level(kind) > logger.level)
		return;
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(raw))
		memcpy(raw + sizeof(raw) - 4, "...", 4);
	/* Bytes from outside must not begin a line or control a terminal. */
	text_vis(raw, text, LOG_TEXT_MAX);
	len = strlen(text);
	if (reason != NULL)
		snprintf(text + len, sizeof(text) - len, ": %s", reason);
	logger.sink(&line);
}

#define EMIT(kind, reason) \
	do { \
		int saved = errno; \
		va_list ap; \
\
		va_start(ap, fmt); \
		emit((kind), fmt, ap, (reason)); \
		va_end(ap); \
		errno = saved; \
	} while (0)

void
log_error(const char *fmt, ...)
{
	EMIT(LOG_ERROR, strerror(saved));
}

void
log_errorx(const char *fmt, ...)
{
	EMIT(LOG_ERROR, NULL);
}

void
log_warn(const char *fmt, ...)
{
	EMIT(LOG_WARN, strerror(saved));
}

void
log_warnx(const char *fmt, ...)
{
	EMIT(LOG_WARN, NULL);
}

void
log_notice(const char *fmt, ...)
{
	EMIT(LOG_NOTICE, NULL);
}

void
log_info(const char *fmt, ...)
{
	EMIT(LOG_INFO, NULL);
}

void
log_debug(const char *fmt, ...)
{
	EMIT(LOG_DEBUG, NULL);
}

void
log_trace(const char *fmt, ...)
{
	EMIT(LOG_TRACE, NULL);
}

void
fatal(const char *fmt, ...)
{
	EMIT(LOG_FATAL, strerror(saved));
	exit(1);
}

void
fatalx(const char *fmt, ...)
{
	EMIT(LOG_FATAL, NULL);
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
	char text[LOG_TEXT_MAX + 1];
	unsigned suppressed;
	int n, saved = errno;
	va_list ap;

	if (!log_allowed(limit, &suppressed)) {
		log_about(LOG_ID_NONE, NULL, 0);
		return 0;
	}
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
