/* SPDX-License-Identifier: MIT */
/* The connection to the daemon: blocking, each wait with a time limit. */
#include "config.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "ctl/ctl.h"

/* More than the daemon's own limit, so that the daemon can tell the reason. */
#define EXTRA_SECONDS 15
#define FIELD_BYTES   32 /* of malloc(3), beside the text */
#define NO_REPLY      "no reply: the daemon does not answer"

static int
connect_to(const char *path, unsigned seconds, char *reason, size_t size)
{
	struct timeval limit = { seconds, 0 };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path)) {
		snprintf(reason, size, "%s: the path is too long for a socket",
		    path);
		return -1;
	}
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == -1) {
		snprintf(reason, size, "cannot reach the daemon at %s: %s%s",
		    path, strerror(errno),
		    errno == ENOENT || errno == ECONNREFUSED ?
			"; is it running?" :
			errno == EACCES ? "; only root and ctlUsers are "
					  "allowed" :
					  "");
		if (fd != -1)
			close(fd);
		return -1;
	}
	return fd;
}

static int
send_all(int fd, const void *buf, size_t len, char *reason, size_t size)
{
	const char *p = buf;
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1) {
			snprintf(reason, size,
			    "the daemon closed the connection: %s",
			    strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int
receive_all(int fd, void *buf, size_t len, char *reason, size_t size)
{
	char *p = buf;
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n) {
		n = recv(fd, p, len, 0);
		if (n == -1 && errno == EINTR) {
			n = 0;
			continue;
		}
		if (n > 0)
			continue;
		if (n == 0)
			snprintf(reason, size,
			    "the daemon closed the connection: not allowed, or "
			    "the daemon ended");
		else if (errno == EAGAIN)
			snprintf(reason, size, NO_REPLY);
		else
			snprintf(reason, size, "no reply: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/* With the largest overhead of malloc(3) for a text. */
static size_t
row_bytes(const struct ctl_row *row)
{
	size_t bytes = sizeof(*row);
	unsigned i;

	for (i = 0; i < row->n; i++)
		bytes += strlen(row->fields[i]) + FIELD_BYTES;
	return bytes;
}

int
reply_add(struct ctl_reply *a, const uint8_t *payload, size_t len)
{
	struct ctl_row row = { .n = 0 };
	struct reader r;
	struct ctl_row *rows;
	size_t bytes = 0;
	unsigned i, n;

	rd_init(&r, payload, len);
	row.table = rd_u8(&r);
	n = rd_u8(&r);
	if (n > CTL_COLUMNS_MAX)
		rd_fail(&r);
	for (i = 0; i < n && !r.err; i++)
		row.fields[row.n++] = rd_strdup(&r, CTL_REPLY_MAX);
	if (rd_end(&r) == -1)
		goto bad;
	bytes = row_bytes(&row);
	a->is_full = a->n == ROWS_MAX || bytes > REPLY_BYTES_MAX - a->bytes;
	if (a->is_full)
		goto bad;
	rows = array_reserve(a->rows, &a->cap, a->n + 1, sizeof(*rows));
	if (rows == NULL)
		goto bad;
	a->rows = rows;
	a->rows[a->n++] = row;
	a->bytes += bytes;
	return 0;
bad:
	for (i = 0; i < row.n; i++)
		free(row.fields[i]);
	return -1;
}

void
reply_full_text(char *reason, size_t size)
{
	snprintf(reason, size,
	    "the reply is too long: it has more than %u rows, or its rows need "
	    "more than %u MiB of memory",
	    ROWS_MAX, REPLY_BYTES_MAX >> 20);
}

static int
reply_end(struct ctl_reply *a, const uint8_t *payload, size_t len)
{
	struct reader r;
	unsigned status;

	rd_init(&r, payload, len);
	status = rd_u8(&r);
	a->text = rd_strdup(&r, CTL_REPLY_MAX);
	if (rd_end(&r) == -1 || status > CTL_DENIED)
		return -1;
	a->status = (enum ctl_status)status;
	return 0;
}

void
reply_clear(struct ctl_reply *a)
{
	size_t i;
	unsigned k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < a->rows[i].n; k++)
			free(a->rows[i].fields[k]);
	free(a->rows);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/*
 * Waits for the next byte of the reply and shows that the tool waits.  Returns 0, or
 * -1 after this number of seconds without a byte.
 */
static int
reply_wait(int fd, unsigned seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned i;

	for (i = 0; i < seconds; i++) {
		if (poll(&p, 1, 1000) != 0)
			return 0;
		progress_wait(seconds);
	}
	return -1;
}

/* Reads one frame: 1 when it is the last, 0 when not, -1 with a reason. */
static int
receive_frame(int fd, struct ctl_reply *a, char *reason, size_t size)
{
	static uint8_t payload[CTL_REPLY_MAX];
	uint32_t len;
	uint8_t kind;
	int rc;

	if (receive_all(fd, &len, sizeof(len), reason, size) == -1 ||
	    receive_all(fd, &kind, sizeof(kind), reason, size) == -1)
		return -1;
	if (len > sizeof(payload))
		goto bad;
	if (receive_all(fd, payload, len, reason, size) == -1)
		return -1;
	if (kind == CTL_KIND_ROW)
		rc = reply_add(a, payload, len);
	else if (kind == CTL_KIND_END)
		rc = reply_end(a, payload, len) == -1 ? -1 : 1;
	else
		goto bad;
	if (rc != -1)
		return rc;
	if (a->is_full) {
		reply_full_text(reason, size);
		return -1;
	}
bad:
	snprintf(reason, size,
	    "the reply is not valid: the tool and the daemon have different "
	    "versions, or the tool is out of memory");
	return -1;
}

int
request_send(const char *path, const struct ctl_request *req,
    struct ctl_reply *a, char *reason, size_t size)
{
	unsigned seconds = ctl_seconds(req->verb) + EXTRA_SECONDS;
	int fd, rc = -1;

	memset(a, 0, sizeof(*a));
	if ((fd = connect_to(path, seconds, reason, size)) == -1)
		return -1;
	/* The daemon replies to a refused user without reading the request. */
	(void)send_all(fd, req, sizeof(*req), reason, size);
	do {
		if (reply_wait(fd, seconds) == -1) {
			snprintf(reason, size, NO_REPLY);
			break;
		}
		rc = receive_frame(fd, a, reason, size);
	} while (rc == 0);
	close(fd);
	return rc == 1 ? 0 : -1;
}
