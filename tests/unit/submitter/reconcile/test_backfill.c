/* SPDX-License-Identifier: MIT */
/*
 * A backfill of runs that are done here: a list of cc-backend's jobs decides.
 * cc-backend gets what it lost, once, and nothing that it has.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log_line.h"
#include "submitter/reconcile/backfill_private.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool_private.h"
#include "submitter/spool/transition.h"
#include "tests/unit/channel_pair.h"
#include "tests/unit/check.h"
#include "tests/unit/loop.h"
#include "tests/unit/submitter/simulation.h"

#define FROM 1
#define TO   5000

/* One row of accounting. */
struct row {
	uint64_t job;
	int64_t submit, start, end;
	unsigned flags; /* of the record, beside JOB_HAS_START */
	enum job_end state;
};

static enum spool_put
record_of(const char *cluster, const struct row *row, unsigned flags,
    int64_t *id)
{
	struct job job;
	enum spool_put rc;

	job_init(&job);
	snprintf(job.key.cluster, sizeof(job.key.cluster), "%s", cluster);
	job.key.job = row->job;
	job.key.start = row->start;
	job.submit = row->submit;
	job.end = row->end;
	job.state = row->state;
	job.flags = JOB_HAS_START | row->flags | flags;
	job.user = strdup("u1");
	job.nodes = 1;
	job_add_host(&job, "n1");
	rc = spool_put(sim.spool, &job, id);
	job_clear(&job);
	return rc;
}

static enum spool_put
record(const struct row *row, unsigned flags, int64_t *id)
{
	return record_of("alpha", row, flags, id);
}

/* Stores a run and finishes it; alias: another start of it, or 0. */
static void
run_done(const struct row *row, int64_t alias)
{
	struct spool_run run;
	int64_t id;

	record(row, 0, &id);
	if (id == 0)
		return; /* not reported */
	CHECK_INT(spool_get(sim.spool, id, &run), 1);
	run.alias = alias;
	CHECK_INT(spool_finish(sim.spool, &run), 0);
}

static void
begin(void)
{
	sim_begin();
	sim.backfill = backfill_new(&sim);
	sim_connect();
}

static void
end(void)
{
	while (sim_waits(REQUEST_LIST) > 0)
		sim_answer(REQUEST_LIST, 401, NULL);
	sim_end();
}

/* The command, and the row that the collector reads. Returns its fate. */
static enum spool_put
backfill(const struct row *row)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	enum spool_put rc;
	int64_t id;

	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	rc = record(row, JOB_BACKFILL, &id);
	backfill_record(sim.backfill, rc);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	return rc;
}

/* Starts and stops that wait for an answer. */
static int
n_sent(void)
{
	return sim_waits(REQUEST_START) + sim_waits(REQUEST_STOP);
}

#define LIST(rows) "{\"jobs\":[" rows "],\"items\":500,\"page\":1}"

static const struct row row = { 1, 900, 1000, 2000, 0, END_COMPLETED };

static void
test_listed(void)
{
	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "completed", 1000)));
	sim_run(10000);
	CHECK_INT(n_sent(), 0);
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	end();
}

static void
test_lost(void)
{
	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	CHECK_INT(n_sent(), 0); /* not before the list */
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1000") != NULL);
	sim_answer(REQUEST_START, 201, "{}");
	/* the stop waits until the start is committed */
	sim_run(2500);
	CHECK_INT(sim_waits(REQUEST_STOP), 0);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 1000)));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	sim_answer(REQUEST_STOP, 200, "{\"jobId\":1,\"startTime\":1000}");
	sim_run(10000);
	CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
	CHECK_INT(n_sent(), 0);
	end();
}

/* An older copy of cc-backend's database: the run is there, but runs. */
static void
test_listed_running(void)
{
	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	sim_answer(REQUEST_LIST, 200, LIST(SIM_JOB(1, 1000, "running", 1000)));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 0);
	CHECK_INT(sim_waits(REQUEST_STOP), 1);
	end();
}

/* cc-backend has the run with the start that was sent, not accounting's. */
static void
test_moved(void)
{
	static const struct row sent = { 1, 900, 1000, 2000, 0, END_COMPLETED };
	static const struct row now = { 1, 900, 1060, 2000, 0, END_COMPLETED };
	static const int64_t aliases[] = { 0, 1060 };
	size_t i;

	for (i = 0; i < 2; i++) {
		begin();
		run_done(&sent, aliases[i]);
		CHECK_INT(backfill(&now), PUT_HELD);
		CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-1060") !=
		    NULL);
		sim_answer(REQUEST_LIST, 200,
		    LIST(SIM_JOB(1, 1000, "completed", 1000)));
		sim_run(10000);
		CHECK_INT(n_sent(), 0);
		CHECK_INT(spool_runs(sim.spool), 0);
		end();
	}
	/* lost: the start is the one that was sent */
	begin();
	run_done(&sent, 0);
	CHECK_INT(backfill(&now), PUT_HELD);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1000") != NULL);
	end();
}

/* In accounting, the last part of a resized job begins at the resize. */
static void
test_resized(void)
{
	static const struct row part = { 1, 1500, 1500, 2000, 0,
		END_COMPLETED };

	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&part), PUT_HELD);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-1500") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "completed", 1000)));
	sim_run(10000);
	CHECK_INT(n_sent(), 0);
	CHECK_INT(spool_runs(sim.spool), 0);
	end();
}

/* Runs that were not reported on purpose stay so. */
static void
test_not_restored(void)
{
	static const struct row opted_out = { 1, 900, 1000, 2000, JOB_OPTED_OUT,
		END_COMPLETED };
	static const struct row false_start = { 1, 900, 1000, 1010,
		JOB_NEVER_RAN, END_REQUEUED };
	static const struct row early = { 1, 900, 1000, 1010, 0, END_REQUEUED };
	static const struct row later = { 1, 1010, 1100, 2000, 0,
		END_COMPLETED };
	static const struct row later_false = { 1, 1010, 1100, 1110,
		JOB_NEVER_RAN, END_REQUEUED };

	begin();
	run_done(&opted_out, 0);
	CHECK_INT(backfill(&opted_out), PUT_KNOWN);
	end();
	begin();
	run_done(&false_start, 0);
	CHECK_INT(backfill(&false_start), PUT_KNOWN);
	end();
	/* deleted in cc-backend because the later run has replaced it */
	begin();
	run_done(&early, 0);
	run_done(&later, 0);
	spool_policy(sim.spool)->last_requeued = 1;
	CHECK_INT(backfill(&early), PUT_KNOWN);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	end();
	/* a later run that never ran has replaced nothing */
	begin();
	run_done(&early, 0);
	run_done(&later_false, 0);
	spool_policy(sim.spool)->last_requeued = 1;
	CHECK_INT(backfill(&early), PUT_HELD);
	end();
	/* with NATS only there is no list */
	begin();
	run_done(&row, 0);
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	CHECK_INT(backfill(&row), PUT_KNOWN);
	end();
}

/* The readers of NATS had the run: only cc-backend gets it again. */
static void
test_nats(void)
{
	struct spool_run run;
	int64_t id;

	begin();
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	run_done(&row, 0);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_HELD);
	CHECK_INT(spool_get(sim.spool, id, &run), 1);
	CHECK_INT(run.state[DEST_REST], BACKFILL_HELD);
	CHECK_INT(run.state[DEST_NATS], RUN_NONE);
	end();
}

/* The same row twice, or after a cancelled backfill, is one run. */
static void
test_twice(void)
{
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	struct run_key key = { "alpha", 1, 1000 };
	int64_t id;

	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_KNOWN);
	CHECK_INT(spool_runs(sim.spool), 1);
	backfill_ctl(sim.backfill, 2, &cancel);
	CHECK_INT(spool_runs(sim.spool), 0);
	CHECK(spool_is_done(sim.spool, &key));
	/* and a record that is no backfill changes nothing */
	CHECK_INT(record(&row, 0, &id), PUT_KNOWN);
	end();
}

/*
 * cc-backend answers the list of a cancelled backfill when the next one waits
 * for its own list: this answer says nothing about the runs of the next one.
 */
static void
test_cancelled(void)
{
	static const struct row next = { 2, 90900, 91000, 92000, 0,
		END_COMPLETED };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };

	begin();
	run_done(&row, 0);
	run_done(&next, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	backfill_ctl(sim.backfill, 2, &cancel);
	CHECK_INT(backfill(&next), PUT_HELD);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-1000") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(1, 1000, "completed", 1000)));
	sim_run(2000);
	CHECK_INT(n_sent(), 0);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=91000-91000") != NULL);
	sim_answer(REQUEST_LIST, 200,
	    LIST(SIM_JOB(2, 91000, "completed", 1000)));
	sim_run(10000);
	CHECK_INT(n_sent(), 0);
	CHECK_INT(spool_runs(sim.spool), 0);
	end();
}

/* What arrives after the cancellation is listed and sent without another command. */
static void
test_late_record(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	char text[512];
	int64_t id;

	begin();
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	backfill_ctl(sim.backfill, 2, &cancel);
	backfill_progress(sim.backfill, text, sizeof(text));
	CHECK(
	    strncmp(text, "ended before its end: backfill of alpha", 39) == 0);
	backfill_record(sim.backfill, record(&row, JOB_BACKFILL, &id));
	sim_run(10000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	end();
}

/*
 * A held run waits for no script.  One of an earlier version may do so: it is
 * released although it is behind a later run in the order of due times.
 */
static void
test_held_due(void)
{
	static const struct row later = { 2, 190900, 191000, 192000, 0,
		END_COMPLETED };
	struct run_key key = { "alpha", 1, 1000 };
	struct spool_run run;
	int64_t id;
	int i;

	begin();
	spool_policy(sim.spool)->more_wait = SIM_MINUTE;
	CHECK_INT(record(&row, JOB_BACKFILL | JOB_MORE, &id), PUT_NEW);
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	CHECK_INT(run.due[DEST_REST], DUE_AFTER_LIVE);
	run.due[DEST_REST] = spool_now(sim.spool) + SIM_MINUTE;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	CHECK_INT(record(&later, JOB_BACKFILL, &id), PUT_NEW);
	backfill_held(sim.backfill);
	sim_run(3000);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=1000-") != NULL);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_state(1, 1000), START_DUE_ENDED);
	CHECK_INT(sim_state(2, 191000), BACKFILL_HELD);
	sim_run(SIM_MINUTE);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":1,") != NULL);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(3000);
	for (i = 0; i < 100 && sim_waits(REQUEST_LIST) > 0; i++) {
		sim_answer(REQUEST_LIST, 200, LIST(""));
		sim_run(1000);
	}
	CHECK_INT(sim_state(2, 191000), START_DUE_ENDED);
	end();
}

static unsigned n_told;

static void
on_line(const struct log_line *line)
{
	n_told += strstr(line->text, "1 runs of a backfill that is over") !=
	    NULL;
}

/*
 * A held run of a spool without a backfill: it arrived after a cancellation, or
 * the spool was recovered.  The next process sends it.  The configuration is in
 * force after the boxes are made.
 */
static void
test_late_restart(void)
{
	int64_t id;

	begin();
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(sim_state(1, 1000), BACKFILL_HELD);
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	n_told = 0;
	log_sink_set(on_line);
	sim.backfill = backfill_new(&sim);
	spool_policy(sim.spool)->to[DEST_REST] = 1;
	sim_run(10000);
	CHECK_INT(n_told, 1);
	log_sink_set(log_line_send);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	end();
}

/* Held runs of a destination that is not configured any more are not sent. */
static void
test_held_without_destination(void)
{
	int64_t id;

	begin();
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(sim_state(1, 1000), BACKFILL_HELD);
	spool_policy(sim.spool)->to[DEST_REST] = 0;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
	n_told = 0;
	log_sink_set(on_line);
	sim.backfill = backfill_new(&sim);
	sim_run(10000);
	CHECK_INT(n_told, 0);
	log_sink_set(log_line_send);
	CHECK_INT(sim_waits(REQUEST_LIST), 0);
	spool_policy(sim.spool)->to[DEST_REST] = 1;
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	end();
}

/*
 * A run that is also found without the backfill is no longer held: the end of the
 * backfill does not remove it.  One that was delivered before waits for the list.
 */
static void
test_found_otherwise(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int64_t id;
	int done;

	for (done = 0; done < 2; done++) {
		begin();
		if (done)
			run_done(&row, 0);
		backfill_ctl(sim.backfill, 1, &req);
		sim_run(0);
		CHECK_INT(record(&row, JOB_BACKFILL, &id),
		    done ? PUT_HELD : PUT_NEW);
		CHECK_INT(sim_state(1, 1000), BACKFILL_HELD);
		CHECK_INT(record(&row, 0, &id), done ? PUT_KNOWN : PUT_MERGED);
		CHECK_INT(sim_state(1, 1000),
		    done ? BACKFILL_HELD : START_DUE_ENDED);
		backfill_ctl(sim.backfill, 2, &cancel);
		sim_run(1000);
		CHECK_INT(sim_waits(REQUEST_START), !done);
		end();
	}
}

/* A held run whose user opts out is not sent; nor is one that may be delivered. */
static void
test_found_unsent(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int64_t id;
	int low_water;

	for (low_water = 0; low_water < 2; low_water++) {
		begin();
		if (low_water)
			sim.spool->now.low_water = row.end + 1;
		backfill_ctl(sim.backfill, 1, &req);
		sim_run(0);
		CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
		record(&row, low_water ? 0 : JOB_OPTED_OUT, &id);
		CHECK_INT(sim_state(1, 1000),
		    low_water ? BACKFILL_HELD : RUN_STATE__COUNT);
		backfill_ctl(sim.backfill, 2, &cancel);
		sim_run(1000);
		CHECK_INT(sim_waits(REQUEST_START), 0);
		end();
	}
}

/* requeuedRuns "last": a held run that is released replaces, or is replaced. */
static void
test_found_requeued(void)
{
	static const struct row early = { 1, 900, 1000, 1010, 0, END_REQUEUED };
	static const struct row later = { 1, 1010, 1100, 2000, 0,
		END_COMPLETED };
	struct ctl_request req = { .a = FROM, .b = TO };
	int64_t id;
	int held;

	for (held = 0; held < 3; held++) {
		begin();
		spool_policy(sim.spool)->last_requeued = 1;
		backfill_ctl(sim.backfill, 1, &req);
		sim_run(0);
		if (held == 1)
			record(&early, JOB_BACKFILL, &id);
		else if (held == 2)
			record(&later, JOB_BACKFILL, &id);
		record(held == 2 ? &early : &later, 0, &id);
		record(held == 2 ? &later : &early, 0, &id);
		CHECK_INT(sim_state(1, 1000), RUN_STATE__COUNT);
		CHECK_INT(sim_state(1, 1100), START_DUE_ENDED);
		end();
	}
}

/* Until the collector has ended the cancelled range, its watermark ends no other. */
static void
test_late_watermark(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int i;

	begin();
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	backfill_ctl(sim.backfill, 2, &cancel);
	/* The collector was told, of an earlier cancellation, too. */
	sim.backfill->ends = 2;
	backfill_ctl(sim.backfill, 3, &req);
	sim_run(0);
	for (i = 0; i < 2; i++) {
		CHECK_INT(sim.backfill->step, BACKFILL_ASKED);
		backfill_watermark(sim.backfill, "alpha", TO);
		CHECK_INT(sim.backfill->step, BACKFILL_ASKED);
		backfill_watermark(sim.backfill, "alpha", 0);
	}
	/* An answer to an earlier submitter. */
	backfill_watermark(sim.backfill, "alpha", 0);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	CHECK_INT(sim.backfill->active, 0);
	end();
}

/*
 * The submitter died after a cancellation and a new command: the next process gets
 * the answer before it asks for its first chunk.
 */
static void
test_late_end(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };

	begin();
	backfill_ctl(sim.backfill, 1, &req);
	CHECK_INT(sim.backfill->chunk_to, 0);
	backfill_watermark(sim.backfill, "alpha", 0);
	CHECK_INT(sim.backfill->at, FROM);
	sim_run(0);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	CHECK_INT(sim.backfill->active, 0);
	end();
}

/* The spool still has a cluster that was removed from the key clusters. */
static void
test_removed_cluster(void)
{
	struct ctl_request req = { .a = FROM, .b = TO, .text = "alpha" };

	begin();
	sim.clusters = (struct cluster_names) { .names = { "beta" },
		.n = 1,
		.configured = 1 };
	backfill_ctl(sim.backfill, 1, &req);
	CHECK_INT(sim.backfill->active, 0);
	snprintf(sim.clusters.names[0], CLUSTER_MAX, "alpha");
	backfill_ctl(sim.backfill, 2, &req);
	CHECK_INT(sim.backfill->active, 1);
	end();
}

/* Slurm has not answered: the spool has no cluster that may be read. */
static void
test_no_cluster_yet(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };

	begin();
	sim.clusters = (struct cluster_names) { .names = { "beta" },
		.n = 1,
		.configured = 1 };
	backfill_ctl(sim.backfill, 1, &req);
	CHECK_INT(sim.backfill->active, 0);
	CHECK(strstr(sim_told(), "the cluster is not known yet") != NULL);
	end();
}

/* ClusterName was changed: what was read is sent, and the next command begins. */
static void
test_cluster_gone(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };
	int64_t id;

	begin();
	backfill_watermark(sim.backfill, "alpha", WATERMARK_NO_CLUSTER);
	backfill_ctl(sim.backfill, 1, &req);
	/* Answers to earlier questions. */
	backfill_watermark(sim.backfill, "alpha", WATERMARK_NO_CLUSTER);
	CHECK_INT(sim.backfill->active, 1);
	sim_run(0);
	CHECK_INT(sim.backfill->step, BACKFILL_ASKED);
	backfill_record(sim.backfill, record(&row, JOB_BACKFILL, &id));
	backfill_watermark(sim.backfill, "beta", WATERMARK_NO_CLUSTER);
	CHECK_INT(sim.backfill->active, 1);
	backfill_watermark(sim.backfill, "alpha", WATERMARK_NO_CLUSTER);
	CHECK_INT(sim.backfill->active, 0);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(10000);
	CHECK_INT(n_sent(), 1);
	backfill_ctl(sim.backfill, 2, &req);
	CHECK_INT(sim.backfill->active, 1);
	end();
}

static void
test_cluster_gone_dry(void)
{
	struct ctl_request req = { .flags = CTL_FLAG_DRY_RUN,
		.a = FROM,
		.b = TO };

	begin();
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	backfill_watermark(sim.backfill, "alpha", WATERMARK_NO_CLUSTER);
	CHECK_INT(sim.backfill->look, 0);
	CHECK(strstr(sim_told(), "error: Slurm has no cluster") != NULL);
	end();
}

/* A dry run that ends at its time limit is no success: a part is missing. */
static void
test_dry_limit(void)
{
	struct ctl_request req = { .flags = CTL_FLAG_DRY_RUN,
		.a = FROM,
		.b = FROM + 12 * 3600 };

	begin();
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(569000);
	sim_told();
	backfill_watermark(sim.backfill, "alpha", FROM + 6 * 3600);
	sim.backfill->until = 0; /* the next chunk would begin too late */
	sim_run(1000);
	CHECK_INT(sim.backfill->look, 0);
	CHECK_STR(sim_told(),
	    "error: time limit reached: checked up to "
	    "1970-01-01T06:00:01+00:00, 0 runs would be sent\n");
	end();
}

static int64_t range_to; /* of the last message to the collector */

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	char cluster[CLUSTER_MAX];

	(void)c;
	(void)fd;
	(void)arg;
	if (h->type != MSG_BACKFILL_RANGE)
		return;
	rd_name(r, cluster, sizeof(cluster));
	CHECK_STR(cluster, "alpha");
	rd_time(r);
	range_to = rd_time(r);
}

static const struct channel_ops channel_ops = { on_frame, channel_pair_broken,
	NULL };

/* slurmdbd does not answer: the dry run ends, and the next backfill begins. */
static void
test_dry_unanswered(void)
{
	struct ctl_request req = { .flags = CTL_FLAG_DRY_RUN,
		.a = FROM,
		.b = TO };
	struct ctl_request real = { .a = FROM, .b = TO };
	struct channel_pair pair;

	begin();
	channel_pair_open(&pair, sim.w->base, ROLE_SUBMITTER, ROLE_COLLECTOR,
	    &channel_ops);
	sim.w->peers[ROLE_COLLECTOR] = pair.ours;
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(569000);
	loop_settle(sim.w->base);
	CHECK_INT(range_to, TO);
	CHECK_INT(sim.backfill->look, 1);
	sim_told();
	sim_run(2000);
	loop_settle(sim.w->base);
	CHECK_INT(range_to, 0);
	CHECK_INT(sim.backfill->look, 0);
	CHECK_STR(sim_told(),
	    "error: time limit reached: checked up to "
	    "1970-01-01T00:00:01+00:00, 0 runs would be sent; accounting has "
	    "not answered\n");
	backfill_watermark(sim.backfill, "alpha", 0);
	backfill_ctl(sim.backfill, 2, &real);
	sim_run(0);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	CHECK_INT(sim.backfill->active, 0);
	CHECK_INT(sim.backfill->at, TO);
	sim.w->peers[ROLE_COLLECTOR] = NULL;
	channel_pair_close(&pair);
	end();
}

/* A collector that has died answers nothing. */
static void
test_no_answer(void)
{
	struct ctl_request req = { .a = FROM, .b = TO };

	begin();
	sim.backfill->ends = 1;
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	backfill_peer(sim.backfill);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	CHECK_INT(sim.backfill->active, 0);
	end();
}

static void
dry_record(const struct row *of)
{
	struct job job;

	job_init(&job);
	job.key = (struct run_key) { "alpha", of->job, of->start };
	job.end = of->end;
	job.state = of->state;
	job.flags = JOB_HAS_START | JOB_BACKFILL;
	backfill_dryrun_record(sim.backfill, &job);
	job_clear(&job);
}

/* The dry run of rows that are not stored, up to its list; next: or NULL. */
static void
dry_run_two(const struct row *of, const struct row *next)
{
	struct ctl_request req = { .flags = CTL_FLAG_DRY_RUN,
		.a = FROM,
		.b = TO };

	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	dry_record(of);
	if (next != NULL)
		dry_record(next);
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
}

static void
dry_run(const struct row *of)
{
	dry_run_two(of, NULL);
}

/* A list of cc-backend takes longer than the time that is left. */
static void
test_dry_list_unanswered(void)
{
	begin();
	dry_run(&row);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_told();
	sim_run(571000);
	CHECK_INT(sim.backfill->look, 0);
	/* The chunk was read, but not compared. */
	CHECK_STR(sim_told(),
	    "error: time limit reached: checked up to "
	    "1970-01-01T00:00:01+00:00, 0 runs would be sent\n");
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_STR(sim_told(), "");
	end();
}

/* The same with a dry run after a backfill, and after another dry run. */
static void
test_cancelled_dryrun(void)
{
	static const struct row next = { 2, 90900, 91000, 92000, 0,
		END_COMPLETED };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int after_dry;

	for (after_dry = 0; after_dry < 2; after_dry++) {
		begin();
		run_done(&row, 0);
		if (after_dry)
			dry_run(&row);
		else
			backfill(&row);
		CHECK_INT(sim_waits(REQUEST_LIST), 1);
		backfill_ctl(sim.backfill, 2, &cancel);
		dry_run(&next);
		sim_told();
		sim_answer(REQUEST_LIST, 200, LIST(""));
		sim_run(2000);
		CHECK_STR(sim_told(), "");
		CHECK_INT(sim_waits(REQUEST_LIST), 1);
		sim_answer(REQUEST_LIST, 200,
		    LIST(SIM_JOB(2, 91000, "completed", 1000)));
		sim_run(1000);
		CHECK_STR(sim_told(),
		    "ok: 1 ended runs in accounting, 0 would be sent\n");
		end();
	}
}

/* A dry run is cancelled between two lists: the next one begins anew. */
static void
test_cancelled_between_lists(void)
{
	static const struct row next = { 2, 190900, 191000, 192000, 0,
		END_COMPLETED };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };

	begin();
	run_done(&row, 0);
	dry_run_two(&row, &next);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	backfill_ctl(sim.backfill, 2, &cancel);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	dry_run(&next);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	sim_told();
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK(strstr(sim_told(),
		  "ok: 1 ended runs in accounting, 1 would be sent\n") != NULL);
	end();
}

/*
 * Many runs of another cluster are held, from a backfill whose progress was
 * lost, and began before the run of this one.
 */
static void
test_other_cluster(void)
{
	struct row held = { 0, 900, 950, 2000, 0, END_COMPLETED };
	struct ctl_request req = { .a = FROM, .b = TO, .text = "alpha" };
	int64_t id;

	begin();
	for (held.job = 100; held.job < 100 + 2 * SPOOL_PAGE; held.job++)
		CHECK_INT(record_of("beta", &held, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(1000);
	CHECK(strstr(sim_path(REQUEST_LIST), "cluster=alpha") != NULL);
	sim_answer(REQUEST_LIST, 200, LIST(""));
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"startTime\":1000") != NULL);
	sim_answer(REQUEST_START, 201, "{}");
	sim_run(1000);
	/* then the other cluster */
	CHECK(strstr(sim_path(REQUEST_LIST), "cluster=beta") != NULL);
	end();
}

/* --- backfill --nats --- */

#define NATS_FROM  20000 /* seconds ago */
#define NATS_UNTIL (base + 4000)

static int64_t base; /* epoch: the range begins */
static struct row nats_row = { 1, 0, 0, 0, 0, END_COMPLETED };

static void
nats_begin(int rest)
{
	begin();
	base = time(NULL) - NATS_FROM;
	nats_row.submit = base + 900;
	nats_row.start = base + 1000;
	nats_row.end = base + 2000;
	spool_policy(sim.spool)->to[DEST_REST] = rest;
	spool_policy(sim.spool)->to[DEST_NATS] = 1;
}

static struct spool_run
run_of(uint64_t job, int64_t start)
{
	struct run_key key = { "alpha", job, start };
	struct spool_run run;

	memset(&run, 0, sizeof(run));
	CHECK_INT(spool_find(sim.spool, &key, &run), 1);
	return run;
}

/* The broker confirms the message that is due. */
static void
nats_sent(uint64_t job, int64_t start)
{
	struct spool_run run = run_of(job, start);
	int stop = run.state[DEST_NATS] == STOP_DUE;

	run.since[DEST_NATS] = spool_now(sim.spool);
	run_move(sim.spool, &run, DEST_NATS,
	    stop ? RUN_EVENT_STOPPED : RUN_EVENT_ACCEPTED, DUE_NOW, NULL);
	CHECK_INT(spool_save(sim.spool, &run), 0);
}

/* A run whose start is published, and known to cc-backend. */
static void
run_published(uint64_t job, int64_t start)
{
	struct spool_run run;

	sim_put(job, start, 0);
	nats_sent(job, start);
	run = run_of(job, start);
	run_move(sim.spool, &run, DEST_REST, RUN_EVENT_COMMITTED, DUE_NOW,
	    NULL);
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(1000);
}

static const char *
nats_command(unsigned flags)
{
	struct ctl_request req = { .a = base,
		.b = NATS_UNTIL,
		.flags = CTL_FLAG_NATS | flags };

	backfill_ctl(sim.backfill, 1, &req);
	return sim_told();
}

static const char *
nats_progress(void)
{
	struct ctl_request status = { .flags = CTL_FLAG_STATUS };

	sim_told();
	backfill_ctl(sim.backfill, 2, &status);
	return sim_told();
}

/* The ordinary queries have read accounting up to the end of the range. */
static void
accounting_complete(void)
{
	CHECK_INT(spool_watermark(sim.spool, "alpha", sim.backfill->to), 0);
}

/* The collector has read the range. */
static void
nats_read(void)
{
	backfill_watermark(sim.backfill, "alpha", sim.backfill->to);
	sim_run(1000);
}

/* A run that is done is published again, and nothing is sent to cc-backend. */
static void
test_nats_done(void)
{
	struct spool_run run;
	int64_t id;

	nats_begin(1);
	run_done(&nats_row, 0);
	CHECK(strstr(nats_command(0), "ok: begun") != NULL);
	accounting_complete();
	sim_run(5000);
	backfill_record(sim.backfill, record(&nats_row, JOB_BACKFILL, &id));
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_REST], RUN_NONE);
	CHECK_INT(run.state[DEST_NATS], BACKFILL_HELD);
	nats_read();
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	CHECK(run.flags & RUN_REPUBLISHED);
	nats_sent(1, base + 1000);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STOP_DUE);
	nats_sent(1, base + 1000);
	sim_run(10000);
	CHECK_INT(spool_runs(sim.spool), 0);
	CHECK(strstr(sim_path(REQUEST_LIST), "start-time=") == NULL);
	CHECK_INT(n_sent(), 0);
	CHECK(strstr(nats_progress(), "1 published again") != NULL);
	CHECK(strstr(nats_progress(), "done: ") != NULL);
	end();
}

/*
 * A recent run without a tombstone is not delivered yet: cc-backend must get it
 * too, so a live record does that.  An old one has lost its tombstone.
 */
static void
test_nats_unknown(void)
{
	int64_t id;
	struct row recent, later;

	nats_begin(1);
	recent = (struct row) { 7, base, base + 100, base + 200, 0,
		END_COMPLETED };
	later = (struct row) { 8, base, NATS_UNTIL + 1, base + 5000, 0,
		END_COMPLETED };
	spool_set_limits(sim.spool, 1 << 30, 86400);
	nats_command(0);
	CHECK_INT(record(&recent, JOB_BACKFILL, &id), PUT_KNOWN);
	CHECK_INT(spool_runs(sim.spool), 0);
	CHECK_INT(record(&recent, 0, &id), PUT_NEW);
	CHECK_INT(run_of(7, recent.start).state[DEST_REST], START_DUE_ENDED);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(run_of(row.job, row.start).state[DEST_REST], RUN_NONE);
	/* a run that began after --to was published after the loss */
	run_done(&later, 0);
	CHECK_INT(record(&later, JOB_BACKFILL, &id), PUT_KNOWN);
	end();
	/* with NATS only, each destination gets it */
	nats_begin(0);
	spool_set_limits(sim.spool, 1 << 30, 86400);
	nats_command(0);
	CHECK_INT(record(&recent, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(run_of(7, recent.start).state[DEST_NATS], BACKFILL_HELD);
	end();
}

/* slurmdbd gets an end late: the range is read when accounting is complete. */
static void
test_nats_waits(void)
{
	nats_begin(1);
	run_done(&nats_row, 0);
	nats_command(0);
	sim_run(60000);
	CHECK(strstr(nats_progress(), "waits until slurmdbd") != NULL);
	accounting_complete();
	sim_run(5000);
	CHECK(strstr(nats_progress(), "reads accounting") != NULL);
	end();
	/* but not for ever, and once for all chunks */
	nats_begin(1);
	run_done(&nats_row, 0);
	nats_command(0);
	sim.backfill->to += SIM_MINUTE;
	sim_run(20 * SIM_MINUTE);
	CHECK(strstr(nats_progress(), "reads accounting") != NULL);
	backfill_watermark(sim.backfill, "alpha", sim.backfill->chunk_to);
	sim_run(5000);
	CHECK(strstr(nats_progress(), "reads accounting") != NULL);
	end();
}

/* The start of a running run is published again; REST is as before. */
static void
test_nats_running(void)
{
	struct spool_run run;

	nats_begin(1);
	run_published(1, base + 1000);
	run_published(2, base + 2000);
	run_published(3, NATS_UNTIL + 1); /* began after the loss */
	nats_command(0);
	run_published(4, base + 3000); /* published after the command */
	accounting_complete();
	sim_run(5000);
	/* this one ends before its start is published again */
	sim_put(2, base + 2000, base + 3500);
	run = run_of(2, base + 2000);
	CHECK_INT(run.state[DEST_NATS], STOP_DUE);
	CHECK_INT(spool_republish(sim.spool, &run), 1); /* page_send() */
	CHECK_INT(run_of(2, base + 2000).state[DEST_NATS], BACKFILL_HELD);
	nats_read();
	CHECK_INT(run_of(2, base + 2000).state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STARTED);
	nats_sent(2, base + 2000);
	nats_sent(2, base + 2000);
	sim_run(5000);
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_NATS], START_DUE);
	CHECK_INT(run.state[DEST_REST], START_COMMITTED);
	CHECK(run.flags & RUN_REPUBLISHED);
	nats_sent(1, base + 1000);
	sim_run(5000);
	CHECK_INT(run_of(3, NATS_UNTIL + 1).state[DEST_NATS], STARTED);
	CHECK_INT(run_of(4, base + 3000).state[DEST_NATS], STARTED);
	CHECK(strstr(nats_progress(), "done: ") != NULL);
	CHECK(strstr(nats_progress(), " 2 published again") != NULL);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STARTED);
	/* once only */
	sim_run(5000);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STARTED);
	end();
}

/* A stop that was under way when the command came: its answer publishes. */
static void
test_nats_under_way(void)
{
	struct spool_run run;

	nats_begin(1);
	run_published(1, base + 1000);
	sim_put(1, base + 1000, base + 2000);
	run = run_of(1, base + 1000);
	run.due[DEST_NATS] = DUE_LEASED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	nats_command(0);
	accounting_complete();
	sim_run(5000);
	nats_read();
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STOP_DUE);
	CHECK(strstr(nats_progress(), "done: ") == NULL);
	run = run_of(1, base + 1000);
	CHECK_INT(spool_republish(sim.spool, &run), 1); /* see row_sent() */
	sim_run(5000);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(run_of(1, base + 1000).state[DEST_REST], STOP_DUE);
	end();
}

/* Published, but cc-backend is away: the row of the spool is published again. */
static void
test_nats_waits_for_rest(void)
{
	struct spool_run run;
	int64_t id;

	nats_begin(1);
	sim_put(1, base + 1000, base + 2000);
	nats_sent(1, base + 1000);
	nats_sent(1, base + 1000);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], RUN_DONE);
	sim_run(1000);
	nats_command(0);
	CHECK_INT(record(&nats_row, JOB_BACKFILL, &id), PUT_HELD);
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_NATS], BACKFILL_HELD);
	CHECK_INT(run.state[DEST_REST], START_DUE_ENDED);
	/* --cancel must not discard what cc-backend still has to get */
	backfill_ctl(sim.backfill, 3,
	    &(struct ctl_request) { .flags = CTL_FLAG_CANCEL });
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(run.state[DEST_REST], START_DUE_ENDED);
	/* and what is published from now on is published once */
	CHECK_INT(spool_policy(sim.spool)->republish.before, 0);
	end();
}

/* --cancel keeps a run that an earlier backfill still has to deliver. */
static void
test_nats_cancelled(void)
{
	struct spool_run run;
	int64_t id;

	nats_begin(1);
	sim_put(1, base + 1000, base + 2000);
	nats_sent(1, base + 1000);
	run = run_of(1, base + 1000);
	run.flags |= RUN_BACKFILL | RUN_KEY_FIXED;
	CHECK_INT(spool_save(sim.spool, &run), 0);
	sim_run(1000);
	nats_command(0);
	CHECK_INT(record(&nats_row, JOB_BACKFILL, &id), PUT_HELD);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	sim_told();
	backfill_ctl(sim.backfill, 3,
	    &(struct ctl_request) { .flags = CTL_FLAG_CANCEL });
	CHECK(strstr(sim_told(), "; 1 held runs are removed") != NULL);
	run = run_of(1, base + 1000);
	CHECK_INT(run.state[DEST_NATS], START_DUE_ENDED);
	CHECK_INT(run.state[DEST_REST], START_DUE_ENDED);
	end();
}

/* Late records of a cancelled backfill by NATS are listed in cc-backend, too. */
static void
test_late_nats(void)
{
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int64_t id;

	nats_begin(1);
	run_done(&nats_row, 0);
	nats_command(0);
	backfill_ctl(sim.backfill, 3, &cancel);
	backfill_record(sim.backfill, record(&nats_row, JOB_BACKFILL, &id));
	sim_run(10000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	end();
}

/*
 * A late record of a cancelled backfill by REST is held while one by NATS is
 * under way: it is listed in cc-backend when this one is done or cancelled.
 */
static void
test_late_rest(int cancelled)
{
	struct ctl_request req = { 0 };
	struct ctl_request cancel = { .flags = CTL_FLAG_CANCEL };
	int64_t id;

	nats_begin(1);
	run_done(&nats_row, 0);
	req.a = base;
	req.b = NATS_UNTIL;
	backfill_ctl(sim.backfill, 1, &req);
	backfill_ctl(sim.backfill, 2, &cancel);
	CHECK_INT(record(&nats_row, JOB_BACKFILL, &id), PUT_HELD);
	backfill_record(sim.backfill, PUT_HELD);
	sim_told();
	CHECK(strstr(nats_command(0), "ok: begun") != NULL);
	accounting_complete();
	sim_run(5000);
	CHECK(!sim.backfill->job_list.busy);
	if (cancelled)
		backfill_ctl(sim.backfill, 3, &cancel);
	else
		nats_read();
	sim_run(10000);
	CHECK(!sim.backfill->active);
	CHECK_INT(run_of(1, base + 1000).state[DEST_REST], BACKFILL_HELD);
	CHECK(sim.backfill->job_list.busy);
	end();
}

/* The disk refuses the commit: the walk begins again. */
static void
test_nats_rolled_back(void)
{
	nats_begin(1);
	run_published(1, base + 1000);
	nats_command(0);
	accounting_complete();
	sim_run(5000);
	backfill_watermark(sim.backfill, "alpha", sim.backfill->to);
	CHECK_INT(commit_now(sim.commit), 0);
	nats_walk_begin(sim.backfill);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], START_DUE);
	commit_fail(sim.commit);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], STARTED);
	sim_run(10000);
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], START_DUE);
	end();
}

/* After a kill, the next process continues. */
static void
test_nats_killed(void)
{
	nats_begin(1);
	run_published(1, base + 1000);
	nats_command(0);
	accounting_complete();
	memset(&spool_policy(sim.spool)->republish, 0,
	    sizeof(struct spool_republish));
	sim.backfill = backfill_new(&sim);
	CHECK(spool_policy(sim.spool)->republish.before > 0);
	CHECK(spool_policy(sim.spool)->republish.id > 0);
	sim_run(5000);
	nats_read();
	CHECK_INT(run_of(1, base + 1000).state[DEST_NATS], START_DUE);
	end();
}

static void
test_nats_refused(void)
{
	begin();
	run_done(&nats_row, 0);
	CHECK(strstr(nats_command(0), "natsServer is not configured") != NULL);
	end();
}

/*
 * A reload removes natsServer while a chunk is read: its runs have no
 * destination, so they get no row, and the backfill ends.
 */
static void
test_nats_removed(void)
{
	struct spool_dest_change c;
	struct ctl_request req = { .a = FROM, .b = TO };
	int64_t id;

	nats_begin(1);
	run_done(&nats_row, 0);
	CHECK(spool_destinations_change(sim.spool, &c) >= 0);
	nats_command(0);
	accounting_complete();
	sim_run(5000);
	CHECK_INT(sim.backfill->step, BACKFILL_ASKED);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	CHECK_INT(spool_destinations_change(sim.spool, &c), 1);
	CHECK_INT(record(&nats_row, JOB_BACKFILL, &id), PUT_KNOWN);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_KNOWN);
	CHECK_INT(spool_runs(sim.spool), 0);
	nats_read();
	CHECK_INT(sim.backfill->active, 0);
	CHECK(strstr(nats_progress(), "ended before its end: ") != NULL);
	sim_run(10000);
	CHECK_INT(spool_policy(sim.spool)->republish.records, 0);
	CHECK_INT(spool_runs(sim.spool), 0);
	CHECK_INT(n_sent(), 0);
	/* an ordinary backfill does not depend on natsServer */
	backfill_ctl(sim.backfill, 1, &req);
	CHECK_INT(sim.backfill->active, 1);
	CHECK_INT(record(&row, JOB_BACKFILL, &id), PUT_NEW);
	CHECK_INT(run_of(row.job, row.start).state[DEST_REST], BACKFILL_HELD);
	end();
}

/* A reload removes natsServer between two chunks, or before a restart. */
static void
test_nats_removed_between(void)
{
	nats_begin(1);
	nats_command(0);
	sim_run(60000);
	CHECK(strstr(nats_progress(), "waits until slurmdbd") != NULL);
	spool_policy(sim.spool)->to[DEST_NATS] = 0;
	sim.backfill = backfill_new(&sim);
	sim_run(5000);
	CHECK_INT(sim.backfill->active, 0);
	CHECK(strstr(nats_progress(), "ended before its end: ") != NULL);
	CHECK(strstr(nats_progress(), "idle") != NULL);
	end();
}

static void
probe_answer(int code)
{
	while (sim_waits(REQUEST_PROBE) > 0)
		sim_answer(REQUEST_PROBE, code,
		    "{\"error\":\"no such cluster: \"}");
	while (sim_waits(REQUEST_CLUSTERS) > 0)
		sim_answer(REQUEST_CLUSTERS, 200, "{\"clusters\":[]}");
}

/* The seconds of the list that is requested; 0 = it is of all starts. */
static int64_t
list_span(void)
{
	const char *p = strstr(sim_path(REQUEST_LIST), "start-time=");
	char *end;
	int64_t from;

	if (p == NULL)
		return 0;
	from = strtoll(p + strlen("start-time="), &end, 10);
	return strtoll(end + 1, NULL, 10) - from + 1;
}

/*
 * For s seconds at most, until a start is sent: lists of more than max seconds fail
 * with this code, and the probe has an answer.  Returns how many lists failed.
 */
static int
lists_time_out(int code, int64_t max, int s)
{
	int n = 0;

	for (; s > 0 && sim_waits(REQUEST_START) == 0; s--) {
		sim_run(1000);
		probe_answer(400);
		if (sim_waits(REQUEST_LIST) == 0)
			continue;
		if (list_span() > max) {
			n++;
			sim_answer(REQUEST_LIST, code, "<html>");
		} else
			sim_answer(REQUEST_LIST, 200, LIST(""));
	}
	return n;
}

/* A backfill of two runs: the starts are 4000 s apart. */
static void
backfill_two(void)
{
	static const struct row later = { 2, 4900, 5000, 6000, 0,
		END_COMPLETED };
	struct ctl_request req = { .a = FROM, .b = TO };
	int64_t id;

	run_done(&row, 0);
	run_done(&later, 0);
	backfill_ctl(sim.backfill, 1, &req);
	sim_run(0);
	backfill_record(sim.backfill, record(&row, JOB_BACKFILL, &id));
	backfill_record(sim.backfill, record(&later, JOB_BACKFILL, &id));
	backfill_watermark(sim.backfill, "alpha", TO);
	sim_run(1000);
	CHECK_INT(sim_waits(REQUEST_LIST), 1);
	CHECK_INT(list_span(), 4001);
}

/*
 * The list of a whole window takes too long for cc-backend (code 0) or a proxy: a
 * shorter one is listed.
 */
static void
test_list_times_out(int code)
{
	int n;

	begin();
	backfill_two();
	/* 4001 s are halved until they are 1000 s */
	n = lists_time_out(code, 1100, 600);
	CHECK_INT(n, 6);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":1,") != NULL);
	end();
}

/* Not even a list of one second has an answer: the answer to the start decides. */
static void
test_list_never_answered(void)
{
	begin();
	run_done(&row, 0);
	CHECK_INT(backfill(&row), PUT_HELD);
	CHECK_INT(lists_time_out(504, 0, 6000), 100);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	end();

	/* After the first of them, the next second is listed once. */
	begin();
	backfill_two();
	CHECK(lists_time_out(504, 0, 6000) >= 100);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	sim_answer(REQUEST_START, 201, "{}");
	CHECK_INT(lists_time_out(504, 0, 600), 1);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	CHECK(strstr(sim_body(REQUEST_START), "\"jobId\":2,") != NULL);
	end();
}

/* An outage shortens the window once; later windows are longer again. */
static void
test_outage_keeps_window(void)
{
	int s;

	begin();
	backfill_two();
	for (s = 0; s < 7200; s++) {
		while (sim_waits(REQUEST_LIST) > 0)
			sim_answer(REQUEST_LIST, 0, NULL);
		probe_answer(0);
		sim_run(1000);
	}
	CHECK_INT(sim.backfill->width_max, 2000);
	CHECK_INT(n_sent(), 0);
	CHECK_INT(lists_time_out(0, 2000, 600), 0);
	CHECK_INT(sim_waits(REQUEST_START), 1);
	for (s = 1; s < 16; s++)
		window_listed(sim.backfill);
	CHECK_INT(sim.backfill->width_max, 4000);
	for (s = 0; s < 16 * 5; s++)
		window_listed(sim.backfill);
	CHECK_INT(sim.backfill->width_max, WINDOW_S);
	end();
}

#define CHUNK 21600 /* seconds of accounting that are read at once */

/* The time that is left follows from the speed of this backfill. */
static void
test_progress(void)
{
	struct ctl_request req = { .a = FROM, .b = FROM + 4 * CHUNK };
	struct ctl_request status = { .flags = CTL_FLAG_STATUS };
	const char *text;

	begin();
	record(&row, 0, &(int64_t) { 0 });
	backfill_ctl(sim.backfill, 1, &req);
	sim_told();
	backfill_ctl(sim.backfill, 2, &status);
	text = sim_told();
	CHECK(strstr(text, "(0 %), ") != NULL);
	sim_run(20000);
	backfill_watermark(sim.backfill, "alpha", FROM + CHUNK);
	sim_told();
	backfill_ctl(sim.backfill, 2, &status);
	text = sim_told();
	CHECK(strstr(text, "(25 %, about 1 min left), ") != NULL);
	end();
}

int
main(void)
{
	test_progress();
	test_listed();
	test_lost();
	test_listed_running();
	test_moved();
	test_resized();
	test_not_restored();
	test_nats();
	test_twice();
	test_cancelled();
	test_late_record();
	test_held_due();
	test_late_restart();
	test_held_without_destination();
	test_found_otherwise();
	test_found_unsent();
	test_found_requeued();
	test_late_watermark();
	test_late_end();
	test_removed_cluster();
	test_no_cluster_yet();
	test_no_answer();
	test_cluster_gone();
	test_cluster_gone_dry();
	test_dry_limit();
	test_dry_unanswered();
	test_dry_list_unanswered();
	test_late_nats();
	test_late_rest(0);
	test_late_rest(1);
	test_cancelled_dryrun();
	test_cancelled_between_lists();
	test_other_cluster();
	test_nats_done();
	test_nats_unknown();
	test_nats_waits();
	test_nats_running();
	test_nats_under_way();
	test_nats_waits_for_rest();
	test_nats_cancelled();
	test_nats_rolled_back();
	test_nats_killed();
	test_nats_removed();
	test_nats_removed_between();
	test_nats_refused();
	test_list_times_out(504);
	test_list_times_out(0);
	test_list_never_answered();
	test_outage_keeps_window();
	return check_done();
}
