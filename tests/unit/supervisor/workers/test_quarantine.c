/* SPDX-License-Identifier: MIT */
/* Runs during which workers crash: which workers get a quarantine, and when. */
#include "config.h"

#include <sys/socket.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/workers/workers.h"
#include "tests/unit/check.h"

static struct workers workers;
static int far[ROLE__COUNT]; /* the worker's end of each channel */

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
}

static const struct channel_ops ops = { .on_frame = on_frame,
	.on_broken = on_broken };

static void
worker_make(enum role role)
{
	struct child *c = &workers.children[role];
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	c->workers = &workers;
	c->role = role;
	c->state = CHILD_READY;
	c->channel = channel_new(workers.base, fds[0], ROLE_SUPERVISOR, role,
	    &ops, c);
	far[role] = fds[1];
}

/* A signal ends the worker; its inflight page has job, or nothing if 0. */
static void
crash_by(int sig, const char *kill_reason, enum role role, uint64_t job)
{
	struct child *c = &workers.children[role];
	struct run_key key = { .cluster = "alpha", .job = job, .start = 1000 };
	struct inflight *page;
	int fd;

	c->inflight = inflight_new(&fd);
	page = inflight_map(fd);
	CHECK(c->inflight != NULL && page != NULL);
	if (job != 0)
		inflight_set(page, &key);
	c->state = CHILD_DOWN;
	c->kill_reason = kill_reason;
	quarantine_note_exit(c, sig);
	c->state = CHILD_READY;
	inflight_free(page);
	inflight_free(c->inflight);
	c->inflight = NULL;
}

static void
crash(enum role role, uint64_t job)
{
	crash_by(SIGABRT, NULL, role, job);
}

/* The job of the next quarantine that the worker gets, 0 = none. */
static uint64_t
quarantine_of(enum role role)
{
	struct run_key key;
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int fd;

	if (frame_read(far[role], role, ROLE_SUPERVISOR, &h, &payload, &fd,
		10) == -1)
		return 0;
	CHECK_INT(h.type, MSG_QUARANTINE);
	rd_init(&r, payload, h.length);
	rd_run_key(&r, &key);
	CHECK_INT(rd_end(&r), 0);
	CHECK_STR(key.cluster, "alpha");
	CHECK_INT(key.start, 1000);
	free(payload);
	return key.job;
}

int
main(void)
{
	unsigned i;
	int role;

	log_init("test", LOG_LEVEL_FATAL);
	workers.base = event_base_new();
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		worker_make((enum role)role);

	crash(ROLE_COLLECTOR, 0);
	CHECK_INT(workers.n_crash_records, 0);
	crash_by(SIGKILL, NULL, ROLE_COLLECTOR, 7);
	crash_by(SIGTERM, NULL, ROLE_SUBMITTER, 7);
	CHECK_INT(workers.n_crash_records, 0);
	crash_by(SIGKILL, "it does not answer", ROLE_COLLECTOR, 7);
	CHECK_INT(workers.n_crash_records, 1);
	crash(ROLE_COLLECTOR, 8);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 0);
	/* The second crash may be of another worker. */
	crash(ROLE_SUBMITTER, 7);
	CHECK_INT(quarantine_of(ROLE_COLLECTOR), 7);
	CHECK_INT(quarantine_of(ROLE_LISTENER), 0);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 0);
	quarantine_send_all(&workers.children[ROLE_SUBMITTER]);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 7);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 0);
	/* Two crashes with more than a day between have different causes. */
	workers.crash_records[1].at -= QUARANTINE_WITHIN + 1000;
	crash(ROLE_COLLECTOR, 8);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 0);
	crash(ROLE_COLLECTOR, 8);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 8);
	/* A listener reads no record: what it claims does not count. */
	crash(ROLE_LISTENER, 9);
	crash(ROLE_LISTENER, 9);
	CHECK_INT(workers.n_crash_records, 2);
	CHECK_INT(quarantine_of(ROLE_SUBMITTER), 0);
	quarantine_send_all(&workers.children[ROLE_LISTENER]);
	CHECK_INT(quarantine_of(ROLE_LISTENER), 0);
	/* More runs than records: the oldest are dropped. */
	for (i = 0; i < 2 * CRASH_RECORDS_MAX; i++)
		crash(ROLE_COLLECTOR, 100 + i);
	CHECK_INT(workers.n_crash_records, CRASH_RECORDS_MAX);
	CHECK_INT(workers.crash_records[CRASH_RECORDS_MAX - 1].key.job,
	    100 + 2 * CRASH_RECORDS_MAX - 1);

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		channel_free(workers.children[role].channel);
		close(far[role]);
	}
	event_base_free(workers.base);
	return check_done();
}
