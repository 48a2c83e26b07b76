/* SPDX-License-Identifier: MIT */
/*
 * How long deliveries take: from the start and the end of a run in Slurm, whose
 * times have whole seconds, until the destination has them.  The hook runs at
 * the start.  Runs of a backfill are left out: they began long ago.
 */
#include "config.h"

#include "submitter/base/context.h"
#include "submitter/delivery/delivery.h"
#include "submitter/history/history.h"

#define OLDEST_ROWS 64 /* of each state, in the order in which they are due */

static int
is_live(const struct spool_run *run)
{
	return (run->flags & (RUN_BACKFILL | RUN_FROM_BACKEND)) == 0;
}

void
delivery_start_note(struct submitter *s, const struct spool_run *run,
    enum dest dest)
{
	/* A start that is repeated was accepted before. */
	if (is_live(run) && run->since[dest] == 0)
		histogram_add(&s->n.start_delivered[dest], HISTOGRAM_DELIVERY,
		    history_now() - run->key.start * 1000);
}

void
delivery_end_note(struct submitter *s, const struct spool_run *run,
    enum dest dest)
{
	if (is_live(run) && run->end != 0)
		histogram_add(&s->n.end_delivered[dest], HISTOGRAM_DELIVERY,
		    history_now() - run->end * 1000);
}

/* The oldest of some rows. */
struct oldest {
	enum dest dest;
	int64_t now; /* epoch, s */
	int64_t age;
};

static int
on_row(struct spool *sp, struct spool_run *run, void *arg)
{
	struct oldest *o = arg;
	int64_t since = run->key.start;

	/* The last rows: Slurm has not shown these runs as running. */
	if (run->due[o->dest] == DUE_UNCONFIRMED)
		return -1;
	if (run->end > since)
		since = run->end;
	if (is_live(run) && o->now - since > o->age)
		o->age = o->now - since;
	return 0;
}

int64_t
delivery_oldest(struct submitter *s, enum dest dest)
{
	static const enum run_state waiting[] = { START_DUE, START_DUE_ENDED,
		STOP_DUE };
	struct oldest o = { .dest = dest, .now = history_now() / 1000 };
	struct spool_after after;
	size_t i;

	if (s->role.inactive)
		return 0;
	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		after = (struct spool_after) { 0 };
		if (spool_count(s->spool, dest, waiting[i]) > 0)
			(void)spool_each(s->spool, dest, waiting[i], &after,
			    OLDEST_ROWS, on_row, &o);
	}
	return o.age;
}
