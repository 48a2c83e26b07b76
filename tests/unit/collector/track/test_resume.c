/* SPDX-License-Identifier: MIT */
/*
 * Where a new collector, or one with a new submitter, goes on: the resume
 * points and open runs of the spool, and the time of the last-run file.
 */
#include "config.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <unistd.h>

#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct cluster *c;

/* A submitter is there and has said nothing yet. */
static void
begin(void)
{
	c = sim_begin(NULL, NULL);
	c->resume.point = 0;
	resume_unsynced(c->site);
}

static void
spool_has_point(const char *cluster, int64_t until)
{
	struct resume_point
	    *p = &c->site->resume_points[c->site->n_resume_points++];

	snprintf(p->cluster, sizeof(p->cluster), "%s", cluster);
	p->until = until + SIM_EPOCH;
}

static void
spool_has_run(const char *cluster, uint64_t job, int64_t start, unsigned bits)
{
	struct open_key open = { .key = { .job = job,
				     .start = start + SIM_EPOCH },
		.submit = start - 5 + SIM_EPOCH };

	snprintf(open.key.cluster, sizeof(open.key.cluster), "%s", cluster);
	resume_open(c->site, &open, bits);
}

#define NONE SIM_NEVER
#define LOST (RESUME_LOST - SIM_EPOCH)

/* The resume point: the spool's, else the last-run file's, else none. */
static const struct {
	int64_t alpha; /* in the spool; NONE = not there */
	int64_t beta;
	int64_t file;
	int64_t want;
} points[] = {
	{ 500, NONE, NONE, 500 },
	{ 500, 800, 700, 500 },
	{ NONE, 800, 700, 700 },
	{ NONE, NONE, 700, 700 },
	/* Slurm's clock shows 1000. */
	{ NONE, NONE, 1001, -SIM_EPOCH },
	{ NONE, 800, NONE, -SIM_EPOCH },
	/* lost with a damaged spool: the file has this point */
	{ LOST, 800, 700, -SIM_EPOCH },
	{ 800, LOST, 700, 800 },
	{ NONE, LOST, 700, 700 },
};

static void
test_points(void)
{
	size_t i;

	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		begin();
		if (points[i].file != NONE)
			sim_lastrun_set(points[i].file + SIM_EPOCH);
		if (points[i].alpha != NONE)
			spool_has_point("alpha", points[i].alpha);
		if (points[i].beta != NONE)
			spool_has_point("beta", points[i].beta);
		CHECK(!c->synced);
		/* Slurm may answer before the submitter. */
		resume_cluster(c);
		CHECK(!c->work.read_day);
		resume_synced(c->site);
		CHECK(c->synced);
		CHECK_INT(c->resume.point - SIM_EPOCH, points[i].want);
		/* The file may be that of a spool that was removed. */
		CHECK_INT(c->work.read_day, points[i].want == points[i].file);
	}
}

/* The file is the local cluster's. */
static void
test_other_cluster(void)
{
	begin();
	c->by_name = 1;
	sim_lastrun_set(SIM_EPOCH + 700);
	resume_synced(c->site);
	CHECK_INT(c->resume.point, 0);
}

/* The name of the cluster becomes known after the spool's answer. */
static void
test_name_later(void)
{
	begin();
	c->slurm.known = 0;
	spool_has_point("alpha", 500);
	spool_has_run("alpha", 10, 100, 0);
	spool_has_run("beta", 11, 100, 0);
	resume_synced(c->site);
	CHECK_INT(c->open.n, 0);
	CHECK_INT(c->resume.point, 0);
	c->slurm.known = 1;
	resume_cluster(c);
	CHECK_INT(c->resume.point, SIM_EPOCH + 500);
	CHECK_STR(sim_open(c, 10), "10/100");
	CHECK_STR(sim_open(c, 11), "");
}

/*
 * Open runs of the spool: the resources of a young one may have been under way
 * when the collector died, so they are asked for again.
 */
static const struct {
	int64_t start;
	unsigned bits;
	int caught_up;
	const char *open;
	unsigned detailed;
	int accounting; /* it is asked by id first */
} runs[] = {
	/* slurmPollInterval is 60 s, a script takes 15 s. */
	{ 924, 0, 0, "10/924", OPEN_RESOURCES_SENT, 0 },
	{ 925, 0, 0, "10/925", 0, 0 },
	/* A script may take long; one that has not come is fetched again. */
	{ 100, OPEN_RUNS_SCRIPT_DUE, 0, "10/100", 0, 0 },
	{ 100, OPEN_RUNS_UNCONFIRMED, 1, "10/100 held", OPEN_RESOURCES_SENT,
	    0 },
	/* Perhaps it was held for an earlier run. */
	{ 100, OPEN_RUNS_UNCONFIRMED, 0, "10/100 held", OPEN_RESOURCES_SENT,
	    1 },
};

static void
test_runs(void)
{
	struct open_run *run;
	size_t i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		begin();
		c->caught_up = runs[i].caught_up;
		spool_has_run("alpha", 10, runs[i].start, runs[i].bits);
		resume_synced(c->site);
		CHECK_STR(sim_open(c, 10), runs[i].open);
		run = open_find(&c->open, 10, runs[i].start + SIM_EPOCH);
		CHECK(run != NULL &&
		    (run->flags & OPEN_RESOURCES_SENT) == runs[i].detailed);
		CHECK_INT(run != NULL ? run->submit : 0,
		    runs[i].start - 5 + SIM_EPOCH);
		CHECK_INT(idmap_get(&c->work.accounting, 10) != NULL,
		    runs[i].accounting);
		CHECK_INT(idmap_get(&c->earlier, 10) != NULL,
		    runs[i].accounting);
	}
}

/* A submitter whose spool lacks runs gets them once more. */
static void
test_new_submitter(void)
{
	struct open_run *run;
	uint64_t job;

	begin();
	for (job = 10; job <= 12; job++) {
		run = open_put(&c->open, job, SIM_EPOCH + 100);
		run->flags = OPEN_RESOURCES_SENT | OPEN_RUNNING;
	}
	run->flags |= OPEN_LEFT;
	done_put(&c->done, 13, SIM_EPOCH + 100);
	resume_unsynced(c->site);
	spool_has_run("alpha", 10, 100, 0);
	resume_synced(c->site);
	run = open_find(&c->open, 10, SIM_EPOCH + 100);
	CHECK(run != NULL && (run->flags & OPEN_RESOURCES_SENT) != 0);
	run = open_find(&c->open, 11, SIM_EPOCH + 100);
	CHECK(run != NULL && (run->flags & OPEN_RESOURCES_SENT) == 0);
	/* slurmctld shows a run that has left no more: accounting has it. */
	run = open_find(&c->open, 12, SIM_EPOCH + 100);
	CHECK(run != NULL && (run->flags & OPEN_RESOURCES_SENT) != 0);
	CHECK(!done_has(&c->done, 13, SIM_EPOCH + 100));
}

/* The spool was damaged: the recovered one has an older point, or none. */
static void
test_older_spool(void)
{
	begin();
	spool_has_point("alpha", 500);
	resume_synced(c->site);
	resume_advanced(c, SIM_EPOCH + 800);
	resume_unsynced(c->site);
	spool_has_point("alpha", 600);
	resume_synced(c->site);
	CHECK_INT(c->resume.point - SIM_EPOCH, 600);
	CHECK_INT(c->resume.durable - SIM_EPOCH, 600);
	/* The configuration is read again. */
	resume_cluster(c);
	CHECK_INT(c->resume.point - SIM_EPOCH, 600);
	resume_unsynced(c->site);
	resume_synced(c->site);
	CHECK_INT(c->resume.point, 0);
}

static void
on_stored(void *arg)
{
	(void)arg;
}

/*
 * A watermark waits, and the spool of a new submitter has an older point than the
 * acknowledged one, or none: the watermark moves nothing.
 */
static const struct {
	int64_t until; /* the point of the new spool */
	const char *said;
	int64_t durable;
} waiting[] = {
	{ 800, "watermark 900", 900 },
	{ 850, "watermark 900", 900 },
	{ 600, "watermark -1795212355", 600 },
	{ LOST, "watermark -1795212355", -SIM_EPOCH },
	{ NONE, "watermark -1795212355", -SIM_EPOCH },
};

static void
advance(struct cluster *cluster, int64_t until)
{
	cluster->resume.durable = until;
}

static void
test_waiting_watermark(void)
{
	static const struct outbox_ops ops = { on_stored, on_stored, advance };
	size_t i;

	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		c = sim_begin(&ops, NULL);
		resume_unsynced(c->site);
		spool_has_point("alpha", 800);
		resume_synced(c->site);
		CHECK(outbox_watermark(c->outbox, c, SIM_EPOCH + 900) != 0);
		CHECK_STR(sim_said(), "watermark 900");
		outbox_peer(c->outbox, c->site->w->peers[ROLE_SUBMITTER]);
		resume_unsynced(c->site);
		if (waiting[i].until != NONE)
			spool_has_point("alpha", waiting[i].until);
		resume_synced(c->site);
		outbox_release(c->outbox);
		CHECK_STR(sim_said(), waiting[i].said);
		sim_stored(c);
		CHECK_INT(outbox_waiting(c->outbox), 0);
		CHECK_INT(c->resume.durable - SIM_EPOCH, waiting[i].durable);
	}
}

static void
on_flow(void *arg)
{
	sim_note(outbox_full(*(struct outbox **)arg) ? "pause" : "continue");
}

static void
on_advanced(struct cluster *cluster, int64_t until)
{
	(void)cluster;
	(void)until;
}

/* The submitter ended while its spool was full; the next one has room. */
static void
test_room_again(void)
{
	static const struct outbox_ops ops = { on_stored, on_flow,
		on_advanced };
	static struct outbox *outbox;

	begin();
	outbox = sim_keep(outbox_new(&ops, &outbox));
	outbox_peer(outbox, NULL);
	CHECK_STR(sim_said(), "");
	outbox_flow(outbox, 1);
	CHECK_STR(sim_said(), "pause");
	outbox_peer(outbox, NULL);
	CHECK_STR(sim_said(), "continue");
}

/* The last-run file follows the cluster that is furthest behind. */
static void
test_advanced(void)
{
	static struct cluster beta;

	begin();
	sim_lastrun_set(SIM_EPOCH);
	resume_advanced(c, SIM_EPOCH + 500);
	CHECK_INT(sim_lastrun() - SIM_EPOCH, 500);
	beta.site = c->site;
	beta.resume.durable = SIM_EPOCH + 550;
	c->site->clusters[c->site->n++] = &beta;
	resume_advanced(c, SIM_EPOCH + 600);
	CHECK_INT(c->resume.durable, SIM_EPOCH + 600);
	CHECK_INT(sim_lastrun() - SIM_EPOCH, 550);
	/* One cluster has no durable point yet: the file stays. */
	beta.resume.durable = 0;
	resume_advanced(c, SIM_EPOCH + 700);
	CHECK_INT(sim_lastrun() - SIM_EPOCH, 550);
}

int
main(void)
{
	test_points();
	test_other_cluster();
	test_name_later();
	test_runs();
	test_new_submitter();
	test_older_spool();
	test_waiting_watermark();
	test_room_again();
	test_advanced();
	return check_done();
}
