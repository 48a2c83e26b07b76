/* SPDX-License-Identifier: MIT */
/*
 * A spool of a daemon that sent its runs to cc-backend, with deliver "stream"
 * from now on.  What was not done by REST is published: the centre starts a run
 * that cc-backend already has without harm, and the end of a run reaches
 * cc-backend in this way only.
 */
#include "config.h"

#include <string.h>

#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"

/*
 * Makes the whole record due.  What the row says of NATS is about messages that
 * no stream of the centre has.
 */
static void
record_due(struct spool *sp, struct spool_run *run)
{
	switch (run->state[DEST_NATS]) {
	case RUN_NONE:
		run_move(sp, run, DEST_NATS, RUN_EVENT_RECORD,
		    run->flags & RUN_UNCONFIRMED ? DUE_UNCONFIRMED : DUE_NOW,
		    NULL);
		break;
	case STARTED:
	case RUN_DONE:
		run_move(sp, run, DEST_NATS, RUN_EVENT_TO_STREAM, DUE_NOW,
		    NULL);
		break;
	case BACKFILL_HELD:
		run_move(sp, run, DEST_NATS, RUN_EVENT_RELEASED, DUE_NOW, NULL);
		break;
	default: /* it is due, or waits for an earlier run or an admin */
		break;
	}
}

static int
run_to_stream(struct spool *sp, struct spool_run *row, void *arg)
{
	enum run_state was;
	struct spool_run run;
	unsigned *n = arg;

	/* spool_order() may have changed the row since it was read. */
	if (spool_get(sp, row->id, &run) != 1 || (run.flags & RUN_QUARANTINED))
		return 0;
	was = run.state[DEST_REST];
	if (was == RUN_NONE)
		return 0;
	/* Found in cc-backend only: the collector reports it, or nobody. */
	if (run.flags & RUN_FROM_BACKEND)
		return spool_forget(sp, &run);
	run_move(sp, &run, DEST_REST, RUN_EVENT_TO_STREAM, DUE_NOW, "");
	run.flags &= ~(RUN_MISSING_IN_BACKEND | RUN_SUPERSEDED |
	    RUN_FORGET_AFTER_DELETE | RUN_BACKFILL);
	if (was != RUN_DONE && was != KEPT_REPLACEABLE) {
		record_due(sp, &run);
		++*n;
		if (spool_order(sp, &run) == -1)
			return -1;
	}
	return spool_save(sp, &run);
}

int
spool_to_stream(struct spool *sp)
{
	struct spool_after after = { 0 };
	unsigned n = 0;
	int rc;

	do
		rc = spool_each(sp, DEST_REST, RUN_STATE__COUNT, &after,
		    SPOOL_PAGE, run_to_stream, &n);
	while (rc == SPOOL_PAGE);
	return rc == -1 ? -1 : (int)n;
}
