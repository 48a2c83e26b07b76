/* SPDX-License-Identifier: MIT */
/*
 * The NATS side of cc-backend: a plain subscriber, which comes back when the
 * broker was away and has then missed what was sent.  cc-backend has eight
 * workers that overtake each other; so do messages here that arrive
 * together, always, so that nobody gets by on luck.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define WORKERS 8
/* Messages that arrive within this time are taken at once. */
#define TOGETHER_MS 5
#define AGAIN_MS    500
/* The brokers' own default limit is 1 MiB, but it can be raised. */
#define MESSAGE_MAX (64 << 20)

struct message {
	struct text body;
	bool nodes;
};

static struct {
	char *user, *pass;
	const char *subject;
	struct sockaddr_in sin;
	struct bufferevent *bev;
	struct event *again, *work;
	size_t want; /* of a payload, with CRLF */
	bool inside; /* a payload comes next */
	bool nodes;
	struct message queue[WORKERS];
	size_t nqueue;
} nats;

static void nats_connect(void);

static void
timer_set(struct event *ev, int ms)
{
	struct timeval tv = { .tv_usec = ms * 1000 };

	evtimer_add(ev, &tv);
}

/* The last that came is taken first. */
static void
queue_run(void)
{
	struct message *m;

	while (nats.nqueue > 0) {
		m = &nats.queue[--nats.nqueue];
		line_message(m->body.p, m->body.len,
		    m->nodes ? "nodestate" : "job");
		text_clear(&m->body);
	}
}

static void
on_work(evutil_socket_t fd, short what, void *arg)
{
	queue_run();
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
	nats_connect();
}

static void
login(void)
{
	struct text t = { 0 };

	text_str(&t, "CONNECT {\"verbose\":false,\"pedantic\":false");
	if (nats.user != NULL) {
		text_str(&t, ",\"user\":");
		go_cstring(&t, nats.user);
		text_str(&t, ",\"pass\":");
		go_cstring(&t, nats.pass);
	}
	text_fmt(&t, "}\r\nSUB %s 1\r\nSUB nodes 2\r\nPING\r\n", nats.subject);
	bufferevent_write(nats.bev, t.p, t.len);
	text_clear(&t);
}

/* MSG subject sid [reply] size */
static void
message_begin(char *line)
{
	char *size = strrchr(line, ' '), *sid = strchr(line, ' ');

	if (size == NULL || sid == NULL || (sid = strchr(sid + 1, ' ')) == NULL)
		return;
	nats.nodes = sid[1] == '2';
	nats.want = strtoul(size + 1, NULL, 10) + 2;
	nats.inside = nats.want <= MESSAGE_MAX;
}

static void
message_end(struct evbuffer *in)
{
	struct message *m = &nats.queue[nats.nqueue++];
	size_t n = nats.want - 2;

	memset(m, 0, sizeof(*m));
	if (n > 0)
		text_add(&m->body, evbuffer_pullup(in, (ev_ssize_t)n), n);
	evbuffer_drain(in, nats.want);
	m->nodes = nats.nodes;
	nats.inside = false;
	if (nats.nqueue == WORKERS)
		queue_run();
	else
		timer_set(nats.work, TOGETHER_MS);
}

static void
on_nats(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	char *line;

	for (;;) {
		if (nats.inside) {
			if (evbuffer_get_length(in) < nats.want)
				return;
			message_end(in);
			continue;
		}
		line = evbuffer_readln(in, NULL, EVBUFFER_EOL_CRLF_STRICT);
		if (line == NULL)
			return;
		if (strncmp(line, "INFO ", 5) == 0)
			login();
		else if (strncmp(line, "MSG ", 4) == 0)
			message_begin(line);
		else if (strcmp(line, "PING") == 0)
			bufferevent_write(bev, "PONG\r\n", 6);
		else if (strncmp(line, "-ERR", 4) == 0)
			fprintf(stderr, "nats: %s\n", line);
		free(line);
	}
}

static void
on_nats_event(struct bufferevent *bev, short what, void *arg)
{
	if (what & BEV_EVENT_CONNECTED)
		return;
	bufferevent_free(bev);
	nats.bev = NULL;
	nats.inside = false;
	timer_set(nats.again, AGAIN_MS);
}

static void
nats_connect(void)
{
	nats.bev = bufferevent_socket_new(event_get_base(nats.again), -1,
	    BEV_OPT_CLOSE_ON_FREE);
	if (nats.bev == NULL)
		abort();
	bufferevent_setcb(nats.bev, on_nats, NULL, on_nats_event, NULL);
	bufferevent_enable(nats.bev, EV_READ | EV_WRITE);
	bufferevent_socket_connect(nats.bev, (struct sockaddr *)&nats.sin,
	    sizeof(nats.sin));
}

/* nats://[user:password@]1.2.3.4:port */
static int
url_read(const char *url)
{
	char host[64];
	const char *at, *colon;

	if (strncmp(url, "nats://", 7) == 0)
		url += 7;
	at = strrchr(url, '@');
	if (at != NULL) {
		colon = strchr(url, ':');
		if (colon == NULL || colon > at)
			return -1;
		nats.user = xstrndup(url, (size_t)(colon - url));
		nats.pass = xstrndup(colon + 1, (size_t)(at - colon - 1));
		url = at + 1;
	}
	colon = strchr(url, ':');
	if (colon == NULL || (size_t)(colon - url) >= sizeof(host))
		return -1;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - url), url);
	if (strcmp(host, "localhost") == 0)
		snprintf(host, sizeof(host), "127.0.0.1");
	nats.sin.sin_family = AF_INET;
	nats.sin.sin_port = htons((uint16_t)atoi(colon + 1));
	return inet_pton(AF_INET, host, &nats.sin.sin_addr) == 1 ? 0 : -1;
}

int
nats_init(struct event_base *base, const char *url, const char *subject)
{
	if (url_read(url) == -1)
		return -1;
	nats.subject = subject;
	nats.again = evtimer_new(base, on_again, NULL);
	nats.work = evtimer_new(base, on_work, NULL);
	nats_connect();
	return 0;
}
