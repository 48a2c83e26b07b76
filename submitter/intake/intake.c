/* SPDX-License-Identifier: MIT */
/*
 * Records on their way into the spool.  All that comes within a few
 * milliseconds shares a commit, and only then is it acknowledged.  The bytes
 * are kept until that: when the disk takes nothing they are tried again, the
 * collector is told to hold back, and what it may send without our word is
 * bounded by itself.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/intake/intake_private.h"

#define COMMIT_MS	8	/* at most this long until a record is on disk */
#define TOUCH_MS	50	/* the same of what can be done over: answers taken */
#define FRAMES_MAX	256	/* more uncommitted frames are committed at once */
#define STUCK_MS	1000	/* until a disk that took nothing is tried again */
/* More than the collector keeps unacknowledged, with what that costs here. */
#define BYTES_MAX	(96u * 1024 * 1024)

void
intake_flow(struct intake *b)
{
	struct writer w;

	if (b->collector == NULL)
		return;
	wr_init(&w, 1);
	wr_u8(&w, b->stuck || b->space != SPACE_OK);
	channel_send(b->collector, MSG_FLOW, 0, &w, -1);
	wr_clear(&w);
}

static void
stored_send(struct intake *b)
{
	struct writer w;

	if (b->collector == NULL || b->stored == b->seq)
		return;
	wr_init(&w, 8);
	wr_u64(&w, b->seq);
	channel_send(b->collector, MSG_RECORD_ACK, 0, &w, -1);
	wr_clear(&w);
	b->stored = b->seq;
}

/* Those that are durable, or (all) that come again from a new collector. */
static void
frames_drop(struct intake *b, int all)
{
	struct intake_frame *f;

	while ((f = b->first) != NULL && (all || f != b->next)) {
		b->first = f->next;
		b->bytes -= f->len;
		free(f);
	}
	if (b->first == NULL)
		b->last = &b->first;
	if (all)
		b->next = NULL;
	b->n_applied = 0;
}

static struct intake_frame *
frame_keep(struct intake *b, uint16_t type, const uint8_t *p, size_t n)
{
	struct intake_frame *f = malloc(sizeof(*f) + n);

	if (f == NULL)
		return NULL;
	f->next = NULL;
	f->type = type;
	f->len = n;
	memcpy(f->bytes, p, n);
	*b->last = f;
	b->last = &f->next;
	b->bytes += n;
	if (b->next == NULL)
		b->next = f;
	return f;
}

static void
timer_arm(struct intake *b, int ms)
{
	if (b->armed != 0 && b->armed <= ms + 1)
		return;
	b->armed = ms + 1;
	timer_after(b->timer, ms);
}

static void
timer_stuck(struct intake *b)
{
	timer_after(b->timer, STUCK_MS);
	b->armed = 1;	/* nothing shortens it */
}

/*
 * The disk took nothing.  A full one gets the reserve, once: then records wait
 * as in a full spool, and the rest goes on.
 */
static void
stuck_begin(struct intake *b)
{
	spool_rollback(b->s->spool);
	rest_delivery_rolled_back(b->s->delivery);
	b->next = b->first;
	b->n_applied = 0;
	b->seq = b->stored;	/* or held frames would be acknowledged */
	if (space_release_reserve(b)) {
		if (spool_commit(b->s->spool) == 0) {
			b->stuck = 0;
			timer_arm(b, COMMIT_MS);
			return;
		}
		spool_rollback(b->s->spool);
	}
	b->stuck = 1;
	if (!b->said_stuck) {
		log_errorx("the spool takes nothing: %s; what Slurm tells waits "
		    "until it does", spool_error(b->s->spool));
		b->said_stuck = 1;
		intake_flow(b);
	}
	timer_stuck(b);
}

/* As many of them as there is room for.  0, or -1: the disk, or a frame that is none. */
static int
frames_apply(struct intake *b)
{
	struct reader r;
	struct intake_frame *f;
	int bad;

	while ((f = b->next) != NULL && b->n_applied < FRAMES_MAX &&
	    space_admit(b, f)) {
		rd_init(&r, f->bytes, f->len);
		if (frame_apply(b, f->type, &r, &bad) == -1) {
			stuck_begin(b);
			return -1;
		}
		if (bad) {
			channel_broken(b->collector, msg_name(f->type));
			return -1;
		}
		b->next = f->next;
		b->n_applied++;
		CRASH_POINT("accept");
	}
	return 0;
}

int
commit_now(struct intake *b)
{
	if (b->stuck)
		return -1;
	CRASH_POINT("store");
	if (spool_commit(b->s->spool) == -1) {
		stuck_begin(b);
		return -1;
	}
	CRASH_POINT("stored");
	frames_drop(b, 0);
	stored_send(b);
	b->s->n.commits++;
	space_check(b);
	if (b->space == SPACE_OK && b->next != NULL)
		timer_arm(b, 0);
	return 0;
}

/* The disk may take it now: first what the admin did, then the frames. */
static void
stuck_retry(struct intake *b)
{
	b->stuck = 0;
	if (frames_apply(b) == -1 || commit_now(b) == -1)
		return;
	if (b->said_stuck)
		log_notice("the spool takes records again");
	b->said_stuck = 0;
	intake_flow(b);
	rest_delivery_kick(b->s->delivery);
}

static void
step(struct intake *b)
{
	int wait = b->space != SPACE_OK ? space_free_some(b) : 0;

	if (b->space == SPACE_OK && frames_apply(b) == -1)
		return;
	if (spool_dirty(b->s->spool) || b->first != b->next) {
		if (commit_now(b) == 0)
			rest_delivery_kick(b->s->delivery);
	} else if (b->space != SPACE_OK) {
		space_check(b);
		wait = b->space == SPACE_OK ? 0 : wait;
	}
	if (!b->stuck && (b->space != SPACE_OK || b->next != NULL))
		timer_arm(b, wait);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct intake *b = arg;

	(void)fd;
	(void)what;
	b->armed = 0;
	if (b->stuck)
		stuck_retry(b);
	else
		step(b);
}

void
commit_soon(struct intake *b)
{
	timer_arm(b, TOUCH_MS);
}

int
commit_is_stuck(const struct intake *b)
{
	return b->stuck;
}

void
intake_receive(struct intake *b, const struct msg_header *h, struct reader *r)
{
	struct intake_frame *f = b->bytes + r->left > BYTES_MAX ? NULL :
	    frame_keep(b, h->type, r->p, r->left);

	if (f == NULL) {
		channel_broken(b->collector, b->bytes + r->left > BYTES_MAX ?
		    "more than may wait" : "out of memory");
		return;
	}
	if (b->stuck)
		return;
	if (b->space != SPACE_OK) {
		if (frame_resources(b, f) == -1)
			stuck_begin(b);
	} else if (frames_apply(b) == -1)
		return;
	if (b->n_applied >= FRAMES_MAX) {
		if (commit_now(b) == 0)
			rest_delivery_kick(b->s->delivery);
	} else if (!b->stuck)
		timer_arm(b, COMMIT_MS);
}

int
intake_has_room(const struct intake *b)
{
	return !b->stuck && b->space == SPACE_OK;
}

void
intake_upkeep(struct intake *b)
{
	if (!b->stuck)
		space_make_reserve(b);
}

void
intake_status(struct intake *b, uint64_t request)
{
	static const char *const holds[] = {
		[SPACE_OK] = "takes records",
		[SPACE_FULL] = "full: spoolMaxBytes",
		[SPACE_DISK_FULL] = "full: the disk",
	};
	struct spool *sp = b->s->spool;
	struct worker *w = b->s->w;

	worker_status(w, request, "spool", "%s", b->stuck ? "takes nothing" :
	    holds[b->space]);
	worker_status(w, request, "spool_bytes_max", "%llu",
	    (unsigned long long)spool_bytes_max(sp));
	worker_status(w, request, "spool_held", "%llu",
	    (unsigned long long)b->bytes);
	worker_status(w, request, "spool_stubs", "%llu",
	    (unsigned long long)spool_resources_count(sp));
	worker_status(w, request, "spool_stubs_refused", "%llu",
	    (unsigned long long)b->s->n.resources_refused);
	if (spool_low_water(sp) != 0)
		worker_status(w, request, "spool_floor", "%lld",
		    (long long)spool_low_water(sp));
	worker_status(w, request, "records_beyond", "%llu",
	    (unsigned long long)spool_below_low_water(sp));
}

void
intake_quarantine(struct intake *b, const struct run_key *key)
{
	struct spool_run run;

	log_errorx("job %llu (%s, start %lld) is set aside: a worker died on it "
	    "twice", (unsigned long long)key->job, key->cluster,
	    (long long)key->start);
	if (b->n_quarantined < QUARANTINE_MAX)
		b->quarantined[b->n_quarantined++] = *key;
	if (spool_find(b->s->spool, key, &run) == 1)
		spool_put_quarantined(b->s->spool, key, NULL, 0);
	commit_soon(b);
}

void
intake_peer(struct intake *b, struct channel *c)
{
	/* The old collector's frames come again from the new one. */
	if (!b->stuck && b->first != b->next)
		commit_now(b);
	frames_drop(b, 1);
	b->collector = c;
	b->seq = b->stored = 0;
	if (c == NULL)
		return;
	snapshot_send(b->s->spool, c);
	if (b->stuck || b->space != SPACE_OK)
		intake_flow(b);
}

struct intake *
intake_new(struct submitter *s)
{
	struct intake *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->s = s;
	b->last = &b->first;
	b->timer = timer_new(s, on_timer, b);
	if (b->timer == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void
intake_free(struct intake *b)
{
	if (b == NULL)
		return;
	frames_drop(b, 1);
	event_free(b->timer);
	free(b);
}
