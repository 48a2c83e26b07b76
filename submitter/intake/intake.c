/* SPDX-License-Identifier: MIT */
/*
 * Receives records and stores them in the spool.  All records of a few
 * milliseconds share a commit and are acknowledged after it.  Their bytes are
 * kept in memory until then: if the disk refuses a write, they are written
 * again, and `flow` makes the collector keep the records of ended runs.  The
 * collector itself limits the unacknowledged records.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "submitter/base/timer.h"
#include "submitter/intake/intake_private.h"
#include "submitter/spool/commit.h"

#define COMMIT_MS 8 /* longest time until a record is durable */
/* ms until space is searched again after a commit */
#define FULL_MS 50
/* this many uncommitted messages are committed at once */
#define FRAMES_MAX 256
/* More than the collector keeps unacknowledged, with the overhead here. */
#define BYTES_MAX (96u * 1024 * 1024)

static void
record_ack_send(struct intake *b)
{
	struct writer w;

	if (b->collector == NULL || b->acked == b->seq)
		return;
	wr_init(&w, 8);
	wr_u64(&w, b->seq);
	channel_send(b->collector, MSG_RECORD_ACK, 0, &w, -1);
	wr_clear(&w);
	b->acked = b->seq;
}

/*
 * Drops the messages that are durable; all: those that a new collector sends
 * again, too.
 */
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

int
intake_rolled_back(struct intake *b)
{
	b->next = b->first;
	b->n_applied = 0;
	/* otherwise messages that wait would be acknowledged */
	b->seq = b->acked;
	timer_arm(b, COMMIT_MS);
	return space_release_reserve(b);
}

/*
 * Applies as many messages as there is space for. 0, or -1 when the disk
 * refuses a write or a message is invalid.
 */
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
			commit_fail(b->s->commit);
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
intake_retry(struct intake *b)
{
	return frames_apply(b);
}

void
intake_committed(struct intake *b)
{
	frames_drop(b, 0);
	record_ack_send(b);
	space_check(b);
	share_check(b);
	if (b->space != SPACE_OK)
		timer_arm(b, FULL_MS);
	else if (b->next != NULL)
		timer_arm(b, 0);
}

static void
step(struct intake *b)
{
	int wait = b->space != SPACE_OK ? space_free_some(b) : 0;

	if (b->space == SPACE_OK && frames_apply(b) == -1)
		return;
	if (spool_dirty(b->s->spool) || b->first != b->next) {
		if (commit_now(b->s->commit) == 0)
			wake(b->s, WAKE_DELIVERY);
	} else if (b->space != SPACE_OK) {
		space_check(b);
		wait = b->space == SPACE_OK ? 0 : wait;
	}
	if (!commit_is_stuck(b->s->commit) &&
	    (b->space != SPACE_OK || b->next != NULL))
		timer_arm(b, wait);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct intake *b = arg;

	b->armed = 0;
	if (!commit_is_stuck(b->s->commit))
		step(b);
}

void
intake_receive(struct intake *b, const struct msg_header *h, struct reader *r)
{
	struct intake_frame *f = b->bytes + r->left > BYTES_MAX ?
	    NULL :
	    frame_keep(b, h->type, r->p, r->left);

	if (f == NULL) {
		channel_broken(b->collector,
		    b->bytes + r->left > BYTES_MAX ?
			"more messages than may wait" :
			"out of memory");
		return;
	}
	if (commit_is_stuck(b->s->commit))
		return;
	if (b->space != SPACE_OK) {
		if (frame_resources(b, f) == -1)
			commit_fail(b->s->commit);
	} else if (frames_apply(b) == -1)
		return;
	if (b->n_applied >= FRAMES_MAX) {
		if (commit_now(b->s->commit) == 0)
			wake(b->s, WAKE_DELIVERY);
	} else if (!commit_is_stuck(b->s->commit))
		timer_arm(b, COMMIT_MS);
}

int
intake_has_room(const struct intake *b)
{
	return !commit_is_stuck(b->s->commit) && b->space == SPACE_OK;
}

void
intake_upkeep(struct intake *b)
{
	if (commit_is_stuck(b->s->commit))
		return;
	space_make_reserve(b);
	share_check(b);
}

void
intake_status(struct intake *b, uint64_t request)
{
	static const char *const holds[] = {
		[SPACE_OK] = "accepts records",
		[SPACE_FULL] = "full: spoolMaxBytes",
		[SPACE_DISK_FULL] = "full: the disk",
	};
	struct spool *sp = b->s->spool;
	struct worker *w = b->s->w;

	worker_status(w, request, "spool", "%s",
	    commit_is_stuck(b->s->commit) ? "refuses writes" : holds[b->space]);
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

#define NEARLY_FULL_PERCENT 80 /* as the warning of space_check() */

void
intake_summary(struct intake *b, struct summary *to)
{
	struct spool *sp = b->s->spool;
	uint64_t used = spool_bytes(sp), max = spool_bytes_max(sp);
	const char *waits = spool_policy(sp)->from_stream ?
	    "new records wait in the streams of their clusters" :
	    "ended jobs wait in Slurm's accounting";

	to->lost = b->s->n.resources_refused;
	if (commit_is_stuck(b->s->commit) || spool_failed(sp))
		summary_add(to, PROBLEM_SPOOL, 0, 0,
		    "the spool cannot be written: %.200s", spool_error(sp));
	else if (b->space == SPACE_FULL)
		summary_add(to, PROBLEM_SPOOL, 0, 0,
		    "the spool is full (spoolMaxBytes): %s", waits);
	else if (b->space == SPACE_DISK_FULL)
		summary_add(to, PROBLEM_SPOOL, 0, 0,
		    "the disk of the spool is full: %s", waits);
	else if (used >= max / 100 * NEARLY_FULL_PERCENT)
		summary_add(to, PROBLEM_SPACE, 0, 0,
		    "the spool is nearly full: at least %d %% of spoolMaxBytes "
		    "are in use",
		    NEARLY_FULL_PERCENT);
	else if (!b->reserve)
		summary_add(to, PROBLEM_SPACE, 0, 0,
		    "the disk of the spool is nearly full: there is no space "
		    "for the reserve");
}

void
intake_quarantine(struct intake *b, const struct run_key *key)
{
	struct spool_run run;

	log_about(LOG_ID_QUARANTINED, key->cluster, key->job);
	log_errorx("%s is in quarantine: a worker died twice on its record",
	    run_key_text(key));
	if (b->n_quarantined < QUARANTINE_MAX)
		b->quarantined[b->n_quarantined++] = *key;
	if (spool_find(b->s->spool, key, &run) == 1)
		spool_put_quarantined(b->s->spool, key, NULL, 0);
	commit_soon(b->s->commit);
}

void
intake_peer(struct intake *b, struct channel *c)
{
	/* The new collector sends the messages of the old one again. */
	if (!commit_is_stuck(b->s->commit) && b->first != b->next)
		commit_now(b->s->commit);
	frames_drop(b, 1);
	b->collector = c;
	b->seq = b->acked = 0;
	if (c == NULL)
		return;
	share_tell(b);
	snapshot_send(b->s, c);
	if (!intake_has_room(b))
		intake_flow(b);
}

struct intake *
intake_new(struct submitter *s, const struct intake_ops *ops)
{
	struct intake *b = permanent_new(sizeof(*b));

	b->s = s;
	b->ops = ops;
	b->last = &b->first;
	b->timer = timer_new(s, on_timer, b);
	return b;
}
