/* SPDX-License-Identifier: MIT */
/*
 * The states of the release of the lease: what the submitter and the broker
 * answer, or do not answer, before and after the stop.  The lease, the time of the
 * submitter and the end of the process are those of the test.
 */
#include "config.h"

#include <sys/wait.h>

#include <event2/event.h>

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/net/secret.h"
#include "receiver/release.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"

#define GRACE_MS 50

static struct worker worker;
static struct receiver receiver;
static struct channel_pair pair;

/* --- the lease --- */

static int64_t active_until;
static int release_fails;
static unsigned n_releases;
static void (*released)(int done, void *arg);

int64_t
bucket_until(const struct bucket *b)
{
	(void)b;
	return active_until;
}

int64_t
bucket_margin(const struct bucket *b)
{
	(void)b;
	return 25000;
}

int
bucket_release(struct bucket *b, void (*fn)(int done, void *arg))
{
	(void)b;
	n_releases++;
	released = fn;
	active_until = 0;
	return release_fails ? -1 : 0;
}

/* --- the process --- */

static jmp_buf at_end;
static int is_child; /* of this test: it ends indeed */
static unsigned n_wiped;

void
secret_wipe_all(void)
{
	n_wiped++;
}

void
worker_exit(struct worker *w)
{
	CHECK(w == &worker);
	if (is_child)
		_exit(0);
	longjmp(at_end, 1);
}

/* Runs one input; 1 when it ends the process. */
#define ENDS(input) (setjmp(at_end) != 0 ? 1 : ((input), 0))

static unsigned n_drains;
static uint32_t drain_ms;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	(void)c;
	(void)fd;
	(void)arg;
	CHECK_INT(h->type, MSG_DRAIN);
	n_drains++;
	drain_ms = rd_u32(r);
}

static const struct channel_ops channel_ops = { on_frame, channel_pair_broken,
	NULL };

/* An active centre. */
static void
begin(void)
{
	memset(&worker, 0, sizeof(worker));
	memset(&receiver, 0, sizeof(receiver));
	worker.base = event_base_new();
	receiver.w = &worker;
	receiver.active_only = 1;
	channel_pair_open(&pair, worker.base, ROLE_RECEIVER, ROLE_SUBMITTER,
	    &channel_ops);
	receiver.submitter = pair.ours;
	active_until = 1000;
	release_fails = 0;
	released = NULL;
	n_releases = n_wiped = n_drains = 0;
}

static void
end(void)
{
	channel_pair_close(&pair);
	event_base_free(worker.base);
}

static void
daemon_ends(void)
{
	release_begin(&receiver);
	loop_settle(worker.base);
}

static void
drained(int answered)
{
	uint8_t payload = (uint8_t)answered;
	struct reader r;

	rd_init(&r, &payload, sizeof(payload));
	release_drained(&receiver, receiver.submitter, &r);
}

static void
submitter_dies(void)
{
	channel_pair_close(&pair);
	receiver.submitter = NULL;
	release_submitter_lost(&receiver);
}

static void
stop(void)
{
	worker.stopping = 1;
	release_stop(&receiver, GRACE_MS);
}

/* --- */

/* The answer of the broker before the stop. */
static void
test_before_stop(void)
{
	begin();
	daemon_ends();
	CHECK_INT(n_drains, 1);
	CHECK_INT(drain_ms, 25000);
	CHECK_INT(n_releases, 0);
	drained(1);
	CHECK_INT(n_releases, 1);
	CHECK_INT(ENDS(released(1, &receiver)), 0);
	CHECK_INT(receiver.release, RELEASE_OVER);
	CHECK_INT(ENDS(stop()), 1);
	CHECK_INT(n_wiped, 1);
	end();
}

/* The stop comes first: the process ends when the broker has answered. */
static void
test_after_stop(void)
{
	begin();
	daemon_ends();
	CHECK_INT(ENDS(stop()), 0);
	CHECK_INT(ENDS(drained(1)), 0);
	CHECK_INT(n_releases, 1);
	CHECK_INT(ENDS(released(1, &receiver)), 1);
	CHECK_INT(n_wiped, 1);
	end();
}

/* There is nothing to release: the stop ends the process at once. */
static void
test_nothing(void)
{
	begin();
	active_until = 0;
	daemon_ends();
	CHECK_INT(ENDS(stop()), 1);
	end();
	begin();
	receiver.active_only = 0;
	daemon_ends();
	CHECK_INT(ENDS(stop()), 1);
	end();
	begin();
	submitter_dies();
	daemon_ends();
	CHECK_INT(n_drains, 0);
	CHECK_INT(ENDS(stop()), 1);
	end();
}

/* cc-backend may work on a request without an answer. */
static void
test_not_answered(void)
{
	begin();
	daemon_ends();
	CHECK_INT(ENDS(stop()), 0);
	CHECK_INT(ENDS(drained(0)), 1);
	CHECK_INT(n_releases, 0);
	end();
}

/* The lease was lost meanwhile. */
static void
test_not_active(void)
{
	begin();
	daemon_ends();
	CHECK_INT(ENDS(stop()), 0);
	release_fails = 1;
	CHECK_INT(ENDS(drained(1)), 1);
	end();
}

/* The submitter dies before its answer: the process does not wait. */
static void
test_submitter_dies(void)
{
	begin();
	daemon_ends();
	CHECK_INT(ENDS(stop()), 0);
	CHECK_INT(ENDS(submitter_dies()), 1);
	CHECK_INT(n_releases, 0);
	end();
	/* before the stop */
	begin();
	daemon_ends();
	CHECK_INT(ENDS(submitter_dies()), 0);
	CHECK_INT(receiver.release, RELEASE_OVER);
	CHECK_INT(ENDS(stop()), 1);
	end();
}

/* The submitter dies after its answer: the release goes on. */
static void
test_submitter_dies_later(void)
{
	begin();
	daemon_ends();
	CHECK_INT(ENDS(stop()), 0);
	CHECK_INT(ENDS(drained(1)), 0);
	CHECK_INT(ENDS(submitter_dies()), 0);
	CHECK_INT(receiver.release, RELEASE_WRITES);
	CHECK_INT(ENDS(released(1, &receiver)), 1);
	end();
}

/* The submitter, or the broker, does not answer within the grace. */
static void
grace(int broker)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		is_child = 1;
		begin();
		daemon_ends();
		stop();
		if (broker)
			drained(1);
		event_base_dispatch(worker.base);
		_exit(1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

/* A second answer of the submitter has no effect. */
static void
test_twice(void)
{
	begin();
	daemon_ends();
	drained(1);
	drained(0);
	CHECK_INT(receiver.release, RELEASE_WRITES);
	CHECK_INT(n_releases, 1);
	daemon_ends();
	CHECK_INT(n_drains, 1);
	end();
}

int
main(void)
{
	test_before_stop();
	test_after_stop();
	test_nothing();
	test_not_answered();
	test_not_active();
	test_submitter_dies();
	test_submitter_dies_later();
	grace(0);
	grace(1);
	test_twice();
	return check_done();
}
