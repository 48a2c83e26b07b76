/* SPDX-License-Identifier: MIT */
/*
 * The texts of lease_json.h.  The bucket has the form that NATS' tools know (NATS
 * ADR-8), so that `nats kv get CC_LEASE centre` shows the holder.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_write.h"
#include "common/text/base64.h"
#include "common/text/json_scan.h"
#include "receiver/lease/lease_json.h"

#define SCHEMA	    1
#define BYTES_MAX   65536 /* of the bucket */
#define VALUE_MAX   1024  /* bytes of an entry */
#define DEPTH	    3
#define MEMBER_MAX  32
#define NOT_FOUND   404
#define NO_MESSAGE  10037 /* err_code of nats-server */
#define WRONG_LAST  10071
#define WRONG_LAST2 10164 /* the same, of a write that is under way */

static const char *const states[LEASE__STATES] = {
	[LEASE_HELD] = "held",
	[LEASE_CLAIMED] = "claimed",
	[LEASE_RELEASED] = "released",
};

void
lease_json_bucket(struct writer *w, unsigned replicas)
{
	WR_TEXT(w,
	    "{\"name\":\"" LEASE_STREAM "\",\"subjects\":[\"" LEASE_SUBJECT
	    "\"],\"retention\":\"limits\",\"discard\":"
	    "\"new\",\"storage\":\"file\",\"max_msgs_per_subject\":1,"
	    "\"max_msgs\":-1,\"max_consumers\":-1,\"max_age\":0,"
	    "\"max_bytes\":");
	wr_json_number(w, BYTES_MAX);
	WR_TEXT(w, ",\"max_msg_size\":");
	wr_json_number(w, VALUE_MAX);
	WR_TEXT(w, ",\"num_replicas\":");
	wr_json_number(w, replicas);
	WR_TEXT(w,
	    ",\"deny_delete\":true,\"deny_purge\":true,"
	    "\"allow_rollup_hdrs\":false,\"allow_direct\":false}");
}

void
lease_json_read_request(struct writer *w)
{
	WR_TEXT(w, "{\"last_by_subj\":\"" LEASE_SUBJECT "\"}");
}

void
lease_json_value(struct writer *w, const struct lease_value *value)
{
	char id[24];

	snprintf(id, sizeof(id), "%016" PRIx64, value->id);
	WR_TEXT(w, "{\"schema\":");
	wr_json_number(w, SCHEMA);
	WR_TEXT(w, ",\"holder\":");
	wr_json_string(w, value->holder);
	WR_TEXT(w, ",\"id\":");
	wr_json_string(w, id);
	WR_TEXT(w, ",\"count\":");
	wr_json_unsigned(w, value->count);
	WR_TEXT(w, ",\"leaseMs\":");
	wr_json_number(w, value->ms);
	WR_TEXT(w, ",\"since\":");
	wr_json_number(w, value->since);
	WR_TEXT(w, ",\"state\":");
	wr_json_string(w, states[value->state]);
	WR_TEXT(w, "}");
}

/* The place in a text. */
struct place {
	struct lease_answer *a;
	struct lease_value *value;
	long schema;
	char names[DEPTH][MEMBER_MAX]; /* of the open members */
};

/* An unknown state has the longest wait, as an older version reads all. */
static enum lease_state
state_of(const char *text)
{
	int state;

	for (state = 0; state < LEASE__STATES; state++)
		if (strcmp(text, states[state]) == 0)
			return (enum lease_state)state;
	return LEASE_HELD;
}

static void
value_member(struct place *at, const char *text)
{
	struct lease_value *v = at->value;
	const char *name = at->names[1];

	if (strcmp(name, "schema") == 0)
		at->schema = strtol(text, NULL, 10);
	else if (strcmp(name, "id") == 0)
		v->id = strtoull(text, NULL, 16);
	else if (strcmp(name, "count") == 0)
		v->count = strtoull(text, NULL, 10);
	else if (strcmp(name, "leaseMs") == 0)
		v->ms = strtoll(text, NULL, 10);
	else if (strcmp(name, "since") == 0)
		v->since = strtoll(text, NULL, 10);
	else if (strcmp(name, "state") == 0)
		v->state = state_of(text);
	else if (strcmp(name, "holder") == 0)
		snprintf(v->holder, sizeof(v->holder), "%s", text);
}

static const char *
on_value(struct json_scan *s, enum json_event event, void *arg)
{
	struct place *at = arg;

	if (s->depth != 1)
		return NULL;
	if (event == JSON_EV_NAME)
		snprintf(at->names[1], MEMBER_MAX, "%s", s->text);
	else if (event == JSON_EV_STRING || event == JSON_EV_SCALAR)
		value_member(at, s->text);
	return NULL;
}

/* The value of an entry in base64.  An invalid one has no id. */
static void
value_read(struct lease_value *v, const char *base64)
{
	struct place at = { .value = v };
	char text[LEASE_HOLDER_MAX];
	struct json_scan s;
	size_t n = 0;
	uint8_t *p = base64_bytes(base64, &n);

	json_scan_init(&s, '{', text, sizeof(text), on_value, &at);
	if (p == NULL || json_scan_feed(&s, (const char *)p, n) != NULL ||
	    json_scan_end(&s) != NULL || at.schema != SCHEMA)
		memset(v, 0, sizeof(*v));
	free(p);
}

static void
error_member(struct lease_answer *a, const char *name, const char *text)
{
	unsigned long code = strtoul(text, NULL, 10);

	if (strcmp(name, "description") == 0) {
		snprintf(a->why, sizeof(a->why), "the broker says: %.150s",
		    text);
		if (a->error == LEASE_OK)
			a->error = LEASE_ERROR;
	} else if (strcmp(name, "err_code") == 0) {
		if (code == NO_MESSAGE)
			a->error = LEASE_NO_ENTRY;
		else if (code == WRONG_LAST || code == WRONG_LAST2)
			a->error = LEASE_CHANGED;
	} else if (strcmp(name, "code") == 0 &&
	    (a->error == LEASE_OK || a->error == LEASE_ERROR))
		a->error = code == NOT_FOUND ? LEASE_NO_STREAM : LEASE_ERROR;
}

static void
answer_member(struct place *at, unsigned depth, const char *text)
{
	struct lease_answer *a = at->a;

	if (depth == 1 && strcmp(at->names[1], "seq") == 0)
		a->seq = strtoull(text, NULL, 10);
	if (depth != 2)
		return;
	if (strcmp(at->names[1], "error") == 0)
		error_member(a, at->names[2], text);
	else if (strcmp(at->names[1], "config") == 0)
		a->has_config = 1;
	else if (strcmp(at->names[1], "message") == 0) {
		if (strcmp(at->names[2], "seq") == 0)
			a->entry.seq = strtoull(text, NULL, 10);
		else if (strcmp(at->names[2], "data") == 0)
			value_read(&a->entry.value, text);
	}
}

static const char *
on_answer(struct json_scan *s, enum json_event event, void *arg)
{
	struct place *at = arg;

	if (event == JSON_EV_NAME && s->depth < DEPTH)
		snprintf(at->names[s->depth], MEMBER_MAX, "%s", s->text);
	else if (event == JSON_EV_STRING || event == JSON_EV_SCALAR)
		answer_member(at, s->depth, s->text);
	return NULL;
}

int
lease_json_answer(struct lease_answer *a, const uint8_t *p, size_t n)
{
	struct place at = { .a = a };
	char text[VALUE_MAX * 4 / 3 + 8];
	struct json_scan s;

	memset(a, 0, sizeof(*a));
	json_scan_init(&s, '{', text, sizeof(text), on_answer, &at);
	return json_scan_feed(&s, (const char *)p, n) == NULL &&
		json_scan_end(&s) == NULL ?
	    0 :
	    -1;
}
