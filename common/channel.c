/* SPDX-License-Identifier: MIT */
/*
 * Frames over a socketpair; see channel.h.
 *
 * A descriptor travels with the first byte of its frame.  The kernel ends a
 * read behind bytes that carry one, so descriptors arrive in order and no
 * later than their frame: they wait in a short queue until it is complete.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/channel.h"
#include "common/log.h"

#define READ_STEP	(64u * 1024)	/* one recvmsg */
#define FD_QUEUE	16		/* descriptors that wait for their frame */
#define BURST		64		/* frames handled before others get a turn */

struct frame {
	struct frame	*next;
	size_t		 len;	/* header and payload */
	size_t		 sent;
	int		 fd;	/* -1, or to go with the first byte */
	uint8_t		 bytes[];
};

struct channel {
	struct event	*readable;
	struct event	*writable;
	const struct channel_ops *ops;
	void		*arg;
	int		 fd;
	enum role	 self;
	enum role	 peer;
	uint8_t		*in;
	size_t		 in_len;
	size_t		 in_cap;
	int		 fds[FD_QUEUE];
	int		 n_fds;
	struct frame	*out;
	struct frame	**out_tail;
	size_t		 out_bytes;
	int		 above;		/* the high mark was crossed */
	int		 held;
	int		 broken;
	int		 busy;		/* inside a handler */
	int		 freed;		/* free it when the handler is back */
	char		 why[128];
};

static void
fds_close(struct channel *c)
{
	while (c->n_fds > 0)
		close(c->fds[--c->n_fds]);
}

static void
frame_free(struct frame *f)
{
	if (f->fd != -1)
		close(f->fd);
	explicit_bzero(f->bytes, f->len);
	free(f);
}

static void
channel_destroy(struct channel *c)
{
	struct frame *f;

	while ((f = c->out) != NULL) {
		c->out = f->next;
		frame_free(f);
	}
	fds_close(c);
	if (c->readable != NULL)
		event_free(c->readable);
	if (c->writable != NULL)
		event_free(c->writable);
	if (c->fd != -1)
		close(c->fd);
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
		return;
	}
	channel_destroy(c);
}

enum role
channel_peer(const struct channel *c)
{
	return c->peer;
}

/* Marks it dead and lets the loop tell the owner, never the caller's stack. */
static void
breaks(struct channel *c, const char *why)
{
	if (c->broken)
		return;
	c->broken = 1;
	snprintf(c->why, sizeof(c->why), "%s", why);
	event_del(c->readable);
	event_active(c->writable, EV_WRITE, 0);
}

void
channel_broken(struct channel *c, const char *what)
{
	char why[128];

	snprintf(why, sizeof(why), "malformed %s", what);
	breaks(c, why);
}

/* A free asked for inside a handler is done here.  1: c is gone. */
static int
leave(struct channel *c)
{
	c->busy--;
	if (c->busy == 0 && c->freed) {
		channel_destroy(c);
		return 1;
	}
	return 0;
}

/* Handles what is complete.  1: c is gone. */
static int
deliver(struct channel *c, size_t *used)
{
	struct msg_header h;
	struct reader r;
	const char *wrong;
	char why[128];
	int fd = -1;

	memcpy(&h, c->in + *used, sizeof(h));
	wrong = msg_check(&h, c->peer, c->self);
	if (wrong == NULL && (h.flags & MSG_FLAG_FD) && c->n_fds == 0)
		wrong = "its descriptor did not come";
	if (wrong != NULL) {
		snprintf(why, sizeof(why), "%s of %u bytes: %s",
		    msg_name(h.type), h.length, wrong);
		breaks(c, why);
		return 0;
	}
	if (h.flags & MSG_FLAG_FD) {
		fd = c->fds[0];
		c->n_fds--;
		memmove(c->fds, c->fds + 1, (size_t)c->n_fds * sizeof(int));
	}
	rd_init(&r, c->in + *used + sizeof(h), h.length);
	*used += sizeof(h) + h.length;
	c->busy++;
	c->ops->on_frame(c, &h, &r, fd, c->arg);
	return leave(c);
}

static int
complete(const struct channel *c, size_t used, const char **wrong)
{
	struct msg_header h;

	*wrong = NULL;
	if (c->in_len - used < sizeof(h))
		return 0;
	memcpy(&h, c->in + used, sizeof(h));
	/* Before its bytes are awaited: nobody makes us wait for 4 GiB. */
	*wrong = msg_check(&h, c->peer, c->self);
	return *wrong != NULL || c->in_len - used >= sizeof(h) + h.length;
}

/* Returns 1 when c is gone. */
static int
deliver_all(struct channel *c)
{
	size_t used = 0;
	const char *wrong;
	int n = 0;

	while (!c->broken && !c->held && complete(c, used, &wrong)) {
		if (n++ == BURST) {
			event_active(c->readable, EV_READ, 0);
			break;
		}
		if (deliver(c, &used))
			return 1;
	}
	if (used > 0) {
		memmove(c->in, c->in + used, c->in_len - used);
		c->in_len -= used;
	}
	/* A long frame's memory is not kept for ever. */
	if (c->in_len == 0 && c->in_cap > 4 * READ_STEP) {
		free(c->in);
		c->in = NULL;
		c->in_cap = 0;
	}
	return 0;
}

static int
room(struct channel *c)
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
keep_fds(struct msghdr *m, int *fds, int *n, int max)
{
	struct cmsghdr *cm;
	int fd;
	size_t i, count;

	for (cm = CMSG_FIRSTHDR(m); cm != NULL; cm = CMSG_NXTHDR(m, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		count = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int),
			    sizeof(fd));
			if (*n < max)
				fds[(*n)++] = fd;
			else
				close(fd);
		}
	}
}

static ssize_t
receive(int fd, void *buf, size_t len, int *fds, int *n, int max)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);

	if (got >= 0)
		keep_fds(&m, fds, n, max);
	return got;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;
	ssize_t got;

	if (deliver_all(c) || c->broken || c->held)
		return;
	if (room(c) == -1) {
		breaks(c, "out of memory");
		return;
	}
	got = receive(fd, c->in + c->in_len, c->in_cap - c->in_len, c->fds,
	    &c->n_fds, FD_QUEUE);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == -1)
		breaks(c, strerror(errno));
	else if (got == 0)
		breaks(c, "it hung up");
	else {
		c->in_len += (size_t)got;
		deliver_all(c);
	}
}

static ssize_t
send_some(int fd, const uint8_t *p, size_t len, int pass)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;

	memcpy(&iov.iov_base, &p, sizeof(p));
	if (pass != -1) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		cm = CMSG_FIRSTHDR(&m);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &pass, sizeof(pass));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* 0 when all is out or the socket is full, -1 when it is broken. */
static int
flush(struct channel *c)
{
	struct frame *f;
	ssize_t n;

	while ((f = c->out) != NULL) {
		n = send_some(c->fd, f->bytes + f->sent, f->len - f->sent,
		    f->sent == 0 ? f->fd : -1);
		if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
			event_add(c->writable, NULL);
			return 0;
		}
		if (n == -1)
			return -1;
		f->sent += (size_t)n;
		c->out_bytes -= (size_t)n;
		if (f->sent < f->len)
			continue;
		c->out = f->next;
		if (c->out == NULL)
			c->out_tail = &c->out;
		frame_free(f);
	}
	return 0;
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;

	if (!c->broken && flush(c) == -1)
		breaks(c, strerror(errno));
	c->busy++;
	if (c->broken && !c->freed) {
		event_del(c->writable);
		c->ops->on_broken(c, c->why, c->arg);
	} else if (c->above && c->out_bytes < CHANNEL_LOW_MARK) {
		c->above = 0;
		if (c->ops->on_drained != NULL)
			c->ops->on_drained(c, c->arg);
	}
	leave(c);
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
	c->self = self;
	c->peer = peer;
	c->ops = ops;
	c->arg = arg;
	c->out_tail = &c->out;
	if (evutil_make_socket_nonblocking(fd) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		goto fail;
	c->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(base, fd, EV_WRITE, on_writable, c);
	if (c->readable == NULL || c->writable == NULL ||
	    event_add(c->readable, NULL) == -1)
		goto fail;
	return c;
fail:
	channel_destroy(c);
	return NULL;
}

static struct frame *
frame_new(const struct msg_header *h, const struct writer *w, int fd)
{
	struct frame *f = malloc(sizeof(*f) + sizeof(*h) + h->length);

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

static int
header_fill(struct msg_header *h, enum role self, enum role peer,
    enum msg_type type, uint64_t id, const struct writer *w, int fd)
{
	const char *wrong;

	memset(h, 0, sizeof(*h));
	if (w != NULL && (wr_end(w) == -1 || w->len > MSG_PAYLOAD_MAX)) {
		log_warnx("message %s does not fit, not sent", msg_name(type));
		return -1;
	}
	h->type = (uint16_t)type;
	h->flags = fd != -1 ? MSG_FLAG_FD : 0;
	h->length = w != NULL ? (uint32_t)w->len : 0;
	h->id = id;
	wrong = msg_check(h, self, peer);
	if (wrong != NULL) {
		log_errorx("message %s of %u bytes to the %s: %s, not sent",
		    msg_name(type), h->length, role_name(peer), wrong);
		return -1;
	}
	return 0;
}

int
channel_send(struct channel *c, enum msg_type type, uint64_t id,
    const struct writer *w, int fd)
{
	struct msg_header h;
	struct frame *f;

	if (c->broken ||
	    header_fill(&h, c->self, c->peer, type, id, w, fd) == -1)
		goto refuse;
	if (c->out_bytes > CHANNEL_OUTPUT_MAX) {
		breaks(c, "it does not read");
		goto refuse;
	}
	f = frame_new(&h, w, fd);
	if (f == NULL) {
		breaks(c, "out of memory");
		goto refuse;
	}
	*c->out_tail = f;
	c->out_tail = &f->next;
	c->out_bytes += f->len;
	if (c->out_bytes > CHANNEL_HIGH_MARK)
		c->above = 1;
	if (c->out == f && flush(c) == -1)
		breaks(c, strerror(errno));
	return 0;
refuse:
	if (fd != -1)
		close(fd);
	return -1;
}

int
channel_full(const struct channel *c)
{
	return c->above;
}

size_t
channel_pending(const struct channel *c)
{
	return c->out_bytes;
}

void
channel_hold(struct channel *c, int hold)
{
	if (c->held == hold || c->broken)
		return;
	c->held = hold;
	if (hold)
		event_del(c->readable);
	else {
		event_add(c->readable, NULL);
		event_active(c->readable, EV_READ, 0);
	}
}

static int
wait_for(int fd, short what, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = what };
	int n;

	do
		n = poll(&p, 1, timeout_ms);
	while (n == -1 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n == 1 ? 0 : -1;
}

int
channel_flush(struct channel *c, int timeout_ms)
{
	struct timespec begin, now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (!c->broken && flush(c) == 0) {
		if (c->out == NULL)
			return 0;
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = timeout_ms - (now.tv_sec - begin.tv_sec) * 1000LL -
		    (now.tv_nsec - begin.tv_nsec) / 1000000;
		if (left <= 0 || wait_for(c->fd, POLLOUT, (int)left) == -1)
			break;
	}
	return -1;
}

static int
read_exactly(int fd, void *buf, size_t len, int *passed, int timeout_ms)
{
	uint8_t *p = buf;
	ssize_t n;
	int count = *passed != -1 ? 1 : 0;

	while (len > 0) {
		if (wait_for(fd, POLLIN, timeout_ms) == -1)
			return -1;
		n = receive(fd, p, len, passed, &count, 1);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = EPIPE;
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int
frame_read(int fd, enum role self, enum role peer, struct msg_header *h,
    uint8_t **payload, int *passed_fd, int timeout_ms)
{
	*payload = NULL;
	*passed_fd = -1;
	if (read_exactly(fd, h, sizeof(*h), passed_fd, timeout_ms) == -1)
		goto fail;
	errno = EPROTO;
	if (msg_check(h, peer, self) != NULL ||
	    ((h->flags & MSG_FLAG_FD) != 0) != (*passed_fd != -1))
		goto fail;
	*payload = malloc(h->length + 1u);
	if (*payload == NULL ||
	    read_exactly(fd, *payload, h->length, passed_fd, timeout_ms) == -1)
		goto fail;
	return 0;
fail:
	if (*passed_fd != -1)
		close(*passed_fd);
	*passed_fd = -1;
	free(*payload);
	*payload = NULL;
	return -1;
}

int
frame_write(int fd, enum role self, enum role peer, enum msg_type type,
    uint64_t id, const struct writer *w, int fd_to_pass)
{
	struct msg_header h;
	struct frame *f;
	ssize_t n;
	int rc = -1;

	if (header_fill(&h, self, peer, type, id, w, fd_to_pass) == -1)
		return -1;
	f = frame_new(&h, w, -1);
	if (f == NULL)
		return -1;
	while (f->sent < f->len) {
		n = send_some(fd, f->bytes + f->sent, f->len - f->sent,
		    f->sent == 0 ? fd_to_pass : -1);
		if (n == -1 && errno == EAGAIN &&
		    wait_for(fd, POLLOUT, 5000) == 0)
			continue;
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			goto done;
		f->sent += (size_t)n;
	}
	rc = 0;
done:
	frame_free(f);
	return rc;
}
