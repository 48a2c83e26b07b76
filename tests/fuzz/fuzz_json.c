/* SPDX-License-Identifier: MIT */
/*
 * The JSON scanner: any bytes are read without a read beyond them, pieces give
 * the same events as the whole, and where jansson accepts the document, both
 * see the same in it.
 */
#include "config.h"

#include "common/text/json_scan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

#define TEXT_BYTES 200

struct events {
	struct json_scan scan;
	char text[TEXT_BYTES];
	size_t n; /* of the input */
	uint64_t digest;
	/* What jansson has read; NULL without it. */
	const struct twin *root;
	const struct twin *open[JSON_SCAN_DEPTH_MAX];
	size_t count[JSON_SCAN_DEPTH_MAX]; /* values so far */
	const struct twin *member;	   /* value of the name that was read */
};

static int
is_text(enum json_event event)
{
	return event >= JSON_EV_NAME;
}

static void
event_holds(const struct events *e, enum json_event event)
{
	const struct json_scan *s = &e->scan;

	HOLDS(s->depth <= JSON_SCAN_DEPTH_MAX && s->offset < e->n);
	if (!is_text(event))
		return;
	HOLDS(s->depth > 0 && s->len < TEXT_BYTES && s->text[s->len] == '\0');
	HOLDS(strlen(s->text) == s->len);
	HOLDS(event != JSON_EV_NAME || !json_scan_in_array(s));
	HOLDS(event == JSON_EV_STRING || event == JSON_EV_NAME || s->len > 0);
}

/* The value as jansson has it, when an event begins one. */
static const struct twin *
value_of(struct events *e)
{
	const struct json_scan *s = &e->scan;

	if (s->depth == 0)
		return e->root;
	return json_scan_in_array(s) ?
	    twin_item(e->open[s->depth - 1], e->count[s->depth - 1]++) :
	    e->member;
}

static void
name_same(struct events *e)
{
	const struct json_scan *s = &e->scan;

	e->count[s->depth - 1]++;
	e->member = twin_member(e->open[s->depth - 1], s->text);
	HOLDS(e->member != NULL);
}

static void
text_same(const struct events *e, enum json_event event,
    const struct twin *twin)
{
	const struct json_scan *s = &e->scan;
	const char *text;
	size_t n;

	if (event == JSON_EV_STRING) {
		HOLDS(twin_kind(twin) == TWIN_STRING);
		text = twin_text(twin, &n);
		HOLDS(s->cut ? n > s->len : n == s->len);
		HOLDS(memcmp(text, s->text, s->len) == 0);
		return;
	}
	HOLDS(twin_kind(twin) != TWIN_STRING);
	if (twin_kind(twin) == TWIN_INTEGER && !s->cut)
		HOLDS(strtoll(s->text, NULL, 10) == twin_integer(twin));
}

static void
twin_same(struct events *e, enum json_event event)
{
	const struct json_scan *s = &e->scan;
	const struct twin *twin;

	if (event == JSON_EV_OBJECT_END || event == JSON_EV_ARRAY_END) {
		HOLDS(e->count[s->depth] == twin_size(e->open[s->depth]));
		return;
	}
	if (event == JSON_EV_NAME) {
		name_same(e);
		return;
	}
	twin = value_of(e);
	HOLDS(twin != NULL);
	if (is_text(event)) {
		text_same(e, event, twin);
		return;
	}
	HOLDS(twin_kind(twin) ==
	    (event == JSON_EV_OBJECT ? TWIN_OBJECT : TWIN_ARRAY));
	e->open[s->depth] = twin;
	e->count[s->depth] = 0;
}

static const char *
on_event(struct json_scan *s, enum json_event event, void *arg)
{
	struct events *e = arg;
	uint64_t what[3] = { event, s->depth, s->offset };

	event_holds(e, event);
	e->digest = digest(e->digest, what, sizeof(what));
	if (is_text(event))
		e->digest = digest(e->digest, s->text, s->len + 1);
	if (e->root != NULL)
		twin_same(e, event);
	return NULL;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct events *e = arg;

	return json_scan_feed(&e->scan, p, n) != NULL ? -1 : 0;
}

static void
events_init(struct events *e, char first, size_t n)
{
	memset(e, 0, sizeof(*e));
	e->n = n;
	e->digest = DIGEST_START;
	json_scan_init(&e->scan, first, e->text, sizeof(e->text), on_event, e);
}

static void
pieces_hold(const uint8_t *bytes, size_t n, char first)
{
	char *copy = exact(bytes, n);
	struct events whole, pieces;
	const char *error;
	int rc;

	events_init(&whole, first, n);
	events_init(&pieces, first, n);
	rc = feed(copy, n, &whole);
	HOLDS(fuzz_pieces(bytes, n, feed, &pieces) == rc);
	HOLDS(whole.digest == pieces.digest);
	error = json_scan_end(&whole.scan);
	HOLDS(error == json_scan_end(&pieces.scan));
	HOLDS(rc == 0 || error != NULL);
	free(copy);
}

/* A name that is longer than the scanner's memory is not looked up. */
static int
has_long_names(const uint8_t *bytes, size_t n)
{
	const uint8_t *p = bytes, *quote;

	while ((quote = memchr(p, '"', n - (size_t)(p - bytes))) != NULL) {
		if (quote - p >= TEXT_BYTES)
			return 1;
		p = quote + 1;
	}
	return 0;
}

static void
twin_holds(const uint8_t *bytes, size_t n, char first)
{
	struct twin *root;
	struct events e;

	/* jansson overlooks a NUL behind a number. */
	if (n == 0 || memchr(bytes, '\0', n) != NULL ||
	    has_long_names(bytes, n) || (root = twin_load(bytes, n)) == NULL)
		return;
	if (twin_depth(root) <= JSON_SCAN_DEPTH_MAX) {
		events_init(&e, first, n);
		e.root = root;
		HOLDS(feed((const char *)bytes, n, &e) == 0);
		HOLDS(json_scan_end(&e.scan) == NULL);
	}
	twin_free(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t i = 0;
	char first;

	fuzz_quiet();
	while (i < n && strchr(" \n\t\r", bytes[i]) != NULL && bytes[i] != '\0')
		i++;
	first = i < n && bytes[i] == '[' ? '[' : '{';
	pieces_hold(bytes, n, first);
	twin_holds(bytes, n, first);
	return 0;
}
