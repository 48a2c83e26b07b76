/* SPDX-License-Identifier: MIT */
/*
 * The lease: single steps, and two centres with one simulated bucket.  Their
 * clocks have other values and run at other speeds; messages are late or lost,
 * links break, processes are stopped, killed and started again.  At no time both
 * are active, and one is active soon after the last fault.
 */
#include "config.h"

#include <limits.h>

#include "receiver/lease/lease.h"
#include "tests/unit/check.h"

#define L      30000
#define MARGIN 20000 /* cc-backend's limit for a request */
#define EVENTS 256
#define HOUR   3600000LL
#define ROUNDS 200
#define FAULTS 40
#define STEPS  100     /* of one wait; more are an endless loop */
#define MOST   1000000 /* steps of a round; more are an endless loop */
#define STATES 16      /* of the bucket that a broker may lose */

/* --- one centre, by hand --- */

static struct {
	unsigned opens, reads, writes, untils;
	uint64_t expect;
	struct lease_value value;
	int64_t until;
	int released, done;
} did;

static int
hand_open(void *arg)
{
	did.opens++;
	return 0;
}

static int
hand_read(void *arg)
{
	did.reads++;
	return 0;
}

static int
hand_write(const struct lease_value *value, uint64_t expect, void *arg)
{
	did.writes++;
	did.value = *value;
	did.expect = expect;
	return 0;
}

static void
hand_until(int64_t until, void *arg)
{
	did.untils++;
	did.until = until;
}

#define EPOCH 1700000000
static int64_t epoch = EPOCH;

static int64_t
hand_epoch(void *arg)
{
	return epoch;
}

static void
hand_released(int done, void *arg)
{
	did.released++;
	did.done = done;
}

static const struct lease_ops hand = { hand_open, hand_read, hand_write,
	hand_until, hand_epoch, hand_released };

static void
by_hand(struct lease *l)
{
	memset(&did, 0, sizeof(did));
	lease_init(l, 7, &hand, NULL);
	lease_conf(l, L, "one");
	lease_link(l, 1, 1000);
	CHECK_INT(did.opens, 1);
	lease_opened(l, 1010);
	CHECK_INT(did.reads, 1);
}

static struct lease_entry
entry_of(uint64_t seq, uint64_t id, uint64_t count)
{
	struct lease_entry e = { .seq = seq,
		.value = { .id = id, .count = count, .ms = L } };

	return e;
}

/* The holder after the whole wait; returns the time. */
static int64_t
becomes_active(struct lease *l)
{
	struct lease_entry e = entry_of(5, 8, 100);
	int64_t now = 1020;
	int i;

	by_hand(l);
	lease_read(l, &e, now);
	for (i = 0; i < STEPS && did.writes == 0; i++) {
		CHECK_INT(did.until, 0);
		now = lease_next(l);
		lease_timer(l, now);
		if (l->step == LEASE_READS)
			lease_read(l, &e, now);
	}
	CHECK_INT(now, 1020 + L + 25000);
	CHECK_INT(did.expect, 5);
	lease_written(l, 6, now + 50);
	CHECK_INT(did.until, now + L);
	return now;
}

static void
test_active(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);

	CHECK_INT(lease_next(&l), t + L / 3);
	lease_timer(&l, t + L / 3);
	CHECK_INT(did.writes, 2);
	CHECK_INT(did.expect, 6);
	CHECK_INT(did.value.count, 2);
	CHECK_STR(did.value.holder, "one");
	/* the time counts from the sending */
	lease_written(&l, 7, t + L / 3 + 4000);
	CHECK_INT(did.until, t + L / 3 + L);
}

/* Was another centre active?  An entry that never changes is no sign of it. */
static void
test_elsewhere(void)
{
	struct lease_entry e = entry_of(9, 8, 101);
	struct lease l;
	int64_t t = becomes_active(&l), now = t + L;

	CHECK_INT(l.elsewhere, 0);
	lease_timer(&l, lease_next(&l));
	lease_refused(&l, now);
	e.value.state = LEASE_CLAIMED;
	lease_read(&l, &e, now);
	CHECK_INT(l.elsewhere, 0);
	lease_timer(&l, lease_next(&l));
	e.seq++;
	e.value.state = LEASE_RELEASED;
	lease_read(&l, &e, l.next - 10);
	CHECK_INT(l.elsewhere, 1700000000);
	by_hand(&l);
	e.value.state = LEASE_HELD;
	lease_read(&l, &e, 1020);
	CHECK_INT(l.elsewhere, 0);
	lease_timer(&l, lease_next(&l));
	e.seq++;
	e.value.count++;
	lease_read(&l, &e, l.next - 10);
	CHECK_INT(l.elsewhere, 1700000000);
}

/* The first entry that a process sees: it was released, by this host or not. */
static void
test_released_elsewhere(void)
{
	struct lease_entry e = entry_of(9, 8, 101);
	struct lease l;

	e.value.state = LEASE_RELEASED;
	e.value.since = 1600000000;
	snprintf(e.value.holder, sizeof(e.value.holder), "two");
	by_hand(&l);
	lease_read(&l, &e, 1020);
	CHECK_INT(did.writes, 1);
	CHECK_INT(l.elsewhere, 1600000000);
	snprintf(e.value.holder, sizeof(e.value.holder), "one");
	by_hand(&l);
	lease_read(&l, &e, 1020);
	CHECK_INT(did.writes, 1);
	CHECK_INT(l.elsewhere, 0);
}

/* No answer: the time ends where it was, and the entry is read first. */
static void
test_silence(void)
{
	struct lease l;
	int64_t t = becomes_active(&l), now = t;
	struct lease_entry e = entry_of(7, 7, 2);
	int i;

	for (i = 0; i < STEPS && did.until != 0; i++) {
		now = lease_next(&l);
		lease_timer(&l, now);
	}
	CHECK_INT(now, t + L);
	CHECK_INT(did.writes, 2);
	/* the write without an answer has arrived; nobody else has written */
	lease_link(&l, 1, now + HOUR);
	lease_opened(&l, now + HOUR);
	lease_read(&l, &e, now + HOUR);
	CHECK_INT(did.writes, 3);
	CHECK_INT(did.expect, 7);
	CHECK_INT(did.until, 0);
	lease_written(&l, 8, now + HOUR + 10);
	CHECK_INT(did.until, now + HOUR + L);
}

static void
test_lost(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);
	struct lease_entry e = entry_of(7, 8, 101);

	lease_timer(&l, t + L / 3);
	lease_refused(&l, t + L / 3 + 10);
	lease_read(&l, &e, t + L / 3 + 20);
	CHECK_INT(did.until, 0);
	CHECK_INT(did.writes, 2);
	CHECK_INT(l.step, LEASE_WAITS);
}

/* An answer that comes after the lease's time is none. */
static void
test_late(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);

	lease_timer(&l, t + L / 3);
	lease_timer(&l, t + L);
	CHECK_INT(did.until, 0);
	lease_written(&l, 7, t + L / 3 + L);
	CHECK_INT(did.until, 0);
}

/* Two writes that name the same sequence were accepted. */
static void
test_not_next(void)
{
	struct lease l;
	int64_t t = becomes_active(&l), now;
	struct lease_entry e = entry_of(8, 7, 2);
	int i;

	lease_timer(&l, t + L / 3);
	lease_written(&l, 8, t + L / 3 + 10);
	CHECK_INT(did.until, 0);
	now = lease_next(&l);
	lease_timer(&l, now);
	lease_read(&l, &e, now);
	/* the entry is of this id and nevertheless not trusted */
	CHECK_INT(did.writes, 2);
	CHECK_INT(did.until, 0);
	t = now;
	for (i = 0; i < STEPS && did.writes == 2; i++) {
		now = lease_next(&l);
		lease_timer(&l, now);
		if (l.step == LEASE_READS)
			lease_read(&l, &e, now);
	}
	CHECK_INT(now, t + L + 25000);
}

/* A copy of this machine writes with the same id. */
static void
test_copy(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);
	struct lease_entry e = entry_of(7, 7, 5);

	lease_timer(&l, t + L / 3);
	lease_refused(&l, t + L / 3 + 10);
	lease_read(&l, &e, t + L / 3 + 20);
	CHECK_INT(did.until, 0);
	CHECK_INT(did.writes, 2);
}

/* A receiver that was started again continues the lease of its submitter. */
static void
test_adopted(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 9, 100);

	e.value.since = 1600000000;
	by_hand(&l);
	lease_link(&l, 0, 1015);
	lease_adopt(&l, 9, 20000, 1015);
	CHECK_INT(did.until, 20000);
	lease_link(&l, 1, 1015);
	lease_opened(&l, 1015);
	lease_read(&l, &e, 1020);
	CHECK_INT(did.writes, 1);
	CHECK_INT(did.expect, 5);
	CHECK_INT(did.value.id, 9);
	CHECK_INT(did.value.count, 101);
	CHECK_INT(did.value.since, 1600000000);
	lease_written(&l, 6, 1030);
	CHECK_INT(did.until, 1020 + L);
	/* it has written: the id of another submitter changes nothing */
	lease_adopt(&l, 10, 0, 1040);
	CHECK_INT(l.id, 9);
}

/* The submitter tells a time that no lease has. */
static void
test_adopted_long(void)
{
	struct lease l;

	by_hand(&l);
	lease_link(&l, 0, 1015);
	lease_adopt(&l, 9, INT64_MAX, 1015);
	CHECK_INT(did.until, 1015 + LEASE_MS_MAX);
}

/* The time of the entry counts, within limits, and not the own one. */
static void
test_times(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 8, 100);

	by_hand(&l);
	CHECK_INT(lease_wait(&l), L + 25000);
	e.value.ms = 3000;
	lease_read(&l, &e, 1020);
	CHECK_INT(lease_wait(&l), 3000 + 2500);
	e.value.ms = INT64_MAX;
	lease_timer(&l, 1020 + 3000 + 2500);
	CHECK_INT(l.step, LEASE_READS);
	lease_read(&l, &e, 9000);
	CHECK_INT(lease_wait(&l), LEASE_MS_MAX + 25000);
}

/* The lease is held since the attempt that succeeded, not since the first one. */
static void
test_since(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 8, 100);

	by_hand(&l);
	e.value.state = LEASE_RELEASED;
	lease_read(&l, &e, 1020);
	CHECK_INT(did.writes, 1);
	CHECK_INT(did.value.since, EPOCH);
	lease_refused(&l, 1030);
	e = entry_of(6, 9, 1);
	lease_read(&l, &e, 1040);
	CHECK_INT(l.step, LEASE_WAITS);
	lease_timer(&l, lease_next(&l));
	e.seq++;
	e.value.state = LEASE_RELEASED;
	epoch = EPOCH + 3600;
	lease_read(&l, &e, l.next - 10);
	CHECK_INT(did.writes, 2);
	CHECK_INT(did.value.since, EPOCH + 3600);
	/* it is renewed with the same time */
	lease_written(&l, 8, l.next - 10);
	epoch++;
	lease_timer(&l, lease_next(&l));
	CHECK_INT(did.writes, 3);
	CHECK_INT(did.value.since, EPOCH + 3600);
	CHECK_INT(l.since, EPOCH + 3600);
	epoch = EPOCH;
}

/* A shorter lease: what others see next is not shorter than the own time. */
static void
test_shorter(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);

	lease_conf(&l, 6000, "one");
	lease_timer(&l, t + L / 3);
	CHECK_INT(did.value.ms, 6000);
	CHECK_INT(did.until, t + L / 3 + 6000);
	/* and a longer one counts from the write that tells it */
	lease_conf(&l, 60000, "one");
	lease_written(&l, 7, t + L / 3 + 10);
	CHECK_INT(did.until, t + L / 3 + 6000);
}

/* A broker that refuses the sequence that it shows is not asked in a loop. */
static void
test_inconsistent(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);
	struct lease_entry e = entry_of(6, 7, 1);

	lease_timer(&l, t + L / 3);
	lease_refused(&l, t + L / 3 + 10);
	lease_read(&l, &e, t + L / 3 + 20);
	CHECK_INT(did.writes, 2);
	CHECK_INT(l.step, LEASE_WAITS);
	CHECK(lease_next(&l) > t + L / 3 + 1000);
	CHECK_INT(did.until, t + L);
}

/* No entry: a claim, which is nobody's lease, and the whole wait. */
static void
test_claim(void)
{
	struct lease l;
	struct lease_entry none = entry_of(0, 0, 0), claim;
	int64_t now = 1020;
	int i;

	by_hand(&l);
	lease_read(&l, &none, now);
	CHECK_INT(did.writes, 1);
	CHECK_INT(did.expect, 0);
	CHECK_INT(did.value.state, LEASE_CLAIMED);
	CHECK_INT(did.value.since, 0);
	CHECK_INT(did.value.ms, L);
	claim = (struct lease_entry) { .seq = 1, .value = did.value };
	lease_written(&l, 1, now += 10);
	CHECK_INT(did.until, 0);
	for (i = 0; i < STEPS && did.writes == 1; i++) {
		now = lease_next(&l);
		lease_timer(&l, now);
		if (l.step == LEASE_READS)
			lease_read(&l, &claim, now);
	}
	CHECK_INT(now, 1030 + L + 25000);
	CHECK_INT(did.value.state, LEASE_HELD);
	CHECK_INT(did.expect, 1);
	CHECK(did.value.since != 0);
}

/*
 * The bucket was deleted twice between two reads: the other centre has made it
 * and was active.  "No entry" is a new sight each time.
 */
static void
test_deleted_twice(void)
{
	struct lease l;
	struct lease_entry none = entry_of(0, 0, 0);
	int64_t now = 1020;

	by_hand(&l);
	lease_read(&l, &none, now);
	lease_refused(&l, now += 10); /* the claim of the other centre */
	lease_failed(&l, "deleted", now += 10);
	now += L + 25000;
	lease_timer(&l, now);
	lease_opened(&l, now);
	lease_read(&l, &none, now);
	CHECK_INT(did.value.state, LEASE_CLAIMED);
	lease_written(&l, 1, now + 10);
	CHECK_INT(did.until, 0);
	CHECK(lease_next(&l) > now);
	CHECK_INT(l.held, 0);
}

/* The bucket of a holder is deleted: its right ends when it sees this. */
static void
test_deleted(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);
	struct lease_entry none = entry_of(0, 0, 0);

	l.seen.value.ms = 2 * L; /* the lease was longer */
	lease_timer(&l, t + L / 3);
	lease_refused(&l, t + L / 3 + 10);
	CHECK_INT(did.until, t + L);
	lease_read(&l, &none, t + L / 3 + 20);
	CHECK_INT(did.until, 0);
	CHECK_INT(did.value.state, LEASE_CLAIMED);
	CHECK_INT(did.value.ms, 2 * L);
}

/*
 * Its time is over.  In a new bucket, another centre may have written as many
 * entries: it reads before it writes.
 */
static void
test_same_number(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);
	struct lease_entry e = entry_of(6, 8, 900);

	lease_timer(&l, t + HOUR);
	CHECK_INT(did.until, 0);
	CHECK_INT(l.step, LEASE_READS);
	lease_read(&l, &e, t + HOUR + 10);
	CHECK_INT(did.writes, 1);
}

/* Its entry was replaced and is there again: the broker has lost a write. */
static void
test_lost_write(void)
{
	struct lease l;
	int64_t t = becomes_active(&l), now = t + L / 3 + 20;
	struct lease_entry other = entry_of(7, 8, 101),
			   ours = entry_of(6, 7, 1);

	lease_timer(&l, t + L / 3);
	lease_refused(&l, now);
	lease_read(&l, &other, now);
	CHECK_INT(did.writes, 2);
	lease_timer(&l, now = lease_next(&l));
	ours.seq = 7; /* as the write that was refused */
	lease_read(&l, &ours, now);
	CHECK_INT(did.writes, 2);
	CHECK_INT(did.until, 0);
	/* it waits as for any other entry */
	lease_timer(&l, now + L + 24999);
	lease_read(&l, &ours, now + L + 24999);
	CHECK_INT(did.writes, 2);
}

/*
 * The write that takes the lease had no answer and has arrived: it may have
 * replaced the entry of another bucket than the one that was read.
 */
static void
test_no_answer(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 8, 100), ours = entry_of(6, 7, 1);
	int64_t t = 1020 + L + 25000;

	by_hand(&l);
	lease_read(&l, &e, 1020);
	lease_timer(&l, t);
	lease_read(&l, &e, t);
	CHECK_INT(did.writes, 1);
	/* an answer after the limit of the request is none */
	lease_written(&l, 6, t + L / 6);
	CHECK_INT(did.until, 0);
	lease_timer(&l, lease_next(&l));
	lease_read(&l, &ours, t + L / 2 - 10);
	CHECK_INT(did.writes, 1);
	lease_timer(&l, t + L / 2 - 10 + L + 25000);
	lease_read(&l, &ours, t + L / 2 - 10 + L + 25000);
	CHECK_INT(did.writes, 2);
}

/* The process was stopped before an answer: what it says may be long ago. */
static void
test_late_read(void)
{
	struct lease l;
	struct lease_entry e = entry_of(1, 8, 100);
	int64_t t = 1020 + L + 25000;

	by_hand(&l);
	lease_read(&l, &e, 1020);
	lease_timer(&l, t);
	CHECK_INT(l.step, LEASE_READS);
	lease_read(&l, &e, t + L / 6);
	CHECK_INT(did.writes, 0);
	CHECK(lease_next(&l) > t);
}

/*
 * The entry of the earlier process is not there: its id is not used again,
 * because its counts would be.
 */
static void
test_not_adopted(void)
{
	struct lease l;
	struct lease_entry none = entry_of(0, 0, 0);

	by_hand(&l);
	lease_link(&l, 0, 1015);
	lease_adopt(&l, 9, 20000, 1015);
	CHECK_INT(lease_id(&l), 9);
	lease_link(&l, 1, 1015);
	lease_opened(&l, 1015);
	lease_read(&l, &none, 1020);
	CHECK_INT(did.until, 0);
	CHECK_INT(did.value.id, 7);
	CHECK_INT(lease_id(&l), 7);
	/* it had no lease */
	by_hand(&l);
	lease_adopt(&l, 9, 0, 1015);
	CHECK_INT(lease_id(&l), 7);
}

/* The free entry is seen: the other centre takes the lease at once. */
static void
test_free(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 8, 100);

	by_hand(&l);
	lease_read(&l, &e, 1020);
	CHECK_INT(did.writes, 0);
	lease_timer(&l, lease_next(&l));
	e.seq = 6;
	e.value.count = 101;
	e.value.state = LEASE_RELEASED;
	lease_read(&l, &e, 1020 + L / 10);
	CHECK_INT(did.writes, 1);
	CHECK_INT(did.expect, 6);
	CHECK_INT(did.value.state, LEASE_HELD);
	lease_written(&l, 7, 1030 + L / 10);
	CHECK_INT(did.until, 1020 + L / 10 + L);
	CHECK(lease_margin(&l) == 25000);
}

/* The right ends before the release is sent. */
static void
test_release(void)
{
	struct lease l;
	int64_t t = becomes_active(&l);

	CHECK_INT(lease_release(&l, t + 100), 0);
	CHECK_INT(did.until, 0);
	CHECK_INT(did.writes, 2);
	CHECK_INT(did.value.state, LEASE_RELEASED);
	CHECK_INT(did.value.since, 1700000000);
	CHECK_INT(did.value.count, 2);
	CHECK_INT(did.expect, 6);
	CHECK_INT(did.released, 0);
	lease_written(&l, 7, t + 110);
	CHECK_INT(did.released, 1);
	CHECK_INT(did.done, 1);
	CHECK_INT(did.until, 0);
	CHECK_INT(lease_next(&l), 0);
}

/* The renewal under way has its answer first. */
static void
test_release_later(void)
{
	struct lease l;
	int64_t t = becomes_active(&l) + L / 3;

	lease_timer(&l, t);
	CHECK_INT(lease_release(&l, t + 10), 0);
	CHECK_INT(did.writes, 2);
	lease_written(&l, 7, t + 20);
	CHECK_INT(did.writes, 3);
	CHECK_INT(did.value.state, LEASE_RELEASED);
	CHECK_INT(did.expect, 7);
	CHECK_INT(did.until, 0);
	/* another centre has written: nothing is released */
	lease_refused(&l, t + 30);
	lease_read(&l, &(struct lease_entry) { .seq = 9 }, t + 40);
	CHECK_INT(did.writes, 3);
	CHECK_INT(did.released, 1);
	CHECK_INT(did.done, 0);
}

/* Without the lease there is nothing to release. */
static void
test_release_none(void)
{
	struct lease l;
	struct lease_entry e = entry_of(5, 8, 100);
	int64_t t;

	by_hand(&l);
	lease_read(&l, &e, 1020);
	CHECK_INT(lease_release(&l, 1030), -1);
	t = becomes_active(&l);
	CHECK_INT(lease_release(&l, t + L), -1);
	t = becomes_active(&l);
	lease_link(&l, 0, t + 10);
	CHECK_INT(lease_release(&l, t + 20), -1);
	CHECK_INT(did.released, 0);
	/* no answer */
	t = becomes_active(&l);
	CHECK_INT(lease_release(&l, t + 20), 0);
	lease_timer(&l, lease_next(&l));
	CHECK_INT(did.released, 1);
	CHECK_INT(did.done, 0);
}

/* --- two centres --- */

enum what {
	REQUEST_OPEN,
	REQUEST_READ,
	REQUEST_WRITE,
	ANSWER
};

struct centre {
	struct lease lease;
	int64_t offset; /* of the clock, ms */
	int64_t ppm;	/* its speed */
	int stopped, away, dead;
	/* answers to others than the last request are lost, as in bucket.c */
	unsigned serial;
	/* of the submitter */
	uint64_t id;
	int64_t until;
	int64_t end; /* of its right to send, true time */
};

static struct event_ {
	int64_t at, sent; /* true times */
	enum what what;
	int from; /* centre */
	unsigned serial;
	unsigned bucket; /* that exists when it is sent */
	struct lease_value value;
	uint64_t expect;
	/* of an answer */
	enum what to;
	int refused, failed;
	struct lease_entry entry;
} events[EVENTS];
static unsigned n_events;

static struct centre centres[2];
static int64_t now; /* true time, ms */
static struct bucket_ {
	int exists;
	struct lease_entry entry;
} kv, kv_old[STATES]; /* kv_old: its states, as a ring */
static unsigned n_old, deletions;
static int keeps; /* the bucket loses no write that it has acknowledged */
static uint64_t ids, seed;
static unsigned steps, released;
static unsigned taken, loss, slow; /* the last two: per cent of messages */
static int last;		   /* centre that was active last */

static uint64_t
dice(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static int64_t
clock_of(const struct centre *c, int64_t t)
{
	return c->offset + t + t * c->ppm / 1000000;
}

/* The first true time at which the clock has this value. */
static int64_t
true_of(const struct centre *c, int64_t value)
{
	int64_t t = (value - c->offset) * 1000000 / (1000000 + c->ppm) - 2;

	while (clock_of(c, t) < value)
		t++;
	return t;
}

static void
event_add(struct event_ *e)
{
	if (dice(100) < loss || n_events == EVENTS)
		return;
	e->sent = now;
	e->at = now + 1 + (int64_t)dice(dice(100) < slow ? 2 * L : 200);
	events[n_events++] = *e;
}

static int
sim_request(struct centre *c, enum what what, const struct lease_value *value,
    uint64_t expect)
{
	struct event_ e = { .what = what,
		.from = (int)(c - centres),
		.serial = ++c->serial,
		.bucket = deletions,
		.expect = expect };

	if (value != NULL)
		e.value = *value;
	if (!c->away)
		event_add(&e);
	return 0;
}

static int
sim_open(void *arg)
{
	return sim_request(arg, REQUEST_OPEN, NULL, 0);
}

static int
sim_read(void *arg)
{
	return sim_request(arg, REQUEST_READ, NULL, 0);
}

/* A release: no request is under way, and the right is over before. */
static int
sim_write(const struct lease_value *value, uint64_t expect, void *arg)
{
	struct centre *c = arg;

	if (value->state == LEASE_RELEASED) {
		CHECK_INT(c->until, 0);
		c->end = 0;
	}
	return sim_request(arg, REQUEST_WRITE, value, expect);
}

/* The property: the right of the other centre was over a margin ago. */
static void
sim_until(int64_t until, void *arg)
{
	struct centre *c = arg, *other = &centres[c == centres];

	c->until = until;
	c->id = lease_id(&c->lease);
	if (until == 0) {
		c->end = c->end < now ? c->end : now;
		return;
	}
	c->end = true_of(c, until);
	if (keeps && other->end != 0 && now - other->end < MARGIN)
		CHECK_INT(now - other->end, MARGIN);
	if (last != (int)(c - centres))
		taken++;
	last = (int)(c - centres);
}

/* The centre ends, with or without an answer to its release. */
static void
sim_released(int done, void *arg)
{
	struct centre *c = arg;

	c->dead = 1;
	released += done;
}

static const struct lease_ops sim_ops = { sim_open, sim_read, sim_write,
	sim_until, hand_epoch, sim_released };

static void
link_set(struct centre *c, int up)
{
	c->serial++;
	c->away = !up;
	lease_link(&c->lease, up, clock_of(c, now));
}

/* A new receiver; the submitter lives or not. */
static void
centre_start(struct centre *c, int submitter_lives)
{
	uint64_t id = submitter_lives ? c->id : 0;

	if (!submitter_lives)
		c->id = 0;
	lease_init(&c->lease, ++ids, &sim_ops, c);
	lease_conf(&c->lease, L, "x");
	/* The requests of a killed submitter end with it, but not at once. */
	lease_adopt(&c->lease, id, c->until, clock_of(c, now));
	c->dead = 0;
	link_set(c, 1);
}

static void
bucket_state(const struct bucket_ *next)
{
	kv_old[n_old++ % STATES] = kv;
	kv = *next;
}

/*
 * An open makes the bucket, other requests fail without it.  A write of more than
 * a lease's time ago does not arrive in another bucket: lease.c does not exclude
 * its effect.
 */
static void
broker(const struct event_ *q)
{
	struct event_ a = { .what = ANSWER,
		.from = q->from,
		.serial = q->serial,
		.to = q->what };
	struct bucket_ next = kv;

	if (q->what == REQUEST_WRITE && q->bucket != deletions &&
	    now - q->sent > L)
		return;
	if (q->what == REQUEST_OPEN)
		kv.exists = 1;
	else if (!kv.exists)
		a.failed = 1;
	else if (q->what == REQUEST_WRITE) {
		a.refused = q->expect != kv.entry.seq;
		next.entry.seq++;
		next.entry.value = q->value;
		if (!a.refused)
			bucket_state(&next);
	}
	a.entry = kv.entry;
	event_add(&a);
}

static void
answer_take(struct centre *c, const struct event_ *a)
{
	int64_t t = clock_of(c, now);

	if (a->serial != c->serial || c->dead || c->away)
		return;
	if (a->failed)
		lease_failed(&c->lease, "there is no bucket", t);
	else if (a->to == REQUEST_OPEN)
		lease_opened(&c->lease, t);
	else if (a->to == REQUEST_READ)
		lease_read(&c->lease, &a->entry, t);
	else if (a->refused)
		lease_refused(&c->lease, t);
	else
		lease_written(&c->lease, a->entry.seq, t);
}

/* The next thing that happens before the true time `end`; 0 = nothing. */
static int
sim_step(int64_t end)
{
	struct event_ e;
	unsigned i, k = EVENTS;
	int64_t at = end, t;
	int timer = -1;

	for (i = 0; i < n_events; i++)
		if (events[i].at < at &&
		    (events[i].what != ANSWER ||
			!centres[events[i].from].stopped)) {
			at = events[i].at;
			k = i;
		}
	for (i = 0; i < 2; i++) {
		if (centres[i].dead || centres[i].stopped ||
		    lease_next(&centres[i].lease) == 0)
			continue;
		t = true_of(&centres[i], lease_next(&centres[i].lease));
		if (t < at) {
			at = t;
			timer = (int)i;
		}
	}
	if (at >= end)
		return 0;
	now = at > now ? at : now;
	if (timer != -1) {
		lease_timer(&centres[timer].lease,
		    clock_of(&centres[timer], now));
		return 1;
	}
	e = events[k];
	events[k] = events[--n_events];
	if (e.what == ANSWER)
		answer_take(&centres[e.from], &e);
	else
		broker(&e);
	return 1;
}

static void
sim_run(int64_t ms)
{
	int64_t end = now + ms;

	while (steps < MOST && sim_step(end))
		steps++;
	CHECK(steps < MOST);
	now = end;
}

/* The bucket is deleted, once or several times, and made again or not. */
static void
bucket_delete(void)
{
	static const struct bucket_ none;
	unsigned n = 1 + (unsigned)dice(4);

	while (n-- > 0) {
		bucket_state(&none);
		deletions++;
		sim_run((int64_t)dice(dice(2) ? 200 : 3 * L));
	}
	kv.exists |= dice(2) == 0;
}

/* The broker starts again with an earlier state. */
static void
bucket_forget(void)
{
	unsigned back = 1 + (unsigned)dice(STATES);

	if (n_old >= back)
		bucket_state(&kv_old[(n_old - back) % STATES]);
}

static void
fault(void)
{
	struct centre *c = &centres[dice(2)];
	int64_t ms = 1 + (int64_t)dice(dice(2) ? 2 * L : 10000);

	switch (dice(10)) {
	case 0: /* SIGSTOP: its answers wait, its timers are late */
		c->stopped = 1;
		sim_run(ms);
		c->stopped = 0;
		break;
	case 1: /* the link */
		link_set(c, 0);
		sim_run(ms);
		link_set(c, 1);
		break;
	case 2: /* the receiver, or both processes */
		c->dead = 1;
		sim_run(ms / 4);
		centre_start(c, dice(2) == 0);
		break;
	case 3: /* messages are lost */
		loss = 60;
		sim_run(ms);
		loss = 0;
		break;
	case 4:
		bucket_delete();
		break;
	case 5: /* during another fault */
		c->stopped = 1;
		bucket_delete();
		c->stopped = 0;
		break;
	case 6:
		if (!keeps)
			bucket_forget();
		sim_run(ms);
		break;
	case 7: /* both processes end in order */
	case 8:
		if (lease_release(&c->lease, clock_of(c, now)) == -1)
			c->dead = 1;
		sim_run(1000);
		c->dead = 1;
		sim_run(dice(2) ? ms : 100);
		centre_start(c, 0);
		break;
	default:
		sim_run(ms);
	}
}

static int
one_is_active(void)
{
	int i, n = 0;

	for (i = 0; i < 2; i++)
		n += centres[i].until > clock_of(&centres[i], now);
	return n;
}

/* Returns how often the lease was taken. */
static unsigned
round_run(uint64_t number, int bucket_keeps)
{
	unsigned i;

	seed = number;
	now = 1000;
	n_events = loss = n_old = steps = 0;
	keeps = bucket_keeps;
	slow = 5;
	memset(&kv, 0, sizeof(kv));
	memset(centres, 0, sizeof(centres));
	last = -1;
	taken = 0;
	for (i = 0; i < 2; i++) {
		centres[i].offset = (int64_t)dice(1000 * HOUR);
		centres[i].ppm = (int64_t)dice(2000) - 1000;
		centre_start(&centres[i], 0);
	}
	for (i = 0; i < FAULTS; i++)
		fault();
	slow = 0;
	sim_run(6 * L); /* the slow messages take 2 L */
	CHECK_INT(one_is_active(), 1);
	return taken;
}

static void
test_two(void)
{
	unsigned round, n, most = 0;

	for (round = 1; round <= ROUNDS; round++) {
		n = round_run(round, 1);
		most = n > most ? n : most;
	}
	CHECK(most >= 3); /* the faults had an effect */
	CHECK(released > 0);
}

/*
 * A bucket with one replica can lose writes.  Two centres can then be active
 * (cc-slurm-adapter-fanin(7), LIMITS), but the end is one centre again.
 */
static void
test_forgetful(void)
{
	unsigned round;

	for (round = 1; round <= ROUNDS; round++)
		round_run(round, 0);
}

int
main(void)
{
	test_active();
	test_elsewhere();
	test_released_elsewhere();
	test_silence();
	test_lost();
	test_late();
	test_not_next();
	test_copy();
	test_adopted();
	test_adopted_long();
	test_times();
	test_since();
	test_shorter();
	test_inconsistent();
	test_claim();
	test_deleted();
	test_deleted_twice();
	test_same_number();
	test_lost_write();
	test_not_adopted();
	test_no_answer();
	test_free();
	test_release();
	test_release_later();
	test_release_none();
	test_late_read();
	test_two();
	test_forgetful();
	return check_done();
}
