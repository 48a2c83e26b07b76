/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server: connections, keep-alive and pipelining, bodies counted
 * or in chunks, 100-continue, and the two limits of cc-backend: so long for
 * a header, and so long from its end until the answer is out, after which
 * the connection closes without a word although the request took effect.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

/* Go's limit, with the slack that Go itself gives. */
#define HEAD_MAX ((1 << 20) + 4096)
/* No client of ours sends more; it keeps a mistake from eating memory. */
#define BODY_MAX (256u << 20)
/* Long enough to read the answer before the socket is reset. */
#define DRAIN_MS 500
#define BACKLOG	 512

static LIST_HEAD(conn_list, conn) conns = LIST_HEAD_INITIALIZER(conns);
static struct event_base *base;
static struct evconnlistener *door;
static struct event *down_timer;
static SSL_CTX *tls;
static struct http_numbers numbers;
static int port, limit_ms;
static double down_for;
static struct conn *gone; /* the last that was closed */

void
http_numbers(struct http_numbers *n)
{
	*n = numbers;
}

int
http_port(void)
{
	return port;
}

void
conn_timer(struct conn *c, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000 };

	if (ms < 0)
		evtimer_del(c->timer);
	else
		evtimer_add(c->timer, &tv);
}

void
conn_close(struct conn *c)
{
	LIST_REMOVE(c, entry);
	gone = c;
	numbers.open--;
	bufferevent_free(c->bev);
	event_free(c->timer);
	request_clear(&c->rq);
	text_clear(&c->out);
	free(c);
}

void
conn_reset(struct conn *c)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &now,
	    sizeof(now));
	conn_close(c);
}

void
conn_send(struct conn *c, const char *p, size_t n)
{
	bufferevent_write(c->bev, p, n);
}

/* A refusal by the server itself, before any handler. */
void
conn_bad(struct conn *c, const char *status)
{
	struct text t = { 0 };

	text_fmt(&t,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8"
	    "\r\nConnection: close\r\n\r\n%s",
	    status, status);
	conn_send(c, t.p, t.len);
	text_clear(&t);
	c->state = CONN_DRAIN;
	conn_timer(c, DRAIN_MS);
}

/* The next request, if the connection lives on. */
static void
conn_next(struct conn *c, bool closing)
{
	request_clear(&c->rq);
	c->state = closing ? CONN_CLOSING : CONN_HEAD;
	conn_timer(c, limit_ms - (int)(now_ms() - c->header_at));
}

void
conn_answer(struct conn *c)
{
	struct reply rp = { 0 };
	struct text t = { 0 };
	bool closing = false;

	api_handle(&c->rq, &rp);
	stats_count(api_endpoint(&c->rq), rp.status);
	if (now_ms() - c->header_at >= limit_ms) {
		/* It took effect, and nobody will hear of it. */
		reply_clear(&rp);
		c->state = CONN_CLOSING;
		conn_timer(c, 0);
		return;
	}
	reply_wire(&t, &c->rq, &rp, &closing);
	reply_clear(&rp);
	conn_send(c, t.p, t.len);
	text_clear(&t);
	conn_next(c, closing);
}

static void
conn_request(struct conn *c)
{
	struct fault *f;

	numbers.requests++;
	f = fault_find(&c->rq);
	if (f != NULL)
		play_start(c, f);
	else
		conn_answer(c);
}

/* The header is complete in head. */
static void
head_done(struct conn *c, char *head)
{
	struct reply rp = { 0 };
	const char *bad;

	c->header_at = now_ms();
	conn_timer(c, -1);
	bad = request_parse(&c->rq, head);
	if (bad != NULL || c->rq.left > BODY_MAX) {
		conn_bad(c, bad != NULL ? bad : "413 Request Entity Too Large");
		return;
	}
	c->state = c->rq.chunked ? CONN_CHUNK : CONN_BODY;
	if (!c->rq.expect)
		return;
	if (api_check(&c->rq, &rp) == 0)
		conn_send(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	else {
		/* The body never comes, so the connection cannot go on. */
		c->rq.close = true;
		conn_request(c);
	}
	reply_clear(&rp);
}

/* Each step returns whether there is more to do at once. */
static bool
head_step(struct conn *c, struct evbuffer *in)
{
	struct evbuffer_ptr end;
	size_t n = evbuffer_get_length(in);
	char *head;

	if (n == 0)
		return false;
	end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	if (end.pos == -1 || end.pos > HEAD_MAX) {
		if (n > HEAD_MAX)
			conn_bad(c, "431 Request Header Fields Too Large");
		else if (!evtimer_pending(c->timer, NULL))
			conn_timer(c, limit_ms);
		return false;
	}
	head = xcalloc(1, (size_t)end.pos + 1);
	evbuffer_remove(in, head, (size_t)end.pos);
	evbuffer_drain(in, 4);
	head_done(c, head);
	free(head);
	return true;
}

/* Moves what is there of rq.left bytes into the body. */
static bool
body_step(struct conn *c, struct evbuffer *in)
{
	size_t n = evbuffer_get_length(in);
	char buf[16384];

	if (n > c->rq.left)
		n = (size_t)c->rq.left;
	if (n == 0 && c->rq.left > 0)
		return false;
	while (n > 0) {
		size_t k = n > sizeof(buf) ? sizeof(buf) : n;

		evbuffer_remove(in, buf, k);
		text_add(&c->rq.body, buf, k);
		c->rq.left -= k;
		n -= k;
	}
	if (c->rq.left > 0)
		return false;
	if (c->state == CONN_DATA)
		c->state = CONN_DATA_END;
	else
		conn_request(c);
	return true;
}

static bool
chunk_step(struct conn *c, struct evbuffer *in)
{
	size_t n;
	char *line = evbuffer_readln(in, &n, EVBUFFER_EOL_CRLF), *end;

	if (line == NULL)
		return false;
	switch (c->state) {
	case CONN_CHUNK:
		c->rq.left = strtoull(line, &end, 16);
		if (end == line || (*end != '\0' && *end != ';') ||
		    c->rq.left + c->rq.body.len > BODY_MAX)
			conn_bad(c, "400 Bad Request");
		else
			c->state = c->rq.left > 0 ? CONN_DATA : CONN_TRAILER;
		break;
	case CONN_DATA_END:
		c->state = CONN_CHUNK;
		break;
	default:
		if (n == 0)
			conn_request(c);
		break;
	}
	free(line);
	return true;
}

static void
on_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct conn *c = arg;
	bool more = true;

	gone = NULL;
	while (more && gone != c) { /* a fault may end it */
		switch (c->state) {
		case CONN_HEAD:
			more = head_step(c, in);
			break;
		case CONN_BODY:
		case CONN_DATA:
			more = body_step(c, in);
			break;
		case CONN_CHUNK:
		case CONN_DATA_END:
		case CONN_TRAILER:
			more = chunk_step(c, in);
			break;
		case CONN_PLAY:
			return;
		case CONN_CLOSING:
		case CONN_DRAIN:
			evbuffer_drain(in, evbuffer_get_length(in));
			return;
		}
	}
}

/* Everything is written. */
static void
on_write(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	if (c->state == CONN_PLAY)
		play_drained(c);
	else if (c->state == CONN_DRAIN)
		shutdown(bufferevent_getfd(bev), SHUT_WR);
	else if (c->state == CONN_CLOSING || (c->eof && c->state == CONN_HEAD))
		conn_close(c);
	else if (c->state == CONN_HEAD) {
		conn_timer(c, -1);
		if (evbuffer_get_length(bufferevent_get_input(bev)) > 0)
			conn_timer(c, limit_ms);
	}
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	struct conn *c = arg;

	if (what & BEV_EVENT_CONNECTED)
		return;
	if (c->state == CONN_PLAY && c->pending) {
		c->eof = true; /* the effect still comes */
		return;
	}
	if (what & BEV_EVENT_EOF &&
	    evbuffer_get_length(bufferevent_get_output(bev)) > 0) {
		c->eof = true; /* it may still listen */
		return;
	}
	conn_close(c);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	if (c->state == CONN_PLAY)
		play_timer(c);
	else
		conn_close(c);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
    int len, void *arg)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->bev = tls == NULL ?
	    bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE) :
	    bufferevent_openssl_socket_new(base, fd, SSL_new(tls),
		BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	c->timer = evtimer_new(base, on_timer, c);
	if (c->bev == NULL || c->timer == NULL)
		abort();
	LIST_INSERT_HEAD(&conns, c, entry);
	numbers.total++;
	if (++numbers.open > numbers.max)
		numbers.max = numbers.open;
	bufferevent_setcb(c->bev, on_read, on_write, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	conn_timer(c, limit_ms);
}

static int
door_open(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);

	door = evconnlistener_new_bind(base, on_accept, NULL,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
	    BACKLOG, (struct sockaddr *)&sin, sizeof(sin));
	if (door == NULL)
		return -1;
	if (getsockname(evconnlistener_get_fd(door), (struct sockaddr *)&sin,
		&len) == -1)
		return -1;
	port = ntohs(sin.sin_port);
	return 0;
}

static void
on_down(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tv = { .tv_sec = (time_t)down_for,
		.tv_usec = (suseconds_t)((down_for - (time_t)down_for) * 1e6) };

	if (door == NULL) {
		if (door_open() == -1)
			perror("listen");
		return;
	}
	evconnlistener_free(door);
	door = NULL;
	while (!LIST_EMPTY(&conns))
		conn_close(LIST_FIRST(&conns));
	evtimer_add(down_timer, &tv);
}

/* Begins when the answer to the one who asked is out. */
void
http_down(double seconds)
{
	struct timeval soon = { .tv_usec = 50000 };

	down_for = seconds;
	evtimer_add(down_timer, &soon);
}

static int
tls_init(const struct options *o)
{
	tls = SSL_CTX_new(TLS_server_method());
	if (tls == NULL ||
	    SSL_CTX_use_certificate_chain_file(tls, o->cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(tls, o->key, SSL_FILETYPE_PEM) != 1)
		return -1;
	return 0;
}

int
http_init(struct event_base *b, const struct options *o)
{
	base = b;
	port = o->port;
	limit_ms = (int)(o->limit * 1000);
	down_timer = evtimer_new(base, on_down, NULL);
	if (o->cert != NULL && tls_init(o) == -1) {
		fprintf(stderr, "cannot use %s and %s\n", o->cert, o->key);
		return -1;
	}
	return door_open();
}
