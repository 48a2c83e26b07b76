/* SPDX-License-Identifier: MIT */
/* Types, ranges and formats of the values, one by one. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/text/text.h"
#include "supervisor/config/config_file.h"

#define CHOICES_MAX 9	 /* words of one enumeration */
#define ITEM_MAX    4095 /* bytes of one string of a list: a path */

/* The format of a key's text, or of each string of its list. */
static const struct {
	conf_format *format;
	const char *choices[CHOICES_MAX + 1];
} formats[CONF__COUNT] = {
	[CONF_PID_FILE] = { .format = conf_format_path },
	[CONF_PREP_LISTEN] = { .format = conf_format_address },
	[CONF_PREP_CONNECT] = { .format = conf_format_address },
	[CONF_LAST_RUN] = { .format = conf_format_path },
	[CONF_CC_REST_URL] = { .format = conf_format_url },
	[CONF_NATS_SERVER] = { .format = conf_format_server },
	[CONF_NATS_SUBJECT] = { .format = conf_format_subject },
	[CONF_NATS_CREDS_FILE] = { .format = conf_format_optional_path },
	[CONF_NATS_NKEY_SEED_FILE] = { .format = conf_format_optional_path },
	[CONF_CC_REST_JWT_FILE] = { .format = conf_format_optional_path },
	[CONF_CC_REST_CA_FILE] = { .format = conf_format_optional_path },
	[CONF_CC_BACKEND_VERSION] = { .format = conf_format_version },
	[CONF_NATS_CA_FILE] = { .format = conf_format_optional_path },
	[CONF_NATS_CERT_FILE] = { .format = conf_format_optional_path },
	[CONF_NATS_KEY_FILE] = { .format = conf_format_optional_path },
	[CONF_NATS_FORMAT] = { .choices = { "line-protocol", "json" } },
	[CONF_SLURM_USER] = { .format = conf_format_optional_user },
	[CONF_SUBMITTER_USER] = { .format = conf_format_user },
	[CONF_LISTENER_USER] = { .format = conf_format_user },
	[CONF_SANDBOX] = { .choices = { "enforce", "log", "off" } },
	[CONF_SPOOL_DIR] = { .format = conf_format_optional_path },
	[CONF_CTL_SOCK] = { .format = conf_format_optional_path },
	[CONF_CTL_USERS] = { .format = conf_format_user },
	[CONF_PREP_ALLOWED_UIDS] = { .format = conf_format_user },
	[CONF_PREP_ALLOWED_HOSTS] = { .format = conf_format_network },
	[CONF_SLURM_BIN_DIR] = { .format = conf_format_optional_path },
	[CONF_SLURM_CONF] = { .format = conf_format_optional_path },
	[CONF_SLURM_EXTRA_PATHS] = { .format = conf_format_path },
	[CONF_CLUSTERS] = { .format = conf_format_cluster },
	[CONF_GPU_GRES_NAMES] = { .format = conf_format_word },
	[CONF_META_DATA_FIELDS] = { .choices = { "jobName", "jobScript",
					"slurmInfo", "submitTime",
					"arrayTaskId", "hetJobId", "exitCode",
					"reason", "message" } },
	[CONF_REQUEUED_STATE] = { .choices = { "preempted", "cancelled" } },
	[CONF_METRICS_LISTEN] = { .format = conf_format_metrics },
	[CONF_EXPORTER_USER] = { .format = conf_format_user },
	[CONF_REQUEUED_RUNS] = { .choices = { "first", "last" } },
	[CONF_PREP_AUTH] = { .choices = { "none", "munge" } },
	[CONF_PREP_MUNGE_SOCKET] = { .format = conf_format_path },
	[CONF_DELIVER] = { .choices = { "direct", "stream" } },
	[CONF_SOURCE] = { .choices = { "slurm", "stream" } },
	[CONF_RECEIVER_USER] = { .format = conf_format_user },
};

/* The unit of a number, for the error message. */
static const char *
unit_of(enum conf_key key)
{
	switch (key) {
	case CONF_NATS_PORT:
	case CONF_QUERY_MAX_RETRIES:
	case CONF_NATS_STREAM_REPLICAS:
		return "";
	case CONF_SPOOL_MAX_BYTES:
	case CONF_JOB_SCRIPT_MAX:
	case CONF_NATS_STREAM_MAX_BYTES:
	case CONF_HISTORY_MAX_BYTES:
		return " of bytes";
	case CONF_HISTORY_DAYS:
		return " of days";
	default:
		return " of seconds";
	}
}

static int
has_controls(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return 1;
	return 0;
}

/* NULL, or what the text must be; may use buf for it. */
static const char *
text_wrong(enum conf_key key, const char *text, char *buf, size_t size)
{
	const char *const *choice = formats[key].choices;
	size_t n = 0;

	if (has_controls(text))
		return "must have no control characters";
	if (formats[key].format != NULL)
		return formats[key].format(text);
	if (*choice == NULL)
		return NULL;
	for (; *choice != NULL; choice++)
		if (strcmp(*choice, text) == 0)
			return NULL;
	n = (size_t)snprintf(buf, size, "must be one of");
	for (choice = formats[key].choices; *choice != NULL && n < size;
	     choice++)
		n += (size_t)snprintf(buf + n, size - n, " %s", *choice);
	return buf;
}

static void
take(struct conf_parse *p, enum conf_key key, const char *name,
    const char *value)
{
	if (conf_set(&p->conf, key, value) == -1)
		conf_error(p, name, NULL, "out of memory");
}

/* It may be a password or a token. */
static int
may_have_login(enum conf_key key, const char *text)
{
	return (key == CONF_CC_REST_URL || key == CONF_NATS_SERVER) &&
	    strchr(text, '@') != NULL;
}

static void
check_string(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	const struct conf_rule *rule = conf_rule(key);
	char shown[CONF_VALUE_TEXT_MAX], buf[256];
	const char *text = json_string_value(value), *wrong;

	conf_value_text(value, shown, sizeof(shown));
	if (text == NULL) {
		conf_error(p, name, NULL, "must be a string, is %s", shown);
		return;
	}
	if (may_have_login(key, text))
		snprintf(shown, sizeof(shown),
		    "a text with @, which is not shown");
	if ((int64_t)strlen(text) > rule->max) {
		conf_error(p, name, NULL, "must have at most %lld bytes, is %s",
		    (long long)rule->max, shown);
		return;
	}
	if (*text == '\0' && rule->min > 0) {
		conf_error(p, name, NULL, "must not be empty");
		return;
	}
	wrong = text_wrong(key, text, buf, sizeof(buf));
	if (wrong != NULL)
		conf_error(p, name, NULL, "%s, is %s", wrong, shown);
	else
		take(p, key, name, text);
	if (wrong == NULL && key == CONF_IGNORE_HOSTS)
		conf_check_regex(p, name, NULL, text);
}

/* The Go adapter uses 1 for a smaller value of these keys. */
static json_int_t
interval_raise(struct conf_parse *p, enum conf_key key, const char *name,
    json_int_t number)
{
	if ((key != CONF_POLL_INTERVAL && key != CONF_QUERY_DELAY) ||
	    number >= conf_rule(key)->min)
		return number;
	conf_warn(p, name, NULL, "is less than %lld: 1 is used",
	    (long long)conf_rule(key)->min);
	return 1;
}

static void
check_int(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	const struct conf_rule *rule = conf_rule(key);
	char shown[CONF_VALUE_TEXT_MAX], text[24];
	json_int_t number = json_integer_value(value);

	if (json_is_integer(value))
		number = interval_raise(p, key, name, number);
	if (!json_is_integer(value) || number < rule->min ||
	    number > rule->max) {
		conf_error(p, name, NULL,
		    "must be a whole number%s from %lld to %lld, is %s",
		    unit_of(key), (long long)rule->min, (long long)rule->max,
		    conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, number);
	take(p, key, name, text);
}

static void
check_bool(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	char shown[CONF_VALUE_TEXT_MAX];

	if (!json_is_boolean(value))
		conf_error(p, name, NULL, "must be true or false, is %s",
		    conf_value_text(value, shown, sizeof(shown)));
	else
		take(p, key, name, json_is_true(value) ? "true" : "false");
}

/*
 * Stores the value in the form of the messages: without blanks, members in the
 * order of the file.
 */
static void
take_json(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	size_t n = json_dumpb(value, NULL, 0, JSON_COMPACT);
	char *text;

	if (conf_rule(key)->type == CONF_TYPE_JSON &&
	    n > (size_t)conf_rule(key)->max) {
		conf_error(p, name, NULL, "must have at most %lld bytes",
		    (long long)conf_rule(key)->max);
		return;
	}
	text = malloc(n + 1);
	if (text == NULL || json_dumpb(value, text, n, JSON_COMPACT) != n)
		conf_error(p, name, NULL, "out of memory");
	else {
		text[n] = '\0';
		take(p, key, name, text);
	}
	free(text);
}

static void
check_list(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	const struct conf_rule *rule = conf_rule(key);
	char shown[CONF_VALUE_TEXT_MAX], buf[256];
	unsigned before = p->errors;
	const char *text, *wrong;
	const json_t *item;
	size_t i;

	if (!json_is_array(value)) {
		conf_error(p, name, NULL, "must be a list of strings, is %s",
		    conf_value_text(value, shown, sizeof(shown)));
		return;
	}
	if ((int64_t)json_array_size(value) > rule->max)
		conf_error(p, name, NULL,
		    "must have at most %lld strings, has %zu",
		    (long long)rule->max, json_array_size(value));
	for (i = 0; i < json_array_size(value) && p->errors == before; i++) {
		item = json_array_get(value, i);
		conf_value_text(item, shown, sizeof(shown));
		text = json_string_value(item);
		if (text == NULL || *text == '\0' || strlen(text) > ITEM_MAX)
			conf_error(p, name, NULL,
			    "must be a list of strings, item %zu is %s", i + 1,
			    shown);
		else if ((wrong = text_wrong(key, text, buf, sizeof(buf))) !=
		    NULL)
			conf_error(p, name, NULL, "item %zu %s, is %s", i + 1,
			    wrong, shown);
	}
	if (p->errors == before)
		take_json(p, key, name, value);
}

/* No part of the value may get into the log. */
static void
check_secret(struct conf_parse *p, enum conf_key key, const char *name,
    const json_t *value)
{
	const char *text = json_string_value(value);

	if (text == NULL)
		conf_error(p, name, NULL, "must be a string");
	else if ((int64_t)strlen(text) > conf_rule(key)->max)
		conf_error(p, name, NULL, "must have at most %lld bytes",
		    (long long)conf_rule(key)->max);
	else if (has_controls(text))
		conf_error(p, name, NULL,
		    "must have no control characters (a line break at its "
		    "end?)");
	else if (key == CONF_CC_REST_JWT && strchr(text, ' ') != NULL)
		conf_error(p, name, NULL, "must have no blanks");
	else
		p->secret[key] = text;
}

/* natsServer may come later in the file, and in another spelling. */
static int
has_nats_server(const struct conf_parse *p)
{
	const char *name, *text;
	json_t *value;

	json_object_foreach(p->root, name, value)
	{
		text = json_string_value(value);
		if (text != NULL && *text != '\0' &&
		    strcasecmp(name, conf_rule(CONF_NATS_SERVER)->name) == 0)
			return 1;
	}
	return 0;
}

int
conf_is_blank(const struct conf_parse *p, enum conf_key key,
    const json_t *value)
{
	int is_blank = 0;

	if (key == CONF_NATS_PORT)
		is_blank = json_is_integer(value) &&
		    json_integer_value(value) == 0;
	else if (key == CONF_NATS_SUBJECT)
		is_blank = json_is_string(value) &&
		    *json_string_value(value) == '\0';
	return is_blank && !has_nats_server(p);
}

void
conf_check_value(struct conf_parse *p, enum conf_key key, const char *name,
    json_t *value)
{
	unsigned before = p->errors;

	if (conf_is_blank(p, key, value))
		return;
	switch (conf_rule(key)->type) {
	case CONF_TYPE_STR:
	case CONF_TYPE_SECRET_FILE:
	case CONF_TYPE_FILE:
		check_string(p, key, name, value);
		break;
	case CONF_TYPE_INT:
		check_int(p, key, name, value);
		break;
	case CONF_TYPE_BOOL:
		check_bool(p, key, name, value);
		break;
	case CONF_TYPE_LIST:
		check_list(p, key, name, value);
		break;
	case CONF_TYPE_JSON:
		conf_check_object(p, key, name, value);
		if (p->errors == before)
			take_json(p, key, name, value);
		break;
	case CONF_TYPE_SECRET:
		check_secret(p, key, name, value);
		break;
	}
}
