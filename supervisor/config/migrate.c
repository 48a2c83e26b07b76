/* SPDX-License-Identifier: MIT */
/*
 * `cc-slurm-adapter -migrate`: reads the configuration of the Go adapter or of
 * cc-slurm-sync and prints ours.  JSON has no comments, so the explanations go
 * to standard error, one line for each changed key, as compilers print errors.
 * The process lives for one file and is limited as the parser is.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text/text.h"
#include "supervisor/config/config_file.h"

#define KEY_SHOWN_MAX 128 /* bytes of a key in a message */
#define PATH_BYTES    1000
#define URL_BYTES     2048

struct migration {
	struct conf_parse in;
	json_t *values[CONF__COUNT]; /* owned; NULL = not in the result */
	unsigned changes;
	int failed; /* out of memory */
};

/* "FILE:LINE: KEY: SUB: text" on standard error. */
static void __attribute__((format(printf, 4, 0)))
explain(const struct migration *m, const char *key, const char *sub,
    const char *fmt, va_list ap)
{
	char shown[KEY_SHOWN_MAX];
	int line = conf_lines_find(m->in.lines, key, sub);

	if (line == 0)
		line = conf_lines_find(m->in.lines, key, NULL);
	fprintf(stderr, "%s:%d: %s: ", m->in.path, line,
	    text_vis(key, shown, sizeof(shown)));
	if (sub != NULL)
		fprintf(stderr, "%s: ", text_vis(sub, shown, sizeof(shown)));
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
}

/* The key of the input is not the same in the result. */
static void __attribute__((format(printf, 4, 5))) changed(struct migration *m,
    const char *key, const char *sub, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	explain(m, key, sub, fmt, ap);
	va_end(ap);
	m->changes++;
}

/* A note about a key that keeps its name and its value. */
static void __attribute__((format(printf, 3, 4)))
advise(const struct migration *m, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	explain(m, key, NULL, fmt, ap);
	va_end(ap);
}

/* Takes value, which may be NULL for lack of memory. */
static void
value_set(struct migration *m, enum conf_key key, json_t *value)
{
	json_decref(m->values[key]);
	m->values[key] = value;
	m->failed |= value == NULL;
}

static const char *
value_text(const struct migration *m, enum conf_key key)
{
	const char *text = json_string_value(m->values[key]);

	return text != NULL ? text : "";
}

/* --- cc-slurm-sync --- */

/* The directory of the commands, if all have the same. */
static void
commands_migrate(struct migration *m, const char *key, const json_t *slurm)
{
	static const char *const names[] = { "squeue", "sacct", "scontrol" };
	char dir[PATH_BYTES] = "";
	const char *path, *slash;
	size_t i, n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path = json_string_value(json_object_get(slurm, names[i]));
		slash = path != NULL ? strrchr(path, '/') : NULL;
		if (slash == NULL || slash == path)
			continue;
		n = (size_t)(slash - path);
		if (n >= sizeof(dir) ||
		    (dir[0] != '\0' &&
			(strncmp(dir, path, n) != 0 || dir[n] != '\0'))) {
			changed(m, key, names[i],
			    "removed: all commands of Slurm must be in one "
			    "directory, slurmBinDir");
			continue;
		}
		snprintf(dir, sizeof(dir), "%.*s", (int)n, path);
	}
	if (json_object_get(slurm, "state_save_location") != NULL)
		changed(m, key, "state_save_location",
		    "removed: the daemon reads job scripts with scontrol");
	if (dir[0] == '\0') {
		changed(m, key, NULL,
		    "removed: the commands are searched in the directory that "
		    "configure has set; slurmBinDir changes it");
		return;
	}
	value_set(m, CONF_SLURM_BIN_DIR, json_string(dir));
	changed(m, key, NULL, "is slurmBinDir, the directory of all commands");
}

static void
backend_migrate(struct migration *m, const char *key, const json_t *backend)
{
	const char *host = json_string_value(json_object_get(backend, "host"));
	json_t *token = json_object_get(backend, "apikey");
	char url[URL_BYTES];
	int has_scheme;

	if (host != NULL) {
		has_scheme = strstr(host, "://") != NULL;
		if (snprintf(url, sizeof(url), "%s%s",
			has_scheme ? "" : "https://",
			host) >= (int)sizeof(url)) {
			conf_error(&m->in, key, "host", "is too long");
			return;
		}
		value_set(m, CONF_CC_REST_URL, json_string(url));
		changed(m, key, "host", "is ccRestUrl%s",
		    has_scheme ? "" : ", with https://");
	}
	if (token != NULL) {
		value_set(m, CONF_CC_REST_JWT, json_incref(token));
		changed(m, key, "apikey", "is ccRestJwt");
	}
}

/* An object with the members of value in reverse order.  Owned, or NULL. */
static json_t *
object_reverse(json_t *value)
{
	size_t n = json_object_size(value), i = 0;
	const char **names = calloc(n + 1, sizeof(*names));
	json_t *all = json_object();
	void *at = json_object_iter(value);

	for (; names != NULL && at != NULL && i < n; i++) {
		names[i] = json_object_iter_key(at);
		at = json_object_iter_next(value, at);
	}
	while (names != NULL && all != NULL && i-- > 0)
		if (json_object_set(all, names[i],
			json_object_get(value, names[i])) == -1) {
			json_decref(all);
			all = NULL;
		}
	if (names == NULL) {
		json_decref(all);
		all = NULL;
	}
	free(names);
	return all;
}

/* cc-slurm-sync uses the last matching prefix, this daemon the first one. */
static void
accelerators_migrate(struct migration *m, const char *key, json_t *value)
{
	value_set(m, CONF_GPU_PCI_ADDRS, object_reverse(value));
	changed(m, key, NULL,
	    "is gpuPciAddrs%s; the daemon counts only the generic resources of "
	    "gpuGresNames, by default \"gpu\"",
	    json_object_size(value) > 1 ?
		", in reverse order: the first matching prefix counts" :
		"");
}

/* 1 when the key is one of cc-slurm-sync. */
static int
sync_key_migrate(struct migration *m, const char *key, json_t *value)
{
	if (strcmp(key, "slurm") == 0 && json_is_object(value))
		commands_migrate(m, key, value);
	else if (strcmp(key, "cc-backend") == 0 && json_is_object(value))
		backend_migrate(m, key, value);
	else if (strcmp(key, "accelerators") == 0 && json_is_object(value))
		accelerators_migrate(m, key, value);
	else if (strcmp(key, "clustername") == 0)
		changed(m, key, NULL,
		    "removed: the daemon uses the name in Slurm; if cc-backend "
		    "has another name, set clusterNames");
	else if (strcmp(key, "node_regex") == 0)
		changed(m, key, NULL,
		    "removed: the daemon gets the names of hosts from Slurm; "
		    "ignoreHosts omits jobs on certain hosts");
	else if (strcmp(key, "pidfile") == 0)
		changed(m, key, NULL,
		    "removed: the daemon has its own pid file, pidFilePath");
	else if (strcmp(key, "cluster_info") == 0)
		changed(m, key, NULL, "removed: there is no counterpart");
	else
		return 0;
	return 1;
}

/* --- the Go adapter --- */

static int
key_find(const char *name, enum conf_key *key)
{
	int i;

	if (conf_key_find(name, key))
		return 1;
	for (i = 0; i < CONF__COUNT; i++)
		if (strcasecmp(conf_rule(i)->name, name) == 0) {
			*key = i;
			return 1;
		}
	return 0;
}

static void
unknown_migrate(struct migration *m, const char *name)
{
	const char *obsolete = conf_key_obsolete(name);
	const char *guess = conf_key_guess(name);

	if (obsolete != NULL)
		changed(m, name, NULL, "%s", obsolete);
	else if (guess != NULL)
		changed(m, name, NULL,
		    "removed: the key is unknown; probably %s is meant", guess);
	else
		changed(m, name, NULL, "removed: the key is unknown");
}

/* The parser has accepted the value and uses a larger one. */
static void
small_migrate(struct migration *m, const char *name, enum conf_key key)
{
	long long used = conf_int(&m->in.conf, key);

	value_set(m, key, json_integer(used));
	changed(m, name, NULL,
	    "is %lld, which the daemon uses for a smaller value", used);
}

static void
key_migrate(struct migration *m, const char *name, json_t *value)
{
	const char *right;
	enum conf_key key;

	if (json_is_null(value)) {
		changed(m, name, NULL, "removed: null means the default");
		return;
	}
	if (!key_find(name, &key)) {
		if (!sync_key_migrate(m, name, value))
			unknown_migrate(m, name);
		return;
	}
	right = conf_rule(key)->name;
	if (strcmp(right, name) != 0 &&
	    json_object_get(m->in.root, right) != NULL) {
		changed(m, name, NULL, "removed: %s is given, too", right);
		return;
	}
	if (strcmp(right, name) != 0)
		changed(m, name, NULL, "is spelled %s", right);
	if (conf_is_blank(&m->in, key, value))
		changed(m, name, NULL,
		    "removed: has no effect without natsServer");
	else if (json_is_integer(value) &&
	    json_integer_value(value) < conf_rule(key)->min)
		small_migrate(m, name, key);
	else
		value_set(m, key, json_incref(value));
}

/* 1 when the login is a file that does not exist. */
static int
file_is_missing(const struct migration *m, enum conf_key key)
{
	return conf_rule(key)->type == CONF_TYPE_SECRET_FILE &&
	    access(value_text(m, key), F_OK) == -1 && errno == ENOENT;
}

/* The daemon uses one login; the Go adapter's example has all of them. */
static void
logins_reduce(struct migration *m)
{
	enum conf_key used = conf_nats_login(&m->in);
	static const enum conf_key logins[] = { CONF_NATS_CREDS_FILE,
		CONF_NATS_NKEY_SEED_FILE, CONF_NATS_TOKEN, CONF_NATS_USER,
		CONF_NATS_PASSWORD };
	size_t i;

	if (used == CONF__COUNT)
		return;
	for (i = 0; i < sizeof(logins) / sizeof(logins[0]); i++) {
		if (m->values[logins[i]] == NULL || logins[i] == used ||
		    (used == CONF_NATS_USER && logins[i] == CONF_NATS_PASSWORD))
			continue;
		changed(m, conf_rule(logins[i])->name, NULL,
		    "removed: %sthe NATS login is %s",
		    file_is_missing(m, logins[i]) ?
			"the file does not exist; " :
			"",
		    conf_rule(used)->name);
		json_decref(m->values[logins[i]]);
		m->values[logins[i]] = NULL;
	}
}

/*
 * The Go adapter has no key for its clusters.  A file of cc-slurm-sync is for
 * one cluster.
 */
static void
clusters_advise(const struct migration *m)
{
	if (m->values[CONF_CLUSTERS] != NULL ||
	    m->values[CONF_SOURCE] != NULL ||
	    json_object_get(m->in.root, "clustername") != NULL)
		return;
	fprintf(stderr,
	    "%s: the daemon reports only the cluster of slurm.conf, the Go "
	    "adapter each one that `sacctmgr show cluster` prints; `clusters` "
	    "names several\n",
	    m->in.path);
}

static void
advices(const struct migration *m)
{
	struct conf_address listen;
	const char *connect = value_text(m, CONF_PREP_CONNECT);

	if (conf_address_parse(value_text(m, CONF_PREP_LISTEN), &listen) == 0 &&
	    listen.kind == CONF_ADDRESS_TCP &&
	    m->values[CONF_PREP_ALLOWED_HOSTS] == NULL)
		advise(m, conf_rule(CONF_PREP_LISTEN)->name,
		    "the daemon accepts hooks of its own host only; "
		    "prepAllowedHosts allows other hosts");
	if (*connect != '\0' &&
	    strcmp(connect, conf_rule(CONF_PREP_CONNECT)->def) != 0)
		advise(m, conf_rule(CONF_PREP_CONNECT)->name,
		    "the hook reads it only if SlurmUser can read the file; "
		    "otherwise call the hook with -socket ADDRESS");
	clusters_advise(m);
	if (m->values[CONF_CC_REST_JWT] != NULL)
		fprintf(stderr,
		    "%s: the result contains the token: only root and the user "
		    "of the daemon may read it; ccRestJwtFile keeps the token "
		    "in another file\n",
		    m->in.path);
}

/* --- the result --- */

/* Keys of one subject are together.  Returns owned, NULL when out of memory. */
static json_t *
result_make(const struct migration *m)
{
	json_t *all = json_object();
	int key;

	for (key = 0; all != NULL && key < CONF__COUNT; key++)
		if (m->values[key] != NULL &&
		    json_object_set(all, conf_rule(key)->name,
			m->values[key]) == -1) {
			json_decref(all);
			all = NULL;
		}
	return all;
}

/* A value that the daemon would refuse is an error, with its key. */
static int
result_check(const struct migration *m, const json_t *all)
{
	char *text = json_dumps(all, JSON_INDENT(2)), path[PATH_BYTES];
	json_free_t free_text;
	json_malloc_t unused;
	struct conf_parse p;
	int ok = 0;

	json_get_alloc_funcs(&unused, &free_text);
	snprintf(path, sizeof(path), "%s, migrated", m->in.path);
	conf_parse_init(&p, path);
	if (text != NULL) {
		conf_parse_text(&p, text, strlen(text));
		conf_check_logins(&p);
		ok = p.errors == 0;
		if (ok)
			ok = printf("%s\n", text) > 0 && fflush(stdout) == 0;
	} else
		log_errorx("out of memory");
	conf_parse_clear(&p);
	free_text(text);
	return ok ? 0 : -1;
}

static int
file_load(struct migration *m)
{
	unsigned mode = 0, owner = 0;
	const char *why;
	size_t len = 0;
	char *text = conf_file_read(m->in.path, CONF_FILE_MAX, &len, &mode,
	    &owner, &why);

	if (text == NULL) {
		conf_error(&m->in, NULL, NULL, "%s", why);
		return -1;
	}
	conf_parse_text(&m->in, text, len);
	explicit_bzero(text, len);
	free(text);
	return m->in.errors == 0 ? 0 : -1;
}

static int
result_print(struct migration *m)
{
	json_t *all;
	int rc = -1;

	if (m->failed || (all = result_make(m)) == NULL) {
		log_errorx("out of memory");
		return -1;
	}
	if (m->in.errors == 0)
		rc = result_check(m, all);
	json_decref(all);
	return rc;
}

int
migrate_run(const char *path)
{
	struct migration m = { .failed = 0 };
	const char *name;
	json_t *value;
	int key, rc = -1;

	parser_limits();
	conf_parse_init(&m.in, path);
	if (file_load(&m) == 0) {
		json_object_foreach(m.in.root, name, value)
		    key_migrate(&m, name, value);
		logins_reduce(&m);
		advices(&m);
		rc = result_print(&m);
	}
	if (rc == 0)
		fprintf(stderr, "%s: %u key%s changed\n", path, m.changes,
		    m.changes == 1 ? "" : "s");
	for (key = 0; key < CONF__COUNT; key++)
		json_decref(m.values[key]);
	conf_parse_clear(&m.in);
	return rc == 0 ? 0 : 1;
}
