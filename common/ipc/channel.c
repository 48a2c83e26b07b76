/* SPDX-License-Identifier: MIT */
/*
 * Frames over a socketpair; see channel.h.
 *
 * A descriptor is sent with the first byte of its frame.  The kernel ends a
 * read after bytes that carry a descriptor, so that a read returns at most
 * one, which belongs to the last frame in the buffer.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/ipc/channel.h"
#include "common/ipc/passing.h"
#include "common/log.h"

#define READ_STEP (64u * 1024) /* one recvmsg */
#define BURST	  64	       /* frames handled in one turn of the loop */

struct out_frame {
	struct out_frame *next;
	size_t len; /* header and payload */
	size_t sent;
	int fd; /* -1, or sent with the first byte */
	uint8_t bytes[];
};

struct channel {
	struct event *readable;
	struct event *writable;
	struct event *next_turn; /* timer: complete frames wait */
	const struct channel_ops *ops;
	void *arg;
	int fd;
	enum role self;
	enum role peer;
	uint8_t *in;
	size_t in_len;
	size_t in_cap;
	int received_fd; /* of the last frame, -1 = none */
	struct out_frame *out;
	struct out_frame **out_tail;
	size_t out_bytes;
	int above_high_mark; /* until below the low mark */
	int broken;
	int busy;  /* inside a handler */
	int freed; /* free it when the handler returns */
	char why[128];
};

static void
out_frame_free(struct out_frame *f)
{
	if (f->fd != -1)
		close(f->fd);
	explicit_bzero(f->bytes, f->len);
	free(f);
}

static void
channel_destroy(struct channel *c)
{
	struct out_frame *f;

	while ((f = c->out) != NULL) {
		c->out = f->next;
		out_frame_free(f);
	}
	if (c->received_fd != -1)
		passing_close(c->received_fd);
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->writable != NULL)
		event_free(c->writable);
	if (c->next_turn != NULL)
		event_free(c->next_turn);
	if (c->fd != -1)
		passing_close(c->fd);
	free(c->in);
	free(c);
}

void
channel_free(struct channel *c)
{
	if (c == NULL)
		return;
	if (c->busy) {
		c->freed = 1;
		c->broken = 1;
		event_del(c->readable);
		event_del(c->writable);
		event_del(c->next_turn);
		return;
	}
	channel_destroy(c);
}

enum role
channel_peer(const struct channel *c)
{
	return c->peer;
}

/* Marks it broken.  The event loop calls on_broken(), never the caller. */
static void
channel_fail(struct channel *c, const char *why)
{
	if (c->broken)
		return;
	c->broken = 1;
	snprintf(c->why, sizeof(c->why), "%s", why);
	event_del(c->readable);
	event_del(c->next_turn);
	event_active(c->writable, EV_WRITE, 0);
}

void
channel_broken(struct channel *c, const char *what)
{
	char why[128];

	snprintf(why, sizeof(why), "malformed %s", what);
	channel_fail(c, why);
}

/* Does a channel_free() of the handler.  1: c is freed. */
static int
handler_leave(struct channel *c)
{
	c->busy--;
	if (c->busy == 0 && c->freed) {
		channel_destroy(c);
		return 1;
	}
	return 0;
}

/* Calls the handler of the frame at *used.  1: c is freed. */
static int
frame_deliver(struct channel *c, size_t *used)
{
	struct msg_header h;
	struct reader r;
	const char *wrong;
	char why[128];
	int fd = -1;

	memcpy(&h, c->in + *used, sizeof(h));
	wrong = msg_check(&h, c->peer, c->self);
	if (wrong == NULL && (h.flags & MSG_FLAG_FD) && c->received_fd == -1)
		wrong = "its descriptor is missing";
	if (wrong != NULL) {
		snprintf(why, sizeof(why), "%s of %u bytes: %s",
		    msg_name(h.type), h.length, wrong);
		channel_fail(c, why);
		return 0;
	}
	if (h.flags & MSG_FLAG_FD) {
		fd = c->received_fd;
		c->received_fd = -1;
	}
	rd_init(&r, c->in + *used + sizeof(h), h.length);
	*used += sizeof(h) + h.length;
	c->busy++;
	c->ops->on_frame(c, &h, &r, fd, c->arg);
	return handler_leave(c);
}

/* 1 when the frame after the used bytes is complete or invalid. */
static int
frame_is_complete(const struct channel *c, size_t used)
{
	struct msg_header h;

	if (c->in == NULL || c->in_len - used < sizeof(h))
		return 0;
	memcpy(&h, c->in + used, sizeof(h));
	/* Checked before its bytes arrive: they may be 4 GiB. */
	return msg_check(&h, c->peer, c->self) != NULL ||
	    c->in_len - used >= sizeof(h) + h.length;
}

/*
 * A descriptor came with the last read, so it belongs to the last frame in the
 * buffer, or to none.  An incomplete header is not checked yet.
 */
static int
received_fd_is_stray(const struct channel *c)
{
	struct msg_header h;
	size_t at = 0;

	while (c->received_fd != -1 && c->in_len - at >= sizeof(h)) {
		memcpy(&h, c->in + at, sizeof(h));
		if (msg_check(&h, c->peer, c->self) != NULL)
			break; /* frame_deliver() reports it */
		if (c->in_len - at <= sizeof(h) + h.length)
			return (h.flags & MSG_FLAG_FD) == 0;
		at += sizeof(h) + h.length;
	}
	return 0;
}

/* Removes the delivered frames from the buffer. */
static void
in_shift(struct channel *c, size_t used)
{
	if (used > 0) {
		memmove(c->in, c->in + used, c->in_len - used);
		c->in_len -= used;
	}
	/* Frees the memory of a long frame. */
	if (c->in_len == 0 && c->in_cap > 4 * READ_STEP) {
		free(c->in);
		c->in = NULL;
		c->in_cap = 0;
	}
}

/*
 * In the next turn of the event loop, after all other events: event_active() in
 * a handler would run again before the loop polls.
 */
static void
next_turn(struct channel *c)
{
	static const struct timeval at_once;

	if (event_add(c->next_turn, &at_once) == -1)
		channel_fail(c, "out of memory");
}

/* Returns 1 when c is freed. */
static int
frames_deliver(struct channel *c)
{
	size_t used = 0;
	int n = 0;

	while (!c->broken && frame_is_complete(c, used)) {
		if (n++ == BURST) {
			next_turn(c);
			break;
		}
		if (frame_deliver(c, &used))
			return 1;
	}
	in_shift(c, used);
	return 0;
}

static int
in_reserve(struct channel *c)
{
	struct msg_header h;
	size_t want = c->in_len + READ_STEP;
	uint8_t *p;

	if (c->in != NULL && c->in_len >= sizeof(h)) {
		memcpy(&h, c->in, sizeof(h));
		if (h.length <= MSG_PAYLOAD_MAX && sizeof(h) + h.length > want)
			want = sizeof(h) + h.length;
	}
	if (want <= c->in_cap)
		return 0;
	p = realloc(c->in, want);
	if (p == NULL)
		return -1;
	c->in = p;
	c->in_cap = want;
	return 0;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;
	ssize_t got;
	int n_received;

	/*
	 * While a complete frame waits for its turn, nothing is read: further
	 * data stays in the socket, and the next descriptor cannot belong to a
	 * frame in the buffer.
	 */
	if (frames_deliver(c) || c->broken || frame_is_complete(c, 0))
		return;
	if (in_reserve(c) == -1) {
		channel_fail(c, "out of memory");
		return;
	}
	n_received = c->received_fd != -1;
	got = frame_recvmsg(c->fd, c->in + c->in_len, c->in_cap - c->in_len,
	    &c->received_fd, &n_received, 1);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == -1)
		channel_fail(c, strerror(errno));
	else if (got == 0)
		channel_fail(c, "closed by the peer");
	else {
		c->in_len += (size_t)got;
		if (received_fd_is_stray(c))
			channel_fail(c, "a descriptor without a frame for it");
		frames_deliver(c);
	}
}

/* 0 when all is written or the socket is full, -1 when it is broken. */
static int
out_flush(struct channel *c)
{
	struct out_frame *f;
	ssize_t n;

	while ((f = c->out) != NULL) {
		n = frame_sendmsg(c->fd, f->bytes + f->sent, f->len - f->sent,
		    f->sent == 0 ? f->fd : -1);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return event_add(c->writable, NULL);
		if (n == -1)
			return -1;
		f->sent += (size_t)n;
		c->out_bytes -= (size_t)n;
		if (f->sent < f->len)
			continue;
		c->out = f->next;
		if (c->out == NULL)
			c->out_tail = &c->out;
		out_frame_free(f);
	}
	return 0;
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;

	if (!c->broken && out_flush(c) == -1)
		channel_fail(c, strerror(errno));
	c->busy++;
	if (c->broken && !c->freed) {
		event_del(c->writable);
		c->ops->on_broken(c, c->why, c->arg);
	} else if (c->above_high_mark && c->out_bytes < CHANNEL_LOW_MARK) {
		c->above_high_mark = 0;
		if (c->ops->on_drained != NULL)
			c->ops->on_drained(c, c->arg);
	}
	handler_leave(c);
}

struct channel *
channel_new(struct event_base *base, int fd, enum role self, enum role peer,
    const struct channel_ops *ops, void *arg)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		close(fd);
		return NULL;
	}
	c->fd = fd;
	c->received_fd = -1;
	c->self = self;
	c->peer = peer;
	c->ops = ops;
	c->arg = arg;
	c->out_tail = &c->out;
	if (evutil_make_socket_nonblocking(fd) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		goto fail;
	passing_inline(fd);
	if (!msg_has_fd(peer, self))
		passing_refuse(fd);
	c->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(base, fd, EV_WRITE, on_writable, c);
	c->next_turn = evtimer_new(base, on_readable, c);
	if (c->readable == NULL || c->writable == NULL ||
	    c->next_turn == NULL || event_add(c->readable, NULL) == -1)
		goto fail;
	return c;
fail:
	channel_destroy(c);
	return NULL;
}

static struct out_frame *
out_frame_new(const struct msg_header *h, const struct writer *w, int fd)
{
	struct out_frame *f = malloc(sizeof(*f) + sizeof(*h) + h->length);

	if (f == NULL)
		return NULL;
	f->next = NULL;
	f->len = sizeof(*h) + h->length;
	f->sent = 0;
	f->fd = fd;
	memcpy(f->bytes, h, sizeof(*h));
	if (h->length > 0)
		memcpy(f->bytes + sizeof(*h), w->buf, h->length);
	return f;
}

int
channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd)
{
	struct msg_header h;
	struct out_frame *f;

	if (c->broken ||
	    frame_header(&h, c->self, c->peer, type, id, w, fd) == -1)
		goto refuse;
	if (c->out_bytes > CHANNEL_OUTPUT_MAX) {
		channel_fail(c, "the peer does not read");
		goto refuse;
	}
	f = out_frame_new(&h, w, fd);
	if (f == NULL) {
		channel_fail(c, "out of memory");
		goto refuse;
	}
	*c->out_tail = f;
	c->out_tail = &f->next;
	c->out_bytes += f->len;
	if (c->out_bytes > CHANNEL_HIGH_MARK)
		c->above_high_mark = 1;
	if (c->out == f && out_flush(c) == -1)
		channel_fail(c, strerror(errno));
	return 0;
refuse:
	if (fd != -1)
		close(fd);
	return -1;
}

int
channel_full(const struct channel *c)
{
	return c->above_high_mark;
}

int
channel_flush(struct channel *c, int timeout_ms)
{
	long long end = clock_ms() + timeout_ms;

	while (!c->broken && out_flush(c) == 0) {
		if (c->out == NULL)
			return 0;
		if (clock_left(end) == 0 ||
		    frame_wait(c->fd, POLLOUT, end) == -1)
			break;
	}
	return -1;
}
