/* SPDX-License-Identifier: MIT */
/*
 * cpuMap; see cpumap.h.  Patterns are matched against host names only; the
 * match limit bounds the time of an expensive pattern.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "submitter/payload/cpumap.h"
#include "submitter/payload/topology.h"

/* Steps of one match: a host name needs some hundred. */
#define MATCH_LIMIT 100000u

enum order {
	ORDER_BLOCK,
	ORDER_INTERLEAVED,
	ORDER_LIST
};

struct rule {
	pcre2_code *code;
	enum order order;
	uint32_t *ids; /* owned; ORDER_LIST */
	size_t n_ids;
};

struct cpumap {
	size_t n;
	struct rule *rules; /* owned, in the order written */
	pcre2_match_data *match;
	pcre2_match_context *context;
};

static int
rule_ids(struct rule *r, const json_t *list)
{
	size_t i, n = json_array_size(list);

	if (n == 0 || n > THREADS_MAX)
		return -1;
	r->ids = calloc(n, sizeof(*r->ids));
	if (r->ids == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > INT32_MAX)
			return -1;
		r->ids[i] = (uint32_t)json_integer_value(v);
	}
	r->n_ids = n;
	r->order = ORDER_LIST;
	return 0;
}

static int
rule_order(struct rule *r, const json_t *value)
{
	const char *word = json_string_value(value);

	if (json_is_array(value))
		return rule_ids(r, value);
	if (word != NULL && strcmp(word, "block") == 0)
		r->order = ORDER_BLOCK;
	else if (word != NULL && strcmp(word, "interleaved") == 0)
		r->order = ORDER_INTERLEAVED;
	else
		return -1;
	return 0;
}

static int
rule_read(struct rule *r, const char *pattern, const json_t *value,
    char *reason, size_t size)
{
	PCRE2_UCHAR text[128] = "";
	PCRE2_SIZE at;
	int err;

	r->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0,
	    &err, &at, NULL);
	if (r->code == NULL) {
		pcre2_get_error_message(err, text, sizeof(text));
		snprintf(reason, size,
		    "cpuMap: \"%s\" is not a regular expression: %s", pattern,
		    (const char *)text);
		return -1;
	}
	if (rule_order(r, value) == -1) {
		snprintf(reason, size,
		    "cpuMap: the value of \"%s\" is not "
		    "\"block\", \"interleaved\" or a list of thread ids",
		    pattern);
		return -1;
	}
	return 0;
}

static int
rules_read(struct cpumap *m, json_t *root, char *reason, size_t size)
{
	const char *pattern;
	json_t *value;

	if (!json_is_object(root) ||
	    json_object_size(root) > CONF_CPU_MAP_MAX) {
		snprintf(reason, size,
		    "cpuMap is not an object of at most %d patterns",
		    CONF_CPU_MAP_MAX);
		return -1;
	}
	m->rules = calloc(json_object_size(root) + 1, sizeof(*m->rules));
	if (m->rules == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	json_object_foreach(root, pattern,
	    value) if (rule_read(&m->rules[m->n++], pattern, value, reason,
			   size) == -1) return -1;
	return 0;
}

struct cpumap *
cpumap_new(const char *json, char *reason, size_t size)
{
	struct cpumap *m = calloc(1, sizeof(*m));
	json_error_t err;
	json_t *root = NULL;
	int rc = -1;

	if (m == NULL) {
		snprintf(reason, size, "out of memory");
		return NULL;
	}
	root = json_loads(json, JSON_REJECT_DUPLICATES, &err);
	m->match = pcre2_match_data_create(1, NULL);
	m->context = pcre2_match_context_create(NULL);
	if (m->match == NULL || m->context == NULL) {
		snprintf(reason, size, "out of memory");
		goto done;
	}
	pcre2_set_match_limit(m->context, MATCH_LIMIT);
	rc = rules_read(m, root, reason, size);
done:
	json_decref(root);
	if (rc == -1) {
		cpumap_free(m);
		m = NULL;
	}
	return m;
}

void
cpumap_free(struct cpumap *m)
{
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->n; i++) {
		pcre2_code_free(m->rules[i].code);
		free(m->rules[i].ids);
	}
	free(m->rules);
	pcre2_match_data_free(m->match);
	pcre2_match_context_free(m->context);
	free(m);
}

int
cpumap_rule(const struct cpumap *m, const char *host)
{
	size_t i;

	if (m == NULL)
		return -1;
	for (i = 0; i < m->n; i++)
		if (pcre2_match(m->rules[i].code, (PCRE2_SPTR)host,
			strlen(host), 0, 0, m->match, m->context) >= 0)
			return (int)i;
	return -1;
}

int64_t
cpumap_id(const struct cpumap *m, int rule, const struct job_host *host,
    uint32_t abstract)
{
	const struct rule *r = &m->rules[rule];
	uint32_t cores = (uint32_t)host->sockets * host->cores;

	switch (r->order) {
	case ORDER_BLOCK:
		return abstract;
	case ORDER_INTERLEAVED:
		if (host->threads == 0 || cores == 0 ||
		    abstract >= (uint64_t)cores * host->threads)
			return -1;
		return abstract % host->threads * cores +
		    abstract / host->threads;
	case ORDER_LIST:
		return abstract < r->n_ids ? (int64_t)r->ids[abstract] : -1;
	}
	return -1;
}
