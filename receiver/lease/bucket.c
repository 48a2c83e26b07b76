/* SPDX-License-Identifier: MIT */
/* See bucket.h. */
#include "config.h"

#include <sys/random.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/permanent.h"
#include "receiver/lease/bucket.h"
#include "receiver/lease/lease_json.h"

#define REQUEST_MAX 2048 /* bytes */
#define ANSWER_MAX  8192 /* a longer answer is not one of ours */

struct bucket {
	struct link *link;
	struct event *timer;
	void (*until)(int64_t until, void *arg);
	void (*released)(int done, void *arg); /* bucket_release() */
	void *arg;
	unsigned replicas;
	int on;
	int up;		 /* the link */
	int there;	 /* the submitter */
	unsigned serial; /* of the last request */
	char told[LEASE_WHY_MAX];
	struct lease lease;
};

static void
timer_arm(struct bucket *b)
{
	int64_t at = lease_next(&b->lease), now = clock_boot_ms();
	struct timeval tv;

	event_del(b->timer);
	if (at == 0)
		return;
	tv = clock_timeval(at > now ? at - now : 0);
	evtimer_add(b->timer, &tv);
}

/* After each input: a problem is logged once. */
static void
settle(struct bucket *b)
{
	if (b->lease.problem[0] != '\0' &&
	    strcmp(b->lease.problem, b->told) != 0)
		log_warnx("the lease of the active centre: %s; attempts "
			  "continue",
		    b->lease.problem);
	memcpy(b->told, b->lease.problem, sizeof(b->told));
	timer_arm(b);
}

static int
request(struct bucket *b, const char *subject, const struct writer *w,
    const uint64_t *expect)
{
	char answer[32];

	if (w != NULL && wr_end(w) == -1)
		return -1;
	snprintf(answer, sizeof(answer), "lease.%u", ++b->serial);
	if (expect != NULL)
		return link_publish_expect(b->link, subject, answer, w->buf,
		    w->len, *expect);
	return link_publish(b->link, subject, answer, w != NULL ? w->buf : NULL,
	    w != NULL ? w->len : 0);
}

static int
on_open(void *arg)
{
	return request(arg, "$JS.API.STREAM.INFO." LEASE_STREAM, NULL, NULL);
}

static int
bucket_make(struct bucket *b)
{
	struct writer w;
	int rc;

	wr_init(&w, REQUEST_MAX);
	lease_json_bucket(&w, b->replicas);
	rc = request(b, "$JS.API.STREAM.CREATE." LEASE_STREAM, &w, NULL);
	wr_clear(&w);
	return rc;
}

static int
on_read(void *arg)
{
	struct writer w;
	int rc;

	wr_init(&w, REQUEST_MAX);
	lease_json_read_request(&w);
	rc = request(arg, "$JS.API.STREAM.MSG.GET." LEASE_STREAM, &w, NULL);
	wr_clear(&w);
	return rc;
}

static int
on_write(const struct lease_value *value, uint64_t expect, void *arg)
{
	struct writer w;
	int rc;

	wr_init(&w, REQUEST_MAX);
	lease_json_value(&w, value);
	rc = request(arg, LEASE_SUBJECT, &w, &expect);
	wr_clear(&w);
	return rc;
}

static void
on_until(int64_t until, void *arg)
{
	struct bucket *b = arg;

	b->until(until, b->arg);
}

static int64_t
on_epoch(void *arg)
{
	(void)arg;
	return (int64_t)time(NULL);
}

static void
on_released(int done, void *arg)
{
	struct bucket *b = arg;

	b->on = 0; /* a new connection does not take the lease again */
	b->released(done, b->arg);
}

static const struct lease_ops ops = {
	.open = on_open,
	.read = on_read,
	.write = on_write,
	.until = on_until,
	.epoch = on_epoch,
	.released = on_released,
};

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct bucket *b = arg;

	(void)fd;
	(void)what;
	lease_timer(&b->lease, clock_boot_ms());
	settle(b);
}

/* The answer to a question for the bucket, or to its creation. */
static void
opens_answer(struct bucket *b, const struct lease_answer *a, int64_t now)
{
	if (a->error == LEASE_NO_STREAM) {
		if (bucket_make(b) == -1)
			lease_failed(&b->lease, "the request cannot be sent",
			    now);
	} else if (a->error != LEASE_OK || !a->has_config)
		lease_failed(&b->lease,
		    a->error != LEASE_OK ? a->why :
					   "the answer is not complete",
		    now);
	else
		lease_opened(&b->lease, now);
}

static void
answer(struct bucket *b, const struct lease_answer *a, int64_t now)
{
	struct lease *l = &b->lease;

	if (l->step == LEASE_OPENS)
		opens_answer(b, a, now);
	else if (l->step == LEASE_READS && a->error == LEASE_NO_ENTRY)
		lease_read(l, &(const struct lease_entry) { 0 }, now);
	else if (l->step == LEASE_WRITES && a->error == LEASE_CHANGED)
		lease_refused(l, now);
	else if (a->error != LEASE_OK)
		lease_failed(l, a->why, now);
	else if (l->step == LEASE_READS && a->entry.seq != 0)
		lease_read(l, &a->entry, now);
	else if (l->step == LEASE_WRITES && a->seq != 0)
		lease_written(l, a->seq, now);
	else
		lease_failed(l, "the answer is not complete", now);
}

int
bucket_message(struct bucket *b, const struct link_message *m)
{
	int64_t now = clock_boot_ms();
	struct lease_answer a;
	unsigned serial;

	if (m->tail == NULL || strncmp(m->tail, "lease.", 6) != 0)
		return 0;
	if (sscanf(m->tail + 6, "%u", &serial) != 1 || serial != b->serial)
		return 1; /* too late */
	if (m->status != 0)
		lease_failed(&b->lease,
		    "JetStream is not available, or the request is not "
		    "permitted",
		    now);
	else if (m->len > ANSWER_MAX ||
	    lease_json_answer(&a, m->data, m->len) == -1)
		lease_failed(&b->lease, "the broker's answer is not valid",
		    now);
	else
		answer(b, &a, now);
	settle(b);
	return 1;
}

static void
link_settle(struct bucket *b)
{
	b->serial++; /* a late answer is ignored */
	lease_link(&b->lease, b->on && b->up && b->there, clock_boot_ms());
	settle(b);
}

void
bucket_link(struct bucket *b, int up)
{
	b->up = up;
	link_settle(b);
}

void
bucket_submitter(struct bucket *b, int there, uint64_t id, int64_t until)
{
	b->there = there;
	lease_adopt(&b->lease, id, until, clock_boot_ms());
	link_settle(b);
}

void
bucket_conf(struct bucket *b, int on, int64_t ms, unsigned replicas)
{
	char host[LEASE_HOLDER_MAX];

	if (gethostname(host, sizeof(host)) == -1)
		snprintf(host, sizeof(host), "unknown host");
	host[sizeof(host) - 1] = '\0';
	lease_conf(&b->lease, ms, host);
	b->replicas = replicas;
	if (on == b->on)
		return;
	b->on = on;
	link_settle(b);
}

int
bucket_release(struct bucket *b, void (*released)(int done, void *arg))
{
	int rc;

	b->released = released;
	rc = lease_release(&b->lease, clock_boot_ms());
	settle(b);
	return rc;
}

int64_t
bucket_margin(const struct bucket *b)
{
	return lease_margin(&b->lease);
}

int
bucket_elsewhere(struct bucket *b, int64_t age)
{
	int64_t at = b->lease.elsewhere;

	b->lease.elsewhere = 0;
	return at != 0 && on_epoch(b) - at < age;
}

uint64_t
bucket_id(const struct bucket *b)
{
	return lease_id(&b->lease);
}

int64_t
bucket_until(const struct bucket *b)
{
	return b->lease.until > clock_boot_ms() ? b->lease.until : 0;
}

void
bucket_status(const struct bucket *b, struct bucket_status *st)
{
	const struct lease *l = &b->lease;

	st->active = bucket_until(b) != 0;
	st->since = st->active ? l->since : 0;
	st->holder = l->known && l->seen.seq != 0 &&
		l->seen.value.state == LEASE_HELD ?
	    l->seen.value.holder :
	    "";
	st->holder_since = l->seen.value.since;
	st->over = l->held && !st->active;
	st->unchanged = l->known && !st->active ? clock_boot_ms() - l->seen_at :
						  0;
	st->problem = l->problem;
}

struct bucket *
bucket_new(struct event_base *base, struct link *link,
    void (*until)(int64_t until, void *arg), void *arg)
{
	struct bucket *b = permanent_new(sizeof(*b));
	uint64_t id = 0;

	while (id == 0)
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			fatal("no random numbers");
	b->link = link;
	b->until = until;
	b->arg = arg;
	b->timer = evtimer_new(base, on_timer, b);
	if (b->timer == NULL)
		fatalx("out of memory");
	lease_init(&b->lease, id, &ops, b);
	return b;
}
