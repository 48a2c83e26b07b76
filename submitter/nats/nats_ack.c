/* SPDX-License-Identifier: MIT */
/* See nats_ack.h. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/json_scan.h"
#include "common/text/text.h"
#include "submitter/nats/nats_ack.h"

enum field {
	FIELD_OTHER,
	FIELD_STREAM,
	FIELD_DUPLICATE,
	FIELD_SEQUENCE,
	FIELD_ERROR,
	FIELD_CODE,
	FIELD_TEXT
};

/* brackets around the members */
#define IN_ANSWER 1
#define IN_ERROR  2

struct input {
	struct nats_ack *ack;
	enum field field;
	int in_error; /* the object is that of the error */
	int error;
	uint64_t sequence;
};

static enum field
field_of(const struct input *in, const struct json_scan *s)
{
	static const struct {
		unsigned depth;
		const char *name;
		enum field field;
	} names[] = {
		{ IN_ANSWER, "stream", FIELD_STREAM },
		{ IN_ANSWER, "duplicate", FIELD_DUPLICATE },
		{ IN_ANSWER, "seq", FIELD_SEQUENCE },
		{ IN_ANSWER, "error", FIELD_ERROR },
		{ IN_ERROR, "err_code", FIELD_CODE },
		{ IN_ERROR, "description", FIELD_TEXT },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (s->depth == names[i].depth &&
		    (s->depth == IN_ANSWER || in->in_error) &&
		    strcmp(s->text, names[i].name) == 0)
			return names[i].field;
	return FIELD_OTHER;
}

static const char *
on_event(struct json_scan *s, enum json_event ev, void *arg)
{
	struct input *in = arg;
	struct nats_ack *ack = in->ack;

	if (ev == JSON_EV_NAME) {
		in->field = field_of(in, s);
		return NULL;
	}
	if (s->depth == IN_ANSWER && ev == JSON_EV_OBJECT)
		in->in_error = in->field == FIELD_ERROR;
	in->error |= in->in_error;
	if (in->field == FIELD_STREAM && ev == JSON_EV_STRING)
		text_vis(s->text, ack->stream, sizeof(ack->stream));
	else if (in->field == FIELD_DUPLICATE && ev == JSON_EV_SCALAR)
		ack->duplicate = strcmp(s->text, "true") == 0;
	else if (in->field == FIELD_SEQUENCE && ev == JSON_EV_SCALAR)
		in->sequence = strtoull(s->text, NULL, 10);
	else if (in->field == FIELD_CODE && ev == JSON_EV_SCALAR)
		ack->code = (unsigned)strtoul(s->text, NULL, 10);
	else if (in->field == FIELD_TEXT && ev == JSON_EV_STRING)
		text_vis(s->text, ack->text, sizeof(ack->text));
	in->field = FIELD_OTHER;
	return NULL;
}

int
nats_ack_read(const char *p, size_t n, struct nats_ack *ack)
{
	struct input in = { .ack = ack };
	struct json_scan s;
	char text[ACK_STREAM_MAX];
	int stream;

	memset(ack, 0, sizeof(*ack));
	json_scan_init(&s, '{', text, sizeof(text), on_event, &in);
	if (json_scan_feed(&s, p, n) != NULL || json_scan_end(&s) != NULL)
		return -1;
	stream = ack->stream[0] != '\0';
	ack->stored = stream && !in.error && in.sequence > 0;
	ack->in_process = in.error ? ack->code == ACK_IN_PROCESS :
				     stream && in.sequence == 0;
	if (in.error && ack->text[0] == '\0')
		snprintf(ack->text, sizeof(ack->text), "error %u", ack->code);
	return stream || in.error ? 0 : -1;
}
