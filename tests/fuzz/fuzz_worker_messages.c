/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised worker to the supervisor, which runs as root.  Two
 * bytes select the worker and its state; then follow messages.  No callback gets a
 * value outside its bounds or is called after the channel broke; no descriptor
 * stays open.
 */
#include "config.h"

#include <sys/socket.h>

#include <stdlib.h>
#include <unistd.h>

#include "supervisor/workers/workers.h"
#include "tests/fuzz/frames.h"

#define GENERATION 7  /* of the configuration that was sent last */
#define FRAMES_MAX 64 /* they fit into the socket's buffer */

static struct setup setup;
static struct conf conf;
static struct workers workers;
static unsigned calls;

static void
called(const struct child *c)
{
	HOLDS(c->channel != NULL);
	calls++;
}

static void
text_holds(const char *text, size_t size)
{
	HOLDS(memchr(text, '\0', size) != NULL);
}

static void
on_hello(struct child *c)
{
	called(c);
	HOLDS(c->state == CHILD_SANDBOXED);
	text_holds(c->layers, sizeof(c->layers));
}

static void
on_conf_ok(struct child *c, uint32_t generation)
{
	called(c);
	HOLDS(generation == c->conf_sent && c->state >= CHILD_SANDBOXED);
}

static void
on_conf_bad(struct child *c, uint32_t generation, const char *reason)
{
	on_conf_ok(c, generation);
	text_holds(reason, REASON_MAX);
}

static void
on_ready(struct child *c)
{
	called(c);
	HOLDS(c->state == CHILD_READY);
}

static void
on_ctl_row(struct child *c, uint64_t request, const uint8_t *row, size_t len)
{
	called(c);
	HOLDS(len >= 2 && len <= MSG_PAYLOAD_MAX);
	digest(DIGEST_START, row, len);
}

static void
on_ctl_end(struct child *c, uint64_t request, enum ctl_status status,
    const char *text)
{
	called(c);
	HOLDS((unsigned)status <= CTL_DENIED);
	HOLDS(strlen(text) <= MSG_PAYLOAD_MAX);
}

static void
on_peer_lost(struct child *c, enum role peer, uint64_t id, const char *why)
{
	called(c);
	HOLDS((unsigned)peer < ROLE__COUNT);
	HOLDS(strlen(why) <= MSG_PAYLOAD_MAX);
}

static void
on_wrong_version(struct child *c, const char *why)
{
	called(c);
	HOLDS(*why != '\0');
}

static void
on_scrape(struct child *c, uint64_t id)
{
	called(c);
	HOLDS(c->role == ROLE_EXPORTER);
}

static void
on_summary(struct child *c, const struct summary *s)
{
	size_t i;

	called(c);
	HOLDS(c->state == CHILD_READY && s->n <= SUMMARY_PROBLEMS_MAX);
	for (i = 0; i < s->n; i++)
		text_holds(s->problems[i].text, sizeof(s->problems[i].text));
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
	.scrape = on_scrape,
	.summary = on_summary,
};

/* Returns the worker's end of the channel. */
static int
worker_begin(struct child *c, enum child_state state)
{
	struct msg_header h;
	uint8_t *payload;
	int fds[2], fd;

	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	HOLDS(worker_channel_open(c, fds[0]) == 0);
	HOLDS(frame_read(fds[1], c->role, ROLE_SUPERVISOR, &h, &payload, &fd,
		  60000) == 0);
	HOLDS(h.type == MSG_SANDBOX && fd == -1);
	free(payload);
	c->state = state;
	c->conf_sent = GENERATION;
	c->ping_sent_ms = 1;
	c->channel_error[0] = c->layers[0] = '\0';
	return fds[1];
}

static void
messages_send(int far, struct frames *f)
{
	struct msg_header h;
	char *payload;
	int i;

	for (i = 0; i < FRAMES_MAX && frames_next(f, &h, &payload); i++) {
		HOLDS(send(far, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h));
		HOLDS(h.length == 0 ||
		    send(far, payload, h.length, MSG_NOSIGNAL) ==
			(ssize_t)h.length);
		free(payload);
	}
}

static void
worker_holds(struct child *c, enum child_state state, struct frames *f)
{
	int far = worker_begin(c, state), i;
	unsigned before;

	messages_send(far, f);
	for (i = 0; i < FRAMES_MAX && c->channel != NULL; i++)
		event_base_loop(workers.base, EVLOOP_NONBLOCK);
	HOLDS((c->channel == NULL) == (c->channel_error[0] != '\0'));
	HOLDS((unsigned)c->state <= CHILD_READY);
	before = calls;
	close(far);
	event_base_loop(workers.base, EVLOOP_NONBLOCK);
	event_base_loop(workers.base, EVLOOP_NONBLOCK);
	HOLDS(calls == before && c->channel == NULL);
	event_del(c->deadline);
}

static void
prepare(void)
{
	int role;

	workers.base = event_base_new();
	workers.setup = &setup;
	workers.conf = &conf;
	workers.events = &events;
	HOLDS(workers.base != NULL);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		child_init(&workers, (enum role)role);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/* The last one is a message that no worker may send. */
	static const enum msg_type types[] = { MSG_HELLO, MSG_CONF_OK,
		MSG_CONF_BAD, MSG_READY, MSG_PONG, MSG_CTL_ROW, MSG_CTL_END,
		MSG_PEER_LOST, MSG_SCRAPE, MSG_SUMMARY, MSG_QUARANTINE };
	struct frames f = { bytes + 2, n - 2, types,
		sizeof(types) / sizeof(types[0]) };
	int role, lowest;

	fuzz_quiet();
	if (workers.base == NULL)
		prepare();
	if (n < 2)
		return 0;
	role = WORKER_FIRST + bytes[0] % (WORKER_LAST - WORKER_FIRST + 1);
	lowest = dup(0);
	close(lowest);
	worker_holds(&workers.children[role],
	    (enum child_state)(CHILD_STARTED + bytes[1] % CHILD_READY), &f);
	HOLDS(dup(0) == lowest && close(lowest) == 0);
	return 0;
}
