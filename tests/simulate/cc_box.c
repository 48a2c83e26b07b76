/* SPDX-License-Identifier: MIT */
/* See cc_box.h.  Stands in front of libc and of the stand-in's network. */
#include "config.h"

#include <sys/time.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fake/fake.h"
#include "tests/simulate/cc_box.h"
#include "tests/simulate/world.h"

static struct {
	struct options options;
	char *ledger;
	size_t ledger_len;
} box;

/* --- libc --- */

time_t
time(time_t *t)
{
	time_t now = (time_t)(world_true_ms() / 1000);

	if (t != NULL)
		*t = now;
	return now;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	tv->tv_sec = (time_t)(world_true_ms() / 1000);
	tv->tv_usec = (suseconds_t)(world_true_ms() % 1000 * 1000);
	return 0;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(world_ms() / 1000);
	ts->tv_nsec = (long)(world_ms() % 1000) * 1000000;
	return 0;
}

static ssize_t
on_ledger(void *cookie, const char *p, size_t n)
{
	(void)cookie;
	backend_ledger(p, n);
	return (ssize_t)n;
}

/* The stand-in opens its ledger only: to append, or to read it back. */
FILE *
fopen(const char *restrict path, const char *restrict mode)
{
	static const cookie_io_functions_t io = { .write = on_ledger };

	(void)path;
	if (mode[0] == 'a')
		return fopencookie(NULL, "w", io);
	return box.ledger_len > 0 ? fmemopen(box.ledger, box.ledger_len, "r") :
				    NULL;
}

/* --- the stand-in --- */

/* The token is the submitter's own matter: system tests check it. */
int
auth_check(struct request *rq, struct reply *rp)
{
	(void)rp;
	snprintf(rq->subject, sizeof(rq->subject), "api");
	return 0;
}

void
admin_handle(struct request *rq, struct reply *rp)
{
	(void)rq;
	rp->status = 404;
}

void
cc_box_begin(enum cc_version version, const char *clusters, double commit,
    char *ledger, size_t n)
{
	box.options.version = (enum version)version;
	box.options.clusters = clusters;
	box.options.commit = commit;
	box.options.ledger = "ledger";
	box.ledger = ledger;
	box.ledger_len = n;
	api_init(&box.options);
	invariant(clusters_init(&box.options) == 0, "clusters: %s", clusters);
	restore_ledger(box.options.ledger, commit);
	invariant(ledger_open(box.options.ledger) == 0, "ledger");
}

void
cc_box_request(const char *method, const char *path, const char *body, size_t n,
    struct cc_answer *answer)
{
	const char *query = strchr(path, '?');
	size_t len = query != NULL ? (size_t)(query - path) : strlen(path);
	struct request rq;
	struct reply rp;

	memset(&rq, 0, sizeof(rq));
	memset(&rp, 0, sizeof(rp));
	snprintf(rq.method, sizeof(rq.method), "%s", method);
	snprintf(rq.path, sizeof(rq.path), "%.*s", (int)len, path);
	rq.query = xstrdup(query != NULL ? query + 1 : "");
	rq.minor = 1;
	if (n > 0)
		text_add(&rq.body, body, n);
	api_handle(&rq, &rp);
	answer->status = rp.status;
	answer->body = rp.body.p;
	answer->len = rp.body.len;
	free(rp.location);
	free(rq.query);
	text_clear(&rq.body);
}

void
cc_box_commit(void)
{
	int any = store_count(true) > 0;

	store_commit();
	/* A restart must not undo it: the ledger has the number of commits. */
	if (any)
		ledger_write("commit", NULL, NULL);
}

void
cc_box_race(void)
{
	stop_race(1, false);
}

static void
row_tell(const struct run *r, void (*fn)(const struct cc_row *, void *),
    void *arg)
{
	struct cc_row row = { .cluster = r->cluster,
		.user = json_text(r->body, "user", ""),
		.state = r->state,
		.job = r->jobid,
		.start = r->start,
		.nodes = json_num(r->body, "numNodes", 0),
		.duration = r->duration,
		.cached = r->cached };

	fn(&row, arg);
}

void
cc_box_rows(void (*fn)(const struct cc_row *row, void *arg), void *arg)
{
	struct run **rows, *r;
	size_t i, n;

	rows = store_sorted(&n);
	for (i = 0; i < n; i++)
		row_tell(rows[i], fn, arg);
	for (r = store_first_cached(); r != NULL; r = TAILQ_NEXT(r, waiting))
		row_tell(r, fn, arg);
}
