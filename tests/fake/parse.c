/* SPDX-License-Identifier: MIT */
/*
 * A request's header, as strictly as Go's server reads it where a client
 * could tell.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conn.h"

void
request_clear(struct request *rq)
{
	free(rq->query);
	free(rq->token);
	free(rq->auth);
	free(rq->site);
	text_clear(&rq->body);
	memset(rq, 0, sizeof(*rq));
}

/* "POST /path?query HTTP/1.1" */
static int
line_parse(struct request *rq, char *line)
{
	char *url = strchr(line, ' '), *version, *query;

	if (url == NULL)
		return -1;
	*url++ = '\0';
	version = strchr(url, ' ');
	if (version == NULL || strchr(version + 1, ' ') != NULL)
		return -1;
	*version++ = '\0';
	if (strcmp(version, "HTTP/1.1") == 0)
		rq->minor = 1;
	else if (strcmp(version, "HTTP/1.0") != 0)
		return -1;
	if (*line == '\0' || strlen(line) >= sizeof(rq->method))
		return -1;
	query = strchr(url, '?');
	if (query != NULL)
		*query++ = '\0';
	if (*url != '/' || strlen(url) >= sizeof(rq->path))
		return -1;
	snprintf(rq->method, sizeof(rq->method), "%s", line);
	snprintf(rq->path, sizeof(rq->path), "%s", url);
	rq->query = xstrdup(query != NULL ? query : "");
	return 0;
}

static bool
word_in(const char *list, const char *word)
{
	size_t n = strlen(word), len;

	for (; *list != '\0'; list += len) {
		list += strspn(list, ", \t");
		len = strcspn(list, ", \t;");
		if (len == n && strncasecmp(list, word, n) == 0)
			return true;
		len = strcspn(list, ",");
	}
	return false;
}

static int
length_parse(struct request *rq, const char *v)
{
	char *end;

	if (!isdigit((unsigned char)*v))
		return -1;
	errno = 0;
	rq->left = strtoull(v, &end, 10);
	rq->haslength = true;
	return *end != '\0' || errno == ERANGE ? -1 : 0;
}

static void
keep(char **where, const char *v)
{
	if (*where == NULL)
		*where = xstrdup(v);
}

static const char *
field_parse(struct request *rq, const char *name, const char *v)
{
	if (strcasecmp(name, "Host") == 0)
		rq->host = true;
	else if (strcasecmp(name, "X-Auth-Token") == 0)
		keep(&rq->token, v);
	else if (strcasecmp(name, "Authorization") == 0)
		keep(&rq->auth, v);
	else if (strcasecmp(name, "Sec-Fetch-Site") == 0)
		keep(&rq->site, v);
	else if (strcasecmp(name, "Accept-Encoding") == 0)
		rq->gzip = word_in(v, "gzip");
	else if (strcasecmp(name, "Expect") == 0)
		rq->expect = strcasecmp(v, "100-continue") == 0;
	else if (strcasecmp(name, "Connection") == 0) {
		rq->close = word_in(v, "close");
		rq->keep10 = word_in(v, "keep-alive");
	} else if (strcasecmp(name, "Content-Length") == 0) {
		if (length_parse(rq, v) == -1)
			return "400 Bad Request";
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		if (strcasecmp(v, "chunked") != 0)
			return "501 Not Implemented";
		rq->chunked = true;
	}
	return NULL;
}

const char *
request_parse(struct request *rq, char *head)
{
	char *line, *next, *v, *end;
	const char *bad;

	next = strstr(head, "\r\n");
	if (next != NULL) {
		*next = '\0';
		next += 2;
	}
	if (line_parse(rq, head) == -1)
		return "400 Bad Request";
	for (line = next; line != NULL && *line != '\0'; line = next) {
		next = strstr(line, "\r\n");
		if (next != NULL) {
			*next = '\0';
			next += 2;
		}
		v = strchr(line, ':');
		if (v == NULL || v == line || v[-1] == ' ')
			return "400 Bad Request";
		*v++ = '\0';
		v += strspn(v, " \t");
		for (end = v + strlen(v);
		     end > v && (end[-1] == ' ' || end[-1] == '\t'); end--)
			;
		*end = '\0';
		if ((bad = field_parse(rq, line, v)) != NULL)
			return bad;
	}
	if (rq->minor == 1 && !rq->host)
		return "400 Bad Request: missing required Host header";
	if (rq->chunked) {
		rq->haslength = false;
		rq->left = 0;
	}
	return NULL;
}
