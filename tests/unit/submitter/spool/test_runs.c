/* SPDX-License-Identifier: MIT */
/* Which runs the spool lets go, and in which order: held, requeued, reused ids. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log_line.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/test_runs.XXXXXX";
static char path[64];

static struct spool *
spool_begin_test(int rest, int nats)
{
	char reason[256] = "";
	struct spool *sp = spool_open(path, 64 << 20, 604800, reason,
	    sizeof(reason));

	CHECK_STR(reason, "");
	CHECK(sp != NULL);
	if (sp == NULL)
		exit(1);
	spool_policy(sp)->to[DEST_REST] = rest;
	spool_policy(sp)->to[DEST_NATS] = nats;
	spool_policy(sp)->wait_commit = 1;
	spool_policy(sp)->more_wait = 5000;
	return sp;
}

static void
file_remove(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -f %s/*", dir);
	CHECK_INT(system(cmd), 0);
}

static enum run_state
state_of(struct spool *sp, int64_t row, enum dest dest)
{
	struct spool_run run;

	return spool_get(sp, row, &run) == 1 ? run.state[dest] :
					       RUN_STATE__COUNT;
}

static void
state_set(struct spool *sp, int64_t row, enum dest dest, enum run_state state)
{
	struct spool_run run;

	CHECK_INT(spool_get(sp, row, &run), 1);
	run.state[dest] = state;
	run.due[dest] = DUE_NOW;
	CHECK_INT(spool_save(sp, &run), 0);
}

static void
record_make(struct job *job, uint64_t id, int64_t start, unsigned flags,
    int64_t end, enum job_end state)
{
	job_init(job);
	snprintf(job->key.cluster, sizeof(job->key.cluster), "alpha");
	job->key.job = id;
	job->key.start = start;
	job->flags = JOB_HAS_START | flags;
	job->end = end;
	job->state = state;
	job->user = strdup("u1");
	job->nodes = 1;
	job_add_host(job, "n1");
}

static enum spool_put
put_flags(struct spool *sp, uint64_t id, int64_t start, unsigned flags,
    int64_t end, enum job_end state, int64_t *row)
{
	struct job job;
	enum spool_put rc;

	record_make(&job, id, start, flags, end, state);
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

/* How many starts are due. */
static int
starts_due(struct spool *sp)
{
	int64_t ids[8];

	return spool_pick(sp, DEST_REST, START_DUE, ORDER_NEWEST, ids, 8) +
	    spool_pick(sp, DEST_REST, START_DUE_ENDED, ORDER_DUE, ids, 8);
}

/* A run that nobody saw running: its start waits, over restarts as well. */
static void
test_hold(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct spool_run run;
	int64_t row, a, b;

	CHECK_INT(put_flags(sp, 40, 1000, JOB_UNCONFIRMED | JOB_MORE, 0,
		      END_NOT, &row),
	    PUT_NEW);
	CHECK_INT(starts_due(sp), 0);
	CHECK_INT(spool_next_due(sp, DEST_REST, START_DUE), -1);
	/* Its script, itself once more, leases let go: none of these is a start. */
	CHECK_INT(put_flags(sp, 40, 1000, JOB_PARTIAL, 0, END_NOT, &row),
	    PUT_MERGED);
	CHECK_INT(put_flags(sp, 40, 1000, JOB_UNCONFIRMED, 0, END_NOT, &row),
	    PUT_KNOWN);
	CHECK_INT(spool_unlease(sp, DEST_REST), 0);
	CHECK_INT(spool_retry_now(sp, DEST_REST), 0);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 1);
	CHECK_INT(starts_due(sp), 0);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK(run.flags & RUN_UNCONFIRMED);
	CHECK(run.reason[0] != '\0');
	/* squeue shows it running. */
	CHECK_INT(put_flags(sp, 40, 1000, JOB_PARTIAL | JOB_LIVE | JOB_MORE, 0,
		      END_NOT, &row),
	    PUT_MERGED);
	CHECK_INT(starts_due(sp), 1);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK(!(run.flags & RUN_UNCONFIRMED));
	CHECK_STR(run.reason, "");
	CHECK_INT(run.due[DEST_NATS], DUE_NOW);
	state_set(sp, row, DEST_REST, STARTED);
	state_set(sp, row, DEST_NATS, STARTED);
	/* An end is as good. */
	CHECK_INT(put_flags(sp, 41, 1000, JOB_UNCONFIRMED, 0, END_NOT, &a),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 41, 1000, 0, 1003, END_FAILED, &a), PUT_MERGED);
	CHECK_INT(state_of(sp, a, DEST_REST), START_DUE_ENDED);
	CHECK_INT(starts_due(sp), 1);
	state_set(sp, a, DEST_REST, STOP_BLOCKED);
	/* The prolog failed: nothing of it is left but the next run. */
	CHECK_INT(put_flags(sp, 42, 1000, JOB_UNCONFIRMED, 0, END_NOT, &a),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 42, 1200, JOB_UNCONFIRMED, 0, END_NOT, &b),
	    PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	CHECK_INT(put_flags(sp, 42, 1000, JOB_NEVER_RAN, 1100, END_REQUEUED,
		      &a),
	    PUT_MERGED);
	CHECK_INT(state_of(sp, a, DEST_REST), RUN_STATE__COUNT);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);
	CHECK_INT(starts_due(sp), 0);
	CHECK_INT(put_flags(sp, 42, 1200, JOB_PARTIAL | JOB_LIVE, 0, END_NOT,
		      &b),
	    PUT_MERGED);
	CHECK_INT(starts_due(sp), 1);
	CHECK_INT(put_flags(sp, 42, 1000, 0, 1100, END_REQUEUED, &a),
	    PUT_KNOWN);
	spool_close(sp);
	file_remove();
}

/* Slurm forgot it before anybody saw it running: kept, in nobody's way. */
static void
test_forgotten(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct spool_run run;
	int64_t a, b;

	CHECK_INT(put_flags(sp, 45, 1000, JOB_UNCONFIRMED, 0, END_NOT, &a),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 45, 1200, 0, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	CHECK_INT(spool_get(sp, a, &run), 1);
	CHECK_STR(run_state_text(&run, DEST_REST), "unconfirmed");
	run.not_found_count = 2;
	CHECK_INT(spool_set_unknown(sp, &run, "forgotten"), 0);
	CHECK_INT(state_of(sp, a, DEST_REST), START_REJECTED);
	CHECK_INT(state_of(sp, a, DEST_NATS), START_REJECTED);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);
	CHECK_INT(starts_due(sp), 1);
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 1);
	CHECK_INT(spool_get(sp, a, &run), 1);
	CHECK_STR(run.reason, "forgotten");
	CHECK_STR(run_state_text(&run, DEST_REST), "unknown to Slurm");
	CHECK(run.flags & RUN_UNCONFIRMED);
	CHECK_INT(spool_get(sp, b, &run), 1);
	CHECK_STR(run_state_text(&run, DEST_REST), "start due");
	/* slurmctld prepares the run after all: the run is held as before. */
	CHECK_INT(put_flags(sp, 45, 1000, JOB_UNCONFIRMED, 0, END_NOT, &a),
	    PUT_MERGED);
	CHECK_INT(state_of(sp, a, DEST_REST), START_DUE);
	CHECK_INT(starts_due(sp), 1);
	/* Again, and then accounting knows its end. */
	CHECK_INT(spool_get(sp, a, &run), 1);
	CHECK_INT(run.not_found_count, 0);
	CHECK_INT(spool_set_unknown(sp, &run, "forgotten"), 0);
	CHECK_INT(put_flags(sp, 45, 1000, 0, 1100, END_FAILED, &a), PUT_MERGED);
	CHECK_INT(state_of(sp, a, DEST_REST), START_DUE_ENDED);
	CHECK_INT(state_of(sp, a, DEST_NATS), START_DUE_ENDED);
	CHECK_INT(spool_get(sp, a, &run), 1);
	CHECK(!(run.flags & RUN_UNCONFIRMED));
	CHECK_STR(run.reason, "");
	spool_close(sp);
	file_remove();
}

/* A requeued run is reported if it ran, however short it was. */
static void
test_requeued(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row;

	/* First learned after its end. */
	CHECK_INT(put_flags(sp, 50, 1000, 0, 1003, END_REQUEUED, &row),
	    PUT_NEW);
	CHECK_INT(state_of(sp, row, DEST_REST), START_DUE_ENDED);
	CHECK_INT(put_flags(sp, 51, 1000, JOB_NEVER_RAN, 1300, END_REQUEUED,
		      &row),
	    PUT_NEW);
	CHECK_INT(spool_runs(sp), 1);
	/* Held, and accounting's steps say that it ran. */
	CHECK_INT(put_flags(sp, 52, 1000, JOB_UNCONFIRMED, 0, END_NOT, &row),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 52, 1000, 0, 1003, END_REQUEUED, &row),
	    PUT_MERGED);
	CHECK_INT(state_of(sp, row, DEST_REST), START_DUE_ENDED);
	/* Shown running, not sent, and then it had been a node's prolog. */
	CHECK_INT(put_flags(sp, 53, 1000, JOB_LIVE, 0, END_NOT, &row), PUT_NEW);
	CHECK_INT(put_flags(sp, 53, 1000, JOB_NEVER_RAN, 1003, END_REQUEUED,
		      &row),
	    PUT_MERGED);
	CHECK_INT(state_of(sp, row, DEST_REST), RUN_STATE__COUNT);
	CHECK_INT(spool_runs(sp), 2);
	CHECK_INT(put_flags(sp, 53, 1000, JOB_NEVER_RAN, 1003, END_REQUEUED,
		      &row),
	    PUT_KNOWN);
	/* slurmctld ended in the prolog, and the next one ran it. */
	CHECK_INT(put_flags(sp, 53, 1000, JOB_PARTIAL | JOB_LIVE, 0, END_NOT,
		      &row),
	    PUT_KNOWN);
	CHECK_INT(put_flags(sp, 53, 1000, JOB_LIVE, 0, END_NOT, &row), PUT_NEW);
	CHECK_INT(state_of(sp, row, DEST_REST), START_DUE);
	CHECK_INT(put_flags(sp, 51, 1000, 0, 1400, END_COMPLETED, &row),
	    PUT_NEW);
	CHECK_INT(state_of(sp, row, DEST_REST), START_DUE_ENDED);
	spool_close(sp);
	file_remove();
}

/*
 * The node did not boot.  A new collector reads the row of the run again; it does
 * not know that the run never ran.  A run with this start that lasted longer ran.
 */
static void
test_no_boot(void)
{
	static const enum job_end states[] = { END_NODE_FAIL, END_PREEMPTED };
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		uint64_t id = 60 + i;

		CHECK_INT(put_flags(sp, id, 1000, JOB_UNCONFIRMED, 0, END_NOT,
			      &row),
		    PUT_NEW);
		CHECK_INT(put_flags(sp, id, 1000, JOB_NEVER_RAN, 1023,
			      END_REQUEUED, &row),
		    PUT_MERGED);
		CHECK_INT(put_flags(sp, id, 1000, 0, 1023, states[i], &row),
		    PUT_KNOWN);
		CHECK_INT(put_flags(sp, id, 1000, JOB_BACKFILL, 1023, states[i],
			      &row),
		    PUT_KNOWN);
		CHECK_INT(spool_runs(sp), i);
		CHECK_INT(put_flags(sp, id, 1000, 0, 1500, states[i], &row),
		    PUT_NEW);
		CHECK_INT(state_of(sp, row, DEST_REST), START_DUE_ENDED);
	}
	spool_close(sp);
	file_remove();
}

/* Accounting has the start of a false start a second later: it stays done. */
static void
test_false_start_moved(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row, start;
	struct job job;

	for (start = 1000; start <= 1001; start++) {
		record_make(&job, 54, start, start == 1000 ? JOB_NEVER_RAN : 0,
		    1003, END_REQUEUED);
		job.submit = 990;
		CHECK_INT(spool_put(sp, &job, &row),
		    start == 1000 ? PUT_NEW : PUT_KNOWN);
		job_clear(&job);
	}
	CHECK_INT(spool_runs(sp), 0);
	spool_close(sp);
	file_remove();
}

/* As if cc-backend had taken it, or what there was of it. */
static void
sent_as(struct spool *sp, int64_t row, enum run_state state)
{
	struct spool_run run;

	CHECK_INT(spool_get(sp, row, &run), 1);
	run.flags |= RUN_KEY_FIXED;
	run.state[DEST_REST] = state;
	run.due[DEST_REST] = DUE_NOW;
	CHECK_INT(spool_save(sp, &run), 0);
}

/* What deleted() in answer.c does. */
static void
deleted(struct spool *sp, int64_t row)
{
	struct spool_run run, copy;

	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.state[DEST_REST], DELETE_DUE);
	CHECK(run.flags & RUN_FORGET_AFTER_DELETE);
	run.state[DEST_REST] = RUN_DONE;
	copy = run;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(spool_release(sp, &copy, DEST_REST), 0);
	CHECK_INT(state_of(sp, row, DEST_REST), RUN_STATE__COUNT);
}

static struct spool *
again(struct spool *sp)
{
	CHECK_INT(spool_commit(sp), 0);
	spool_close(sp);
	sp = spool_begin_test(1, 0);
	spool_policy(sp)->last_requeued = 1;
	return sp;
}

/* requeuedRuns last: the earlier run is deleted there, then the later one starts. */
static void
test_last(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct run_key key = { "alpha", 63, 1000 };
	int64_t a, b, c;

	sp = again(sp);
	/* Delivered in full: kept, over a restart, until the later one comes. */
	CHECK_INT(put_flags(sp, 60, 1000, 0, 1059, END_REQUEUED, &a), PUT_NEW);
	sent_as(sp, a, RUN_DONE);
	CHECK_INT(state_of(sp, a, DEST_REST), KEPT_REPLACEABLE);
	sp = again(sp);
	CHECK_INT(spool_pick(sp, DEST_REST, KEPT_REPLACEABLE, ORDER_DUE, &b, 1),
	    0);
	CHECK_INT(put_flags(sp, 60, 1200, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	sp = again(sp);
	deleted(sp, a);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);
	/* A third run of the job finds the second one, which ran for long. */
	sent_as(sp, b, START_COMMITTED);
	CHECK_INT(put_flags(sp, 60, 1200, 0, 1300, END_REQUEUED, &b),
	    PUT_MERGED);
	CHECK_INT(put_flags(sp, 60, 1400, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);

	/* Its stop waits to be seen committed, and then is none. */
	CHECK_INT(put_flags(sp, 61, 1000, JOB_LIVE, 0, END_NOT, &a), PUT_NEW);
	sent_as(sp, a, STARTED);
	CHECK_INT(put_flags(sp, 61, 1000, 0, 1020, END_REQUEUED, &a),
	    PUT_MERGED);
	CHECK_INT(put_flags(sp, 61, 1200, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, a, DEST_REST), STOP_BLOCKED);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	sp = again(sp);
	state_set(sp, a, DEST_REST, STOP_DUE);
	deleted(sp, a);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);

	/* The later one was refused before the end of the first was known. */
	CHECK_INT(put_flags(sp, 62, 1000, JOB_LIVE, 0, END_NOT, &a), PUT_NEW);
	sent_as(sp, a, START_COMMITTED);
	CHECK_INT(put_flags(sp, 62, 1200, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	sent_as(sp, b, START_REJECTED);
	CHECK_INT(put_flags(sp, 62, 1000, 0, 1020, END_REQUEUED, &a),
	    PUT_MERGED);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	sp = again(sp);
	deleted(sp, a);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);

	/*
	 * The later one was refused because of the first one, which another
	 * suite has sent, before this spool knew the first one.
	 */
	CHECK_INT(put_flags(sp, 65, 1008, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	sent_as(sp, b, START_REJECTED);
	spool_policy(sp)->active_only = 1;
	CHECK_INT(put_flags(sp, 65, 1000, 0, 1002, END_REQUEUED, &a), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), START_BLOCKED);
	sp = again(sp);
	sent_as(sp, a, RUN_DONE);
	deleted(sp, a);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);

	/* Never sent: then it is not. */
	CHECK_INT(put_flags(sp, 63, 1000, 0, 1020, END_REQUEUED, &a), PUT_NEW);
	CHECK_INT(put_flags(sp, 63, 1200, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK(spool_is_done(sp, &key));
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);

	/* A long run before it stays, and cc-backend refuses the later one. */
	CHECK_INT(put_flags(sp, 66, 1000, 0, 1100, END_REQUEUED, &a), PUT_NEW);
	sent_as(sp, a, STOP_DUE);
	CHECK_INT(put_flags(sp, 66, 1200, 0, 1220, END_REQUEUED, &b), PUT_NEW);
	sent_as(sp, b, RUN_DONE);
	CHECK_INT(put_flags(sp, 66, 1400, 0, 1410, END_REQUEUED, &c), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), KEPT_REPLACEABLE);
	CHECK_INT(state_of(sp, c, DEST_REST), START_DUE_ENDED);
	/* also when only its tombstone is left */
	sent_as(sp, c, START_REJECTED);
	sent_as(sp, a, RUN_DONE);
	CHECK_INT(state_of(sp, a, DEST_REST), RUN_STATE__COUNT);
	CHECK_INT(put_flags(sp, 66, 1600, JOB_LIVE, 0, END_NOT, &c), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), KEPT_REPLACEABLE);
	CHECK_INT(state_of(sp, c, DEST_REST), START_DUE);
	sent_as(sp, c, START_REJECTED);
	/* and a day after it, the later one replaces what was requeued early */
	CHECK_INT(put_flags(sp, 66, 87405, JOB_LIVE, 0, END_NOT, &c), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), DELETE_DUE);

	/* A day later nothing has to make way. */
	CHECK_INT(put_flags(sp, 64, 1000, 0, 1020, END_REQUEUED, &a), PUT_NEW);
	sent_as(sp, a, RUN_DONE);
	CHECK_INT(put_flags(sp, 64, 87400, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, a, DEST_REST), KEPT_REPLACEABLE);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);
	spool_close(sp);
	file_remove();
}

/* requeuedRuns first: the first one stays, whatever comes. */
static void
test_first(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int64_t a, b;

	CHECK_INT(put_flags(sp, 65, 1000, 0, 1020, END_REQUEUED, &a), PUT_NEW);
	sent_as(sp, a, STOP_DUE);
	CHECK_INT(put_flags(sp, 65, 1200, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	CHECK_INT(state_of(sp, a, DEST_REST), STOP_DUE);
	CHECK_INT(state_of(sp, b, DEST_REST), START_DUE);
	sent_as(sp, a, RUN_DONE);
	CHECK_INT(state_of(sp, a, DEST_REST), RUN_STATE__COUNT);
	spool_close(sp);
	file_remove();
}

/* Its start moves while it is held (nodes are powered up): one run, one key. */
static void
test_hold_moved(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	struct job job;
	int64_t row;

	record_make(&job, 43, 1000, JOB_UNCONFIRMED, 0, END_NOT);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &row), PUT_NEW);
	job_clear(&job);
	record_make(&job, 43, 1090, JOB_LIVE, 0, END_NOT);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &row), PUT_MERGED);
	job_clear(&job);
	CHECK_INT(spool_runs(sp), 1);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.key.start, 1090);
	CHECK_INT(starts_due(sp), 1);
	/* A record with the old start is one of this run. */
	CHECK_INT(put_flags(sp, 43, 1000, JOB_PARTIAL, 0, END_NOT, &row),
	    PUT_KNOWN);
	CHECK_INT(put_flags(sp, 43, 1090, 0, 1200, END_COMPLETED, &row),
	    PUT_MERGED);
	CHECK_INT(spool_runs(sp), 1);
	spool_close(sp);
	file_remove();
}

static enum spool_put
put_submitted(struct spool *sp, uint64_t id, int64_t submit, int64_t start,
    int64_t end, enum job_end state)
{
	enum spool_put rc;
	struct job job;
	int64_t row;

	record_make(&job, id, start, end == 0 ? JOB_LIVE : 0, end, state);
	job.submit = submit;
	rc = spool_put(sp, &job, &row);
	job_clear(&job);
	return rc;
}

/* The CPUs of a run in the spool, as "4x2: 0-3, 0 devices". */
static const char *
cpus_stored(struct spool *sp, int64_t row)
{
	static char text[64];
	struct job job;

	job_init(&job);
	CHECK_INT(spool_record(sp, row, &job), 0);
	CHECK_INT(job.n_hosts, 1);
	CHECK_INT(job.hosts[0].n_cpus, 1);
	snprintf(text, sizeof(text), "%ux%u: %u-%u, %u devices",
	    job.hosts[0].cores, job.hosts[0].threads,
	    job.hosts[0].cpus[0].first, job.hosts[0].cpus[0].last,
	    job.hosts[0].n_accels);
	job_clear(&job);
	return text;
}

static enum spool_put
put_cpus(struct spool *sp, int64_t start, unsigned flags, uint16_t threads,
    uint32_t last, int64_t *row)
{
	enum spool_put rc;
	struct job job;

	record_make(&job, 44, start, JOB_HAS_THREADS | flags, 0, END_NOT);
	job.submit = 900;
	job.hosts[0].cores = threads != 0 ? 4 : 0;
	job.hosts[0].threads = threads;
	CHECK_INT(job_host_add_cpus(&job.hosts[0], 0, last), 0);
	if (flags & JOB_HAS_ACCELS)
		CHECK_INT(job_host_add_accel(&job.hosts[0], "0000:01:00.0"), 0);
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

/*
 * A cloud node is hidden while it is powered down: the record before that has
 * numbers of cores and no shape.  The record of the running job has the threads.
 * After the start may have been sent, they do not change.
 */
static void
test_hold_threads(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t row;

	CHECK_INT(put_cpus(sp, 1000, JOB_UNCONFIRMED, 0, 3, &row), PUT_NEW);
	CHECK_STR(cpus_stored(sp, row), "0x0: 0-3, 0 devices");
	CHECK_INT(put_cpus(sp, 1090, JOB_LIVE, 2, 7, &row), PUT_MERGED);
	CHECK_STR(cpus_stored(sp, row), "4x2: 0-7, 0 devices");
	CHECK_INT(starts_due(sp), 1);
	CHECK_INT(put_cpus(sp, 1090, JOB_LIVE, 2, 5, &row), PUT_KNOWN);
	CHECK_STR(cpus_stored(sp, row), "4x2: 0-7, 0 devices");
	spool_close(sp);
	file_remove();
	/* Devices that are known are kept with their host. */
	sp = spool_begin_test(1, 0);
	CHECK_INT(put_cpus(sp, 1000, JOB_UNCONFIRMED | JOB_HAS_ACCELS, 0, 3,
		      &row),
	    PUT_NEW);
	CHECK_INT(put_cpus(sp, 1000, JOB_UNCONFIRMED, 2, 7, &row), PUT_KNOWN);
	CHECK_STR(cpus_stored(sp, row), "0x0: 0-3, 1 devices");
	CHECK_INT(put_cpus(sp, 1000, JOB_LIVE | JOB_HAS_ACCELS, 2, 7, &row),
	    PUT_MERGED);
	CHECK_STR(cpus_stored(sp, row), "4x2: 0-7, 1 devices");
	spool_close(sp);
	file_remove();
	/* An admin has sent the start although the run is not confirmed. */
	sp = spool_begin_test(1, 0);
	CHECK_INT(put_cpus(sp, 1000, JOB_UNCONFIRMED, 0, 3, &row), PUT_NEW);
	CHECK_INT(spool_get(sp, row, &run), 1);
	run.flags |= RUN_KEY_FIXED | RUN_REST_STARTED;
	CHECK_INT(spool_save(sp, &run), 0);
	CHECK_INT(put_cpus(sp, 1000, JOB_LIVE, 2, 7, &row), PUT_MERGED);
	CHECK_STR(cpus_stored(sp, row), "0x0: 0-3, 0 devices");
	spool_close(sp);
	file_remove();
}

/* Puts the held run 43/1000, submitted at 900. */
static void
put_held(struct spool *sp, int64_t *row)
{
	struct job job;

	record_make(&job, 43, 1000, JOB_UNCONFIRMED, 0, END_NOT);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, row), PUT_NEW);
	job_clear(&job);
}

/*
 * squeue shows a held run running with another start: the record that confirms the
 * run has its submission.  Or the run ends before that.
 */
static void
test_hold_moved_confirm(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	struct job job;
	int64_t row, again;

	put_held(sp, &row);
	job_init(&job);
	job.exit_code = -1;
	snprintf(job.key.cluster, sizeof(job.key.cluster), "alpha");
	job.key.job = 43;
	job.key.start = 1090;
	job.submit = 900;
	job.flags = JOB_PARTIAL | JOB_LIVE | JOB_MORE;
	CHECK_INT(spool_put(sp, &job, &again), PUT_MERGED);
	job_clear(&job);
	CHECK_INT(again, row);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.key.start, 1090);
	CHECK_INT(run.flags & RUN_UNCONFIRMED, 0);
	/* The script was requested with the old start: the run has it. */
	CHECK_INT(put_flags(sp, 43, 1000, JOB_PARTIAL, 0, END_NOT, &again),
	    PUT_KNOWN);
	CHECK_INT(starts_due(sp), 1);
	spool_close(sp);
	file_remove();

	sp = spool_begin_test(1, 0);
	put_held(sp, &row);
	CHECK_INT(put_submitted(sp, 43, 900, 1090, 1200, END_COMPLETED),
	    PUT_MERGED);
	CHECK_INT(spool_get(sp, row, &run), 1);
	CHECK_INT(run.key.start, 1090);
	CHECK_INT(run.end, 1200);
	CHECK_INT(spool_runs(sp), 1);
	CHECK_INT(starts_due(sp), 1);
	spool_close(sp);
	file_remove();
}

/* The run is sent under this start. */
static void
sent_of(struct spool *sp, uint64_t id, int64_t start, enum run_state state)
{
	struct run_key key = { "alpha", id, start };
	struct spool_run run;

	CHECK_INT(spool_find(sp, &key, &run), 1);
	sent_as(sp, run.id, state);
}

/*
 * A run ends in the second in which its nodes are up: a record with this later
 * start is one of the run, while it is delivered and afterwards.
 */
static void
test_moved_to_its_end(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	int known;

	for (known = 0; known < 2; known++) {
		CHECK_INT(put_submitted(sp, 46, 900, 1000, 0, END_NOT),
		    PUT_NEW);
		sent_of(sp, 46, 1000, START_COMMITTED);
		CHECK_INT(put_submitted(sp, 46, 900, 1000, 1090, END_COMPLETED),
		    PUT_MERGED);
		if (known) {
			CHECK_INT(put_submitted(sp, 46, 900, 1090, 0, END_NOT),
			    PUT_MERGED);
			CHECK_INT(put_submitted(sp, 46, 900, 1090, 1090,
				      END_COMPLETED),
			    PUT_KNOWN);
		}
		CHECK_INT(spool_runs(sp), 1);
		sent_of(sp, 46, 1000, RUN_DONE);
		CHECK_INT(put_submitted(sp, 46, 900, 1090, 0, END_NOT),
		    PUT_KNOWN);
		CHECK_INT(put_submitted(sp, 46, 900, 1090, 1090, END_COMPLETED),
		    PUT_KNOWN);
		CHECK_INT(spool_runs(sp), 0);
		spool_close(sp);
		file_remove();
		sp = spool_begin_test(1, 0);
	}
	spool_close(sp);
	file_remove();
}

/*
 * The nodes of a run were powered up, then it was resized.  Before Slurm 23.02 its
 * last row has the later start, and the resize as its submission.
 */
static void
test_moved_and_resized(void)
{
	struct spool *sp = spool_begin_test(1, 0);

	CHECK_INT(put_submitted(sp, 47, 900, 1000, 0, END_NOT), PUT_NEW);
	sent_of(sp, 47, 1000, START_COMMITTED);
	CHECK_INT(put_submitted(sp, 47, 900, 1000, 1640, END_COMPLETED),
	    PUT_MERGED);
	CHECK_INT(put_submitted(sp, 47, 1321, 1090, 1640, END_COMPLETED),
	    PUT_KNOWN);
	sent_of(sp, 47, 1000, RUN_DONE);
	CHECK_INT(put_submitted(sp, 47, 1321, 1090, 1640, END_COMPLETED),
	    PUT_KNOWN);
	CHECK_INT(spool_runs(sp), 0);
	spool_close(sp);
	file_remove();
}

/*
 * requeuedRuns last: a run whose nodes were powered up, and that was requeued and
 * deleted, does not count as one that ran for long because of its first start.
 */
static void
test_last_moved(void)
{
	struct spool *sp = again(spool_begin_test(1, 0));
	struct job job;
	int64_t a, b, c;

	record_make(&job, 66, 1000, JOB_UNCONFIRMED, 0, END_NOT);
	job.submit = 900;
	CHECK_INT(spool_put(sp, &job, &a), PUT_NEW);
	job_clear(&job);
	CHECK_INT(put_submitted(sp, 66, 900, 1100, 0, END_NOT), PUT_MERGED);
	sent_as(sp, a, START_COMMITTED);
	CHECK_INT(put_submitted(sp, 66, 900, 1100, 1130, END_REQUEUED),
	    PUT_MERGED);
	sent_as(sp, a, RUN_DONE);
	CHECK_INT(state_of(sp, a, DEST_REST), KEPT_REPLACEABLE);
	CHECK_INT(put_flags(sp, 66, 1300, JOB_LIVE, 0, END_NOT, &b), PUT_NEW);
	deleted(sp, a);
	CHECK_INT(put_flags(sp, 66, 1300, 0, 1330, END_REQUEUED, &b),
	    PUT_MERGED);
	sent_as(sp, b, RUN_DONE);
	CHECK_INT(state_of(sp, b, DEST_REST), KEPT_REPLACEABLE);
	CHECK_INT(put_flags(sp, 66, 1500, JOB_LIVE, 0, END_NOT, &c), PUT_NEW);
	CHECK_INT(state_of(sp, b, DEST_REST), DELETE_DUE);
	CHECK_INT(state_of(sp, c, DEST_REST), START_BLOCKED);
	spool_close(sp);
	file_remove();
}

/*
 * Accounting shows the last part of a resized run, which begins at the resize.
 * The run has the same end and is not delivered yet: the part is no run.
 */
static void
test_part_of_undelivered(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct job part;
	int64_t row, other;

	CHECK_INT(put_flags(sp, 44, 1000, 0, 1640, END_COMPLETED, &row),
	    PUT_NEW);
	record_make(&part, 44, 1321, 0, 1640, END_COMPLETED);
	part.submit = 1321;
	CHECK_INT(spool_put(sp, &part, &other), PUT_KNOWN);
	job_clear(&part);
	CHECK_INT(spool_runs(sp), 1);
	/* Another end: another run. */
	record_make(&part, 44, 1700, 0, 1800, END_COMPLETED);
	part.submit = 1700;
	CHECK_INT(spool_put(sp, &part, &other), PUT_NEW);
	job_clear(&part);
	CHECK_INT(spool_runs(sp), 2);
	spool_close(sp);
	file_remove();
}

#define MANY 80 /* runs of a job that is requeued again and again */

/* The n-th of them: it is submitted, starts and ends behind the one before. */
static enum spool_put
put_nth(struct spool *sp, uint64_t id, int n, int64_t moved, int64_t *row)
{
	int64_t start = 1000 + 1000 * (int64_t)n;
	enum spool_put rc;
	struct job job;

	record_make(&job, id, start + moved, 0, start + 500, END_REQUEUED);
	job.submit = start - 10;
	rc = spool_put(sp, &job, row);
	job_clear(&job);
	return rc;
}

/*
 * cc-backend refuses the second run of a job within a day, and the later ones.
 * The refused runs are kept, and each run that waits gets its turn nevertheless.
 */
static void
test_many_rejected(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t rows[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		CHECK_INT(put_nth(sp, 70, i, 0, &rows[i]), PUT_NEW);
		CHECK_INT(state_of(sp, rows[i], DEST_REST),
		    i == 0 ? START_DUE_ENDED : START_BLOCKED);
	}
	for (i = 0; i < MANY; i++) {
		CHECK_INT(state_of(sp, rows[i], DEST_REST), START_DUE_ENDED);
		state_set(sp, rows[i], DEST_REST, START_REJECTED);
		CHECK_INT(spool_get(sp, rows[i], &run), 1);
		CHECK_INT(spool_release(sp, &run, DEST_REST), 0);
	}
	spool_close(sp);
	file_remove();
}

static int no_memory; /* for the runs of a job */
static int reserved;  /* how often the memory for a run was asked for */

void *__real_array_reserve(void *array, size_t *cap, size_t need, size_t size);
void *__wrap_array_reserve(void *array, size_t *cap, size_t need, size_t size);

void *
__wrap_array_reserve(void *array, size_t *cap, size_t need, size_t size)
{
	reserved++;
	return no_memory ? NULL : __real_array_reserve(array, cap, need, size);
}

/*
 * The start of a run is settled, and there is no memory to find the next run of
 * its job: nothing of the transaction is kept.
 */
static void
test_release_without_memory(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t rows[2];
	int i;

	for (i = 0; i < 2; i++)
		CHECK_INT(put_nth(sp, 83, i, 0, &rows[i]), PUT_NEW);
	CHECK_INT(spool_commit(sp), 0);
	state_set(sp, rows[0], DEST_REST, START_REJECTED);
	CHECK_INT(spool_get(sp, rows[0], &run), 1);
	no_memory = 1;
	CHECK_INT(spool_release(sp, &run, DEST_REST), -1);
	no_memory = 0;
	CHECK_STR(spool_error(sp), "out of memory");
	CHECK_INT(spool_commit(sp), -1);
	spool_rollback(sp);
	CHECK_INT(state_of(sp, rows[0], DEST_REST), START_DUE_ENDED);
	CHECK_INT(state_of(sp, rows[1], DEST_REST), START_BLOCKED);
	spool_close(sp);
	file_remove();
}

/* A record with another start is one of its run, however many the job has. */
static void
test_many_moved(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t row, other;
	int i;

	for (i = 0; i < MANY; i++) {
		CHECK_INT(put_nth(sp, 71, i, 0, &row), PUT_NEW);
		state_set(sp, row, DEST_REST, START_REJECTED);
	}
	CHECK_INT(put_nth(sp, 71, MANY - 1, 20, &other), PUT_MERGED);
	CHECK_INT(other, row);
	for (i = 0; i < MANY; i++) {
		CHECK_INT(put_nth(sp, 72, i, 0, &row), PUT_NEW);
		CHECK_INT(spool_get(sp, row, &run), 1);
		CHECK_INT(spool_finish(sp, &run), 0);
	}
	CHECK_INT(put_nth(sp, 72, MANY - 1, 20, &other), PUT_KNOWN);
	CHECK_INT(spool_runs(sp), MANY);
	spool_close(sp);
	file_remove();
}

static char logged[512]; /* the last line of the log */

/*
 * An earlier version left a run blocked although the run in front of it was
 * settled: the run is released when the spool is opened.
 */
static void
test_unblocked_at_open(void)
{
	struct spool *sp = spool_begin_test(1, 1);
	struct spool_run run;
	int64_t first, stuck, other, waits;
	int d;

	CHECK_INT(put_flags(sp, 81, 1000, 0, 1100, END_COMPLETED, &first),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 81, 1200, 0, 0, END_NOT, &stuck), PUT_NEW);
	CHECK_INT(put_flags(sp, 82, 1000, 0, 1100, END_COMPLETED, &other),
	    PUT_NEW);
	CHECK_INT(put_flags(sp, 82, 1200, 0, 0, END_NOT, &waits), PUT_NEW);
	CHECK_INT(spool_get(sp, first, &run), 1);
	CHECK_INT(spool_finish(sp, &run), 0);
	for (d = 0; d < DEST__COUNT; d++)
		CHECK_INT(state_of(sp, stuck, (enum dest)d), START_BLOCKED);
	spool_close(sp);

	sp = spool_begin_test(1, 1);
	for (d = 0; d < DEST__COUNT; d++) {
		CHECK_INT(state_of(sp, stuck, (enum dest)d), START_DUE);
		CHECK_INT(state_of(sp, other, (enum dest)d), START_DUE_ENDED);
		CHECK_INT(state_of(sp, waits, (enum dest)d), START_BLOCKED);
	}
	spool_close(sp);
	file_remove();
}

/* A job with many blocked runs: they are read once when the spool is opened. */
static void
test_many_unblocked(void)
{
	struct spool *sp = spool_begin_test(1, 0);
	struct spool_run run;
	int64_t rows[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		CHECK_INT(put_nth(sp, 84, i, 0, &rows[i]), PUT_NEW);
	CHECK_INT(spool_get(sp, rows[0], &run), 1);
	CHECK_INT(spool_finish(sp, &run), 0);
	spool_close(sp);

	reserved = 0;
	sp = spool_begin_test(1, 0);
	CHECK(reserved >= MANY - 1 && reserved < 2 * MANY);
	CHECK_INT(state_of(sp, rows[1], DEST_REST), START_DUE_ENDED);
	for (i = 2; i < MANY; i++)
		CHECK_INT(state_of(sp, rows[i], DEST_REST), START_BLOCKED);
	spool_close(sp);
	file_remove();
}

static void
on_log(const struct log_line *line)
{
	snprintf(logged, sizeof(logged), "%s", line->text);
}

/* More runs of a job than are read: forged records.  The log says so. */
static void
test_too_many(void)
{
	static const char copies[] =
	    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
	    " WHERE n < 4200) INSERT INTO run SELECT NULL, cluster, job,"
	    " started + n, ended + n, submitted + n, alias, flags, rphase,"
	    " rdue, rtries, rsince, nphase, ndue, ntries, nsince, denied,"
	    " denials, reason FROM run, c WHERE job = 73";
	struct spool *sp = spool_begin_test(1, 0);
	int64_t row;

	CHECK_INT(put_nth(sp, 73, 0, 0, &row), PUT_NEW);
	state_set(sp, row, DEST_REST, START_REJECTED);
	log_set_level(LOG_LEVEL_WARN);
	log_sink_set(on_log);
	CHECK_INT(put_nth(sp, 73, 10, 0, &row), PUT_NEW);
	CHECK_STR(logged, "");
	CHECK_INT(sqlite3_exec(sp->db, copies, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(put_nth(sp, 73, 20, 0, &row), PUT_NEW);
	CHECK_STR(logged,
	    "job 73 (alpha) has 4096 runs or more in the spool: the starts of "
	    "later runs may wait");
	log_sink_set(log_line_send);
	log_set_level(LOG_LEVEL_FATAL);
	spool_close(sp);
	file_remove();
}

int
main(void)
{
	spool_prepare();
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/spool.db", dir);
	test_hold();
	test_forgotten();
	test_hold_moved();
	test_hold_threads();
	test_hold_moved_confirm();
	test_moved_to_its_end();
	test_moved_and_resized();
	test_last_moved();
	test_part_of_undelivered();
	test_requeued();
	test_no_boot();
	test_false_start_moved();
	test_last();
	test_first();
	test_many_rejected();
	test_release_without_memory();
	test_many_moved();
	test_unblocked_at_open();
	test_many_unblocked();
	test_too_many();
	rmdir(dir);
	return check_done();
}
