/* SPDX-License-Identifier: MIT */
/*
 * The listener without its process: connections over real sockets, and events
 * over a real channel to somebody who plays the collector.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/log.h"
#include "listener/listener.h"
#include "tests/unit/check.h"

#define MESSAGE	"{\"SLURM_JOB_ID\":\"17\",\"SLURM_CLUSTER_NAME\":\"alpha\"}"

static struct event_base *base;
static char folder[] = "/tmp/test_door.XXXXXX";
static struct sockaddr_un where = { .sun_family = AF_UNIX };

/* The loop, for about this long. */
static void
run_ms(int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	event_base_loopexit(base, &tv);
	event_base_dispatch(base);
}

/* The collector's end. */

static struct {
	uint64_t ids[64];
	uint64_t jobs[64];
	int	 n;
} got;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	char cluster[CLUSTER_MAX];
	uint64_t id = rd_u64(r), job;

	rd_name(r, cluster, sizeof(cluster));
	job = rd_u64(r);
	rd_u8(r);
	rd_i64(r);
	CHECK_INT(h->type, MSG_EVENT);
	CHECK_INT(rd_end(r), 0);
	CHECK_STR(cluster, "alpha");
	if (got.n < 64) {
		got.ids[got.n] = id;
		got.jobs[got.n++] = job;
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
}

static const struct channel_ops ops = { on_frame, on_broken, NULL };

struct link {
	struct channel *near;	/* the listener's end */
	struct channel *far;	/* the collector's */
};

static void
link_open(struct link *l)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	l->near = channel_new(base, fds[0], ROLE_LISTENER, ROLE_COLLECTOR,
	    &ops, NULL);
	l->far = channel_new(base, fds[1], ROLE_COLLECTOR, ROLE_LISTENER,
	    &ops, NULL);
	got.n = 0;
}

static void
link_close(struct link *l)
{
	channel_free(l->near);
	channel_free(l->far);
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
	struct link link;
	uint64_t i;

	/* Nobody is there: said again is said once. */
	CHECK_INT(say(e, 5), 0);
	CHECK_INT(say(e, 6), 0);
	CHECK_INT(say(e, 5), 0);
	link_open(&link);
	event_queue_set_collector(e, link.near);
	run_ms(20);
	CHECK_INT(got.n, 2);
	CHECK_INT(got.jobs[0], 5);
	CHECK_INT(got.jobs[1], 6);
	CHECK(got.ids[0] < got.ids[1]);
	/* Sent already: the same job is news again. */
	CHECK_INT(say(e, 5), 0);
	run_ms(20);
	CHECK_INT(got.n, 3);
	/* Taken is gone; the rest comes again to a new collector. */
	event_queue_ack(e, got.ids[0]);
	event_queue_ack(e, got.ids[0]);
	event_queue_ack(e, 12345);
	event_queue_set_collector(e, NULL);
	link_close(&link);
	CHECK_INT(say(e, 7), 0);
	link_open(&link);
	event_queue_set_collector(e, link.near);
	run_ms(20);
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
	link_close(&link);
	/* No room is said and counted; nothing dies of it. */
	for (i = 1; i <= EVENTS_MAX; i++)
		say(e, i);
	CHECK_INT(say(e, EVENTS_MAX + 1), -1);
	CHECK_INT(say(e, 3), 0);
	event_queue_counts(e, &count);
	CHECK_INT(count.waiting, EVENTS_MAX);
	CHECK_INT(count.dropped, 1);
	link_open(&link);
	event_queue_set_collector(e, link.near);
	run_ms(200);
	CHECK_INT(got.n, 64);
	link_close(&link);
	event_queue_free(e);
}

/* The door. */

static int heard_count;
static struct hook_message last_heard;

static void
on_message(const struct hook_message *msg, void *arg)
{
	heard_count++;
	last_heard = *msg;
}

static int
listen_here(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(where.sun_path);
	CHECK_INT(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	CHECK_INT(listen(fd, 128), 0);
	return fd;
}

static int
knock(const void *bytes, size_t n)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&where, sizeof(where)) == -1)
		return -1;
	if (n > 0 && send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		CHECK_STR("send", "");
	return fd;
}

static struct server_counts
count_of(struct hook_server *server)
{
	struct server_counts count;

	server_counts(server, &count);
	return count;
}

static void
test_talk(struct hook_server *server)
{
	static char big[HOOK_MESSAGE_MAX + 1];
	int fd, again;

	close(knock(MESSAGE, strlen(MESSAGE)));
	run_ms(20);
	CHECK_INT(heard_count, 1);
	CHECK_INT(last_heard.job, 17);
	/* In two pieces, the end of the stream by a half-close. */
	fd = knock(MESSAGE, 10);
	run_ms(20);
	CHECK_INT(heard_count, 1);
	CHECK(send(fd, &MESSAGE[10], strlen(MESSAGE) - 10, 0) > 0);
	shutdown(fd, SHUT_WR);
	run_ms(20);
	CHECK_INT(heard_count, 2);
	close(fd);
	/* Garbage, nothing, too much. */
	close(knock("garbage", 7));
	close(knock("", 0));
	memset(big, ' ', sizeof(big));
	again = knock(big, 1000);
	fd = fcntl(again, F_DUPFD_CLOEXEC, 0);
	close(again);
	run_ms(20);
	CHECK(send(fd, big, sizeof(big) - 1000, MSG_NOSIGNAL) > 0);
	run_ms(50);
	close(fd);
	CHECK_INT(heard_count, 2);
	CHECK_INT(count_of(server).invalid, 3);
	CHECK_INT(count_of(server).open, 0);
}

static void
test_crowd(struct hook_server *server)
{
	int fds[CLIENTS_MAX + 10], i;

	for (i = 0; i < CLIENTS_MAX + 10; i++) {
		fds[i] = knock("{", 1);
		if (i % 16 == 0)
			run_ms(5);
	}
	run_ms(50);
	CHECK_INT(count_of(server).open, CLIENTS_MAX);
	CHECK_INT(count_of(server).refused, 10);
	/* The silent ones had to go; the newest are heard. */
	CHECK(send(fds[CLIENTS_MAX + 9], &MESSAGE[1], strlen(MESSAGE) - 1,
	    MSG_NOSIGNAL) > 0);
	for (i = 0; i < CLIENTS_MAX + 10; i++)
		close(fds[i]);
	run_ms(50);
	CHECK_INT(heard_count, 3);
	CHECK_INT(count_of(server).open, 0);
}

/* A message that never ends is judged when its time is up. */
static void
test_slow(void)
{
	int fd = knock(MESSAGE, strlen(MESSAGE)), half = knock("{", 1);

	run_ms(CLIENT_MS + 100);
	CHECK_INT(heard_count, 4);
	CHECK_INT(recv(fd, &half, 1, MSG_DONTWAIT), 0);
	close(fd);
	close(half);
}

/* Without a free descriptor a knock is hung up on, and the loop rests. */
static void
test_exhausted(struct hook_server *server)
{
	struct rlimit old, none;
	uint64_t before = count_of(server).refused;
	int fd;

	fd = knock(MESSAGE, strlen(MESSAGE));
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = (rlim_t)fcntl(0, F_DUPFD_CLOEXEC, 0);
	close((int)none.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &none);
	run_ms(50);
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK_INT(heard_count, 4);
	/* valgrind has a limit of its own, and the hang-up fails there. */
	if (getenv("LD_PRELOAD") == NULL)
		CHECK_INT(count_of(server).refused, before + 1);
	close(fd);
	close(knock(MESSAGE, strlen(MESSAGE)));
	run_ms(300);
	CHECK_INT(heard_count, 5);
}

static void
test_door(void)
{
	struct hook_server *server = server_new(base, on_message, NULL);
	struct access_list nobody, me;
	char reason[128], uids[32];

	memset(&nobody, 0, sizeof(nobody));
	server_add_socket(server, listen_here());
	server_set_access(server, &nobody);
	server_start(server);
	close(knock(MESSAGE, strlen(MESSAGE)));
	run_ms(20);
	CHECK_INT(heard_count, 0);
	CHECK_INT(count_of(server).refused, 1);
	snprintf(uids, sizeof(uids), "[\"%u\"]", (unsigned)getuid());
	CHECK_INT(access_init(&me, uids, "[]", reason, sizeof(reason)), 0);
	server_set_access(server, &me);
	test_talk(server);
	server_free(server);
	/* Counted anew. */
	server = server_new(base, on_message, NULL);
	server_add_socket(server, listen_here());
	server_set_access(server, &me);
	server_start(server);
	test_crowd(server);
	test_slow();
	test_exhausted(server);
	server_stop(server);
	CHECK_INT(knock("", 0), -1);
	server_free(server);
	access_clear(&me);
}

int
main(void)
{
	/* What is tested here is complained of; that is not the result. */
	log_init("test_door", LOG_LEVEL_FATAL);
	base = event_base_new();
	if (base == NULL || mkdtemp(folder) == NULL)
		return 1;
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/sock", folder);
	test_events();
	test_door();
	unlink(where.sun_path);
	rmdir(folder);
	event_base_free(base);
	return check_done();
}
