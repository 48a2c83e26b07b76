/* SPDX-License-Identifier: MIT */
/*
 * Runs in doubt - open in cc-backend and not known here, known here and not
 * shown there, or held because nobody saw them running - are asked of Slurm, by
 * way of the collector: in batches of one cluster each.  See missing_runs.c.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "submitter/base/context.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

#define LOOKUP_BATCH	256	/* keys of one question to the collector */

/* One question to the collector: keys of one cluster. */
struct question {
	struct submitter *s;
	uint64_t	*number;	/* of the last question */
	char		 cluster[CLUSTER_MAX];
	struct writer	 keys;
	uint32_t	 n;
};

static void
question_send(struct question *q)
{
	struct channel *c = q->s->w->peers[ROLE_COLLECTOR];
	struct writer w;

	if (q->n > 0 && c != NULL) {
		wr_init(&w, q->keys.len + CLUSTER_MAX + 32);
		wr_str(&w, q->cluster);
		wr_u64(&w, ++*q->number);
		wr_u32(&w, q->n);
		wr_mem(&w, q->keys.buf, q->keys.len);
		channel_send(c, MSG_LOOKUP, 0, &w, -1);
		wr_clear(&w);
	}
	wr_reset(&q->keys);
	q->n = 0;
}

static int
question_add(struct spool *sp, struct spool_run *run, void *arg)
{
	struct question *q = arg;

	(void)sp;
	if (!(run->flags & (RUN_FROM_BACKEND | RUN_MISSING_IN_BACKEND | RUN_UNCONFIRMED)) ||
	    strcmp(run->key.cluster, q->cluster) != 0)
		return 0;
	wr_run_key(&q->keys, &run->key);
	if (++q->n == LOOKUP_BATCH)
		question_send(q);
	return 0;
}

void
lookup_send(struct submitter *s, uint64_t *number)
{
	struct question q = { .s = s, .number = number };
	struct spool_after after;
	struct run_key name;
	int64_t cursor;
	unsigned i;

	wr_init(&q.keys, LOOKUP_BATCH * (CLUSTER_MAX + 32));
	for (i = 0; spool_cluster(s->spool, i, &name, &cursor); i++) {
		snprintf(q.cluster, sizeof(q.cluster), "%s", name.cluster);
		memset(&after, 0, sizeof(after));
		while (spool_each(s->spool, DEST_REST, START_COMMITTED, &after,
		    SPOOL_PAGE, question_add, &q) == SPOOL_PAGE)
			continue;
		/* What is held is due after all others. */
		after = (struct spool_after){ .due = DUE_UNCONFIRMED };
		while (spool_each(s->spool, DEST_REST, START_DUE, &after,
		    SPOOL_PAGE, question_add, &q) == SPOOL_PAGE)
			continue;
		question_send(&q);
	}
	wr_clear(&q.keys);
}
