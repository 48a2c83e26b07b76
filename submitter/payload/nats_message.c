/* SPDX-License-Identifier: MIT */
/*
 * NATS messages; see nats_message.h.  In cc-backend's line protocol a quoted
 * field escapes only quote and backslash, and the timestamp is required.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "submitter/payload/nats_message.h"
#include "submitter/payload/slurm_info.h"

/* Largest time whose nanoseconds fit 64 bits. */
#define SECONDS_MAX (INT64_MAX / 1000000000)

/* bytes; a shorter rest of a text is omitted. */
#define TEXT_LEAST 32

static const char *const functions[] = {
	[MESSAGE_START] = "start_job",
	[MESSAGE_STOP] = "stop_job",
};

static const char *const events[] = {
	[MESSAGE_START] = "start",
	[MESSAGE_STOP] = "stop",
};

void
message_id(const struct run_key *key, enum message kind, int64_t again,
    char *buf, size_t size)
{
	char *c;
	int n;

	n = snprintf(buf, size, "%s:%" PRIu64 ":%" PRId64 ":%s", key->cluster,
	    key->job, key->start, events[kind]);
	if (again != 0 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ":%" PRId64, again);
	for (c = buf; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			*c = '_'; /* the id is part of a header */
}

/* A tag; escapes separators, replaces bytes that have no escape. */
static void
tag(struct writer *w, const char *name, const char *value)
{
	unsigned char c;

	if (value == NULL || *value == '\0')
		return; /* line protocol has no empty values */
	wr_u8(w, ',');
	wr_mem(w, name, strlen(name));
	wr_u8(w, '=');
	for (; *value != '\0'; value++) {
		c = (unsigned char)*value;
		if (c < ' ' || c == 0x7f || c == '\\')
			c = '_';
		if (c == ' ' || c == ',' || c == '=')
			wr_u8(w, '\\');
		wr_u8(w, c);
	}
}

/* The content of a quoted field. */
static void
quoted(struct writer *w, const char *s, size_t n)
{
	size_t i, from = 0;

	for (i = 0; i < n; i++) {
		if (s[i] != '"' && s[i] != '\\')
			continue;
		wr_mem(w, s + from, i - from);
		wr_u8(w, '\\');
		from = i;
	}
	wr_mem(w, s + from, n - from);
}

static void
wrap_line(const struct message_how *mh, const struct job *job,
    enum message kind, int64_t when, const struct writer *body,
    struct writer *w)
{
	WR_TEXT(w, "job");
	tag(w, "function", functions[kind]);
	tag(w, "hostname", mh->hostname);
	if (kind == MESSAGE_STOP)
		tag(w, "partition", job->partition);
	WR_TEXT(w, ",type=node,type-id=0 event=\"");
	quoted(w, (const char *)body->buf, body->len);
	WR_TEXT(w, "\" ");
	wr_json_number(w,
	    (when < SECONDS_MAX ? when : SECONDS_MAX) * 1000000000);
	wr_u8(w, '\n');
}

static void
wrap_json(enum message kind, const struct writer *body, struct writer *w)
{
	WR_TEXT(w, "{\"event\":\"");
	wr_mem(w, events[kind], strlen(events[kind]));
	WR_TEXT(w, "\",\"body\":");
	wr_mem(w, body->buf, body->len);
	wr_u8(w, '}');
}

/* Makes the message as how says.  0, or -1 with *why and errno. */
static int
message_try(const struct payload *p, const struct payload_how *how,
    const struct message_how *mh, const struct job *job, enum message kind,
    struct writer *w, const char **why)
{
	int64_t when = job->key.start;
	struct writer body;
	int rc, no_memory;

	wr_reset(w);
	wr_init(&body, PAYLOAD_MAX);
	if (kind == MESSAGE_START)
		rc = payload_start(p, how, job, &body, why);
	else {
		rc = payload_stop(p, how->backend, job, &body, why);
		when = payload_stop_time(how->backend, job);
	}
	if (rc == 0) {
		if (mh->format == MESSAGE_LINE)
			wrap_line(mh, job, kind, when, &body, w);
		else
			wrap_json(kind, &body, w);
		rc = wr_end(w);
		if (rc == -1)
			*why = "the message is too long";
	}
	no_memory = wr_no_memory(&body) || wr_no_memory(w);
	wr_clear(&body);
	if (rc == -1 && no_memory)
		*why = "out of memory";
	if (rc == -1)
		errno = no_memory ? ENOMEM : EINVAL;
	return rc;
}

/* The length that saves at least over bytes; 0 = omit the text. */
static size_t
length_cut(const char *text, size_t over)
{
	size_t n = text != NULL ? strlen(text) : 0;

	/* The mark needs some bytes; each byte of text needs one or more. */
	over += TEXT_LEAST / 2;
	return n > over + TEXT_LEAST ? n - over : 0;
}

static size_t
info_cut(const struct job *job, size_t over)
{
	char *info = slurm_info_text(job);
	size_t n = length_cut(info, over);

	free(info);
	return n;
}

int
message_make(const struct payload *p, const struct payload_how *how,
    const struct message_how *mh, const struct job *job, enum message kind,
    struct writer *w, const char **why)
{
	struct payload_how less = *how;
	int step;

	/* full; shorter script; none; shorter slurmInfo; none; no metaData */
	for (step = 0; step < 6; step++) {
		if (message_try(p, &less, mh, job, kind, w, why) == -1)
			return -1;
		if (w->len <= mh->max)
			return step != 0;
		if (kind == MESSAGE_STOP)
			break;
		switch (step) {
		case 0:
			less.script_max = length_cut(job->script,
			    w->len - mh->max);
			break;
		case 1:
			less.script_max = 0;
			break;
		case 2:
			less.info_max = info_cut(job, w->len - mh->max);
			break;
		case 3:
			less.info_max = 0;
			break;
		default:
			less.bare = 1;
		}
	}
	*why = "the message is longer than the broker accepts";
	errno = E2BIG;
	return -1;
}
