/* SPDX-License-Identifier: MIT */
/*
 * The messages for a new collector or receiver: watermarks, positions in streams,
 * and the runs without an end.
 */
#include "config.h"

#include <string.h>

#include "submitter/base/context.h"
#include "submitter/intake/intake.h"
#include "submitter/spool/spool.h"

static void
resume_from_send(struct spool *sp, struct channel *c)
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

#define OPEN_STATES 8 /* states of a run without an end */
/* the first ones: states of a run whose start is not confirmed */
#define UNCONFIRMED_STATES 3

#define OPEN_KEY_MAX (CLUSTER_MAX + 32) /* bytes of a run in the message */

struct batch {
	struct writer runs; /* struct open_key */
	uint32_t n;
	unsigned bits; /* of each of its runs: OPEN_RUNS_ */
};

struct open_walk {
	unsigned held; /* RUN_UNCONFIRMED, or 0: which runs are taken */
	struct batch plain;
	struct batch script_due;
};

static int
run_add(struct spool *sp, struct spool_run *run, void *arg)
{
	struct open_key open = { run->key, run->submit };
	struct open_walk *walk = arg;
	struct batch *batch = run->flags & RUN_SCRIPT_DUE ? &walk->script_due :
							    &walk->plain;

	if (run->end != 0 ||
	    (run->flags & (RUN_FROM_BACKEND | RUN_QUARANTINED)) ||
	    (run->flags & RUN_UNCONFIRMED) != walk->held)
		return 0;
	wr_open_key(&batch->runs, &open);
	batch->n++;
	return 0;
}

static void
batch_send(struct channel *c, struct batch *batch, int last)
{
	struct writer w;

	if (batch->n == 0 && !last)
		return;
	wr_init(&w, batch->runs.len + 16);
	wr_u8(&w, (uint8_t)((last ? OPEN_RUNS_LAST : 0) | batch->bits));
	wr_u32(&w, batch->n);
	wr_mem(&w, batch->runs.buf, batch->runs.len);
	channel_send(c, MSG_OPEN_RUNS, 0, &w, -1);
	wr_clear(&w);
	wr_reset(&batch->runs);
	batch->n = 0;
}

/* Sends the runs in the first n states; held: see struct open_walk. */
static void
open_runs_walk(struct spool *sp, struct channel *c, struct open_walk *walk,
    unsigned held, unsigned n)
{
	static const enum run_state states[OPEN_STATES] = { START_DUE,
		START_BLOCKED, START_REJECTED, START_CONFLICT, STARTED,
		START_COMMITTED, DELETE_DUE, STOPPED_BY_OTHERS };
	enum dest dest = spool_first_dest(sp);
	struct spool_after after;
	unsigned i;

	walk->held = held;
	walk->plain.bits = held ? OPEN_RUNS_UNCONFIRMED : 0;
	walk->script_due.bits = walk->plain.bits | OPEN_RUNS_SCRIPT_DUE;
	for (i = 0; i < n; i++) {
		memset(&after, 0, sizeof(after));
		while (spool_each(sp, dest, states[i], &after, SPOOL_PAGE,
			   run_add, walk) > 0) {
			batch_send(c, &walk->plain, 0);
			batch_send(c, &walk->script_due, 0);
		}
	}
}

/*
 * Sends the runs that have no end yet, in batches; the last batch is marked.
 * Only the states of such runs are walked: there may be many other runs.
 */
static void
open_runs_send(struct spool *sp, struct channel *c)
{
	struct open_walk walk = { .held = 0 };

	wr_init(&walk.plain.runs, SPOOL_PAGE * OPEN_KEY_MAX);
	wr_init(&walk.script_due.runs, SPOOL_PAGE * OPEN_KEY_MAX);
	open_runs_walk(sp, c, &walk, RUN_UNCONFIRMED, UNCONFIRMED_STATES);
	open_runs_walk(sp, c, &walk, 0, OPEN_STATES);
	batch_send(c, &walk.plain, 1);
	wr_clear(&walk.plain.runs);
	wr_clear(&walk.script_due.runs);
}

static void
stream_positions_send(struct submitter *s, struct channel *c)
{
	const struct cluster_names *names = &s->clusters;
	struct spool_stream at;
	struct writer w;
	unsigned i;

	for (i = 0; i < names->n; i++) {
		if (!spool_stream(s->spool, names->names[i], &at))
			continue;
		wr_init(&w, 256);
		wr_u64(&w, 0);
		wr_str(&w, names->names[i]);
		wr_u64(&w, at.identity);
		wr_u64(&w, at.sequence);
		channel_send(c, MSG_STREAM_POSITION, 0, &w, -1);
		wr_clear(&w);
	}
}

void
snapshot_send(struct submitter *s, struct channel *c)
{
	resume_from_send(s->spool, c);
	if (channel_peer(c) == ROLE_RECEIVER)
		stream_positions_send(s, c);
	open_runs_send(s->spool, c);
}

void
snapshot_send_run(struct channel *c, const struct open_key *open)
{
	struct batch batch = { .n = 1 };

	if (c == NULL)
		return;
	wr_init(&batch.runs, OPEN_KEY_MAX);
	wr_open_key(&batch.runs, open);
	batch_send(c, &batch, 0);
	wr_clear(&batch.runs);
}
