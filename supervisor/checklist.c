/* SPDX-License-Identifier: MIT */
/*
 * The checklist of -test.  The collector checks Slurm, the submitter checks
 * cc-backend and NATS, and a child process checks this host.  At the centre of
 * a fan-in, the receiver checks NATS and the streams, and the key clusters has
 * the names of the clusters.  Each part has a time limit; the list has a line
 * for a part without an answer.  A line begins with "ok", "warn" or "FAIL"; FAIL
 * means that the daemon does not start, or that other users can change its files.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text/text.h"
#include "supervisor/supervisor.h"

#define CHECKLIST_S    30   /* more than each worker takes for its part */
#define LINES_MAX      1024 /* three for each cluster, and others */
#define LINE_BYTES     2048
#define HOST_BYTES_MAX (64u * 1024)
#define HOOKS_MAX      16
#define CLUSTERS_MAX   256 /* as the key clusters */

/* Requests; that for cluster i is REQUEST_CLUSTER + i. */
enum {
	REQUEST_SLURM = 1,
	REQUEST_BACKEND,
	REQUEST_STREAM,
	REQUEST_CLUSTER
};

/* The parts that the list waits for, as bits; also the order of the lines. */
enum part {
	PART_CONFIG,
	PART_SLURM,
	PART_HOST,
	PART_BACKEND,
	PART_STREAM,
	PART_CLUSTERS,
	PART__COUNT
};

struct line {
	enum part part;
	char *text; /* owned: "ok ...", as it is printed */
};

static struct {
	struct supervisor *sup; /* NULL = not begun */
	unsigned waits;		/* 1u << enum part */
	struct line lines[LINES_MAX];
	unsigned n_lines;
	char *hooks[HOOKS_MAX]; /* owned: "PrologSlurmctld=/path" */
	size_t n_hooks;
	char *clusters[CLUSTERS_MAX]; /* owned */
	unsigned n_clusters;
	unsigned clusters_answered;
	struct event *host;	/* its pipe is readable */
	struct writer host_out; /* what the child has written */
	pid_t host_pid;
	struct event *deadline;
} list;

int
checklist_began(void)
{
	return list.sup != NULL;
}

int
checklist_has_pid(pid_t pid)
{
	return pid == list.host_pid;
}

/* Foreign text may contain control characters. */
static void __attribute__((format(printf, 3, 4)))
line_add(enum part part, const char *verdict, const char *fmt, ...)
{
	char text[LINE_BYTES], shown[LINE_BYTES];
	struct line *line;
	va_list ap;

	if (list.n_lines == LINES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line = &list.lines[list.n_lines];
	line->part = part;
	if (asprintf(&line->text, "%-4s %s", verdict,
		text_vis(text, shown, sizeof(shown))) == -1)
		fatalx("out of memory");
	list.n_lines++;
}

/* Prints the lines part by part.  1 when one of them is FAIL. */
static int
lines_print(void)
{
	unsigned part, i;
	int fails = 0;

	for (part = 0; part < PART__COUNT; part++)
		for (i = 0; i < list.n_lines; i++) {
			if (list.lines[i].part != part)
				continue;
			printf("%s\n", list.lines[i].text);
			fails |= strncmp(list.lines[i].text, "FAIL", 4) == 0;
		}
	return fails;
}

static void
list_finish(void)
{
	int fails = lines_print();

	list.waits = 0; /* an answer that is late has no effect */
	if (list.host_pid > 0)
		kill(list.host_pid, SIGKILL);
	event_del(list.deadline);
	if (!fails)
		printf("configuration OK\n");
	shutdown_begin(list.sup, "the checklist is complete", fails);
}

static void
part_done(enum part part)
{
	if ((list.waits & (1u << part)) == 0)
		return;
	list.waits &= ~(1u << part);
	if (list.waits == 0)
		list_finish();
}

/* --- this host --- */

static void
host_lines_add(void)
{
	char *text = (char *)list.host_out.buf, *line, *space;

	while ((line = strsep(&text, "\n")) != NULL) {
		space = strchr(line, ' ');
		if (space == NULL)
			continue;
		*space = '\0';
		line_add(PART_HOST, line, "%s", space + 1);
	}
}

static void
on_host(evutil_socket_t fd, short what, void *arg)
{
	uint8_t buf[4096];
	ssize_t n = read(fd, buf, sizeof(buf));

	(void)what;
	(void)arg;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && list.host_out.len + (size_t)n < HOST_BYTES_MAX) {
		wr_mem(&list.host_out, buf, (size_t)n);
		return;
	}
	event_del(list.host);
	list.host_pid = 0;
	wr_u8(&list.host_out, 0);
	if (wr_end(&list.host_out) == 0)
		host_lines_add();
	part_done(PART_HOST);
}

static void
host_child(int fd)
{
	FILE *out = fdopen(fd, "w");

	if (out != NULL) {
		host_check(&list.sup->setup, &list.sup->conf, list.hooks,
		    list.n_hooks, out);
		fclose(out);
	}
	_exit(0);
}

static void
host_begin(void)
{
	int fds[2];

	wr_init(&list.host_out, HOST_BYTES_MAX);
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == -1)
		fatal("cannot make a pipe for the checklist");
	fflush(stdout);
	list.host_pid = fork();
	if (list.host_pid == -1)
		fatal("cannot start a process for the checklist");
	if (list.host_pid == 0)
		host_child(fds[1]);
	close(fds[1]);
	list.host = event_new(list.sup->base, fds[0], EV_READ | EV_PERSIST,
	    on_host, NULL);
	if (list.host == NULL || event_add(list.host, NULL) == -1)
		fatalx("out of memory");
}

/* --- the workers --- */

static void
request_send(enum role role, uint64_t id, const char *text)
{
	struct child *c = &list.sup->workers.children[role];
	struct ctl_request req = { .magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.verb = CTL_CHECK };
	struct writer w;

	if (c->channel == NULL)
		return; /* its end follows, or the time limit */
	snprintf(req.text, sizeof(req.text), "%s", text);
	wr_init(&w, sizeof(req));
	wr_mem(&w, &req, sizeof(req));
	channel_send(c->channel, MSG_CTL, id, &w, -1);
	wr_clear(&w);
}

/* Slurm's names of the clusters and cc-backend's clusters are known. */
static void
clusters_begin(void)
{
	unsigned i;

	if ((list.waits & (1u << PART_SLURM | 1u << PART_BACKEND)) != 0)
		return;
	if (list.n_clusters == 0)
		part_done(PART_CLUSTERS);
	for (i = 0; i < list.n_clusters; i++)
		request_send(ROLE_SUBMITTER, REQUEST_CLUSTER + i,
		    list.clusters[i]);
}

static void
text_keep(char **texts, size_t *n, size_t max, const char *text)
{
	if (*n == max)
		return;
	texts[*n] = strdup(text);
	if (texts[(*n)++] == NULL)
		fatalx("out of memory");
}

static void
row_take(enum part part, const char *kind, const char *text)
{
	size_t n = list.n_clusters;

	if (strcmp(kind, "ok") == 0 || strcmp(kind, "warn") == 0)
		line_add(part, kind, "%s", text);
	else if (part == PART_SLURM && strcmp(kind, "hook") == 0)
		text_keep(list.hooks, &list.n_hooks, HOOKS_MAX, text);
	else if (part == PART_SLURM && strcmp(kind, "cluster") == 0) {
		text_keep(list.clusters, &n, CLUSTERS_MAX, text);
		list.n_clusters = (unsigned)n;
	}
}

static enum part
part_of(uint64_t request)
{
	if (request == REQUEST_SLURM)
		return PART_SLURM;
	if (request == REQUEST_BACKEND)
		return PART_BACKEND;
	return request == REQUEST_STREAM ? PART_STREAM : PART_CLUSTERS;
}

void
checklist_row(struct child *c, uint64_t request, const uint8_t *row, size_t len)
{
	char kind[16], *text;
	struct reader r;
	unsigned table, fields;

	rd_init(&r, row, len);
	table = rd_u8(&r);
	fields = rd_u8(&r);
	rd_name(&r, kind, sizeof(kind));
	text = rd_strdup(&r, LINE_BYTES);
	if (rd_end(&r) == -1 || text == NULL || table != CTL_T_CHECK ||
	    fields != 2)
		channel_broken(c->channel, "ctl-row");
	else if (list.sup != NULL)
		row_take(part_of(request), kind, text);
	free(text);
}

void
checklist_end(struct child *c, uint64_t request, enum ctl_status status,
    const char *text)
{
	enum part part = part_of(request);

	if (list.sup == NULL || (list.waits & (1u << part)) == 0)
		return;
	if (status != CTL_OK)
		line_add(part, "warn", "%s: %s", role_name(c->role), text);
	if (part == PART_CLUSTERS) {
		if (++list.clusters_answered >= list.n_clusters)
			part_done(part);
		return;
	}
	if (part == PART_STREAM) {
		part_done(part);
		return;
	}
	list.waits &= ~(1u << part);
	if (part == PART_SLURM)
		host_begin();
	clusters_begin();
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	static const char *const names[PART__COUNT] = {
		[PART_SLURM] = "Slurm: the collector",
		[PART_HOST] = "this host: a file system",
		[PART_BACKEND] = "cc-backend: the submitter",
		[PART_STREAM] = "NATS: the receiver",
		[PART_CLUSTERS] = "clusters: the submitter",
	};
	unsigned part;

	(void)fd;
	(void)what;
	(void)arg;
	for (part = 0; part < PART__COUNT; part++)
		if ((list.waits & (1u << part)) != 0 && names[part] != NULL)
			line_add((enum part)part, "warn",
			    "%s has not answered for %d s; run the test again "
			    "with -debug 4",
			    names[part], CHECKLIST_S);
	list_finish();
}

void
checklist_child_gone(struct child *c)
{
	if (list.sup == NULL) {
		shutdown_begin(c->workers->arg, "a worker ended", 1);
		return;
	}
	line_add(PART_CONFIG, "FAIL",
	    "the %s %s; run the test again with -debug 4", role_name(c->role),
	    c->last_exit);
	list_finish();
}

/*
 * Without descriptors: only the configuration comes into force.  The workers'
 * messages would repeat the list on standard error.
 */
static void
workers_begin(struct supervisor *sup)
{
	static const enum role roles[] = { ROLE_RUNNER, ROLE_COLLECTOR };
	size_t i;

	if (log_get_level() <= LOG_LEVEL_WARN)
		workers_set_log_level(&sup->workers, LOG_LEVEL_FATAL);
	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (!child_is_used(&sup->workers.children[roles[i]]))
			continue;
		sup->workers.children[roles[i]].has_descriptors = 1;
		worker_activate(&sup->workers.children[roles[i]]);
	}
	resolver_files_send(&sup->workers.children[ROLE_SUBMITTER]);
	if (child_is_used(&sup->workers.children[ROLE_RECEIVER]))
		resolver_files_send(&sup->workers.children[ROLE_RECEIVER]);
}

static void
slurm_begin(void)
{
	list.waits |= 1u << PART_SLURM;
	request_send(ROLE_COLLECTOR, REQUEST_SLURM, "");
}

/* Without Slurm, this host and the names of the clusters are known at once. */
static void
stream_begin(struct supervisor *sup)
{
	const char *names = conf_str(&sup->conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX];
	size_t n = 0;

	list.waits |= 1u << PART_STREAM;
	while (n < CLUSTERS_MAX &&
	    conf_list_item(names, (unsigned)n, name, sizeof(name)) == 1)
		text_keep(list.clusters, &n, CLUSTERS_MAX, name);
	list.n_clusters = (unsigned)n;
	host_begin();
	request_send(ROLE_RECEIVER, REQUEST_STREAM, "");
}

void
checklist_begin(struct supervisor *sup)
{
	static const struct timeval most = { .tv_sec = CHECKLIST_S };

	list.sup = sup;
	list.waits = 1u << PART_HOST | 1u << PART_BACKEND | 1u << PART_CLUSTERS;
	list.deadline = evtimer_new(sup->base, on_deadline, NULL);
	if (list.deadline == NULL || event_add(list.deadline, &most) == -1)
		fatalx("out of memory");
	if (*sup->unsafe != '\0')
		line_add(PART_CONFIG, "FAIL", "%s", sup->unsafe);
	else
		line_add(PART_CONFIG, "ok", "configuration %s",
		    sup->setup.config_path);
	workers_begin(sup);
	if (worker_is_wanted(&sup->conf, ROLE_COLLECTOR))
		slurm_begin();
	else
		stream_begin(sup);
	request_send(ROLE_SUBMITTER, REQUEST_BACKEND, "");
}
