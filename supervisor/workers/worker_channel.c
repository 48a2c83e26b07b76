/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's end of the channel to each worker.  Reads the messages of a
 * worker and calls channel_events.  A malformed message breaks the channel, and
 * this worker alone is restarted.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/workers/workers.h"

#define SANDBOX_FRAME_MAX (1024u * 1024) /* KEYS of common/model/msg.c */
#define EXIT_WAIT_MS	  200 /* then SIGCHLD came, if the process ended */

static void
send_u32(struct child *c, enum msg_type type, uint32_t v)
{
	struct writer w;

	if (c->channel == NULL)
		return;
	wr_init(&w, sizeof(v));
	wr_u32(&w, v);
	channel_send(c->channel, type, 0, &w, -1);
	wr_clear(&w);
}

static void
send_u8(struct child *c, enum msg_type type, uint8_t v)
{
	struct writer w;

	if (c->channel == NULL)
		return;
	wr_init(&w, sizeof(v));
	wr_u8(&w, v);
	channel_send(c->channel, type, 0, &w, -1);
	wr_clear(&w);
}

void
worker_channel_ending(struct child *c)
{
	if (c->channel != NULL)
		channel_send(c->channel, MSG_ENDING, 0, NULL, -1);
}

void
worker_channel_stop(struct child *c, uint32_t grace_ms)
{
	send_u32(c, MSG_STOP, grace_ms);
}

/*
 * A worker that has not sent its hello was started with the old level.  It reads
 * this message behind sandbox, which was sent when its channel was opened.
 */
void
workers_set_log_level(struct workers *w, enum log_level level)
{
	int role;

	log_set_level(level);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		send_u8(&w->children[role], MSG_VERBOSE, (uint8_t)level);
}

/* The worker waits for this message before it does anything else. */
static int
sandbox_send(struct child *c)
{
	static struct sandbox sb; /* large; one at a time */
	struct writer w;
	int rc;

	sandbox_init(&sb, c->role);
	wr_init(&w, SANDBOX_FRAME_MAX);
	rc = sandbox_paths_fill(c->workers->setup, c->workers->conf, &sb);
	if (rc == 0) {
		sandbox_write(&w, &sb);
		rc = channel_send(c->channel, MSG_SANDBOX, 0, &w, -1);
	}
	wr_clear(&w);
	sandbox_clear(&sb);
	return rc;
}

/*
 * The version is another one: the directory has programs of two installations.
 */
static void
on_hello(struct child *c, struct reader *r)
{
	uint32_t version = rd_u32(r);
	unsigned role = rd_u8(r);

	rd_name(r, c->layers, sizeof(c->layers));
	if (rd_end(r) == -1 || role != (unsigned)c->role ||
	    c->state != CHILD_STARTED) {
		channel_broken(c->channel, "hello");
		return;
	}
	if (version != MSG_VERSION) {
		log_errorx("the %s has protocol version %u, the supervisor "
			   "has %u: install all programs from one build, "
			   "then restart the service",
		    role_name(c->role), version, MSG_VERSION);
		c->workers->events->wrong_version(c, "wrong protocol version");
		return;
	}
	c->state = CHILD_SANDBOXED;
	if (!c->workers->config_test) {
		log_about(LOG_ID_SANDBOX, NULL, 0);
		log_notice("%s (pid %d): sandbox: %s", role_name(c->role),
		    (int)c->pid, c->layers);
	} else
		log_info("%s: sandbox of the test: %s", role_name(c->role),
		    c->layers);
	c->workers->events->hello(c);
}

static void
on_conf_answer(struct child *c, unsigned type, struct reader *r)
{
	char reason[REASON_MAX] = "";
	uint32_t generation = rd_u32(r);
	char *text = NULL;

	if (type == MSG_CONF_BAD)
		text = rd_strdup(r, MSG_PAYLOAD_MAX);
	if (text != NULL)
		snprintf(reason, sizeof(reason), "%s", text);
	free(text);
	if (rd_end(r) == -1 || generation > c->conf_sent ||
	    c->state < CHILD_SANDBOXED)
		channel_broken(c->channel, msg_name(type));
	else if (generation < c->conf_sent)
		log_debug("%s for an earlier configuration, ignored",
		    msg_name(type));
	else if (type == MSG_CONF_OK)
		c->workers->events->conf_ok(c, generation);
	else
		c->workers->events->conf_bad(c, generation, reason);
}

static void
on_ready(struct child *c, struct reader *r)
{
	if (rd_end(r) == -1 || c->state != CHILD_SANDBOXED) {
		channel_broken(c->channel, "ready");
		return;
	}
	c->state = CHILD_READY;
	log_info("the %s is ready", role_name(c->role));
	c->workers->events->ready(c);
}

static void
on_pong(struct child *c, struct reader *r)
{
	rd_u64(r);
	if (rd_end(r) == -1)
		channel_broken(c->channel, "pong");
	else
		watchdog_answered(c);
}

static void
on_ctl_end(struct child *c, uint64_t request, struct reader *r)
{
	unsigned status = rd_u8(r);
	char *text = rd_strdup(r, MSG_PAYLOAD_MAX);

	if (rd_end(r) == -1 || text == NULL || status > CTL_DENIED)
		channel_broken(c->channel, "ctl-end");
	else
		c->workers->events->ctl_end(c, request, (enum ctl_status)status,
		    text);
	free(text);
}

static void
on_peer_lost(struct child *c, uint64_t id, struct reader *r)
{
	unsigned peer = rd_u8(r);
	char *why = rd_strdup(r, MSG_PAYLOAD_MAX);

	if (rd_end(r) == -1 || why == NULL || peer >= ROLE__COUNT)
		channel_broken(c->channel, "peer-lost");
	else
		c->workers->events->peer_lost(c, (enum role)peer, id, why);
	free(why);
}

static void
on_summary(struct child *c, struct reader *r)
{
	static struct summary s; /* large; one at a time */

	summary_read(r, &s);
	if (rd_end(r) == -1 || c->state != CHILD_READY)
		channel_broken(c->channel, "summary");
	else
		c->workers->events->summary(c, &s);
}

static void
on_frame(struct channel *channel, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct child *c = arg;

	switch (h->type) {
	case MSG_HELLO:
		on_hello(c, r);
		break;
	case MSG_CONF_OK:
	case MSG_CONF_BAD:
		on_conf_answer(c, h->type, r);
		break;
	case MSG_READY:
		on_ready(c, r);
		break;
	case MSG_PONG:
		on_pong(c, r);
		break;
	case MSG_CTL_ROW:
		c->workers->events->ctl_row(c, h->id, r->p, r->left);
		break;
	case MSG_CTL_END:
		on_ctl_end(c, h->id, r);
		break;
	case MSG_SCRAPE:
		c->workers->events->scrape(c, h->id);
		break;
	case MSG_PEER_LOST:
		on_peer_lost(c, h->id, r);
		break;
	case MSG_SUMMARY:
		on_summary(c, r);
		break;
	default:
		/* The table allows more only from the parser. */
		channel_broken(channel, msg_name(h->type));
	}
	if (fd != -1)
		close(fd);
}

/*
 * Usually the process has ended and SIGCHLD follows.  Otherwise the process is
 * killed after EXIT_WAIT_MS.
 */
static void
on_broken(struct channel *channel, const char *why, void *arg)
{
	static const struct timeval wait = { .tv_usec = EXIT_WAIT_MS * 1000 };
	struct child *c = arg;

	log_info("channel to the %s (pid %d): %s", role_name(c->role),
	    (int)c->pid, why);
	snprintf(c->channel_error, sizeof(c->channel_error), "channel: %s",
	    why);
	c->channel = NULL;
	channel_free(channel);
	if (!c->stop_requested && event_add(c->deadline, &wait) == -1)
		log_errorx("channel to the %s: out of memory",
		    role_name(c->role));
}

static const struct channel_ops ops = {
	.on_frame = on_frame,
	.on_broken = on_broken,
};

int
worker_channel_open(struct child *c, int fd)
{
	c->channel = channel_new(c->workers->base, fd, ROLE_SUPERVISOR, c->role,
	    &ops, c);
	return c->channel != NULL ? sandbox_send(c) : -1;
}
