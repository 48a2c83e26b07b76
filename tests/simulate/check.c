/* SPDX-License-Identifier: MIT */
/* See check.h. */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/backend.h"
#include "tests/simulate/check.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define REFUSED_WITHIN 86400 /* s between starts of runs of one job */

#define EARLY_S 60 /* requeued so soon: a later run replaces it */

static unsigned n_absent;
static int last_requeued;

/* Is this the name that an older cc-backend has for the state? */
static int
is_old_name(const struct truth_run *t, const char *state)
{
	if (t->state == END_NODE_FAIL || t->state == END_BOOT_FAIL)
		return strcmp(state, "failed") == 0;
	return t->state == END_DEADLINE && strcmp(state, "timeout") == 0;
}

/* 1 when a version of cc-backend of this seed shows the run so. */
static int
state_fits(const struct truth_run *t, const char *state)
{
	if (t->state == END_REQUEUED)
		return strcmp(state, "preempted") == 0;
	return (backend_oldest() != CC_1_5_4 && is_old_name(t, state)) ||
	    strcmp(state, job_end_name(t->state)) == 0;
}

static const char *
text_of(json_t *body, const char *key)
{
	const char *text = json_string_value(json_object_get(body, key));

	return text != NULL ? text : "";
}

/* The run that a request names: it must be one of the truth. */
static struct truth_run *
run_of(json_t *body, const char *what)
{
	int64_t job = json_integer_value(json_object_get(body, "jobId"));
	int64_t start = json_integer_value(json_object_get(body, "startTime"));
	struct truth_run *t = truth_find((uint64_t)job, start);

	invariant(t != NULL, "%s of job %lld, started %lld, which never ran",
	    what, (long long)job, (long long)start);
	invariant(strcmp(text_of(body, "cluster"), TRUTH_CLUSTER) == 0,
	    "%s of a run of cluster %s", what, text_of(body, "cluster"));
	return t;
}

/*
 * The runs of a job are started in their order, as far as the submitter knew
 * them.  A run that a listing showed needs no start.
 */
static void
check_start_order(const struct truth_run *t)
{
	const struct truth_run *o;

	if (last_requeued || t->stored == 0)
		return;
	for (o = t->older; o != NULL; o = o->older)
		invariant(o->stored == 0 || o->stored > t->stored || !o->ran ||
			o->may_lack || o->listed || o->starts > 0 ||
			o->opts_out != 0,
		    "start of job %llu, started %lld, before that of %lld",
		    (unsigned long long)t->job, (long long)t->start,
		    (long long)o->start);
}

/* A reload retries the rejected runs of a job in their order. */
static void
check_retry_order(struct truth_run *t)
{
	const struct truth_run *o;

	for (o = t->older; o != NULL && t->retry && !last_requeued;
	     o = o->older)
		invariant(!o->retry,
		    "start of job %llu, started %lld, is retried before that "
		    "of %lld",
		    (unsigned long long)t->job, (long long)t->start,
		    (long long)o->start);
	t->retry = 0;
}

static void
check_start(json_t *body)
{
	struct truth_run *t = run_of(body, "start");
	char user[32];
	uint64_t n;

	truth_user(t, user, sizeof(user));
	invariant(strcmp(text_of(body, "user"), user) == 0,
	    "start of job %llu with user %s", (unsigned long long)t->job,
	    text_of(body, "user"));
	invariant(t->opts_out == 0 || t->opts_out > t->start,
	    "start of job %llu, whose user has opted out",
	    (unsigned long long)t->job);
	check_start_order(t);
	check_retry_order(t);
	t->starts++;
	n = (uint64_t)json_integer_value(json_object_get(body, "numNodes"));
	invariant((n == t->nodes || n == t->nodes_left) &&
		json_array_size(json_object_get(body, "resources")) == n,
	    "start of job %llu with wrong nodes", (unsigned long long)t->job);
	invariant(t->array == 0 ||
		(uint64_t)json_integer_value(
		    json_object_get(body, "arrayJobId")) == t->array,
	    "start of job %llu without its array", (unsigned long long)t->job);
}

/* Nothing is ended without evidence, nothing before it was seen committed. */
static void
check_stop(json_t *body)
{
	struct truth_run *t = run_of(body, "stop");
	int64_t stop = json_integer_value(json_object_get(body, "stopTime"));

	t->stops++;
	invariant(t->ran, "stop of job %llu, whose prolog failed",
	    (unsigned long long)t->job);
	invariant(truth_has_ended(t), "stop of job %llu, which runs",
	    (unsigned long long)t->job);
	invariant(stop == t->end ||
		(stop == t->end + 1 && t->end == t->start &&
		    backend_oldest() < CC_1_4_4),
	    "stop of job %llu at %lld, which ended at %lld",
	    (unsigned long long)t->job, (long long)stop, (long long)t->end);
	invariant(state_fits(t, text_of(body, "jobState")),
	    "stop of job %llu with state %s", (unsigned long long)t->job,
	    text_of(body, "jobState"));
	invariant(t->listed || backend_version() != CC_1_5_4,
	    "stop of job %llu (started %lld) before a listing showed it",
	    (unsigned long long)t->job, (long long)t->start);
}

void
check_request(const char *path, const char *body, size_t n)
{
	json_error_t error;
	json_t *object;
	int start = strstr(path, "jobs/start_job/") != NULL;
	int stop = strstr(path, "jobs/stop_job/") != NULL;

	if (!start && !stop)
		return;
	object = json_loadb(body, n, 0, &error);
	invariant(object != NULL, "a request that is no JSON: %s", error.text);
	/* The probe has no job. */
	if (start && json_object_get(object, "jobId") != NULL)
		check_start(object);
	else if (stop)
		check_stop(object);
	json_decref(object);
}

/* "jobId" and "startTime" come before all texts of users. */
struct truth_run *
check_named(const char *body, size_t n)
{
	static const char id[] = "\"jobId\":", time[] = "\"startTime\":";
	const char *p = memmem(body, n, id, sizeof(id) - 1);
	const char *q = memmem(body, n, time, sizeof(time) - 1);

	return p != NULL && q != NULL ?
	    truth_find(strtoull(p + sizeof(id) - 1, NULL, 10),
		strtoll(q + sizeof(time) - 1, NULL, 10)) :
	    NULL;
}

void
check_handled(const char *path, const char *body, size_t n, int status)
{
	int start = strstr(path, "jobs/start_job/") != NULL;
	int stop = strstr(path, "jobs/stop_job/") != NULL;
	struct truth_run *t;

	/* Without a cache the run is visible at once. */
	start &= status == 201 && backend_version() != CC_1_5_4;
	if (!start && !stop)
		return;
	t = check_named(body, n);
	invariant(t != NULL, "cc-backend handles a run which never ran");
	if (start)
		t->listed = 1;
	else
		t->handled++;
}

void
check_answer(const char *path, const char *body, size_t n, int code)
{
	struct truth_run *t;

	if (code == 0 || strstr(path, "jobs/start_job/") == NULL ||
	    (t = check_named(body, n)) == NULL)
		return;
	t->rejected = code == 400;
	if (code == 201 && backend_version() == CC_1_5_4) {
		t->listed = 0;
		t->accepted = world_ms();
	}
}

void
check_retried(void)
{
	struct truth_run *t;
	unsigned i;

	for (i = 0; (t = truth_run(i)) != NULL; i++)
		t->retry = t->rejected;
}

/*
 * Both are in one object, the job id first.  A listing that was requested before
 * the start was accepted may show what cc-backend had before it lost the run.
 */
void
check_listing(const char *body, size_t n, int64_t asked)
{
	static const char id[] = "\"jobId\":", time[] = "\"startTime\":";
	const char *end = body + n, *p = body, *q;
	struct truth_run *t;

	while ((p = memmem(p, (size_t)(end - p), id, sizeof(id) - 1)) != NULL) {
		q = memmem(p, (size_t)(end - p), time, sizeof(time) - 1);
		if (q == NULL)
			break;
		t = truth_find(strtoull(p + sizeof(id) - 1, NULL, 10),
		    strtoll(q + sizeof(time) - 1, NULL, 10));
		if (t != NULL && t->accepted <= asked)
			t->listed = 1;
		p = q;
	}
}

/* --- cc-backend's rows --- */

static void
note_stopped(const struct cc_row *row, void *arg)
{
	struct truth_run *t = truth_find((uint64_t)row->job, row->start);

	(void)arg;
	if (t == NULL)
		return;
	t->was_there = 1;
	/* 2: stopped before the loss */
	if (strcmp(row->state, "running") != 0)
		t->in_cc = 2;
}

static void
note_kept(const struct cc_row *row, void *arg)
{
	struct truth_run *t = truth_find((uint64_t)row->job, row->start);

	(void)arg;
	if (t == NULL)
		return;
	if (!t->was_there)
		t->is_back = 1;
	t->was_there = 0;
	if (strcmp(row->state, "running") != 0)
		t->in_cc = 1;
	else if (t->is_back)
		t->lost = 1;
}

void
check_before_loss(void)
{
	cc_box_rows(note_stopped, NULL);
}

/*
 * The submitter has forgotten a run whose stop was accepted.  cc-backend may
 * now lack it, or show it running.
 */
void
check_after_loss(void)
{
	struct truth_run *t;
	unsigned i;

	cc_box_rows(note_kept, NULL);
	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		if (t->in_cc == 2) {
			t->lost = 1;
			trace("cc-backend lost job %llu",
			    (unsigned long long)t->job);
		}
		t->in_cc = 0;
		t->vanished += t->was_there;
		t->was_there = 0;
		/* A run whose stop finds no run is started again, once. */
		if (t->vanished > 1)
			t->lost = 1;
	}
}

/* 1 when cc-backend shows the end that the run had. */
static int
end_fits(const struct truth_run *t, const struct cc_row *row)
{
	int64_t duration = t->end - t->start;

	return state_fits(t, row->state) &&
	    (row->duration == duration ||
		(duration == 0 && row->duration == 1 &&
		    backend_oldest() < CC_1_4_4));
}

static void
check_end_of_row(struct truth_run *t, const struct cc_row *row)
{
	if (t->lost && strcmp(row->state, "running") == 0)
		return;
	if (t->foreign) {
		/* The other client may be a suite of an older cc-backend. */
		t->differs = !end_fits(t, row) &&
		    (!is_old_name(t, row->state) ||
			row->duration != t->end - t->start);
		return;
	}
	invariant(!row->cached || !truth_has_ended(t),
	    "job %lld is not committed", (long long)row->job);
	invariant(truth_has_ended(t) || strcmp(row->state, "running") == 0,
	    "job %lld runs, cc-backend shows it as %s", (long long)row->job,
	    row->state);
	invariant(!truth_has_ended(t) || end_fits(t, row),
	    "job %lld (started %lld) is %s after %d s, not %s after %lld s",
	    (long long)row->job, (long long)row->start, row->state,
	    row->duration, job_end_name(t->state),
	    (long long)(t->end - t->start));
}

static void
check_row(const struct cc_row *row, void *arg)
{
	struct truth_run *t = truth_find((uint64_t)row->job, row->start);
	char user[32];

	(void)arg;
	invariant(t != NULL && strcmp(row->cluster, TRUTH_CLUSTER) == 0,
	    "cc-backend has job %lld, started %lld, which never ran",
	    (long long)row->job, (long long)row->start);
	invariant(t->in_cc++ == 0, "cc-backend has job %lld twice",
	    (long long)row->job);
	truth_user(t, user, sizeof(user));
	invariant(strcmp(row->user, user) == 0 &&
		(row->nodes == t->nodes || row->nodes == t->nodes_left),
	    "job %lld has wrong values", (long long)row->job);
	invariant(t->ran, "job %lld is in cc-backend, but its prolog failed",
	    (long long)row->job);
	check_end_of_row(t, row);
}

void
check_last_requeued(void)
{
	last_requeued = 1;
}

static int
is_requeued_early(const struct truth_run *t)
{
	return t->state == END_REQUEUED && t->end - t->start <= EARLY_S;
}

int
check_may_be_replaced(const struct truth_run *t)
{
	return last_requeued && is_requeued_early(t);
}

/* Has cc-backend an earlier run again, which had been deleted? */
static int
has_one_back(const struct truth_run *t)
{
	const struct truth_run *o;

	for (o = t->older; o != NULL; o = o->older)
		if (o->is_back)
			return 1;
	return 0;
}

int
check_is_replaced(const struct truth_run *t)
{
	const struct truth_run *n;

	if (!check_may_be_replaced(t))
		return 0;
	/*
	 * The job may have opted out after the deletion; the later run may be
	 * listed as refused because of one that cc-backend did not delete, or
	 * has again.
	 */
	for (n = t->newer; n != NULL; n = n->newer)
		if (n->start - t->start < REFUSED_WITHIN &&
		    (n->in_cc == 1 || n->lost || n->opts_out != 0 ||
			(n->in_spool &&
			    (refusals_of_deletions() || has_one_back(n)))))
			return 1;
	return 0;
}

/*
 * With requeuedRuns=last, an earlier run that was not reported counts as one that
 * stays in cc-backend: the run replaces no other run, and is refused because of it.
 */
static int
replaces_nothing(const struct truth_run *t)
{
	const struct truth_run *o;
	int hidden = 0, there = 0;

	for (o = t->older; o != NULL; o = o->older) {
		if (!o->ran || t->start - o->start >= REFUSED_WITHIN)
			continue;
		hidden |= o->opts_out != 0 && !is_requeued_early(o);
		there |= is_requeued_early(o) && (o->in_cc == 1 || o->lost);
	}
	return last_requeued && hidden && there;
}

/*
 * cc-backend refuses a run that starts within a day of another one that it has,
 * also of a later one: a run that ends before the next poll, or whose accepted
 * start was lost, is reported after it.  It may lose the other one afterwards.
 */
int
check_is_refused(const struct truth_run *t)
{
	const struct truth_run *o;
	unsigned i;

	for (o = t->older; o != NULL; o = o->older)
		if (o->ran && t->start - o->start < REFUSED_WITHIN &&
		    (o->opts_out == 0 || o->starts > 0) &&
		    (!check_may_be_replaced(o) || o->is_back ||
			(refusals_of_deletions() &&
			    (o->in_cc == 1 || o->lost))))
			return 1;
	for (i = 0; (o = truth_run(i)) != NULL; i++)
		if (o->job == t->job && o->start > t->start &&
		    o->start - t->start < REFUSED_WITHIN &&
		    (o->in_cc == 1 || o->lost))
			return 1;
	return replaces_nothing(t);
}

void
check_end(void)
{
	struct truth_run *t;
	unsigned i;

	cc_box_rows(check_row, NULL);
	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		if (t->in_cc == 1 || !t->ran || t->may_lack || t->opts_out != 0)
			continue;
		invariant(t->lost || check_is_refused(t) ||
			check_is_replaced(t),
		    "job %llu (%lld to %lld) is not in cc-backend",
		    (unsigned long long)t->job, (long long)t->start,
		    (long long)t->end);
		n_absent++;
	}
}

unsigned
check_absent(void)
{
	return n_absent;
}
