/* SPDX-License-Identifier: MIT */
/*
 * Questions and answers of ask_json.h.  One reader has the members of both: a
 * member of the other one is refused as one that occurs twice.  Members that are
 * not known are ignored.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/record/ask_json.h"
#include "common/text/json_scan.h"
#include "common/text/text.h"

/* brackets around the values of each level */
#define IN_OBJECT 1
#define IN_LIST	  2
#define IN_RUN	  3

enum field {
	FIELD_SCHEMA,
	FIELD_NONCE,
	FIELD_KIND,
	FIELD_RUNS, /* of a question */
	FIELD_CLUSTER,
	FIELD_ERROR,
	FIELD_ASKED,
	FIELD_NOT_FOUND, /* of an answer */
	FIELD_JOB,
	FIELD_START,
	FIELD_FROM,
	FIELD_TO,
	FIELD_EXPLAIN, /* of a question */
	FIELD_TEXT,    /* of an answer */
	FIELD_OTHER
};

static const struct {
	const char *name;
	unsigned depth;
} fields[FIELD_OTHER] = {
	[FIELD_SCHEMA] = { "schema", IN_OBJECT },
	[FIELD_NONCE] = { "nonce", IN_OBJECT },
	[FIELD_KIND] = { "kind", IN_OBJECT },
	[FIELD_RUNS] = { "runs", IN_OBJECT },
	[FIELD_CLUSTER] = { "cluster", IN_OBJECT },
	[FIELD_ERROR] = { "error", IN_OBJECT },
	[FIELD_ASKED] = { "asked", IN_OBJECT },
	[FIELD_NOT_FOUND] = { "notFound", IN_OBJECT },
	[FIELD_JOB] = { "jobId", IN_RUN },
	[FIELD_START] = { "startTime", IN_RUN },
	[FIELD_FROM] = { "from", IN_OBJECT },
	[FIELD_TO] = { "to", IN_OBJECT },
	[FIELD_EXPLAIN] = { "jobId", IN_OBJECT },
	[FIELD_TEXT] = { "text", IN_OBJECT },
};

static const char *const kinds[ASK__COUNT] = {
	[ASK_LOOKUP] = "lookup",
	[ASK_BACKFILL] = "backfill",
	[ASK_BACKFILL_STATUS] = "backfill-status",
	[ASK_EXPLAIN] = "explain",
	[ASK_BACKFILL_CANCEL] = "backfill-cancel",
};

#define BIT(field) (1u << (field))
#define BOTH	   (BIT(FIELD_SCHEMA) | BIT(FIELD_NONCE))
#define OF_ASK	   (BOTH | BIT(FIELD_KIND) | BIT(FIELD_RUNS))
#define OF_RUN	   (BIT(FIELD_JOB) | BIT(FIELD_START))
#define OF_ANSWER \
	(BOTH | BIT(FIELD_CLUSTER) | BIT(FIELD_ERROR) | BIT(FIELD_ASKED) | \
	    BIT(FIELD_NOT_FOUND))

struct input {
	enum field list; /* the member that has the runs */
	struct ask *ask; /* NULL in an answer */
	char *nonce;
	char *cluster; /* NULL in a question, as the next three */
	char *error;
	char *text;
	unsigned *asked;
	struct ask_run *runs;
	unsigned *n;
	enum field field;
	int in_list;   /* between the brackets of the list of runs */
	unsigned seen; /* bits of enum field */
	uint64_t schema;
	char *why; /* the first error */
	size_t size;
};

static void __attribute__((format(printf, 2, 3)))
refuse(struct input *in, const char *fmt, ...)
{
	va_list ap;

	if (*in->why != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(in->why, in->size, fmt, ap);
	va_end(ap);
}

static int
is_nonce(const char *s)
{
	return strlen(s) == ASK_NONCE_MAX - 1 &&
	    strspn(s, "0123456789abcdef") == ASK_NONCE_MAX - 1;
}

/* A whole number from 1, or from 0 with zero, to max. */
static uint64_t
number(struct input *in, const char *s, int zero, uint64_t max)
{
	uint64_t u = 0;

	if (*s == '\0' || (*s == '0' && (!zero || s[1] != '\0')))
		goto bad;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' ||
		    u > (max - (uint64_t)(*s - '0')) / 10)
			goto bad;
		u = u * 10 + (uint64_t)(*s - '0');
	}
	return u;
bad:
	refuse(in, "%s: not a whole number in its range",
	    fields[in->field].name);
	return 0;
}

static void
scalar_read(struct input *in, const char *text)
{
	struct ask_run *run = &in->runs[*in->n > 0 ? *in->n - 1 : 0];

	if (in->field == FIELD_SCHEMA)
		in->schema = number(in, text, 0, UINT32_MAX);
	else if (in->field == FIELD_ASKED && in->asked != NULL)
		*in->asked = (unsigned)number(in, text, 1, ASK_RUNS_MAX);
	else if (in->field == FIELD_JOB)
		run->job = number(in, text, 0, INT64_MAX);
	else if (in->field == FIELD_START)
		run->start = (int64_t)number(in, text, 0, TIME_S_MAX);
	else if (in->field == FIELD_FROM && in->ask != NULL)
		in->ask->from = (int64_t)number(in, text, 0, TIME_S_MAX);
	else if (in->field == FIELD_TO && in->ask != NULL)
		in->ask->to = (int64_t)number(in, text, 0, TIME_S_MAX);
	else if (in->field == FIELD_EXPLAIN && in->ask != NULL)
		in->ask->job = number(in, text, 0, INT64_MAX);
	else
		refuse(in, "%s: has another type", fields[in->field].name);
}

static void
text_take(struct input *in, const struct json_scan *s, char *to, size_t size)
{
	if (s->cut || s->len >= size || !text_is_clean(s->text, s->len))
		refuse(in, "%s: too long, or not printable",
		    fields[in->field].name);
	else
		memcpy(to, s->text, s->len + 1);
}

/* ASK__COUNT = not known */
static enum ask_kind
kind_of(const struct json_scan *s)
{
	int kind = s->cut ? ASK__COUNT : 0;

	for (; kind < ASK__COUNT; kind++)
		if (strcmp(s->text, kinds[kind]) == 0)
			break;
	return (enum ask_kind)kind;
}

static void
string_read(struct input *in, const struct json_scan *s)
{
	if (in->field == FIELD_NONCE) {
		if (s->cut || s->len >= ASK_NONCE_MAX || !is_nonce(s->text))
			refuse(in, "nonce: not 16 hexadecimal digits");
		else
			memcpy(in->nonce, s->text, ASK_NONCE_MAX);
	} else if (in->field == FIELD_KIND && in->ask != NULL)
		in->ask->kind = kind_of(s);
	else if (in->field == FIELD_CLUSTER && in->cluster != NULL)
		text_take(in, s, in->cluster, CLUSTER_MAX);
	else if (in->field == FIELD_ERROR && in->error != NULL)
		text_take(in, s, in->error, ASK_TEXT_MAX);
	else if (in->field == FIELD_TEXT && in->text != NULL)
		text_take(in, s, in->text, ASK_LINE_MAX);
	else
		refuse(in, "%s: has another type", fields[in->field].name);
}

/* The name of a member: one that is known may occur once. */
static void
name_read(struct input *in, const struct json_scan *s)
{
	int f;

	in->field = FIELD_OTHER;
	for (f = 0; f < FIELD_OTHER; f++)
		if (!s->cut && fields[f].depth == s->depth &&
		    strcmp(fields[f].name, s->text) == 0)
			break;
	if (f == FIELD_OTHER)
		return;
	in->field = (enum field)f;
	if (in->seen & BIT(f))
		refuse(in, "%s: given twice", fields[f].name);
	in->seen |= BIT(f);
}

static void
run_begin(struct input *in)
{
	if (*in->n == ASK_RUNS_MAX) {
		refuse(in, "%s: more than %d runs", fields[in->list].name,
		    ASK_RUNS_MAX);
		*in->n = 0;
	}
	in->runs[(*in->n)++] = (struct ask_run) { 0, 0 };
	in->seen &= ~OF_RUN;
	in->field = FIELD_OTHER;
}

static void
run_end(struct input *in)
{
	if ((in->seen & OF_RUN) != OF_RUN)
		refuse(in, "%s: a run without jobId or startTime",
		    fields[in->list].name);
}

/* Brackets and values in the list of runs. */
static void
list_event(struct input *in, const struct json_scan *s, enum json_event ev)
{
	if (s->depth == IN_LIST && ev == JSON_EV_OBJECT)
		run_begin(in);
	else if (s->depth == IN_LIST && ev == JSON_EV_OBJECT_END)
		run_end(in);
	else if (s->depth == IN_LIST)
		refuse(in, "%s: not a list of runs", fields[in->list].name);
	else if (ev == JSON_EV_NAME)
		name_read(in, s);
	else if (s->depth == IN_RUN && in->field != FIELD_OTHER) {
		if (ev == JSON_EV_SCALAR)
			scalar_read(in, s->text);
		else
			refuse(in, "%s: has another type",
			    fields[in->field].name);
	}
}

/* A value of a member of the object. */
static void
member_event(struct input *in, const struct json_scan *s, enum json_event ev)
{
	if (in->field == FIELD_OTHER)
		return;
	if (in->field == in->list && ev == JSON_EV_ARRAY)
		in->in_list = 1;
	else if (ev == JSON_EV_STRING)
		string_read(in, s);
	else if (ev == JSON_EV_SCALAR)
		scalar_read(in, s->text);
	else
		refuse(in, "%s: has another type", fields[in->field].name);
}

static const char *
on_event(struct json_scan *s, enum json_event ev, void *arg)
{
	struct input *in = arg;

	if (s->depth == IN_OBJECT && ev == JSON_EV_NAME)
		name_read(in, s);
	else if (s->depth == IN_OBJECT &&
	    (ev == JSON_EV_ARRAY_END || ev == JSON_EV_OBJECT_END)) {
		in->in_list = 0;
		in->field = FIELD_OTHER;
	} else if (s->depth == IN_OBJECT)
		member_event(in, s, ev);
	else if (in->in_list)
		list_event(in, s, ev);
	return NULL;
}

/* Each member that is wanted must be there. */
static int
input_read(struct input *in, unsigned wanted, const char *text, size_t len)
{
	char word[ASK_LINE_MAX + 1];
	struct json_scan s;
	const char *wrong;
	int f;

	*in->why = *in->nonce = '\0';
	if (len > ASK_BYTES_MAX) {
		refuse(in, "longer than %u bytes", ASK_BYTES_MAX);
		return -1;
	}
	json_scan_init(&s, '{', word, sizeof(word), on_event, in);
	wrong = json_scan_feed(&s, text, len);
	if (wrong == NULL)
		wrong = json_scan_end(&s);
	if (wrong != NULL)
		refuse(in, "no JSON: %s", wrong);
	if ((in->seen & BIT(FIELD_SCHEMA)) && in->schema != ASK_SCHEMA)
		snprintf(in->why, in->size,
		    "schema %" PRIu64 " instead of %d: upgrade both sides",
		    in->schema, ASK_SCHEMA);
	for (f = 0; f < FIELD_OTHER; f++)
		if ((wanted & ~in->seen) & BIT(f))
			refuse(in, "%s: is missing", fields[f].name);
	return *in->why == '\0' ? 0 : -1;
}

/* NULL, or what is wrong for its kind. */
static const char *
ask_wrong(const struct ask *ask)
{
	switch (ask->kind) {
	case ASK_LOOKUP:
		return ask->n == 0 ? "runs: is empty" : NULL;
	case ASK_BACKFILL:
		if (ask->from == 0 || ask->to <= ask->from)
			return "from, to: the range is empty";
		break;
	case ASK_BACKFILL_STATUS:
	case ASK_BACKFILL_CANCEL:
		break;
	case ASK_EXPLAIN:
		if (ask->job == 0)
			return "jobId: is missing";
		break;
	default:
		return "kind: not known: upgrade the cluster";
	}
	return ask->n != 0 ? "runs: is not empty" : NULL;
}

int
ask_read(struct ask *ask, const char *text, size_t len, char *why, size_t size)
{
	struct input in = { .list = FIELD_RUNS,
		.ask = ask,
		.nonce = ask->nonce,
		.runs = ask->runs,
		.n = &ask->n,
		.field = FIELD_OTHER,
		.why = why,
		.size = size };
	const char *wrong;

	ask->kind = ASK__COUNT;
	ask->n = 0;
	ask->from = ask->to = 0;
	ask->job = 0;
	if (input_read(&in, OF_ASK, text, len) == -1)
		return -1;
	wrong = ask_wrong(ask);
	if (wrong == NULL)
		return 0;
	refuse(&in, "%s", wrong);
	return -1;
}

int
ask_answer_read(struct ask_answer *answer, const char *text, size_t len,
    char *why, size_t size)
{
	struct input in = { .list = FIELD_NOT_FOUND,
		.nonce = answer->nonce,
		.cluster = answer->cluster,
		.error = answer->error,
		.text = answer->text,
		.asked = &answer->asked,
		.runs = answer->not_found,
		.n = &answer->n,
		.field = FIELD_OTHER,
		.why = why,
		.size = size };

	memset(answer, 0, sizeof(*answer));
	return input_read(&in, OF_ANSWER, text, len);
}

static void __attribute__((format(printf, 2, 3)))
put(struct writer *w, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wr_mem(w, text, (size_t)n < sizeof(text) ? (size_t)n : 0);
}

/* A string; the text has no control bytes. */
static void
put_string(struct writer *w, const char *name, const char *text)
{
	put(w, ",\"%s\":\"", name);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			wr_mem(w, "\\", 1);
		wr_mem(w, text, 1);
	}
	wr_mem(w, "\"", 1);
}

static void
put_runs(struct writer *w, const char *name, const struct ask_run *runs,
    unsigned n)
{
	unsigned i;

	put(w, ",\"%s\":[", name);
	for (i = 0; i < n; i++)
		put(w, "%s{\"jobId\":%" PRIu64 ",\"startTime\":%" PRId64 "}",
		    i > 0 ? "," : "", runs[i].job, runs[i].start);
	wr_mem(w, "]}", 2);
}

void
ask_write(struct writer *w, const struct ask *ask)
{
	put(w, "{\"schema\":%d,\"nonce\":\"%s\",\"kind\":\"%s\"", ASK_SCHEMA,
	    ask->nonce, kinds[ask->kind]);
	if (ask->kind == ASK_BACKFILL)
		put(w, ",\"from\":%" PRId64 ",\"to\":%" PRId64, ask->from,
		    ask->to);
	if (ask->kind == ASK_EXPLAIN)
		put(w, ",\"jobId\":%" PRIu64, ask->job);
	/* A reader of an older version requires runs before it reads the kind. */
	put_runs(w, fields[FIELD_RUNS].name, ask->runs, ask->n);
}

void
ask_answer_write(struct writer *w, const struct ask_answer *answer)
{
	put(w, "{\"schema\":%d,\"nonce\":\"%s\"", ASK_SCHEMA, answer->nonce);
	put_string(w, fields[FIELD_CLUSTER].name, answer->cluster);
	put_string(w, fields[FIELD_ERROR].name, answer->error);
	if (*answer->text != '\0')
		put_string(w, fields[FIELD_TEXT].name, answer->text);
	put(w, ",\"asked\":%u", answer->asked);
	put_runs(w, fields[FIELD_NOT_FOUND].name, answer->not_found, answer->n);
}
