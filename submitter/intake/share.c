/* SPDX-License-Identifier: MIT */
/*
 * Shares of the spool at the centre of a fan-in.  A cluster whose runs use more
 * bytes than are free has used its share: the receiver fetches none of its
 * messages, which wait in its own stream.  One cluster thus gets half of the
 * spool at most, two get a third each, and the others always find space.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "submitter/intake/intake_private.h"

#define SHARED_PERCENT 80 /* of spoolMaxBytes; below the limits of space.c */
/* A cluster that waits is read again below this part of what is free. */
#define AGAIN(bytes) ((bytes) / 8 * 7)

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
		log_warnx("the runs of cluster %s use %lld KiB, its share of "
			  "the spool: its messages wait in its stream until "
			  "runs are delivered or spoolMaxBytes is raised",
		    cluster, (long long)(bytes >> 10));
	else
		log_notice("cluster %s has space in the spool again", cluster);
	hold_send(b, cluster, hold);
}

void
share_check(struct intake *b)
{
	const struct cluster_names *names = &b->s->clusters;
	struct spool *sp = b->s->spool;
	int64_t room, bytes, all = spool_shares_all(sp);
	unsigned i, n = 0;
	int was, hold;

	if (!spool_policy(sp)->from_stream)
		return;
	room = (int64_t)(spool_bytes_max(sp) / 100 * SHARED_PERCENT) - all;
	if (room < 0)
		room = 0;
	if (b->n_held == 0 && all <= room)
		return;
	for (i = 0; i < names->n; i++) {
		bytes = spool_share(sp, names->names[i]);
		was = is_held(b, names->names[i]);
		/* A single cluster has nobody to leave space for. */
		hold = names->n > 1 && bytes > (was ? AGAIN(room) : room);
		if (hold != was)
			hold_change(b, names->names[i], bytes, hold);
		b->next_held[n] = (uint16_t)i;
		n += (unsigned)hold;
	}
	for (i = 0; i < n; i++)
		snprintf(b->held[i], CLUSTER_MAX, "%s",
		    names->names[b->next_held[i]]);
	b->n_held = n;
}

void
share_tell(struct intake *b)
{
	unsigned i;

	for (i = 0; i < b->n_held; i++)
		hold_send(b, b->held[i], 1);
}
