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

#include "common/crash.h"
#include "common/log.h"
#include "submitter/submitter.h"

#define COMMIT_MS	8	/* at most this long until a record is on disk */
#define TOUCH_MS	50	/* the same of what can be done over: answers taken */
#define FRAMES_MAX	256	/* more uncommitted frames are committed at once */
#define STUCK_MS	1000	/* until a disk that took nothing is tried again */
#define WARN_PERCENT	80	/* of spoolMaxBytes */
#define FULL_PERCENT	90	/* the collector holds back: the rest is for what it may send still */
#define ROOM_PERCENT	85	/* it goes on */

/* A frame that is not yet durable. */
struct frame {
	struct frame	*next;
	uint16_t	 type;
	size_t		 len;
	uint8_t		 bytes[];
};

struct backlog {
	struct submitter *s;
	struct channel	*collector;
	struct event	*timer;
	struct frame	*first, **last;	/* since the last commit */
	unsigned	 n_frames;
	uint64_t	 seq;		/* of the last frame applied */
	uint64_t	 stored;	/* acknowledged */
	int		 armed;		/* ms the timer was set to; 0 = it rests */
	int		 stuck;
	int		 said_full;
	int		 full;		/* by spoolMaxBytes: the collector was told */
	struct run_key	 skips[SKIPS_MAX];
	unsigned	 n_skips;
	struct log_limit refused;
};

static void
flow_send(struct backlog *b, int hold)
{
	struct writer w;

	if (b->collector == NULL)
		return;
	wr_init(&w, 1);
	wr_u8(&w, (uint8_t)hold);
	channel_send(b->collector, MSG_FLOW, 0, &w, -1);
	wr_clear(&w);
}

static void
stored_send(struct backlog *b)
{
	struct writer w;

	if (b->collector == NULL || b->stored == b->seq)
		return;
	wr_init(&w, 8);
	wr_u64(&w, b->seq);
	channel_send(b->collector, MSG_STORED, 0, &w, -1);
	wr_clear(&w);
	b->stored = b->seq;
}

static void
frames_drop(struct backlog *b)
{
	struct frame *f;

	while ((f = b->first) != NULL) {
		b->first = f->next;
		free(f);
	}
	b->last = &b->first;
	b->n_frames = 0;
}

static int
is_skipped(const struct backlog *b, const struct run_key *key)
{
	unsigned i;

	for (i = 0; i < b->n_skips; i++)
		if (run_key_equal(&b->skips[i], key))
			return 1;
	return 0;
}

/* The key at the beginning of a record's bytes, without reading the rest. */
static void
key_peek(const uint8_t *p, size_t n, struct run_key *key)
{
	struct reader r;

	rd_init(&r, p, n);
	rd_u8(&r);
	rd_run_key(&r, key);
	if (r.err)
		memset(key, 0, sizeof(*key));
}

static void
say_refused(struct backlog *b, const struct run_key *key)
{
	unsigned held;

	b->s->n.records_refused++;
	if (log_allowed(&b->refused, &held))
		log_info("a record of job %llu (%s) makes no run; %u more since "
		    "the last such line", (unsigned long long)key->job,
		    key->cluster, held);
}

/* 0, or -1 for the disk; *bad: the frame was no record. */
static int
record_apply(struct backlog *b, struct reader *r, int *bad)
{
	struct submitter *s = b->s;
	struct run_key key;
	struct job job;
	enum spool_put rc = PUT_REFUSED;
	int64_t id;

	key_peek(r->p, r->left, &key);
	if (is_skipped(b, &key))
		return spool_put_skipped(s->spool, &key, r->p, r->left) ==
		    PUT_ERROR ? -1 : 0;
	job_init(&job);
	slate_write(s->w->slate, &key);
	job_read(r, &job);
	*bad = rd_end(r) == -1;
	if (!*bad)
		rc = spool_put(s->spool, &job, &id);
	slate_wipe(s->w->slate);
	s->n.records++;
	if (rc == PUT_NEW)
		s->n.records_new++;
	else if (rc == PUT_REFUSED && !*bad)
		say_refused(b, &key);
	job_clear(&job);
	return rc == PUT_ERROR ? -1 : 0;
}

static int
mark_apply(struct backlog *b, struct reader *r, int *bad)
{
	char cluster[CLUSTER_MAX];
	unsigned source;
	int64_t until;

	rd_name(r, cluster, sizeof(cluster));
	source = rd_u8(r);
	until = rd_i64(r);
	*bad = rd_end(r) == -1;
	if (*bad || source != MARK_ACCOUNTING || cluster[0] == '\0')
		return 0;
	return spool_mark(b->s->spool, cluster, until);
}

static int
denied_apply(struct backlog *b, struct reader *r, int *bad)
{
	char cluster[CLUSTER_MAX];
	struct run_key key;
	uint32_t n;

	rd_name(r, cluster, sizeof(cluster));
	rd_u64(r);		/* the question's number */
	for (n = rd_u32(r); n > 0 && !r->err; n--) {
		rd_run_key(r, &key);
		if (!r->err)
			denial_take(b->s->denial, &key);
	}
	*bad = rd_end(r) == -1;
	return 0;
}

/* Puts one frame into the open transaction; the reader stands at its payload. */
static int
frame_apply(struct backlog *b, uint16_t type, struct reader *r, int *bad)
{
	uint64_t seq = rd_u64(r);
	int rc;

	*bad = 0;
	if (type == MSG_RECORD)
		rc = record_apply(b, r, bad);
	else if (type == MSG_MARK)
		rc = mark_apply(b, r, bad);
	else
		rc = denied_apply(b, r, bad);
	if (rc == 0 && !*bad)
		b->seq = seq;
	return rc;
}

static int
frame_keep(struct backlog *b, uint16_t type, const uint8_t *p, size_t n)
{
	struct frame *f = malloc(sizeof(*f) + n);

	if (f == NULL)
		return -1;
	f->next = NULL;
	f->type = type;
	f->len = n;
	memcpy(f->bytes, p, n);
	*b->last = f;
	b->last = &f->next;
	b->n_frames++;
	return 0;
}

static void
timer_arm(struct backlog *b, int ms)
{
	if (b->armed != 0 && b->armed <= ms)
		return;
	b->armed = ms;
	submitter_after(b->timer, ms);
}

static void
stuck_begin(struct backlog *b)
{
	spool_rollback(b->s->spool);
	relay_rolled_back(b->s->relay);
	if (!b->stuck) {
		log_errorx("the spool takes nothing: %s; what Slurm tells waits "
		    "until it does", spool_error(b->s->spool));
		flow_send(b, 1);
	}
	b->stuck = 1;
	submitter_after(b->timer, STUCK_MS);
	b->armed = 1;	/* nothing shortens it */
}

static void
size_check(struct backlog *b)
{
	uint64_t max = spool_bytes_max(b->s->spool);
	uint64_t now = spool_bytes(b->s->spool);
	int full = now >= max / 100 * (b->full ? ROOM_PERCENT : FULL_PERCENT);

	if (now < max / 100 * WARN_PERCENT)
		b->said_full = 0;
	else if (!b->said_full) {
		log_warnx("the spool holds %llu of %llu KiB (spoolMaxBytes)",
		    (unsigned long long)(now >> 10),
		    (unsigned long long)(max >> 10));
		b->said_full = 1;
	}
	if (full == b->full)
		return;
	b->full = full;
	if (full)
		log_errorx("the spool is full (spoolMaxBytes): what ends now "
		    "waits in Slurm's accounting until some of it is delivered");
	else
		log_notice("the spool has room again");
	flow_send(b, full || b->stuck);
}

int
backlog_flush(struct backlog *b)
{
	if (b->stuck)
		return -1;
	CRASH_POINT("store");
	if (spool_commit(b->s->spool) == -1) {
		stuck_begin(b);
		return -1;
	}
	CRASH_POINT("stored");
	frames_drop(b);
	stored_send(b);
	b->s->n.commits++;
	size_check(b);
	return 0;
}

/* The disk may take it now: first what the relay did, then the frames. */
static void
stuck_retry(struct backlog *b)
{
	struct frame *f;
	struct reader r;
	int bad, rc;

	rc = spool_commit(b->s->spool);
	for (f = b->first; f != NULL && rc == 0; f = f->next) {
		rd_init(&r, f->bytes, f->len);
		rc = frame_apply(b, f->type, &r, &bad);
	}
	if (rc == 0)
		rc = spool_commit(b->s->spool);
	if (rc == -1) {
		stuck_begin(b);
		return;
	}
	b->stuck = 0;
	log_notice("the spool takes records again");
	frames_drop(b);
	stored_send(b);
	flow_send(b, b->full);
	relay_kick(b->s->relay);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct backlog *b = arg;

	(void)fd;
	(void)what;
	b->armed = 0;
	if (b->stuck)
		stuck_retry(b);
	else if (spool_dirty(b->s->spool) || b->first != NULL) {
		if (backlog_flush(b) == 0)
			relay_kick(b->s->relay);
	}
}

void
backlog_touch(struct backlog *b)
{
	timer_arm(b, TOUCH_MS);
}

int
backlog_stuck(const struct backlog *b)
{
	return b->stuck;
}

void
backlog_frame(struct backlog *b, const struct msg_header *h, struct reader *r)
{
	const uint8_t *p = r->p;
	size_t n = r->left;
	int bad = 0;

	if (frame_keep(b, h->type, p, n) == -1) {
		channel_broken(b->collector, "out of memory");
		return;
	}
	if (b->stuck)
		return;
	if (frame_apply(b, h->type, r, &bad) == -1) {
		stuck_begin(b);
		return;
	}
	if (bad) {
		channel_broken(b->collector, msg_name(h->type));
		return;
	}
	CRASH_POINT("accept");
	if (b->n_frames >= FRAMES_MAX) {
		if (backlog_flush(b) == 0)
			relay_kick(b->s->relay);
	} else
		timer_arm(b, COMMIT_MS);
}

void
backlog_skip(struct backlog *b, const struct run_key *key)
{
	struct spool_run run;

	log_errorx("job %llu (%s, start %lld) is set aside: a worker died on it "
	    "twice", (unsigned long long)key->job, key->cluster,
	    (long long)key->start);
	if (b->n_skips < SKIPS_MAX)
		b->skips[b->n_skips++] = *key;
	if (spool_find(b->s->spool, key, &run) == 1)
		spool_put_skipped(b->s->spool, key, NULL, 0);
	backlog_touch(b);
}

void
backlog_peer(struct backlog *b, struct channel *c)
{
	/* The old collector's frames come again from the new one. */
	if (b->stuck)
		frames_drop(b);
	else if (b->first != NULL)
		backlog_flush(b);
	b->collector = c;
	b->seq = b->stored = 0;
	if (c == NULL)
		return;
	backlog_tell(b->s->spool, c);
	if (b->stuck || b->full)
		flow_send(b, 1);
}

struct backlog *
backlog_new(struct submitter *s)
{
	struct backlog *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->s = s;
	b->last = &b->first;
	b->timer = submitter_timer(s, on_timer, b);
	if (b->timer == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void
backlog_free(struct backlog *b)
{
	if (b == NULL)
		return;
	frames_drop(b);
	event_free(b->timer);
	free(b);
}
