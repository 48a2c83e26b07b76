/* SPDX-License-Identifier: MIT */
/*
 * Runs whose start is not confirmed, because squeue has not shown them running:
 * their prolog may fail, and Slurm then requeues the job.  The poll confirms
 * them.  The prolog of most jobs is short; so a query for the jobs of hook
 * events confirms these runs before the next poll.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/base/wake.h"
#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "collector/track/track.h"
#include "common/permanent.h"

/* From a hook event to the query; minimum between two queries */
#define GAP_MS	      1000
#define WAIT_FIRST_MS 500 /* doubled before it is used */
#define WAIT_MAX_MS   8000
/* the poll confirms a start after a longer prolog */
#define WAIT_ALL_MS 120000

struct confirm {
	struct cluster *c;
	struct query query;
	struct idmap jobs; /* to be queried */
	struct idmap left; /* of the query: still CONFIGURING */
	int64_t due;	   /* monotonic ms */
	int64_t wait;
	int64_t changed; /* monotonic ms: a job was added, or confirmed */
	int64_t added;	 /* monotonic ms: the last work.confirm_at */
};

struct confirm *
confirm_new(struct cluster *c)
{
	struct confirm *h = permanent_new(sizeof(*h));

	h->c = c;
	return h;
}

int
confirm_waits(const struct confirm *h)
{
	return h->jobs.n > 0 || h->c->work.confirm_at != h->added;
}

/* Takes the jobs that were added since the last call. */
static void
jobs_take(struct confirm *h)
{
	struct worklist *work = &h->c->work;
	uint64_t job;
	size_t at = 0;

	if (work->confirmed_at > h->changed)
		h->changed = work->confirmed_at;
	if (work->confirm_at == h->added)
		return;
	h->added = h->changed = work->confirm_at;
	h->wait = WAIT_FIRST_MS;
	if (h->jobs.n == 0 || h->due > h->added + GAP_MS)
		h->due = h->added + GAP_MS;
	while ((job = idmap_next(&work->confirm, &at, NULL)) != 0)
		if (h->jobs.n < CONFIRM_JOBS_MAX)
			(void)idmap_put(&h->jobs, job, NULL);
	idmap_clear(&work->confirm);
}

static int
on_row(struct span line, void *arg)
{
	struct confirm *h = arg;
	struct squeue_job row;

	if (squeue_row(line, &row) == -1)
		return 0;
	track_squeue_row(h->c, &row);
	if (row.state->phase == PHASE_CONFIGURING)
		(void)idmap_put(&h->left, row.job, NULL);
	return 0;
}

/*
 * CONFIGURING jobs are queried again.  The poll handles the other jobs, and
 * all jobs when there was no answer.
 */
static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct confirm *h = arg;
	int64_t now = now_ms();
	uint64_t job;
	size_t at = 0;

	jobs_take(h);
	if (end->outcome == COMMAND_OK && now - h->changed < WAIT_ALL_MS)
		while ((job = idmap_next(&h->left, &at, NULL)) != 0)
			(void)idmap_put(&h->jobs, job, NULL);
	idmap_clear(&h->left);
	h->wait = h->wait * 2 < WAIT_MAX_MS ? h->wait * 2 : WAIT_MAX_MS;
	h->due = now + h->wait;
	wake(h->c);
}

static const struct query_type confirm_query = {
	.kind = QUESTION_LIST_JOBS,
	.on_line = on_row,
	.on_end = on_end,
};

void
confirm_kick(struct confirm *h)
{
	struct query *q = &h->query;
	uint64_t job;
	size_t at = 0;

	jobs_take(h);
	if (query_busy(q) || h->jobs.n == 0 || now_ms() < h->due ||
	    health_wait(&h->c->ctld) > 0)
		return;
	query_begin(q, h->c, &confirm_query, h);
	while ((job = idmap_next(&h->jobs, &at, NULL)) != 0)
		(void)id_list_add(&q->question.ids, job);
	idmap_clear(&h->jobs);
	(void)query_start(q);
}
