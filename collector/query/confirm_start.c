/* SPDX-License-Identifier: MIT */
/*
 * Runs whose start is held, for nobody has seen them running yet: their
 * prolog may fail and give the job back.  The poll confirms them; those that
 * a hook spoke of, whose prolog mostly lasts a moment, are looked for sooner,
 * by the frequent question asked about just these jobs.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"

#define JOBS_MAX	500	/* more are left to the poll */
#define IDS_BYTES	(JOBS_MAX * 12)	/* ten digits each */
#define GAP_MS		1000	/* from a hook's word to the question; no more than one in this time */
#define WAIT_FIRST_MS	500	/* doubled before it is used */
#define WAIT_MAX_MS	8000
#define WAIT_ALL_MS	120000	/* a prolog of this length is left to the poll */

struct confirm {
	struct cluster *c;
	struct command	*cmd;
	struct lines	 lines;
	struct idmap	 jobs;		/* to be asked about */
	struct idmap	 left;		/* of the question: still being prepared */
	char		 ids[IDS_BYTES];
	int64_t		 due;		/* monotonic ms */
	int64_t		 wait;
	int64_t		 changed; /* monotonic ms: one came, or was confirmed */
};

struct confirm *
confirm_new(struct cluster *c)
{
	struct confirm *h = calloc(1, sizeof(*h));

	if (h == NULL)
		fatal("no memory");
	h->c = c;
	return h;
}

void
confirm_want(struct confirm *h, uint64_t job)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&h->c->open, job, &at)) != NULL)
		if (run->flags & OPEN_UNCONFIRMED)
			break;
	if (run == NULL || h->jobs.n >= JOBS_MAX)
		return;
	h->changed = now_ms();
	h->wait = WAIT_FIRST_MS;
	if (h->jobs.n == 0 || h->due > h->changed + GAP_MS)
		h->due = h->changed + GAP_MS;
	(void)idmap_put(&h->jobs, job, NULL);
}

void
confirm_row(struct cluster *c, const struct squeue_job *row)
{
	struct open_run *run;

	if (row->state->phase != PHASE_RUNNING)
		return;
	run = open_find(&c->open, row->job, row->start);
	/* Accounting is away: only of what was restarted an earlier run is sure. */
	if (run != NULL && idmap_get(&c->earlier, row->job) != NULL) {
		if (!c->dbd.away || run->restarts > 0)
			return;
		idmap_remove(&c->earlier, row->job);
	}
	if (run != NULL && (run->flags & OPEN_UNCONFIRMED) &&
	    !(run->flags & OPEN_IGNORED) && track_running(c, run) == 0)
		c->confirm->changed = now_ms();
}

static int
on_row(struct span line, void *arg)
{
	struct confirm *h = arg;
	struct squeue_job row;

	if (squeue_row(line, &row) == -1)
		return 0;
	confirm_row(h->c, &row);
	if (row.state->phase == PHASE_CONFIGURING)
		(void)idmap_put(&h->left, row.job, NULL);
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct confirm *h = arg;

	return lines_feed(&h->lines, p, n, on_row, h);
}

/*
 * Jobs that are prepared still are asked about again; whatever became of the
 * others, and of all of them when there was no answer, the poll will see.
 */
static void
on_end(const struct command_end *end, void *arg)
{
	struct confirm *h = arg;
	int64_t now = now_ms();
	uint64_t job;
	size_t at = 0;

	h->cmd = NULL;
	if (end->outcome == COMMAND_OK && now - h->changed < WAIT_ALL_MS)
		while ((job = idmap_next(&h->left, &at, NULL)) != 0)
			(void)idmap_put(&h->jobs, job, NULL);
	idmap_clear(&h->left);
	h->wait = h->wait * 2 < WAIT_MAX_MS ? h->wait * 2 : WAIT_MAX_MS;
	h->due = now + h->wait;
	wake(h->c);
}

void
confirm_kick(struct confirm *h)
{
	struct query query = { .cmd = CMD_SQUEUE, .args = { "-h", "-a", "-o",
	    SQUEUE_FORMAT, "-t", slurm_live_states(&h->c->slurm), "-j",
	    h->ids }, .on_output = on_output, .on_end = on_end, .arg = h };
	uint64_t job;
	size_t at = 0, len = 0;

	if (h->cmd != NULL || h->jobs.n == 0 || now_ms() < h->due ||
	    health_wait(&h->c->ctld) > 0)
		return;
	while ((job = idmap_next(&h->jobs, &at, NULL)) != 0 &&
	    len + 12 < sizeof(h->ids))
		len += (size_t)snprintf(h->ids + len, sizeof(h->ids) - len,
		    "%s%llu", len > 0 ? "," : "", (unsigned long long)job);
	idmap_clear(&h->jobs);
	lines_clear(&h->lines);
	h->cmd = query_start(h->c, &query);
}
