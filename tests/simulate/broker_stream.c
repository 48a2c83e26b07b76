/* SPDX-License-Identifier: MIT */
/*
 * JetStream of the simulated NATS server: streams with one durable pull consumer
 * each, and the answers of its API.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/simulate/broker_private.h"

#define API	    "$JS.API."
#define ACK	    "$JS.ACK."
#define RECORDS	    "cc.record."
#define OF_RECORDS  "CC_RECORD_" /* names of their streams */
#define STREAMS	    4
#define WINDOW_MS   (2 * MINUTE_MS) /* of duplicates */
#define WAITING_MAX 16		    /* pull requests */
#define NAME_LEN    256
#define CONFIG_MAX  2048
#define TEXT_MAX    4096
#define OVERHEAD    100 /* bytes of subject, reply and header */

struct stored {
	uint64_t sequence;
	int64_t at; /* world_true_ms() */
	char id[NAME_LEN];
	char subject[512];
	uint8_t *data;
	size_t len;
	/* of the consumer */
	int pending; /* delivered, not acknowledged */
	int acked;
	unsigned delivered;
	int64_t again; /* world_ms(): it is delivered again */
};

struct pull {
	struct broker_client *client;
	unsigned serial;
	char answer[64];
	unsigned left;
	size_t bytes;
	int64_t until; /* world_ms() */
};

static struct stream {
	int exists;
	char name[NAME_LEN];	 /* "" = a free place */
	char config[CONFIG_MAX]; /* JSON, as it was created */
	int64_t created;	 /* ms since 1970 */
	struct stored *list;	 /* by sequence, from first */
	size_t n, cap;
	uint64_t first; /* sequence; 0 = nothing was stored yet */
	uint64_t last;
	int full;
	/* the consumer */
	int has_consumer;
	uint64_t next; /* to deliver */
	uint64_t count;
	unsigned n_pending, max_pending;
	int64_t wait_ms;
	struct pull pulls[WAITING_MAX];
	unsigned n_pulls;
	struct world_call *timer;
} streams[STREAMS];

static struct stream *chosen = &streams[0];

#define js (*chosen) /* the stream of the present request or fault */

/* Chooses the stream: one that does not exist has a place, too. */
static void
stream_choose(const char *prefix, const char *name, size_t len)
{
	char full[NAME_LEN];
	unsigned i = 0;

	snprintf(full, sizeof(full), "%s%.*s", prefix, (int)len, name);
	while (streams[i].name[0] != '\0' && strcmp(streams[i].name, full) != 0)
		invariant(++i < STREAMS, "more than %d streams", STREAMS);
	chosen = &streams[i];
	snprintf(js.name, sizeof(js.name), "%s", full);
}

/* The stream that has the faults; 0 = it was never made. */
static int
records_choose(void)
{
	unsigned i;

	for (i = 0; i < STREAMS; i++)
		if (strncmp(streams[i].name, OF_RECORDS,
			sizeof(OF_RECORDS) - 1) == 0) {
			chosen = &streams[i];
			return 1;
		}
	return 0;
}

uint64_t
broker_last(const char *stream)
{
	stream_choose("", stream, strlen(stream));
	return js.exists ? js.last : 0;
}

static struct stored *
stored_find(uint64_t sequence)
{
	return js.n > 0 && sequence >= js.list[0].sequence &&
		sequence <= js.last ?
	    &js.list[sequence - js.list[0].sequence] :
	    NULL;
}

/* --- answers --- */

static void answer(const struct broker_frame *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
answer(const struct broker_frame *f, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;
	int n;

	if (!f->has_answer)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	invariant(n > 0 && (size_t)n < sizeof(text), "a long answer of NATS");
	trace("NATS: %s: %s", f->subject, text);
	frame_to_client(
	    frame_new(f->client, f->serial, "", f->answer, text, (size_t)n));
}

static void
status_send(struct broker_client *c, unsigned serial, const char *to,
    unsigned status, const char *text)
{
	struct broker_frame *f = frame_new(c, serial, "", to, NULL, 0);

	f->status = status;
	f->status_text = text;
	trace("NATS: %s: %u %s", to, status, text);
	frame_to_client(f);
}

static void
error(const struct broker_frame *f, unsigned code, unsigned err,
    const char *text)
{
	answer(f,
	    "{\"error\":{\"code\":%u,\"err_code\":%u,\"description\":\"%s\"}}",
	    code, err, text);
}

/* The number behind the name in a request. */
static int64_t
number_of(const struct broker_frame *f, const char *name)
{
	char text[CONFIG_MAX];
	const char *p;

	snprintf(text, sizeof(text), "%.*s", (int)f->len,
	    (const char *)f->data);
	p = strstr(text, name);
	invariant(p != NULL, "%s without %s: %s", f->subject, name, text);
	return strtoll(p + strlen(name), NULL, 10);
}

/* --- the consumer --- */

static void serve(void);

static void
on_time(void *arg)
{
	chosen = arg;
	js.timer = NULL;
	serve();
}

static void
pull_drop(unsigned i)
{
	memmove(&js.pulls[i], &js.pulls[i + 1],
	    (--js.n_pulls - i) * sizeof(js.pulls[0]));
}

static void
pulls_expire(void)
{
	unsigned i = 0;

	while (i < js.n_pulls)
		if (js.pulls[i].serial != js.pulls[i].client->serial)
			pull_drop(i);
		else if (js.pulls[i].until <= world_ms()) {
			status_send(js.pulls[i].client, js.pulls[i].serial,
			    js.pulls[i].answer, 408, "Request Timeout");
			pull_drop(i);
		} else
			i++;
}

/* The message that the consumer delivers next, or NULL. */
static struct stored *
message_next(void)
{
	struct stored *s;
	size_t i;

	for (i = 0; js.n_pending > 0 && i < js.n; i++)
		if (js.list[i].pending && js.list[i].again <= world_ms())
			return &js.list[i];
	if (js.n_pending >= js.max_pending)
		return NULL;
	if (js.n > 0 && js.next < js.list[0].sequence)
		js.next = js.list[0].sequence;
	s = stored_find(js.next);
	return s;
}

static void
message_deliver(struct stored *s, struct pull *p)
{
	struct broker_frame *f = frame_new(p->client, p->serial, s->subject,
	    NULL, s->data, s->len);

	if (s->sequence == js.next)
		js.next++;
	js.n_pending += !s->pending;
	s->pending = 1;
	s->again = world_ms() + js.wait_ms;
	s->delivered++;
	numbers()->delivered++;
	numbers()->repeated += s->delivered > 1;
	snprintf(f->id, sizeof(f->id), "%s", s->id);
	snprintf(f->reply, sizeof(f->reply),
	    ACK "%s.centre.%u.%llu.%llu.%lld000000.%llu", js.name, s->delivered,
	    (unsigned long long)s->sequence, (unsigned long long)++js.count,
	    (long long)s->at, (unsigned long long)(js.last - s->sequence));
	trace("NATS: delivers message %llu: %s",
	    (unsigned long long)s->sequence, s->id);
	frame_to_client(f);
}

static void
serve(void)
{
	struct stored *s;
	struct pull *p;

	pulls_expire();
	while (
	    js.has_consumer && js.n_pulls > 0 && (s = message_next()) != NULL) {
		p = &js.pulls[0];
		if (s->len + OVERHEAD > p->bytes) {
			status_send(p->client, p->serial, p->answer, 409,
			    "Message Size Exceeds MaxBytes");
			pull_drop(0);
			continue;
		}
		message_deliver(s, p);
		p->bytes -= s->len + OVERHEAD;
		if (--p->left == 0)
			pull_drop(0);
	}
	if (js.timer == NULL && (js.n_pulls > 0 || js.n_pending > 0))
		js.timer = world_after(PROCESS_NONE, SECOND_MS, on_time,
		    chosen);
}

static void
on_pull(const struct broker_frame *f)
{
	struct pull *p;

	if (!js.exists || !js.has_consumer) {
		status_send(f->client, f->serial, f->answer, 503,
		    "No Responders");
		return;
	}
	if (js.n_pulls == WAITING_MAX) {
		status_send(f->client, f->serial, f->answer, 409,
		    "Exceeded MaxWaiting");
		return;
	}
	p = &js.pulls[js.n_pulls++];
	p->client = f->client;
	p->serial = f->serial;
	snprintf(p->answer, sizeof(p->answer), "%s", f->answer);
	p->left = (unsigned)number_of(f, "\"batch\":");
	p->bytes = (size_t)number_of(f, "\"max_bytes\":");
	p->until = world_ms() + number_of(f, "\"expires\":") / 1000000;
	serve();
}

static void
consumer_reset(void)
{
	size_t i;

	for (i = 0; i < js.n; i++)
		js.list[i].pending = js.list[i].acked = 0;
	js.n_pending = 0;
	js.n_pulls = 0;
	js.count = 0;
	js.has_consumer = 0;
}

static void
on_consumer_create(const struct broker_frame *f)
{
	if (!js.exists) {
		error(f, 404, 10059, "stream not found");
		return;
	}
	consumer_reset();
	js.has_consumer = 1;
	js.next = (uint64_t)number_of(f, "\"opt_start_seq\":");
	js.max_pending = (unsigned)number_of(f, "\"max_ack_pending\":");
	js.wait_ms = number_of(f, "\"ack_wait\":") / 1000000;
	answer(f, "{\"stream_name\":\"%s\",\"name\":\"centre\"}", js.name);
}

static void
on_consumer_delete(const struct broker_frame *f)
{
	if (!js.exists || !js.has_consumer) {
		error(f, 404, 10014, "consumer not found");
		return;
	}
	consumer_reset();
	answer(f, "{\"success\":true}");
}

static void
on_ack(const struct broker_frame *f)
{
	unsigned long long sequence;
	unsigned delivered;
	struct stored *s;
	const char *p;

	p = strstr(f->subject, ".centre.");
	invariant(p != NULL &&
		sscanf(p, ".centre.%u.%llu.", &delivered, &sequence) == 2,
	    "acknowledgement to %s", f->subject);
	s = stored_find(sequence);
	if (s == NULL || !js.has_consumer || !s->pending)
		return;
	s->pending = 0;
	s->acked = 1;
	js.n_pending--;
	serve();
}

/* --- the stream --- */

/* "2026-11-22T17:00:00.123Z" */
static const char *
created_text(void)
{
	static char text[64];
	time_t s = (time_t)(js.created / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
	    tm.tm_sec, (int)(js.created % 1000));
	return text;
}

static void
info_send(const struct broker_frame *f)
{
	answer(f,
	    "{\"config\":%s,\"created\":\"%s\",\"state\":{\"messages\":%zu,"
	    "\"first_seq\":%llu,\"last_seq\":%llu}}",
	    js.config, created_text(), js.n, (unsigned long long)js.first,
	    (unsigned long long)js.last);
}

static void
config_take(const struct broker_frame *f)
{
	invariant(f->len < sizeof(js.config), "a long configuration");
	memcpy(js.config, f->data, f->len);
	js.config[f->len] = '\0';
}

static void
on_stream_create(const struct broker_frame *f)
{
	if (js.exists) {
		error(f, 400, 10058,
		    "stream name already in use with a different "
		    "configuration");
		return;
	}
	js.exists = 1;
	js.created = world_true_ms();
	js.first = js.last = 0;
	config_take(f);
	info_send(f);
}

static void
on_stream_info(const struct broker_frame *f)
{
	if (js.exists)
		info_send(f);
	else
		error(f, 404, 10059, "stream not found");
}

static void
on_stream_update(const struct broker_frame *f)
{
	if (!js.exists) {
		error(f, 404, 10059, "stream not found");
		return;
	}
	config_take(f);
	info_send(f);
}

static const struct stored *
duplicate_find(const char *id)
{
	size_t i;

	for (i = js.n; i > 0; i--) {
		if (js.list[i - 1].at + WINDOW_MS < world_true_ms())
			return NULL;
		if (strcmp(js.list[i - 1].id, id) == 0)
			return &js.list[i - 1];
	}
	return NULL;
}

static struct stored *
message_store(const struct broker_frame *f)
{
	struct stored *s;

	if (js.n == js.cap) {
		js.cap = js.cap != 0 ? 2 * js.cap : 256;
		js.list = world_realloc(js.list, js.cap * sizeof(*s));
	}
	s = &js.list[js.n++];
	memset(s, 0, sizeof(*s));
	s->sequence = ++js.last;
	if (js.first == 0)
		js.first = s->sequence;
	s->at = world_true_ms();
	snprintf(s->id, sizeof(s->id), "%s", f->id);
	snprintf(s->subject, sizeof(s->subject), "%s", f->subject);
	s->data = world_alloc(f->len);
	memcpy(s->data, f->data, f->len);
	s->len = f->len;
	numbers()->stored++;
	return s;
}

static void
on_record(const struct broker_frame *f)
{
	const struct stored *s;

	/* Its subject is derived from the name of the cluster, as that of the stream. */
	if (!js.exists) {
		status_send(f->client, f->serial, f->answer, 503,
		    "No Responders");
		return;
	}
	s = duplicate_find(f->id);
	if (s != NULL) {
		numbers()->duplicates++;
		answer(f, "{\"stream\":\"%s\",\"seq\":%llu,\"duplicate\":true}",
		    js.name, (unsigned long long)s->sequence);
		return;
	}
	if (js.full) {
		error(f, 400, 10077, "maximum bytes exceeded");
		return;
	}
	s = message_store(f);
	answer(f, "{\"stream\":\"%s\",\"seq\":%llu}", js.name,
	    (unsigned long long)s->sequence);
	serve();
}

/* --- requests --- */

static const struct {
	const char *prefix; /* the name of the stream follows, up to a dot */
	const char *of;	    /* in front of that name */
	void (*fn)(const struct broker_frame *f);
} requests[] = {
	{ API "STREAM.INFO.", "", on_stream_info },
	{ API "STREAM.CREATE.", "", on_stream_create },
	{ API "STREAM.UPDATE.", "", on_stream_update },
	{ API "CONSUMER.DURABLE.CREATE.", "", on_consumer_create },
	{ API "CONSUMER.DELETE.", "", on_consumer_delete },
	{ API "CONSUMER.MSG.NEXT.", "", on_pull },
	{ ACK, "", on_ack },
	{ RECORDS, OF_RECORDS, on_record },
};

void
server_receive(const struct broker_frame *f)
{
	size_t i, n;

	trace("NATS: %s %s %.*s", f->subject, f->has_answer ? f->answer : "",
	    f->len < 200 ? (int)f->len : 200, (const char *)f->data);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		n = strlen(requests[i].prefix);
		if (strncmp(f->subject, requests[i].prefix, n) != 0)
			continue;
		stream_choose(requests[i].of, f->subject + n,
		    strcspn(f->subject + n, "."));
		requests[i].fn(f);
		return;
	}
	/* Nobody has this subject. */
	if (f->has_answer)
		status_send(f->client, f->serial, f->answer, 503,
		    "No Responders");
}

/* --- faults --- */

int
stream_full_set(int full)
{
	if (!records_choose() || !js.exists)
		return -1;
	trace("NATS: the stream %s", full ? "is full" : "has room");
	js.full = full;
	return 0;
}

static int
all_acked(void)
{
	size_t i;

	for (i = 0; i < js.n; i++)
		if (!js.list[i].acked)
			return 0;
	return js.exists && js.has_consumer;
}

/* Removes the messages that the centre has acknowledged, oldest first. */
int
stream_purge(void)
{
	size_t n = 0, i;

	if (!records_choose())
		return -1;
	while (n < js.n && js.list[n].acked)
		n++;
	if (!js.exists || n == 0)
		return -1;
	for (i = 0; i < n; i++)
		free(js.list[i].data);
	memmove(js.list, js.list + n, (js.n - n) * sizeof(js.list[0]));
	js.n -= n;
	js.first += n;
	trace("NATS: %zu messages are purged", n);
	return 0;
}

/* An admin deletes the stream, with nothing in it that the centre lacks. */
int
stream_delete(void)
{
	if (!records_choose() || !all_acked())
		return -1;
	while (js.n > 0)
		free(js.list[--js.n].data);
	consumer_reset();
	js.exists = js.full = 0;
	trace("NATS: the stream is deleted");
	return 0;
}

int
consumer_delete(void)
{
	if (!records_choose() || !js.has_consumer)
		return -1;
	consumer_reset();
	trace("NATS: the consumer is lost");
	return 0;
}
