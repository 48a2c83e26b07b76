/* SPDX-License-Identifier: MIT */
/* The value of `tags`: a list of rules, each an object. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "supervisor/config/config_file.h"

#define RULES_MAX	64	/* each is tried on every new run */
#define TEXT_MAX	255	/* bytes: cc-backend's columns have as many */

/* Members of a rule, or of its `when`. */
struct member {
	const char	*name;
	int		 needed;
};

static const struct member rule_members[] = {
	{ "type", 1 }, { "name", 1 }, { "scope", 0 }, { "when", 0 }, { NULL, 0 }
};
static const struct member when_members[] = {
	{ "partition", 0 }, { "qos", 0 }, { "account", 0 },
	{ "reservation", 0 }, { NULL, 0 }
};

static int
is_member(const struct member *members, const char *name)
{
	for (; members->name != NULL; members++)
		if (strcmp(members->name, name) == 0)
			return 1;
	return 0;
}

/* Of the texts of an object: what is missing, unknown or too long. */
static void
check_members(struct conf_parse *p, const char *key, const char *item,
    json_t *object, const struct member *members)
{
	char shown[CONF_VALUE_TEXT_MAX];
	const struct member *m;
	const char *name, *text;
	json_t *value;

	json_object_foreach(object, name, value) {
		if (!is_member(members, name)) {
			conf_error(p, key, item, "has \"%.40s\", which is none "
			    "of %s", name, members == rule_members ?
			    "type, name, scope and when" :
			    "partition, qos, account and reservation");
			continue;
		}
		if (strcmp(name, "when") == 0)
			continue;
		text = json_string_value(value);
		if (text == NULL || *text == '\0' || strlen(text) > TEXT_MAX)
			conf_error(p, key, item, "its %s must be a string of 1 "
			    "to %d bytes, is %s", name, TEXT_MAX,
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
		conf_error(p, key, item, "its when must be an object { ... }, "
		    "is %s", conf_value_text(when, shown, sizeof(shown)));
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

/* cc-backend knows a type and name in one scope alone. */
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
			conf_error(p, key, item, "has the type and name of item "
			    "%zu, but another scope", i + 1);
	}
}

void
conf_check_tags(struct conf_parse *p, const char *name, json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX], item[32];
	unsigned before;
	json_t *rule;
	size_t i;

	if (!json_is_array(value) || json_array_size(value) > RULES_MAX) {
		conf_error(p, name, NULL, "must be a list of at most %d rules "
		    "{ ... }, is %s", RULES_MAX,
		    conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	json_array_foreach(value, i, rule) {
		snprintf(item, sizeof(item), "item %zu", i + 1);
		if (!json_is_object(rule)) {
			conf_error(p, name, item, "must be an object { ... }, "
			    "is %s", conf_value_text(rule, shown, sizeof(shown)));
			continue;
		}
		before = p->errors;
		check_members(p, name, item, rule, rule_members);
		if (json_object_get(rule, "when") != NULL)
			check_when(p, name, item, json_object_get(rule,
			    "when"));
		if (p->errors == before)
			check_scope(p, name, item, value, i);
	}
}
