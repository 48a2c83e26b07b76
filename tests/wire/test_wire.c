/* SPDX-License-Identifier: MIT */
/*
 * Feeds the frames of frames.txt to a channel as bytes: whole, and one byte
 * at a time, for a reader must not care where a read ends.
 */
#include "config.h"

#include <sys/socket.h>

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/ipc/channel.h"
#include "common/log.h"
#include "tests/unit/check.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define COLUMNS	  8
#define BYTES_MAX 4096

enum column {
	NAME,
	FROM,
	TO,
	TYPE,
	FLAGS,
	LENGTH,
	PAYLOAD,
	OUTCOME
};

struct seen {
	unsigned frames;
	int fds;
	int broken;
	char why[256];
};

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct seen *seen = arg;

	seen->frames++;
	if (fd != -1) {
		seen->fds++;
		close(fd);
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	struct seen *seen = arg;

	seen->broken++;
	snprintf(seen->why, sizeof(seen->why), "%s", why);
}

static const struct channel_ops ops = { .on_frame = on_frame,
	.on_broken = on_broken };

static char *
trim(char *s)
{
	char *end = s + strlen(s);

	while (isspace((unsigned char)*s))
		s++;
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

/* 1 when the line has all columns. */
static int
split(char *line, char **cols)
{
	int n = 0;
	char *p = line, *next;

	for (; n < COLUMNS; n++, p = next) {
		next = strchr(p, '|');
		if (next != NULL)
			*next++ = '\0';
		cols[n] = trim(p);
		if (next == NULL)
			return n == COLUMNS - 1;
	}
	return 0;
}

static enum role
role_of(const char *name)
{
	int role;

	for (role = 0; role < ROLE__COUNT; role++)
		if (strcmp(role_name((enum role)role), name) == 0)
			return (enum role)role;
	CHECK_STR(name, "a role");
	return ROLE_SUPERVISOR;
}

static unsigned
type_of(const char *name)
{
	unsigned type;

	if (strcmp(name, "count") == 0)
		return MSG__COUNT;
	for (type = 0; type < MSG__COUNT; type++)
		if (strcmp(msg_name(type), name) == 0)
			return type;
	CHECK(isdigit((unsigned char)name[0]));
	return (unsigned)strtoul(name, NULL, 10);
}

static size_t
hex(const char *s, uint8_t *out)
{
	size_t n = 0;
	unsigned byte;

	for (; *s != '\0'; s++) {
		if (*s == ' ')
			continue;
		CHECK(sscanf(s, "%2x", &byte) == 1);
		out[n++] = (uint8_t)byte;
		s++;
	}
	return n;
}

static size_t
frame_build(char **cols, uint8_t *out)
{
	struct msg_header h = { .type = (uint16_t)type_of(cols[TYPE]) };
	size_t n = hex(cols[PAYLOAD], out + sizeof(h));

	if (strcmp(cols[FLAGS], "fd") == 0 ||
	    strcmp(cols[FLAGS], "fd-lie") == 0)
		h.flags = MSG_FLAG_FD;
	else if (isdigit((unsigned char)cols[FLAGS][0]))
		h.flags = (uint16_t)atoi(cols[FLAGS]);
	h.length = (uint32_t)n;
	if (strcmp(cols[LENGTH], "=") != 0)
		h.length = (uint32_t)strtoul(cols[LENGTH], NULL, 10);
	memcpy(out, &h, sizeof(h));
	return sizeof(h) + n;
}

static void
bytes_send(int fd, const uint8_t *p, size_t n, int pass)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_len = n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cm;

	memcpy(&iov.iov_base, &p, sizeof(p));
	if (pass) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		cm = CMSG_FIRSTHDR(&m);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &(int) { STDERR_FILENO }, sizeof(int));
	}
	/* The far side may have hung up already: that is its right. */
	if (sendmsg(fd, &m, MSG_NOSIGNAL) == -1)
		return;
}

static void
outcome_check(char **cols, const struct seen *seen)
{
	const char *want = cols[OUTCOME];
	int fd = strcmp(cols[FLAGS], "fd") == 0;

	CHECK_INT(seen->broken, 1);
	if (strcmp(want, "frame") == 0) {
		CHECK_INT(seen->frames, 1);
		CHECK_INT(seen->fds, fd);
		CHECK_STR(seen->why, "closed by the peer");
		return;
	}
	CHECK_INT(seen->frames, 0);
	if (strcmp(want, "wait") == 0)
		CHECK_STR(seen->why, "closed by the peer");
	else
		CHECK(strstr(seen->why, want) != NULL);
}

/* step bytes at a time. */
static void
frame_feed(char **cols, size_t step)
{
	struct event_base *base = event_base_new();
	struct seen seen = { 0 };
	uint8_t bytes[BYTES_MAX];
	size_t len = frame_build(cols, bytes), at, n;
	int pass = strncmp(cols[FLAGS], "fd", 2) == 0 &&
	    strcmp(cols[FLAGS], "fd-lie") != 0;
	struct channel *c;
	const int yes = 1;
	int fds[2], i;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	c = channel_new(base, fds[0], role_of(cols[TO]), role_of(cols[FROM]),
	    &ops, &seen);
	/* As on a kernel that passes every descriptor, before Linux 6.16. */
	setsockopt(fds[0], SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof(yes));
	for (at = 0; at < len; at += n) {
		n = len - at < step ? len - at : step;
		bytes_send(fds[1], bytes + at, n, pass && at == 0);
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
	close(fds[1]);
	for (i = 0; i < 10 && !seen.broken; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
	outcome_check(cols, &seen);
	channel_free(c);
	event_base_free(base);
}

int
main(int argc, char **argv)
{
	const char *dir = getenv("srcdir");
	char path[1024], line[BYTES_MAX], *cols[COLUMNS];
	int failed, n = 0;
	FILE *f;

	log_init("test", LOG_LEVEL_FATAL);
	snprintf(path, sizeof(path), "%s/tests/wire/frames.txt",
	    dir != NULL ? dir : ".");
	f = fopen(path, "r");
	CHECK(f != NULL);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		failed = check_failed;
		CHECK(split(line, cols));
		frame_feed(cols, BYTES_MAX);
		frame_feed(cols, 1);
		if (check_failed != failed)
			fprintf(stderr, "    in frame: %s\n", cols[NAME]);
		n++;
	}
	if (f != NULL)
		fclose(f);
	CHECK(n > 30);
	return check_done();
}
