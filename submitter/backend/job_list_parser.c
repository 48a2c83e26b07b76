/* SPDX-License-Identifier: MIT */
/*
 * An incremental JSON reader that stores only its position and the wanted
 * members. It accepts some invalid JSON, but reports only rows that are closed.
 * See job_list_parser.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/backend/job_list_parser.h"

/* What may come next. */
enum state {
	ST_BEGIN,	/* the first bracket */
	ST_VALUE,	/* a value */
	ST_NAME,	/* a member's name or the end of an object */
	ST_COLON,
	ST_AFTER,	/* a comma or the end */
	ST_STRING,
	ST_SCALAR,	/* a number, true, false, null */
	ST_END
};

#define ROWS_DEPTH	2	/* depth of the array in the outermost object */
#define ROW_DEPTH	3	/* depth of a row in this array */

#define HAVE_JOB	1u
#define HAVE_START	2u
#define HAVE_CLUSTER	4u
#define HAVE_ALL	7u

void
job_list_parser_init(struct job_list_parser *l, job_list_row_fn *fn, void *arg)
{
	memset(l, 0, sizeof(*l));
	l->fn = fn;
	l->arg = arg;
	l->state = ST_BEGIN;
}

static int
in_array(const struct job_list_parser *l)
{
	return (l->arrays >> (l->depth - 1)) & 1;
}

static int
number_of(const struct job_list_parser *l, int64_t *value)
{
	char *end;

	*value = strtoll(l->text, &end, 10);
	return !l->cut && l->len > 0 && *end == '\0' && *value >= 0;
}

/* A string or scalar that is a member of a row. */
static void
member_take(struct job_list_parser *l, int is_string)
{
	int64_t v;

	if (!l->in_jobs || l->depth != ROW_DEPTH)
		return;
	if (strcmp(l->name, "jobId") == 0 && number_of(l, &v)) {
		l->row.key.job = (uint64_t)v;
		l->have |= HAVE_JOB;
	} else if (strcmp(l->name, "startTime") == 0 && number_of(l, &v)) {
		l->row.key.start = v;
		l->have |= HAVE_START;
	} else if (strcmp(l->name, "id") == 0 && number_of(l, &v)) {
		l->row.id = v;
	} else if (strcmp(l->name, "duration") == 0 && number_of(l, &v)) {
		l->row.duration = v;
	} else if (!is_string || l->cut) {
		return;
	} else if (strcmp(l->name, "cluster") == 0 &&
	    l->len < sizeof(l->row.key.cluster)) {
		memcpy(l->row.key.cluster, l->text, l->len + 1);
		l->have |= HAVE_CLUSTER;
	} else if (strcmp(l->name, "jobState") == 0 &&
	    l->len < sizeof(l->row.state))
		memcpy(l->row.state, l->text, l->len + 1);
}

static void
row_end(struct job_list_parser *l)
{
	l->rows++;
	if ((l->have & HAVE_ALL) == HAVE_ALL)
		l->fn(&l->row, l->arg);
	else
		l->bad++;
}

static int
open_bracket(struct job_list_parser *l, char c)
{
	if (l->depth == JOB_LIST_DEPTH_MAX || (l->depth == 0 && c == '['))
		return -1;
	l->depth++;
	if (c == '[')
		l->arrays |= UINT64_C(1) << (l->depth - 1);
	else
		l->arrays &= ~(UINT64_C(1) << (l->depth - 1));
	if (l->depth == ROWS_DEPTH && c == '[' && strcmp(l->name, "jobs") == 0)
		l->in_jobs = l->had_jobs = 1;
	if (l->in_jobs && l->depth == ROW_DEPTH) {
		memset(&l->row, 0, sizeof(l->row));
		l->have = 0;
	}
	l->state = c == '[' ? ST_VALUE : ST_NAME;
	return 0;
}

static int
close_bracket(struct job_list_parser *l, char c)
{
	if (l->depth == 0 || in_array(l) != (c == ']'))
		return -1;
	if (l->in_jobs && l->depth == ROW_DEPTH && c == '}')
		row_end(l);
	if (l->in_jobs && l->depth == ROWS_DEPTH)
		l->in_jobs = 0;
	l->depth--;
	l->state = l->depth == 0 ? ST_END : ST_AFTER;
	return 0;
}

static void
text_begin(struct job_list_parser *l)
{
	l->len = 0;
	l->cut = 0;
	l->escape = 0;
	l->text[0] = '\0';
}

static void
text_add(struct job_list_parser *l, char c)
{
	if (l->len + 1 >= sizeof(l->text)) {
		l->cut = 1;
		return;
	}
	l->text[l->len++] = c;
	l->text[l->len] = '\0';
}

static void
string_end(struct job_list_parser *l)
{
	if (!l->is_key) {
		member_take(l, 1);
		l->state = ST_AFTER;
		return;
	}
	if (l->depth == ROW_DEPTH || l->depth == 1) {
		if (!l->cut && l->len < sizeof(l->name))
			memcpy(l->name, l->text, l->len + 1);
		else
			l->name[0] = '\0';
	}
	l->state = ST_COLON;
}

static int
on_string(struct job_list_parser *l, char c)
{
	if (l->escape) {
		/*
		 * No wanted text contains an escape, so a text with one matches
		 * nothing.
		 */
		l->escape = 0;
		l->cut = 1;
	} else if (c == '\\')
		l->escape = 1;
	else if (c == '"')
		string_end(l);
	else if ((unsigned char)c < ' ')
		return -1;
	else
		text_add(l, c);
	return 0;
}

static int
value_begin(struct job_list_parser *l, char c)
{
	if (c == '{' || c == '[')
		return open_bracket(l, c);
	if (c == ']' && in_array(l))
		return close_bracket(l, c);
	text_begin(l);
	if (c == '"') {
		l->is_key = 0;
		l->state = ST_STRING;
		return 0;
	}
	if (c != '-' && !(c >= '0' && c <= '9') && c != 't' && c != 'f' &&
	    c != 'n')
		return -1;
	text_add(l, c);
	l->state = ST_SCALAR;
	return 0;
}

static int
on_after(struct job_list_parser *l, char c)
{
	if (c == '}' || c == ']')
		return close_bracket(l, c);
	if (c != ',')
		return -1;
	l->state = in_array(l) ? ST_VALUE : ST_NAME;
	return 0;
}

static int
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static int
on_char(struct job_list_parser *l, char c)
{
	if (l->state == ST_STRING)
		return on_string(l, c);
	if (l->state == ST_SCALAR) {
		if (c != ',' && c != '}' && c != ']' && !is_space(c)) {
			text_add(l, c);
			return 0;
		}
		member_take(l, 0);
		l->state = ST_AFTER;
	}
	if (is_space(c))
		return 0;
	switch ((enum state)l->state) {
	case ST_BEGIN:
		return c == '{' ? open_bracket(l, c) : -1;
	case ST_VALUE:
		return value_begin(l, c);
	case ST_NAME:
		if (c == '}')
			return close_bracket(l, c);
		text_begin(l);
		l->is_key = 1;
		l->state = ST_STRING;
		return c == '"' ? 0 : -1;
	case ST_COLON:
		l->state = ST_VALUE;
		return c == ':' ? 0 : -1;
	case ST_AFTER:
		return on_after(l, c);
	default:
		return -1;	/* text after the end */
	}
}

int
job_list_parser_feed(struct job_list_parser *l, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && !l->err; i++)
		if (on_char(l, p[i]) == -1)
			l->err = 1;
	return l->err ? -1 : 0;
}

int
job_list_parser_end(const struct job_list_parser *l)
{
	return !l->err && l->state == ST_END && l->had_jobs ? 0 : -1;
}
