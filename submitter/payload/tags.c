/* SPDX-License-Identifier: MIT */
/* Tags of runs; see tags.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "common/json_write.h"
#include "submitter/payload/tags.h"

/* Steps of one match: a name needs some hundred. */
#define MATCH_LIMIT 100000u

/* The members of "when" and the texts they are matched against. */
static const struct {
	const char *name;
	size_t at;
} texts[] = {
	{ "partition", offsetof(struct job, partition) },
	{ "qos", offsetof(struct job, qos) },
	{ "account", offsetof(struct job, account) },
	{ "reservation", offsetof(struct job, reservation) },
};
#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

struct rule {
	char *type; /* owned, as are the others */
	char *name;
	char *scope;
	pcre2_code *when[N_TEXTS]; /* NULL = matches every text */
};

struct tags {
	unsigned n;
	struct rule rules[TAGS_MAX];
	pcre2_match_data *match;
	pcre2_match_context *context;
};

static char *
text_copy(const json_t *rule, const char *name, const char *none)
{
	const char *text = json_string_value(json_object_get(rule, name));

	if (text == NULL)
		text = none;
	return text != NULL && *text != '\0' ? strdup(text) : NULL;
}

/* Reads the n-th rule.  0, or -1 with a reason. */
static int
rule_read(struct rule *r, unsigned n, const json_t *value, char *reason,
    size_t size)
{
	PCRE2_UCHAR text[128] = "";
	const char *pattern;
	PCRE2_SIZE at;
	size_t i;
	int err;

	r->type = text_copy(value, "type", NULL);
	r->name = text_copy(value, "name", NULL);
	r->scope = text_copy(value, "scope", "global");
	if (r->type == NULL || r->name == NULL || r->scope == NULL) {
		snprintf(reason, size,
		    "tags: item %u has no type, name or scope", n);
		return -1;
	}
	for (i = 0; i < N_TEXTS; i++) {
		pattern = json_string_value(
		    json_object_get(json_object_get(value, "when"),
			texts[i].name));
		if (pattern == NULL)
			continue;
		r->when[i] = pcre2_compile((PCRE2_SPTR)pattern,
		    PCRE2_ZERO_TERMINATED, 0, &err, &at, NULL);
		if (r->when[i] == NULL) {
			pcre2_get_error_message(err, text, sizeof(text));
			snprintf(reason, size,
			    "tags: item %u: \"%.100s\" is "
			    "not a regular expression: %s",
			    n, pattern, (const char *)text);
			return -1;
		}
	}
	return 0;
}

static int
rules_read(struct tags *t, const char *json, char *reason, size_t size)
{
	json_error_t err;
	json_t *root = json_loads(json, 0, &err), *value;
	size_t i;
	int rc = -1;

	if (!json_is_array(root) || json_array_size(root) > TAGS_MAX) {
		snprintf(reason, size, "tags is not a list of at most %d rules",
		    TAGS_MAX);
		goto done;
	}
	json_array_foreach(root, i,
	    value) if (rule_read(&t->rules[t->n++], (unsigned)i + 1, value,
			   reason, size) == -1) goto done;
	rc = 0;
done:
	json_decref(root);
	return rc;
}

struct tags *
tags_new(const char *json, char *reason, size_t size)
{
	struct tags *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->match = pcre2_match_data_create(1, NULL);
		t->context = pcre2_match_context_create(NULL);
	}
	if (t == NULL || t->match == NULL || t->context == NULL) {
		snprintf(reason, size, "out of memory");
		tags_free(t);
		return NULL;
	}
	pcre2_set_match_limit(t->context, MATCH_LIMIT);
	if (rules_read(t, json, reason, size) == -1) {
		tags_free(t);
		return NULL;
	}
	return t;
}

void
tags_free(struct tags *t)
{
	struct rule *r;
	unsigned k;
	size_t i;

	if (t == NULL)
		return;
	for (k = 0; k < t->n; k++) {
		r = &t->rules[k];
		free(r->type);
		free(r->name);
		free(r->scope);
		for (i = 0; i < N_TEXTS; i++)
			pcre2_code_free(r->when[i]);
	}
	pcre2_match_data_free(t->match);
	pcre2_match_context_free(t->context);
	free(t);
}

int
tags_any(const struct tags *t)
{
	return t != NULL && t->n > 0;
}

/* 1 when all patterns match.  A missing text is matched as "". */
static int
is_matched(const struct tags *t, const struct rule *r, const struct job *job)
{
	const char *text;
	size_t i;

	for (i = 0; i < N_TEXTS; i++) {
		if (r->when[i] == NULL)
			continue;
		memcpy(&text, (const char *)job + texts[i].at, sizeof(text));
		if (text == NULL)
			text = "";
		if (pcre2_match(r->when[i], (PCRE2_SPTR)text, strlen(text), 0,
			0, t->match, t->context) < 0)
			return 0;
	}
	return 1;
}

/* 1 when the tag was written.  cc-backend ignores tags after a duplicate. */
static int
is_given(const struct tags *t, const unsigned char *given, const struct rule *r)
{
	const struct rule *other;
	unsigned k;

	for (k = 0; k < t->n; k++) {
		other = &t->rules[k];
		if (given[k] && strcmp(other->type, r->type) == 0 &&
		    strcmp(other->name, r->name) == 0)
			return 1;
	}
	return 0;
}

static void
member(struct writer *w, const char *name, const char *text)
{
	wr_mem(w, name, strlen(name));
	wr_json_string(w, text);
}

unsigned
tags_write(const struct tags *t, const struct job *job, int scope,
    struct writer *w)
{
	unsigned char given[TAGS_MAX] = { 0 };
	const struct rule *r;
	unsigned k, n = 0;

	for (k = 0; t != NULL && k < t->n; k++) {
		r = &t->rules[k];
		if (!is_matched(t, r, job) || is_given(t, given, r))
			continue;
		given[k] = 1;
		if (w == NULL) {
			n++;
			continue;
		}
		wr_u8(w, n++ == 0 ? '[' : ',');
		member(w, "{\"type\":", r->type);
		member(w, ",\"name\":", r->name);
		if (scope)
			member(w, ",\"scope\":", r->scope);
		wr_u8(w, '}');
	}
	if (w != NULL && n > 0)
		wr_u8(w, ']');
	return n;
}
