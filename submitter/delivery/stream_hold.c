/* SPDX-License-Identifier: MIT */
/*
 * Streams that do not accept records: full, missing, without a leader, or not
 * permitted.  The rows of their clusters wait together for the next try; the rows
 * of other clusters are published.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"

/* ms between two tries */
#define HOLD_FIRST 1000
#define HOLD_MOST  2000
/* ms after which a try has failed, above the time of its answer */
#define TRY_MS 10000

static struct stream_hold *
hold_find(struct stream_hold *holds, const char *cluster)
{
	int i;

	for (i = 0; i < STREAM_HOLDS; i++)
		if (strcmp(holds[i].cluster, cluster) == 0)
			return &holds[i];
	return NULL;
}

int64_t
stream_hold_set(struct submitter *s, struct stream_hold *holds,
    const char *cluster, int64_t wait, const char *why)
{
	struct stream_hold *h = hold_find(holds, cluster);
	int64_t now = spool_now(s->spool);

	if (h == NULL)
		h = hold_find(holds, "");
	if (h == NULL)
		return now + HOLD_MOST;
	if (h->until > now && !h->trying)
		return h->until; /* of the same batch */
	h->trying = 0;
	if (h->until == 0 || strcmp(h->why, why) != 0)
		log_warnx("NATS: the stream of cluster %s does not accept "
			  "records: %s; the records stay in the spool and are "
			  "tried again",
		    cluster, why);
	if (h->until == 0)
		h->since = (int64_t)time(NULL);
	snprintf(h->cluster, sizeof(h->cluster), "%s", cluster);
	snprintf(h->why, sizeof(h->why), "%s", why);
	if (wait == 0)
		wait = timer_backoff(h->tries++, HOLD_FIRST, HOLD_MOST);
	h->until = now + wait;
	return h->until;
}

int
stream_hold_clear(struct stream_hold *holds, const char *cluster)
{
	struct stream_hold *h = hold_find(holds, cluster);

	if (h == NULL || h->until == 0)
		return 0;
	log_notice("NATS: the stream of cluster %s accepts records again",
	    cluster);
	memset(h, 0, sizeof(*h));
	return 1;
}

int64_t
stream_hold_until(struct submitter *s, const struct stream_hold *holds,
    const char *cluster)
{
	int i;

	for (i = 0; i < STREAM_HOLDS; i++)
		if (strcmp(holds[i].cluster, cluster) == 0 &&
		    holds[i].until > spool_now(s->spool))
			return holds[i].until;
	return 0;
}

int64_t
stream_hold_try(struct submitter *s, struct stream_hold *holds,
    const char *cluster)
{
	struct stream_hold *h = hold_find(holds, cluster);
	int64_t now = spool_now(s->spool);

	if (h == NULL || h->until == 0)
		return 0;
	if (h->until > now)
		return h->until;
	h->trying = 1;
	h->until = now + TRY_MS;
	return 0;
}

void
stream_hold_try_end(struct submitter *s, struct stream_hold *holds,
    const char *cluster)
{
	struct stream_hold *h = hold_find(holds, cluster);

	if (h == NULL || !h->trying)
		return;
	h->trying = 0;
	h->until = spool_now(s->spool);
}

void
stream_hold_end_waits(struct submitter *s, struct stream_hold *holds)
{
	int i;

	for (i = 0; i < STREAM_HOLDS; i++)
		if (holds[i].until != 0) {
			holds[i].until = spool_now(s->spool);
			holds[i].tries = 0;
		}
}
