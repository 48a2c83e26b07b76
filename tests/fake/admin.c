/* SPDX-License-Identifier: MIT */
/*
 * /fake/: what a test asks of the stand-in itself, without a token.
 *
 *	GET    /fake/jobs	all runs, cached ones too
 *	GET    /fake/stats	answers per endpoint and code, connections
 *	GET    /fake/faults	POST one, DELETE all
 *	POST   /fake/commit	commit job_cache now
 *	POST   /fake/race	{"count":N,"lost":B}: the next N stops of cached
 *				runs hit another one (without archive file)
 *	POST   /fake/down	{"seconds":S}: no port, no connections
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"

#define COUNTS_MAX 256

static struct {
	const char *endpoint;
	int status;
	unsigned long count;
} counts[COUNTS_MAX];
static size_t ncounts;

void
stats_count(const char *endpoint, int status)
{
	size_t i;

	for (i = 0; i < ncounts; i++)
		if (counts[i].status == status &&
		    strcmp(counts[i].endpoint, endpoint) == 0)
			break;
	if (i == COUNTS_MAX)
		return;
	if (i == ncounts) {
		counts[i].endpoint = endpoint;
		counts[i].status = status;
		ncounts++;
	}
	counts[i].count++;
}

static void
stats_write(struct text *t)
{
	struct http_numbers n;
	json_t *o, *all = json_object(), *e;
	char code[16];
	size_t i;

	for (i = 0; i < ncounts; i++) {
		e = json_object_get(all, counts[i].endpoint);
		if (e == NULL) {
			e = json_object();
			json_object_set_new(all, counts[i].endpoint, e);
		}
		snprintf(code, sizeof(code), "%d", counts[i].status);
		json_object_set_new(e, code,
		    json_integer((json_int_t)counts[i].count));
	}
	http_numbers(&n);
	o = json_pack("{s:o,s:{s:I,s:I,s:I,s:I},s:I,s:I,s:i}", "answers", all,
	    "connections", "open", (json_int_t)n.open, "max", (json_int_t)n.max,
	    "total", (json_int_t)n.total, "requests", (json_int_t)n.requests,
	    "cached", (json_int_t)store_count(true), "committed",
	    (json_int_t)store_count(false), "races", stop_race_left());
	go_value(t, o);
	text_str(t, "\n");
	json_decref(o);
}

static void
jobs_write(struct text *t)
{
	json_t *list = store_dump();

	go_value(t, list);
	text_str(t, "\n");
	json_decref(list);
}

void
admin_handle(struct request *rq, struct reply *rp)
{
	const char *what = rq->path + strlen("/fake/");
	json_error_t err;
	json_t *o;

	if (strcmp(what, "faults") == 0) {
		fault_admin(rq, rp);
		return;
	}
	rp->status = 200;
	rp->ctype = "application/json";
	o = json_loadb(rq->body.p != NULL ? rq->body.p : "", rq->body.len, 0,
	    &err);
	if (strcmp(what, "jobs") == 0)
		jobs_write(&rp->body);
	else if (strcmp(what, "stats") == 0)
		stats_write(&rp->body);
	else if (strcmp(what, "commit") == 0)
		store_commit();
	else if (strcmp(what, "race") == 0)
		stop_race((int)json_num(o, "count", 1),
		    json_is_true(json_object_get(o, "lost")));
	else if (strcmp(what, "down") == 0)
		http_down(json_number_value(json_object_get(o, "seconds")));
	else
		reply_error(rp, 404, "no such thing: %s", what);
	json_decref(o);
}
