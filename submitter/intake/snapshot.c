/* SPDX-License-Identifier: MIT */
/* What a collector is told when it appears: cursors, and runs without an end. */
#include "config.h"

#include <string.h>

#include "submitter/base/submitter.h"

static void
cursors_send(struct spool *sp, struct channel *c)
{
	struct run_key name;
	struct writer w;
	int64_t cursor;
	unsigned i;

	for (i = 0; spool_cluster(sp, i, &name, &cursor); i++) {
		wr_init(&w, 256);
		wr_str(&w, name.cluster);
		wr_i64(&w, cursor);
		channel_send(c, MSG_RESUME_FROM, 0, &w, -1);
		wr_clear(&w);
	}
}

#define RUNNING_PHASES	8	/* phases of a run without an end */
#define HELD_PHASES	3	/* and of one whose start is held */

struct batch {
	struct writer	 keys;
	uint32_t	 n;
	unsigned	 held;		/* RUN_HELD, or 0: which runs go into it */
};

static int
key_add(struct spool *sp, struct spool_run *run, void *arg)
{
	struct batch *batch = arg;

	(void)sp;
	if (run->end != 0 || (run->flags & (RUN_FOREIGN | RUN_SKIPPED)) ||
	    (run->flags & RUN_HELD) != batch->held)
		return 0;
	wr_run_key(&batch->keys, &run->key);
	batch->n++;
	return 0;
}

static void
batch_send(struct channel *c, struct batch *batch, int last)
{
	struct writer w;

	if (batch->n == 0 && !last)
		return;
	wr_init(&w, batch->keys.len + 16);
	wr_u32(&w, batch->n);
	wr_mem(&w, batch->keys.buf, batch->keys.len);
	wr_u8(&w, (uint8_t)((last ? OPEN_RUNS_LAST : 0) |
	    (batch->held ? OPEN_RUNS_UNCONFIRMED : 0)));
	channel_send(c, MSG_OPEN_RUNS, 0, &w, -1);
	wr_clear(&w);
	wr_reset(&batch->keys);
	batch->n = 0;
}

/* Into the batch those in the first n phases: what is held is in the first ones. */
static void
running_walk(struct spool *sp, struct channel *c, struct batch *batch,
    unsigned n)
{
	static const enum phase phases[RUNNING_PHASES] = { PHASE_START,
		PHASE_BEHIND, PHASE_NO_START, PHASE_ASK, PHASE_OPEN,
		PHASE_SEEN, PHASE_DELETE, PHASE_CLOSED };
	enum dest dest = spool_policy(sp)->to[DEST_REST] ? DEST_REST :
	    DEST_NATS;
	struct spool_after after;
	unsigned i;

	for (i = 0; i < n; i++) {
		memset(&after, 0, sizeof(after));
		while (spool_each(sp, dest, phases[i], &after, SPOOL_PAGE,
		    key_add, batch) > 0)
			batch_send(c, batch, 0);
	}
}

/*
 * Keys of the runs that have no end yet, in batches, the last one marked.
 * Only the phases that such runs can have are walked: what merely waits for
 * delivery may be many.
 */
static void
running_send(struct spool *sp, struct channel *c)
{
	struct batch batch = { .held = RUN_HELD };

	wr_init(&batch.keys, SPOOL_PAGE * (CLUSTER_MAX + 32));
	running_walk(sp, c, &batch, HELD_PHASES);
	batch.held = 0;
	running_walk(sp, c, &batch, RUNNING_PHASES);
	batch_send(c, &batch, 1);
	wr_clear(&batch.keys);
}

void
backlog_tell(struct spool *sp, struct channel *c)
{
	cursors_send(sp, c);
	running_send(sp, c);
}

void
backlog_tell_run(struct channel *c, const struct run_key *key)
{
	struct batch batch = { .n = 1 };

	if (c == NULL)
		return;
	wr_init(&batch.keys, CLUSTER_MAX + 32);
	wr_run_key(&batch.keys, key);
	batch_send(c, &batch, 0);
	wr_clear(&batch.keys);
}
