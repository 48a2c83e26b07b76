/* SPDX-License-Identifier: MIT */
/*
 * The part of `cc-slurm-adapterctl sync` that compares with Slurm.  squeue and
 * sacct are queried, and the differences to the tables of runs are printed;
 * these queries change nothing.  Unless the request is a dry run, the lanes
 * then query Slurm at once, and the request ends when their records are
 * durable.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/collector.h"
#include "common/model/ctl.h"
#include "common/permanent.h"

#define ROWS_TOLD_MAX 10000 /* of one cluster */
#define TICK_MS	      200
#define ROUND_S	      90 /* limit; then the request ends */

struct sync_report {
	struct collector *col;
	struct lanes *l;   /* lanes of c */
	struct cluster *c; /* the cluster that is compared now */
	unsigned at;	   /* number of c */
	enum ctl_status status;
	char text[384];
	uint64_t request; /* 0 = none is under way */
	struct ctl_request req;
	struct query query;
	struct sacct_reader reader;
	uint32_t id_at;	    /* named jobs that were queried */
	size_t open_at;	    /* place of the next open run */
	struct idmap shown; /* run_number() of runs in squeue */
	unsigned bad;
	unsigned runs;
	unsigned told; /* differences; the rows end at ROWS_TOLD_MAX */
	struct event *timer;
	uint32_t cycle; /* number of the poll that ends the request */
	int64_t until;	/* monotonic s */
};

static int
is_dry(const struct sync_report *v)
{
	return (v->req.flags & CTL_FLAG_DRY_RUN) != 0;
}

static int
is_named(const struct sync_report *v, uint64_t job)
{
	uint32_t i;

	for (i = 0; i < v->req.n_ids; i++)
		if (v->req.ids[i] == job)
			return 1;
	return 0;
}

/* A request without a direction means both. */
static int
wants(const struct sync_report *v, unsigned way)
{
	unsigned ways = v->req.flags & (CTL_FLAG_START | CTL_FLAG_STOP);

	return ways == 0 || (ways & way) != 0;
}

static void
tell(struct sync_report *v, uint64_t job, int64_t start, const char *difference,
    const char *action)
{
	char id[24], when[24];
	struct writer w;

	if (v->told++ >= ROWS_TOLD_MAX)
		return;
	snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
	snprintf(when, sizeof(when), "%lld", (long long)start);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_DIFF, v->c->slurm.cluster, id, when, difference,
	    action, NULL);
	worker_ctl_row(v->col->site.w, v->request, &w);
	wr_clear(&w);
}

static void cluster_begin(struct sync_report *v);

/* Ends this cluster and begins the next one. */
static void
finish(struct sync_report *v, enum ctl_status status, const char *text)
{
	size_t len = strlen(v->text);
	char untold[48] = "";

	if (status != CTL_OK)
		v->status = status;
	if (v->told > ROWS_TOLD_MAX)
		snprintf(untold, sizeof(untold), ", %u rows are not shown",
		    v->told - ROWS_TOLD_MAX);
	snprintf(v->text + len, sizeof(v->text) - len, "%s%s%s%s",
	    len > 0 ? "; " : "", text, cluster_suffix(v->c), untold);
	sacct_clear(&v->reader);
	idmap_clear(&v->shown);
	event_del(v->timer);
	v->at++;
	cluster_begin(v);
}

static void
finish_failed(struct sync_report *v, const char *what,
    const struct command_end *end)
{
	char why[256], text[400];

	command_why(end, why, sizeof(why));
	snprintf(text, sizeof(text), "%s: %s", what, why);
	finish(v, CTL_ERROR, text);
}

/* --- the lanes query Slurm --- */

static void
tick(struct sync_report *v)
{
	struct timeval tv = { 0, TICK_MS * 1000 };

	event_add(v->timer, &tv);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct sync_report *v = arg;
	struct cluster *c = v->c;
	char text[64];

	snprintf(text, sizeof(text), "%u runs in Slurm", v->runs);
	if (c->listing.number >= v->cycle && !c->listing.busy &&
	    !acct_busy(v->l->accounting) &&
	    outbox_durable(c->outbox) >= outbox_order(c->outbox))
		finish(v, CTL_OK, text);
	else if (c->ctld.away)
		finish(v, CTL_ERROR, "slurmctld does not answer");
	else if (now_s() >= v->until)
		finish(v, CTL_OK, "the queries to Slurm continue: see status");
	else
		tick(v);
}

static void
lanes_kick(struct sync_report *v)
{
	struct cluster *c = v->c;
	struct open_run *run;
	size_t at;
	uint32_t i;

	for (i = 0; i < v->req.n_ids; i++) {
		/*
		 * slurmctld is queried for the details again.  The spool keeps
		 * the details that it has: if slurmctld does not have the run
		 * any more, its details must not count as unknown.
		 */
		for (at = 0; (run = open_of_job(&c->open, v->req.ids[i],
				  &at)) != NULL;) {
			if (run->flags & OPEN_RESOURCES_SENT)
				run->flags |= OPEN_SPOOLED;
			(void)idmap_put(&c->work.left, run->job, NULL);
		}
		(void)idmap_put(&c->work.accounting, v->req.ids[i], NULL);
	}
	v->cycle = c->listing.number + 1;
	v->until = now_s() + ROUND_S;
	sched_poll_now(v->l);
	tick(v);
}

static void
told_all(struct sync_report *v)
{
	char text[64];

	if (!is_dry(v)) {
		lanes_kick(v);
		return;
	}
	snprintf(text, sizeof(text), "%u runs in Slurm", v->runs);
	finish(v, CTL_OK, text);
}

/* --- accounting --- */

static int
on_account_row(struct job_snapshot *s, void *arg)
{
	struct sync_report *v = arg;
	struct cluster *c = v->c;
	struct job *job = &s->job;
	struct open_run *run;
	char text[96];

	if (s->state->phase != PHASE_ENDED || s->never || job->end == 0 ||
	    run_number(job->key.job, job->key.start) == 0 ||
	    !wants(v, CTL_FLAG_STOP))
		return 0;
	run = open_match(&c->open, job->key.job, job->key.start, job->submit,
	    0);
	if (run == NULL && !is_named(v, job->key.job))
		return 0;
	snprintf(text, sizeof(text), "%s in accounting%s",
	    job_end_name(job->state), run != NULL ? ", open here" : "");
	tell(v, job->key.job, run != NULL ? run->start : job->key.start, text,
	    run == NULL && done_has(&c->done, job->key.job, job->key.start) ?
		"none: its end was sent before" :
		is_dry(v) ? "its end would be sent" :
			    "its end is sent");
	return 0;
}

static int
on_account_output(const char *p, size_t n, void *arg)
{
	struct sync_report *v = arg;

	return sacct_feed(&v->reader, p, n);
}

static void account_ask(struct sync_report *v);

static void
on_account_end(const struct command_end *end, int complete, void *arg)
{
	struct sync_report *v = arg;

	if (!complete || sacct_end(&v->reader) == -1) {
		finish_failed(v, "sacct", end);
		return;
	}
	sacct_clear(&v->reader);
	account_ask(v);
}

/*
 * Adds jobs that were not queried yet, as many as fit: the named jobs, or the
 * open runs that squeue has not shown.
 */
static void
ids_list(struct sync_report *v, struct id_list *ids)
{
	struct open_run *run;
	size_t at = v->open_at;

	while (v->id_at < v->req.n_ids &&
	    id_list_add(ids, v->req.ids[v->id_at]) == 0)
		v->id_at++;
	for (; v->req.n_ids == 0 && (run = open_next(&v->c->open, &at)) != NULL;
	     v->open_at = at)
		if (!(run->flags & OPEN_IGNORED) &&
		    idmap_get(&v->shown,
			run_number(run->job, run->start_now)) == NULL &&
		    id_list_add(ids, run->job) == -1)
			break;
}

static const struct query_type account_query = {
	.kind = QUESTION_RUNS,
	.on_output = on_account_output,
	.on_end = on_account_end,
};

static void
account_ask(struct sync_report *v)
{
	struct query *q = &v->query;

	query_begin(q, v->c, &account_query, v);
	if (v->c->slurm.accounting)
		ids_list(v, &q->question.ids);
	if (q->question.ids.n == 0) {
		told_all(v);
		return;
	}
	sacct_begin(&v->reader, v->c->slurm.sacct_lacking);
	v->reader.how = &v->c->set->how;
	v->reader.each = on_account_row;
	v->reader.arg = v;
	q->question.lacking = v->reader.lacking;
	memcpy(q->question.delimiter, v->reader.delimiter,
	    sizeof(q->question.delimiter));
	if (query_start(q) == -1)
		finish(v, CTL_ERROR, "out of memory");
}

/* --- squeue --- */

static void
live_tell(struct sync_report *v, const struct squeue_job *row)
{
	struct cluster *c = v->c;
	struct open_run *run = open_find(&c->open, row->job, row->start);
	int named = is_named(v, row->job);

	if ((v->req.n_ids > 0 && !named) || !wants(v, CTL_FLAG_START))
		return;
	if (run != NULL && (run->flags & OPEN_IGNORED)) {
		if (named)
			tell(v, row->job, run->start, "runs in Slurm",
			    "none: on ignored hosts only");
	} else if (run != NULL) {
		if (named)
			tell(v, row->job, run->start,
			    "runs in Slurm, known here",
			    is_dry(v) ? "none" : "queried again");
	} else if (track_quarantined(c, row->job, row->start))
		tell(v, row->job, row->start, "runs in Slurm",
		    "none: in quarantine");
	else if (!done_has(&c->done, row->job, row->start))
		tell(v, row->job, row->start, "runs in Slurm, unknown here",
		    is_dry(v) ? "would be queried" : "queried");
}

static int
on_list_row(struct span line, void *arg)
{
	struct sync_report *v = arg;
	struct squeue_job row;

	if (squeue_row(line, &row) == -1) {
		v->bad++;
		return 0;
	}
	if ((row.state->phase != PHASE_RUNNING &&
		row.state->phase != PHASE_COMPLETING) ||
	    run_number(row.job, row.start) == 0)
		return 0;
	v->runs++;
	(void)idmap_put(&v->shown, run_number(row.job, row.start), NULL);
	live_tell(v, &row);
	return 0;
}

static void
on_list_end(const struct command_end *end, int complete, void *arg)
{
	struct sync_report *v = arg;

	if (!complete)
		finish_failed(v, "squeue", end);
	else if (v->bad > 0)
		finish(v, CTL_ERROR, "squeue's answer has malformed rows");
	else
		account_ask(v);
}

static const struct query_type list_query = {
	.kind = QUESTION_LIST,
	.on_line = on_list_row,
	.on_end = on_list_end,
};

/* Queries squeue of the next selected cluster, or ends the request. */
static void
cluster_begin(struct sync_report *v)
{
	struct site *site = &v->col->site;

	while (v->at < site->n && v->req.text[0] != '\0' &&
	    strcmp(v->req.text, site->clusters[v->at]->slurm.cluster) != 0)
		v->at++;
	if (v->at >= site->n) {
		worker_ctl_end(site->w, v->request, v->status, v->text);
		v->request = 0;
		return;
	}
	v->l = &v->col->lanes[v->at];
	v->c = v->l->c;
	v->bad = v->runs = v->told = v->id_at = 0;
	v->open_at = 0;
	if (!v->c->ready || !v->c->synced) {
		finish(v, CTL_ERROR, "Slurm has not been queried yet");
		return;
	}
	query_begin(&v->query, v->c, &list_query, v);
	if (query_start(&v->query) == -1)
		finish(v, CTL_ERROR, "out of memory");
}

void
sync_report_begin(struct sync_report *v, uint64_t request,
    const struct ctl_request *req)
{
	char text[CTL_TEXT_MAX];

	if (v->request != 0) {
		worker_ctl_end(v->col->site.w, request, CTL_ERROR,
		    "a sync is already under way");
		return;
	}
	if (ctl_cluster_missing(&v->col->site, req->text, text, sizeof(text))) {
		worker_ctl_end(v->col->site.w, request, CTL_ERROR, text);
		return;
	}
	if (v->timer == NULL)
		v->timer = evtimer_new(v->col->site.w->base, on_timer, v);
	if (v->timer == NULL) {
		worker_ctl_end(v->col->site.w, request, CTL_ERROR,
		    "out of memory");
		return;
	}
	v->request = request;
	v->req = *req;
	v->at = 0;
	v->status = CTL_OK;
	v->text[0] = '\0';
	cluster_begin(v);
}

struct sync_report *
sync_report_new(struct collector *col)
{
	struct sync_report *v = permanent_new(sizeof(*v));

	v->col = col;
	return v;
}
