/* SPDX-License-Identifier: MIT */
/*
 * The process of a worker: a start that fails is repeated, and the end of a
 * stopped worker is no crash.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/workers/workers.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

static struct setup setup = { .kmsg = -1 };
static struct workers workers;
static unsigned n_gone;

static void
on_gone(struct child *c)
{
	n_gone++;
}

static const struct child_ops ops = { .gone = on_gone };

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
}

static const struct channel_ops channel_events = { .on_frame = on_frame,
	.on_broken = on_broken };

static struct child *
begin(void)
{
	struct child *c = &workers.children[ROLE_COLLECTOR];

	memset(&workers, 0, sizeof(workers));
	workers.base = event_base_new();
	workers.setup = &setup;
	workers.ops = &ops;
	child_init(&workers, ROLE_COLLECTOR);
	n_gone = 0;
	return c;
}

static void
end(struct child *c)
{
	event_free(c->restart);
	event_free(c->deadline);
	event_base_free(workers.base);
}

/* The supervisor tries again and again, without a crash of the worker. */
static void
test_no_spawn(void)
{
	static char too_long[2 * PATH_MAX];
	struct child *c = begin();
	unsigned i;

	memset(too_long, 'x', sizeof(too_long) - 1);
	setup.program_dir = too_long;
	child_start(c);
	for (i = 1; i < 4; i++) {
		CHECK_INT(c->failures, i);
		CHECK_INT(c->pid, 0);
		CHECK_INT(c->state, CHILD_DOWN);
		CHECK(c->log == NULL);
		CHECK(evtimer_pending(c->restart, NULL));
		event_base_loop(workers.base, EVLOOP_ONCE);
	}
	CHECK_INT(workers.n_crash_records, 0);
	setup.program_dir = NULL;
	end(c);
}

/* A worker that handles job 7 and does not react. */
static void
worker_make(struct child *c, int *far)
{
	struct run_key key = { .cluster = "alpha", .job = 7, .start = 1000 };
	struct inflight *page;
	int fds[2], fd;

	c->inflight = inflight_new(&fd);
	page = inflight_map(fd);
	CHECK(c->inflight != NULL && page != NULL);
	inflight_set(page, &key);
	inflight_free(page);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	c->channel = channel_new(workers.base, fds[0], ROLE_SUPERVISOR,
	    ROLE_COLLECTOR, &channel_events, c);
	*far = fds[1];
	c->state = CHILD_READY;
	c->pid = fork();
	if (c->pid == 0) {
		pause();
		_exit(0);
	}
	CHECK(c->pid != -1);
}

/* The supervisor kills it: at the end of its grace, or since it hangs. */
static void
test_killed(int is_stopped)
{
	const struct timeval limit = { 60, 0 };
	struct child *c = begin();
	int far, status;
	pid_t pid;

	worker_make(c, &far);
	pid = c->pid;
	if (is_stopped) {
		child_stop(c, 1);
		event_base_loopexit(workers.base, &limit);
		while (c->kill_reason == NULL &&
		    !event_base_got_exit(workers.base))
			event_base_loop(workers.base, EVLOOP_ONCE);
		CHECK_STR(c->kill_reason, "it did not end in time");
	} else
		child_kill(c, "it does not answer");
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	child_exited(c, status);
	CHECK_INT(workers.n_crash_records, is_stopped ? 0 : 1);
	CHECK_INT(c->pid, 0);
	CHECK_INT(c->state, CHILD_DOWN);
	CHECK(c->channel == NULL && c->inflight == NULL);
	CHECK_INT(n_gone, 1);
	CHECK_INT(c->restarts, 1);
	CHECK(evtimer_pending(c->restart, NULL));
	close(far);
	end(c);
}

/* The line about the end promises no restart that -test does not do. */
static void
test_end_line(int config_test)
{
	struct child *c = begin();
	int far, status;
	const char *said;

	worker_make(c, &far);
	workers.config_test = config_test;
	CHECK_INT(kill(c->pid, SIGKILL), 0);
	CHECK_INT(waitpid(c->pid, &status, 0), c->pid);
	log_set_level(LOG_LEVEL_INFO);
	capture_begin();
	child_exited(c, status);
	said = capture_end();
	log_set_level(LOG_LEVEL_FATAL);
	CHECK(strstr(said, "the collector ") != NULL);
	CHECK_INT(strstr(said, "restart") == NULL, config_test);
	close(far);
	end(c);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	test_no_spawn();
	test_killed(1);
	test_killed(0);
	test_end_line(0);
	test_end_line(1);
	return check_done();
}
