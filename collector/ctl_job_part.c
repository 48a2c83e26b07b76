/* SPDX-License-Identifier: MIT */
/*
 * The request for the job ids of a task or a component: asks slurmctld, then
 * accounting, in each cluster that the request selects.  The questions change
 * nothing.  One request at a time, within the bounds of `explain`.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "collector/collector.h"
#include "collector/job_part.h"
#include "common/model/ctl.h"
#include "common/permanent.h"

#define WAIT_S 1 /* until Slurm may be asked about one more job */

struct job_part {
	struct collector *col;
	uint64_t request; /* 0 = none is under way */
	struct ctl_request req;
	unsigned at;   /* number of the cluster */
	unsigned told; /* clusters that matched the request */
	struct cluster *c;
	struct query query;
	struct sacct_reader reader;
	struct part_facts facts;
	struct event *timer; /* owned */
};

static void
tell(struct job_part *v, uint64_t job, const char *event, const char *text)
{
	explain_row(v->col, v->request, v->c, job, event, text);
}

static void
finish(struct job_part *v, enum ctl_status status, const char *text)
{
	worker_ctl_end(v->col->site.w, v->request, status, text);
	v->request = 0;
}

static void
ids_tell(struct job_part *v)
{
	char name[64], text[128];
	unsigned i;

	snprintf(text, sizeof(text), "this is the job id of %s",
	    part_name(&v->facts, name, sizeof(name)));
	for (i = 0; i < v->facts.n; i++)
		tell(v, v->facts.ids[i], CTL_EVENT_JOB_ID, text);
}

/* All is known in this cluster.  The next one begins in the event loop. */
static void
cluster_end(struct job_part *v)
{
	char reason[512], remedy[160];

	if (v->facts.n > 0)
		ids_tell(v);
	else {
		part_reason(&v->facts, v->c->slurm.cluster, reason,
		    sizeof(reason), remedy, sizeof(remedy));
		tell(v, v->facts.job, "reason", reason);
		if (remedy[0] != '\0')
			tell(v, v->facts.job, "remedy", remedy);
	}
	v->at++;
	event_active(v->timer, EV_TIMEOUT, 0);
}

static int
on_row(struct job_snapshot *s, void *arg)
{
	struct job_part *v = arg;

	part_row(&v->facts, &s->job);
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct job_part *v = arg;

	return sacct_feed(&v->reader, p, n);
}

static void
on_account_end(const struct command_end *end, int complete, void *arg)
{
	struct job_part *v = arg;

	if (!complete || sacct_end(&v->reader) == -1)
		command_why(end, v->facts.dbd_error,
		    sizeof(v->facts.dbd_error));
	sacct_clear(&v->reader);
	cluster_end(v);
}

static const struct query_type account_query = {
	.kind = QUESTION_RUNS,
	.on_output = on_output,
	.on_end = on_account_end,
};

static void
account_ask(struct job_part *v)
{
	sacct_query_begin(&v->query, &v->reader, v->c, &account_query, on_row,
	    v);
	if (query_start_job(&v->query, v->facts.job) == -1) {
		sacct_clear(&v->reader);
		finish(v, CTL_ERROR, "out of memory");
	}
}

static int
on_record(struct span line, void *arg)
{
	struct job_part *v = arg;

	part_record(&v->facts, line);
	return 0;
}

/* Accounting is asked only about what slurmctld does not have any more. */
static void
on_job_end(const struct command_end *end, int complete, void *arg)
{
	struct job_part *v = arg;

	if (!complete && strstr(end->err, "Invalid job id") == NULL)
		command_why(end, v->facts.ctld_error,
		    sizeof(v->facts.ctld_error));
	if (v->facts.n > 0 || v->facts.pending || !v->c->slurm.accounting)
		cluster_end(v);
	else
		account_ask(v);
}

static const struct query_type job_query = {
	.kind = QUESTION_JOB,
	.flags = QUERY_LAST_LINE,
	.on_line = on_record,
	.on_end = on_job_end,
};

static void
cluster_none(struct job_part *v)
{
	char text[CTL_TEXT_MAX + 64];

	v->c = NULL;
	if (v->told == 0) {
		(void)ctl_cluster_missing(&v->col->site, v->req.text, text,
		    sizeof(text));
		tell(v, v->facts.job, "reason", text);
		finish(v, CTL_ERROR, "Slurm was not asked about this cluster");
		return;
	}
	finish(v, CTL_OK, "");
}

static void
cluster_begin(struct job_part *v)
{
	static const struct timeval wait = { .tv_sec = WAIT_S };
	memset(&v->facts, 0, sizeof(v->facts));
	v->facts.job = v->req.ids[0];
	v->facts.number = (uint64_t)v->req.a;
	v->facts.kind = (enum ctl_part)v->req.b;
	if (!explain_cluster_next(v->col, &v->req, &v->at)) {
		cluster_none(v);
		return;
	}
	v->c = v->col->site.clusters[v->at];
	if (!v->c->ready) {
		v->told++;
		snprintf(v->facts.ctld_error, sizeof(v->facts.ctld_error),
		    "Slurm was not queried yet since the start");
		cluster_end(v);
		return;
	}
	if (explain_token_take(v->col->explain_slurm) == -1) {
		event_add(v->timer, &wait);
		return;
	}
	v->told++;
	query_begin(&v->query, v->c, &job_query, v);
	if (query_start_job(&v->query, v->facts.job) == -1)
		finish(v, CTL_ERROR, "out of memory");
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	cluster_begin(arg);
}

static const char *
request_check(const struct job_part *v, const struct ctl_request *req)
{
	if (v->request != 0)
		return "another request asks Slurm: try again";
	if (req->n_ids != 1 || req->ids[0] == 0 || req->ids[0] > UINT32_MAX ||
	    req->a < 0 || req->a > UINT32_MAX ||
	    (req->b != CTL_PART_TASK && req->b != CTL_PART_COMPONENT))
		return "one job id and the number of a task or component are "
		       "required";
	return NULL;
}

void
job_part_begin(struct job_part *v, uint64_t request,
    const struct ctl_request *req)
{
	struct worker *w = v->col->site.w;
	const char *wrong = request_check(v, req);

	if (wrong == NULL && v->timer == NULL &&
	    (v->timer = evtimer_new(w->base, on_timer, v)) == NULL)
		wrong = "out of memory";
	if (wrong != NULL) {
		worker_ctl_end(w, request, CTL_ERROR, wrong);
		return;
	}
	v->request = request;
	v->req = *req;
	v->at = v->told = 0;
	cluster_begin(v);
}

struct job_part *
job_part_new(struct collector *col)
{
	struct job_part *v = permanent_new(sizeof(*v));

	v->col = col;
	return v;
}
