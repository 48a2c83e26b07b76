/* SPDX-License-Identifier: MIT */
/*
 * The part of `cc-slurm-adapterctl explain` about jobs that the suite does not
 * have: asks slurmctld and accounting for each job, and names the rule that
 * excluded it.  The questions change nothing.  One request at a time, and a
 * bounded number of jobs in a time.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/collector.h"
#include "collector/explain_reason.h"
#include "collector/oldest_job.h"
#include "common/model/ctl.h"
#include "common/permanent.h"
#include "common/text/time_text.h"

/* Jobs that may be asked at once, and s until one more may be asked. */
#define BURST	 64
#define REFILL_S 1

struct explain_slurm {
	struct collector *col;
	uint64_t request; /* 0 = none is under way */
	struct ctl_request req;
	unsigned at;	/* number of the cluster */
	uint32_t id_at; /* of the job */
	struct cluster *c;
	struct lanes *l;
	struct query query;
	struct sacct_reader reader;
	struct job_facts facts;
	struct oldest_job oldest;
	unsigned told;	     /* clusters that matched the request */
	struct event *timer; /* owned */
	unsigned tokens;
	int64_t tokens_at; /* monotonic s */
};

void
explain_row(struct collector *col, uint64_t request, const struct cluster *c,
    uint64_t job, const char *event, const char *text)
{
	char id[24];
	struct writer w;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_EXPLAIN, c != NULL ? c->slurm.cluster : "", id, "",
	    "", event, text, NULL);
	worker_ctl_row(col->site.w, request, &w);
	wr_clear(&w);
}

static void
tell(struct explain_slurm *v, const char *event, const char *text)
{
	explain_row(v->col, v->request, v->c, v->facts.job, event, text);
}

static void
finish(struct explain_slurm *v, enum ctl_status status, const char *text)
{
	worker_ctl_end(v->col->site.w, v->request, status, text);
	v->request = 0;
}

/*
 * All is known about the job in this cluster: reports it.  The event loop begins
 * the next job: a recursion over jobs without a query could overflow the stack.
 */
static void
job_end(struct explain_slurm *v)
{
	struct explain_answer answer;
	char text[640];
	unsigned i;

	v->facts.next_poll_ms = v->l->poll_at - now_ms();
	if (v->facts.next_poll_ms < 0)
		v->facts.next_poll_ms = 0;
	v->facts.next_day_ms = (v->l->day_at + v->c->set->long_poll - now_s()) *
	    1000;
	if (v->facts.next_day_ms < 0)
		v->facts.next_day_ms = 0;
	for (i = 0; i < v->facts.n; i++) {
		fact_text(&v->facts.runs[i], text, sizeof(text));
		tell(v, v->facts.runs[i].of_ctld ? "slurmctld" : "accounting",
		    text);
	}
	if (v->facts.more) {
		snprintf(text, sizeof(text),
		    "the job has more records; the last %d are shown",
		    FACTS_MAX);
		tell(v, "accounting", text);
	}
	explain_reason(v->c, &v->facts, &answer);
	tell(v, "reason", answer.reason);
	if (answer.remedy[0] != '\0')
		tell(v, "remedy", answer.remedy);
	sacct_clear(&v->reader);
	v->id_at++;
	event_active(v->timer, EV_TIMEOUT, 0);
}

static void
fact_add(struct explain_slurm *v, const struct job_snapshot *s, int of_ctld)
{
	struct job_facts *f = &v->facts;
	const struct job *job = &s->job;
	struct run_fact *run;

	if (job->key.job != f->job) {
		if (job->array_job == f->job)
			f->array_tasks++;
		return;
	}
	run = fact_new(f, of_ctld);
	*run = (struct run_fact) { .of_ctld = of_ctld,
		.state = s->state,
		.start = job->key.start,
		.end = s->state->phase == PHASE_ENDED ? job->end : 0,
		.nodes = job->nodes,
		.never = s->never,
		.ignored = settings_ignores(v->c->set, job),
		.opted_out = (job->flags & JOB_OPTED_OUT) != 0 };
}

/* --- slurmdbd's configuration: how long it keeps jobs --- */

static int
on_dbd_line(struct span line, void *arg)
{
	struct explain_slurm *v = arg;
	struct span key, value;

	if (config_pair(line, &key, &value) && span_is(key, "PurgeJobAfter"))
		snprintf(v->facts.purge, sizeof(v->facts.purge), "%.*s",
		    (int)(value.n < 60 ? value.n : 60), value.p);
	return 0;
}

static void
on_oldest(void *arg)
{
	struct explain_slurm *v = arg;

	/* After an error older jobs may exist. */
	if (v->oldest.is_known) {
		v->facts.oldest_job = v->oldest.job;
		v->facts.oldest_submit = v->oldest.submit;
	}
	job_end(v);
}

static void
on_dbd_end(const struct command_end *end, int complete, void *arg)
{
	struct explain_slurm *v = arg;

	oldest_job_search(&v->oldest, v->c, on_oldest, v);
}

static const struct query_type dbd_query = {
	.kind = QUESTION_DBD_CONFIG,
	.flags = QUERY_LAST_LINE,
	.on_line = on_dbd_line,
	.on_end = on_dbd_end,
};

/* --- accounting --- */

static int
on_row(struct job_snapshot *s, void *arg)
{
	fact_add(arg, s, 0);
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct explain_slurm *v = arg;

	return sacct_feed(&v->reader, p, n);
}

static void
on_account_end(const struct command_end *end, int complete, void *arg)
{
	struct explain_slurm *v = arg;

	if (!complete || sacct_end(&v->reader) == -1)
		command_why(end, v->facts.dbd_error,
		    sizeof(v->facts.dbd_error));
	if (v->facts.n > 0 || v->facts.array_tasks > 0 ||
	    v->facts.dbd_error[0] != '\0') {
		job_end(v);
		return;
	}
	query_begin(&v->query, v->c, &dbd_query, v);
	if (query_start(&v->query) == -1)
		job_end(v);
}

static const struct query_type account_query = {
	.kind = QUESTION_RUNS,
	.on_output = on_output,
	.on_end = on_account_end,
};

static void
account_ask(struct explain_slurm *v)
{
	if (!v->c->slurm.accounting) {
		job_end(v);
		return;
	}
	sacct_query_begin(&v->query, &v->reader, v->c, &account_query, on_row,
	    v);
	if (query_start_job(&v->query, v->facts.job) == -1) {
		sacct_clear(&v->reader);
		finish(v, CTL_ERROR, "out of memory");
	}
}

/* --- slurmctld --- */

static int
on_record(struct span line, void *arg)
{
	struct explain_slurm *v = arg;
	struct job_snapshot s;

	if (scontrol_id(line) == 0)
		return 0;
	snapshot_init(&s);
	if (scontrol_record(line, NULL, &v->c->set->how, &s) == RECORD_GOOD)
		fact_add(v, &s, 1);
	else if (scontrol_id(line) == v->facts.job)
		v->facts.ambiguous = 1;
	snapshot_clear(&s);
	return 0;
}

static void
on_job_end(const struct command_end *end, int complete, void *arg)
{
	struct explain_slurm *v = arg;

	if (!complete && strstr(end->err, "Invalid job id") == NULL)
		command_why(end, v->facts.ctld_error,
		    sizeof(v->facts.ctld_error));
	account_ask(v);
}

static const struct query_type job_query = {
	.kind = QUESTION_JOB,
	.flags = QUERY_LAST_LINE,
	.on_line = on_record,
	.on_end = on_job_end,
};

/* --- the request --- */

int
explain_token_take(struct explain_slurm *v)
{
	int64_t now = now_s(), grown = (now - v->tokens_at) / REFILL_S;

	if (grown > BURST - (int64_t)v->tokens)
		grown = BURST - (int64_t)v->tokens;
	if (grown > 0) {
		v->tokens += (unsigned)grown;
		v->tokens_at = now;
	}
	if (v->tokens == 0)
		return -1;
	v->tokens--;
	return 0;
}

int
explain_cluster_next(const struct collector *col, const struct ctl_request *req,
    unsigned *at)
{
	const struct site *site = &col->site;

	while (*at < site->n && req->text[0] != '\0' &&
	    strcmp(req->text, site->clusters[*at]->slurm.cluster) != 0)
		(*at)++;
	return *at < site->n;
}

static void
clusters_none(struct explain_slurm *v)
{
	char text[1024];

	v->c = NULL;
	(void)ctl_cluster_missing(&v->col->site, v->req.text, text,
	    sizeof(text));
	for (v->id_at = 0; v->id_at < v->req.n_ids; v->id_at++) {
		v->facts.job = v->req.ids[v->id_at];
		tell(v, "reason", text);
		if (site_find(&v->col->site, v->req.text) != NULL)
			continue;
		tell(v, "remedy",
		    "correct the name, add the cluster to `clusters`, or ask "
		    "the suite of that cluster");
	}
	finish(v, CTL_ERROR, "Slurm was not asked about this cluster");
}

/* Asks about the next job in this cluster, or begins the next cluster. */
static void
job_begin(struct explain_slurm *v)
{
	static const struct timeval wait = { .tv_sec = REFILL_S };
	struct query *q = &v->query;

	if (v->id_at >= v->req.n_ids) {
		v->id_at = 0;
		v->at++;
	}
	if (!explain_cluster_next(v->col, &v->req, &v->at)) {
		if (v->told == 0)
			clusters_none(v);
		else
			finish(v, CTL_OK, "");
		return;
	}
	v->told++;
	v->l = &v->col->lanes[v->at];
	v->c = v->l->c;
	memset(&v->facts, 0, sizeof(v->facts));
	v->facts.job = v->req.ids[v->id_at];
	if (!v->c->ready || !v->c->synced) {
		v->facts.not_ready = 1;
		job_end(v);
		return;
	}
	if (explain_token_take(v) == -1) {
		event_add(v->timer, &wait);
		return;
	}
	query_begin(q, v->c, &job_query, v);
	if (id_list_add(&q->question.ids, v->facts.job) == -1)
		job_end(v); /* none of Slurm's ids */
	else if (query_start(q) == -1)
		finish(v, CTL_ERROR, "out of memory");
}

/* The job before is done, or Slurm may be asked again after many jobs. */
static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	job_begin(arg);
}

void
explain_slurm_begin(struct explain_slurm *v, uint64_t request,
    const struct ctl_request *req)
{
	struct worker *w = v->col->site.w;

	if (v->request != 0 || req->n_ids == 0) {
		worker_ctl_end(w, request, CTL_ERROR,
		    req->n_ids == 0 ? "job ids are required" :
				      "another request asks Slurm: try again");
		return;
	}
	if (v->timer == NULL)
		v->timer = evtimer_new(w->base, on_timer, v);
	if (v->timer == NULL) {
		worker_ctl_end(w, request, CTL_ERROR, "out of memory");
		return;
	}
	v->request = request;
	v->req = *req;
	v->at = v->id_at = v->told = 0;
	job_begin(v);
}

struct explain_slurm *
explain_slurm_new(struct collector *col)
{
	struct explain_slurm *v = permanent_new(sizeof(*v));

	v->col = col;
	v->tokens = BURST;
	v->tokens_at = now_s();
	return v;
}
