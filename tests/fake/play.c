/* SPDX-License-Identifier: MIT */
/*
 * Plays a fault on a connection.  Those that spoil the answer's transport
 * (delay, slow, truncate, halfopen, wrong-length) answer truly, so the
 * request takes effect; the others take effect only with afterEffect.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

#define SLOW_MS	    100
#define ENDLESS_MS  10
#define PIECE	    65536
#define GARBAGE_LEN 512

static const char page[] =
    "<!DOCTYPE html>\n<html><head><title>502 Bad "
    "Gateway</title></head>\n<body><center><h1>502 Bad Gateway</h1></center>"
    "<hr><center>nginx</center></body></html>\n";

static const char endless[] =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/* The true answer's bytes go to c->out. */
static void
truth_make(struct conn *c, long extra)
{
	struct reply rp = { 0 };
	struct text body = { 0 };
	bool closing;
	char *end;

	api_handle(&c->rq, &rp);
	if (extra == 0) {
		reply_wire(&c->out, &c->rq, &rp, &closing);
		reply_clear(&rp);
		return;
	}
	/* Counted whatever its length, and wrongly. */
	c->rq.gzip = false;
	body = rp.body;
	memset(&rp.body, 0, sizeof(rp.body));
	reply_wire(&c->out, &c->rq, &rp, &closing);
	end = strstr(c->out.p, "Content-Length: ");
	if (end != NULL)
		c->out.len = (size_t)(end - c->out.p);
	text_fmt(&c->out, "Content-Length: %ld\r\n\r\n",
	    (long)body.len + extra);
	text_add(&c->out, body.p, body.len);
	text_clear(&body);
	reply_clear(&rp);
}

static void
flush_and_close(struct conn *c, size_t n)
{
	conn_send(c, c->out.p, n);
	c->state = CONN_CLOSING;
}

static void
effect_make(struct conn *c, const struct fault *f)
{
	struct reply rp = { 0 };

	if (f->after)
		api_handle(&c->rq, &rp);
	reply_clear(&rp);
}

/* An answer of the fault's own, after which all goes on. */
static void
status_play(struct conn *c, const struct fault *f, int status, const char *body,
    const char *ctype)
{
	struct reply rp = { .status = status, .ctype = ctype };
	bool closing;

	if (body != NULL)
		text_str(&rp.body, body);
	else
		reply_error(&rp, status, "%s", status_text(status));
	if (f->kind == FAULT_REDIRECT)
		rp.location = xstrdup(
		    f->location != NULL ? f->location : "/login");
	reply_wire(&c->out, &c->rq, &rp, &closing);
	reply_clear(&rp);
	conn_send(c, c->out.p, c->out.len);
	text_clear(&c->out);
	request_clear(&c->rq);
	c->state = closing ? CONN_CLOSING : CONN_HEAD;
}

static void
endless_piece(struct conn *c)
{
	char buf[PIECE];

	memset(buf, ' ', sizeof(buf));
	conn_send(c, "10000\r\n", 7);
	conn_send(c, buf, sizeof(buf));
	conn_send(c, "\r\n", 2);
}

static void
big_start(struct conn *c, const struct fault *f)
{
	static const char start[] = "{\"jobs\":[";
	struct text t = { 0 };

	c->more = f->bytes;
	text_fmt(&t,
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %lld\r\n\r\n%s",
	    (long long)f->bytes + (long long)strlen(start), start);
	conn_send(c, t.p, t.len);
	text_clear(&t);
}

static void
garbage_send(struct conn *c)
{
	unsigned char buf[GARBAGE_LEN];
	uint32_t x = 2463534242u;
	size_t i;

	for (i = 0; i < sizeof(buf); i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		buf[i] = (unsigned char)x;
	}
	conn_send(c, (char *)buf, sizeof(buf));
	c->state = CONN_CLOSING;
}

/* What has a true answer; false if f is not of that kind. */
static bool
truth_play(struct conn *c, const struct fault *f)
{
	switch (f->kind) {
	case FAULT_DELAY:
		if (f->after)
			truth_make(c, 0);
		c->pending = true;
		conn_timer(c, f->delay);
		return true;
	case FAULT_SLOW:
		truth_make(c, 0);
		c->pace = f->delay > 0 ? f->delay : SLOW_MS;
		conn_timer(c, c->pace);
		return true;
	case FAULT_TRUNCATE:
		truth_make(c, 0);
		flush_and_close(c, c->out.len - c->out.len / 8);
		return true;
	case FAULT_LENGTH:
		truth_make(c, 1000);
		flush_and_close(c, c->out.len);
		return true;
	case FAULT_HALFOPEN:
		truth_make(c, 0);
		conn_send(c, c->out.p, c->out.len / 2);
		return true;
	default:
		return false;
	}
}

void
play_start(struct conn *c, struct fault *f)
{
	c->state = CONN_PLAY;
	c->play = f->kind;
	stats_count(fault_name(f->kind), 0);
	if (truth_play(c, f))
		return;
	effect_make(c, f);
	switch (f->kind) {
	case FAULT_STATUS:
		status_play(c, f, f->status, f->body, "application/json");
		break;
	case FAULT_401:
		status_play(c, f, 401,
		    "{\"error\":\"token has invalid claims: "
		    "token is expired\",\"status\":\"Unauthorized\"}\n",
		    "application/json");
		break;
	case FAULT_HTML:
		status_play(c, f, 200, page, "text/html");
		break;
	case FAULT_REDIRECT:
		status_play(c, f, 302, "", "text/html; charset=utf-8");
		break;
	case FAULT_RESET:
		conn_reset(c);
		break;
	case FAULT_GARBAGE:
		garbage_send(c);
		break;
	case FAULT_BIG:
		big_start(c, f);
		break;
	case FAULT_ENDLESS:
		conn_send(c, endless, strlen(endless));
		conn_timer(c, ENDLESS_MS);
		break;
	default: /* hang: perhaps for so long only */
		if (f->delay > 0)
			conn_timer(c, f->delay);
		break;
	}
}

static void
delay_end(struct conn *c)
{
	c->pending = false;
	if (c->out.len == 0) {
		/* Late on purpose: the limit is the client's business. */
		c->header_at = now_ms();
		conn_answer(c);
	} else {
		conn_send(c, c->out.p, c->out.len);
		text_clear(&c->out);
		request_clear(&c->rq);
		c->state = CONN_HEAD;
	}
	if (c->eof)
		conn_close(c);
}

void
play_timer(struct conn *c)
{
	switch (c->play) {
	case FAULT_DELAY:
		delay_end(c);
		break;
	case FAULT_SLOW:
		conn_send(c, c->out.p + c->sent++, 1);
		if (c->sent == c->out.len)
			c->state = CONN_CLOSING;
		else
			conn_timer(c, c->pace);
		break;
	case FAULT_ENDLESS:
		endless_piece(c);
		conn_timer(c, ENDLESS_MS);
		break;
	default:
		conn_close(c);
		break;
	}
}

void
play_drained(struct conn *c)
{
	char buf[PIECE];
	size_t n = sizeof(buf);

	if (c->play != FAULT_BIG)
		return;
	if ((int64_t)n > c->more)
		n = (size_t)c->more;
	memset(buf, ' ', n);
	conn_send(c, buf, n);
	c->more -= (int64_t)n;
	if (c->more == 0)
		c->state = CONN_CLOSING;
}
