/* SPDX-License-Identifier: MIT */
/* Channels: frames through a socketpair, in parts, with descriptors. */
#include "config.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/ipc/channel.h"
#include "common/log.h"
#include "tests/unit/check.h"
#include "tests/unit/lingering_socket.h"

/* The events of one end. */
struct end {
	struct channel *c;
	unsigned frames;
	unsigned last_type;
	uint64_t last_id;
	size_t last_len;
	uint64_t sum;
	int fd;
	char why[128];
	int broken;
	int drained;
	int free_in_frame;
};

static struct event_base *base;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct end *e = arg;
	size_t i;

	e->frames++;
	e->last_type = h->type;
	e->last_id = h->id;
	e->last_len = r->left;
	for (i = 0; i < r->left; i++)
		e->sum += r->p[i];
	if (fd != -1) {
		if (e->fd != -1)
			close(e->fd);
		e->fd = fd;
	}
	if (e->free_in_frame) {
		channel_free(c);
		e->c = NULL;
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	struct end *e = arg;

	e->broken++;
	snprintf(e->why, sizeof(e->why), "%s", why);
	channel_free(c);
	e->c = NULL;
}

static void
on_drained(struct channel *c, void *arg)
{
	struct end *e = arg;

	e->drained++;
}

static const struct channel_ops ops = { on_frame, on_broken, on_drained };

static void
pair(struct end *a, enum role ra, struct end *b, enum role rb)
{
	int fds[2];

	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	a->fd = b->fd = -1;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	a->c = channel_new(base, fds[0], ra, rb, &ops, a);
	b->c = channel_new(base, fds[1], rb, ra, &ops, b);
	CHECK(a->c != NULL && b->c != NULL);
}

static void
unpair(struct end *a, struct end *b)
{
	channel_free(a->c);
	channel_free(b->c);
	if (a->fd != -1)
		close(a->fd);
	if (b->fd != -1)
		close(b->fd);
}

/* Runs the event loop until no event is ready. */
static void
spin(void)
{
	int i;

	for (i = 0; i < 400; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

static int
send_len(struct channel *c, enum msg_type type, uint64_t id, size_t len, int fd)
{
	struct writer w;
	uint8_t *p = calloc(1, len + 1);
	int rc;

	memset(p, 1, len);
	wr_init(&w, len + 1);
	wr_mem(&w, p, len);
	rc = channel_send(c, type, id, &w, fd);
	wr_clear(&w);
	free(p);
	return rc;
}

static void
test_plain(void)
{
	struct end s, w;

	pair(&s, ROLE_SUPERVISOR, &w, ROLE_COLLECTOR);
	CHECK_INT(send_len(s.c, MSG_PING, 7, 8, -1), 0);
	CHECK_INT(channel_send(w.c, MSG_READY, 9, NULL, -1), 0);
	spin();
	CHECK_INT(w.frames, 1);
	CHECK_INT(w.last_type, MSG_PING);
	CHECK_INT(w.last_id, 7);
	CHECK_INT(w.sum, 8);
	CHECK_INT(s.frames, 1);
	CHECK_INT(s.last_type, MSG_READY);
	CHECK_INT(s.broken + w.broken, 0);
	unpair(&s, &w);
}

/* More than a socket buffer: the order stays, and the marks are reported. */
static void
test_long(void)
{
	struct end s, w;
	int i;

	pair(&s, ROLE_COLLECTOR, &w, ROLE_SUBMITTER);
	for (i = 0; i < 4; i++)
		CHECK_INT(send_len(s.c, MSG_RECORD, (uint64_t)i, 3000000, -1),
		    0);
	CHECK(channel_full(s.c));
	spin();
	CHECK_INT(w.frames, 4);
	CHECK_INT(w.last_id, 3);
	CHECK_INT(w.sum, 12000000);
	CHECK_INT(s.drained, 1);
	CHECK_INT(channel_flush(s.c, 0), 0);
	unpair(&s, &w);
}

static void
test_descriptors(void)
{
	struct end s, w;
	int fds[2];
	char c = 0;
	int i;

	pair(&s, ROLE_SUPERVISOR, &w, ROLE_LISTENER);
	for (i = 0; i < 40; i++) {
		CHECK(pipe(fds) == 0);
		CHECK(write(fds[1], "x", 1) == 1);
		close(fds[1]);
		CHECK_INT(send_len(s.c, MSG_PEER, 1, 1, fds[0]), 0);
		CHECK(fcntl(fds[0], F_GETFD) == -1);
		send_len(s.c, MSG_PING, 1, 8, -1);
	}
	spin();
	CHECK_INT(w.frames, 80);
	CHECK(w.fd != -1 && read(w.fd, &c, 1) == 1);
	CHECK(c == 'x');
	CHECK((fcntl(w.fd, F_GETFD) & FD_CLOEXEC) != 0);
	unpair(&s, &w);
}

/* The bytes of a frame that channel_send() would refuse. */
static size_t
raw_frame(uint8_t *p, enum msg_type type, unsigned flags, uint32_t len)
{
	struct msg_header h = { .type = (uint16_t)type,
		.flags = (uint16_t)flags,
		.length = len };

	memcpy(p, &h, sizeof(h));
	memset(p + sizeof(h), ROLE_COLLECTOR, len);
	return sizeof(h) + len;
}

/* A descriptor without a frame must not be given to a later frame. */
static void
test_stray_descriptor(void)
{
	uint8_t bytes[128];
	struct end w;
	size_t n;
	int i, fds[2];

	for (i = 0; i < 3; i++) {
		memset(&w, 0, sizeof(w));
		w.fd = -1;
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
		w.c = channel_new(base, fds[1], ROLE_LISTENER, ROLE_SUPERVISOR,
		    &ops, &w);
		n = raw_frame(bytes, MSG_PING, 0, 8);
		if (i == 1) /* half a frame, then a complete one with it */
			n += raw_frame(bytes + n, MSG_PEER, MSG_FLAG_FD, 1);
		if (i == 2) /* one before, which has its own */
			n = raw_frame(bytes, MSG_PEER, MSG_FLAG_FD, 1);
		CHECK_INT(frame_sendmsg(fds[0], bytes, n, 2), (long long)n);
		if (i == 2)
			CHECK_INT(frame_sendmsg(fds[0], bytes, 8, 2), 8);
		if (i == 2)
			CHECK_INT(frame_sendmsg(fds[0], bytes + 8, n - 8, 2),
			    (long long)n - 8);
		spin();
		CHECK_INT(w.frames, i == 1 ? 2 : i == 2);
		CHECK_INT(w.broken, i == 1 ? 0 : 1);
		if (i == 0)
			CHECK_STR(w.why,
			    "a descriptor without a frame "
			    "for it");
		if (i == 2)
			CHECK_STR(w.why, "Protocol error");
		channel_free(w.c);
		if (w.fd != -1)
			close(w.fd);
		close(fds[0]);
	}
}

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* One byte with n descriptors, which this process closes. */
static void
hostile_send(int fd, int n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control;
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int)) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	int i, fds[8];

	if (cm == NULL)
		_exit(1);
	memset(&control, 0, sizeof(control));
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	for (i = 0; i < n; i++)
		fds[i] = lingering_socket();
	memcpy(CMSG_DATA(cm), fds, (size_t)n * sizeof(int));
	if (sendmsg(fd, &m, MSG_NOSIGNAL) == -1)
		_exit(2);
	for (i = 0; i < n; i++)
		close(fds[i]);
}

/*
 * The compromised worker: keeps the other ends of its connections.  done gets
 * a byte when the worker has closed its copies.
 */
static void
hostile_worker(int fd, int n, int times, int done)
{
	while (times-- > 0)
		hostile_send(fd, n);
	if (write(done, "x", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

/*
 * A worker passes sockets with SO_LINGER and full buffers.  The supervisor
 * does not wait for them: neither when it reads them, nor when it closes the
 * channel.  is_read: the supervisor reads before it closes.
 */
static void
hostile_check(int n, int times, int is_read)
{
	const int yes = 1;
	struct end s;
	long long begin;
	int fds[2], done[2];
	char byte;
	pid_t pid;

	memset(&s, 0, sizeof(s));
	s.fd = -1;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && pipe(done) == 0);
	s.c = channel_new(base, fds[0], ROLE_SUPERVISOR, ROLE_LISTENER, &ops,
	    &s);
	/* As on a kernel without this option. */
	setsockopt(fds[0], SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof(yes));
	fflush(NULL);
	if ((pid = fork()) == 0) {
		close(fds[0]);
		close(done[0]);
		hostile_worker(fds[1], n, times, done[1]);
	}
	close(fds[1]);
	close(done[1]);
	CHECK_INT(read(done[0], &byte, 1), 1);
	close(done[0]);
	begin = clock_ms();
	if (is_read)
		spin();
	channel_free(s.c);
	CHECK(clock_ms() - begin < MOST_MS);
	CHECK_INT(waitpid(pid, NULL, WNOHANG), 0); /* it still holds the ends */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
test_hostile_descriptors(void)
{
	hostile_check(1, 1, 1);
	hostile_check(8, 1, 1);
	hostile_check(1, 4, 0);
}

/* The kernel refuses a descriptor where none is expected, since Linux 6.16. */
static void
test_refused_descriptors(void)
{
	struct end s, w;
	int value = -1, fds[2];
	socklen_t len = sizeof(value);

	CHECK(msg_has_fd(ROLE_SUPERVISOR, ROLE_LISTENER));
	CHECK(msg_has_fd(ROLE_PARSER, ROLE_SUPERVISOR));
	CHECK(!msg_has_fd(ROLE_LISTENER, ROLE_SUPERVISOR));
	CHECK(!msg_has_fd(ROLE_LISTENER, ROLE_COLLECTOR));

	memset(&s, 0, sizeof(s));
	memset(&w, 0, sizeof(w));
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	if (getsockopt(fds[0], SOL_SOCKET, SO_PASSRIGHTS, &value, &len) == -1)
		printf("skipped: no SO_PASSRIGHTS in this kernel\n");
	else {
		s.c = channel_new(base, fds[0], ROLE_SUPERVISOR, ROLE_LISTENER,
		    &ops, &s);
		w.c = channel_new(base, fds[1], ROLE_LISTENER, ROLE_SUPERVISOR,
		    &ops, &w);
		CHECK_INT(frame_sendmsg(fds[0], (const uint8_t *)"x", 1, 2), 1);
		CHECK_INT(frame_sendmsg(fds[1], (const uint8_t *)"x", 1, 2),
		    -1);
		CHECK_INT(errno, EPERM);
		channel_free(s.c);
		channel_free(w.c);
		return;
	}
	close(fds[0]);
	close(fds[1]);
}

/* Small frames, faster than the handler: they wait in the socket. */
static void
test_flood(void)
{
	uint8_t bytes[64];
	struct end w;
	unsigned sent = 0, before;
	int fds[2];
	size_t n;

	memset(&w, 0, sizeof(w));
	w.fd = -1;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	w.c = channel_new(base, fds[1], ROLE_SUPERVISOR, ROLE_LISTENER, &ops,
	    &w);
	n = raw_frame(bytes, MSG_PONG, 0, 8);
	while (frame_sendmsg(fds[0], bytes, n, -1) == (ssize_t)n)
		sent++;
	CHECK(sent > 100);
	do {
		before = w.frames;
		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		CHECK(w.frames - before <= 256);
	} while (w.frames > before);
	CHECK_INT(w.frames, sent);
	CHECK_INT(w.broken, 0);
	channel_free(w.c);
	close(fds[0]);
}

/* A frame that the table forbids is not sent; the channel stays open. */
static void
test_own_fault(void)
{
	struct end s, w;
	int fd = dup(2);

	pair(&s, ROLE_LISTENER, &w, ROLE_COLLECTOR);
	CHECK_INT(send_len(s.c, MSG_RECORD, 0, 100, -1), -1);
	CHECK_INT(send_len(s.c, MSG_EVENT, 0, 1, -1), -1);
	CHECK_INT(send_len(s.c, MSG_EVENT, 0, 40, fd), -1);
	CHECK(fcntl(fd, F_GETFD) == -1); /* taken, also on error */
	CHECK_INT(send_len(s.c, MSG_EVENT, 0, 40, -1), 0);
	spin();
	CHECK_INT(w.frames, 1);
	CHECK_INT(w.broken, 0);
	unpair(&s, &w);
}

static void
test_ends(void)
{
	struct end s, w;

	/* Frames before the end are still delivered. */
	pair(&s, ROLE_SUPERVISOR, &w, ROLE_LISTENER);
	send_len(s.c, MSG_PING, 0, 8, -1);
	channel_free(s.c);
	s.c = NULL;
	spin();
	CHECK_INT(w.frames, 1);
	CHECK_INT(w.broken, 1);
	CHECK_STR(w.why, "closed by the peer");
	unpair(&s, &w);

	pair(&s, ROLE_SUPERVISOR, &w, ROLE_LISTENER);
	w.free_in_frame = 1;
	send_len(s.c, MSG_PING, 0, 8, -1);
	send_len(s.c, MSG_PING, 0, 8, -1);
	spin();
	CHECK_INT(w.frames, 1);
	CHECK_INT(w.broken, 0);
	CHECK_INT(s.broken, 1);
	unpair(&s, &w);

	pair(&s, ROLE_SUPERVISOR, &w, ROLE_LISTENER);
	channel_broken(w.c, "ping");
	CHECK_INT(w.broken, 0); /* only from the loop */
	spin();
	CHECK_INT(w.broken, 1);
	CHECK_STR(w.why, "malformed ping");
	unpair(&s, &w);
}

/* A channel whose peer does not read. */
static int
deaf(struct end *s)
{
	int fds[2];

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	s->c = channel_new(base, fds[0], ROLE_COLLECTOR, ROLE_SUBMITTER, &ops,
	    s);
	return fds[1];
}

/* The unsent output has a limit. */
static void
test_output_limit(void)
{
	struct end s;
	int i, refused = 0, far = deaf(&s);

	for (i = 0; i < 8 && !refused; i++)
		refused = send_len(s.c, MSG_RECORD, 0, MSG_PAYLOAD_MAX, -1);
	CHECK(refused);
	spin();
	CHECK_INT(s.broken, 1);
	CHECK_STR(s.why, "the peer does not read");
	channel_free(s.c);
	close(far);
}

static void
test_flush(void)
{
	struct end s;
	int far = deaf(&s);

	send_len(s.c, MSG_RECORD, 0, 100, -1);
	CHECK_INT(channel_flush(s.c, 100), 0);
	CHECK(!channel_full(s.c));
	send_len(s.c, MSG_RECORD, 0, 4000000, -1);
	CHECK_INT(channel_flush(s.c, 50), -1);
	CHECK(channel_full(s.c));
	channel_free(s.c);
	close(far);
}

static void
test_blocking_twins(void)
{
	struct msg_header h;
	struct writer w;
	uint8_t *payload;
	int fds[2], fd, passed = dup(2);

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	wr_init(&w, 64);
	wr_u8(&w, 1);
	CHECK_INT(frame_write(fds[0], ROLE_SUPERVISOR, ROLE_LISTENER,
		      MSG_LISTEN, 5, &w, passed),
	    0);
	CHECK_INT(frame_read(fds[1], ROLE_LISTENER, ROLE_SUPERVISOR, &h,
		      &payload, &fd, 60000),
	    0);
	CHECK_INT(h.type, MSG_LISTEN);
	CHECK_INT(h.id, 5);
	CHECK_INT(h.length, 1);
	CHECK(fd != -1);
	close(fd);
	free(payload);
	CHECK_INT(frame_read(fds[1], ROLE_LISTENER, ROLE_SUPERVISOR, &h,
		      &payload, &fd, 10),
	    -1);
	CHECK(payload == NULL && fd == -1);
	/* A frame that the table forbids is not written. */
	CHECK_INT(frame_write(fds[0], ROLE_LISTENER, ROLE_SUPERVISOR,
		      MSG_LISTEN, 5, &w, passed),
	    -1);
	wr_clear(&w);
	close(passed);
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	base = event_base_new();
	/* The log of the forbidden frames is not shown. */
	log_init("test", LOG_LEVEL_FATAL);
	test_plain();
	test_long();
	test_descriptors();
	test_stray_descriptor();
	test_hostile_descriptors();
	test_refused_descriptors();
	test_flood();
	test_own_fault();
	test_ends();
	test_output_limit();
	test_flush();
	test_blocking_twins();
	event_base_free(base);
	return check_done();
}
