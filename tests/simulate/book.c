/* SPDX-License-Identifier: MIT */
/* See book.h. */
#include "config.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "submitter/spool/spool.h"
#include "tests/simulate/book.h"
#include "tests/simulate/check.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define SPOOL_NAME "spool.db" /* submitter/main.c */
#define DUPLICATE  "cc-backend has another run of this job"

struct entry {
	uint64_t job;
	int64_t start;
	enum run_state state;
	const char *reason;
	int unconfirmed; /* Slurm never showed it as running */
};

static void
rejected_check(const struct entry *e, struct truth_run *t)
{
	if (!t->ran || t->may_lack)
		return;
	invariant(check_is_refused(t) || t->lost,
	    "job %llu, started %lld, is rejected without need: %s",
	    (unsigned long long)e->job, (long long)e->start, e->reason);
	invariant(t->lost ||
		strncmp(e->reason, DUPLICATE, strlen(DUPLICATE)) == 0,
	    "job %llu, started %lld, is rejected with the reason: %s",
	    (unsigned long long)e->job, (long long)e->start, e->reason);
}

static void
entry_check(const struct entry *e)
{
	struct truth_run *t = truth_find(e->job, e->start);

	invariant(t != NULL,
	    "the spool has job %llu, started %lld, which "
	    "never ran",
	    (unsigned long long)e->job, (long long)e->start);
	t->in_spool = 1;
	trace("spool: job %llu, started %lld: state %d, %s",
	    (unsigned long long)e->job, (long long)e->start, (int)e->state,
	    e->reason);
	switch (e->state) {
	case RUN_NONE:
	case KEPT_REPLACEABLE:
		break;
	case START_REJECTED:
		rejected_check(e, t);
		break;
	case STOP_REJECTED:
		invariant(t->lost, "the stop of job %llu is rejected: %s",
		    (unsigned long long)e->job, e->reason);
		break;
	case STOPPED_BY_OTHERS:
		invariant(t->lost || t->foreign,
		    "job %llu is reported as stopped by others: %s",
		    (unsigned long long)e->job, e->reason);
		break;
	default:
		invariant(e->unconfirmed && !t->ran,
		    "job %llu, started %lld, is left in state %d: %s",
		    (unsigned long long)e->job, (long long)e->start,
		    (int)e->state, e->reason);
	}
}

static void
entries_check(sqlite3 *db)
{
	sqlite3_stmt *st;
	struct entry e;
	int rc;

	rc = sqlite3_prepare_v2(db,
	    "SELECT job, started, rphase, reason, flags FROM run", -1, &st,
	    NULL);
	invariant(rc == SQLITE_OK, "the spool: %s", sqlite3_errmsg(db));
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		e = (struct entry) {
			.job = (uint64_t)sqlite3_column_int64(st, 0),
			.start = sqlite3_column_int64(st, 1),
			.state = (enum run_state)sqlite3_column_int(st, 2),
			.reason = (const char *)sqlite3_column_text(st, 3),
			.unconfirmed = (sqlite3_column_int(st, 4) &
					   (int)RUN_UNCONFIRMED) != 0,
		};
		if (e.reason == NULL)
			e.reason = "";
		entry_check(&e);
	}
	invariant(rc == SQLITE_DONE, "the spool: %s", sqlite3_errmsg(db));
	sqlite3_finalize(st);
}

void
book_check(void)
{
	struct truth_run *t;
	sqlite3 *db = NULL;
	unsigned i;
	int rc;

	process_kill(PROCESS_SUBMITTER, "the end");
	rc = sqlite3_open(SPOOL_NAME, &db);
	invariant(rc == SQLITE_OK, "the spool does not open");
	rc = sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL,
	    NULL);
	invariant(rc == SQLITE_OK, "the spool: %s", sqlite3_errmsg(db));
	entries_check(db);
	sqlite3_close(db);
	for (i = 0; (t = truth_run(i)) != NULL; i++) {
		/*
		 * The answer to a second stop does not tell whose stop was the
		 * first; a connection that breaks repeats one, too.
		 */
		invariant(!t->differs || t->lost || t->in_spool ||
			t->stops > 1 || t->handled > 1,
		    "job %llu was stopped by another client with another end, "
		    "and is not listed",
		    (unsigned long long)t->job);
		invariant(t->in_cc == 1 || t->lost || t->in_spool || !t->ran ||
			t->may_lack || t->opts_out != 0 || check_is_replaced(t),
		    "job %llu, started %lld, is neither in cc-backend nor in "
		    "the spool",
		    (unsigned long long)t->job, (long long)t->start);
	}
}
