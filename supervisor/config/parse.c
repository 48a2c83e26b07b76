/* SPDX-License-Identifier: MIT */
/* Reads the file as a JSON object and finds its keys in the table of keys. */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text/text.h"
#include "supervisor/config/config_file.h"
#include "supervisor/config/safe_path.h"

#define PATH_BYTES 4200 /* the longest pidFilePath and a name */

void
conf_parse_init(struct conf_parse *p, const char *path)
{
	memset(p, 0, sizeof(*p));
	p->path = path;
	conf_init(&p->conf);
	wr_init(&p->secrets, CONF_SECRETS_MAX);
	wr_init(&p->receiver_secrets, CONF_SECRETS_MAX);
}

void
conf_parse_clear(struct conf_parse *p)
{
	json_decref(p->root);
	json_decref(p->lines);
	conf_clear(&p->conf);
	wr_clear(&p->secrets);
	wr_clear(&p->receiver_secrets);
	conf_parse_init(p, p->path);
}

/* A key that the table does not have. */
static void
unknown_key(struct conf_parse *p, const char *name)
{
	const char *text = conf_key_obsolete(name), *guess;

	/* The message would not be logged. */
	if (p->errors + p->warnings > CONF_MESSAGES_MAX) {
		p->warnings++;
		return;
	}
	if (text != NULL) {
		conf_warn(p, name, NULL, "%s", text);
		return;
	}
	guess = conf_key_guess(name);
	if (guess != NULL)
		conf_warn(p, name, NULL,
		    "unknown key, ignored; probably %s is meant", guess);
	else
		conf_warn(p, name, NULL, "unknown key, ignored");
}

/*
 * Finds a key as the file spells it: 1 when its value is used, else 0.  As in
 * the Go adapter, upper and lower case are equal; another spelling is a
 * warning.
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
		conf_warn(p, name, NULL, "ignored; %s is given, too", right);
		return 0;
	}
	if (strcasecmp(right, name) == 0)
		conf_warn(p, name, NULL,
		    "read as %s, which is the correct spelling", right);
	return 1;
}

static void
check_keys(struct conf_parse *p)
{
	const char *name;
	json_t *value;
	enum conf_key key;

	json_object_foreach(p->root, name, value)
	{
		/* null means "not given", as in the Go adapter. */
		if (find_key(p, name, &key) && !json_is_null(value))
			conf_check_value(p, key, name, value);
	}
}

/* jansson quotes the text at the error, which may be the token. */
static void
syntax_error(struct conf_parse *p, json_error_t *error)
{
	char *quoted = strstr(error->text, " near '");

	if (quoted != NULL)
		*quoted = '\0';
	if (error->line > 0)
		conf_error(p, NULL, NULL,
		    "line %d, column %d: not valid JSON: %s", error->line,
		    error->column, error->text);
	else
		conf_error(p, NULL, NULL, "not valid JSON: %s", error->text);
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
	int key;

	for (key = 0; key < CONF__COUNT; key++)
		if (conf_rule((enum conf_key)key)->type == CONF_TYPE_SECRET &&
		    conf_is_set(p, (enum conf_key)key))
			return 1;
	return 0;
}

/*
 * The user of Slurm's commands may be in the group, as the user of the Go
 * adapter is.  A daemon without root has one user, who reads the file.
 */
static void
check_group(struct conf_parse *p, unsigned mode)
{
	struct stat st;

	if (geteuid() != 0 || stat(p->path, &st) == -1 || st.st_gid == 0)
		return;
	conf_warn(p, NULL, NULL,
	    "has secrets and is readable by group %u (mode %04o): chmod 600, "
	    "or keep the secrets in other files",
	    (unsigned)st.st_gid, mode);
}

/* The mode of config.json. */
static void
check_mode(struct conf_parse *p, unsigned mode)
{
	if (mode & S_IWOTH)
		conf_error(p, NULL, NULL,
		    "is writable by other users (mode %04o): chmod 640", mode);
	else if ((mode & S_IROTH) && holds_secret(p))
		conf_warn(p, NULL, NULL,
		    "has secrets and is readable by other "
		    "users (mode %04o): chmod %s",
		    mode, geteuid() == 0 ? "600" : "640");
	else if ((mode & S_IRGRP) && holds_secret(p))
		check_group(p, mode);
}

/* Files that others can change: refused only with strictModes. */
static void
check_safe_paths(struct conf_parse *p)
{
	int is_strict = conf_bool(&p->conf, CONF_STRICT_MODES);
	struct unsafe_path u = { .next = 0 };
	const char *name;

	while (unsafe_path_next(&p->conf, p->path, &u)) {
		name = u.key != CONF__COUNT ? conf_rule(u.key)->name : NULL;
		if (is_strict)
			conf_error(p, name, NULL, "%s (strictModes is true)",
			    u.text);
		else
			conf_warn(p, name, NULL, "%s", u.text);
	}
}

static void
ctl_sock_derive(struct conf_parse *p)
{
	char path[PATH_BYTES];

	if (*conf_str(&p->conf, CONF_CTL_SOCK) != '\0')
		return;
	if (conf_ctl_sock_path(conf_str(&p->conf, CONF_PID_FILE), path,
		sizeof(path)) == -1 ||
	    conf_set(&p->conf, CONF_CTL_SOCK, path) == -1)
		conf_error(p, conf_rule(CONF_CTL_SOCK)->name, NULL,
		    "cannot be derived from pidFilePath");
}

/* A refusal may come from a value that the file does not have. */
static void
kept_explain(struct conf_parse *p)
{
	static const enum conf_key keys[] = { CONF_DELIVER, CONF_SOURCE };
	size_t i, n = strlen(p->reason);

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (conf_is_kept(p, keys[i]) && n < sizeof(p->reason))
			n += (size_t)snprintf(p->reason + n,
			    sizeof(p->reason) - n,
			    "; %s stays \"%s\" until a restart of the service",
			    conf_rule(keys[i])->name,
			    conf_str(&p->conf, keys[i]));
}

/*
 * Reads the secrets and checks the values with deliver and source as they stay
 * in force: until the restart, the daemon must work with this file.
 */
static void
check_in_force(struct conf_parse *p)
{
	unsigned before = p->errors;

	if (p->errors == 0 &&
	    (conf_is_kept(p, CONF_DELIVER) || conf_is_kept(p, CONF_SOURCE)))
		conf_check_fan_in(p);
	conf_kept_swap(p);
	/* Without valid JSON there are no values to check. */
	if (p->errors == 0 || p->root != NULL)
		conf_secrets_read(p);
	if (p->errors == 0)
		check_safe_paths(p);
	if (p->errors == 0)
		conf_check_all(p);
	if (before == 0 && p->errors != 0)
		kept_explain(p);
	conf_kept_swap(p);
}

void
conf_parse_file(struct conf_parse *p, int explicit_path)
{
	const char *why;
	unsigned mode = 0, owner = 0;
	size_t len = 0;
	char *text;

	text = conf_file_read(p->path, CONF_FILE_MAX, &len, &mode, &owner,
	    &why);
	if (text != NULL) {
		conf_parse_text(p, text, len);
		explicit_bzero(text, len);
		free(text);
		check_mode(p, mode);
	} else if (errno == ENOENT && !explicit_path)
		log_info("%s: %s, all keys have their defaults", p->path, why);
	else
		conf_error(p, NULL, NULL, "%s", why);
	ctl_sock_derive(p);
	check_in_force(p);
	if (p->errors == 0)
		conf_users_resolve(p);
}
