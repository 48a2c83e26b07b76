/* SPDX-License-Identifier: MIT */
/*
 * Reads a hook's message with a scanner that knows just enough JSON to skip
 * what it does not want: no memory of its own, no recursion, every byte
 * looked at once.  It may assume nothing about the bytes.
 */
#include "config.h"

#include <string.h>

#include "common/text.h"
#include "listener/listener.h"

#define DEPTH_MAX	32	/* nested values in what we skip */
#define WANTED_MAX	128	/* bytes of a value that we want */
#define JOB_MAX		UINT32_MAX	/* Slurm's job ids have 32 bits */

struct scan {
	const char	*p;
	const char	*end;
	const char	*wrong;	/* the first, or NULL */
};

static int
fail(struct scan *s, const char *wrong)
{
	if (s->wrong == NULL)
		s->wrong = wrong;
	return -1;
}

static void
skip_blank(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' ||
	    *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

/* The next byte that is no blank, still to be read; '\0' at the end. */
static char
peek(struct scan *s)
{
	skip_blank(s);
	return s->p < s->end ? *s->p : '\0';
}

static int
expect(struct scan *s, char c, const char *wrong)
{
	if (peek(s) != c || s->p == s->end)
		return fail(s, wrong);
	s->p++;
	return 0;
}

/* The four digits behind \u; -1 when they are none. */
static int
scan_unicode(struct scan *s)
{
	int i, digit, value = 0;

	for (i = 0; i < 4; i++) {
		if (s->p == s->end || (digit = text_hex(*s->p)) == -1)
			return fail(s, "bad \\u escape");
		value = value * 16 + digit;
		s->p++;
	}
	return value;
}

/* What follows a backslash, as one byte; what is no ASCII becomes '?', which
 * no value that we want may hold.  -1 when it is no escape. */
static int
scan_escape(struct scan *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	int c;

	if (s->p == s->end)
		return fail(s, "string without an end");
	c = *s->p++;
	if (c == 'u') {
		c = scan_unicode(s);
		return c > 0x7e || c == 0 ? '?' : c;
	}
	if (c == '\0' || (at = strchr(from, c)) == NULL)
		return fail(s, "unknown escape");
	return to[at - from];
}

/*
 * A string into buf, ended with a NUL.  What does not fit is skipped, and buf
 * is "" then: it cannot be a value that we want.
 */
static int
scan_string(struct scan *s, char *buf, size_t size)
{
	size_t len = 0;
	int c;

	if (expect(s, '"', "a string is missing") == -1)
		return -1;
	for (;;) {
		if (s->p == s->end)
			return fail(s, "string without an end");
		c = (unsigned char)*s->p++;
		if (c == '"')
			break;
		if (c < ' ')
			return fail(s, "control byte in a string");
		if (c == '\\' && (c = scan_escape(s)) == -1)
			return -1;
		if (len < size)
			buf[len++] = (char)c;
	}
	buf[len < size ? len : 0] = '\0';
	return 0;
}

/* A number, true, false or null: skipped by its letters, as it is not used. */
static int
skip_word(struct scan *s)
{
	const char *start = s->p;

	while (s->p < s->end && ((*s->p >= '0' && *s->p <= '9') ||
	    (*s->p >= 'a' && *s->p <= 'z') || *s->p == 'E' || *s->p == '+' ||
	    *s->p == '-' || *s->p == '.'))
		s->p++;
	return s->p == start ? fail(s, "a value is missing") : 0;
}

/*
 * Any value: brackets are counted, strings in them skipped whole.  Commas and
 * colons in between are not judged, for nothing in there is believed.
 */
static int
skip_value(struct scan *s)
{
	char scratch[2], open[DEPTH_MAX];
	int depth = 0;
	char c;

	do {
		c = peek(s);
		if (c == '"') {
			if (scan_string(s, scratch, sizeof(scratch)) == -1)
				return -1;
		} else if (c == '{' || c == '[') {
			if (depth == DEPTH_MAX)
				return fail(s, "nested too deep");
			open[depth++] = c;
			s->p++;
		} else if ((c == '}' || c == ']') && depth > 0) {
			if (open[--depth] != (c == '}' ? '{' : '['))
				return fail(s, "brackets that do not match");
			s->p++;
		} else if ((c == ',' || c == ':') && depth > 0)
			s->p++;
		else if (skip_word(s) == -1)
			return -1;
	} while (depth > 0);
	return 0;
}

static const char *
take_job(const char *value, struct hook_message *msg)
{
	const char *start = value;
	uint64_t job = 0;

	for (; *value >= '0' && *value <= '9' && job <= JOB_MAX; value++)
		job = job * 10 + (uint64_t)(*value - '0');
	if (*value != '\0' || (job == 0 && *start != '\0') || job > JOB_MAX)
		return "SLURM_JOB_ID is no job id";
	msg->job = job;
	return NULL;
}

static const char *
take_cluster(const char *value, struct hook_message *msg)
{
	const char *p;

	/* "" is a variable that was not set. */
	for (p = value; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("\"\\/?*,", *p) != NULL)
			break;
	if (*p != '\0' ||
	    (size_t)(p - value) >= sizeof(msg->cluster))
		return "SLURM_CLUSTER_NAME is no cluster's name";
	memcpy(msg->cluster, value, (size_t)(p - value) + 1);
	return NULL;
}

static const char *
take_context(const char *value, struct hook_message *msg)
{
	if (strcmp(value, "prolog_slurmctld") == 0)
		msg->kind = EVENT_START;
	else if (strcmp(value, "epilog_slurmctld") == 0)
		msg->kind = EVENT_END;
	else
		msg->kind = EVENT_UNKNOWN;
	return NULL;
}

static const struct {
	const char	*key;
	const char	*(*take)(const char *value, struct hook_message *msg);
} wanted[] = {
	{ "SLURM_JOB_ID", take_job },
	{ "SLURM_CLUSTER_NAME", take_cluster },
	{ "SLURM_SCRIPT_CONTEXT", take_context },
};

#define WANTED	(sizeof(wanted) / sizeof(wanted[0]))

static int
scan_member(struct scan *s, struct hook_message *msg)
{
	char key[WANTED_MAX], value[WANTED_MAX];
	const char *wrong;
	size_t i;

	if (scan_string(s, key, sizeof(key)) == -1 ||
	    expect(s, ':', "a colon is missing") == -1)
		return -1;
	for (i = 0; i < WANTED; i++)
		if (strcmp(key, wanted[i].key) == 0)
			break;
	if (i == WANTED)
		return skip_value(s);
	if (scan_string(s, value, sizeof(value)) == -1)
		return -1;
	wrong = wanted[i].take(value, msg);
	return wrong != NULL ? fail(s, wrong) : 0;
}

static int
scan_object(struct scan *s, struct hook_message *msg)
{
	if (expect(s, '{', "that is no JSON object") == -1)
		return -1;
	if (peek(s) != '}') {
		for (;;) {
			if (scan_member(s, msg) == -1)
				return -1;
			if (peek(s) != ',')
				break;
			s->p++;
		}
	}
	if (expect(s, '}', "the object does not end") == -1)
		return -1;
	skip_blank(s);
	return s->p != s->end ? fail(s, "more bytes behind the object") : 0;
}

const char *
hook_message_parse(const char *buf, size_t len, struct hook_message *msg)
{
	struct scan s = { .p = buf, .end = buf + len };
	struct hook_message found = { .kind = EVENT_UNKNOWN };

	if (len == 0)
		return "nothing was said";
	if (scan_object(&s, &found) == -1)
		return s.wrong;
	if (found.job == 0)
		return "SLURM_JOB_ID is missing";
	if (found.cluster[0] == '\0')
		return "SLURM_CLUSTER_NAME is missing";
	*msg = found;
	return NULL;
}
