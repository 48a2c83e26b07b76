/* SPDX-License-Identifier: MIT */
/*
 * A log line before it is written, its record in the pipe of a worker, and its
 * text on standard error.  Under systemd the text begins with the journald
 * priority ("<4>"), otherwise with the name of the level, as in the Go adapter.
 */
#ifndef COMMON_LOG_LINE_H
#define COMMON_LOG_LINE_H

#include <sys/types.h>

#include "common/log.h"

#define LOG_TEXT_MAX	2048 /* bytes of a text; journald accepts more */
#define LOG_ERRNO_MAX	128  /* bytes of the text of errno behind it */
#define LOG_CLUSTER_MAX 64   /* bytes with the NUL, as CLUSTER_MAX */
/* A record or a line with its NUL, at most PIPE_BUF: one write(2) is atomic. */
#define LOG_LINE_MAX (LOG_TEXT_MAX + LOG_ERRNO_MAX + 192)

/* How a line is shown.  The order is that of the urgency. */
enum log_kind {
	LOG_FATAL,
	LOG_ERROR,
	LOG_WARN,
	LOG_NOTICE, /* shown at LOG_LEVEL_WARN */
	LOG_INFO,
	LOG_DEBUG,
	LOG_TRACE,
	LOG_KIND__COUNT
};

struct log_line {
	const char *sender; /* name of the process */
	enum log_kind kind;
	enum log_id id;
	const char *cluster; /* "" = none */
	uint64_t job;	     /* 0 = none */
	const char *text;    /* one line of printable UTF-8 */
};

/* The level at which a line of this kind is shown. */
enum log_level log_kind_level(enum log_kind kind);
int log_kind_priority(enum log_kind kind); /* syslog's number */
/* 32 hexadecimal digits; "" for LOG_ID_NONE. */
const char *log_id_uuid(enum log_id id);

/* 1 for "" and a name that can be a field: no control byte, no '>'. */
int log_cluster_is_valid(const char *cluster);

/* The line with its newline; a longer one is cut.  Returns its length. */
size_t log_line_print(const struct log_line *line, int with_priority, char *buf,
    size_t size);
/* "<kind,id,job,cluster>text\n", without the sender.  Returns its length. */
size_t log_record_write(const struct log_line *line, char *buf, size_t size);
/*
 * Reads a record without its newline.  line borrows from record, and cluster
 * from cluster.  0, or -1 when record does not begin as a record does.
 */
int log_record_read(const char *record, char cluster[LOG_CLUSTER_MAX],
    struct log_line *line);

/*
 * For log_sink_set(): writes records to standard error, which is a pipe in
 * non-blocking mode.  A line that the pipe has no space for is counted; the
 * count is logged before the next line.
 */
void log_record_send(const struct log_line *line);
/* For log_sink_set(): writes lines to standard error; the default. */
void log_line_send(const struct log_line *line);

#endif
