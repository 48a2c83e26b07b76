/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs, from `scontrol show job -d -o`: all jobs in one question
 * or a few singly.  Nothing of an answer is used before its end: a user's text
 * may hold a line that looks like another job's record, and only the whole
 * answer shows that a job occurs twice.  Such jobs are asked for again,
 * exactly.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/details/details.h"
#include "collector/details/record_pack.h"
#include "common/log.h"

#define FEW		64	/* results: they go beyond the submitter's window */
#define TRIM_FROM	256	/* results: then memory is given back */

static void details_next(struct details *d);

struct details *
details_new(struct cluster *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg)
{
	struct details *d = calloc(1, sizeof(*d));

	if (d == NULL)
		fatal("no memory");
	d->c = c;
	d->done = done;
	d->arg = arg;
	return d;
}

static void
result_drop(struct detail_result *r)
{
	if (r->s != NULL) {
		snapshot_clear(r->s);
		free(r->s);
	}
	free(r->line);
	r->s = NULL;
	r->line = NULL;
}

void
details_result_drop(struct detail_result *r, enum detail verdict)
{
	result_drop(r);
	r->verdict = verdict;
}

void
details_forget(struct details *d)
{
	size_t i;
	int big;

	for (i = 0; i < d->n; i++)
		result_drop(&d->results[i]);
	free(d->results);
	big = d->n >= TRIM_FROM;
	d->results = NULL;
	d->n = d->cap = d->at = d->record_bytes = 0;
	d->delivering = 0;
	idmap_clear(&d->index);
	idmap_clear(&d->seen);
	lines_clear(&d->lines);
	disambiguate_free(d->disambiguate);
	d->disambiguate = NULL;
	pack_free(d->pack);
	d->pack = NULL;
	d->c->trim |= big;
}

int
details_busy(const struct details *d)
{
	return d->busy;
}

size_t
details_wanted(const struct details *d)
{
	return d->n;
}

struct detail_result *
details_result(const struct details *d, uint64_t job)
{
	uint32_t *at = idmap_get(&d->index, job);

	return at != NULL ? &d->results[*at - 1] : NULL;
}

struct detail_result *
details_result_new(struct details *d, uint64_t job, int wanted)
{
	struct detail_result *results, *r = details_result(d, job);
	size_t cap = d->cap != 0 ? d->cap * 2 : 16;
	uint32_t *at;

	if (r != NULL)
		return r;
	if (d->n == d->cap) {
		results = realloc(d->results, cap * sizeof(*results));
		if (results == NULL)
			return NULL;
		d->results = results;
		d->cap = cap;
	}
	at = idmap_put(&d->index, job, NULL);
	if (at == NULL)
		return NULL;
	r = &d->results[d->n++];
	memset(r, 0, sizeof(*r));
	r->job = job;
	r->wanted = wanted != 0;
	*at = (uint32_t)d->n;
	return r;
}

int
details_want(struct details *d, uint64_t job)
{
	return details_result_new(d, job, 1) != NULL ? 0 : -1;
}

enum detail
details_verdict(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->verdict : DETAIL_UNSEEN;
}

enum slurm_phase
details_phase(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->phase : PHASE_UNKNOWN;
}

uint64_t
details_order(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return r != NULL ? r->order : 0;
}

void
details_keep(struct detail_result *r, struct job_snapshot *s)
{
	r->s = malloc(sizeof(*s));
	if (r->s == NULL) {
		snapshot_clear(s);
		r->verdict = DETAIL_LATER;
		return;
	}
	*r->s = *s;
	r->verdict = DETAIL_GOOD;
}

static void
details_finish(struct details *d, int ok)
{
	d->busy = 0;
	if (ok)
		health_good(&d->c->ctld);
	d->done(d, ok, d->arg);
	wake(d->c);
}

static void
details_fail(struct details *d, const struct command_end *end)
{
	query_failed(d->c, &d->c->ctld, "scontrol", end);
	details_finish(d, 0);
}

/* What was asked for and did not come is not known to slurmctld. */
static void
unseen_unknown(struct details *d, size_t from, size_t to)
{
	for (; from < to; from++)
		if (d->results[from].verdict == DETAIL_UNSEEN)
			d->results[from].verdict = DETAIL_UNKNOWN;
}

static void
on_all_end(const struct command_end *end, void *arg)
{
	struct details *d = arg;

	d->cmd = NULL;
	if (end->outcome != COMMAND_OK || d->lines.len > 0) {
		details_fail(d, end);
		return;
	}
	unseen_unknown(d, 0, d->n);
	/* Of 100,000 jobs these are 3 MiB, while records fill the queue. */
	idmap_clear(&d->seen);
	d->at = 0;
	if (d->found)
		verify_start(d);
	else
		details_next(d);
}

void
details_verified(struct details *d, const struct command_end *end)
{
	if (end == NULL)
		details_finish(d, 0);
	else if (end->outcome != COMMAND_OK)
		details_fail(d, end);
	else
		details_next(d);
}

static void
ask_all(struct details *d)
{
	struct query query = { .cmd = CMD_SCONTROL, .deadline_ms =
	    QUERY_LONG_MS,
	    .args = { "--all", "show", "job", "-d", "-o" },
	    .on_output = details_text_output, .on_end = on_all_end, .arg = d };

	d->cmd = query_start(d->c, &query);
	if (d->cmd == NULL)
		details_finish(d, 0);
}

static void
on_one_end(const struct command_end *end, void *arg)
{
	struct details *d = arg;
	int unknown = end->outcome == COMMAND_FAILED &&
	    strstr(end->err, "Invalid job id") != NULL;

	d->cmd = NULL;
	if ((end->outcome != COMMAND_OK && !unknown) ||
	    (!unknown && d->lines.len > 0)) {
		details_fail(d, end);
		return;
	}
	unseen_unknown(d, d->at, d->at + 1);
	d->at++;
	details_next(d);
}

static void
ask_one(struct details *d, uint64_t job)
{
	char id[24];
	struct query query = { .cmd = CMD_SCONTROL,
	    .args = { "--all", "show", "job", "-d", "-o", id },
	    .on_output = details_text_output, .on_end = on_one_end, .arg = d };

	snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
	idmap_clear(&d->seen);
	details_text_begin(d);
	lines_clear(&d->lines);
	d->cmd = query_start(d->c, &query);
	if (d->cmd == NULL)
		details_finish(d, 0);
}

/* Reads once more what was kept.  0, or -1: it has to be asked for again. */
static int
line_read(struct details *d, const struct detail_result *r,
    struct job_snapshot *s)
{
	struct span line = details_line(d, r);

	if (line.n == 0)
		return -1;
	return scontrol_record(line, (struct span){ NULL, 0 }, &d->c->set->how,
	    s) == RECORD_GOOD ? 0 : -1;
}

static void
result_use(struct details *d, struct detail_result *r)
{
	struct job_snapshot read, *s = r->s;

	snapshot_init(&read);
	if (s == NULL) {
		s = &read;
		if (line_read(d, r, s) == -1)
			r->verdict = DETAIL_LATER;
	}
	if (r->verdict == DETAIL_GOOD) {
		hosts_apply(d->c->hosts, s);
		r->phase = s->state->phase;
		r->order = track_snapshot(d->c, s);
	}
	snapshot_clear(&read);
	result_drop(r);
}

/* Everything is known: now it may be used, and not before. */
static void
deliver(struct details *d)
{
	struct detail_result *r;

	d->delivering = 1;
	for (; d->at < d->n; d->at++) {
		r = &d->results[d->at];
		if (r->verdict != DETAIL_GOOD || (r->s == NULL &&
		    r->line == NULL))
			continue;
		/* A few are more urgent than the window is narrow. */
		if (d->n > FEW && outbox_behind(d->c->outbox))
			return;
		result_use(d, r);
	}
	d->delivering = 0;
	details_finish(d, 1);
}

void
details_resume(struct details *d)
{
	if (d->delivering)
		deliver(d);
}

static void
deliver_begin(struct details *d)
{
	d->at = 0;
	deliver(d);
}

static void
on_hosts(void *arg)
{
	deliver_begin(arg);
}

/* A host that was added since the shapes were read. */
#define HOSTS_AGAIN_S	60

static int
on_host(const char *name, void *arg)
{
	return hosts_shape(arg, name) != NULL ? 0 : -1;
}

/* Is there a host that is not known?  Its shape would be missing for good. */
static int
hosts_missing(const struct details *d)
{
	const struct detail_result *r;
	struct span s, nodes;
	size_t i;

	if (now_s() - d->c->hosts_at < HOSTS_AGAIN_S || d->c->hosts == NULL)
		return 0;
	for (i = 0; i < d->n; i++) {
		r = &d->results[i];
		s = details_line(d, r);
		nodes = token_value(&s, " NodeList=");
		if (nodes.n > 0 && !span_is(nodes, "(null)") &&
		    hostlist_each(nodes, on_host, d->c->hosts) == -1)
			return 1;
	}
	return 0;
}

/* The next single question, then the exact ones, then the end. */
static void
details_next(struct details *d)
{
	struct detail_result *r;

	if (!d->all) {
		if (d->at < d->n) {
			ask_one(d, d->results[d->at].job);
			return;
		}
		d->all = 1;	/* as far as this answer goes */
		d->at = 0;
	}
	for (; d->at < d->n; d->at++) {
		r = &d->results[d->at];
		if (r->verdict == DETAIL_AMBIGUOUS && (r->wanted || r->shown)) {
			disambiguate_start(d, r);
			return;
		}
	}
	if (hosts_missing(d))
		startup_nodes(d->c, on_hosts, d);
	else
		deliver_begin(d);
}

void
details_disambiguated(struct details *d, int answered)
{
	disambiguate_free(d->disambiguate);
	d->disambiguate = NULL;
	if (!answered) {
		details_finish(d, 0);
		return;
	}
	d->at++;
	details_next(d);
}

void
details_start(struct details *d, int all)
{
	d->busy = 1;
	d->all = all;
	d->at = 0;
	d->record_bytes = 0;
	details_text_begin(d);
	d->found = 0;
	lines_clear(&d->lines);
	idmap_clear(&d->seen);
	if (all)
		ask_all(d);
	else
		details_next(d);
}
