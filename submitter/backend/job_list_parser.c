/* SPDX-License-Identifier: MIT */
/*
 * Reads the rows of a job list from the events of the JSON scanner.  A row is
 * reported when its object is closed.  See job_list_parser.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "submitter/backend/job_list_parser.h"

#define ROWS_DEPTH   1 /* members of the outermost object */
#define ROW_DEPTH    2 /* rows in its array "jobs" */
#define MEMBER_DEPTH 3 /* members of a row */
#define HOST_DEPTH   5 /* members of a host in the array "resources" */
#define ITEM_DEPTH   6 /* items of its lists */

#define HAVE_JOB     1u
#define HAVE_START   2u
#define HAVE_CLUSTER 4u
#define HAVE_ALL     7u

static int
number_of(const struct json_scan *s, int64_t *value)
{
	char *end;

	*value = strtoll(s->text, &end, 10);
	return !s->cut && s->len > 0 && *end == '\0' && *value >= 0;
}

/*
 * A string or scalar that is a member of a row.  cc-backend checks no startTime:
 * a start in milliseconds is later than any that a message can contain.
 */
static void
member_take(struct job_list_parser *l, int is_string)
{
	const struct json_scan *s = &l->scan;
	int64_t v;

	if (strcmp(l->name, "jobId") == 0 && number_of(s, &v)) {
		l->row.key.job = (uint64_t)v;
		l->have |= HAVE_JOB;
	} else if (strcmp(l->name, "startTime") == 0 && number_of(s, &v) &&
	    v <= TIME_S_MAX) {
		l->row.key.start = v;
		l->have |= HAVE_START;
	} else if (strcmp(l->name, "id") == 0 && number_of(s, &v)) {
		l->row.id = v;
	} else if (strcmp(l->name, "duration") == 0 && number_of(s, &v)) {
		l->row.duration = v;
	} else if (strcmp(l->name, "numAcc") == 0 && number_of(s, &v)) {
		l->row.gpus = v;
	} else if (!is_string || s->cut) {
		return;
	} else if (strcmp(l->name, "cluster") == 0 &&
	    s->len < sizeof(l->row.key.cluster)) {
		memcpy(l->row.key.cluster, s->text, s->len + 1);
		l->have |= HAVE_CLUSTER;
	} else if (strcmp(l->name, "jobState") == 0 &&
	    s->len < sizeof(l->row.state))
		memcpy(l->row.state, s->text, s->len + 1);
}

static void
name_take(struct job_list_parser *l, char name[32])
{
	const struct json_scan *s = &l->scan;

	if (!s->cut && s->len < sizeof(l->name))
		memcpy(name, s->text, s->len + 1);
	else
		name[0] = '\0';
}

/* An item of a list of a host. */
static void
item_take(struct job_list_parser *l)
{
	if (strcmp(l->name, "resources") != 0)
		return;
	if (strcmp(l->list, "hwthreads") == 0)
		l->row.has_threads = 1;
	else if (strcmp(l->list, "accelerators") == 0)
		l->row.has_gpus = 1;
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

/* An element of "jobs", or the end of one. */
static void
on_row(struct job_list_parser *l, enum json_event event)
{
	if (event == JSON_EV_OBJECT || event == JSON_EV_ARRAY) {
		memset(&l->row, 0, sizeof(l->row));
		l->have = 0;
	} else if (event == JSON_EV_OBJECT_END)
		row_end(l);
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct job_list_parser *l = arg;

	switch (s->depth) {
	case ROWS_DEPTH:
		if (event == JSON_EV_NAME)
			name_take(l, l->name);
		l->in_jobs = event == JSON_EV_ARRAY &&
		    strcmp(l->name, "jobs") == 0;
		l->had_jobs |= l->in_jobs;
		break;
	case ROW_DEPTH:
		if (l->in_jobs)
			on_row(l, event);
		break;
	case MEMBER_DEPTH:
		if (event == JSON_EV_NAME)
			name_take(l, l->name);
		else if (l->in_jobs &&
		    (event == JSON_EV_STRING || event == JSON_EV_SCALAR))
			member_take(l, event == JSON_EV_STRING);
		break;
	case HOST_DEPTH:
		if (event == JSON_EV_NAME)
			name_take(l, l->list);
		break;
	case ITEM_DEPTH:
		if (l->in_jobs &&
		    (event == JSON_EV_STRING || event == JSON_EV_SCALAR))
			item_take(l);
		break;
	default:
		break;
	}
	return NULL;
}

void
job_list_parser_init(struct job_list_parser *l, job_list_row_fn *fn, void *arg)
{
	memset(l, 0, sizeof(*l));
	l->fn = fn;
	l->arg = arg;
	json_scan_init(&l->scan, '{', l->text, sizeof(l->text), on_event, l);
}

int
job_list_parser_feed(struct job_list_parser *l, const char *p, size_t n)
{
	if (json_scan_feed(&l->scan, p, n) != NULL)
		l->err = 1;
	return l->err ? -1 : 0;
}

int
job_list_parser_end(const struct job_list_parser *l)
{
	return json_scan_end(&l->scan) == NULL && l->had_jobs ? 0 : -1;
}
