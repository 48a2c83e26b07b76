/* SPDX-License-Identifier: MIT */
/* What the answers of accounting mean: watermarks, ends, steps, lookups. */
#include "config.h"

#include <stdlib.h>

#include "collector/accounting/accounting.h"
#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define T	((int64_t)SIM_BEGIN)

static struct cluster *c;
static struct accounting *l;

/* What accounting_ops.answered() was called with last. */
static struct {
	unsigned	 n;
	uint64_t	 job;
	int		 ended;
	int		 known;
} answered;

static void
on_answered(void *arg, uint64_t job, int ended, int known)
{
	(void)arg;
	answered.n++;
	answered.job = job;
	answered.ended = ended;
	answered.known = known;
}

static const struct accounting_ops ops = { .answered = on_answered };

static void
begin(void)
{
	c = sim_cluster();
	l = acct_new(c, &ops, NULL);
	memset(&answered, 0, sizeof(answered));
	c->resume.point = T - 600;
	c->clock.works = c->clock.tried = 1;
	c->clock.drained = T;
	/* An operator, as this poll has proved. */
	c->permission_poll = c->listing.number;
}

static void
end(void)
{
	sim_end(c);
	free(l);
}

/* Answers the range question with these rows. */
static void
range_answer(const struct sim_row *rows, unsigned n)
{
	sim_answer(0, sim_rows(0, rows, n));
}

/* A run that is open, with these bits besides. */
static void
open_add(uint64_t job, int64_t submit, int64_t start, unsigned flags)
{
	struct open_run *run = open_put(&c->open, job, start);

	run->submit = (uint32_t)submit;
	run->flags = (uint8_t)(OPEN_DETAILED | flags);
}

static const struct sim_row ended = { 10, NULL, "COMPLETED", T - 500,
    T - 400, T - 100, NULL, NULL };

/* A complete answer earns a watermark: slurmctld's clock, its queue empty. */
static void
test_watermark(void)
{
	char from[32];

	begin();
	open_add(10, T - 500, T - 400, 0);
	acct_poll(l, 0);
	CHECK_INT(sim_commands(), 1);
	snprintf(from, sizeof(from), "uts%lld", (long long)(T - 600 - 300));
	CHECK(sim_command_has(0, from));
	CHECK(sim_command_has(0, "-X"));
	range_answer(&ended, 1);
	CHECK_INT(sim_sent_count(), 2);
	CHECK_INT(sim_sent(0).type, SIM_RECORD);
	CHECK_INT(sim_sent(1).type, SIM_WATERMARK);
	CHECK_INT(sim_sent(1).until, T);
	CHECK_INT(c->resume.point, T);
	CHECK_INT(acct_rows_read(l), 1);
	/* slurmctld's queue has not been empty since: no newer watermark. */
	sim_wait(60);
	acct_poll(l, 0);
	range_answer(&ended, 1);
	CHECK_INT(sim_sent_count(), 2);
	end();
}

/* A cut answer, and one that ended badly, count for nothing. */
static void
test_incomplete(void)
{
	begin();
	open_add(10, T - 500, T - 400, 0);
	acct_poll(l, 0);
	sim_output(0, sim_rows(0, &ended, 1));
	sim_fail(0, "sacct: error: slurmdbd: connection refused");
	CHECK_INT(c->resume.point, T - 600);
	CHECK(c->dbd.away);
	/* Nothing is asked until slurmdbd has had a moment; then all of it again. */
	acct_kick(l);
	CHECK_INT(sim_commands(), 0);
	sim_wait(2);
	acct_kick(l);
	CHECK_INT(sim_commands(), 1);
	range_answer(&ended, 1);
	CHECK(!c->dbd.away);
	CHECK(c->dbd.returned);
	CHECK_INT(c->resume.point, T);
	end();
}

/* Only rows of our own: the operator right has to be proved first. */
static void
test_permission(void)
{
	struct sim_row own = ended;

	begin();
	open_add(10, T - 500, T - 400, 0);
	own.user = "adapter";
	acct_poll(l, 1);
	range_answer(&own, 1);
	CHECK_INT(c->resume.point, T - 600);
	CHECK(strstr(sim_command(0), "sacctmgr") != NULL);
	sim_answer(0, "adapter|Operator\n");
	CHECK_INT(c->resume.point, T);
	/* It was taken away: the answer is empty, status 0. */
	c->clock.drained = T + 60;
	c->listing.number++;
	sim_wait(60);
	acct_poll(l, 1);
	sim_answer(0, "");
	CHECK(strstr(sim_command(0), "sacctmgr") != NULL);
	sim_answer(0, "adapter|None\n");
	CHECK_INT(c->permission, PERMISSION_NONE);
	CHECK_INT(c->resume.point, T);
	end();
}

/* An answer that lacks a row of the answer before does not count. */
static void
test_sentinel(void)
{
	struct sim_row other = { 11, NULL, "COMPLETED", T - 300, T - 200,
	    T - 50, NULL, NULL };

	begin();
	acct_poll(l, 0);
	range_answer(&ended, 1);
	CHECK_INT(c->work.rows_wait, 1);	/* nobody saw its threads */
	c->clock.drained = T + 60;
	sim_wait(60);
	acct_poll(l, 0);
	range_answer(&other, 1);
	CHECK(strstr(c->last_error, "lacks job 10") != NULL);
	CHECK_INT(c->resume.point, T - 600);
	/* An hour later it counts as removed. */
	sim_wait(3601);
	c->clock.drained = T + 3660;
	acct_poll(l, 0);
	range_answer(&other, 1);
	CHECK(strstr(c->last_error, "lacks job 10") != NULL);
	acct_poll(l, 0);
	range_answer(&other, 1);
	CHECK_INT(sim_commands(), 0);
	end();
}

/* slurmctld's clock was set back: what lies between is read again. */
static void
test_clock_back(void)
{
	char from[32];

	begin();
	c->resume.point = T;
	acct_clock(l, T - 1000);
	CHECK_INT(c->resume.point, T - 1000);
	CHECK_INT(c->clock.drained, T - 1000);
	slurm_clock_set(&c->clock, T - 1000, now_s());
	acct_poll(l, 0);
	snprintf(from, sizeof(from), "uts%lld", (long long)(T - 1300));
	CHECK(sim_command_has(0, from));
	sim_answer(0, "");
	CHECK_INT(c->resume.point, T - 1000);
	/* And the last day at once. */
	snprintf(from, sizeof(from), "uts%lld", (long long)(T - 1000 - 86400));
	CHECK(sim_command_has(0, from));
	end();
}

/* A long absence is read in slices; each complete one moves the watermark. */
static void
test_catch_up(void)
{
	struct sim_row row = ended;

	begin();
	c->resume.point = T - 3 * 86400;
	c->caught_up = 0;
	row.start = T - 3 * 86400;
	row.end = row.start + 60;
	row.submit = row.start;
	acct_poll(l, 0);
	CHECK(acct_catching_up(l));
	range_answer(&row, 1);
	CHECK(c->resume.point > T - 3 * 86400 && c->resume.point < T);
	CHECK_INT(sim_commands(), 1);
	/* slurmdbd cannot answer so much: the next question asks for less. */
	sim_timeout(0);
	CHECK(c->dbd.away);
	sim_wait(10);
	acct_kick(l);
	while (sim_commands() > 0)
		range_answer(&row, 1);
	CHECK(!acct_catching_up(l));
	CHECK(c->caught_up);
	CHECK_INT(c->resume.point, T);
	end();
}

/* A row that cannot be read is asked for again, then left out. */
static void
test_forged(void)
{
	struct sim_row rows[2] = { ended, ended };
	int i;

	begin();
	open_add(10, T - 500, T - 400, 0);
	rows[1].state = "x\nCOMPLETED";
	acct_poll(l, 0);
	for (i = 0; i < 3; i++) {
		CHECK_INT(sim_commands(), 1);
		CHECK_INT(c->resume.point, T - 600);
		range_answer(rows, 2);
	}
	CHECK_INT(sim_commands(), 0);
	CHECK_INT(c->resume.point, T);
	CHECK_INT(sim_sent(0).key.job, 10);
	/* A name that looks like rows is a name. */
	rows[0].job = 12;
	rows[0].name = "x\n13|13|root|0|a|b|c||COMPLETED|0:0|1|2|3\ny";
	rows[0].end = T - 50;
	open_add(12, T - 500, T - 400, 0);
	sim_sent_clear();
	acct_poll(l, 0);
	range_answer(rows, 1);
	CHECK_INT(sim_sent(0).key.job, 12);
	CHECK_INT(c->open.n, 0);
	CHECK(!done_has(&c->done, 13, 2));
	end();
}

/* A run that left squeue is asked for by id until accounting has its end. */
static void
test_by_id(void)
{
	struct sim_row row = ended;

	begin();
	open_add(10, T - 500, T - 400, OPEN_LEFT);
	acct_poll(l, 0);
	CHECK(sim_command_has(0, "-j"));
	CHECK(sim_command_has(0, "10"));
	row.state = "RUNNING";
	row.end = 0;
	range_answer(&row, 1);
	CHECK_INT(answered.n, 1);
	CHECK(!answered.ended && answered.known);
	CHECK_INT(c->open.n, 1);
	/* slurmctld may know the end; accounting is asked again later. */
	CHECK(idmap_get(&c->work.left, 10) != NULL);
	CHECK(open_find(&c->open, 10, T - 400)->seen > (uint32_t)now_s());
	acct_kick(l);
	sim_answer(0, "");			/* the range */
	sim_wait(20);
	acct_poll(l, 0);
	CHECK(sim_command_has(0, "10"));
	range_answer(&ended, 1);
	CHECK(answered.ended);
	CHECK_INT(c->open.n, 0);
	end();
}

/* A failed prolog: the steps of the requeued run tell that it never ran. */
static void
test_steps(void)
{
	struct sim_row row = ended;

	begin();
	c->slurm.min_job_age = 0;
	row.state = "REQUEUED";
	row.start = T - 400;
	row.end = T - 390;
	open_add(10, T - 500, T - 400, OPEN_UNCONFIRMED);
	(void)idmap_put(&c->earlier, 10, NULL);
	acct_poll(l, 0);
	range_answer(&row, 1);
	CHECK_INT(sim_sent_count(), 0);
	CHECK(idmap_get(&c->work.steps, 10) != NULL);
	/* The watermark waits as well. */
	CHECK_INT(c->resume.point, T - 600);
	acct_kick(l);
	CHECK(sim_command_has(0, "JobIDRaw,Start,End,ExitCode"));
	sim_answer(0, "");
	CHECK_INT(sim_sent(0).key.start, T - 400);
	CHECK(sim_sent(0).flags & JOB_NEVER_RAN);
	CHECK_INT(sim_sent(1).type, SIM_WATERMARK);
	CHECK_INT(c->work.steps.n, 0);
	CHECK(idmap_get(&c->earlier, 10) == NULL);
	/* A step that ended with a status: it ran. */
	row.job = 11;
	sim_sent_clear();
	c->clock.drained = T + 1;
	acct_poll(l, 0);
	range_answer(&row, 1);
	acct_kick(l);
	sim_answer(0, "11.batch||||1699999600||||1699999610||||0:0\n");
	CHECK_INT(sim_sent(0).key.job, 11);
	CHECK_INT(sim_sent(0).flags & JOB_NEVER_RAN, 0);
	end();
}

/* A past range: after what is urgent, with a watermark of its own. */
static void
test_backfill(void)
{
	begin();
	CHECK_INT(acct_backfill(l, T, T - 1, 0), -1);
	CHECK_INT(acct_backfill(l, T - 9000, T - 8000, 0), 0);
	CHECK_INT(sim_commands(), 1);
	range_answer(&(struct sim_row){ 9, NULL, "COMPLETED", T - 9000,
	    T - 8900, T - 8500, NULL, NULL }, 1);
	CHECK_INT(sim_sent(0).type, SIM_RECORD);
	CHECK(sim_sent(0).flags & JOB_BACKFILL);
	CHECK_INT(sim_sent(1).type, SIM_BACKFILLED);
	CHECK_INT(sim_sent(1).until, T - 8000);
	CHECK_INT(c->resume.point, T - 600);
	end();
}

/* The submitter looks a run up that neither squeue nor accounting has. */
static void
look_up(uint64_t job, int64_t start)
{
	struct run_key key = { "alpha", job, start };
	struct reader r;
	struct writer w;

	wr_init(&w, 4096);
	wr_str(&w, "alpha");
	wr_u64(&w, 7);
	wr_u32(&w, 1);
	wr_run_key(&w, &key);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(lookup_add(c->lookups, &r), 0);
	wr_clear(&w);
}

static void
test_absence(void)
{
	begin();
	/* The first answer brings the sentinel. */
	open_add(10, T - 500, T - 400, 0);
	acct_poll(l, 0);
	range_answer(&ended, 1);
	sim_sent_clear();
	look_up(99, T - 700);
	lookup_listed(c->lookups, 1);
	acct_kick(l);
	CHECK(sim_command_has(0, "99,10"));
	range_answer(&ended, 1);
	CHECK_INT(sim_sent_count(), 1);
	CHECK_INT(sim_sent(0).type, SIM_NOT_FOUND);
	CHECK_INT(sim_sent(0).key.job, 99);
	CHECK(!lookup_has(c->lookups, 99, T - 700));
	/* squeue's answer had no run that was known: absence means nothing. */
	look_up(99, T - 700);
	lookup_listed(c->lookups, 0);
	acct_kick(l);
	range_answer(&ended, 1);
	CHECK_INT(sim_sent_count(), 1);
	/* Nor does an answer of accounting without its sentinel. */
	look_up(99, T - 700);
	lookup_listed(c->lookups, 1);
	acct_kick(l);
	sim_answer(0, "");
	CHECK_INT(sim_sent_count(), 1);
	/* Nor without a permission that was proved in this poll. */
	c->listing.number++;
	look_up(99, T - 700);
	lookup_listed(c->lookups, 1);
	acct_kick(l);
	range_answer(&ended, 1);
	CHECK_INT(sim_sent_count(), 1);
	CHECK_INT(c->work.permission, 1);
	lookup_permission(c->lookups, 0);
	CHECK_INT(sim_sent_count(), 1);
	CHECK(!lookup_has(c->lookups, 99, T - 700));
	/* A run that accounting has is no absence. */
	look_up(10, T - 400);
	lookup_listed(c->lookups, 1);
	acct_kick(l);
	range_answer(&ended, 1);
	CHECK_INT(sim_sent(1).type, SIM_RECORD);
	CHECK_INT(sim_sent_count(), 2);
	end();
}

int
main(void)
{
	test_watermark();
	test_incomplete();
	test_permission();
	test_sentinel();
	test_clock_back();
	test_catch_up();
	test_forged();
	test_by_id();
	test_steps();
	test_backfill();
	test_absence();
	return check_done();
}
