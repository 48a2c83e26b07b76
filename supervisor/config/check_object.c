/* SPDX-License-Identifier: MIT */
/*
 * The values that are objects, or lists of them: gpuPciAddrs, cpuMap,
 * clusterNames, tags.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/job.h"
#include "supervisor/config/config_file.h"

#define GPU_RULES_MAX  16384 /* each is tried on every new host */
#define THREAD_IDS_MAX 65536 /* the ids of a host may have gaps */
#define RULES_MAX      64    /* each is tried on every new run */
#define TAG_TEXT_MAX   255   /* bytes: cc-backend's columns have as many */

/* DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, as nvidia-smi and lspci write it. */
static int
is_pci_address(const char *s)
{
	static const char *const forms[] = { "xxxxxxxx:xx:xx.x", "xxxx:xx:xx.x",
		"xx:xx.x" };
	size_t i, k;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strlen(forms[i]) != strlen(s))
			continue;
		for (k = 0; s[k] != '\0'; k++)
			if (forms[i][k] == 'x' ?
				!isxdigit((unsigned char)s[k]) :
				forms[i][k] != s[k])
				break;
		if (s[k] == '\0')
			return 1;
	}
	return 0;
}

/*
 * Checks one GPU address.  0, or -1 for an error; an unusual or repeated
 * address is a warning.
 */
static int
check_address(struct conf_parse *p, const char *name, const char *pattern,
    const char *slot, const json_t *value, json_t *seen)
{
	char shown[CONF_VALUE_TEXT_MAX];
	const char *text = json_string_value(value);

	conf_value_text(value, shown, sizeof(shown));
	if (text == NULL || *text == '\0' || strlen(text) >= ACCEL_MAX) {
		conf_error(p, name, pattern,
		    "GPU %s must be a string like \"00000000:C1:00.0\", is %s",
		    slot, shown);
		return -1;
	}
	if (!is_pci_address(text))
		conf_warn(p, name, pattern,
		    "GPU %s is %s, not like \"00000000:C1:00.0\"", slot, shown);
	if (json_object_get(seen, text) != NULL)
		conf_warn(p, name, pattern, "GPU %s, %s, is in the list twice",
		    slot, shown);
	json_object_set_new(seen, text, json_true());
	return 0;
}

static int
is_slot(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n > 0 && n < 6 && s[n] == '\0' && atoi(s) < ACCELS_MAX;
}

/* Addresses by slot number, for hosts whose names begin with prefix. */
static void
check_slots(struct conf_parse *p, const char *name, const char *prefix,
    json_t *slots, json_t *seen)
{
	const char *slot;
	json_t *v;

	json_object_foreach(slots, slot, v)
	{
		if (!is_slot(slot))
			conf_error(p, name, prefix,
			    "\"%.32s\" is not the number of a GPU from 0 to %d",
			    slot, ACCELS_MAX - 1);
		else if (check_address(p, name, prefix, slot, v, seen) == -1)
			return;
	}
}

static void
check_gpu(struct conf_parse *p, const char *name, const char *pattern,
    json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX], slot[24];
	json_t *seen = json_object();
	size_t i;

	if (seen == NULL) {
		conf_error(p, name, pattern, "out of memory");
		return;
	}
	if (json_is_object(value))
		check_slots(p, name, pattern, value, seen);
	else if (!json_is_array(value) || json_array_size(value) > ACCELS_MAX)
		conf_error(p, name, pattern,
		    "must be a list of at most %d PCI addresses, or addresses "
		    "by number, is %s",
		    ACCELS_MAX, conf_value_text(value, shown, sizeof(shown)));
	else
		for (i = 0; i < json_array_size(value); i++) {
			snprintf(slot, sizeof(slot), "%zu", i);
			if (check_address(p, name, pattern, slot,
				json_array_get(value, i), seen) == -1)
				break;
		}
	json_decref(seen);
}

static void
check_cpus(struct conf_parse *p, const char *name, const char *pattern,
    const json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX], seen[THREAD_IDS_MAX / 8];
	json_int_t id;
	size_t i;

	if (json_is_string(value) &&
	    (strcmp(json_string_value(value), "block") == 0 ||
		strcmp(json_string_value(value), "interleaved") == 0))
		return;
	if (!json_is_array(value) || json_array_size(value) == 0 ||
	    json_array_size(value) > THREADS_MAX) {
		conf_error(p, name, pattern,
		    "must be \"block\", \"interleaved\" or a list of at most "
		    "%d thread ids, is %s",
		    THREADS_MAX, conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < json_array_size(value); i++) {
		id = json_integer_value(json_array_get(value, i));
		if (!json_is_integer(json_array_get(value, i)) || id < 0 ||
		    id >= THREAD_IDS_MAX) {
			conf_error(p, name, pattern,
			    "thread %zu must be a whole number from 0 to %d, "
			    "is %s",
			    i, THREAD_IDS_MAX - 1,
			    conf_value_text(json_array_get(value, i), shown,
				sizeof(shown)));
			return;
		}
		if (seen[id / 8] & (1 << (id % 8))) {
			conf_error(p, name, pattern,
			    "thread id %d is in the list twice", (int)id);
			return;
		}
		seen[id / 8] = (char)(seen[id / 8] | 1 << (id % 8));
	}
}

static int
is_cluster_name(const char *s)
{
	return s != NULL && *s != '\0' && strlen(s) < CLUSTER_MAX &&
	    strpbrk(s, " /,\\\"") == NULL && s[strcspn(s, "\t\r\n")] == '\0';
}

static void
check_cluster(struct conf_parse *p, const char *name, json_t *all,
    const char *slurm, const json_t *value)
{
	const char *ours = json_string_value(value), *other;
	char shown[CONF_VALUE_TEXT_MAX];
	json_t *twin;

	if (!is_cluster_name(slurm) || !is_cluster_name(ours)) {
		conf_error(p, name, slurm,
		    "must be the name of a cluster, is %s",
		    conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	/* Job ids of two clusters with one name would collide. */
	json_object_foreach(all, other, twin)
	{
		if (strcmp(other, slurm) == 0)
			return;
		if (json_is_string(twin) &&
		    strcmp(json_string_value(twin), ours) == 0)
			conf_error(p, name, slurm,
			    "\"%s\" is already the name of %.64s", ours, other);
	}
}

/* Members of a rule, or of its `when`. */
struct member {
	const char *name;
	int needed;
};

static const struct member rule_members[] = { { "type", 1 }, { "name", 1 },
	{ "scope", 0 }, { "when", 0 }, { NULL, 0 } };
static const struct member when_members[] = { { "partition", 0 }, { "qos", 0 },
	{ "account", 0 }, { "reservation", 0 }, { NULL, 0 } };

static int
is_member(const struct member *members, const char *name)
{
	for (; members->name != NULL; members++)
		if (strcmp(members->name, name) == 0)
			return 1;
	return 0;
}

/* Members of an object that are missing, unknown or too long. */
static void
check_members(struct conf_parse *p, const char *key, const char *item,
    json_t *object, const struct member *members)
{
	char shown[CONF_VALUE_TEXT_MAX];
	const struct member *m;
	const char *name, *text;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		if (!is_member(members, name)) {
			conf_error(p, key, item,
			    "has \"%.40s\", which is not one of %s", name,
			    members == rule_members ?
				"type, name, scope and when" :
				"partition, qos, account and reservation");
			continue;
		}
		if (strcmp(name, "when") == 0)
			continue;
		text = json_string_value(value);
		if (text == NULL || *text == '\0' ||
		    strlen(text) > TAG_TEXT_MAX)
			conf_error(p, key, item,
			    "its %s must be a string of 1 to %d bytes, is %s",
			    name, TAG_TEXT_MAX,
			    conf_value_text(value, shown, sizeof(shown)));
	}
	for (m = members; m->name != NULL; m++)
		if (m->needed && json_object_get(object, m->name) == NULL)
			conf_error(p, key, item, "has no %s", m->name);
}

static void
check_when(struct conf_parse *p, const char *key, const char *item,
    json_t *when)
{
	char shown[CONF_VALUE_TEXT_MAX];
	unsigned before = p->errors;
	const char *name;
	json_t *value;

	if (!json_is_object(when)) {
		conf_error(p, key, item,
		    "its when must be an object { ... }, is %s",
		    conf_value_text(when, shown, sizeof(shown)));
		return;
	}
	check_members(p, key, item, when, when_members);
	if (p->errors != before)
		return;
	json_object_foreach(when, name, value)
	    conf_check_regex(p, key, item, json_string_value(value));
}

static const char *
text_of(const json_t *rule, const char *name, const char *none)
{
	const char *text = json_string_value(json_object_get(rule, name));

	return text != NULL ? text : none;
}

/* In cc-backend, a type and name have one scope. */
static void
check_scope(struct conf_parse *p, const char *key, const char *item,
    const json_t *all, size_t at)
{
	const json_t *rule = json_array_get(all, at), *other;
	size_t i;

	for (i = 0; i < at; i++) {
		other = json_array_get(all, i);
		if (strcmp(text_of(rule, "type", ""),
			text_of(other, "type", "")) == 0 &&
		    strcmp(text_of(rule, "name", ""),
			text_of(other, "name", "")) == 0 &&
		    strcmp(text_of(rule, "scope", "global"),
			text_of(other, "scope", "global")) != 0)
			conf_error(p, key, item,
			    "has the type and name of item %zu, but another "
			    "scope",
			    i + 1);
	}
}

static void
check_tags(struct conf_parse *p, const char *name, json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX], item[32];
	unsigned before;
	json_t *rule;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) > RULES_MAX) {
		conf_error(p, name, NULL,
		    "must be a list of at most %d rules { ... }, is %s",
		    RULES_MAX, conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	json_array_foreach(value, i, rule)
	{
		snprintf(item, sizeof(item), "item %zu", i + 1);
		if (!json_is_object(rule)) {
			conf_error(p, name, item,
			    "must be an object { ... }, is %s",
			    conf_value_text(rule, shown, sizeof(shown)));
			continue;
		}
		before = p->errors;
		check_members(p, name, item, rule, rule_members);
		if (json_object_get(rule, "when") != NULL)
			check_when(p, name, item,
			    json_object_get(rule, "when"));
		if (p->errors == before)
			check_scope(p, name, item, value, i);
	}
}

/* The limits of the process that reads the value. */
static int
entries_max(enum conf_key key)
{
	return key == CONF_CPU_MAP    ? CONF_CPU_MAP_MAX :
	    key == CONF_CLUSTER_NAMES ? CONF_CLUSTERS_MAX :
					GPU_RULES_MAX;
}

void
conf_check_object(struct conf_parse *p, enum conf_key key, const char *name,
    json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX];
	const char *inner;
	json_t *v;

	if (key == CONF_TAGS) {
		check_tags(p, name, value);
		return;
	}
	if (!json_is_object(value)) {
		conf_error(p, name, NULL, "must be an object { ... }, is %s",
		    conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	if (json_object_size(value) > (size_t)entries_max(key)) {
		conf_error(p, name, NULL, "must have at most %d entries",
		    entries_max(key));
		return;
	}
	json_object_foreach(value, inner, v)
	{
		if (key != CONF_CLUSTER_NAMES &&
		    !(key == CONF_GPU_PCI_ADDRS && json_is_object(v)))
			conf_check_regex(p, name, inner, inner);
		if (key == CONF_GPU_PCI_ADDRS)
			check_gpu(p, name, inner, v);
		else if (key == CONF_CPU_MAP)
			check_cpus(p, name, inner, v);
		else
			check_cluster(p, name, value, inner, v);
	}
}
