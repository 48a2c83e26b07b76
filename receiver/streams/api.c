/* SPDX-License-Identifier: MIT */
/*
 * The texts of api.h.  The scanner for JSON reads an answer; members that this
 * program does not need are ignored.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/record/node_json.h"
#include "common/text/json_scan.h"
#include "receiver/base/budget.h"
#include "receiver/streams/api.h"

#define NS 1000000000LL /* in a second */
/*
 * s; a record that is published again after this time is merged with the first
 * one.  The broker keeps each id of this time in memory.
 */
#define WINDOW_S 120

static void wr_text(struct writer *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
wr_text(struct writer *w, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(text))
		w->err = 1;
	else
		wr_mem(w, text, (size_t)n);
}

static int64_t
window_ns(const struct api_limits *limits)
{
	return (limits->max_age < WINDOW_S ? limits->max_age : WINDOW_S) * NS;
}

static int64_t
longest(const struct api_limits *limits)
{
	return limits->last_only ? NODE_JSON_BYTES : (int64_t)BUDGET_LONGEST;
}

void
api_stream_config(struct writer *w, const char *stream, const char *subject,
    const struct api_limits *limits)
{
	/* Stream and subject have no byte that JSON escapes. */
	wr_text(w,
	    "{\"name\":\"%s\",\"subjects\":[\"%s\"],\"retention\":\"limits\","
	    "\"discard\":\"%s\",\"storage\":\"file\",\"num_replicas\":%u,",
	    stream, subject, limits->last_only ? "old" : "new",
	    limits->replicas);
	wr_text(w,
	    "\"max_age\":%" PRId64 ",\"max_bytes\":%" PRId64
	    ",\"max_msg_size\":%" PRId64
	    ",\"max_msgs\":-1,\"max_consumers\":-1,"
	    "\"max_msgs_per_subject\":%d,\"duplicate_window\":%" PRId64
	    ",\"deny_delete\":true,\"deny_purge\":true,"
	    "\"allow_rollup_hdrs\":false,\"allow_direct\":false}",
	    (int64_t)(limits->max_age * NS), limits->max_bytes, longest(limits),
	    limits->last_only ? 1 : -1, window_ns(limits));
}

int
api_stream_differs(const struct api_answer *a, const char *subject,
    const struct api_limits *limits)
{
	return a->subjects != 1 || strcmp(a->subject, subject) != 0 ||
	    strcmp(a->discard, limits->last_only ? "old" : "new") != 0 ||
	    (limits->last_only && a->per_subject != 1) ||
	    a->replicas != (int64_t)limits->replicas ||
	    a->max_age != limits->max_age * NS ||
	    a->max_bytes != limits->max_bytes ||
	    a->max_message != longest(limits) || a->window != window_ns(limits);
}

void
api_consumer_config(struct writer *w, const char *stream, uint64_t from,
    unsigned ack_pending, int64_t ack_wait)
{
	wr_text(w,
	    "{\"stream_name\":\"%s\",\"config\":{\"durable_name\":\"%s\","
	    "\"deliver_policy\":\"by_start_sequence\","
	    "\"opt_start_seq\":%" PRIu64 ",\"ack_policy\":\"explicit\",",
	    stream, API_CONSUMER, from);
	wr_text(w,
	    "\"ack_wait\":%" PRId64 ",\"max_deliver\":-1,"
	    "\"max_ack_pending\":%u,\"max_waiting\":16,"
	    "\"replay_policy\":\"instant\"}}",
	    (int64_t)(ack_wait * NS), ack_pending);
}

void
api_pull(struct writer *w, unsigned messages, size_t bytes, int expires)
{
	wr_text(w, "{\"batch\":%u,\"max_bytes\":%zu,\"expires\":%lld}",
	    messages, bytes, expires * (NS / 1000));
}

#define DEPTH	  4 /* of the members below */
#define NAME_MAX_ 32

/* The place in an answer. */
struct place {
	struct api_answer *a;
	char names[DEPTH][NAME_MAX_]; /* of the open members */
};

static int
digits(const char *s, unsigned n, int *v)
{
	*v = 0;
	while (n-- > 0) {
		if (*s < '0' || *s > '9')
			return -1;
		*v = *v * 10 + (*s++ - '0');
	}
	return 0;
}

/* "2026-11-22T17:00:00.123456789Z" in ns since 1970; 0 when it is not that. */
static uint64_t
time_ns(const char *s)
{
	struct tm tm = { 0 };
	uint64_t ns = 0;
	unsigned scale = NS / 10;
	time_t t;

	if (strlen(s) < 20 || digits(s, 4, &tm.tm_year) == -1 ||
	    digits(s + 5, 2, &tm.tm_mon) == -1 ||
	    digits(s + 8, 2, &tm.tm_mday) == -1 ||
	    digits(s + 11, 2, &tm.tm_hour) == -1 ||
	    digits(s + 14, 2, &tm.tm_min) == -1 ||
	    digits(s + 17, 2, &tm.tm_sec) == -1)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	t = timegm(&tm);
	if (t <= 0)
		return 0;
	s += 19;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, scale /= 10)
			ns += (uint64_t)(*s - '0') * scale;
	return (uint64_t)t * NS + ns;
}

/* A text of the answer and where it goes. */
static void
text_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void
config_member(struct api_answer *a, const char *name, const char *text)
{
	if (strcmp(name, "subjects") == 0 && a->subjects++ == 0)
		text_copy(a->subject, sizeof(a->subject), text);
	else if (strcmp(name, "retention") == 0)
		text_copy(a->retention, sizeof(a->retention), text);
	else if (strcmp(name, "discard") == 0)
		text_copy(a->discard, sizeof(a->discard), text);
	else if (strcmp(name, "storage") == 0)
		text_copy(a->storage, sizeof(a->storage), text);
	else if (strcmp(name, "num_replicas") == 0)
		a->replicas = strtoll(text, NULL, 10);
	else if (strcmp(name, "max_age") == 0)
		a->max_age = strtoll(text, NULL, 10);
	else if (strcmp(name, "duplicate_window") == 0)
		a->window = strtoll(text, NULL, 10);
	else if (strcmp(name, "max_bytes") == 0)
		a->max_bytes = strtoll(text, NULL, 10);
	else if (strcmp(name, "max_msg_size") == 0)
		a->max_message = strtoll(text, NULL, 10);
	else if (strcmp(name, "max_msgs_per_subject") == 0)
		a->per_subject = strtoll(text, NULL, 10);
	else if (strcmp(name, "sealed") == 0)
		a->sealed = strcmp(text, "true") == 0;
}

static void
member(struct api_answer *a, char names[DEPTH][NAME_MAX_], unsigned depth,
    const char *text)
{
	if (depth == 1 && strcmp(names[1], "created") == 0)
		a->created = time_ns(text);
	if (depth < 2)
		return;
	if (strcmp(names[1], "config") == 0 &&
	    (depth == 2 || strcmp(names[2], "subjects") == 0))
		config_member(a, names[2], text);
	if (strcmp(names[1], "error") == 0 && depth == 2) {
		if (strcmp(names[2], "code") == 0)
			a->code = (unsigned)strtoul(text, NULL, 10);
		else if (strcmp(names[2], "description") == 0)
			text_copy(a->error, sizeof(a->error), text);
	}
	if (strcmp(names[1], "state") == 0 && depth == 2) {
		if (strcmp(names[2], "first_seq") == 0)
			a->first = strtoull(text, NULL, 10);
		else if (strcmp(names[2], "last_seq") == 0)
			a->last = strtoull(text, NULL, 10);
		else if (strcmp(names[2], "messages") == 0)
			a->messages = strtoull(text, NULL, 10);
	}
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct place *at = arg;

	switch (event) {
	case JSON_EV_NAME:
		if (s->depth < DEPTH)
			text_copy(at->names[s->depth], NAME_MAX_, s->text);
		if (s->depth == 2 && strcmp(at->names[1], "config") == 0 &&
		    (strcmp(s->text, "mirror") == 0 ||
			strcmp(s->text, "sources") == 0))
			at->a->foreign = 1;
		break;
	case JSON_EV_STRING:
	case JSON_EV_SCALAR:
		/* Elements of an array have the name of the array. */
		member(at->a, at->names,
		    json_scan_in_array(s) ? s->depth - 1 : s->depth, s->text);
		break;
	default:
		break;
	}
	return NULL;
}

int
api_answer_read(struct api_answer *a, const uint8_t *p, size_t n)
{
	struct place at = { .a = a };
	char text[API_SUBJECT_MAX];
	struct json_scan s;

	memset(a, 0, sizeof(*a));
	json_scan_init(&s, '{', text, sizeof(text), on_event, &at);
	if (json_scan_feed(&s, (const char *)p, n) != NULL ||
	    json_scan_end(&s) != NULL)
		return -1;
	/* An error without a code is one nevertheless. */
	if (a->error[0] != '\0' && a->code == 0)
		a->code = 500;
	return 0;
}

#define ACK_PREFIX  "$JS.ACK."
#define ACK_TOKENS  7 /* stream to pending */
#define ACK_DOMAIN  9 /* tokens, or more: domain and account come first */
#define TOKENS_MAX_ 12

static int
number(const char *s, const char *end, uint64_t *v)
{
	*v = 0;
	if (s == end || end - s > 19)
		return -1;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		*v = *v * 10 + (uint64_t)(*s - '0');
	}
	return 0;
}

int
api_ack_read(struct api_ack *ack, const char *subject)
{
	const char *from[TOKENS_MAX_ + 1], *s = subject;
	unsigned n = 0;
	const char **t = from;

	if (strncmp(s, ACK_PREFIX, sizeof(ACK_PREFIX) - 1) != 0)
		return -1;
	s += sizeof(ACK_PREFIX) - 1;
	from[n++] = s;
	for (; *s != '\0'; s++)
		if (*s == '.') {
			if (n == TOKENS_MAX_)
				return -1;
			from[n++] = s + 1;
		}
	from[n] = s + 1;
	if (n >= ACK_DOMAIN)
		t += 2;
	else if (n != ACK_TOKENS)
		return -1;
	ack->stream = t[0];
	ack->stream_len = (size_t)(t[1] - t[0]) - 1;
	if ((size_t)(t[2] - t[1]) - 1 != sizeof(API_CONSUMER) - 1 ||
	    strncmp(t[1], API_CONSUMER, sizeof(API_CONSUMER) - 1) != 0)
		return -1;
	return number(t[2], t[3] - 1, &ack->delivered) == -1 ||
		number(t[3], t[4] - 1, &ack->sequence) == -1 ||
		number(t[5], t[6] - 1, &ack->time) == -1 ||
		number(t[6], t[7] - 1, &ack->pending) == -1 ?
	    -1 :
	    0;
}
