/* SPDX-License-Identifier: MIT */
/*
 * The messages of a worker to the supervisor: the callbacks get the fields of
 * a valid message; a message of another length breaks the channel and calls
 * nothing.
 */
#include "config.h"

#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "supervisor/system/system.h"
#include "supervisor/workers/workers.h"
#include "tests/unit/check.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define PAYLOAD_BYTES 256

static struct setup setup;
static struct conf conf;
static struct workers workers;
static char called[2048]; /* the callbacks and their arguments */
static int far;		  /* the worker's end of the channel */

static void
on_hello(struct child *c)
{
	snprintf(called, sizeof(called), "hello %s", c->layers);
}

static void
on_conf_ok(struct child *c, uint32_t generation)
{
	snprintf(called, sizeof(called), "conf-ok %u", generation);
}

static void
on_conf_bad(struct child *c, uint32_t generation, const char *reason)
{
	snprintf(called, sizeof(called), "conf-bad %u %s", generation, reason);
}

static void
on_ready(struct child *c)
{
	CHECK_INT(c->state, CHILD_READY);
	snprintf(called, sizeof(called), "ready");
}

static void
on_ctl_row(struct child *c, uint64_t request, const uint8_t *row, size_t len)
{
	snprintf(called, sizeof(called), "row %u %zu", (unsigned)request, len);
}

static void
on_ctl_end(struct child *c, uint64_t request, enum ctl_status status,
    const char *text)
{
	snprintf(called, sizeof(called), "end %u %d %s", (unsigned)request,
	    (int)status, text);
}

static void
on_peer_lost(struct child *c, enum role peer, uint64_t id, const char *why)
{
	snprintf(called, sizeof(called), "lost %s %u %s", role_name(peer),
	    (unsigned)id, why);
}

static void
on_wrong_version(struct child *c, const char *why)
{
	snprintf(called, sizeof(called), "version");
}

static void
on_summary(struct child *c, const struct summary *s)
{
	snprintf(called, sizeof(called), "summary %s %u %s", role_name(c->role),
	    (unsigned)s->waiting, s->problems[0].text);
}

static const struct channel_events events = {
	.hello = on_hello,
	.conf_ok = on_conf_ok,
	.conf_bad = on_conf_bad,
	.ready = on_ready,
	.ctl_row = on_ctl_row,
	.ctl_end = on_ctl_end,
	.peer_lost = on_peer_lost,
	.wrong_version = on_wrong_version,
	.summary = on_summary,
};

/* A listener that was started, with an open channel. */
static struct child *
worker_make(enum child_state state)
{
	struct child *c = &workers.children[ROLE_LISTENER];
	struct msg_header h;
	uint8_t *payload;
	int fds[2], fd;

	memset(&workers, 0, sizeof(workers));
	workers.base = event_base_new();
	workers.setup = &setup;
	workers.conf = &conf;
	workers.events = &events;
	child_init(&workers, ROLE_LISTENER);
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	CHECK_INT(worker_channel_open(c, fds[0]), 0);
	far = fds[1];
	CHECK_INT(frame_read(far, ROLE_LISTENER, ROLE_SUPERVISOR, &h, &payload,
		      &fd, 60000),
	    0);
	CHECK_INT(h.type, MSG_SANDBOX);
	free(payload);
	c->state = state;
	c->conf_sent = 7;
	c->ping_sent_ms = 1;
	called[0] = '\0';
	return c;
}

static void
worker_end(struct child *c)
{
	close(far);
	event_free(c->restart);
	event_free(c->deadline);
	channel_free(c->channel);
	event_base_free(workers.base);
}

/* Sends the bytes without a check by the table of messages. */
static void
raw_send(enum msg_type type, uint64_t id, const uint8_t *payload, size_t len)
{
	uint8_t bytes[sizeof(struct msg_header) + PAYLOAD_BYTES];
	struct msg_header h = { .type = (uint16_t)type,
		.length = (uint32_t)len,
		.id = id };

	memcpy(bytes, &h, sizeof(h));
	if (len > 0)
		memcpy(bytes + sizeof(h), payload, len);
	CHECK_INT(write(far, bytes, sizeof(h) + len),
	    (long long)(sizeof(h) + len));
	event_base_loop(workers.base, EVLOOP_NONBLOCK);
	event_base_loop(workers.base, EVLOOP_NONBLOCK);
}

/* The bytes are refused: no callback, and the channel is freed. */
static void
refused(enum msg_type type, enum child_state state, const uint8_t *payload,
    size_t len)
{
	struct child *c = worker_make(state);

	raw_send(type, 3, payload, len);
	CHECK_STR(called, "");
	CHECK(c->channel == NULL);
	CHECK(c->channel_error[0] != '\0');
	CHECK_INT(c->state, state);
	CHECK_INT(c->ping_sent_ms, 1);
	worker_end(c);
}

/* The payload of w is accepted; a byte more or less is not. */
static void
message(enum msg_type type, enum child_state state, const struct writer *w,
    const char *want)
{
	struct child *c = worker_make(state);
	uint8_t payload[PAYLOAD_BYTES] = { 0 };

	CHECK_INT(wr_end(w), 0);
	if (w->len > 0)
		memcpy(payload, w->buf, w->len);
	raw_send(type, 3, payload, w->len);
	CHECK_STR(called, want);
	CHECK(c->channel != NULL);
	if (type == MSG_PONG)
		CHECK_INT(c->ping_sent_ms, 0);
	worker_end(c);
	if (type == MSG_CTL_ROW) /* bytes for the admin tool */
		return;
	refused(type, state, payload, w->len + 1);
	if (w->len > 0)
		refused(type, state, payload, w->len - 1);
}

/* A worker gets a new level in each state, before its hello, too. */
static void
test_log_level(void)
{
	enum child_state state;
	struct msg_header h;
	uint8_t *payload;
	struct child *c;
	int fd, rc;

	for (state = CHILD_STARTED; state <= CHILD_READY; state++) {
		c = worker_make(state);
		workers_set_log_level(&workers, LOG_LEVEL_FATAL);
		event_base_loop(workers.base, EVLOOP_NONBLOCK);
		rc = frame_read(far, ROLE_LISTENER, ROLE_SUPERVISOR, &h,
		    &payload, &fd, 0);
		CHECK_INT(rc, 0);
		if (rc == 0) {
			CHECK_INT(h.type, MSG_VERBOSE);
			CHECK_INT(payload[0], LOG_LEVEL_FATAL);
			free(payload);
		}
		worker_end(c);
	}
}

static void
test_lengths(void)
{
	static struct summary s;
	struct writer w;

	wr_init(&w, PAYLOAD_BYTES);
	wr_u32(&w, MSG_VERSION);
	wr_u8(&w, ROLE_LISTENER);
	wr_str(&w, "rlimits");
	message(MSG_HELLO, CHILD_STARTED, &w, "hello rlimits");
	wr_reset(&w);
	wr_u32(&w, 7);
	message(MSG_CONF_OK, CHILD_SANDBOXED, &w, "conf-ok 7");
	wr_str(&w, "no");
	message(MSG_CONF_BAD, CHILD_SANDBOXED, &w, "conf-bad 7 no");
	wr_reset(&w);
	message(MSG_READY, CHILD_SANDBOXED, &w, "ready");
	wr_u64(&w, 1);
	message(MSG_PONG, CHILD_READY, &w, "");
	message(MSG_CTL_ROW, CHILD_READY, &w, "row 3 8");
	wr_reset(&w);
	wr_u8(&w, CTL_ERROR);
	wr_str(&w, "busy");
	message(MSG_CTL_END, CHILD_READY, &w, "end 3 1 busy");
	wr_reset(&w);
	wr_u8(&w, ROLE_COLLECTOR);
	wr_str(&w, "closed");
	message(MSG_PEER_LOST, CHILD_READY, &w, "lost collector 3 closed");
	wr_reset(&w);
	memset(&s, 0, sizeof(s));
	s.waiting = 8;
	summary_add(&s, PROBLEM_HOOKS, 0, 0, "full");
	summary_write(&w, &s);
	message(MSG_SUMMARY, CHILD_READY, &w, "summary listener 8 full");
	refused(MSG_SUMMARY, CHILD_SANDBOXED, w.buf, w.len);
	wr_clear(&w);
}

static void
test_values(void)
{
	struct child *c;
	struct writer w;

	wr_init(&w, PAYLOAD_BYTES);
	wr_u32(&w, MSG_VERSION);
	wr_u8(&w, ROLE_COLLECTOR); /* another worker's role */
	wr_str(&w, "rlimits");
	refused(MSG_HELLO, CHILD_STARTED, w.buf, w.len);
	w.buf[4] = ROLE_LISTENER;
	refused(MSG_HELLO, CHILD_READY, w.buf, w.len);
	w.buf[0]++;
	c = worker_make(CHILD_STARTED);
	raw_send(MSG_HELLO, 0, w.buf, w.len);
	CHECK_STR(called, "version");
	worker_end(c);
	wr_reset(&w);
	wr_u32(&w, 8); /* a generation that was not sent */
	refused(MSG_CONF_OK, CHILD_SANDBOXED, w.buf, w.len);
	w.buf[0] = 6; /* of an earlier configuration */
	c = worker_make(CHILD_SANDBOXED);
	raw_send(MSG_CONF_OK, 0, w.buf, w.len);
	CHECK_STR(called, "");
	CHECK(c->channel != NULL);
	worker_end(c);
	refused(MSG_READY, CHILD_STARTED, w.buf, 0);
	wr_reset(&w);
	wr_u8(&w, CTL_DENIED + 1);
	wr_str(&w, "");
	refused(MSG_CTL_END, CHILD_READY, w.buf, w.len);
	w.buf[0] = ROLE__COUNT;
	refused(MSG_PEER_LOST, CHILD_READY, w.buf, w.len);
	/* A message that only the parser may send. */
	wr_reset(&w);
	wr_u32(&w, 0);
	refused(MSG_CONF_END, CHILD_READY, w.buf, w.len);
	wr_clear(&w);
}

/* A child in this state; its end of the channel is *end. */
static struct child *
child_open(enum role role, enum child_state state, int *end)
{
	static const struct channel_ops ops = { 0 };
	struct child *c = &workers.children[role];
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	c->workers = &workers;
	c->role = role;
	c->state = state;
	c->channel = channel_new(workers.base, fds[0], ROLE_SUPERVISOR, role,
	    &ops, c);
	*end = fds[1];
	return c;
}

/* Bytes that have arrived; they are read. */
static size_t
arrived(int fd)
{
	static char buf[1 << 20];
	size_t sum = 0, before;
	ssize_t n;

	do { /* the socket has space for a part of a long message */
		before = sum;
		event_base_loop(workers.base, EVLOOP_NONBLOCK);
		event_base_loop(workers.base, EVLOOP_NONBLOCK);
		while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
			sum += (size_t)n;
	} while (sum != before);
	return sum;
}

/* A worker that is not ready yet gets a changed file when it is. */
static void
test_resolver_files(void)
{
	struct child *submitter, *receiver;
	int ends[2];

	if (access("/etc/hosts", R_OK) == -1)
		return;
	memset(&workers, 0, sizeof(workers));
	workers.base = event_base_new();
	submitter = child_open(ROLE_SUBMITTER, CHILD_READY, &ends[0]);
	receiver = child_open(ROLE_RECEIVER, CHILD_SANDBOXED, &ends[1]);
	resolver_files_check(&workers);
	CHECK(arrived(ends[0]) > 0);
	CHECK_INT(arrived(ends[1]), 0);
	receiver->state = CHILD_READY;
	resolver_files_check(&workers);
	CHECK_INT(arrived(ends[0]), 0);
	CHECK(arrived(ends[1]) > 0);
	resolver_files_check(&workers);
	CHECK_INT(arrived(ends[0]), 0);
	CHECK_INT(arrived(ends[1]), 0);
	channel_free(submitter->channel);
	channel_free(receiver->channel);
	close(ends[0]);
	close(ends[1]);
	event_base_free(workers.base);
}

/* As root only: another /etc/hosts for this process alone.  -1 = failed. */
static int
hosts_replace(void)
{
	char name[] = "/tmp/test_hosts.XXXXXX";
	int ok, fd = mkstemp(name);

	ok = unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount(name, "/etc/hosts", "none", MS_BIND, NULL) == 0;
	unlink(name);
	if (ok)
		return fd;
	close(fd);
	return -1;
}

/* The hosts file of a cluster is sent; one that is too long is logged once. */
static void
test_long_hosts(void)
{
	struct child *c;
	int end, hosts = hosts_replace();

	if (hosts == -1)
		return;
	CHECK_INT(ftruncate(hosts, 325 * 1024), 0);
	memset(&workers, 0, sizeof(workers));
	workers.base = event_base_new();
	c = child_open(ROLE_SUBMITTER, CHILD_READY, &end);
	resolver_files_check(&workers);
	CHECK(arrived(end) > 325 * 1024);
	CHECK_INT(ftruncate(hosts, MSG_FILE_MAX + 1), 0);
	log_init("test", LOG_LEVEL_WARN);
	capture_begin();
	resolver_files_check(&workers);
	CHECK_STR(capture_end(),
	    "WARN  [test] /etc/hosts is not sent to the submitter: it has "
	    "4194305 bytes, the limit is 4194304\n");
	capture_begin();
	resolver_files_check(&workers);
	CHECK_STR(capture_end(), "");
	CHECK_INT(arrived(end), 0);
	log_init("test", LOG_LEVEL_FATAL);
	channel_free(c->channel);
	close(hosts);
	close(end);
	event_base_free(workers.base);
}

/* The message that systemd got since the last call; "" = none. */
static const char *
notified(int fd)
{
	static char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void
pong(enum child_state state, long long started_ms)
{
	struct child *c = worker_make(state);
	const uint8_t token[8] = { 0 };

	c->started_ms = started_ms;
	raw_send(MSG_PONG, 3, token, sizeof(token));
	worker_end(c);
}

/* systemd has not read its queue: READY=1 is repeated until it is sent. */
static void
test_ready_again(int fd)
{
	struct sockaddr_un to;
	socklen_t len = sizeof(to);
	int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHECK_INT(getsockname(fd, (struct sockaddr *)&to, &len), 0);
	while (sendto(out, "x", 1, 0, (struct sockaddr *)&to, len) == 1)
		continue;
	CHECK_INT(errno, EAGAIN);
	close(out);
	notify_ready("serving");
	while (strcmp(notified(fd), "x") == 0)
		continue;
	notify_watchdog();
	CHECK_STR(notified(fd), "READY=1\n");
	CHECK_STR(notified(fd), "WATCHDOG=1\n");
	notify_watchdog();
	CHECK_STR(notified(fd), "WATCHDOG=1\n");
}

/* A process that answers and starts for long extends the start of the service. */
static void
test_long_start(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/test_worker.XXXXXX";
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(mkdtemp(dir) != NULL);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/notify", dir);
	CHECK_INT(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	setenv("NOTIFY_SOCKET", sa.sun_path, 1);
	notify_init();
	pong(CHILD_SANDBOXED, clock_ms());
	CHECK_STR(notified(fd), "");
	pong(CHILD_READY, clock_ms() - 60000);
	CHECK_STR(notified(fd), "");
	pong(CHILD_SANDBOXED, clock_ms() - 60000);
	CHECK_STR(notified(fd), "EXTEND_TIMEOUT_USEC=60000000\n");
	pong(CHILD_SANDBOXED, clock_ms() - 60000); /* soon again */
	CHECK_STR(notified(fd), "");
	notify_ready("serving");
	CHECK(strncmp(notified(fd), "READY=1\n", 8) == 0);
	test_ready_again(fd);
	unlink(sa.sun_path);
	rmdir(dir);
	close(fd);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	setup_init(&setup);
	conf_init(&conf);
	test_log_level();
	test_lengths();
	test_values();
	test_resolver_files();
	test_long_hosts();
	test_long_start();
	conf_clear(&conf);
	return check_done();
}
