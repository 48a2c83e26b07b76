/* SPDX-License-Identifier: MIT */
/*
 * The bytes that a neighbour writes into its channel: two bytes select the two roles,
 * the rest is the stream, in pieces, some with a descriptor.  A simple reader of the
 * whole stream computes the expected result.  The same bytes are a request of the
 * admin tool and the memfd of the secrets.
 */
#include "config.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/model/conf.h"
#include "common/model/ctl.h"
#include "common/ipc/channel.h"
#include "common/model/job.h"
#include "tests/fuzz/fuzz.h"

#define PASS_EVERY 7 /* one of so many pieces carries a descriptor */
#define TURNS	   8 /* of the loop, for what is left at the end */

struct received {
	enum role self;
	enum role peer;
	uint64_t digest;
	unsigned frames;
	int broken;
};

/* The stream being written. */
struct sender {
	int fd;
	struct event_base *base;
	struct received *got;
	uint64_t state;
	int passes; /* descriptors may go along */
};

static void
payload_read(const struct msg_header *h, struct reader *r)
{
	struct ctl_request req;
	struct run_key key;
	struct conf conf;
	struct job job;

	switch (h->type) {
	case MSG_CONF:
		conf_init(&conf);
		conf_read(r, &conf);
		conf_clear(&conf);
		break;
	case MSG_RECORD:
		rd_u64(r);
		job_init(&job);
		job_read(r, &job);
		job_clear(&job);
		break;
	case MSG_QUARANTINE:
		rd_run_key(r, &key);
		break;
	case MSG_CTL:
		if (h->length == sizeof(req)) {
			memcpy(&req, r->p, sizeof(req));
			ctl_request_check(&req);
		}
		break;
	default:
		break;
	}
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct received *got = arg;

	HOLDS(!got->broken);
	HOLDS(msg_check(h, got->peer, got->self) == NULL);
	HOLDS(r->left == h->length && r->err == 0);
	HOLDS((fd != -1) == ((h->flags & MSG_FLAG_FD) != 0));
	if (fd != -1)
		close(fd);
	got->digest = digest(got->digest, h, sizeof(*h));
	got->digest = digest(got->digest, r->p, r->left);
	got->frames++;
	payload_read(h, r);
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	struct received *got = arg;

	HOLDS(!got->broken && why != NULL && *why != '\0');
	got->broken = 1;
}

/* The result of the bytes when none has a descriptor. */
static void
expect(struct received *got, const uint8_t *p, size_t n)
{
	struct msg_header h;

	for (; n >= sizeof(h);
	     p += sizeof(h) + h.length, n -= sizeof(h) + h.length) {
		memcpy(&h, p, sizeof(h));
		if (msg_check(&h, got->peer, got->self) != NULL) {
			got->broken = 1;
			return;
		}
		if (n - sizeof(h) < h.length)
			return;
		/* Its descriptor can come with its last byte. */
		if (h.flags & MSG_FLAG_FD) {
			got->broken = 1;
			return;
		}
		got->digest = digest(got->digest, &h, sizeof(h));
		got->digest = digest(got->digest, p + sizeof(h), h.length);
		got->frames++;
	}
}

static void
piece_send(struct sender *m, const char *p, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_len = n };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;
	const int passed = 0;
	ssize_t sent;

	memcpy(&iov.iov_base, &p, sizeof(p));
	if (m->passes && dice(&m->state, PASS_EVERY) == 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		cm = CMSG_FIRSTHDR(&msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &passed, sizeof(int));
	}
	sent = sendmsg(m->fd, &msg, MSG_NOSIGNAL);
	if (sent == -1 && errno == EPERM && msg.msg_control != NULL) {
		/* The kernel refuses it for a channel that takes none. */
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
		sent = sendmsg(m->fd, &msg, MSG_NOSIGNAL);
	}
	HOLDS(sent == (ssize_t)n);
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct sender *m = arg;

	piece_send(m, p, n);
	event_base_loop(m->base, EVLOOP_NONBLOCK);
	return m->got->broken ? -1 : 0;
}

static int
lowest_free(void)
{
	int fd = dup(0);

	HOLDS(fd != -1);
	close(fd);
	return fd;
}

/* A turn handles some frames only; the next one reports the end. */
static void
turns(struct event_base *base)
{
	int i;

	for (i = 0; i < TURNS; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

static void
stream_holds(struct event_base *base, enum role self, enum role peer,
    int passes, const uint8_t *bytes, size_t n)
{
	static const struct channel_ops ops = { on_frame, on_broken, NULL };
	struct received got = { .self = self, .peer = peer }, want = got;
	struct sender sender = { .base = base,
		.got = &got,
		.passes = passes,
		.state = digest(DIGEST_START, bytes, n) };
	int fds[2], lowest = lowest_free();
	struct channel *c;

	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	sender.fd = fds[0];
	c = channel_new(base, fds[1], self, peer, &ops, &got);
	HOLDS(c != NULL && channel_peer(c) == peer);
	fuzz_pieces(bytes, n, feed, &sender);
	turns(base);
	expect(&want, bytes, n);
	if (!passes) {
		HOLDS(got.frames == want.frames && got.digest == want.digest);
		HOLDS(got.broken == want.broken);
	}
	close(fds[0]);
	turns(base);
	HOLDS(got.broken);
	channel_free(c);
	HOLDS(lowest_free() == lowest);
}

/* The blocking reader: one frame. */
static void
one_holds(enum role self, enum role peer, const uint8_t *bytes, size_t n)
{
	struct received want = { .self = self, .peer = peer };
	struct msg_header h;
	uint8_t *payload;
	int fds[2], fd, rc;

	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	HOLDS(n == 0 || write(fds[0], bytes, n) == (ssize_t)n);
	close(fds[0]);
	expect(&want, bytes, n);
	rc = frame_read(fds[1], self, peer, &h, &payload, &fd, 100);
	HOLDS((rc == 0) == (want.frames > 0) && fd == -1);
	HOLDS((payload != NULL) == (rc == 0));
	free(payload);
	close(fds[1]);
}

static void
secrets_hold(const uint8_t *bytes, size_t n)
{
	const uint8_t *p;
	size_t len;
	int key;

	for (key = 0; key < CONF__COUNT; key++) {
		p = conf_secret(bytes, n, (enum conf_key)key, &len);
		HOLDS(p != NULL || len == 0);
		if (p != NULL)
			HOLDS(p >= bytes && len <= n && p + len <= bytes + n);
	}
}

static void
request_holds(const uint8_t *bytes, size_t n)
{
	struct ctl_request req;

	memset(&req, 0, sizeof(req));
	memcpy(&req, bytes, n < sizeof(req) ? n : sizeof(req));
	if (ctl_request_check(&req) == NULL)
		HOLDS(req.verb < CTL__COUNT && req.n_ids <= CTL_IDS_MAX &&
		    memchr(req.text, '\0', sizeof(req.text)) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct event_base *base;
	enum role self, peer;

	fuzz_quiet();
	if (base == NULL)
		base = event_base_new();
	HOLDS(base != NULL);
	secrets_hold(bytes, n);
	request_holds(bytes, n);
	if (n < 2)
		return 0;
	self = (enum role)(bytes[0] % ROLE__COUNT);
	peer = (enum role)(bytes[1] % ROLE__COUNT);
	bytes += 2;
	n -= 2;
	stream_holds(base, self, peer, 0, bytes, n);
	stream_holds(base, self, peer, 1, bytes, n);
	one_holds(self, peer, bytes, n);
	return 0;
}
