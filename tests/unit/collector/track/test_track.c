/* SPDX-License-Identifier: MIT */
/* What snapshots of jobs and rows of accounting mean for their runs. */
#include "config.h"

#include <stdlib.h>

#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define T	((int64_t)SIM_BEGIN)

static struct cluster *c;

static const struct job_state *
state_of(const char *word)
{
	return state_word((struct span){ word, strlen(word) });
}

static void
snapshot_make(struct job_snapshot *s, uint64_t job, const char *state,
    int64_t submit, int64_t start, uint32_t restarts)
{
	snapshot_init(s);
	s->job.key.job = job;
	s->job.key.start = start;
	s->job.submit = submit;
	s->job.restarts = restarts;
	s->job.partition = strdup("batch");
	s->job.user = strdup("alice");
	s->state = state_of(state);
	s->job.state = s->state->end;
}

/* slurmctld shows a job; returns the order number of its record. */
static uint64_t
shows(uint64_t job, const char *state, int64_t submit, int64_t start,
    uint32_t restarts, int64_t end)
{
	struct job_snapshot s;
	uint64_t order;

	snapshot_make(&s, job, state, submit, start, restarts);
	s.job.end = end;
	order = track_snapshot(c, &s);
	snapshot_clear(&s);
	return order;
}

/* Accounting has a row. */
static enum row_result
row(uint64_t job, const char *state, int64_t submit, int64_t start,
    int64_t end, enum ran ran, int may_ask)
{
	struct job_snapshot s;
	enum row_result result;

	snapshot_make(&s, job, state, submit, start, 0);
	s.job.end = end;
	s.ran = ran;
	result = track_accounting_row(c, &s, may_ask);
	snapshot_clear(&s);
	return result;
}

/* squeue shows a run of a job as running. */
static void
squeue_shows(uint64_t job, int64_t start)
{
	struct squeue_job job_row = { .job = job, .start = start,
	    .state = state_of("RUNNING") };

	track_squeue_row(c, &job_row);
}

static struct open_run *
open_one(uint64_t job, int64_t start)
{
	return open_find(&c->open, job, start);
}

/* A run begins, is seen again, ends, and its end is told once more. */
static void
test_life(void)
{
	c = sim_cluster();
	CHECK(shows(10, "RUNNING", T - 20, T - 10, 0, 0) != 0);
	CHECK_INT(sim_sent_count(), 1);
	CHECK_STR(sim_sent(0).key.cluster, "alpha");
	CHECK_INT(sim_sent(0).key.start, T - 10);
	CHECK_INT(sim_sent(0).flags & JOB_UNCONFIRMED, 0);
	CHECK_INT(c->open.n, 1);
	CHECK_INT(shows(10, "RUNNING", T - 20, T - 10, 0, 0), 0);
	open_one(10, T - 10)->flags |= OPEN_LEFT;
	CHECK_INT(row(10, "COMPLETED", T - 20, T - 10, T, RAN_UNKNOWN, 1),
	    ROW_SENT);
	CHECK_INT(sim_sent_count(), 2);
	CHECK_INT(sim_sent(1).state, END_COMPLETED);
	CHECK_INT(sim_sent(1).end, T);
	CHECK(!sim_sent(1).message);
	CHECK_INT(c->open.n, 0);
	CHECK_INT(row(10, "COMPLETED", T - 20, T - 10, T, RAN_UNKNOWN, 1),
	    ROW_NOTHING);
	CHECK_INT(shows(10, "COMPLETED", T - 20, T - 10, 0, T), 0);
	CHECK_INT(sim_sent_count(), 2);
	sim_end(c);
}

/* slurmctld shows an end before accounting has it. */
static void
test_end_in_snapshot(void)
{
	c = sim_cluster();
	shows(10, "RUNNING", T - 20, T - 10, 0, 0);
	CHECK(shows(10, "FAILED", T - 20, T - 10, 0, T - 5) != 0);
	CHECK_INT(sim_sent(1).state, END_FAILED);
	CHECK_INT(c->open.n, 0);
	CHECK_INT(row(10, "FAILED", T - 20, T - 10, T - 5, RAN_UNKNOWN, 1),
	    ROW_NOTHING);
	/* A job that was cancelled while it waited has no run. */
	CHECK_INT(shows(11, "CANCELLED", T - 20, 0, 0, T - 5), 0);
	CHECK_INT(sim_sent_count(), 2);
	sim_end(c);
}

/* A requeued job has two runs; the first one keeps its key and its end. */
static void
test_requeue(void)
{
	struct open_run *first;

	c = sim_cluster();
	shows(10, "RUNNING", T - 500, T - 400, 0, 0);
	/* It waits for its next run. */
	CHECK_INT(shows(10, "PENDING", T - 100, 0, 1, 0), 0);
	first = open_one(10, T - 400);
	CHECK(first != NULL && (first->flags & OPEN_LEFT) != 0);
	CHECK(shows(10, "RUNNING", T - 100, T - 50, 1, 0) != 0);
	CHECK_INT(sim_sent(1).key.start, T - 50);
	CHECK_INT(c->open.n, 2);
	CHECK_INT(row(10, "REQUEUED", T - 500, T - 400, T - 100, RAN_YES, 1),
	    ROW_SENT);
	CHECK_INT(sim_sent(2).key.start, T - 400);
	CHECK_INT(sim_sent(2).state, END_REQUEUED);
	CHECK_INT(sim_sent(2).flags & JOB_NEVER_RAN, 0);
	CHECK_INT(c->open.n, 1);
	CHECK(open_one(10, T - 50) != NULL);
	sim_end(c);
}

/* A node had to be powered up: the start moves, the run stays the same. */
static void
test_moved_start(void)
{
	c = sim_cluster();
	shows(10, "RUNNING", T - 500, T - 400, 0, 0);
	CHECK_INT(shows(10, "RUNNING", T - 500, T - 300, 0, 0), 0);
	CHECK_INT(c->open.n, 1);
	open_one(10, T - 400)->flags |= OPEN_LEFT;
	CHECK_INT(row(10, "COMPLETED", T - 500, T - 300, T, RAN_UNKNOWN, 0),
	    ROW_SENT);
	CHECK_INT(sim_sent(1).key.start, T - 400);
	CHECK_INT(c->open.n, 0);
	sim_end(c);
}

/* The second record of a resized job begins anew; its end is the run's. */
static void
test_resize(void)
{
	c = sim_cluster();
	shows(10, "RUNNING", T - 500, T - 400, 0, 0);
	CHECK_INT(row(10, "RESIZING", T - 500, T - 400, T - 200, RAN_UNKNOWN,
	    1), ROW_NOTHING);
	CHECK_INT(c->open.n, 1);
	open_one(10, T - 400)->flags |= OPEN_LEFT;
	CHECK_INT(row(10, "COMPLETED", T - 200, T - 200, T, RAN_UNKNOWN, 0),
	    ROW_SENT);
	CHECK_INT(sim_sent(1).key.start, T - 400);
	CHECK_INT(sim_sent(1).end, T);
	CHECK_INT(c->open.n, 0);
	sim_end(c);
}

/* A prolog runs: the start waits until squeue shows the job running. */
static void
test_unconfirmed(void)
{
	c = sim_cluster();
	CHECK(shows(10, "CONFIGURING", T - 20, T - 10, 0, 0) != 0);
	CHECK(sim_sent(0).flags & JOB_UNCONFIRMED);
	CHECK(open_one(10, T - 10)->flags & OPEN_UNCONFIRMED);
	worklist_confirm(c, 10);
	CHECK(idmap_get(&c->work.confirm, 10) != NULL);
	squeue_shows(10, T - 10);
	CHECK_INT(sim_sent_count(), 2);
	CHECK_INT(sim_sent(1).flags, JOB_PARTIAL | JOB_LIVE | JOB_MORE);
	CHECK_INT(sim_sent(1).key.start, T - 10);
	CHECK_INT(open_one(10, T - 10)->flags & OPEN_UNCONFIRMED, 0);
	/* Once. */
	squeue_shows(10, T - 10);
	CHECK_INT(sim_sent_count(), 2);
	/* A job that is confirmed is not asked for. */
	idmap_clear(&c->work.confirm);
	worklist_confirm(c, 10);
	CHECK_INT(c->work.confirm.n, 0);
	sim_end(c);
}

/* The prolog failed: the run never ran, and its steps have to tell. */
static void
test_failed_prolog(void)
{
	c = sim_cluster();
	shows(10, "CONFIGURING", T - 20, T - 10, 0, 0);
	shows(10, "PENDING", T - 5, 0, 1, 0);
	CHECK_INT(row(10, "REQUEUED", T - 20, T - 10, T - 5, RAN_UNKNOWN, 1),
	    ROW_WANTS_STEPS);
	CHECK_INT(sim_sent_count(), 1);
	/* While its steps are asked for no other row of the job goes. */
	(void)idmap_put(&c->work.steps, 10, NULL);
	CHECK_INT(row(10, "COMPLETED", T - 4, T - 3, T, RAN_UNKNOWN, 0),
	    ROW_WANTS_STEPS);
	idmap_clear(&c->work.steps);
	CHECK_INT(row(10, "REQUEUED", T - 20, T - 10, T - 5, RAN_NEVER, 0),
	    ROW_SENT);
	CHECK(sim_sent(1).flags & JOB_NEVER_RAN);
	CHECK_INT(sim_sent(1).key.start, T - 10);
	/* What lasted longer than any prolog ran. */
	CHECK_INT(row(11, "REQUEUED", T - 2000, T - 1900, T - 1000,
	    RAN_UNKNOWN, 0), ROW_SENT);
	CHECK_INT(sim_sent(2).flags & JOB_NEVER_RAN, 0);
	sim_end(c);
}

/* A failed prolog and the real run in one second have the same key. */
static void
test_same_second(void)
{
	c = sim_cluster();
	shows(10, "RUNNING", T - 20, T - 10, 1, 0);
	CHECK(open_one(10, T - 10)->flags & OPEN_RUNS);
	CHECK_INT(row(10, "REQUEUED", T - 20, T - 10, T - 10, RAN_NEVER, 0),
	    ROW_NOTHING);
	CHECK_INT(c->open.n, 1);
	open_one(10, T - 10)->flags &= (uint8_t)~OPEN_RUNS;
	CHECK_INT(row(10, "COMPLETED", T - 20, T - 10, T, RAN_UNKNOWN, 0),
	    ROW_SENT);
	CHECK_INT(sim_sent(1).state, END_COMPLETED);
	CHECK_INT(c->open.n, 0);
	sim_end(c);
}

/* Accounting has an end, but squeue has shown the run after that. */
static void
test_contradiction(void)
{
	c = sim_cluster();
	shows(10, "RUNNING", T - 900, T - 800, 0, 0);
	c->listing.asked_at = T;
	CHECK_INT(row(10, "NODE_FAIL", T - 900, T - 800, T - 400, RAN_UNKNOWN,
	    1), ROW_NOTHING);
	CHECK_INT(c->open.n, 1);
	CHECK(open_one(10, T - 800)->flags & OPEN_DISPUTED);
	/* It has left squeue: slurmctld is asked twice, then accounting counts. */
	open_one(10, T - 800)->flags |= OPEN_LEFT;
	CHECK_INT(row(10, "NODE_FAIL", T - 900, T - 800, T - 400, RAN_UNKNOWN,
	    1), ROW_NOTHING);
	CHECK(idmap_get(&c->work.left, 10) != NULL);
	open_one(10, T - 800)->tries = 2;
	CHECK_INT(row(10, "NODE_FAIL", T - 900, T - 800, T - 400, RAN_UNKNOWN,
	    1), ROW_SENT);
	CHECK_INT(c->open.n, 0);
	sim_end(c);
}

/* Nobody saw it: slurmctld is asked as long as it may remember. */
static void
test_unseen(void)
{
	c = sim_cluster();
	CHECK_INT(row(10, "COMPLETED", T - 90, T - 60, T - 10, RAN_UNKNOWN, 1),
	    ROW_WANTS_DETAILS);
	CHECK_INT(sim_sent_count(), 0);
	CHECK_INT(row(10, "COMPLETED", T - 90, T - 60, T - 10, RAN_UNKNOWN, 0),
	    ROW_SENT);
	CHECK(sim_sent(0).message);
	CHECK_INT(row(11, "COMPLETED", T - 9000, T - 8000, T - 4000,
	    RAN_UNKNOWN, 1), ROW_SENT);
	/* No end, or no run. */
	CHECK_INT(row(12, "RUNNING", T - 90, T - 60, 0, RAN_UNKNOWN, 1),
	    ROW_NOTHING);
	CHECK_INT(row(13, "CANCELLED", T - 90, 0, T - 10, RAN_UNKNOWN, 1),
	    ROW_NOTHING);
	sim_end(c);
}

/* After a start an earlier run of the job may be known to accounting alone. */
static void
test_earlier_first(void)
{
	c = sim_cluster();
	c->caught_up = 0;
	CHECK(shows(10, "RUNNING", T - 100, T - 50, 1, 0) != 0);
	CHECK(sim_sent(0).flags & JOB_UNCONFIRMED);
	CHECK(idmap_get(&c->work.accounting, 10) != NULL);
	/* squeue's row confirms it only when accounting has answered. */
	squeue_shows(10, T - 50);
	CHECK_INT(sim_sent_count(), 1);
	idmap_remove(&c->earlier, 10);
	squeue_shows(10, T - 50);
	CHECK_INT(sim_sent_count(), 2);
	sim_end(c);
}

/* The submitter takes nothing: the run is found again later. */
static void
test_no_room(void)
{
	c = sim_cluster();
	sim_submitter_full(1);
	CHECK_INT(shows(10, "RUNNING", T - 20, T - 10, 0, 0), 0);
	CHECK_INT(open_one(10, T - 10)->flags & OPEN_DETAILED, 0);
	CHECK_INT(row(11, "COMPLETED", T - 90, T - 60, T - 10, RAN_UNKNOWN, 0),
	    ROW_FAILED);
	CHECK(!done_has(&c->done, 11, T - 60));
	sim_submitter_full(0);
	CHECK(shows(10, "RUNNING", T - 20, T - 10, 0, 0) != 0);
	CHECK_INT(row(11, "COMPLETED", T - 90, T - 60, T - 10, RAN_UNKNOWN, 0),
	    ROW_SENT);
	sim_end(c);
}

/* A run that the supervisor has set aside is never sent. */
static void
test_quarantined(void)
{
	struct site *site;

	c = sim_cluster();
	site = sim_site();
	site->quarantined[0] = (struct run_key){ "alpha", 10, T - 10 };
	site->n_quarantined = 1;
	CHECK_INT(shows(10, "RUNNING", T - 20, T - 10, 0, 0), 0);
	CHECK_INT(row(10, "COMPLETED", T - 20, T - 10, T, RAN_UNKNOWN, 0),
	    ROW_NOTHING);
	CHECK_INT(sim_sent_count(), 0);
	CHECK(shows(10, "RUNNING", T - 20, T - 9, 1, 0) != 0);
	sim_end(c);
}

/* A batch job's start waits for its script, as long as there is room. */
static void
test_script(void)
{
	struct script_request *req;
	struct job_snapshot s;

	c = sim_cluster();
	c->set->script_max = 1000;
	snapshot_make(&s, 10, "RUNNING", T - 20, T - 10, 0);
	s.batch = 1;
	CHECK(track_snapshot(c, &s) != 0);
	snapshot_clear(&s);
	CHECK(sim_sent(0).flags & JOB_MORE);
	CHECK_INT(c->work.n_scripts, 1);
	req = c->work.scripts;
	CHECK_INT(req->key.job, 10);
	c->work.n_scripts = SCRIPTS_MAX;
	snapshot_make(&s, 11, "RUNNING", T - 20, T - 10, 0);
	s.batch = 1;
	CHECK(track_snapshot(c, &s) != 0);
	snapshot_clear(&s);
	CHECK_INT(sim_sent(1).flags & JOB_MORE, 0);
	CHECK(req->next == NULL);
	free(req);
	sim_end(c);
}

/* A record whose texts are ambiguous: counts, no threads, no start yet. */
static void
test_ambiguous(void)
{
	struct job_snapshot s;

	c = sim_cluster();
	snapshot_make(&s, 10, "RUNNING", T - 20, T - 10, 0);
	CHECK(track_ambiguous(c, &s) != 0);
	snapshot_clear(&s);
	CHECK(sim_sent(0).message);
	CHECK(sim_sent(0).flags & JOB_UNCONFIRMED);
	squeue_shows(10, T - 10);
	CHECK_INT(sim_sent_count(), 2);
	sim_end(c);
}

/* A dry run of a backfill sends what is not known, and remembers nothing. */
static void
test_dry_run(void)
{
	struct job_snapshot s;
	int i;

	c = sim_cluster();
	for (i = 0; i < 2; i++) {
		snapshot_make(&s, 10, "COMPLETED", T - 90, T - 60, 0);
		s.job.end = T - 10;
		CHECK_INT(track_backfill_row(c, &s, 1), ROW_SENT);
		snapshot_clear(&s);
		CHECK_INT(sim_sent((unsigned)i).flags,
		    JOB_BACKFILL | JOB_DRY_RUN);
	}
	CHECK(!done_has(&c->done, 10, T - 60));
	sim_end(c);
}

int
main(void)
{
	test_life();
	test_end_in_snapshot();
	test_requeue();
	test_moved_start();
	test_resize();
	test_unconfirmed();
	test_failed_prolog();
	test_same_second();
	test_contradiction();
	test_unseen();
	test_earlier_first();
	test_no_room();
	test_quarantined();
	test_script();
	test_ambiguous();
	test_dry_run();
	return check_done();
}
