/* SPDX-License-Identifier: MIT */
/*
 * The event queue over a real channel, whose other end stands for the
 * collector.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/log.h"
#include "listener/listener.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

static struct event_base *base;

static struct {
	uint64_t ids[64];
	char credentials[64][HOOK_CREDENTIAL_MAX];
	uint64_t jobs[64];
	int n;
} got;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	char cluster[CLUSTER_MAX], credential[HOOK_CREDENTIAL_MAX];
	uint64_t id = rd_u64(r), job;

	rd_name(r, cluster, sizeof(cluster));
	job = rd_u64(r);
	rd_u8(r);
	rd_i64(r);
	rd_name(r, credential, sizeof(credential));
	CHECK_INT(h->type, MSG_EVENT);
	CHECK_INT(rd_end(r), 0);
	CHECK_STR(cluster, "alpha");
	if (got.n < 64) {
		got.ids[got.n] = id;
		snprintf(got.credentials[got.n], sizeof(got.credentials[0]),
		    "%s", credential);
		got.jobs[got.n++] = job;
	}
}

static const struct channel_ops ops = { on_frame, channel_pair_broken, NULL };

static void
link_open(struct channel_pair *link)
{
	channel_pair_open(link, base, ROLE_LISTENER, ROLE_COLLECTOR, &ops);
	got.n = 0;
}

static int
say(struct event_queue *e, uint64_t job)
{
	struct hook_message msg = { .cluster = "alpha", .job = job };

	return event_queue_add(e, &msg, 1000);
}

static void
test_events(void)
{
	struct event_queue *e = event_queue_new();
	struct event_counts count;
	struct channel_pair link;
	uint64_t i;

	/* Without a collector a second message of a job is merged. */
	CHECK_INT(say(e, 5), 0);
	CHECK_INT(say(e, 6), 0);
	CHECK_INT(say(e, 5), 0);
	link_open(&link);
	event_queue_set_collector(e, link.ours);
	loop_settle(base);
	CHECK_INT(got.n, 2);
	CHECK_INT(got.jobs[0], 5);
	CHECK_INT(got.jobs[1], 6);
	CHECK(got.ids[0] < got.ids[1]);
	/* The event was sent: the same job makes a new one. */
	CHECK_INT(say(e, 5), 0);
	loop_settle(base);
	CHECK_INT(got.n, 3);
	/* A new collector gets the events that were not acknowledged. */
	event_queue_ack(e, got.ids[0]);
	event_queue_ack(e, got.ids[0]);
	event_queue_ack(e, 12345);
	event_queue_set_collector(e, NULL);
	channel_pair_close(&link);
	CHECK_INT(say(e, 7), 0);
	link_open(&link);
	event_queue_set_collector(e, link.ours);
	loop_settle(base);
	CHECK_INT(got.n, 3);
	CHECK_INT(got.jobs[0], 6);
	CHECK_INT(got.jobs[1], 5);
	CHECK_INT(got.jobs[2], 7);
	for (i = 0; i < 3; i++)
		event_queue_ack(e, got.ids[i]);
	event_queue_counts(e, &count);
	CHECK_INT(count.waiting, 0);
	CHECK_INT(count.received, 5);
	CHECK_INT(count.merged, 1);
	event_queue_set_collector(e, NULL);
	channel_pair_close(&link);
	/* A full queue drops and counts events. */
	for (i = 1; i <= EVENTS_MAX; i++)
		say(e, i);
	CHECK_INT(say(e, EVENTS_MAX + 1), -1);
	CHECK_INT(say(e, 3), 0);
	event_queue_counts(e, &count);
	CHECK_INT(count.waiting, EVENTS_MAX);
	CHECK_INT(count.dropped, 1);
	link_open(&link);
	event_queue_set_collector(e, link.ours);
	LOOP_UNTIL(base, got.n == 64);
	channel_pair_close(&link);
	event_queue_free(e);
}

static int
claim(struct event_queue *e, uint64_t job, const char *credential)
{
	struct hook_message msg = { .cluster = "alpha", .job = job };

	snprintf(msg.credential, sizeof(msg.credential), "%s", credential);
	return event_queue_add(e, &msg, 1000);
}

/*
 * An event that the collector has to check changes no other event, and many of
 * them leave room for others.
 */
static void
test_unchecked(void)
{
	struct event_queue *e = event_queue_new();
	struct event_counts count;
	struct channel_pair link;
	uint64_t i;

	CHECK_INT(say(e, 5), 0);
	CHECK_INT(claim(e, 5, "MUNGE:A:"), 0);
	CHECK_INT(claim(e, 5, "MUNGE:B:"), 0);
	CHECK_INT(say(e, 5), 0);
	event_queue_counts(e, &count);
	CHECK_INT(count.waiting, 3);
	CHECK_INT(count.merged, 1);
	CHECK_INT(count.unchecked, 2);
	link_open(&link);
	event_queue_set_collector(e, link.ours);
	LOOP_UNTIL(base, got.n == 3);
	CHECK_STR(got.credentials[0], "");
	CHECK_STR(got.credentials[1], "MUNGE:A:");
	CHECK_STR(got.credentials[2], "MUNGE:B:");
	event_queue_ack(e, got.ids[1]);
	event_queue_set_collector(e, NULL);
	channel_pair_close(&link);
	for (i = 1; i < UNCHECKED_MAX; i++)
		CHECK_INT(claim(e, i, "MUNGE:C:"), 0);
	CHECK_INT(claim(e, i, "MUNGE:C:"), -1);
	event_queue_counts(e, &count);
	CHECK_INT(count.unchecked, UNCHECKED_MAX);
	CHECK_INT(count.dropped, 1);
	CHECK_INT(say(e, 7), 0);
	event_queue_free(e);
}

int
main(void)
{
	/* The warnings are not part of the result. */
	log_init("test_event_queue", LOG_LEVEL_FATAL);
	base = event_base_new();
	if (base == NULL)
		return 1;
	test_events();
	test_unchecked();
	event_base_free(base);
	return check_done();
}
