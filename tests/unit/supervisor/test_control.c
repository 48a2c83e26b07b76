/* SPDX-License-Identifier: MIT */
/*
 * The admin socket with hostile users and workers: ctlUsers cannot occupy
 * root's places, a worker's rows of status are about itself, and the deaths of
 * two workers end all requests that wait for them.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/control.h"
#include "supervisor/system/recent_warnings.h"
#include "tests/unit/check.h"
#include "tests/unit/lingering_socket.h"

#define USER	 65533
#define MANY	 30
#define WAIT_MS	 60000 /* only a failure reaches it */
#define ROWS_MAX 4096

static struct supervisor sup;
static char folder[] = "/tmp/test_control.XXXXXX";
static struct sockaddr_un where = { .sun_family = AF_UNIX };

static int
client_open(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	return fd;
}

/* Runs the event loop until fd has something to read. */
static int
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long long end = clock_ms() + WAIT_MS;

	while (clock_ms() < end) {
		event_base_loop(sup.base, EVLOOP_NONBLOCK);
		if (poll(&p, 1, 1) == 1)
			return 1;
	}
	return 0;
}

static void
request_make(struct ctl_request *req, unsigned verb)
{
	memset(req, 0, sizeof(*req));
	req->magic = CTL_MAGIC;
	req->version = CTL_VERSION;
	req->verb = (uint16_t)verb;
}

/* 1 when the daemon has told the client that there is no place. */
static int
is_refused(int fd)
{
	static const char why[] = "too many requests at once: try again later";
	char reply[256];
	ssize_t n = read(fd, reply, sizeof(reply));

	return n > 5 && reply[4] == CTL_KIND_END && reply[5] == CTL_ERROR &&
	    memmem(reply, (size_t)n, why, strlen(why)) != NULL;
}

/* A user of ctlUsers, who keeps as many connections as the daemon accepts. */
static pid_t
user_occupies(int done, const int end[2])
{
	int i, last = -1;
	pid_t pid;
	char byte;

	fflush(NULL);
	if ((pid = fork()) != 0)
		return pid;
	close(end[1]);
	if (setgid(USER) == -1 || setuid(USER) == -1)
		_exit(1);
	for (i = 0; i < MANY; i++)
		last = client_open();
	if (write(done, "x", 1) != 1 || read(end[0], &byte, 1) != 0)
		_exit(2);
	_exit(is_refused(last) ? 0 : 3);
}

static void
test_places(void)
{
	struct ctl_request req;
	int done[2], end[2], fd, status;
	char byte, reply[256];
	pid_t pid;

	if (geteuid() != 0) {
		printf("skipped without root: places of root\n");
		return;
	}
	CHECK(pipe(done) == 0 && pipe(end) == 0);
	pid = user_occupies(done[1], end);
	close(end[0]);
	CHECK(readable(done[0]));
	CHECK_INT(read(done[0], &byte, 1), 1);
	event_base_loop(sup.base, EVLOOP_NONBLOCK);
	fd = client_open();
	request_make(&req, CTL_LOG);
	req.a = LOG_LEVEL_FATAL;
	CHECK_INT(send(fd, &req, sizeof(req), MSG_NOSIGNAL), sizeof(req));
	CHECK(readable(fd));
	CHECK(read(fd, reply, sizeof(reply)) > 0);
	close(fd);
	close(end[1]);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	close(done[0]);
	close(done[1]);
	event_base_loop(sup.base, EVLOOP_NONBLOCK);
}

/*
 * A user passes a socket with SO_LINGER and a full buffer: the supervisor waits
 * neither when it reads, nor when it refuses the user.
 */
static void
test_passed_socket(uid_t uid, int flags)
{
	int done[2], end[2], fd, status;
	long long begin;
	char byte;
	pid_t pid;

	CHECK(pipe(done) == 0 && pipe(end) == 0);
	fflush(NULL);
	if ((pid = fork()) == 0) {
		close(end[1]);
		if (uid != geteuid() && setuid(uid) == -1)
			_exit(1);
		fd = client_open();
		lingering_send(fd, -1, flags);
		_exit(
		    write(done[1], "x", 1) == 1 && read(end[0], &byte, 1) == 0 ?
			0 :
			3);
	}
	close(end[0]);
	CHECK_INT(read(done[0], &byte, 1), 1);
	begin = clock_ms();
	event_base_loop(sup.base, EVLOOP_NONBLOCK); /* accepts */
	event_base_loop(sup.base, EVLOOP_NONBLOCK); /* reads */
	CHECK(sup.control->clients == NULL);
	CHECK(clock_ms() - begin < MOST_MS);
	CHECK_INT(sup.control->passed_log.last != 0, uid == geteuid());
	sup.control->passed_log.last = 0;
	close(end[1]);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	close(done[0]);
	close(done[1]);
}

static int broken;

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	CHECK_STR(why, "malformed ctl-row");
	broken++;
}

static const struct channel_ops channel_ops = { .on_frame = on_frame,
	.on_broken = on_broken };

/* The worker answers with one row: 1 when its channel breaks. */
static int
row_breaks(struct child *c, unsigned table, const char *process)
{
	struct writer row;
	int fds[2];

	broken = 0;
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	c->channel = channel_new(sup.base, fds[0], ROLE_SUPERVISOR, c->role,
	    &channel_ops, c);
	wr_init(&row, ROWS_MAX);
	ctl_row(&row, table, process, "spool_dir", "/etc", NULL);
	control_row(c, 1, row.buf, row.len);
	wr_clear(&row);
	event_base_loop(sup.base, EVLOOP_NONBLOCK);
	channel_free(c->channel);
	c->channel = NULL;
	close(fds[1]);
	return broken;
}

static void
test_rows(void)
{
	struct child *c = &sup.workers.children[ROLE_LISTENER];

	c->workers = &sup.workers;
	c->role = ROLE_LISTENER;
	CHECK_INT(row_breaks(c, CTL_T_STATUS, "listener"), 0);
	CHECK_INT(row_breaks(c, CTL_T_STATUS, "supervisor"), 1);
	CHECK_INT(row_breaks(c, CTL_T_STATUS, "submitter"), 1);
	CHECK_INT(row_breaks(c, CTL_T_STATUS, ""), 1);
	/* The sentence is the supervisor's. */
	CHECK_INT(row_breaks(c, CTL_T_SUMMARY, "ok"), 1);
	CHECK_INT(row_breaks(c, CTL_T_PROBLEM, "listener"), 1);
	CHECK_INT(row_breaks(c, CTL_T_WARNING, "listener"), 1);
}

/* The rows of `warnings` as the tool reads them; returns their bytes. */
static size_t
warnings_read(char *reply, size_t size)
{
	struct ctl_request req;
	ssize_t n = 1;
	size_t len = 0;
	int fd = client_open();

	request_make(&req, CTL_WARNINGS);
	CHECK_INT(send(fd, &req, sizeof(req), MSG_NOSIGNAL), sizeof(req));
	while (n > 0 && len < size && readable(fd)) {
		n = read(fd, reply + len, size - len);
		if (n > 0)
			len += (size_t)n;
	}
	CHECK_INT(n, 0); /* the whole reply, then the end */
	close(fd);
	return len;
}

static void
test_warnings(void)
{
	static const char none[] = "no warning or error since the daemon";
	static char reply[ROWS_MAX];
	struct log_line line = { .sender = "collector",
		.kind = LOG_ERROR,
		.cluster = "",
		.text = "slurmctld does not answer" };
	size_t n = warnings_read(reply, sizeof(reply));

	CHECK(memmem(reply, n, none, strlen(none)) != NULL);
	recent_warning_add(&line, 1763733600);
	recent_warning_add(&line, 1763733605);
	n = warnings_read(reply, sizeof(reply));
	CHECK(memmem(reply, n, none, strlen(none)) == NULL);
	CHECK(memmem(reply, n, "1763733605", 10) != NULL);
	CHECK(memmem(reply, n, "1763733600", 10) != NULL);
	CHECK(memmem(reply, n, "collector", 9) != NULL);
	CHECK(memmem(reply, n, "error", 5) != NULL);
	CHECK(memmem(reply, n, line.text, strlen(line.text)) != NULL);
}

static void
on_death(struct channel *c, const char *why, void *arg)
{
}

static const struct channel_ops any_ops = { .on_frame = on_frame,
	.on_broken = on_death };

/* A worker that serves; the other end of its channel. */
static int
worker_serves(enum role role)
{
	struct child *c = &sup.workers.children[role];
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	c->workers = &sup.workers;
	c->role = role;
	c->state = CHILD_READY;
	c->channel = channel_new(sup.base, fds[0], ROLE_SUPERVISOR, role,
	    &any_ops, c);
	return fds[1];
}

static void
worker_clear(enum role role, int fd)
{
	struct child *c = &sup.workers.children[role];

	channel_free(c->channel);
	memset(c, 0, sizeof(*c));
	close(fd);
}

/*
 * Two workers die at once: the request of the tool finds the second one dead,
 * which ends the scrape that is next in the list.
 */
static void
test_deaths(void)
{
	struct child *all = sup.workers.children;
	int collector = worker_serves(ROLE_COLLECTOR);
	int submitter = worker_serves(ROLE_SUBMITTER);
	int exporter = worker_serves(ROLE_EXPORTER), fd;
	struct ctl_request req;

	control_scrape(&all[ROLE_EXPORTER], 7);
	CHECK_INT(sup.control->clients->worker, ROLE_COLLECTOR);
	control_result(&all[ROLE_COLLECTOR], sup.control->clients->id, CTL_OK,
	    "");
	CHECK_INT(sup.control->clients->worker, ROLE_SUBMITTER);
	fd = client_open();
	request_make(&req, CTL_GPUS);
	CHECK_INT(send(fd, &req, sizeof(req), MSG_NOSIGNAL), sizeof(req));
	CHECK(readable(collector));
	while (sup.control->clients->worker != ROLE_COLLECTOR)
		event_base_loop(sup.base, EVLOOP_ONCE);
	CHECK(sup.control->clients->next != NULL);
	channel_broken(all[ROLE_SUBMITTER].channel, "pong");
	control_child_gone(&all[ROLE_COLLECTOR]);
	CHECK(sup.control->clients->next == NULL);
	CHECK(sup.control->clients->end_queued);
	while (sup.control->clients != NULL)
		event_base_loop(sup.base, EVLOOP_ONCE);
	close(fd);
	/* The exporter asks again at once: it gets no rows. */
	sup.control->scrape_ms = clock_ms();
	control_scrape(&all[ROLE_EXPORTER], 8);
	CHECK(sup.control->clients == NULL);
	worker_clear(ROLE_COLLECTOR, collector);
	worker_clear(ROLE_SUBMITTER, submitter);
	worker_clear(ROLE_EXPORTER, exporter);
}

int
main(void)
{
	log_init("test_control", LOG_LEVEL_FATAL);
	if (mkdtemp(folder) == NULL || chmod(folder, 0755) == -1)
		return 1;
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/ctl", folder);
	setup_init(&sup.setup);
	sup.base = event_base_new();
	sup.workers.base = sup.base;
	sup.workers.arg = &sup;
	conf_init(&sup.conf);
	CHECK_INT(conf_set(&sup.conf, CONF_CTL_USERS, "[\"65533\"]"), 0);
	sup.setup.ctl_fd = socket(AF_UNIX,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	CHECK_INT(bind(sup.setup.ctl_fd, (struct sockaddr *)&where,
		      sizeof(where)),
	    0);
	CHECK_INT(chmod(where.sun_path, 0666), 0);
	CHECK_INT(listen(sup.setup.ctl_fd, 64), 0);
	CHECK_INT(control_open(&sup), 0);
	test_places();
	test_passed_socket(geteuid(), 0);
	test_passed_socket(geteuid(), MSG_OOB);
	if (geteuid() == 0)
		test_passed_socket(USER + 1, 0); /* is refused */
	test_rows();
	test_warnings();
	test_deaths();
	control_close(&sup);
	close(sup.setup.ctl_fd);
	unlink(where.sun_path);
	rmdir(folder);
	return check_done();
}
