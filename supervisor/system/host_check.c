/* SPDX-License-Identifier: MIT */
/*
 * The checks of -test on this host: the spool, the socket of the hooks, and the
 * scripts of slurmctld (script_check.c).  Nothing is changed, and no
 * connection is made: a running daemon does not notice the test.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/config/config_file.h"
#include "supervisor/system/system.h"

#define GIB (1024.0 * 1024 * 1024)

struct host_check {
	const struct setup *setup;
	const struct conf *conf;
	long daemon; /* pid of a running daemon; 0 = none */
	FILE *out;
};

/* --- the spool --- */

/* Cuts path to the deepest directory that exists; st is its state. */
static void
existing_find(char *path, struct stat *st)
{
	char *slash;

	while (stat(path, st) == -1 && (slash = strrchr(path, '/')) != NULL) {
		if (slash == path) {
			path[1] = '\0';
			if (stat(path, st) == -1)
				memset(st, 0, sizeof(*st));
			return;
		}
		*slash = '\0';
	}
}

/* 1 when the daemon takes the directory over at its start, or owns it. */
static int
spool_owner_is_ours(const struct setup *setup, const struct stat *st)
{
	if (st->st_uid == setup->identity[ROLE_SUBMITTER].uid)
		return 1;
	return setup->as_root &&
	    (st->st_uid == 0 || st->st_uid == setup->identity[ROLE_RUNNER].uid);
}

static void
spool_space(const struct host_check *h, const char *path, const char *at,
    const struct statvfs *fs)
{
	double bytes = (double)fs->f_bavail * (double)fs->f_frsize;
	double most = (double)conf_int(h->conf, CONF_SPOOL_MAX_BYTES);
	const char *made = strcmp(path, at) == 0 ? "" : " (made at the start)";

	if (bytes < most)
		fprintf(h->out,
		    "warn spool %s%s: %.1f GiB free, less than spoolMaxBytes "
		    "(%.1f GiB); make space on the file system of %s: df -h "
		    "%s\n",
		    path, made, bytes / GIB, most / GIB, at, at);
	else
		fprintf(h->out, "ok spool %s%s: writable, %.1f GiB free\n",
		    path, made, bytes / GIB);
}

/*
 * A directory above that is missing may be made by the unit (StateDirectory=);
 * the owner of one that exists above it, such as /var/lib, must not change.
 */
static void
spool_unwritable(const struct host_check *h, const char *path, const char *at)
{
	int parent = (int)(strrchr(path, '/') - path);
	unsigned uid = (unsigned)geteuid();

	if ((int)strlen(at) >= parent)
		fprintf(h->out,
		    "FAIL spool %s: user %u cannot write to %s; run as root: "
		    "chown %u %s\n",
		    path, uid, at, uid, at);
	else
		fprintf(h->out,
		    "warn spool %s: user %u cannot make %.*s; if "
		    "StateDirectory= of the unit does not make it, run as "
		    "root: install -d -m 750 -o %u %.*s\n",
		    path, uid, parent, path, uid, parent, path);
}

/* at: the deepest directory of path that exists, with its state. */
static void
spool_report(const struct host_check *h, const char *path, const char *at,
    const struct stat *st)
{
	int exists = strcmp(path, at) == 0;
	struct statvfs fs;

	if (statvfs(at, &fs) == -1)
		fprintf(h->out, "FAIL spool %s: %s: %s; run: ls -ld %s\n", path,
		    at, strerror(errno), at);
	else if (!S_ISDIR(st->st_mode))
		fprintf(h->out,
		    "FAIL spool %s: %s is not a directory; set spoolDir or "
		    "lastRunPath\n",
		    path, at);
	else if ((fs.f_flag & ST_RDONLY) != 0)
		fprintf(h->out,
		    "FAIL spool %s: the file system is mounted read-only; run: "
		    "mount -o remount,rw \"$(df --output=target %s | tail -n "
		    "1)\"\n",
		    path, at);
	else if (exists && !spool_owner_is_ours(h->setup, st))
		fprintf(h->out,
		    "FAIL spool %s: belongs to user %u; run as root: chown -R "
		    "%u %s\n",
		    path, (unsigned)st->st_uid,
		    (unsigned)h->setup->identity[ROLE_SUBMITTER].uid, path);
	else if (!h->setup->as_root && access(at, W_OK | X_OK) == -1)
		spool_unwritable(h, path, at);
	else
		spool_space(h, path, at, &fs);
}

/* The start refuses a link at the end of the path of a directory. */
static int
links_report(const struct host_check *h, const char *spool)
{
	const char *last_run = conf_str(h->conf, CONF_LAST_RUN);
	char state[PATH_MAX], why[2 * PATH_MAX + 128];

	snprintf(state, sizeof(state), "%.*s",
	    (int)(strrchr(last_run, '/') - last_run), last_run);
	if (!directory_is_link(state, why, sizeof(why)) &&
	    !directory_is_link(spool, why, sizeof(why)))
		return 0;
	fprintf(h->out, "FAIL spool %s: %s\n", spool, why);
	return 1;
}

static void
spool_check(const struct host_check *h)
{
	const char *named = conf_str(h->conf, CONF_SPOOL_DIR);
	char at[PATH_MAX], why[2 * PATH_MAX + 512], *path;
	struct stat st;

	why[0] = '\0';
	path = *named != '\0' ?
	    strdup(named) :
	    spool_path_look(conf_str(h->conf, CONF_LAST_RUN), why, sizeof(why));
	if (path == NULL && why[0] != '\0')
		fprintf(h->out, "FAIL spool: %s\n", why);
	if (path == NULL)
		return;
	if (!links_report(h, path)) {
		snprintf(at, sizeof(at), "%s", path);
		existing_find(at, &st);
		spool_report(h, path, at, &st);
	}
	free(path);
}

/* --- the socket of the hooks --- */

/*
 * The kernel's list, so that no connection is made.  Columns: number, count,
 * protocol, flags (00010000: accepts connections), type, state, inode, path.
 */
static int
is_listening(const char *path)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[PATH_MAX], flags[16];
	const char *at;
	int found = 0;

	if (f == NULL)
		return 0;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, '/');
		found = at != NULL && strcmp(at, path) == 0 &&
		    sscanf(line, "%*s %*s %*s %15s", flags) == 1 &&
		    (strtoul(flags, NULL, 16) & 0x10000) != 0;
	}
	fclose(f);
	return found;
}

static void
unix_check(const struct host_check *h, const char *path)
{
	char why[512];
	struct stat st;
	int exists = lstat(path, &st) == 0;

	if (exists && !S_ISSOCK(st.st_mode))
		fprintf(h->out,
		    "FAIL hook socket %s: the path is not a socket; run: rm "
		    "%s\n",
		    path, path);
	else if (hook_directory_is_closed(h->setup, path, why, sizeof(why)))
		fprintf(h->out, "warn hook socket %s: %s\n", path, why);
	else if (h->daemon != 0 && !is_listening(path))
		fprintf(h->out,
		    "warn hook socket %s: the daemon (pid %ld) does not listen "
		    "there; run: systemctl restart cc-slurm-adapter\n",
		    path, h->daemon);
	else if (h->daemon != 0)
		fprintf(h->out,
		    "ok hook socket %s: the daemon (pid %ld) listens\n", path,
		    h->daemon);
	else if (is_listening(path))
		fprintf(h->out,
		    "warn hook socket %s: another program listens there; stop "
		    "it before the daemon is started: ss -xlp src %s\n",
		    path, path);
	else
		fprintf(h->out,
		    "ok hook socket %s: the daemon makes it at the start\n",
		    path);
}

/* 0 when the port is free or the address is not known, else errno. */
static int
port_try(const struct conf_address *a)
{
	struct addrinfo hints = { .ai_family = a->family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list;
	int yes = 1, fd, err = 0;

	if (getaddrinfo(a->host[0] != '\0' ? a->host : NULL, a->port, &hints,
		&list) != 0)
		return 0;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd != -1) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (bind(fd, list->ai_addr, list->ai_addrlen) == -1)
			err = errno;
		close(fd);
	}
	freeaddrinfo(list);
	return err;
}

static void
tcp_check(const struct host_check *h, const struct conf_address *a)
{
	const char *value = conf_str(h->conf, CONF_PREP_LISTEN);

	if (h->daemon != 0)
		fprintf(h->out,
		    "ok hook socket %s: the daemon (pid %ld) runs\n", value,
		    h->daemon);
	else if (port_try(a) == EADDRINUSE)
		fprintf(h->out,
		    "warn hook socket %s: another program uses the port; stop "
		    "it before the daemon is started: ss -ltnp 'sport = :%s'\n",
		    value, a->port);
	else
		fprintf(h->out,
		    "ok hook socket %s: the daemon makes it at the start\n",
		    value);
}

static void
socket_check(const struct host_check *h)
{
	struct conf_address a;

	if (conf_address_parse(conf_str(h->conf, CONF_PREP_LISTEN), &a) == -1)
		return; /* the parser has refused it */
	if (a.kind == CONF_ADDRESS_TCP)
		tcp_check(h, &a);
	else
		unix_check(h, a.path);
}

void
host_check(const struct setup *setup, const struct conf *conf,
    char *const *hooks, size_t n, FILE *out)
{
	const struct host_check h = { .setup = setup,
		.conf = conf,
		.daemon = pidfile_holder(conf_str(conf, CONF_PID_FILE)),
		.out = out };
	size_t i;

	for (i = 0; i < n; i++)
		scripts_check(setup, hooks[i], out);
	spool_check(&h);
	if (worker_is_wanted(conf, ROLE_LISTENER))
		socket_check(&h);
}
