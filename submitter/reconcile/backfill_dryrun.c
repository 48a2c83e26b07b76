/* SPDX-License-Identifier: MIT */
/*
 * `backfill --dry-run`: the same chunks, but the records are not stored.
 * Reports the runs that cc-backend lacks and that the spool does not hold.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/text/time_text.h"
#include "submitter/backend/breaker.h"
#include "submitter/base/diff_row.h"
#include "submitter/reconcile/backfill_private.h"

#define LOOKED_MAX 100000 /* runs of one chunk: 3.2 MB */
#define TOLD_MAX   20000  /* rows; further ones are only counted */

void
backfill_dryrun_record(struct backfill *b, const struct job *job)
{
	struct job found = *job; /* the key may change */
	struct dryrun_run *p = NULL;
	int64_t alias;

	if (!b->look || b->step != BACKFILL_ASKED)
		return;
	b->seen++;
	if (!spool_may_lack(b->s->spool, &found, &alias))
		return;
	if (b->n_dryrun_runs < LOOKED_MAX)
		p = array_reserve(b->dryrun_runs, &b->cap_dryrun_runs,
		    b->n_dryrun_runs + 1, sizeof(*p));
	if (p == NULL) {
		b->beyond++;
		return;
	}
	b->dryrun_runs = p;
	b->n_aliases += alias != 0;
	b->dryrun_runs[b->n_dryrun_runs++] = (struct dryrun_run) {
		.job = found.key.job,
		.start = found.key.start,
		.alias = alias,
		.end = (unsigned char)job->state
	};
}

static int
dryrun_cmp(const void *a, const void *b)
{
	const struct dryrun_run *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* The run of a row that has the other start of the run; NULL = none. */
static struct dryrun_run *
alias_find(struct backfill *b, const struct run_key *key)
{
	size_t i;

	for (i = 0; i < b->n_dryrun_runs && b->n_aliases > 0; i++)
		if (b->dryrun_runs[i].job == key->job &&
		    b->dryrun_runs[i].alias == key->start)
			return &b->dryrun_runs[i];
	return NULL;
}

static void
on_row(const struct backend_job *row, void *arg)
{
	struct backfill *b = arg;
	struct dryrun_run key = { .job = row->key.job,
		.start = row->key.start };
	struct dryrun_run *found;

	if (b->stale)
		return; /* perhaps of another cluster */
	found = b->n_dryrun_runs == 0 ?
	    NULL :
	    bsearch(&key, b->dryrun_runs, b->n_dryrun_runs, sizeof(key),
		dryrun_cmp);
	if (found == NULL)
		found = alias_find(b, &row->key);
	if (found != NULL)
		found->there = 1;
}

static void
tell(struct backfill *b, const struct dryrun_run *l, const char *action)
{
	struct run_key key = b->whose;
	char text[64];

	if (b->told++ >= TOLD_MAX)
		return;
	key.job = l->job;
	key.start = l->start;
	snprintf(text, sizeof(text), "%s in accounting%s",
	    job_end_name((enum job_end)l->end),
	    b->nats ? "" : ", unknown in cc-backend");
	diff_row_send(b->s, b->request, &key, text, action);
}

void
dryrun_end(struct backfill *b, enum ctl_status status, const char *text)
{
	char end[256];

	snprintf(end, sizeof(end), "%s%s", text,
	    b->told > TOLD_MAX ? "; not all of them are listed" : "");
	worker_ctl_end(b->s->w, b->request, status, end);
	b->look = 0;
	nats_policy(b);
	b->step = BACKFILL_IDLE;
	if (release_waiting(b) > 0) { /* late records of a cancelled one */
		b->step = BACKFILL_NEXT;
		window_soon(b, RETRY_MS);
	}
	b->from = 0;
	free(b->dryrun_runs);
	b->dryrun_runs = NULL;
	b->n_dryrun_runs = b->cap_dryrun_runs = 0;
	b->n_aliases = b->dryrun_at = 0;
}

int
dryrun_expired(struct backfill *b, const char *why)
{
	char text[192];

	if (spool_now(b->s->spool) <= b->until)
		return 0;
	snprintf(text, sizeof(text),
	    "time limit reached: checked up to %s, %u runs would be sent%s",
	    time_text(b->at), b->told, why);
	/* A list under way is not of the next command. */
	b->stale = b->job_list.busy;
	dryrun_end(b, CTL_ERROR, text);
	return 1;
}

void
dryrun_limit_wait(struct backfill *b)
{
	int64_t left = b->until - spool_now(b->s->spool);

	window_soon(b, left > 0 ? left + 1 : 1);
}

static void
window_tell(struct backfill *b, const char *action)
{
	for (; b->dryrun_at < b->n_dryrun_runs &&
	     b->dryrun_runs[b->dryrun_at].start <= b->hi;
	     b->dryrun_at++)
		if (!b->dryrun_runs[b->dryrun_at].there)
			tell(b, &b->dryrun_runs[b->dryrun_at], action);
	window_soon(b, 0);
}

static void
on_listed(const struct result *v, void *arg)
{
	struct backfill *b = arg;

	if (b->stale) {
		b->stale = 0;
		return;
	}
	if (v->code == RESULT_DONE)
		window_listed(b);
	else if (window_failed(b, v)) {
		(void)dryrun_expired(b, "; cc-backend's jobs cannot be listed");
		return;
	}
	window_tell(b,
	    v->code == RESULT_DONE ?
		"would be sent" :
		"would be tried: cc-backend cannot list that second");
}

/* Widens from and to by the other starts of the runs of the window. */
static void
window_widen(const struct backfill *b, int64_t *from, int64_t *to)
{
	const struct dryrun_run *l;
	size_t i;

	*from = b->lo;
	*to = b->hi;
	for (i = b->dryrun_at; i < b->n_dryrun_runs; i++) {
		l = &b->dryrun_runs[i];
		if (l->start > b->hi)
			break;
		if (l->alias != 0 && l->alias < *from)
			*from = l->alias;
		if (l->alias > *to)
			*to = l->alias;
	}
}

/* Lists the next window of the chunk, or requests the next chunk. */
void
dryrun_list(struct backfill *b)
{
	int64_t from, to;
	int reaches = !window_lists(b) || breaker_reaches(b->s->breaker);

	if (b->dryrun_at >= b->n_dryrun_runs) {
		b->at = b->chunk_to;
		b->n_dryrun_runs = b->dryrun_at = b->n_aliases = 0;
		b->told += b->beyond;
		b->beyond = 0;
		b->step = BACKFILL_NEXT;
		window_soon(b, 0);
		return;
	}
	if (dryrun_expired(b, reaches ? "" : "; cc-backend is unreachable"))
		return;
	if (b->dryrun_at == 0)
		qsort(b->dryrun_runs, b->n_dryrun_runs, sizeof(*b->dryrun_runs),
		    dryrun_cmp);
	b->lo = b->dryrun_runs[b->dryrun_at].start;
	b->hi = b->lo + b->width - 1;
	window_widen(b, &from, &to);
	if (!window_lists(b))
		window_tell(b,
		    b->nats ? "would be published again" :
			      "would be sent by NATS");
	else if (job_list_start(&b->job_list, b->s, b->whose.cluster, 0, from,
		     to, on_row, on_listed, b) == -1)
		window_soon(b, RETRY_MS);
	else
		dryrun_limit_wait(b); /* a list can have many pages */
}
