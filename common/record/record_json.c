/* SPDX-License-Identifier: MIT */
/*
 * Reads a record from JSON; see record_json.h.  The sender may be controlled by
 * an attacker: each member is checked by its type and bound, and a member that
 * occurs twice is an error.  The first error is kept; the rest of the text is
 * still scanned for the schema, because a newer schema may change any type.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/record_json.h"
#include "common/record/record_members.h"
#include "common/text/json_scan.h"
#include "common/text/text.h"

/* brackets around the values of each level */
#define IN_RECORD     1
#define IN_LIST	      2 /* of flags or hosts */
#define IN_HOST	      3
#define IN_HOST_LIST  4
#define IN_HOST_RANGE 5

enum host_member {
	HOST_NAME,
	HOST_THREADS,
	HOST_SHAPE,
	HOST_GPUS,
	HOST_UNKNOWN
};

static const char *const host_members[HOST_UNKNOWN] = {
	[HOST_NAME] = "name",
	[HOST_THREADS] = "threads",
	[HOST_SHAPE] = "shape",
	[HOST_GPUS] = "gpus",
};

struct input {
	struct job *job;
	uint64_t schema;
	uint64_t seen;		     /* members of the record, by index */
	const struct member *member; /* NULL: not known, ignored */
	struct job_host *host;	     /* in an object of hosts */
	unsigned host_seen;
	enum host_member host_member;
	uint32_t values[3]; /* of a range of threads, or of a shape */
	unsigned n;	    /* values read */
	int invalid;	    /* why has the first error */
	char *why;
	size_t size;
};

static void __attribute__((format(printf, 2, 3)))
refuse(struct input *in, const char *fmt, ...)
{
	va_list ap;

	if (in->invalid)
		return;
	in->invalid = 1;
	va_start(ap, fmt);
	vsnprintf(in->why, in->size, fmt, ap);
	va_end(ap);
}

/* The name of a member of the current host for a reason. */
static const char *
host_label(const struct input *in)
{
	static _Thread_local char buf[40];
	const char *name = in->host_member < HOST_UNKNOWN ?
	    host_members[in->host_member] :
	    NULL;

	snprintf(buf, sizeof(buf), "hosts[%u]%s%s",
	    in->job->n_hosts > 0 ? in->job->n_hosts - 1 : 0,
	    name != NULL ? "." : "", name != NULL ? name : "");
	return buf;
}

/* A whole number of at most max without a sign: 0, or -1. */
static int
number_parse(const char *s, uint64_t max, uint64_t *v)
{
	uint64_t u = 0;
	unsigned digit;

	if (*s == '\0' || (s[0] == '0' && s[1] != '\0'))
		return -1;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		digit = (unsigned)(*s - '0');
		if (u > (max - digit) / 10)
			return -1;
		u = u * 10 + digit;
	}
	*v = u;
	return 0;
}

static void
number_read(struct input *in, const char *text, uint64_t min, uint64_t max,
    uint64_t *v)
{
	uint64_t u;

	if (number_parse(text, max, &u) == -1 || u < min)
		refuse(in, "%s: not a whole number from %llu to %llu",
		    in->member->name, (unsigned long long)min,
		    (unsigned long long)max);
	else
		*v = u;
}

static void
u32_read(struct input *in, const char *text)
{
	uint64_t u = 0;

	number_read(in, text, 0, UINT32_MAX, &u);
	*MEMBER_AT(in->job, in->member, uint32_t) = (uint32_t)u;
}

static void
time_read(struct input *in, const char *text, uint64_t min)
{
	uint64_t u = 0;

	number_read(in, text, min, TIME_S_MAX, &u);
	*MEMBER_AT(in->job, in->member, int64_t) = (int64_t)u;
}

static void
exit_read(struct input *in, const char *text)
{
	int minus = *text == '-';
	uint64_t u;

	if (number_parse(text + minus, (uint64_t)INT32_MAX + (unsigned)minus,
		&u) == -1)
		refuse(in, "%s: not a whole number from %d to %d",
		    in->member->name, INT32_MIN, INT32_MAX);
	else
		in->job->exit_code = (int32_t)(minus ? -(int64_t)u :
						       (int64_t)u);
}

/* A known member whose value is a number. */
static void
scalar_read(struct input *in, const struct json_scan *s)
{
	uint64_t u = 0;

	switch (in->member->kind) {
	case MEMBER_SCHEMA:
		number_read(in, s->text, 1, UINT32_MAX, &in->schema);
		break;
	case MEMBER_REVISION:
	case MEMBER_U64:
		number_read(in, s->text, 0, UINT64_MAX, &u);
		*MEMBER_AT(in->job, in->member, uint64_t) = u;
		break;
	case MEMBER_JOB:
		number_read(in, s->text, 1, INT64_MAX, &in->job->key.job);
		break;
	case MEMBER_START:
		time_read(in, s->text, 1);
		break;
	case MEMBER_TIME:
		time_read(in, s->text, 0);
		break;
	case MEMBER_U32:
		u32_read(in, s->text);
		break;
	case MEMBER_EXIT:
		exit_read(in, s->text);
		break;
	default:
		refuse(in, "%s: has another type", in->member->name);
	}
}

/* Checks a text of at most max bytes: 0, or -1 with the reason. */
static int
text_check(struct input *in, const struct json_scan *s, size_t max,
    const char *label)
{
	if (s->cut || s->len > max)
		refuse(in, "%s: longer than %zu bytes", label, max);
	else if (!text_is_clean(s->text, s->len))
		refuse(in, "%s: not UTF-8, or a control character", label);
	else
		return 0;
	return -1;
}

/* An empty text is a missing text.  NULL or the reason to stop. */
static const char *
text_read(struct input *in, const struct json_scan *s)
{
	const struct member *m = in->member;
	char **text = MEMBER_AT(in->job, m, char *);

	if (text_check(in, s, m->max, m->name) == -1 || s->len == 0)
		return NULL;
	*text = strdup(s->text);
	return *text != NULL ? NULL : "out of memory";
}

static void
state_read(struct input *in, const char *text)
{
	int i;

	for (i = 0; i < END__COUNT; i++)
		if (strcmp(text, job_end_name((enum job_end)i)) == 0) {
			in->job->state = (enum job_end)i;
			return;
		}
	refuse(in, "%s: not a state of this version", in->member->name);
}

static void
shared_read(struct input *in, const char *text)
{
	int i;

	for (i = SHARED_NONE; i < SHARED__COUNT; i++)
		if (strcmp(text, job_shared_name((enum job_shared)i)) == 0) {
			in->job->shared = (enum job_shared)i;
			return;
		}
	refuse(in, "%s: not a value of this version", in->member->name);
}

/* A known member whose value is a string.  NULL or the reason to stop. */
static const char *
string_read(struct input *in, const struct json_scan *s)
{
	switch (in->member->kind) {
	case MEMBER_TEXT:
		return text_read(in, s);
	case MEMBER_CLUSTER:
		if (text_check(in, s, in->member->max, in->member->name) == -1)
			break;
		if (s->len == 0)
			refuse(in, "%s: empty", in->member->name);
		memcpy(in->job->key.cluster, s->text, s->len + 1);
		break;
	case MEMBER_STATE:
		state_read(in, s->text);
		break;
	case MEMBER_SHARED:
		shared_read(in, s->text);
		break;
	default:
		refuse(in, "%s: has another type", in->member->name);
	}
	return NULL;
}

static void
member_begin(struct input *in, const struct json_scan *s)
{
	const struct member *m;
	uint64_t bit;

	in->member = NULL;
	for (m = record_members; m->name != NULL; m++)
		if (!s->cut && strcmp(m->name, s->text) == 0)
			break;
	if (m->name == NULL)
		return;
	bit = UINT64_C(1) << (m - record_members);
	if (in->seen & bit)
		refuse(in, "%s: given twice", m->name);
	in->seen |= bit;
	in->member = m;
}

/* Something at the level of the record. */
static const char *
record_event(struct input *in, const struct json_scan *s, enum json_event ev)
{
	int list;

	if (ev == JSON_EV_NAME) {
		member_begin(in, s);
		return NULL;
	}
	if (in->member == NULL)
		return NULL;
	list = in->member->kind == MEMBER_FLAGS ||
	    in->member->kind == MEMBER_HOSTS;
	if (ev == JSON_EV_ARRAY_END)
		return NULL;
	/* The schema is read even behind an error. */
	if (in->invalid && in->member->kind != MEMBER_SCHEMA)
		return NULL;
	if (ev == JSON_EV_SCALAR)
		scalar_read(in, s);
	else if (ev == JSON_EV_STRING)
		return string_read(in, s);
	else if (ev != JSON_EV_ARRAY || !list)
		refuse(in, "%s: has another type", in->member->name);
	return NULL;
}

static void
flag_read(struct input *in, const struct json_scan *s, enum json_event ev)
{
	int i;

	if (ev != JSON_EV_STRING) {
		refuse(in, "%s: has another type", in->member->name);
		return;
	}
	for (i = 0; i < RECORD_FLAGS; i++)
		if (!s->cut && strcmp(s->text, record_flags[i]) == 0)
			in->job->flags |= 1u << i;
}

static void
host_member_begin(struct input *in, const struct json_scan *s)
{
	int i;

	for (i = 0; i < HOST_UNKNOWN; i++)
		if (!s->cut && strcmp(s->text, host_members[i]) == 0)
			break;
	in->host_member = (enum host_member)i;
	in->n = 0;
	if (i == HOST_UNKNOWN)
		return;
	if (in->host_seen & (1u << i))
		refuse(in, "%s: given twice", host_label(in));
	in->host_seen |= 1u << i;
}

/* A host begins.  Its name is set when it is read. */
static const char *
host_begin(struct input *in)
{
	if (in->job->n_hosts >= HOSTS_MAX) {
		refuse(in, "hosts: more than %d", HOSTS_MAX);
		return NULL;
	}
	in->host = job_add_host(in->job, "");
	in->host_seen = 0;
	in->host_member = HOST_UNKNOWN;
	return in->host != NULL ? NULL : "out of memory";
}

static const char *
host_name_read(struct input *in, const struct json_scan *s)
{
	char *name;

	if (text_check(in, s, HOST_MAX - 1, host_label(in)) == -1)
		return NULL;
	name = strdup(s->text);
	if (name == NULL)
		return "out of memory";
	free(in->host->name);
	in->host->name = name;
	return NULL;
}

static const char *
gpu_read(struct input *in, const struct json_scan *s, enum json_event ev)
{
	if (ev != JSON_EV_STRING)
		refuse(in, "%s: has another type", host_label(in));
	else if (text_check(in, s, ACCEL_MAX - 1, host_label(in)) == -1)
		return NULL;
	else if (in->host->n_accels >= ACCELS_MAX)
		refuse(in, "%s: more than %d", host_label(in), ACCELS_MAX);
	else if (job_host_add_accel(in->host, s->text) == -1)
		return "out of memory";
	return NULL;
}

/* A number of a range of threads, or of a shape. */
static void
value_read(struct input *in, const struct json_scan *s, enum json_event ev,
    unsigned count, uint64_t max)
{
	uint64_t u = 0;

	if (ev != JSON_EV_SCALAR || in->n >= count ||
	    number_parse(s->text, max, &u) == -1)
		refuse(in, "%s: not %u whole numbers from 0 to %llu",
		    host_label(in), count, (unsigned long long)max);
	else
		in->values[in->n++] = (uint32_t)u;
}

static const char *
range_end(struct input *in)
{
	if (in->n != 2 || in->values[0] > in->values[1])
		refuse(in, "%s: a range is not two ascending numbers",
		    host_label(in));
	else if (in->host->n_cpus >= RANGES_MAX)
		refuse(in, "%s: more than %d ranges", host_label(in),
		    RANGES_MAX);
	else if (job_host_add_cpus(in->host, in->values[0], in->values[1]) ==
	    -1)
		return "out of memory";
	return NULL;
}

static void
shape_end(struct input *in)
{
	if (in->n != 3) {
		refuse(in, "%s: not three numbers", host_label(in));
		return;
	}
	in->host->sockets = (uint16_t)in->values[0];
	in->host->cores = (uint16_t)in->values[1];
	in->host->threads = (uint16_t)in->values[2];
}

/* A value of a host's member, or the end of its list. */
static const char *
host_value(struct input *in, const struct json_scan *s, enum json_event ev)
{
	if (in->host_member == HOST_UNKNOWN)
		return NULL;
	if (in->host_member == HOST_NAME && ev == JSON_EV_STRING)
		return host_name_read(in, s);
	if (in->host_member == HOST_NAME ||
	    (ev != JSON_EV_ARRAY && ev != JSON_EV_ARRAY_END))
		refuse(in, "%s: has another type", host_label(in));
	else if (in->host_member == HOST_SHAPE && ev == JSON_EV_ARRAY_END)
		shape_end(in);
	return NULL;
}

/* Something in a list of a host. */
static const char *
host_item(struct input *in, const struct json_scan *s, enum json_event ev)
{
	if (in->host_member == HOST_SHAPE)
		value_read(in, s, ev, 3, UINT16_MAX);
	else if (in->host_member == HOST_GPUS)
		return gpu_read(in, s, ev);
	else if (in->host_member != HOST_THREADS)
		return NULL;
	else if (ev == JSON_EV_ARRAY)
		in->n = 0;
	else if (ev == JSON_EV_ARRAY_END)
		return range_end(in);
	else
		refuse(in, "%s: not a list of ranges", host_label(in));
	return NULL;
}

static const char *
hosts_event(struct input *in, const struct json_scan *s, enum json_event ev)
{
	switch (s->depth) {
	case IN_LIST:
		if (ev == JSON_EV_OBJECT)
			return host_begin(in);
		if (ev != JSON_EV_OBJECT_END)
			refuse(in, "hosts: has another type");
		else if (*in->host->name == '\0')
			refuse(in, "hosts[%u].name: missing",
			    in->job->n_hosts - 1);
		return NULL;
	case IN_HOST:
		if (ev != JSON_EV_NAME)
			return host_value(in, s, ev);
		host_member_begin(in, s);
		return NULL;
	case IN_HOST_LIST:
		return host_item(in, s, ev);
	case IN_HOST_RANGE:
		if (in->host_member == HOST_THREADS)
			value_read(in, s, ev, 2, UINT32_MAX);
		return NULL;
	default:
		return NULL;
	}
}

static const char *
on_event(struct json_scan *s, enum json_event ev, void *arg)
{
	struct input *in = arg;

	if (s->depth == IN_RECORD)
		return record_event(in, s, ev);
	if (s->depth < IN_RECORD || in->invalid || in->member == NULL)
		return NULL;
	if (in->member->kind == MEMBER_HOSTS)
		return hosts_event(in, s, ev);
	if (in->member->kind == MEMBER_FLAGS && s->depth == IN_LIST)
		flag_read(in, s, ev);
	return NULL;
}

static void
required_check(struct input *in)
{
	const struct member *m;
	size_t i;

	for (i = 0; record_members[i].name != NULL; i++) {
		m = &record_members[i];
		if ((m->kind == MEMBER_SCHEMA || m->kind == MEMBER_REVISION ||
			m->kind == MEMBER_CLUSTER || m->kind == MEMBER_JOB ||
			m->kind == MEMBER_START) &&
		    (in->seen & (UINT64_C(1) << i)) == 0)
			refuse(in, "%s: missing", m->name);
	}
}

enum record_json
record_json_read(struct job *job, uint64_t *revision, const char *text,
    size_t len, char *why, size_t size)
{
	size_t room = (len < SCRIPT_MAX ? len : SCRIPT_MAX) + 1;
	struct input in = { .job = job, .why = why, .size = size };
	char *buf = malloc(room);
	const char *error = "out of memory";
	struct json_scan s;

	if (buf != NULL) {
		json_scan_init(&s, '{', buf, room, on_event, &in);
		/* An empty message has no bytes. */
		error = json_scan_feed(&s, text != NULL ? text : "", len);
		if (error == NULL)
			error = json_scan_end(&s);
	}
	free(buf);
	if (error != NULL && strcmp(error, "out of memory") == 0) {
		snprintf(why, size, "%s", error);
		return RECORD_JSON_NO_MEMORY;
	}
	if (error == NULL && in.schema > RECORD_SCHEMA) {
		snprintf(why, size, "schema: %llu is newer than %d",
		    (unsigned long long)in.schema, RECORD_SCHEMA);
		return RECORD_JSON_NEWER;
	}
	if (error != NULL)
		refuse(&in, "not JSON: %s", error);
	required_check(&in);
	*revision = job->revision;
	return in.invalid ? RECORD_JSON_INVALID : RECORD_JSON_OK;
}
