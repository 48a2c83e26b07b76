/* SPDX-License-Identifier: MIT */
/*
 * Faults: which request is to be mistreated, and how, as a test asked for
 * through POST /fake/faults.  The first fault in the list that fits a
 * request is taken, and counted.
 *
 *	match		start_job, stop_job, jobs, job, clusters, nodestate,
 *			edit_meta, tag_job, delete_job, or * (default)
 *	action		status, 401, html, redirect, reset, hang, garbage,
 *			endless, big; delay, slow, truncate, halfopen,
 *			wrong-length (these five always take effect)
 *	count		how often, 1 by default, -1 for ever
 *	afterEffect	true: the effect takes place, its answer is lost
 *	jobId		only for this job
 *	status, body	of status; location of redirect; bytes of big
 *	delayMs		of delay and slow; of hang, until it closes
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fake.h"

/* More than any client of ours reads. */
#define BIG_DEFAULT (64 << 20)

static TAILQ_HEAD(fault_list, fault) faults = TAILQ_HEAD_INITIALIZER(faults);

static const struct {
	const char *name;
	enum fault_kind kind;
} kinds[] = {
	{ "status", FAULT_STATUS },
	{ "reset", FAULT_RESET },
	{ "hang", FAULT_HANG },
	{ "delay", FAULT_DELAY },
	{ "halfopen", FAULT_HALFOPEN },
	{ "garbage", FAULT_GARBAGE },
	{ "html", FAULT_HTML },
	{ "redirect", FAULT_REDIRECT },
	{ "endless", FAULT_ENDLESS },
	{ "slow", FAULT_SLOW },
	{ "wrong-length", FAULT_LENGTH },
	{ "big", FAULT_BIG },
	{ "401", FAULT_401 },
	{ "truncate", FAULT_TRUNCATE },
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *
fault_name(enum fault_kind kind)
{
	size_t i;

	for (i = 0; i < NKINDS; i++)
		if (kinds[i].kind == kind)
			return kinds[i].name;
	return "none";
}

static void
fault_free(struct fault *f)
{
	TAILQ_REMOVE(&faults, f, entry);
	free(f->match);
	free(f->body);
	free(f->location);
	free(f);
}

/* The job id of any body that has one, 0 else. */
static int64_t
request_jobid(const struct request *rq)
{
	json_error_t err;
	int64_t id;
	json_t *v;

	if (rq->body.p == NULL)
		return 0;
	v = json_loadb(rq->body.p, rq->body.len,
	    JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &err);
	id = json_num(v, "jobId", 0);
	json_decref(v);
	return id;
}

struct fault *
fault_find(const struct request *rq)
{
	struct fault *f;
	const char *endpoint;

	if (TAILQ_EMPTY(&faults) || strncmp(rq->path, "/fake/", 6) == 0)
		return NULL;
	endpoint = api_endpoint(rq);
	for (f = TAILQ_FIRST(&faults); f != NULL; f = TAILQ_NEXT(f, entry)) {
		if (f->count == 0 ||
		    (strcmp(f->match, "*") != 0 &&
			strcmp(f->match, endpoint) != 0))
			continue;
		if (f->jobid != 0 && f->jobid != request_jobid(rq))
			continue;
		if (f->count > 0)
			f->count--;
		f->hits++;
		return f;
	}
	return NULL;
}

/* Returns NULL, or why it is not a fault. */
static const char *
fault_add(json_t *o)
{
	const char *action = json_text(o, "action", "");
	struct fault *f;
	size_t i;

	for (i = 0; i < NKINDS && strcmp(kinds[i].name, action) != 0; i++)
		;
	if (i == NKINDS)
		return "unknown action";
	f = xcalloc(1, sizeof(*f));
	f->kind = kinds[i].kind;
	f->match = xstrdup(json_text(o, "match", "*"));
	if (json_text(o, "body", NULL) != NULL)
		f->body = xstrdup(json_text(o, "body", ""));
	if (json_text(o, "location", NULL) != NULL)
		f->location = xstrdup(json_text(o, "location", ""));
	f->jobid = json_num(o, "jobId", 0);
	f->bytes = json_num(o, "bytes", BIG_DEFAULT);
	f->status = (int)json_num(o, "status", 500);
	f->delay = (int)json_num(o, "delayMs", 0);
	f->count = (int)json_num(o, "count", 1);
	f->after = json_is_true(json_object_get(o, "afterEffect"));
	TAILQ_INSERT_TAIL(&faults, f, entry);
	return NULL;
}

static void
faults_write(struct text *t)
{
	struct fault *f;
	json_t *list = json_array(), *o;

	for (f = TAILQ_FIRST(&faults); f != NULL; f = TAILQ_NEXT(f, entry)) {
		o = json_pack("{s:s,s:s,s:i,s:i,s:i,s:b,s:I,s:i}", "match",
		    f->match, "action", fault_name(f->kind), "status",
		    f->status, "count", f->count, "hits", f->hits,
		    "afterEffect", f->after, "jobId", (json_int_t)f->jobid,
		    "delayMs", f->delay);
		json_array_append_new(list, o);
	}
	go_value(t, list);
	text_str(t, "\n");
	json_decref(list);
}

void
fault_admin(struct request *rq, struct reply *rp)
{
	json_error_t err;
	const char *why;
	json_t *o;

	if (strcmp(rq->method, "DELETE") == 0) {
		while (!TAILQ_EMPTY(&faults))
			fault_free(TAILQ_FIRST(&faults));
	} else if (strcmp(rq->method, "POST") == 0) {
		o = json_loadb(rq->body.p != NULL ? rq->body.p : "",
		    rq->body.len, 0, &err);
		why = o != NULL ? fault_add(o) : err.text;
		json_decref(o);
		if (why != NULL) {
			reply_error(rp, 400, "%s", why);
			return;
		}
	}
	rp->status = 200;
	rp->ctype = "application/json";
	faults_write(&rp->body);
}
