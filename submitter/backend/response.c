/* SPDX-License-Identifier: MIT */
/*
 * The table that classifies cc-backend's answers; see response.h. A proxy, a
 * portal or another server may answer instead of cc-backend: a success counts
 * only with the body that cc-backend sends, and an unknown answer is retried.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text/json_scan.h"
#include "common/text/text.h"
#include "submitter/backend/response.h"

#define WORDS_MAX 1024 /* bytes of an error text that are examined */

#define W(x)   (1u << REQUEST_##x)
#define ANY    (~0u)
#define WRITES (W(START) | W(STOP) | W(META) | W(DELETE) | W(NODES))
#define READS  (W(CLUSTERS) | W(LIST))

/* The body that a success must have. */
enum body_shape {
	SHAPE_ANY,
	SHAPE_OBJECT
};

/* The first match wins. text: a part of cc-backend's error. */
static const struct rule {
	unsigned what;
	int from, to;	  /* HTTP codes, inclusive */
	const char *text; /* NULL = any */
	enum body_shape shape;
	enum result_code code;
} rules[] = {
	/* the probe: a start that no version accepts */
	{ W(PROBE), 400, 400, "no such cluster", SHAPE_OBJECT, RESULT_DONE },
	{ W(PROBE), 400, 400, "unknown field", SHAPE_OBJECT, RESULT_DONE },
	/* successes */
	{ W(START), 201, 201, NULL, SHAPE_OBJECT, RESULT_DONE },
	{ W(STOP) | W(DELETE) | W(META), 200, 200, NULL, SHAPE_OBJECT,
	    RESULT_DONE },
	{ W(NODES), 200, 200, NULL, SHAPE_ANY, RESULT_DONE },
	{ READS, 200, 200, NULL, SHAPE_ANY, RESULT_DONE },
	/* the token */
	{ ANY, 401, 401, NULL, SHAPE_ANY, RESULT_UNAUTHORIZED },
	{ ANY, 403, 403, NULL, SHAPE_ANY, RESULT_UNAUTHORIZED },
	/* start */
	{ W(START), 422, 422, NULL, SHAPE_OBJECT, RESULT_CHECK },
	{ W(START), 500, 500, "UNIQUE constraint failed: job_cache",
	    SHAPE_OBJECT, RESULT_ACCEPTED_BEFORE },
	{ W(START), 500, 500, "UNIQUE constraint failed: job.", SHAPE_OBJECT,
	    RESULT_CHECK },
	/* 1.4 sends a line of its database before the object */
	{ W(START), 500, 500, "adding tag to new job", SHAPE_ANY, RESULT_DONE },
	{ W(START), 500, 500, "CHECK constraint failed", SHAPE_OBJECT,
	    RESULT_REJECTED },
	/* stop; up to 1.4.2 the time and the state are in one sentence */
	{ W(STOP), 422, 422, "already been stopped", SHAPE_OBJECT,
	    RESULT_ALREADY_STOPPED },
	{ W(STOP), 422, 422, "finding job failed", SHAPE_OBJECT,
	    RESULT_NO_RUN },
	{ W(STOP), 404, 404, "finding job failed", SHAPE_OBJECT,
	    RESULT_NO_RUN },
	{ W(STOP), 400, 400, "(state is: running)", SHAPE_OBJECT,
	    RESULT_REJECTED },
	{ W(STOP), 400, 400, "only running jobs can be stopped", SHAPE_OBJECT,
	    RESULT_ALREADY_STOPPED },
	/* other requests */
	/* it has the run, and its database did not delete it */
	{ W(DELETE), 422, 422, "deleting job failed", SHAPE_OBJECT,
	    RESULT_RETRY },
	{ W(META) | W(DELETE), 422, 422, NULL, SHAPE_OBJECT, RESULT_NO_RUN },
	{ W(META) | W(DELETE), 404, 404, "finding job failed", SHAPE_OBJECT,
	    RESULT_NO_RUN },
	/* the text ends with the name of a host, which is any text */
	{ W(START), 400, 400, "no subcluster found for cluster", SHAPE_OBJECT,
	    RESULT_REJECTED },
	/* the version is not the probed one: cc-backend was upgraded */
	{ W(START), 400, 400, "json: unknown field", SHAPE_OBJECT,
	    RESULT_REPROBE },
	/* wrong address, or a cc-backend that accepts jobs only by NATS */
	{ W(NODES) | W(META), 404, 405, NULL, SHAPE_ANY, RESULT_REJECTED },
	{ ANY, 400, 400, "integer expected in path", SHAPE_ANY,
	    RESULT_WRONG_ADDRESS },
	{ ANY, 404, 405, NULL, SHAPE_ANY, RESULT_WRONG_ADDRESS },
	{ ANY, 407, 407, NULL, SHAPE_ANY, RESULT_WRONG_ADDRESS },
	{ ANY, 431, 431, NULL, SHAPE_ANY, RESULT_WRONG_ADDRESS },
	{ ANY, 300, 399, NULL, SHAPE_ANY, RESULT_WRONG_ADDRESS },
	/*
	 * body, cluster, host, count or state is invalid: no retry can succeed
	 */
	{ WRITES, 400, 400, NULL, SHAPE_OBJECT, RESULT_REJECTED },
	{ WRITES, 413, 413, NULL, SHAPE_ANY, RESULT_REJECTED },
	{ WRITES, 422, 422, NULL, SHAPE_OBJECT, RESULT_REJECTED },
	{ READS, 400, 400, NULL, SHAPE_OBJECT, RESULT_REJECTED },
	/* cc-backend or a proxy has a temporary fault */
	{ ANY, 429, 429, NULL, SHAPE_ANY, RESULT_UNREACHABLE },
	{ ANY, 502, 504, NULL, SHAPE_ANY, RESULT_UNREACHABLE },
	{ ANY, 500, 599, NULL, SHAPE_ANY, RESULT_RETRY },
	/* a login page with 200, or a proxy's 4xx */
	{ ANY, 100, 599, NULL, SHAPE_ANY, RESULT_UNREACHABLE },
};

static const char *const result_names[RESULT__COUNT] = {
	[RESULT_DONE] = "done",
	[RESULT_RETRY] = "retry",
	[RESULT_UNREACHABLE] = "unreachable",
	[RESULT_CHECK] = "check",
	[RESULT_ACCEPTED_BEFORE] = "accepted-before",
	[RESULT_ALREADY_STOPPED] = "already-stopped",
	[RESULT_NO_RUN] = "no-run",
	[RESULT_OLD_VERSION] = "old-version",
	[RESULT_REPROBE] = "reprobe",
	[RESULT_REJECTED] = "rejected",
	[RESULT_UNAUTHORIZED] = "unauthorized",
	[RESULT_WRONG_ADDRESS] = "wrong-address",
};

static const char *const request_names[REQUEST__COUNT] = {
	[REQUEST_PROBE] = "probe",
	[REQUEST_CLUSTERS] = "clusters",
	[REQUEST_START] = "start_job",
	[REQUEST_STOP] = "stop_job",
	[REQUEST_LIST] = "jobs",
	[REQUEST_NODES] = "nodestate",
	[REQUEST_META] = "edit_meta",
	[REQUEST_DELETE] = "delete_job",
};

const char *
result_name(enum result_code code)
{
	return (unsigned)code < RESULT__COUNT ? result_names[code] : "?";
}

const char *
request_kind_name(enum request_kind what)
{
	return (unsigned)what < REQUEST__COUNT ? request_names[what] : "?";
}

struct error_search {
	int is_error; /* the member under way is "error" */
	int found;
};

/* Stops at the first member "error" that is a string. */
static const char *
on_error_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct error_search *search = arg;

	if (event == JSON_EV_STRING && search->is_error) {
		search->found = 1;
		return "found";
	}
	search->is_error = event == JSON_EV_NAME &&
	    strcmp(s->text, "error") == 0;
	return NULL;
}

/* cc-backend's error text, blanks for its newlines and tabs.  0 or -1. */
static int
error_take(const char *p, size_t n, char *words, size_t size)
{
	struct error_search search = { 0, 0 };
	struct json_scan s;

	json_scan_init(&s, '{', words, size, on_error_event, &search);
	/* The quote ends a text that is longer than what is looked at. */
	if (json_scan_feed(&s, p, n) == NULL)
		(void)json_scan_feed(&s, "\"", 1);
	if (!search.found)
		return -1;
	for (; *words != '\0'; words++)
		if (*words == '\n' || *words == '\r' || *words == '\t')
			*words = ' ';
	return 0;
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The title of a proxy's error page, without superfluous blanks.  0 or -1. */
static int
title_take(const char *p, const char *end, char *words, size_t size)
{
	static const char tag[] = "<title";
	const size_t tag_len = sizeof(tag) - 1;
	size_t n = 0;

	while (
	    (size_t)(end - p) >= tag_len && strncasecmp(p, tag, tag_len) != 0)
		p++;
	if ((size_t)(end - p) < tag_len ||
	    (p = memchr(p, '>', (size_t)(end - p))) == NULL)
		return -1;
	for (p++; p < end && *p != '<' && n < size - 1; p++)
		if (!is_blank(*p))
			words[n++] = *p;
		else if (n > 0 && words[n - 1] != ' ')
			words[n++] = ' ';
	if (n > 0 && words[n - 1] == ' ')
		n--;
	words[n] = '\0';
	return n > 0 ? 0 : -1;
}

/*
 * Copies cc-backend's error text, the title of a page, or the beginning of
 * another body, as one line.
 */
static void
words_take(const struct http_answer *a, char *words, size_t size)
{
	const char *p = a->body, *end, *object;
	size_t n;

	words[0] = '\0';
	if (p == NULL)
		return;
	end = p + (a->len > WORDS_MAX * 4 ? WORDS_MAX * 4 : a->len);
	while (p < end && is_blank(*p))
		p++;
	if (p < end && *p == '<' && title_take(p, end, words, size) == 0)
		return;
	object = memchr(p, '{', (size_t)(end - p));
	if (object != NULL &&
	    error_take(object, (size_t)(end - object), words, size) == 0)
		return;
	n = (size_t)(end - p) < size - 1 ? (size_t)(end - p) : size - 1;
	memcpy(words, p, n);
	words[n] = '\0';
	n = strcspn(words, "\r\n");
	words[n] = '\0';
}

static int
body_begins(const struct http_answer *a, char c)
{
	size_t i = 0;

	while (i < a->len && is_blank(a->body[i]))
		i++;
	return i < a->len && a->body[i] == c;
}

/* The row for an answer with this error text; NULL = none. */
static const struct rule *
rule_find(const struct http_answer *a, const char *words)
{
	const struct rule *r;
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		r = &rules[i];
		if (!(r->what & (1u << a->what)) || a->code < r->from ||
		    a->code > r->to)
			continue;
		/* A page is never cc-backend's. */
		if (r->text != NULL &&
		    (strstr(words, r->text) == NULL || body_begins(a, '<')))
			continue;
		if (r->shape == SHAPE_OBJECT && !body_begins(a, '{'))
			continue;
		return r;
	}
	return NULL;
}

void
response_classify(const struct http_answer *a, struct result *v)
{
	char words[WORDS_MAX], line[sizeof(v->text) - 16];
	const struct rule *rule;

	memset(v, 0, sizeof(*v));
	v->what = a->what;
	v->backend = a->backend;
	v->new_connection = a->new_connection;
	if (a->error != NULL || a->code == 0) {
		v->code = RESULT_UNREACHABLE;
		text_vis(a->error != NULL ? a->error : "no answer", line,
		    sizeof(line));
		snprintf(v->text, sizeof(v->text), "%s", line);
		return;
	}
	words_take(a, words, sizeof(words));
	rule = rule_find(a, words);
	v->code = rule != NULL ? rule->code : RESULT_UNREACHABLE;
	if (a->what == REQUEST_PROBE && v->code == RESULT_DONE) {
		v->told = 1;
		v->backend = strstr(words, "unknown field \"scope\"") != NULL ?
		    BACKEND_1_3 :
		    strstr(words, "unknown field") != NULL ? BACKEND_1_4_3 :
							     BACKEND_1_5;
	}
	/*
	 * The probe cannot distinguish 1.4.3 from an older 1.4.  A stop in the
	 * second of its start can: only the older versions refuse it.
	 */
	if (a->what == REQUEST_STOP && a->backend == BACKEND_1_4_3 &&
	    a->code == 400 &&
	    strstr(words, "must be larger than start") != NULL) {
		v->code = RESULT_OLD_VERSION;
		v->backend = BACKEND_1_4_0;
	}
	/* A success has no text. */
	text_vis(v->code == RESULT_DONE && a->code < 300 ? "" : words, line,
	    sizeof(line));
	snprintf(v->text, sizeof(v->text), "%ld%s%s", a->code,
	    line[0] != '\0' ? ": " : "", line);
}

struct run_search {
	int64_t job, start; /* -1: not in the answer, or not a number */
	int64_t *value;	    /* of the member under way, or NULL */
};

static const char *
on_run_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct run_search *run = arg;

	if (s->depth != 1)
		return NULL;
	if (event == JSON_EV_SCALAR && run->value != NULL &&
	    *run->value == -1 && *s->text >= '0' && *s->text <= '9')
		*run->value = strtoll(s->text, NULL, 10);
	run->value = NULL;
	if (event == JSON_EV_NAME && strcmp(s->text, "jobId") == 0)
		run->value = &run->job;
	else if (event == JSON_EV_NAME && strcmp(s->text, "startTime") == 0)
		run->value = &run->start;
	return NULL;
}

int
response_names_other(const char *body, size_t len, uint64_t job, int64_t start)
{
	struct run_search run = { -1, -1, NULL };
	struct json_scan s;
	char text[32];

	if (body == NULL)
		return 0;
	json_scan_init(&s, '{', text, sizeof(text), on_run_event, &run);
	(void)json_scan_feed(&s, body, len);
	if (run.job == -1)
		return 0;
	if ((uint64_t)run.job != job)
		return 1;
	/* Before 1.5, startTime is a text. */
	return run.start != -1 && run.start != start;
}
