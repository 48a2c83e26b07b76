/* SPDX-License-Identifier: MIT */
/*
 * gpuPciAddrs: the address of the n-th GPU of a host; see settings.h.  A
 * pattern with a list is a regular expression, as in the Go adapter.  A name
 * with slot numbers is a plain prefix of host names.  The first match wins.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <pcre2.h>

#include "collector/base/settings.h"
#include "collector/parse/parse.h"
#include "common/hash.h"
#include "common/log.h"

#define LOGGED_MAX   1024 /* hosts with a logged error */
#define LOGGED_SLOTS (2 * LOGGED_MAX)

struct gpu_rule {
	struct pattern *pattern; /* NULL = prefix is plain text */
	char *prefix;		 /* owned */
	char **addresses;	 /* owned; NULL where a slot has none */
	size_t n;
};

struct gpu_map {
	struct gpu_rule *rules;
	size_t n;
	uint64_t logged[LOGGED_SLOTS]; /* hashes of host names; 0 = free */
	size_t n_logged;
	/* of the last call: the devices of a host come one after the other */
	char host[HOST_MAX];
	const struct gpu_rule *rule;
};

struct pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

/* A pattern that needs more steps than this does not match. */
#define MATCH_LIMIT 100000

struct pattern *
pattern_new(const char *text, char *reason, size_t size)
{
	struct pattern *p = calloc(1, sizeof(*p));
	PCRE2_UCHAR why[128];
	PCRE2_SIZE at;
	int err;

	if (p == NULL) {
		snprintf(reason, size, "out of memory");
		return NULL;
	}
	p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0,
	    &err, &at, NULL);
	if (p->code == NULL) {
		pcre2_get_error_message(err, why, sizeof(why));
		snprintf(reason, size, "pattern \"%.100s\": %s at offset %zu",
		    text, (const char *)why, (size_t)at);
		pattern_free(p);
		return NULL;
	}
	p->match = pcre2_match_data_create(1, NULL);
	p->context = pcre2_match_context_create(NULL);
	if (p->match == NULL || p->context == NULL) {
		snprintf(reason, size, "out of memory");
		pattern_free(p);
		return NULL;
	}
	pcre2_set_match_limit(p->context, MATCH_LIMIT);
	return p;
}

void
pattern_free(struct pattern *p)
{
	if (p == NULL)
		return;
	pcre2_code_free(p->code);
	pcre2_match_data_free(p->match);
	pcre2_match_context_free(p->context);
	free(p);
}

int
pattern_matches(const struct pattern *p, const char *text)
{
	/*
	 * pcre2_match() returns 0 for a match that has more groups than pairs.
	 */
	return pcre2_match(p->code, (PCRE2_SPTR)text, strlen(text), 0, 0,
		   p->match, p->context) >= 0;
}

void
gpu_map_free(struct gpu_map *map)
{
	size_t i, k;

	if (map == NULL)
		return;
	for (i = 0; i < map->n; i++) {
		pattern_free(map->rules[i].pattern);
		free(map->rules[i].prefix);
		for (k = 0; k < map->rules[i].n; k++)
			free(map->rules[i].addresses[k]);
		free(map->rules[i].addresses);
	}
	free(map->rules);
	free(map);
}

static int
address_set(struct gpu_rule *rule, size_t slot, const json_t *value,
    char *reason, size_t size)
{
	const char *text = json_string_value(value);

	if (text == NULL || *text == '\0' || strlen(text) >= ACCEL_MAX) {
		snprintf(reason, size,
		    "gpuPciAddrs: \"%.100s\": an address is "
		    "a text of at most %d bytes",
		    rule->prefix, ACCEL_MAX - 1);
		return -1;
	}
	rule->addresses[slot] = strdup(text);
	if (rule->addresses[slot] == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	return 0;
}

/* Number of slots of a rule; 0 when the rule has none. */
static size_t
slots_of(json_t *value)
{
	const char *key;
	json_t *item;
	uint32_t slot, n = 0;

	if (json_is_array(value))
		return json_array_size(value);
	json_object_foreach(value, key, item)
	{
		if (number_u32((struct span) { key, strlen(key) }, &slot) ==
			-1 ||
		    slot >= ACCELS_MAX)
			return SIZE_MAX;
		if (slot >= n)
			n = slot + 1;
	}
	return n;
}

static int
rule_fill(struct gpu_rule *rule, json_t *value, char *reason, size_t size)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(value, i,
	    item) if (address_set(rule, i, item, reason, size) == -1) return -1;
	json_object_foreach(value, key,
	    item) if (address_set(rule, (size_t)strtoul(key, NULL, 10), item,
			  reason, size) == -1) return -1;
	return 0;
}

static int
rule_set(struct gpu_rule *rule, const char *key, json_t *value, char *reason,
    size_t size)
{
	size_t n = slots_of(value);

	if ((!json_is_array(value) && !json_is_object(value)) ||
	    n > ACCELS_MAX) {
		snprintf(reason, size,
		    "gpuPciAddrs: \"%.100s\": neither a list of addresses nor "
		    "addresses by slot number",
		    key);
		return -1;
	}
	if (json_is_array(value)) {
		rule->pattern = pattern_new(key, reason, size);
		if (rule->pattern == NULL)
			return -1;
	}
	rule->prefix = strdup(key);
	rule->addresses = calloc(n + 1, sizeof(*rule->addresses));
	if (rule->prefix == NULL || rule->addresses == NULL) {
		snprintf(reason, size, "out of memory");
		return -1;
	}
	rule->n = n;
	return rule_fill(rule, value, reason, size);
}

struct gpu_map *
gpu_map_new(const char *text, char *reason, size_t size)
{
	struct gpu_map *map = calloc(1, sizeof(*map));
	json_error_t error;
	json_t *root = json_loads(text, 0, &error), *value;
	const char *key;

	if (map == NULL || !json_is_object(root)) {
		snprintf(reason, size, "gpuPciAddrs: %s",
		    root == NULL ? error.text : "not an object");
		goto fail;
	}
	map->rules = calloc(json_object_size(root) + 1, sizeof(*map->rules));
	if (map->rules == NULL)
		goto fail;
	json_object_foreach(root, key,
	    value) if (rule_set(&map->rules[map->n++], key, value, reason,
			   size) == -1) goto fail;
	json_decref(root);
	return map;
fail:
	json_decref(root);
	gpu_map_free(map);
	return NULL;
}

/* Returns 1 on the first call for a host. */
static int
logs_first_time(struct gpu_map *map, const char *host)
{
	uint64_t hash = hash_bytes(HASH_START, host, strlen(host)) | 1;
	size_t i;

	if (map->n_logged == LOGGED_MAX)
		return 0;
	for (i = hash / 2 % LOGGED_SLOTS; map->logged[i] != 0;
	     i = (i + 1) % LOGGED_SLOTS)
		if (map->logged[i] == hash)
			return 0;
	map->logged[i] = hash;
	map->n_logged++;
	return 1;
}

static const struct gpu_rule *
rule_of(const struct gpu_map *map, const char *host)
{
	const struct gpu_rule *rule;
	size_t i;

	for (i = 0; i < map->n; i++) {
		rule = &map->rules[i];
		if (rule->pattern != NULL ?
			pattern_matches(rule->pattern, host) :
			strncmp(host, rule->prefix, strlen(rule->prefix)) == 0)
			return rule;
	}
	return NULL;
}

size_t
gpu_addresses(const struct gpu_map *map, const char *host,
    char *const **addresses)
{
	const struct gpu_rule *rule = rule_of(map, host);

	*addresses = rule != NULL ? rule->addresses : NULL;
	return rule != NULL ? rule->n : 0;
}

int
gpu_map_is_empty(const struct gpu_map *map)
{
	return map->n == 0;
}

int
gpu_address(struct gpu_map *map, const char *host, uint32_t index,
    char address[ACCEL_MAX])
{
	const struct gpu_rule *rule;

	if (map->n == 0)
		return -1; /* no addresses are wanted */
	if (strcmp(map->host, host) != 0) {
		map->rule = rule_of(map, host);
		snprintf(map->host, sizeof(map->host), "%s", host);
	}
	rule = map->rule;
	if (rule != NULL && index < rule->n && rule->addresses[index] != NULL) {
		snprintf(address, ACCEL_MAX, "%s", rule->addresses[index]);
		return 0;
	}
	if (!logs_first_time(map, host))
		return -1;
	if (rule == NULL)
		log_warnx("GPU %u of %s: no pattern in gpuPciAddrs matches "
			  "this host; its jobs have no accelerators",
		    index, host);
	else
		log_warnx("GPU %u of %s: gpuPciAddrs \"%s\" has %zu addresses; "
			  "its jobs do not list this GPU",
		    index, host, rule->prefix, rule->n);
	return -1;
}
