/* SPDX-License-Identifier: MIT */
/*
 * The durable state of a backfill, and what of it the spool has to know while
 * records are stored.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "submitter/reconcile/backfill_private.h"
#include "submitter/spool/commit.h"

#define STATE "backfill" /* key of the value in the spool */
/* version 1 has no number of restored runs, version 2 no --nats */
#define STATE_VERSION 3u

void
state_save(struct backfill *b)
{
	struct writer w;

	wr_init(&w, 512);
	wr_u32(&w, STATE_VERSION);
	wr_u8(&w, (uint8_t)b->active);
	wr_str(&w, b->whose.cluster);
	wr_i64(&w, b->from);
	wr_i64(&w, b->to);
	wr_i64(&w, b->at);
	wr_u64(&w, b->seen);
	wr_u64(&w, b->added);
	wr_u64(&w, b->restored);
	wr_u8(&w, (uint8_t)b->nats);
	wr_i64(&w, b->asked);
	wr_i64(&w, b->id);
	wr_i64(&w, b->nats_until);
	if (wr_end(&w) == 0)
		spool_value_set(b->s->spool, STATE, w.buf, w.len);
	wr_clear(&w);
	commit_soon(b->s->commit);
}

void
state_load(struct backfill *b)
{
	struct reader r;
	uint32_t version;
	uint8_t *p;
	size_t n;

	p = spool_value_get(b->s->spool, STATE, &n);
	if (p == NULL)
		return;
	rd_init(&r, p, n);
	version = rd_u32(&r);
	if (version >= 1 && version <= STATE_VERSION) {
		b->active = rd_u8(&r);
		rd_name(&r, b->whose.cluster, sizeof(b->whose.cluster));
		b->from = rd_time(&r);
		b->to = rd_time(&r);
		b->at = rd_time(&r);
		b->seen = rd_u64(&r);
		b->added = rd_u64(&r);
		b->restored = version == 1 ? 0 : rd_u64(&r);
		if (version >= 3) {
			b->nats = rd_u8(&r) != 0;
			b->asked = rd_i64(&r);
			b->id = rd_time(&r);
			b->nats_until = rd_time(&r);
		}
	} else
		rd_fail(&r);
	if (rd_end(&r) == -1)
		b->active = 0;
	b->began = spool_now(b->s->spool);
	b->began_at = b->at;
	free(p);
}

void
nats_policy(struct backfill *b)
{
	struct spool_republish *r = &spool_policy(b->s->spool)->republish;

	r->records = is_by_nats(b);
	r->before = b->nats && b->active ? b->asked : 0;
	r->from = b->from;
	r->until = b->nats_until;
	r->id = b->id;
	snprintf(r->cluster, sizeof(r->cluster), "%s", b->whose.cluster);
}
