/* SPDX-License-Identifier: MIT */
/*
 * Shares of the spool at the centre of a fan-in.  A cluster whose runs use more
 * bytes than are free has used its share: the receiver fetches none of its
 * messages, which wait in its own stream.  One cluster thus gets half of the
 * shared part at most, two get a third each, and the others always find space.
 *
 * The end of an open run is behind other messages of its stream.  A cluster that
 * would wait for the ends of its own runs would wait for ever.  So a cluster above
 * its share is read while few of its runs wait for delivery, up to 15/16 of what
 * the other clusters leave of the shared part: the spool is never full of runs
 * that only other messages can end.  At this limit the scripts of runs whose start
 * is delivered are removed.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "submitter/intake/intake_private.h"
#include "submitter/spool/commit.h"

#define SHARED_PERCENT 80 /* of spoolMaxBytes; below the limits of space.c */
/* This part of the shared part is left by a cluster whose runs are open. */
#define OPEN_REST(bytes) ((bytes) / 16)
/*
 * A cluster that waits is read again below this part of what is free.  Open runs that
 * wait for their ends do not become fewer: it is read as soon as there is space.
 */
#define AGAIN(bytes)	  ((bytes) / 8 * 7)
#define OPEN_AGAIN(bytes) ((bytes) - (bytes) / 64)

#define WAIT_FEW  16 /* runs: a cluster with more of them waits for delivery */
#define DROP_ROWS 64 /* scripts removed after a commit */
#define SHED_MS	  10000 /* between two searches for scripts */

static int
is_held(const struct intake *b, const char *cluster)
{
	unsigned i;

	for (i = 0; i < b->n_held; i++)
		if (strcmp(b->held[i], cluster) == 0)
			return 1;
	return 0;
}

static void
hold_send(struct intake *b, const char *cluster, int hold)
{
	struct writer w;

	if (b->collector == NULL || channel_peer(b->collector) != ROLE_RECEIVER)
		return;
	wr_init(&w, CLUSTER_MAX + 8);
	wr_str(&w, cluster);
	wr_u8(&w, (uint8_t)hold);
	channel_send(b->collector, MSG_STREAM_HOLD, 0, &w, -1);
	wr_clear(&w);
}

static void
hold_change(struct intake *b, const char *cluster, int64_t bytes, int hold)
{
	log_about(LOG_ID_NONE, cluster, 0);
	if (hold)
		log_limited(&b->share_used, log_warnx,
		    "the runs of cluster %s use %lld KiB, its share of "
		    "the spool: its messages wait in its stream until "
		    "runs are delivered or spoolMaxBytes is raised",
		    cluster, (long long)(bytes >> 10));
	else
		log_limited(&b->share_free, log_notice,
		    "the messages of cluster %s are read again", cluster);
	hold_send(b, cluster, hold);
}

static int64_t
shared_bytes(const struct spool *sp)
{
	return (int64_t)(spool_bytes_max(sp) / 100 * SHARED_PERCENT);
}

/*
 * The limit of a cluster whose runs are delivered.  If the others use the whole
 * shared part, as after spoolMaxBytes was reduced, a small cluster is still read.
 */
static int64_t
open_most(const struct intake *b, int64_t others)
{
	int64_t shared = shared_bytes(b->s->spool);
	int64_t most = shared - others - OPEN_REST(shared - others);
	int64_t least = OPEN_REST(shared) / (b->s->clusters.n + 1);

	return most > least ? most : least;
}

static int64_t
open_limit(const struct intake *b, const char *cluster)
{
	const struct spool *sp = b->s->spool;

	return open_most(b, spool_shares_all(sp) - spool_share(sp, cluster));
}

static int64_t
bytes_that_count(const struct intake *b, const char *cluster)
{
	int64_t most = spool_share_most(b->s->spool, cluster);

	return most > open_limit(b, cluster) ?
	    most :
	    spool_share(b->s->spool, cluster);
}

/* Is the cluster above its share, and why must it wait? */
static int
must_wait(struct intake *b, const char *cluster, int64_t room, int was)
{
	struct spool *sp = b->s->spool;
	int64_t bytes = spool_share(sp, cluster);
	int64_t most = open_limit(b, cluster);

	if (spool_share_most(sp, cluster) > (was ? OPEN_AGAIN(most) : most)) {
		b->shedding = 1;
		return 1;
	}
	return bytes > (was ? AGAIN(room) : room) &&
	    spool_share_waits(sp, cluster) > WAIT_FEW;
}

/*
 * Removes scripts, some after each commit.  Starts that are delivered later make
 * another search necessary.
 */
static void
scripts_shed(struct intake *b)
{
	int64_t now = spool_now(b->s->spool);

	if (!b->shedding)
		return;
	if (b->shed_at == 0 || now - b->shed_at >= SHED_MS) {
		b->shed_at = now;
		spool_evict_begin(b->s->spool);
	}
	if (spool_drop_scripts(b->s->spool, DROP_ROWS) != 0)
		commit_soon(b->s->commit);
}

void
share_check(struct intake *b)
{
	const struct cluster_names *names = &b->s->clusters;
	struct spool *sp = b->s->spool;
	int64_t room, all = spool_shares_all(sp);
	unsigned i, n = 0;
	int was, hold;

	if (!spool_policy(sp)->from_stream)
		return;
	room = shared_bytes(sp) - all;
	if (room < 0)
		room = 0;
	b->shedding = 0;
	if (b->n_held == 0 && all <= room &&
	    spool_share_largest(sp) <= open_most(b, all))
		return;
	for (i = 0; i < names->n; i++) {
		was = is_held(b, names->names[i]);
		/* A single cluster has nobody to leave space for. */
		hold = names->n > 1 && must_wait(b, names->names[i], room, was);
		if (hold != was)
			hold_change(b, names->names[i],
			    bytes_that_count(b, names->names[i]), hold);
		b->next_held[n] = (uint16_t)i;
		n += (unsigned)hold;
	}
	for (i = 0; i < n; i++)
		snprintf(b->held[i], CLUSTER_MAX, "%s",
		    names->names[b->next_held[i]]);
	b->n_held = n;
	scripts_shed(b);
}

void
share_tell(struct intake *b)
{
	unsigned i;

	for (i = 0; i < b->n_held; i++)
		hold_send(b, b->held[i], 1);
}
