/* SPDX-License-Identifier: MIT */
/*
 * The reply of a compromised daemon, as the admin tool of root reads it.  The first
 * byte selects whether the rest is the reply, or rows and ends, in lines, that get
 * their headers here.  The tool accepts exactly the replies that end with a valid
 * end behind valid rows, with these rows and this text.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/codec.h"
#include "ctl/ctl.h"
#include "tests/fuzz/fuzz.h"

#define REPLY_MAX \
	16384	 /* bytes of a reply; they fit into the socket's buffer */
#define HEADER 5 /* length and kind of a frame */

static int far, near; /* the ends of the connection */

int __wrap_socket(int family, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);

int
__wrap_socket(int family, int type, int protocol)
{
	return near;
}

int
__wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	HOLDS(fd == near);
	return 0;
}

/* A line is a frame: its first byte is the kind. */
static void
frames_make(struct writer *w, const uint8_t *p, size_t n)
{
	const uint8_t *nl;
	size_t len;

	for (; n > 0; p += len, n -= len) {
		nl = memchr(p, '\n', n);
		len = nl != NULL ? (size_t)(nl - p) : n;
		if (len > 0) {
			wr_u32(w, (uint32_t)(len - 1));
			wr_u8(w, p[0] % 4);
			wr_mem(w, p + 1, len - 1);
		}
		len += nl != NULL;
	}
}

static int
text_is_valid(struct reader *r)
{
	size_t len = 0;
	const uint8_t *p = rd_blob(r, &len);

	return p != NULL && memchr(p, '\0', len) == NULL;
}

static int
row_is_valid(struct reader *r)
{
	unsigned n;

	rd_u8(r);
	n = rd_u8(r);
	if (n > CTL_COLUMNS_MAX)
		return 0;
	while (n-- > 0)
		if (!text_is_valid(r))
			return 0;
	return rd_end(r) == 0;
}

/* Returns 0 with the number of rows, or -1 when the reply is not valid. */
static int
expect(const uint8_t *p, size_t n, size_t *rows)
{
	struct reader r;
	uint32_t len;
	uint8_t kind;

	for (*rows = 0; n >= HEADER; p += HEADER + len, n -= HEADER + len) {
		memcpy(&len, p, sizeof(len));
		kind = p[sizeof(len)];
		if (len > CTL_REPLY_MAX || len > n - HEADER)
			return -1;
		rd_init(&r, p + HEADER, len);
		if (kind == CTL_KIND_END)
			return rd_u8(&r) <= CTL_DENIED && text_is_valid(&r) &&
				rd_end(&r) == 0 ?
			    0 :
			    -1;
		if (kind != CTL_KIND_ROW || !row_is_valid(&r))
			return -1;
		++*rows;
	}
	return -1;
}

static void
reply_holds(const struct ctl_reply *a, int rc, const char *reason)
{
	size_t i;
	unsigned k;

	if (rc == -1)
		HOLDS(*reason != '\0');
	else
		HOLDS((unsigned)a->status <= CTL_DENIED && a->text != NULL);
	for (i = 0; i < a->n; i++) {
		HOLDS(a->rows[i].n <= CTL_COLUMNS_MAX);
		for (k = 0; k < a->rows[i].n; k++)
			HOLDS(strlen(a->rows[i].fields[k]) <= CTL_REPLY_MAX);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct ctl_request req = { .verb = CTL_STATUS };
	struct ctl_reply reply;
	char reason[512] = "";
	struct writer w;
	size_t rows;
	int fds[2], rc;

	fuzz_quiet();
	if (n < 1)
		return 0;
	wr_init(&w, REPLY_MAX);
	if (bytes[0] & 1)
		wr_mem(&w, bytes + 1, n - 1);
	else
		frames_make(&w, bytes + 1, n - 1);
	if (wr_end(&w) == -1) {
		wr_clear(&w);
		return 0;
	}
	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	near = fds[0];
	far = fds[1];
	HOLDS(w.len == 0 ||
	    send(far, w.buf, w.len, MSG_NOSIGNAL) == (ssize_t)w.len);
	HOLDS(shutdown(far, SHUT_WR) == 0);
	rc = request_send("/daemon", &req, &reply, reason, sizeof(reason));
	HOLDS(rc == expect(w.buf, w.len, &rows));
	if (rc == 0)
		HOLDS(reply.n == rows);
	reply_holds(&reply, rc, reason);
	reply_clear(&reply);
	close(far);
	wr_clear(&w);
	return 0;
}
