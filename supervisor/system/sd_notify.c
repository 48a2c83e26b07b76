/* SPDX-License-Identifier: MIT */
/*
 * systemd's notification protocol (sd_notify(3)) without libsystemd: datagrams
 * of lines to the socket that NOTIFY_SOCKET names.  Without that variable
 * nothing is sent.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text/text.h"
#include "supervisor/system/system.h"

#define STATUS_MAX	 (REASON_MAX + 128) /* bytes of STATUS= */
#define PINGS_PER_PERIOD 3 /* one late message is not a failure */
/* A long start: systemd waits EXTEND_S for the next message. */
#define EXTEND_S	60
#define EXTEND_EVERY_MS 10000
/* the longest start; the recovery of a large spool on a slow disk is shorter */
#define EXTEND_MAX_MS (2LL * 3600 * 1000)

static struct {
	int fd;
	struct sockaddr_un to;
	socklen_t len;
	unsigned watchdog_ms; /* period; 0 = none */
	int is_ready;
	int ready_is_due; /* its message could not be sent */
	/* clock_ms() of the first and the last extension; 0 = none */
	long long extended_first, extended_last;
} notify = { .fd = -1 };

static unsigned
watchdog_period(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	unsigned long long us = usec != NULL ? strtoull(usec, NULL, 10) : 0;

	if (pid != NULL && strtoll(pid, NULL, 10) != (long long)getpid())
		return 0;
	if (us > 3600ull * 1000 * 1000)
		us = 3600ull * 1000 * 1000;
	return (unsigned)(us / 1000);
}

void
notify_init(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path != NULL ? strlen(path) : 0;

	if (len < 2 || (path[0] != '/' && path[0] != '@') ||
	    len >= sizeof(notify.to.sun_path))
		return;
	notify.to.sun_family = AF_UNIX;
	memcpy(notify.to.sun_path, path, len);
	notify.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (path[0] == '@') /* an abstract name has no NUL */
		notify.to.sun_path[0] = '\0';
	else
		notify.len++;
	notify.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (notify.fd == -1)
		log_warn("cannot open a socket for messages to systemd");
	notify.watchdog_ms = watchdog_period();
}

/* 0, or -1: systemd's queue is full. */
static int __attribute__((format(printf, 1, 2)))
notify_send(const char *fmt, ...)
{
	static struct log_limit limit;
	char text[STATUS_MAX + 128];
	va_list ap;
	int n;

	if (notify.fd == -1)
		return 0;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		return 0;
	if (sendto(notify.fd, text, (size_t)n, MSG_NOSIGNAL,
		(struct sockaddr *)&notify.to, notify.len) != -1)
		return 0;
	log_limited(&limit, log_warn, "cannot send a message to systemd");
	return -1;
}

/* A newline in status would begin another assignment, so it is escaped. */
void
notify_ready(const char *status)
{
	char line[STATUS_MAX];

	notify.is_ready = 1;
	notify.ready_is_due = notify_send("READY=1\nSTATUS=%s\nMAINPID=%jd\n",
				  text_vis(status, line, sizeof(line)),
				  (intmax_t)getpid()) == -1;
}

/* systemd kills a service that is not ready in time, and waits for a reload. */
static void
ready_repeat(void)
{
	if (notify.ready_is_due)
		notify.ready_is_due = notify_send("READY=1\n") == -1;
}

void
notify_starting(void)
{
	long long now = clock_ms();

	if (notify.is_ready ||
	    (notify.extended_first != 0 &&
		(now - notify.extended_first > EXTEND_MAX_MS ||
		    now - notify.extended_last < EXTEND_EVERY_MS)))
		return;
	if (notify.extended_first == 0)
		notify.extended_first = now;
	notify.extended_last = now;
	notify_send("EXTEND_TIMEOUT_USEC=%d\n", EXTEND_S * 1000000);
}

/* systemd needs the time to tell two reloads apart. */
void
notify_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	notify.ready_is_due = 0;
	notify_send("RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reading the "
		    "configuration\n",
	    (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void
notify_stopping(void)
{
	notify_send("STOPPING=1\nSTATUS=ending\n");
}

void
notify_status(const char *status)
{
	char line[STATUS_MAX];

	ready_repeat();
	notify_send("STATUS=%s\n", text_vis(status, line, sizeof(line)));
}

void
notify_watchdog(void)
{
	ready_repeat();
	notify_send("WATCHDOG=1\n");
}

unsigned
notify_watchdog_ms(void)
{
	return notify.fd == -1 ? 0 : notify.watchdog_ms / PINGS_PER_PERIOD;
}
