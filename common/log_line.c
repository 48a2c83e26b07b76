/* SPDX-License-Identifier: MIT */
/* The forms of a log line; see log_line.h. */
#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log_line.h"

_Static_assert(LOG_LINE_MAX <= PIPE_BUF, "a line is written at once");

static const struct {
	const char *word;
	int priority;
	enum log_level level;
} kinds[LOG_KIND__COUNT] = {
	[LOG_FATAL] = { "FATAL", 2, LOG_LEVEL_FATAL },
	[LOG_ERROR] = { "ERROR", 3, LOG_LEVEL_ERROR },
	[LOG_WARN] = { "WARN", 4, LOG_LEVEL_WARN },
	[LOG_NOTICE] = { "NOTE", 5, LOG_LEVEL_WARN },
	[LOG_INFO] = { "INFO", 6, LOG_LEVEL_INFO },
	[LOG_DEBUG] = { "DEBUG", 7, LOG_LEVEL_DEBUG },
	[LOG_TRACE] = { "TRACE", 7, LOG_LEVEL_TRACE },
};

static const char *const uuids[LOG_ID__COUNT] = {
	[LOG_ID_NONE] = "",
#define LOG_ID(name, uuid) [LOG_ID_##name] = uuid,
#include "common/log_ids.h"
#undef LOG_ID
};

enum log_level
log_kind_level(enum log_kind kind)
{
	return kinds[kind].level;
}

int
log_kind_priority(enum log_kind kind)
{
	return kinds[kind].priority;
}

const char *
log_id_uuid(enum log_id id)
{
	return uuids[id];
}

int
log_cluster_is_valid(const char *cluster)
{
	size_t n = strspn(cluster,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._-");

	return cluster[n] == '\0' && n < LOG_CLUSTER_MAX;
}

/* n as of snprintf().  A line that is cut keeps its newline. */
static size_t
line_end(char *buf, size_t size, int n)
{
	if (n < 0)
		return 0;
	if ((size_t)n < size)
		return (size_t)n;
	buf[size - 2] = '\n';
	return size - 1;
}

size_t
log_line_print(const struct log_line *line, int with_priority, char *buf,
    size_t size)
{
	int n;

	if (with_priority)
		n = snprintf(buf, size, "<%d>%s: %s\n",
		    kinds[line->kind].priority, line->sender, line->text);
	else
		n = snprintf(buf, size, "%-5s [%s] %s\n",
		    kinds[line->kind].word, line->sender, line->text);
	return line_end(buf, size, n);
}

size_t
log_record_write(const struct log_line *line, char *buf, size_t size)
{
	return line_end(buf, size,
	    snprintf(buf, size, "<%d,%d,%llu,%s>%s\n", (int)line->kind,
		(int)line->id, (unsigned long long)line->job, line->cluster,
		line->text));
}

/* A decimal number and the comma after it. */
static int
number_read(const char **p, unsigned long long most, unsigned long long *v)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return -1;
	*v = strtoull(*p, &end, 10);
	if (*end != ',' || *v > most)
		return -1;
	*p = end + 1;
	return 0;
}

int
log_record_read(const char *record, char cluster[LOG_CLUSTER_MAX],
    struct log_line *line)
{
	unsigned long long kind, id, job;
	const char *p = record + 1;
	size_t n;

	if (*record != '<' ||
	    number_read(&p, LOG_KIND__COUNT - 1, &kind) == -1 ||
	    number_read(&p, LOG_ID__COUNT - 1, &id) == -1 ||
	    number_read(&p, UINT64_MAX, &job) == -1)
		return -1;
	n = strcspn(p, ">");
	if (p[n] != '>' || n >= LOG_CLUSTER_MAX)
		return -1;
	memcpy(cluster, p, n);
	cluster[n] = '\0';
	if (!log_cluster_is_valid(cluster))
		return -1;
	line->kind = (enum log_kind)kind;
	line->id = (enum log_id)id;
	line->job = job;
	line->cluster = cluster;
	line->text = p + n + 1;
	return 0;
}

static int
record_put(const struct log_line *line)
{
	char buf[LOG_LINE_MAX];
	size_t n = log_record_write(line, buf, sizeof(buf));

	return write(STDERR_FILENO, buf, n) == (ssize_t)n ? 0 : -1;
}

void
log_record_send(const struct log_line *line)
{
	static atomic_uint lost;
	unsigned n = atomic_exchange(&lost, 0);
	char text[80];
	struct log_line count = { .sender = line->sender,
		.kind = LOG_WARN,
		.cluster = "",
		.text = text };

	snprintf(text, sizeof(text),
	    "%u log lines are lost: the pipe to the supervisor was full", n);
	if (n > 0 && record_put(&count) == -1)
		atomic_fetch_add(&lost, n + 1);
	else if (record_put(line) == -1)
		atomic_fetch_add(&lost, 1);
}

void
log_line_send(const struct log_line *line)
{
	char buf[LOG_LINE_MAX];
	size_t n = log_line_print(line, 0, buf, sizeof(buf));

	/* The daemon continues when the log cannot be written. */
	if (write(STDERR_FILENO, buf, n) == -1)
		return;
}
