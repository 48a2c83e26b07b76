/* SPDX-License-Identifier: MIT */
/*
 * Slurm gives job ids in order, and slurmdbd removes old jobs: the least id that
 * accounting has is that of the oldest job.  Each round asks for some hundred
 * ids, evenly spaced, and the next one for those below the oldest job found.  Ids
 * that no job got do not stop the search: the last rounds ask for each id below
 * the result.  After MaxJobId the ids begin anew: the first round asks for the ids
 * before MaxJobId.
 */
#include "config.h"

#include <string.h>

#include "collector/base/cluster.h"
#include "collector/oldest_job.h"

#define SAMPLES	 256   /* ids of one round */
#define WRAP_IDS 64    /* ids before MaxJobId that are asked for */
#define ROWS_MAX 50000 /* an id of an array has a row for each task */
#define AGE_S	 600   /* a result is used again */

/* The step is odd: with an even one all ids could be those that no job got. */
static void
round_set(struct oldest_job *o, uint64_t low, uint64_t high)
{
	o->low = low;
	o->high = high;
	o->step = ((high - low) / (SAMPLES - 1) + 1) | 1;
}

void
oldest_job_begin(struct oldest_job *o)
{
	o->rounds = 1;
	o->rows = 0;
	o->job = 0;
	o->found = o->checks = 0;
	o->wraps = o->max > o->next + WRAP_IDS;
	if (o->wraps)
		round_set(o, o->max - WRAP_IDS, o->max - 1);
	else
		round_set(o, o->first, o->next - 1);
}

uint64_t
oldest_job_id(const struct oldest_job *o, unsigned n)
{
	uint64_t id = o->low + n * o->step;

	if (n >= SAMPLES + 1 || (id > o->high && id - o->high >= o->step))
		return 0;
	return id < o->high ? id : o->high;
}

int
oldest_job_row(struct oldest_job *o, uint64_t job, int64_t submit)
{
	if (++o->rows > ROWS_MAX)
		return -1;
	if (submit > 0 &&
	    (o->job == 0 || submit < o->submit ||
		(submit == o->submit && job < o->job))) {
		o->job = job;
		o->submit = submit;
		o->found = 1;
	}
	return 0;
}

/* The round covers the n ids before the oldest job, or those that exist. */
static int
round_before(struct oldest_job *o, uint64_t n)
{
	uint64_t high;

	if (o->job <= o->first)
		return 0;
	high = o->job - 1;
	round_set(o, high - o->first >= n ? high - n + 1 : o->first, high);
	return 1;
}

/* The ids before MaxJobId were asked for: the ids of the oldest jobs follow. */
static void
wrap_end(struct oldest_job *o, int found)
{
	o->wraps = 0;
	if (found) {
		o->first = o->next;
		o->next = o->max;
	}
	round_set(o, o->first, o->next - 1);
}

int
oldest_job_next(struct oldest_job *o)
{
	uint64_t step = o->step;
	int found = o->found;

	o->found = 0;
	if (o->wraps && o->rows <= ROWS_MAX) {
		wrap_end(o, found);
		o->rounds++;
		return 1;
	}
	if (o->job == 0 || o->rounds++ == OLDEST_ROUNDS_MAX ||
	    o->rows > ROWS_MAX)
		return 0;
	if (step > 1) /* between the oldest id and the one asked before it */
		return round_before(o, step - 1);
	if (o->checks && !found)
		return 0;
	/* An unused id may have hidden older jobs: begin below it. */
	if (o->checks)
		return o->checks = 0, round_before(o, o->next);
	o->checks = 1;
	return round_before(o, SAMPLES);
}

static void round_ask(struct oldest_job *o);

static void
finish(struct oldest_job *o, int is_known)
{
	o->is_known = is_known;
	o->read_at = now_s();
	o->done(o->arg);
}

static int
on_row(struct job_snapshot *s, void *arg)
{
	return oldest_job_row(arg, s->job.key.job, s->job.submit);
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct oldest_job *o = arg;

	return sacct_feed(&o->reader, p, n);
}

/* After an error there is no result: there may be an older job. */
static void
on_round_end(const struct command_end *end, int complete, void *arg)
{
	struct oldest_job *o = arg;
	int good = complete && sacct_end(&o->reader) == 0;

	sacct_clear(&o->reader);
	if (good && oldest_job_next(o))
		round_ask(o);
	else
		finish(o, good);
}

static const struct query_type round_query = {
	.kind = QUESTION_RUNS,
	.on_output = on_output,
	.on_end = on_round_end,
};

static void
round_ask(struct oldest_job *o)
{
	struct query *q = &o->query;
	uint64_t id;
	unsigned n = 0;

	sacct_query_begin(q, &o->reader, o->c, &round_query, on_row, o);
	while ((id = oldest_job_id(o, n)) != 0 &&
	    id_list_add(&q->question.ids, id) == 0)
		n++;
	if (n == 0 || query_start(q) == -1) {
		sacct_clear(&o->reader);
		finish(o, 0);
	}
}

/* slurmctld's first, last and next job id */
static int
on_config(struct span line, void *arg)
{
	struct oldest_job *o = arg;
	struct span key, value;

	if (!config_pair(line, &key, &value))
		return 0;
	if (span_is(key, "FirstJobId"))
		(void)number_u64(value, &o->first);
	else if (span_is(key, "MaxJobId"))
		(void)number_u64(value, &o->max);
	else if (span_is(key, "NEXT_JOB_ID"))
		(void)number_u64(value, &o->next);
	return 0;
}

static void
on_config_end(const struct command_end *end, int complete, void *arg)
{
	struct oldest_job *o = arg;

	if (o->first == 0)
		o->first = 1;
	if (!complete || o->next <= o->first || o->next > UINT32_MAX ||
	    o->max > UINT32_MAX) {
		finish(o, 0);
		return;
	}
	oldest_job_begin(o);
	round_ask(o);
}

static const struct query_type config_query = {
	.kind = QUESTION_CONFIG,
	.flags = QUERY_LAST_LINE,
	.on_line = on_config,
	.on_end = on_config_end,
};

void
oldest_job_search(struct oldest_job *o, struct cluster *c, oldest_job_fn *done,
    void *arg)
{
	o->done = done;
	o->arg = arg;
	if (o->is_known && o->job != 0 && o->c == c &&
	    now_s() - o->read_at < AGE_S) {
		done(arg);
		return;
	}
	o->c = c;
	o->job = o->first = o->next = o->max = 0;
	query_begin(&o->query, c, &config_query, o);
	if (query_start(&o->query) == -1)
		finish(o, 0);
}
