/* SPDX-License-Identifier: MIT */
/*
 * Replaces what a process asks of its operating system; see process.h.  The
 * functions have the names of libc's and stand in front of them, because the
 * code of the product is linked with this file first.
 */
#include "config.h"

#include <sys/random.h>
#include <sys/time.h>

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/ipc/channel.h"
#include "common/log_line.h"
#include "common/worker/sandbox.h"
#include "tests/simulate/link.h"
#include "tests/simulate/process.h"

#define CHANNEL_FD 3

static jmp_buf loop_begins;
static int supervisor_fd;
static struct prng random_bytes;

/* --- the start --- */

void
process_main_done(void)
{
	longjmp(loop_begins, 1);
}

void
process_main(int (*product_main)(int, char **), int fd)
{
	static char name[] = "worker", debug[] = "-d5";
	static char *argv[] = { name, debug, NULL };

	supervisor_fd = fd;
	prng_init(&random_bytes,
	    world_seed() + process_incarnation(process_current()), "bytes");
	optind = 0;
	if (setjmp(loop_begins) == 0)
		product_main(2, argv);
}

void
sandbox_init(struct sandbox *sb, enum role role)
{
	memset(sb, 0, sizeof(*sb));
	sb->role = role;
}

void
sandbox_clear(struct sandbox *sb)
{
	(void)sb;
}

void
sandbox_read(struct reader *r, struct sandbox *sb)
{
	(void)r;
	(void)sb;
}

void
sandbox_enter(const struct sandbox *sb, char *layers, size_t size)
{
	(void)sb;
	snprintf(layers, size, "simulated");
}

/* worker.c reads one frame this way: sandbox, the first message. */
int
frame_read(int fd, enum role self, enum role peer, struct msg_header *h,
    uint8_t **payload, int *passed_fd, int timeout_ms)
{
	(void)self;
	(void)peer;
	(void)timeout_ms;
	invariant(fd == CHANNEL_FD, "frame_read() of %d", fd);
	memset(h, 0, sizeof(*h));
	h->type = MSG_SANDBOX;
	*payload = NULL;
	*passed_fd = -1;
	return 0;
}

int
process_fd(int fd)
{
	return fd == CHANNEL_FD ? supervisor_fd : fd;
}

/* --- the log is part of the trace --- */

void
log_line_send(const struct log_line *line)
{
	trace("log %d: %s", (int)line->kind, line->text);
}

/* --- libc --- */

time_t
time(time_t *t)
{
	time_t now = (time_t)(world_wall_ms() / 1000);

	if (t != NULL)
		*t = now;
	return now;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ms = id == CLOCK_REALTIME ? world_wall_ms() : world_ms();

	ts->tv_sec = (time_t)(ms / 1000);
	ts->tv_nsec = (long)(ms % 1000) * 1000000;
	return 0;
}

ssize_t
getrandom(void *buf, size_t n, unsigned flags)
{
	unsigned char *p = buf;
	size_t i;

	(void)flags;
	for (i = 0; i < n; i++)
		p[i] = (unsigned char)prng_next(&random_bytes);
	return (ssize_t)n;
}

pid_t
getpid(void)
{
	return 1000 + (pid_t)process_incarnation(process_current());
}

int
sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	(void)sig;
	(void)act;
	(void)old;
	return 0;
}

int
malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}

void
exit(int status)
{
	process_die(status == 0 ? "exit 0" : "exit with an error");
}

void
_exit(int status)
{
	process_die(status == 0 ? "exit 0" : "exit with an error");
}
