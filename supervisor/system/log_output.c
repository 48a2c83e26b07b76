/* SPDX-License-Identifier: MIT */
/*
 * Standard error without waiting, and journald's native protocol
 * (systemd.io/JOURNAL_NATIVE_PROTOCOL) without libsystemd.  The mode of the
 * descriptor is not changed: other processes may share it.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/system/log_output.h"
#include "supervisor/system/recent_warnings.h"

#define JOURNAL_PATH "/run/systemd/journal/socket"
#define WAIT_MS	     50	   /* a reader that is only slow */
#define WAIT_GAP_MS  10000 /* between two such waits */
#define FIELDS_MAX   1024  /* bytes of all fields but MESSAGE */

static struct {
	int is_socket;
	int is_file;		  /* never waits for a reader */
	int is_journal;		  /* journald reads standard error */
	int fd;			  /* socket of datagrams, -1 = none */
	unsigned long long lost;  /* lines since the last success */
	long long waited_ms;	  /* clock_ms() of the last wait */
	const char *journal_path; /* borrowed */
} output = { .fd = -1, .journal_path = JOURNAL_PATH };

/* JOURNAL_STREAM is "device:inode" of the descriptor that systemd gave us. */
static int
is_journal(const struct stat *st)
{
	const char *value = getenv("JOURNAL_STREAM");
	char own[64];

	snprintf(own, sizeof(own), "%llu:%llu", (unsigned long long)st->st_dev,
	    (unsigned long long)st->st_ino);
	return value != NULL && strcmp(value, own) == 0;
}

void
log_output_init(void)
{
	struct stat st;

	memset(&st, 0, sizeof(st));
	if (fstat(STDERR_FILENO, &st) == 0) {
		output.is_socket = S_ISSOCK(st.st_mode);
		output.is_file = S_ISREG(st.st_mode);
		output.is_journal = is_journal(&st);
	}
	log_sink_set(log_output_write);
}

void
log_output_journal_path(const char *path)
{
	output.journal_path = path;
}

void
log_output_fields(void)
{
	if (output.is_journal && output.fd == -1)
		output.fd = socket(AF_UNIX,
		    SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int
writable_within(int ms)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLOUT) != 0;
}

static int
stream_writable(void)
{
	return output.is_file || writable_within(0);
}

int
log_output_writable(void)
{
	return output.fd != -1 || stream_writable();
}

/*
 * A write of at most PIPE_BUF bytes into a pipe that is ready does not wait.  A
 * socket that is ready may have less space than the line.
 */
static int
bytes_write(const char *p, size_t n)
{
	long long now;

	if (!stream_writable()) {
		now = clock_ms();
		if (output.waited_ms != 0 &&
		    now - output.waited_ms < WAIT_GAP_MS)
			return -1;
		output.waited_ms = now;
		if (!writable_within(WAIT_MS))
			return -1;
	}
	if (output.is_socket)
		return send(STDERR_FILENO, p, n, MSG_DONTWAIT | MSG_NOSIGNAL) ==
			(ssize_t)n ?
		    0 :
		    -1;
	return write(STDERR_FILENO, p, n) == (ssize_t)n ? 0 : -1;
}

static int
line_write(const struct log_line *line)
{
	char buf[LOG_LINE_MAX];

	return bytes_write(buf,
	    log_line_print(line, output.is_journal, buf, sizeof(buf)));
}

/* No value contains a newline, so each field is one line "NAME=value". */
static size_t
fields_print(const struct log_line *line, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size,
	    "PRIORITY=%d\nSYSLOG_IDENTIFIER=" PACKAGE "\nCC_WORKER=%s\n",
	    log_kind_priority(line->kind), line->sender);

	if (line->id != LOG_ID_NONE)
		n += (size_t)snprintf(buf + n, size - n, "MESSAGE_ID=%s\n",
		    log_id_uuid(line->id));
	if (*line->cluster != '\0')
		n += (size_t)snprintf(buf + n, size - n, "CC_CLUSTER=%s\n",
		    line->cluster);
	if (line->job != 0)
		n += (size_t)snprintf(buf + n, size - n, "CC_JOB=%llu\n",
		    (unsigned long long)line->job);
	return n;
}

static int
fields_write(const struct log_line *line)
{
	char buf[FIELDS_MAX + LOG_LINE_MAX];
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = fields_print(line, buf, FIELDS_MAX);

	n += (size_t)snprintf(buf + n, sizeof(buf) - n, "MESSAGE=%s: %s\n",
	    line->sender, line->text);
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", output.journal_path);
	return sendto(output.fd, buf, n, MSG_NOSIGNAL, (struct sockaddr *)&to,
		   sizeof(to)) == (ssize_t)n ?
	    0 :
	    -1;
}

/* A journald that does not take the datagram may still read the stream. */
static int
any_write(const struct log_line *line)
{
	if (output.fd != -1 && fields_write(line) == 0)
		return 0;
	return line_write(line);
}

struct log_line
log_output_loss(const char *text)
{
	return (struct log_line) { .sender = "supervisor",
		.kind = LOG_WARN,
		.id = LOG_ID_LINES_LOST,
		.cluster = "",
		.text = text };
}

void
log_output_write(const struct log_line *line)
{
	char text[96] = "";
	struct log_line count = log_output_loss(text);

	recent_warning_add(line, (int64_t)time(NULL));
	snprintf(text, sizeof(text),
	    "%llu log lines are lost: the log could not be written",
	    output.lost);
	if (output.lost > 0 && any_write(&count) == -1) {
		output.lost++;
		return;
	}
	output.lost = any_write(line) == -1 ? 1 : 0;
}
