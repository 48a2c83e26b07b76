/* SPDX-License-Identifier: MIT */
/*
 * InfluxDB's line protocol, as far as cc-backend's NATS input takes it:
 *
 *	job,function=start_job event="{\"jobId\":...}" 1790000000000000000
 *
 * Inside the quotes only \" and \\ are escapes, and a newline is a newline.
 * A line that is no line protocol ends its message; one without a time, or
 * whose payload is bad, is lost alone.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"

struct line {
	char name[64]; /* measurement */
	char function[64];
	struct text event;
	bool quoted; /* event was there, as a string */
	bool timed;
};

/* A name up to one of stop; a backslash escapes the next character. */
static const char *
name_read(const char *p, const char *end, const char *stop, char *out,
    size_t size)
{
	size_t n = 0;

	while (p < end && *p != '\n' && strchr(stop, *p) == NULL) {
		if (*p == '\\' && p + 1 < end)
			p++;
		if (n + 1 < size)
			out[n++] = *p;
		p++;
	}
	out[n] = '\0';
	return n > 0 ? p : NULL;
}

static const char *
tags_read(struct line *l, const char *p, const char *end)
{
	char key[64], value[64];

	while (p != NULL && p < end && *p == ',') {
		p = name_read(p + 1, end, "=, ", key, sizeof(key));
		if (p == NULL || p == end || *p != '=')
			return NULL;
		p = name_read(p + 1, end, ", ", value, sizeof(value));
		if (p != NULL && strcmp(key, "function") == 0)
			snprintf(l->function, sizeof(l->function), "%s", value);
	}
	return p;
}

/* p is behind the opening quote; returns behind the closing one. */
static const char *
string_read(struct text *t, const char *p, const char *end)
{
	t->len = 0;
	text_add(t, "", 0);
	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && p + 1 < end && (p[1] == '"' || p[1] == '\\'))
			p++;
		text_add(t, p, 1);
	}
	return p < end ? p + 1 : NULL;
}

/* A number or a word: all that may stand without quotes. */
static const char *
value_read(const char *p, const char *end)
{
	const char *start = p;

	while (p < end &&
	    (isalnum((unsigned char)*p) || strchr("+-.", *p) != NULL))
		p++;
	return p > start && (p == end || strchr(", \n", *p) != NULL) ? p : NULL;
}

static const char *
fields_read(struct line *l, const char *p, const char *end)
{
	struct text other = { 0 };
	char key[64];
	bool event;

	do {
		p = name_read(p + 1, end, "=, ", key, sizeof(key));
		if (p == NULL || p == end || *p != '=' || p + 1 == end)
			return NULL;
		event = strcmp(key, "event") == 0;
		if (p[1] == '"')
			p = string_read(event ? &l->event : &other, p + 2, end);
		else
			p = value_read(p + 1, end);
		if (event && p != NULL)
			l->quoted = l->event.p != NULL;
		text_clear(&other);
	} while (p != NULL && p < end && *p == ',');
	return p;
}

/* Returns behind the line, or NULL if it is none. */
static const char *
line_read(struct line *l, const char *p, const char *end)
{
	p = name_read(p, end, ", ", l->name, sizeof(l->name));
	if (p != NULL)
		p = tags_read(l, p, end);
	if (p == NULL || p == end || *p != ' ')
		return NULL;
	p = fields_read(l, p, end);
	if (p == NULL)
		return NULL;
	while (p < end && *p == ' ')
		p++;
	if (p < end && *p == '-')
		p++;
	while (p < end && isdigit((unsigned char)*p)) {
		l->timed = true;
		p++;
	}
	if (p < end && *p == '\r')
		p++;
	return p == end || *p == '\n' ? p : NULL;
}

static void
line_take(struct line *l, const char *subject_for)
{
	struct request rq = { .nats = true, .subject = "" };
	struct reply rp = { 0 };

	if (!l->timed || !l->quoted || strcmp(l->name, subject_for) != 0)
		return;
	rq.body = l->event;
	if (strcmp(l->name, "nodestate") == 0)
		nodestate(&rq, &rp, "");
	else if (strcmp(l->function, "start_job") == 0)
		start_job(&rq, &rp, "");
	else if (strcmp(l->function, "stop_job") == 0)
		stop_job(&rq, &rp, "");
	if (rp.status >= 400)
		fprintf(stderr, "nats: %d %s", rp.status,
		    rp.body.p != NULL ? rp.body.p : "\n");
	stats_count("nats", rp.status);
	reply_clear(&rp);
}

void
line_message(const char *p, size_t n, const char *measurement)
{
	const char *end = p + n;
	struct line l;

	while (p != NULL && p < end) {
		if (*p == '\n' || *p == ' ') {
			p++;
			continue;
		}
		memset(&l, 0, sizeof(l));
		p = line_read(&l, p, end);
		if (p == NULL)
			fprintf(stderr, "nats: not line protocol\n");
		else
			line_take(&l, measurement);
		text_clear(&l.event);
	}
}
