/* SPDX-License-Identifier: MIT */
/*
 * The lease: one entry in a bucket of JetStream, which its holder writes again
 * each third of the lease's time L.
 *
 * Why two centres are never active at the same time:
 *
 * 1. Each write names the sequence of the entry that it replaces, and JetStream
 *    refuses it when the entry has another one.  Of several writes that name the
 *    same sequence, one succeeds.  Its sequence is the next number, because the
 *    stream has no other messages; an answer with another number counts as
 *    refused.  The precondition is a bucket that loses no write that it has
 *    acknowledged: with one replica, a broker can lose the last writes when its
 *    power fails (cc-slurm-adapter-fanin(7), LIMITS).
 * 2. The holder is active until L after the time at which it SENT the last write
 *    that was acknowledged.  The write takes effect later than that.
 * 3. Another centre writes when it has seen the same entry for L and a margin.
 *    It saw the entry after the holder had sent it.  So the holder's time is
 *    over by the margin when the other centre writes; if the holder has written
 *    in the meantime, the sequence is another one, and the write of the other
 *    centre is refused.  An entry that is read from a broker with an old state
 *    only makes the write fail.
 * 4. L is that of the entry, so that two centres with different configurations
 *    agree.  A holder that writes a shorter L ends its own time before it sends.
 * 5. Clocks of two hosts are never compared; durations are, and the margin is
 *    large against their difference.  CLOCK_BOOTTIME runs while a process is
 *    stopped and while a host is suspended.  It does not run in a virtual
 *    machine that its host has paused.
 * 6. The submitter has the end of the time, too.  It starts no request whose
 *    limit of time is later, ends those under way at that time, and its kernel
 *    sends no byte of them afterwards (submitter/net/http.c).  The margin is 25 s:
 *    cc-backend works at most 20 s on a request that it has received.
 * 7. A bucket that was deleted and made again begins with sequence 1.  Entries
 *    are the same only if sequence, id and count are: a process never writes a
 *    count twice with its id.  "No entry" has none of these.  A centre that sees
 *    no entry is not active, writes a claim, and waits for L and the margin
 *    from the answer, as every other centre that sees the claim.  What was
 *    written to a deleted bucket was sent before the claim was stored.
 *    An entry of a new bucket is thus held at the earliest L and the margin
 *    after the deletion, and has at least sequence 2; only from then on a write
 *    that was meant for an entry of the old bucket can find its sequence in the
 *    new one.  So a centre whose time is over reads before it writes, an answer
 *    counts only within a sixth of L, also in a process that was stopped, and an
 *    entry is a centre's own only until this centre has seen another one.
 *
 * 8. A holder whose daemon is stopped releases the lease, in this order: its
 *    submitter starts no request any more; none is under way, and each request
 *    of the margin before had its answer, so that cc-backend works on none; the
 *    holder's time ends; the holder writes that the lease is free, with the
 *    sequence of its own entry.  Nothing is left to wait for: the other centre
 *    takes the lease when it sees this entry, by a write with its sequence.
 *    Without an answer to one request, the holder ends without a release, as one
 *    that is killed.
 *
 * The rest is not excluded, but has no effect on jobs: a process that is stopped
 * between its look at the clock and its system call, a paused virtual machine, a
 * request on which cc-backend works for longer than its limit, a write that
 * arrives in another bucket than the one that it was meant for.  A start that is
 * sent twice is one start, and a stop is sent after a list of its own.
 *
 * A centre keeps its id while its submitter or its receiver lives: a restarted
 * receiver continues the lease.  When both have ended, or when the earlier
 * receiver was not active, the id is a new one, and the centre waits like the
 * other one.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "receiver/lease/lease.h"

/*
 * cc-backend's limit for a request and 5 s; with a lease below 30 s, for which
 * -test warns, in proportion.
 */
#define MARGIN_MS 25000
#define WRITES	  3  /* in the time of a lease */
#define LOOKS	  15 /* of the standby, in the same time */

static int64_t
interval(const struct lease *l)
{
	return l->ms / WRITES;
}

static int64_t
margin_of(int64_t ms)
{
	int64_t margin = ms / 6 * 5;

	return margin < MARGIN_MS ? margin : MARGIN_MS;
}

int64_t
lease_wait(const struct lease *l)
{
	int64_t ms = l->known && l->seen.seq != 0 ? l->seen.value.ms : l->ms;

	return ms + margin_of(ms);
}

int64_t
lease_margin(const struct lease *l)
{
	return margin_of(l->ms);
}

static void
until_set(struct lease *l, int64_t until)
{
	if (until == l->until)
		return;
	l->until = until;
	if (until == 0)
		l->since = 0;
	l->ops->until(until, l->arg);
}

/* Waits for the answer of a request; rc as of its function. */
static void
step_begin(struct lease *l, enum lease_step step, int rc, int64_t now)
{
	l->step = step;
	l->next = now + interval(l) / 2;
	if (rc == -1)
		lease_failed(l, "the request cannot be sent", now);
}

static void
wait_until(struct lease *l, int64_t at)
{
	l->step = LEASE_WAITS;
	l->next = at;
}

static void
entry_read(struct lease *l, int64_t now)
{
	step_begin(l, LEASE_READS, l->ops->read(l->arg), now);
}

static void
value_send(struct lease *l, struct lease_value *value, int64_t now)
{
	value->id = l->id;
	value->count = ++l->count;
	memcpy(value->holder, l->holder, sizeof(value->holder));
	l->expect = l->seen.seq;
	l->sent = now;
	l->sent_value = *value;
	l->doubt = 1;
	step_begin(l, LEASE_WRITES, l->ops->write(value, l->expect, l->arg),
	    now);
}

static void
release_end(struct lease *l, int done)
{
	l->releases = 0;
	l->step = LEASE_IDLE;
	l->next = 0;
	l->ops->released(done, l->arg);
}

/* Renews, takes or releases the lease. */
static void
entry_write(struct lease *l, int64_t now)
{
	struct lease_value value = { .state = LEASE_HELD, .ms = l->ms };

	if (l->releases) {
		value.state = LEASE_RELEASED;
		value.since = l->ops->epoch(l->arg);
		until_set(l, 0);
		value_send(l, &value, now);
		return;
	}
	/* An attempt that failed has left its time. */
	if (l->since == 0 || l->until == 0)
		l->since = l->ops->epoch(l->arg);
	value.since = l->since;
	/*
	 * Another centre that reads this entry waits only for the time in it.
	 */
	if (l->until > now + l->ms)
		until_set(l, now + l->ms);
	value_send(l, &value, now);
}

/*
 * Writes a claim, because there is no entry.  The lease of the last entry that
 * was seen may be longer than ours.
 */
static void
claim_write(struct lease *l, int64_t now)
{
	int64_t last = l->seen.value.ms;
	struct lease_value value = { .state = LEASE_CLAIMED,
		.ms = last > l->ms ? last : l->ms };

	value_send(l, &value, now);
}

/*
 * Has this centre written the entry, and can no other centre have replaced it
 * before?  A write that took the lease counts only with its answer.
 */
static int
is_ours(const struct lease *l, const struct lease_entry *e)
{
	if (e->seq == 0 || e->value.state != LEASE_HELD)
		return 0;
	if (l->adopts)
		return e->value.id == l->adopts;
	/* A copy of this machine has written an entry with a higher count. */
	return e->value.id == l->id && e->value.count <= l->count && l->held;
}

/* Continues the lease of the earlier process, or keeps an id of our own. */
static void
adopts_end(struct lease *l, const struct lease_entry *e)
{
	if (l->held && l->adopts) {
		l->id = l->adopts;
		l->count = e->value.count;
		l->since = e->value.since;
	}
	l->adopts = 0;
}

/*
 * The epoch at which another centre was active, by this entry; 0 = by this entry
 * none was.  The writer of an entry that has changed lives.  The first entry that
 * is seen is no sign of that; but only an active centre releases the lease.
 */
static int64_t
active_elsewhere(const struct lease *l, const struct lease_entry *e)
{
	const struct lease_value *v = &e->value;

	if (e->seq == 0 || v->id == l->id || v->state == LEASE_CLAIMED)
		return 0;
	if (l->known)
		return l->ops->epoch(l->arg);
	if (v->state == LEASE_RELEASED && strcmp(v->holder, l->holder) != 0)
		return v->since;
	return 0;
}

static void
entry_note(struct lease *l, const struct lease_entry *e, int64_t now)
{
	int64_t last = l->seen.value.ms;
	int same = l->known && l->seen.seq == e->seq &&
	    l->seen.value.id == e->value.id &&
	    l->seen.value.count == e->value.count;
	int64_t elsewhere = same ? 0 : active_elsewhere(l, e);

	if (!same)
		l->seen_at = now;
	if (elsewhere != 0)
		l->elsewhere = elsewhere;
	l->known = 1;
	l->seen = *e;
	if (e->seq == 0) {
		l->seen.value.ms = last;
		return;
	}
	if (l->seen.value.ms < LEASE_MS_MIN || l->seen.value.ms > LEASE_MS_MAX)
		l->seen.value.ms = LEASE_MS_MAX;
}

/* The process was stopped, or this turn of its loop was long. */
static int
is_late(struct lease *l, int64_t now)
{
	if (now < l->next)
		return 0;
	lease_failed(l, "the answer is late", now);
	return 1;
}

void
lease_read(struct lease *l, const struct lease_entry *e, int64_t now)
{
	int64_t due, soon = now + l->ms / LOOKS;

	if (l->step != LEASE_READS || is_late(l, now))
		return;
	l->problem[0] = '\0';
	l->held = is_ours(l, e);
	adopts_end(l, e);
	entry_note(l, e, now);
	if (!l->held)
		until_set(l, 0);
	due = l->seen_at + lease_wait(l);
	if (l->releases && !l->held)
		release_end(l, 0);
	else if (l->refused && e->seq == l->expect)
		/* the broker is not consistent yet */
		wait_until(l, now + interval(l));
	else if (e->seq == 0)
		claim_write(l, now);
	else if (l->held || now >= due || e->value.state == LEASE_RELEASED)
		entry_write(l, now);
	else
		wait_until(l, due < soon ? due : soon);
	l->refused = 0;
}

void
lease_written(struct lease *l, uint64_t seq, int64_t now)
{
	int64_t until = l->sent + l->sent_value.ms;

	if (l->step != LEASE_WRITES || is_late(l, now))
		return;
	if (seq != l->expect + 1) {
		l->held = 0;
		until_set(l, 0);
		lease_failed(l, "the bucket has accepted two writes", now);
		return;
	}
	l->problem[0] = '\0';
	l->held = l->sent_value.state == LEASE_HELD;
	l->known = 1;
	l->doubt = 0;
	l->seen.seq = seq;
	l->seen.value = l->sent_value;
	l->seen_at = now;
	if (l->sent_value.state == LEASE_RELEASED) {
		release_end(l, 1);
		return;
	}
	if (l->held && until > now)
		until_set(l, until);
	if (l->held && l->releases)
		entry_write(l, now);
	else
		wait_until(l, l->sent + interval(l));
}

void
lease_refused(struct lease *l, int64_t now)
{
	if (l->step != LEASE_WRITES)
		return;
	l->refused = 1;
	entry_read(l, now);
}

void
lease_opened(struct lease *l, int64_t now)
{
	if (l->step != LEASE_OPENS)
		return;
	l->opened = 1;
	entry_read(l, now);
}

void
lease_failed(struct lease *l, const char *why, int64_t now)
{
	if (l->step == LEASE_IDLE || l->step == LEASE_WAITS)
		return;
	snprintf(l->problem, sizeof(l->problem), "%s", why);
	if (l->releases) {
		release_end(l, 0);
		return;
	}
	if (l->step == LEASE_READS)
		l->opened = 0; /* the bucket may have been deleted */
	wait_until(l, now + interval(l) / 2);
}

static void
step_next(struct lease *l, int64_t now)
{
	switch (l->step) {
	case LEASE_OPENS:
	case LEASE_READS:
	case LEASE_WRITES:
		lease_failed(l, "JetStream does not answer", now);
		break;
	case LEASE_WAITS:
		if (!l->opened)
			step_begin(l, LEASE_OPENS, l->ops->open(l->arg), now);
		else if (l->held && !l->doubt && l->until > now)
			entry_write(l, now);
		else
			entry_read(l, now);
		break;
	case LEASE_IDLE:
	default:
		break;
	}
}

void
lease_timer(struct lease *l, int64_t now)
{
	if (l->until != 0 && now >= l->until)
		until_set(l, 0);
	if (l->next != 0 && now >= l->next)
		step_next(l, now);
}

int64_t
lease_next(const struct lease *l)
{
	if (l->until != 0 && (l->next == 0 || l->until < l->next))
		return l->until;
	return l->next;
}

void
lease_link(struct lease *l, int up, int64_t now)
{
	l->doubt = 1;
	l->opened = 0;
	l->step = LEASE_IDLE;
	l->next = 0;
	if (up)
		step_begin(l, LEASE_OPENS, l->ops->open(l->arg), now);
}

void
lease_adopt(struct lease *l, uint64_t id, int64_t until, int64_t now)
{
	/*
	 * If until is 0, the last write of the earlier process may have had no
	 * answer.
	 */
	if (id == 0 || until == 0 || l->count != 0)
		return;
	l->adopts = id;
	/* No lease lasts longer: the submitter may be compromised. */
	if (until > now + LEASE_MS_MAX)
		until = now + LEASE_MS_MAX;
	if (until > now)
		until_set(l, until);
}

/* The release is written after the answer to a write under way. */
int
lease_release(struct lease *l, int64_t now)
{
	if (!l->held || l->until <= now || l->step == LEASE_IDLE)
		return -1;
	l->releases = 1;
	if (l->step == LEASE_WAITS)
		step_next(l, now);
	return 0;
}

uint64_t
lease_id(const struct lease *l)
{
	return l->adopts != 0 ? l->adopts : l->id;
}

void
lease_conf(struct lease *l, int64_t ms, const char *holder)
{
	l->ms = ms;
	snprintf(l->holder, sizeof(l->holder), "%s", holder);
}

void
lease_init(struct lease *l, uint64_t id, const struct lease_ops *ops, void *arg)
{
	memset(l, 0, sizeof(*l));
	l->id = id;
	l->ops = ops;
	l->arg = arg;
	l->ms = LEASE_MS_MAX;
}
