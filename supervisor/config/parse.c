/* SPDX-License-Identifier: MIT */
/* From the file to a JSON object, from its keys to the table's rows. */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text.h"
#include "supervisor/config/config_file.h"

#define LINES_MAX	50	/* messages of one file; more do not help */
#define KEY_SHOWN_MAX	128	/* bytes of a foreign key in a message */

void
conf_parse_init(struct conf_parse *p, const char *path)
{
	memset(p, 0, sizeof(*p));
	p->path = path;
	conf_init(&p->conf);
	wr_init(&p->secrets, CONF_SECRETS_MAX);
}

void
conf_parse_clear(struct conf_parse *p)
{
	json_decref(p->root);
	json_decref(p->lines);
	conf_clear(&p->conf);
	wr_clear(&p->secrets);
	conf_parse_init(p, p->path);
}

/* "PATH:LINE: key: inner: text", as compilers say it. */
static void __attribute__((format(printf, 6, 0)))
message_format(const struct conf_parse *p, char *buf, size_t size, const char *key,
    const char *sub, const char *fmt, va_list ap)
{
	char shown[KEY_SHOWN_MAX];
	int line = conf_lines_find(p->lines, key, sub);
	size_t n;

	if (line == 0)
		line = conf_lines_find(p->lines, key, NULL);
	n = (size_t)snprintf(buf, size, "%.512s", p->path);
	if (line != 0)
		n += (size_t)snprintf(buf + n, size - n, ":%d", line);
	if (key != NULL)
		n += (size_t)snprintf(buf + n, size - n, ": %s",
		    text_vis(key, shown, sizeof(shown)));
	if (sub != NULL)
		n += (size_t)snprintf(buf + n, size - n, ": %s",
		    text_vis(sub, shown, sizeof(shown)));
	n += (size_t)snprintf(buf + n, size - n, ": ");
	vsnprintf(buf + n, size - n, fmt, ap);
}

static int
log_permitted(const struct conf_parse *p)
{
	unsigned n = p->errors + p->warnings;

	if (n == LINES_MAX)
		log_warnx("%s: more is wrong, not listed", p->path);
	return n < LINES_MAX;
}

void
conf_error(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...)
{
	char text[CONF_REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	message_format(p, text, sizeof(text), key, sub, fmt, ap);
	va_end(ap);
	if (log_permitted(p))
		log_errorx("%s", text);
	if (p->errors++ == 0)
		memcpy(p->reason, text, sizeof(p->reason));
}

void
conf_warn(struct conf_parse *p, const char *key, const char *sub,
    const char *fmt, ...)
{
	char text[CONF_REASON_MAX];
	va_list ap;

	va_start(ap, fmt);
	message_format(p, text, sizeof(text), key, sub, fmt, ap);
	va_end(ap);
	if (log_permitted(p))
		log_warnx("%s", text);
	p->warnings++;
}

const char *
conf_value_text(const json_t *value, char *buf, size_t size)
{
	char text[CONF_VALUE_TEXT_MAX - 2];

	switch (json_typeof(value)) {
	case JSON_STRING:
		snprintf(buf, size, "\"%s\"", text_vis(json_string_value(value),
		    text, sizeof(text)));
		break;
	case JSON_INTEGER:
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(value));
		break;
	case JSON_REAL:
		snprintf(buf, size, "%g", json_real_value(value));
		break;
	case JSON_OBJECT:
		snprintf(buf, size, "an object");
		break;
	case JSON_ARRAY:
		snprintf(buf, size, "a list");
		break;
	case JSON_TRUE:
		snprintf(buf, size, "true");
		break;
	case JSON_FALSE:
		snprintf(buf, size, "false");
		break;
	default:
		snprintf(buf, size, "null");
		break;
	}
	return buf;
}

/* A key that the table does not have. */
static void
unknown_key(struct conf_parse *p, const char *name)
{
	const char *guess;

	/* Guessing costs time, and nobody would read it. */
	if (p->errors + p->warnings > LINES_MAX) {
		p->warnings++;
		return;
	}
	if (strcmp(name, "ipcSockPath") == 0) {
		conf_warn(p, name, NULL, "is gone and has no effect; "
		    "prepSockListenPath says where the daemon listens, "
		    "prepSockConnectPath where the hook connects");
		return;
	}
	guess = conf_key_guess(name);
	if (guess != NULL)
		conf_warn(p, name, NULL, "unknown key, ignored; "
		    "probably %s is meant", guess);
	else
		conf_warn(p, name, NULL, "unknown key, ignored");
}

/*
 * The row of a key as the file spells it: 1 when its value counts, 0 when
 * nothing is to be done with it.  The Go adapter takes a key in any case: so
 * do we, and say how it is spelled.
 */
static int
find_key(struct conf_parse *p, const char *name, enum conf_key *key)
{
	const char *right;
	int i, known = conf_key_find(name, key);

	for (i = 0; !known && i < CONF__COUNT; i++) {
		known = strcasecmp(conf_rule(i)->name, name) == 0;
		*key = i;
	}
	if (!known) {
		unknown_key(p, name);
		return 0;
	}
	right = conf_rule(*key)->name;
	if (strcmp(right, name) == 0)
		return 1;
	if (json_object_get(p->root, right) != NULL) {
		conf_warn(p, name, NULL, "%s is given too and counts", right);
		return 0;
	}
	if (strcasecmp(right, name) == 0)
		conf_warn(p, name, NULL, "taken as %s, which is how the key "
		    "is spelled", right);
	return 1;
}

static void
check_keys(struct conf_parse *p)
{
	const char *name;
	json_t *value;
	enum conf_key key;

	json_object_foreach(p->root, name, value) {
		/* null means "as if it were not there", as it did in Go. */
		if (find_key(p, name, &key) && !json_is_null(value))
			conf_check_value(p, key, name, value);
	}
}

/* jansson quotes what stands at the fault: that may be the token. */
static void
syntax_error(struct conf_parse *p, json_error_t *error)
{
	char *quoted = strstr(error->text, " near '");

	if (quoted != NULL)
		*quoted = '\0';
	if (error->line > 0)
		conf_error(p, NULL, NULL, "line %d, column %d: no valid JSON: %s",
		    error->line, error->column, error->text);
	else
		conf_error(p, NULL, NULL, "no valid JSON: %s", error->text);
	explicit_bzero(error, sizeof(*error));
}

void
conf_parse_text(struct conf_parse *p, const char *text, size_t len)
{
	json_error_t error;

	p->root = json_loadb(text, len, 0, &error);
	if (p->root == NULL) {
		syntax_error(p, &error);
		return;
	}
	if (!json_is_object(p->root)) {
		conf_error(p, NULL, NULL, "must be one JSON object { ... }");
		return;
	}
	if (conf_lines_new(p, text, len) == NULL) {
		conf_error(p, NULL, NULL, "out of memory");
		return;
	}
	check_keys(p);
}

static int
holds_secret(const struct conf_parse *p)
{
	static const enum conf_key keys[] = { CONF_CC_REST_JWT,
	    CONF_NATS_PASSWORD, CONF_NATS_TOKEN };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (p->secret[keys[i]] != NULL && *p->secret[keys[i]] != '\0')
			return 1;
	return 0;
}

/* Who may read and write config.json itself. */
static void
check_owner(struct conf_parse *p, unsigned mode, unsigned owner)
{
	if (mode & S_IWOTH)
		conf_error(p, NULL, NULL, "anyone may write it (mode %04o): "
		    "chmod 640", mode);
	else if ((mode & S_IROTH) && holds_secret(p))
		conf_warn(p, NULL, NULL, "holds secrets and anyone may read it "
		    "(mode %04o): chmod 640", mode);
	if (geteuid() == 0 && owner != 0)
		conf_warn(p, NULL, NULL, "belongs to user %u, who so decides "
		    "what root runs: chown root", owner);
}

void
conf_parse_file(struct conf_parse *p, int explicit_path)
{
	const char *why;
	unsigned mode = 0, owner = 0;
	size_t len = 0;
	char *text;

	text = conf_file_read(p->path, CONF_FILE_MAX, &len, &mode, &owner, &why);
	if (text != NULL) {
		conf_parse_text(p, text, len);
		explicit_bzero(text, len);
		free(text);
		check_owner(p, mode, owner);
	} else if (errno == ENOENT && !explicit_path)
		log_info("%s: %s, all keys have their defaults", p->path, why);
	else
		conf_error(p, NULL, NULL, "%s", why);
	/* Of a file that is no JSON at all the rest would only be guesses. */
	if (p->errors == 0 || p->root != NULL)
		conf_secrets_read(p);
	if (p->errors == 0)
		conf_check_all(p);
	if (p->errors == 0)
		conf_users_resolve(p);
}
