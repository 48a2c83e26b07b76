/* SPDX-License-Identifier: MIT */
/* Frames by single system calls, and whole ones; see frame.h. */
#include "config.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/ipc/frame.h"
#include "common/ipc/passing.h"
#include "common/log.h"

#define WRITE_MS 5000 /* a reader that is slower has failed */
#define FDS_MAX	 253  /* of one message: SCM_MAX_FD of the kernel */

int
frame_header(struct msg_header *h, enum role self, enum role peer,
    enum msg_type type, uint64_t id, const struct writer *w, int fd)
{
	const char *wrong;

	memset(h, 0, sizeof(*h));
	if (w != NULL && (wr_end(w) == -1 || w->len > MSG_PAYLOAD_MAX)) {
		log_warnx("message %s is too long; not sent", msg_name(type));
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

ssize_t
frame_sendmsg(int fd, const uint8_t *p, size_t len, int pass)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;

	if (pass == -1)
		return send(fd, p, len, MSG_NOSIGNAL);
	memcpy(&iov.iov_base, &p, sizeof(p));
	memset(&control, 0, sizeof(control));
	m.msg_control = &control;
	m.msg_controllen = sizeof(control);
	cm = CMSG_FIRSTHDR(&m);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &pass, sizeof(pass));
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* -1 when there are more than max; the others are closed. */
static int
fds_store(struct msghdr *m, int *fds, int *n, int max)
{
	struct cmsghdr *cm;
	int fd, rc = 0;
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
			else {
				passing_close(fd);
				rc = -1;
			}
		}
	}
	return rc;
}

ssize_t
frame_recvmsg(int fd, void *buf, size_t len, int *fds, int *n, int max)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);

	if (got == -1)
		return -1;
	if (fds_store(&m, fds, n, max) == -1 || (m.msg_flags & MSG_CTRUNC)) {
		errno = EPROTO;
		return -1;
	}
	return got;
}

int
frame_wait(int fd, short what, long long end)
{
	struct pollfd p = { .fd = fd, .events = what };
	int n;

	do
		n = poll(&p, 1, clock_left(end));
	while (n == -1 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n == 1 ? 0 : -1;
}

static int
read_exactly(int fd, void *buf, size_t len, int *passed, long long end)
{
	uint8_t *p = buf;
	ssize_t n;
	int count = *passed != -1 ? 1 : 0;

	while (len > 0) {
		if (frame_wait(fd, POLLIN, end) == -1)
			return -1;
		n = frame_recvmsg(fd, p, len, passed, &count, 1);
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
	long long end = clock_ms() + timeout_ms;
	int announced;

	*payload = NULL;
	*passed_fd = -1;
	if (read_exactly(fd, h, sizeof(*h), passed_fd, end) == -1)
		goto fail;
	errno = EPROTO;
	if (msg_check(h, peer, self) != NULL)
		goto fail;
	*payload = malloc(h->length + 1u);
	if (*payload == NULL ||
	    read_exactly(fd, *payload, h->length, passed_fd, end) == -1)
		goto fail;
	announced = (h->flags & MSG_FLAG_FD) != 0;
	if (announced == (*passed_fd != -1))
		return 0;
	errno = EPROTO;
fail:
	if (*passed_fd != -1)
		passing_close(*passed_fd);
	*passed_fd = -1;
	free(*payload);
	*payload = NULL;
	return -1;
}

static int
write_exactly(int fd, const uint8_t *p, size_t len, int pass)
{
	long long end = clock_ms() + WRITE_MS;
	ssize_t n;

	while (len > 0) {
		n = frame_sendmsg(fd, p, len, pass);
		if (n == -1 && errno == EAGAIN &&
		    frame_wait(fd, POLLOUT, end) == 0)
			continue;
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		p += n;
		len -= (size_t)n;
		pass = -1; /* it was sent with the first byte */
	}
	return 0;
}

int
frame_write(int fd, enum role self, enum role peer, enum msg_type type,
    uint64_t id, const struct writer *w, int fd_to_pass)
{
	struct msg_header h;
	uint8_t *bytes;
	size_t len;
	int rc;

	if (frame_header(&h, self, peer, type, id, w, fd_to_pass) == -1)
		return -1;
	len = sizeof(h) + h.length;
	if ((bytes = malloc(len)) == NULL)
		return -1;
	memcpy(bytes, &h, sizeof(h));
	if (h.length > 0)
		memcpy(bytes + sizeof(h), w->buf, h.length);
	rc = write_exactly(fd, bytes, len, fd_to_pass);
	explicit_bzero(bytes, len);
	free(bytes);
	return rc;
}
