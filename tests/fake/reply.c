/* SPDX-License-Identifier: MIT */
/*
 * What an answer looks like: the status texts, the shape of errors, and the
 * headers that the played version sets.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

/* Go's server counts a short answer, and sends a longer one in chunks. */
#define COUNTED_MAX 2048
/* The size of those chunks is that of its buffer. */
#define CHUNK_LEN 2048

const char *
status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} texts[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 307, "Temporary Redirect" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 408, "Request Timeout" },
		{ 413, "Request Entity Too Large" },
		{ 422, "Unprocessable Entity" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "Unknown";
}

void
reply_error(struct reply *rp, int status, const char *fmt, ...)
{
	struct text msg = { 0 };
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) == -1)
		abort();
	va_end(ap);
	rp->status = status;
	rp->ctype = "application/json";
	go_cstring(&msg, s);
	text_fmt(&rp->body, "{\"status\":\"%s\",\"error\":%s}\n",
	    status_text(status), msg.p);
	text_clear(&msg);
	free(s);
}

void
reply_no_endpoint(struct reply *rp)
{
	rp->status = 404;
	if (api_options()->version == V154) {
		rp->ctype = "application/json";
		text_str(&rp->body,
		    "{\"error\":\"the requested endpoint does "
		    "not exist\",\"status\":\"Resource not found\"}\n");
		return;
	}
	rp->ctype = "text/plain; charset=utf-8";
	text_str(&rp->body, "404 page not found\n");
}

void
reply_not_found(struct reply *rp)
{
	reply_error(rp, api_options()->version == V154 ? 404 : 422,
	    "finding job failed: sql: no rows in result set");
}

void
reply_clear(struct reply *rp)
{
	text_clear(&rp->body);
	free(rp->location);
	memset(rp, 0, sizeof(*rp));
}

static const char *
date_now(void)
{
	static char buf[64];
	static time_t last;
	time_t now = time(NULL);
	struct tm tm;

	if (now != last) {
		gmtime_r(&now, &tm);
		strftime(buf, sizeof(buf), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		last = now;
	}
	return buf;
}

static void
allow_write(struct text *t, const char *allow)
{
	size_t n;

	for (; *allow != '\0'; allow += n + strspn(allow + n, " ")) {
		n = strcspn(allow, " ");
		text_fmt(t, "Allow: %.*s\r\n", (int)n, allow);
	}
}

static void
headers_write(struct text *t, const struct request *rq, const struct reply *rp)
{
	bool new = api_options()->version == V154;

	if (rp->allow != NULL)
		allow_write(t, rp->allow);
	if (rq->gzip)
		text_str(t, "Content-Encoding: gzip\r\n");
	if (new)
		text_str(t,
		    "Content-Security-Policy: frame-ancestors 'none'; "
		    "object-src 'none'; base-uri 'self'\r\n");
	if (rp->ctype != NULL)
		text_fmt(t, "Content-Type: %s\r\n", rp->ctype);
	if (rp->location != NULL)
		text_fmt(t, "Location: %s\r\n", rp->location);
	if (new)
		text_str(t, "Referrer-Policy: same-origin\r\nVary: Origin\r\n");
	if (rq->gzip || !new)
		text_str(t, "Vary: Accept-Encoding\r\n");
	if (new)
		text_str(t,
		    "X-Content-Type-Options: nosniff\r\n"
		    "X-Frame-Options: DENY\r\n");
	text_fmt(t, "Date: %s\r\n", date_now());
}

static void
chunks_write(struct text *t, const struct text *body)
{
	size_t at, n;

	for (at = 0; at < body->len; at += n) {
		n = body->len - at > CHUNK_LEN ? CHUNK_LEN : body->len - at;
		text_fmt(t, "%zx\r\n", n);
		text_add(t, body->p + at, n);
		text_str(t, "\r\n");
	}
	text_str(t, "0\r\n\r\n");
}

void
reply_wire(struct text *t, const struct request *rq, struct reply *rp,
    bool *closing)
{
	bool counted = rp->body.len <= COUNTED_MAX;

	if (rq->gzip)
		gzip_wrap(&rp->body);
	*closing = rq->close || (rq->minor == 0 && !(rq->keep10 && counted));
	text_fmt(t, "HTTP/1.%d %d %s\r\n", rq->minor, rp->status,
	    status_text(rp->status));
	headers_write(t, rq, rp);
	if (counted)
		text_fmt(t, "Content-Length: %zu\r\n", rp->body.len);
	if (rq->minor == 0 && !*closing)
		text_str(t, "Connection: keep-alive\r\n");
	else if (rq->minor != 0 && *closing)
		text_str(t, "Connection: close\r\n");
	if (!counted && rq->minor != 0)
		text_str(t, "Transfer-Encoding: chunked\r\n");
	text_str(t, "\r\n");
	if (strcmp(rq->method, "HEAD") == 0)
		return;
	if (!counted && rq->minor != 0)
		chunks_write(t, &rp->body);
	else
		text_add(t, rp->body.p, rp->body.len);
}
