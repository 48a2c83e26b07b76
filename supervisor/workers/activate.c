/* SPDX-License-Identifier: MIT */
/*
 * The messages to a worker when its configuration comes into force: conf-commit
 * and, the first time, its descriptors.
 */
#include "config.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/system/path_watch.h"
#include "supervisor/workers/workers.h"

#define LISTEN_UNIX 1
#define LISTEN_TCP  2

/* The workers that resolve names cannot open these files in their sandbox. */
static struct resolver_file {
	enum msg_file which;
	const char *path;
	struct {
		/* mtime of the content sent last, or too long to be sent */
		struct timespec changed;
		ino_t inode;
	} sent[ROLE__COUNT];
} resolver_file[] = {
	{ .which = MSG_FILE_RESOLV_CONF, .path = "/etc/resolv.conf" },
	{ .which = MSG_FILE_HOSTS, .path = "/etc/hosts" },
};
#define RESOLVER_FILES (sizeof(resolver_file) / sizeof(resolver_file[0]))

static void
descriptor_send(struct child *c, enum msg_type type, const struct writer *w,
    int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy == -1)
		log_error("cannot duplicate the descriptor for %s",
		    msg_name(type));
	else
		channel_send(c->channel, type, 0, w, copy);
}

/*
 * The page is sealed: if the worker could shrink it, the supervisor would read
 * past its end.
 */
static void
inflight_send(struct child *c)
{
	int fd;

	inflight_free(c->inflight);
	c->inflight = inflight_new(&fd);
	if (c->inflight == NULL) {
		log_warn("cannot make the page for crashes of the %s",
		    role_name(c->role));
		return;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ==
	    -1) {
		log_warn("cannot seal the page for crashes of the %s",
		    role_name(c->role));
		inflight_free(c->inflight);
		c->inflight = NULL;
		close(fd);
		return;
	}
	channel_send(c->channel, MSG_INFLIGHT, 0, NULL, fd);
}

static void
listen_send(struct child *c)
{
	const struct setup *setup = c->workers->setup;
	struct writer w;
	unsigned i;

	if (sockets_hook_repair(c->workers->setup, c->workers->conf) == -1)
		return;
	wr_init(&w, 1);
	wr_u8(&w, setup->listen_tcp ? LISTEN_TCP : LISTEN_UNIX);
	for (i = 0; i < setup->n_listen; i++)
		descriptor_send(c, MSG_LISTEN, &w, setup->listen_fds[i]);
	wr_clear(&w);
}

static void
metrics_listen_send(struct child *c)
{
	const struct setup *setup = c->workers->setup;
	struct writer w;

	wr_init(&w, 1);
	socket_linger_clear(setup->metrics_fd);
	wr_u8(&w, setup->metrics_path != NULL ? LISTEN_UNIX : LISTEN_TCP);
	descriptor_send(c, MSG_LISTEN, &w, setup->metrics_fd);
	wr_clear(&w);
}

static int
file_read(const char *path, struct writer *w, struct stat *st)
{
	uint8_t buf[4096];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd == -1)
		return -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
	    st->st_size <= MSG_FILE_MAX) {
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			wr_mem(w, buf, (size_t)n);
	}
	close(fd);
	return n == 0 && wr_end(w) == 0 ? 0 : -1;
}

static void
file_send(struct child *c, struct resolver_file *f)
{
	struct writer bytes, w;
	struct stat st = { 0 };
	int rc;

	wr_init(&bytes, MSG_FILE_MAX);
	wr_init(&w, MSG_FILE_MAX + 16);
	rc = file_read(f->path, &bytes, &st);
	if (rc == 0 || st.st_size > MSG_FILE_MAX) {
		f->sent[c->role].changed = st.st_mtim;
		f->sent[c->role].inode = st.st_ino;
	}
	if (rc == 0) {
		wr_u8(&w, (uint8_t)f->which);
		wr_blob(&w, bytes.buf, bytes.len);
		channel_send(c->channel, MSG_FILE, 0, &w, -1);
	} else if (st.st_size > MSG_FILE_MAX)
		log_warnx("%s is not sent to the %s: it has %lld bytes, the "
			  "limit is %u",
		    f->path, role_name(c->role), (long long)st.st_size,
		    MSG_FILE_MAX);
	else
		log_info("%s is not sent to the %s: not readable", f->path,
		    role_name(c->role));
	wr_clear(&bytes);
	wr_clear(&w);
}

void
resolver_files_send(struct child *c)
{
	size_t i;

	for (i = 0; i < RESOLVER_FILES; i++)
		file_send(c, &resolver_file[i]);
}

int
resolver_files_watch(struct path_watch *pw)
{
	size_t i;

	for (i = 0; i < RESOLVER_FILES; i++)
		if (path_watch_add(pw, resolver_file[i].path) == -1)
			return -1;
	return 0;
}

/* 1 when this role has another content of the file, or none. */
static int
is_changed(const struct resolver_file *f, enum role role)
{
	const struct timespec *changed = &f->sent[role].changed;
	struct stat st;

	return stat(f->path, &st) == 0 &&
	    (st.st_ino != f->sent[role].inode ||
		st.st_mtim.tv_sec != changed->tv_sec ||
		st.st_mtim.tv_nsec != changed->tv_nsec);
}

void
resolver_files_check(struct workers *w)
{
	static const enum role roles[] = { ROLE_SUBMITTER, ROLE_RECEIVER };
	struct child *c;
	size_t i, k;

	for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
		c = &w->children[roles[k]];
		if (c->state != CHILD_READY || c->channel == NULL)
			continue;
		for (i = 0; i < RESOLVER_FILES; i++) {
			if (!is_changed(&resolver_file[i], c->role))
				continue;
			log_info("%s has changed; it is sent to the %s",
			    resolver_file[i].path, role_name(c->role));
			file_send(c, &resolver_file[i]);
		}
	}
}

void
worker_activate(struct child *c)
{
	struct writer w;

	if (c->channel == NULL)
		return;
	wr_init(&w, sizeof(uint32_t));
	wr_u32(&w, c->conf_agreed);
	channel_send(c->channel, MSG_CONF_COMMIT, 0, &w, -1);
	wr_clear(&w);
	c->conf_used = c->conf_agreed;
	if (c->state == CHILD_READY || c->has_descriptors)
		return;
	c->has_descriptors = 1;
	if (child_reads_records(c))
		inflight_send(c);
	quarantine_send_all(c);
	if (c->role == ROLE_LISTENER)
		listen_send(c);
	else if (c->role == ROLE_EXPORTER)
		metrics_listen_send(c);
	else if (c->role == ROLE_RUNNER)
		descriptor_send(c, MSG_LASTRUN, NULL,
		    c->workers->setup->lastrun);
	else if (c->role == ROLE_SUBMITTER || c->role == ROLE_RECEIVER)
		resolver_files_send(c);
}
