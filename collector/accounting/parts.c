/* SPDX-License-Identifier: MIT */
/*
 * Parts of resized runs.  A part that begins before the time from which
 * accounting is read looks like a run of its own, because the part before it is
 * in no answer.  Its job is queried by id, which shows all parts, and the slice
 * is read again.
 */
#include "config.h"

#include "collector/accounting/accounting_private.h"
#include "collector/track/track.h"

/*
 * After so many answers without a row of the job the row counts as a whole run:
 * accounting has lost the job, or hides it.
 */
#define ANSWERS_MAX 3
/* Jobs that were asked for and are remembered after a slice */
#define PARTS_MAX 4096

unsigned
parts_may(const struct accounting *l, const struct job_snapshot *s)
{
	const uint32_t *answers = idmap_get(&l->parts, s->job.key.job);
	int64_t from = l->range.kind == RANGE_POLL ? l->gapless : l->range.from;

	/* The parts of a job wait together. */
	if (answers != NULL)
		return *answers < ANSWERS_MAX ? ROW_MAY_PARTS : 0;
	return s->job.key.start < from ? ROW_MAY_PARTS : 0;
}

int
parts_want(struct accounting *l, uint64_t job)
{
	if (idmap_put(&l->parts, job, NULL) == NULL ||
	    idmap_put(&l->c->work.accounting, job, NULL) == NULL)
		return -1;
	l->left_out++;
	l->parts_of_poll |= l->range.kind == RANGE_POLL;
	return 0;
}

void
parts_answered(struct accounting *l, uint64_t job, int shown)
{
	uint32_t *answers = idmap_get(&l->parts, job);

	if (answers == NULL || *answers >= ANSWERS_MAX)
		return;
	*answers = shown ? ANSWERS_MAX : *answers + 1;
	/* The slice is read again at once, as that of a backfill is anyway. */
	if (l->parts_of_poll)
		l->due |= DUE_POLL;
	l->parts_of_poll = 0;
}

void
parts_read(struct accounting *l)
{
	if (l->parts.n > PARTS_MAX)
		idmap_clear(&l->parts);
}
