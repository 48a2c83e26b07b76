/* SPDX-License-Identifier: MIT */
/*
 * Lines of other processes; see log_pipe.h.  Lines are read when the pipe is
 * readable.  Above the bound, and while the reader of our own log does not
 * read, the pipe is read in ticks only: the process then fills it, and counts
 * the lines that do not fit (log_record_send()).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text/text.h"
#include "supervisor/system/log_output.h"
#include "supervisor/system/log_pipe.h"

#define READ_MAX  65536		/* bytes, then other events have their turn */
#define PIPE_SIZE (256 * 1024)	/* bytes while the supervisor is busy */
#define PIPE_MAX  (1024 * 1024) /* bytes that a process can set instead */
#define TICK_MS	  100
#define REPORT_MS 10000 /* from a suppressed line to the count */
#define LINE_COST 64	/* bytes that a line counts beside its text */
/*
 * 16 KiB/s is 1.4 GB a day at most.  -debug 4 and 5 log a line for each job and
 * message: a developer wants all of them.
 */
#define RATE_BYTES    16384  /* per second */
#define BURST_BYTES   262144 /* after a quiet time */
#define DEBUG_FACTOR  64
#define RESERVE_BYTES 16384 /* only errors may use the last ones */

struct log_pipe {
	const char *sender;	/* borrowed */
	struct event *readable; /* the descriptor of the pipe */
	struct event *tick;
	int fd;
	int too_long; /* the rest of the line is skipped */
	char line[LOG_LINE_MAX];
	size_t len;
	long long tokens;	       /* bytes that may be logged */
	long long filled_ms;	       /* clock_ms() of tokens */
	unsigned long long suppressed; /* lines since the last count */
	long long suppressed_ms;       /* clock_ms() of the first of them */
};

static long long
factor_now(void)
{
	return log_get_level() >= LOG_LEVEL_DEBUG ? DEBUG_FACTOR : 1;
}

static void
tokens_fill(struct log_pipe *lp)
{
	long long now = clock_ms(), most = BURST_BYTES * factor_now();

	lp->tokens += (now - lp->filled_ms) * RATE_BYTES * factor_now() / 1000;
	if (lp->tokens > most)
		lp->tokens = most;
	lp->filled_ms = now;
}

static int
tokens_take(struct log_pipe *lp, enum log_kind kind, size_t len)
{
	long long cost = (long long)len + LINE_COST;

	if (lp->tokens - cost < (kind <= LOG_ERROR ? 0 : RESERVE_BYTES)) {
		if (lp->suppressed++ == 0)
			lp->suppressed_ms = lp->filled_ms;
		return -1;
	}
	lp->tokens -= cost;
	return 0;
}

/* Logs the line in lp->line and empties it. */
static void
line_end(struct log_pipe *lp)
{
	char text[LOG_TEXT_MAX + LOG_ERRNO_MAX], cluster[LOG_CLUSTER_MAX];
	/* A line of a library or a sanitizer has no kind. */
	struct log_line line = { .kind = LOG_WARN,
		.cluster = "",
		.text = lp->line };

	char *nul;

	if (lp->len == 0)
		return;
	while ((nul = memchr(lp->line, '\0', lp->len)) != NULL)
		*nul = ' ';
	if (lp->too_long)
		memcpy(lp->line + lp->len - 3, "...", 3);
	lp->line[lp->len] = '\0';
	log_record_read(lp->line, cluster, &line);
	line.sender = lp->sender;
	/*
	 * The sender escapes its text, unless an attacker controls the sender.
	 */
	line.text = text_vis(line.text, text, sizeof(text));
	if (log_kind_level(line.kind) <= log_get_level() &&
	    tokens_take(lp, line.kind, lp->len) == 0)
		log_output_write(&line);
	lp->len = 0;
	lp->too_long = 0;
}

static void
bytes_add(struct log_pipe *lp, const char *p, size_t n)
{
	size_t part, room;
	const char *end;

	for (; n > 0; p += part, n -= part) {
		end = memchr(p, '\n', n);
		part = end != NULL ? (size_t)(end - p) : n;
		room = sizeof(lp->line) - 1 - lp->len;
		if (part > room)
			lp->too_long = 1;
		memcpy(lp->line + lp->len, p, part < room ? part : room);
		lp->len += part < room ? part : room;
		if (end != NULL) {
			line_end(lp);
			part++;
		}
	}
}

static void
suppressed_report(struct log_pipe *lp)
{
	char text[128] = "";
	struct log_line line = log_output_loss(text);

	if (lp->suppressed == 0)
		return;
	snprintf(text, sizeof(text),
	    "%llu log lines of the %s are suppressed: more than %lld bytes a "
	    "second",
	    lp->suppressed, lp->sender, RATE_BYTES * factor_now());
	log_output_write(&line);
	lp->suppressed = 0;
}

/* Bytes that were read, 0 at the end of the pipe, -1 with errno. */
static ssize_t
pipe_read(struct log_pipe *lp)
{
	/* A buffer on the stack would use memory for each of its pages. */
	static char buf[READ_MAX];
	ssize_t n = read(lp->fd, buf, sizeof(buf));

	if (n > 0) {
		tokens_fill(lp);
		bytes_add(lp, buf, (size_t)n);
	}
	return n;
}

/* Out of memory: the lines wait until the process ends. */
static void
tick_set(struct log_pipe *lp)
{
	struct timeval tv = clock_timeval(TICK_MS);

	event_add(lp->tick, &tv);
}

static void
reading_pause(struct log_pipe *lp)
{
	event_del(lp->readable);
	tick_set(lp);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct log_pipe *lp = arg;
	unsigned long long before = lp->suppressed;
	ssize_t n;

	if (!log_output_writable()) {
		reading_pause(lp);
		return;
	}
	n = pipe_read(lp);
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		event_del(lp->readable);
	else if (lp->suppressed != before)
		reading_pause(lp);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct log_pipe *lp = arg;

	event_add(lp->readable, NULL);
	if (lp->suppressed == 0)
		return;
	if (clock_ms() - lp->suppressed_ms >= REPORT_MS)
		suppressed_report(lp);
	else
		tick_set(lp);
}

static struct log_pipe *
events_set(struct log_pipe *lp, struct event_base *base)
{
	lp->readable = event_new(base, lp->fd, EV_READ | EV_PERSIST,
	    on_readable, lp);
	lp->tick = evtimer_new(base, on_tick, lp);
	if (lp->readable != NULL && lp->tick != NULL &&
	    event_add(lp->readable, NULL) == 0)
		return lp;
	if (lp->readable != NULL)
		event_free(lp->readable);
	if (lp->tick != NULL)
		event_free(lp->tick);
	return NULL;
}

struct log_pipe *
log_pipe_new(struct event_base *base, const char *sender, int *write_end)
{
	struct log_pipe *lp = calloc(1, sizeof(*lp));
	int fds[2];

	if (lp == NULL || pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1) {
		free(lp);
		return NULL;
	}
	/* A smaller pipe works as well. */
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
	lp->sender = sender;
	lp->fd = fds[0];
	lp->tokens = BURST_BYTES * factor_now();
	lp->filled_ms = clock_ms();
	if (events_set(lp, base) == NULL) {
		close(fds[0]);
		close(fds[1]);
		free(lp);
		errno = ENOMEM;
		return NULL;
	}
	*write_end = fds[1];
	return lp;
}

/* A child of the process may still write: no more is read than a pipe holds. */
void
log_pipe_read(struct log_pipe *lp)
{
	size_t total = 0;
	ssize_t n;

	while (total < PIPE_MAX && (n = pipe_read(lp)) > 0)
		total += (size_t)n;
}

void
log_pipe_free(struct log_pipe *lp)
{
	if (lp == NULL)
		return;
	log_pipe_read(lp);
	line_end(lp);
	suppressed_report(lp);
	event_free(lp->readable);
	event_free(lp->tick);
	close(lp->fd);
	free(lp);
}
