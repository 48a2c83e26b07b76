/* SPDX-License-Identifier: MIT */
/*
 * Runs in a worker, in its sandbox and in its event loop; see
 * common/worker/breakout.h.  The commands of the test:
 *
 *	ATTEMPT				 see attempts.c
 *	frame PEER TYPE FLAGS LENGTH ID PATTERN  sends a frame; with a negative
 *					 pattern at most HEADER_ONLY_MAX bytes
 *	pass PEER TYPE KIND		 sends a frame with a descriptor
 *	log BYTES			 writes lines
 *	exit				 ends the process at once
 */
#include "config.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/model/msg.h"
#include "common/worker/breakout.h"
#include "common/worker/worker.h"
#include "tests/breakout/attempts.h"
#include "tests/breakout/page.h"

#define TICK_US		2000
#define SEND_WAIT_MS	8000 /* the receiver has closed, or it does not read */
#define SUPERVISOR_FD	3
#define HEADER_ONLY_MAX 64 /* bytes of payload */

static struct place *places; /* NULL: no test */
static struct place *place;  /* of this process */
static struct worker *self;
static int peers[ROLE__COUNT];
static int lingering = -1; /* see lingering_open() */

/*
 * A connection with a full buffer to a peer that does not read: its last close
 * waits.  A worker gets the connection before its sandbox: there it cannot make one,
 * but a command of Slurm can.
 */
static int
lingering_open(void)
{
	static const struct linger minute = { 1, 60 };
	static const char bytes[65536];
	struct sockaddr_in sa = { .sin_family = AF_INET };
	socklen_t len = sizeof(sa);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listening, (struct sockaddr *)&sa, len) == -1 ||
	    listen(listening, 1) == -1 ||
	    getsockname(listening, (struct sockaddr *)&sa, &len) == -1 ||
	    connect(fd, (struct sockaddr *)&sa, len) == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &minute, sizeof(minute)) ==
		-1)
		abort();
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
	return fd;
}

void
breakout_map(void)
{
	const char *path = getenv("CSA_BREAKOUT");
	int i, fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	for (i = 0; i < ROLE__COUNT; i++)
		peers[i] = -1;
	peers[ROLE_SUPERVISOR] = SUPERVISOR_FD;
	if (fd == -1)
		return;
	p = mmap(NULL, ROLE__COUNT * PLACE_SIZE, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		places = p;
	close(fd);
	lingering = lingering_open();
}

void
breakout_peer(unsigned role, int fd)
{
	peers[role] = fd;
}

/* The bytes that a hostile process writes in place of fields. */
static void
payload_fill(uint8_t *p, size_t n, int pattern)
{
	static const uint8_t text[] = { 9, 0, 0, 0, 'a', 0, 0xff, 0xfe, 0x80,
		'\n', '%', 's', 0x1b };
	static const uint8_t named[] = { 5, 0, 0, 0, 'a', 'l', 'p', 'h', 'a' };
	uint32_t random = 2463534242u + (uint32_t)pattern;
	size_t i;

	for (i = 0; i < n; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		if (pattern == 0)
			p[i] = 0;
		else if (pattern == 1)
			p[i] = 0xff;
		else if (pattern == 2)
			p[i] = text[i % sizeof(text)];
		else if (pattern == 3)
			p[i] = i < sizeof(named) ? named[i] : 0x7f;
		else
			p[i] = (uint8_t)random;
	}
}

static int
all_send(int fd, const uint8_t *p, size_t n)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t sent;

	while (n > 0) {
		sent = send(fd, p, n, MSG_NOSIGNAL);
		if (sent == -1 && errno == EAGAIN &&
		    poll(&pfd, 1, SEND_WAIT_MS) == 1)
			continue;
		if (sent == -1)
			return -1;
		p += sent;
		n -= (size_t)sent;
	}
	return 0;
}

static int64_t
frame_send(const char *args)
{
	unsigned peer, type, flags, length;
	unsigned long long id;
	struct msg_header h;
	uint8_t *bytes;
	int pattern, rc = -1;

	if (sscanf(args, "%u %u %u %u %llu %d", &peer, &type, &flags, &length,
		&id, &pattern) != 6 ||
	    peer >= ROLE__COUNT || peers[peer] == -1) {
		errno = ENOENT;
		return -1;
	}
	h = (struct msg_header) { .type = (uint16_t)type,
		.flags = (uint16_t)flags,
		.length = length,
		.id = id };
	/* A header that is refused: the receiver closes before the payload. */
	if (pattern < 0 && length > HEADER_ONLY_MAX)
		length = HEADER_ONLY_MAX;
	if ((bytes = malloc(sizeof(h) + length)) == NULL)
		return -1;
	memcpy(bytes, &h, sizeof(h));
	payload_fill(bytes + sizeof(h), length, pattern);
	rc = all_send(peers[peer], bytes, sizeof(h) + length);
	free(bytes);
	return rc;
}

static int
descriptor_of(const char *kind)
{
	int fds[2];

	if (strcmp(kind, "file") == 0)
		return open("/etc/passwd", O_RDONLY);
	if (strcmp(kind, "directory") == 0)
		return open("/", O_RDONLY | O_DIRECTORY);
	if (strcmp(kind, "null") == 0)
		return open("/dev/null", O_RDWR);
	if (strcmp(kind, "zero") == 0)
		return open("/dev/zero", O_RDONLY);
	if (strcmp(kind, "linger") == 0)
		return lingering;
	if (strcmp(kind, "eventfd") == 0)
		return eventfd(1, 0);
	if (strcmp(kind, "channel") == 0)
		return dup(SUPERVISOR_FD);
	if (strcmp(kind, "pipe") == 0)
		return pipe(fds) == 0 ? fds[0] : -1;
	if (strcmp(kind, "pipe-write") == 0)
		return pipe(fds) == 0 ? fds[1] : -1;
	return fcntl(SUPERVISOR_FD, F_DUPFD, 0);
}

static int64_t
descriptor_pass(const char *args)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = "" };
	struct msg_header h = { .flags = MSG_FLAG_FD };
	struct iovec iov = { &h, sizeof(h) };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	unsigned peer, type;
	char kind[32];
	ssize_t sent;
	int fd;

	if (sscanf(args, "%u %u %31s", &peer, &type, kind) != 3 ||
	    peer >= ROLE__COUNT || peers[peer] == -1) {
		errno = ENOENT;
		return -1;
	}
	h.type = (uint16_t)type;
	if ((fd = descriptor_of(kind)) == -1)
		return -1;
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	sent = sendmsg(peers[peer], &m, MSG_NOSIGNAL);
	/* The last close is the receiver's; without one it would be ours. */
	if (sent != -1)
		close(fd);
	if (sent != -1 && fd == lingering)
		lingering = -1;
	return sent;
}

/* Lines that end up in the log, or in the counter of suppressed lines. */
static int64_t
log_flood(const char *args)
{
	static const char line[] = "an attacker writes this line again and "
				   "again into the log of the machine\n";
	long all = strtol(args, NULL, 10), sent = 0;
	ssize_t n;

	while (sent < all) {
		n = write(STDERR_FILENO, line, sizeof(line) - 1);
		if (n <= 0)
			break;
		sent += n;
	}
	return sent;
}

static int
command_run(char *command, int64_t *value)
{
	char *args = strchr(command, ' ');

	if (args != NULL)
		*args++ = '\0';
	if (args != NULL && strcmp(command, "frame") == 0)
		*value = frame_send(args);
	else if (args != NULL && strcmp(command, "pass") == 0)
		*value = descriptor_pass(args);
	else if (args != NULL && strcmp(command, "log") == 0)
		*value = log_flood(args);
	else if (strcmp(command, "exit") == 0)
		_exit(0);
	else
		return attempt_run(command, value);
	return *value == -1 ? errno : 0;
}

static void
request_take(void)
{
	static char lines[TARGETS_MAX];
	char command[COMMAND_MAX];
	uint32_t request = place->request;
	int64_t value = 0;

	memcpy(lines, place->targets, sizeof(lines));
	lines[sizeof(lines) - 1] = '\0';
	targets_read(lines);
	memcpy(command, place->command, sizeof(command));
	command[sizeof(command) - 1] = '\0';
	place->begun = request;
	place->error = command_run(command, &value);
	place->value = value;
	place->done = request;
}

/* A request that ended the process before is not taken again. */
static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	if (!self->serving)
		return;
	place->pid = getpid();
	if (place->request != place->begun)
		request_take();
}

void
breakout_begin(struct worker *w)
{
	static const struct timeval tick = { .tv_usec = TICK_US };
	struct event *ev;

	if (places == NULL)
		return;
	self = w;
	place = (struct place *)(void *)((char *)places +
	    (size_t)w->ops->role * PLACE_SIZE);
	ev = event_new(w->base, -1, EV_PERSIST, on_tick, NULL);
	if (ev == NULL || event_add(ev, &tick) == -1)
		abort();
}

void
breakout_once(unsigned role)
{
	if (places == NULL)
		return;
	place = (struct place *)(void *)((char *)places +
	    (size_t)role * PLACE_SIZE);
	place->pid = getpid();
	if (place->request != place->begun)
		request_take();
}
