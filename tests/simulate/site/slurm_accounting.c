/* SPDX-License-Identifier: MIT */
/*
 * The accounting of the simulated Slurm: slurmctld's queue to slurmdbd, and the
 * rows of slurmdbd.  Messages arrive in their order.  slurmctld keeps the queue
 * while slurmdbd is down, and over a restart.
 */
#include "config.h"

#include <stdlib.h>

#include "tests/simulate/site/slurm_private.h"

#define BUCKETS	    4096
#define MESSAGE_MS  1500 /* at most, from slurmctld to slurmdbd */
#define EACH_MS	    30	 /* between two messages of a long queue */
#define RETRY_MS    5000
#define RESIZE_2302 2302 /* from then on a resize has a new start */

/* The row as slurmctld had it when it sent the message. */
struct message {
	struct message *next;
	struct slurm_row *row;
	const char *state;
	int64_t start, end;
	struct slurm_run *run;
	int64_t due; /* world_ms() */
};

static struct message *queue, **queue_tail;
static struct slurm_row *rows, **rows_tail, *buckets[BUCKETS];
static struct prng random_delay;

struct slurm_row *
slurm_rows(void)
{
	return rows;
}

struct slurm_row *
slurm_rows_of(uint32_t id)
{
	return buckets[id % BUCKETS];
}

static void
row_store(struct slurm_row *row)
{
	row->known = 1;
	*rows_tail = row;
	rows_tail = &row->next;
	row->same = buckets[row->id % BUCKETS];
	buckets[row->id % BUCKETS] = row;
}

static void
message_arrive(const struct message *m)
{
	struct slurm_row *row = m->row;

	if (!row->known)
		row_store(row);
	row->shown_state = m->state;
	row->shown_start = m->start;
	row->shown_end = m->end;
	if (m->run == NULL)
		return;
	if (m->run->known == 0)
		m->run->known = world_ms();
	if (m->end != 0 && row->last)
		m->run->settled = world_ms();
}

static void deliver_plan(void);

static void
deliver(void *arg)
{
	struct message *m = queue;

	(void)arg;
	if (!slurm.ctld_up || !slurm.dbd_up) {
		world_after(PROCESS_NONE, RETRY_MS, deliver, NULL);
		return;
	}
	queue = m->next;
	if (queue == NULL)
		queue_tail = &queue;
	slurm.dbd_queued--;
	message_arrive(m);
	free(m);
	deliver_plan();
}

static void
deliver_plan(void)
{
	int64_t wait = queue != NULL ? queue->due - world_ms() : 0;

	if (queue != NULL)
		world_after(PROCESS_NONE, wait > EACH_MS ? wait : EACH_MS,
		    deliver, NULL);
}

static void
report(struct slurm_row *row, const char *state)
{
	struct message *m = world_alloc(sizeof(*m));

	m->row = row;
	m->state = state;
	m->start = row->start;
	m->end = row->end;
	m->run = row->run;
	m->due = world_ms() + slurm.dbd_delay +
	    (int64_t)prng_below(&random_delay, MESSAGE_MS);
	*queue_tail = m;
	queue_tail = &m->next;
	slurm.dbd_queued++;
	if (queue == m)
		deliver_plan();
}

static struct slurm_row *
row_new(const struct slurm_job *job)
{
	struct slurm_row *row = world_alloc(sizeof(*row));

	row->id = job->id;
	row->array_job = job->array_job;
	row->array_task = job->array_task;
	row->het_job = job->het_job;
	row->het_offset = job->het_offset;
	row->name = job->name;
	row->user = job->user;
	row->submit = job->submit;
	row->limit = job->limit;
	row->cancelled_by = job->cancelled_by;
	return row;
}

void
slurm_report_pending(struct slurm_job *job)
{
	job->row = row_new(job);
	report(job->row, "PENDING");
}

/* The row of a pending job becomes that of its run. */
void
slurm_report_start(struct slurm_job *job)
{
	struct slurm_run *run = job->run;
	struct slurm_row *row = job->row;

	if (row == NULL || row->start != 0)
		row = row_new(job);
	row->run = run;
	row->start = run->start;
	if (job->resized != 0) {
		row->submit = job->resized;
		if (slurm.o.version >= RESIZE_2302)
			row->start = job->resized;
	}
	row->node_first = run->node_first;
	row->node_count = run->nodes_now;
	row->cpu_count = run->cpu_count;
	row->gpus = run->gpus;
	row->steps = run->ran;
	job->row = row;
	report(row, "RUNNING");
}

void
slurm_report_moved(struct slurm_job *job)
{
	job->row->start = job->run->start;
	report(job->row, "RUNNING");
}

void
slurm_report_end(struct slurm_job *job, const char *state, int last)
{
	struct slurm_row *row = job->row;

	row->end = slurm_now_s();
	row->last = last;
	report(row, state);
}

void
slurm_report_never(struct slurm_job *job)
{
	if (job->row == NULL)
		job->row = row_new(job);
	job->row->start = job->row->end = slurm_now_s();
	report(job->row, "CANCELLED");
}

void
slurm_accounting_begin(void)
{
	queue_tail = &queue;
	rows_tail = &rows;
	prng_init(&random_delay, world_seed(), "slurmdbd");
}
