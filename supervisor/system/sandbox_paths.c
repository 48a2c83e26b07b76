/* SPDX-License-Identifier: MIT */
/*
 * The sandbox message of each worker: paths, limits and user.  The listener,
 * the collector, the exporter and the receiver open no file, the submitter its
 * spool.  The runner has no rules by path: each command gets its own when it
 * starts (runner/confine).
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/destination.h"
#include "supervisor/system/system.h"

/* Limits: descriptors; processes where the worker has its own uid. */
#define LISTENER_NOFILE	 1024
#define COLLECTOR_NOFILE 128
#define RUNNER_NOFILE	 512
#define SUBMITTER_NOFILE 512
#define EXPORTER_NOFILE	 64 /* connections, twice */
#define RECEIVER_NOFILE	 64 /* connections, twice */
/*
 * Threads of libnats and curl.  All daemons of a host have the same user: so many
 * are enough for 50.
 */
#define SUBMITTER_NPROC 512
#define RECEIVER_NPROC	512
/* slurmUser may be the user of slurmctld, whose threads count, too. */
#define RUNNER_NPROC 4096

#define DNS_PORT 53 /* a long answer of a name server needs TCP */

/* Slurm's commands may read these; see runner/confine/paths.c. */
static const char *const readable[] = { "/usr", "/lib", "/etc/slurm",
	"/etc/slurm-llnl", "/run/slurm" };

static int
is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0');
}

/* Is path in the directory of slurm.conf, or below a path of a list? */
static int
is_readable(const struct conf *conf, const char *path)
{
	const char *list = conf_str(conf, CONF_SLURM_EXTRA_PATHS);
	char item[PATH_MAX], *slash;
	size_t i;
	unsigned n;

	for (i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
		if (is_below(path, readable[i]))
			return 1;
	for (n = 0; conf_list_item(list, n, item, sizeof(item)) == 1; n++)
		if (is_below(path, item))
			return 1;
	snprintf(item, sizeof(item), "%s", conf_str(conf, CONF_SLURM_CONF));
	slash = strrchr(item, '/');
	if (slash == NULL)
		return 0;
	*slash = '\0';
	/*
	 * If slurm.conf is in a directory directly below /, only the file is
	 * readable.
	 */
	return item[0] != '\0' && strchr(item + 1, '/') != NULL &&
	    is_below(path, item);
}

static void
readable_warn(const struct conf *conf, const char *path,
    struct log_limit *limit)
{
	char real[PATH_MAX];

	if (path != NULL && *path != '\0' && realpath(path, real) != NULL &&
	    is_readable(conf, real))
		log_limited(limit, log_warnx,
		    "%s is in a directory that Slurm's commands may read: move "
		    "it to another directory",
		    path);
}

void
secrets_warn(const struct setup *setup, const struct conf *conf)
{
	static const enum conf_key files[] = { CONF_CC_REST_JWT_FILE,
		CONF_NATS_CREDS_FILE, CONF_NATS_NKEY_SEED_FILE,
		CONF_NATS_KEY_FILE };
	static struct log_limit limits[sizeof(files) / sizeof(files[0]) + 2];
	size_t i, n = sizeof(files) / sizeof(files[0]);

	for (i = 0; i < n; i++)
		readable_warn(conf, conf_str(conf, files[i]), &limits[i]);
	readable_warn(conf, setup->config_path, &limits[n]);
	readable_warn(conf, setup->spool_dir, &limits[n + 1]);
}

/* With -test, path is NULL.  Out of memory is an error, not "no chroot". */
static int
root_set(struct sandbox *sb, const char *path)
{
	if (path == NULL)
		return 0;
	sb->root = strdup(path);
	return sb->root != NULL ? 0 : -1;
}

/* Listener, collector and exporter: no file, no process. */
static int
closed_fill(const struct setup *setup, struct sandbox *sb, uint64_t nofile)
{
	sb->nofile = nofile;
	sb->nproc = 0;
	sb->fsize = 0;
	return root_set(sb, setup->empty_dir);
}

static int
runner_fill(struct sandbox *sb)
{
	sb->nofile = RUNNER_NOFILE;
	sb->nproc = RUNNER_NPROC;
	return 0;
}

/*
 * The ports of name servers, and of cc-backend and the brokers if this worker
 * connects to them.  The worker refuses a list of more brokers than fit, with the
 * reason.
 */
static void
ports_fill(const struct conf *conf, struct sandbox *sb)
{
	uint16_t port = (uint16_t)conf_int(conf, CONF_NATS_PORT);
	char item[HOST_MAX + 32];
	struct destination d;
	const char *list;
	size_t n;

	(void)sandbox_allow_port(sb, DNS_PORT);
	if (sb->role == ROLE_SUBMITTER && !conf_delivers_to_stream(conf) &&
	    destination_parse_url(&d, conf_str(conf, CONF_CC_REST_URL)) == 0)
		(void)sandbox_allow_port(sb, d.port);
	if (!conf_is_for(conf, CONF_NATS_SERVER, sb->role))
		return;
	for (list = conf_str(conf, CONF_NATS_SERVER);
	     *(list += strspn(list, ", \t")) != '\0'; list += n) {
		n = strcspn(list, ", \t");
		snprintf(item, sizeof(item), "%.*s", (int)n, list);
		if (destination_parse(&d, item, port, 0) == 0)
			(void)sandbox_allow_port(sb, d.port);
	}
}

int
sandbox_ports_differ(const struct conf *a, const struct conf *b, enum role role)
{
	struct {
		uint16_t ports[SANDBOX_PORTS_MAX];
		unsigned n;
	} of[2];
	const struct conf *const conf[2] = { a, b };
	static struct sandbox sb; /* large; one at a time */
	int i;

	for (i = 0; i < 2; i++) {
		sandbox_init(&sb, role);
		ports_fill(conf[i], &sb);
		memcpy(of[i].ports, sb.ports, sizeof(sb.ports));
		of[i].n = sb.n_ports;
	}
	return of[0].n != of[1].n ||
	    memcmp(of[0].ports, of[1].ports, of[0].n * sizeof(uint16_t)) != 0;
}

static int
submitter_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb)
{
	sb->nofile = SUBMITTER_NOFILE;
	sb->nproc = SUBMITTER_NPROC;
	ports_fill(conf, sb);
	if (root_set(sb, setup->spool_dir) == -1)
		return -1;
	if (sb->root != NULL &&
	    sandbox_allow(sb, sb->root, SANDBOX_READ | SANDBOX_WRITE) == -1)
		return -1;
	return 0;
}

/* Connects to the brokers; no file. */
static int
receiver_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb)
{
	sb->nofile = RECEIVER_NOFILE;
	sb->nproc = RECEIVER_NPROC;
	sb->fsize = 0;
	ports_fill(conf, sb);
	return root_set(sb, setup->empty_dir);
}

int
sandbox_paths_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb)
{
	const struct identity *id = &setup->identity[sb->role];

	sb->mode = setup->mode;
	sb->as_root = setup->as_root;
	sb->uid = id->uid;
	sb->gid = id->gid;
	memcpy(sb->groups, id->groups, sizeof(sb->groups));
	sb->n_groups = id->n_groups;
	switch (sb->role) {
	case ROLE_LISTENER:
		return closed_fill(setup, sb, LISTENER_NOFILE);
	case ROLE_COLLECTOR:
		return closed_fill(setup, sb, COLLECTOR_NOFILE);
	case ROLE_EXPORTER:
		return closed_fill(setup, sb, EXPORTER_NOFILE);
	case ROLE_RECEIVER:
		return receiver_fill(setup, conf, sb);
	case ROLE_RUNNER:
		return runner_fill(sb);
	default:
		return submitter_fill(setup, conf, sb);
	}
}
