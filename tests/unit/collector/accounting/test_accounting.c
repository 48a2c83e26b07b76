/* SPDX-License-Identifier: MIT */
/*
 * What the collector asks of accounting, which answers count, and how far the
 * resume point moves.  sacct and sacctmgr are simulated; rows are those of
 * tests/data/slurm, or have their form.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/accounting/accounting.h"
#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "collector/track/track.h"
#include "common/log_line.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"
#include "tests/unit/collector/simulation.h"

#define LAG   900 /* slurmAccountingLag, the default */
#define DAY   86400
#define OTHER "labalice" /* a user whose rows prove our permission */

#define ROW(job, state, start, end) \
	sim_sacct_row(OTHER, job, state, 50, start, end)

static struct cluster *c;
static struct accounting *acct;

static void
on_answered(void *arg, uint64_t job, int ended, int known)
{
	(void)arg;
	sim_note("answered %llu%s%s", (unsigned long long)job,
	    ended ? " ended" : "", known ? " known" : "");
}

static const struct accounting_ops ops = { .answered = on_answered };

/* slurmctld's clock shows t, and its queue to slurmdbd is empty. */
static void
drained(int64_t t)
{
	c->clock.works = c->clock.tried = 1;
	c->clock.drained = SIM_EPOCH + t;
}

static void
begin(void)
{
	c = sim_begin(NULL, NULL);
	acct = sim_keep(acct_new(c, &ops, NULL));
	/* The startup has queried it. */
	c->permission = PERMISSION_OPERATOR;
	drained(1000);
}

/* Rows of one answer.  Borrowed until the next call. */
static const char *
rows(const char *first, const char *second, const char *third)
{
	static char text[2048];

	snprintf(text, sizeof(text), "%s%s%s", first, second, third);
	return text;
}

/* The value of an option "-S uts..." of the question under way. */
static int64_t
asked_time(const char *option)
{
	const char *p = strstr(sim_args("sacct"), option);

	return p != NULL ? strtoll(p + strlen(option), NULL, 10) - SIM_EPOCH :
			   SIM_NEVER;
}

#define CHECK_FROM(want) CHECK_INT(asked_time("-S uts"), want)
#define CHECK_TO(want)	 CHECK_INT(asked_time("-E uts"), want)

/* A minute later slurmctld's clock was read, and the next poll comes. */
static void
next_poll(void)
{
	sim_pass(60);
	drained(slurm_now(c) - SIM_EPOCH);
	acct_poll(acct, 0);
}

static void
test_resume_point(void)
{
	begin();
	acct_poll(acct, 0);
	CHECK_FROM(-LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(), "end 10/100-200 completed, watermark 1000");
	CHECK_INT(acct_rows_read(acct), 1);
	CHECK_STR(sim_asked(), "");
	/* slurmctld's queue was not empty since: no later resume point. */
	sim_pass(60);
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(), "");
	/* The next question reaches back, and the row again is silent. */
	next_poll();
	CHECK_FROM(1000 - LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(), "watermark 1120");
}

/*
 * While a range is read, or its row waits, a submitter comes whose recovered
 * spool has an older point: the next range begins there.
 */
static void
test_older_resume_point(void)
{
	int waits;

	for (waits = 0; waits < 2; waits++) {
		begin();
		acct_poll(acct, 0);
		if (waits)
			sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
		c->resume.point = SIM_EPOCH - 2000;
		sim_answer("sacct",
		    waits ? "10||||1795212454||||1795212459||||0:0\n" :
			    ROW(10, "COMPLETED", 100, 105));
		CHECK_STR(sim_said(),
		    waits ? "end 10/100-105 requeued never-ran" :
			    "end 10/100-105 completed");
		CHECK_INT(c->resume.point, SIM_EPOCH - 2000);
		next_poll();
		CHECK_FROM(-2000 - LAG);
		sim_answer("sacct",
		    rows(ROW(10, waits ? "REQUEUED" : "COMPLETED", 100, 105),
			ROW(11, "COMPLETED", 100, 200), ""));
		CHECK_STR(sim_said(),
		    "end 11/100-200 completed, watermark 1060");
	}
}

/* slurmdbd is away: it gets a moment, then all is asked again. */
static void
test_slurmdbd_away(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer_failed("sacct", ROW(10, "COMPLETED", 100, 200),
	    "slurmdbd: Connection refused");
	CHECK_STR(sim_said(), "end 10/100-200 completed");
	CHECK_INT(c->dbd.away, 1);
	acct_kick(acct);
	CHECK_STR(sim_asked(), "");
	sim_pass(2);
	acct_kick(acct);
	CHECK_FROM(-LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(), "watermark 1000");
	CHECK_INT(c->dbd.away, 0);
	CHECK_INT(c->dbd.returned, 1);
}

/* A row that cannot be read is asked for twice more, then left out. */
static void
test_bad_row(void)
{
	int i;

	begin();
	acct_poll(acct, 0);
	for (i = 0; i < 3; i++) {
		CHECK_INT(c->resume.point, SIM_EPOCH);
		sim_answer("sacct",
		    rows(ROW(10, "COMPLETED", 100, 200),
			ROW(11, "x\nCOMPLETED", 100, 200), ""));
	}
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "end 10/100-200 completed, watermark 1000");
}

/* n malformed rows, and one that is not.  Owned by the caller. */
static char *
rows_bad(unsigned n, const char *good)
{
	const char *bad = ROW(11, "x\nCOMPLETED", 100, 200);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		abort();
	while (n-- > 0)
		fputs(bad, f);
	fputs(good, f);
	fclose(f);
	return text;
}

/* Many such rows do not stop the others. */
static void
test_bad_rows(void)
{
	char *text = rows_bad(300, ROW(10, "COMPLETED", 100, 200));
	int i;

	begin();
	acct_poll(acct, 0);
	for (i = 0; i < 3; i++) {
		CHECK_INT(c->resume.point, SIM_EPOCH);
		sim_answer("sacct", text);
	}
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "end 10/100-200 completed, watermark 1000");
	CHECK_INT(c->dbd.away, 0);
	free(text);
	begin();
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	text = rows_bad(300, ROW(10, "COMPLETED", 100, 200));
	sim_answer("sacct", text);
	CHECK_STR(sim_said(),
	    "end 10/100-200 completed, answered 10 ended known");
	CHECK_INT(c->dbd.away, 0);
	free(text);
}

/* Many malformed rows and no other one: sacct has another format. */
static void
test_all_rows_bad(void)
{
	char *text = rows_bad(300, "");

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", text);
	CHECK_INT(c->dbd.away, 1);
	CHECK_STR(sim_asked(), "");
	CHECK_INT(c->resume.point, SIM_EPOCH);
	CHECK_STR(sim_said(), "");
	free(text);
}

/* Lines of a job's name are no rows. */
static void
test_forged_row(void)
{
	static const char forged[] =
	    "x\n13|13|root|0|a|b|c||COMPLETED|0:0|"
	    "1795212300|1795212310|1795212320|3||||x|node1\ny<~!>node1\n";
	char text[1024];
	const char *name;

	begin();
	acct_poll(acct, 0);
	snprintf(text, sizeof(text), "%s", ROW(10, "COMPLETED", 100, 200));
	name = strstr(text, "sbatch");
	CHECK(name != NULL);
	snprintf(text + (name - text), sizeof(text) - (size_t)(name - text),
	    "%s", forged);
	sim_answer("sacct", text);
	CHECK_STR(sim_said(), "end 10/100-200 completed, watermark 1000");
}

/* A past range: a watermark of its own, and the resume point stays. */
static void
test_backfill(void)
{
	begin();
	CHECK_INT(acct_backfill(acct, SIM_EPOCH, SIM_EPOCH, 0), -1);
	CHECK_STR(sim_asked(), "");
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 0),
	    0);
	CHECK_FROM(-9000);
	CHECK_TO(-8000);
	sim_answer("sacct", ROW(10, "COMPLETED", -8900, -8500));
	CHECK_STR(sim_said(),
	    "end 10/-8900--8500 completed backfill, "
	    "backfilled -8000");
	CHECK_INT(c->resume.point, SIM_EPOCH);
	CHECK_STR(sim_asked(), "");
}

/*
 * A backfill that was cancelled, and begun again, while its query runs: the rows
 * of this query are not sent, and the range is read from its begin.
 */
static void
test_backfill_cancelled(void)
{
	begin();
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 0),
	    0);
	CHECK_FROM(-9000);
	CHECK_INT(acct_backfill(acct, 0, 0, 0), 0);
	sim_answer("sacct", ROW(10, "COMPLETED", -8900, -8500));
	CHECK_STR(sim_said(), "backfill ended");
	CHECK_STR(sim_asked(), "");
	CHECK(!acct_waits(acct));

	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 0),
	    0);
	CHECK_INT(acct_backfill(acct, 0, 0, 0), 0);
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 1),
	    0);
	sim_answer("sacct", ROW(10, "COMPLETED", -8900, -8500));
	CHECK_STR(sim_said(), "backfill ended");
	CHECK_FROM(-9000);
	sim_answer("sacct", ROW(10, "COMPLETED", -8900, -8500));
	CHECK_STR(sim_said(),
	    "end 10/-8900--8500 completed backfill dry-run, "
	    "backfilled -8000");
}

#define STEPS_OF_10 \
	"10||||1795212454||||1795212459||||0:0\n" \
	"10.batch||||1795212455||||1795212459||||0:0\n"

/*
 * A row that waits for its steps: the backfill is read when it was sent.  A poll
 * that reads the row, too, makes it a row without the backfill.
 */
static void
test_backfill_steps(void)
{
	int poll;

	for (poll = 0; poll < 2; poll++) {
		begin();
		CHECK_INT(acct_backfill(acct, SIM_EPOCH, SIM_EPOCH + 300, 0),
		    0);
		sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
		CHECK_STR(sim_said(), "");
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct", "");
		if (poll) {
			acct_poll(acct, 0);
			CHECK_FROM(-900);
			sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
		}
		CHECK_STR(sim_said(), "");
		sim_pass(60);
		acct_kick(acct);
		sim_answer("sacct", STEPS_OF_10);
		CHECK_STR(sim_said(),
		    poll ? "end 10/100-105 requeued, backfilled 300, "
			   "watermark 1000" :
			   "end 10/100-105 requeued backfill, "
			   "backfilled 300");
	}
}

/* An answer and a watermark that find no room are sent later. */
static void
test_backfill_no_room(void)
{
	begin();
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 0),
	    0);
	CHECK_FROM(-9000);
	sim_fill(c);
	while (outbox_backfilled(c->outbox, "alpha", SIM_EPOCH) != 0)
		continue;
	(void)sim_said();
	CHECK_INT(acct_backfill(acct, 0, 0, 0), 0);
	CHECK_INT(acct_backfill(acct, 0, 0, 0), 0);
	CHECK_STR(sim_said(), "");
	sim_stored(c);
	sim_answer("sacct", "");
	acct_poll(acct, 0);
	sim_answer("sacct", "");
	CHECK_STR(sim_said(), "backfill ended, backfill ended");
}

/* While Slurm uses no slurmdbd, a backfill waits: it is neither read nor lost. */
static void
test_backfill_no_accounting(void)
{
	begin();
	c->slurm.accounting = 0;
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9000, SIM_EPOCH - 8000, 0),
	    0);
	acct_poll(acct, 0);
	CHECK_STR(sim_asked(), "");
	c->slurm.accounting = 1;
	acct_kick(acct);
	CHECK_FROM(-9000);
	sim_answer("sacct", ROW(10, "COMPLETED", -8900, -8500));
	CHECK_STR(sim_said(),
	    "end 10/-8900--8500 completed backfill, "
	    "backfilled -8000");
}

/* What a backfill has sent is sent once more without it, and then no more. */
static void
test_backfill_is_no_proof(void)
{
	int i;

	begin();
	CHECK_INT(acct_backfill(acct, SIM_EPOCH, SIM_EPOCH + 300, 0), 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(),
	    "end 10/100-200 completed backfill, backfilled 300");
	for (i = 0; i < 2; i++) {
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		CHECK_STR(sim_said(),
		    i == 0 ? "end 10/100-200 completed, watermark 1000" : "");
	}
}

/* Answers, of a row of job 11 and one of job 10, that do not count. */
static const struct {
	const char *title;
	const char *user;
	size_t cut;	 /* bytes missing at the end */
	const char *err; /* NULL = sacct ends well */
	const char *said;
} not_counted[] = {
	{ "sacct fails after a row", OTHER, 0,
	    "sacct: error: slurmdbd: "
	    "Connection refused",
	    "end 11/60-70 completed, end 10/100-200 completed" },
	{ "sacct fails within a row", OTHER, 3, "", "end 11/60-70 completed" },
	{ "the last row is cut", OTHER, 3, NULL, "end 11/60-70 completed" },
	{ "no newline after the last row", OTHER, 1, NULL,
	    "end 11/60-70 completed" },
	{ "only rows of our own user", SIM_USER, 0, NULL,
	    "end 11/60-70 completed, end 10/100-200 completed" },
	{ "no row at all", OTHER, 1000, NULL, "" },
};

static void
not_counted_test(size_t i)
{
	const char *user = not_counted[i].user;
	char text[1024];
	size_t n;

	begin();
	acct_poll(acct, 0);
	n = (size_t)snprintf(text, sizeof(text), "%s%s",
	    sim_sacct_row(user, 11, "COMPLETED", 50, 60, 70),
	    sim_sacct_row(user, 10, "COMPLETED", 50, 100, 200));
	text[n > not_counted[i].cut ? n - not_counted[i].cut : 0] = '\0';
	if (not_counted[i].err != NULL)
		sim_answer_failed("sacct", text, not_counted[i].err);
	else
		sim_answer("sacct", text);
	CHECK_STR(sim_said(), not_counted[i].said);
	CHECK_INT(c->resume.point, SIM_EPOCH);
	next_poll();
	CHECK_FROM(-LAG);
}

static void
test_not_counted(void)
{
	int failed = check_failed;
	size_t i;

	for (i = 0; i < sizeof(not_counted) / sizeof(not_counted[0]); i++) {
		not_counted_test(i);
		if (check_failed > failed)
			fprintf(stderr, "    in \"%s\"\n",
			    not_counted[i].title);
		failed = check_failed;
	}
}

/* How far the resume point may move after a complete answer. */
static const struct {
	int64_t drained; /* 0 = never */
	int works;	 /* sdiag shows it */
	int tried;
	const char *said;
} bounds[] = {
	{ SIM_EPOCH + 1000, 1, 1, "end 10/100-200 completed, watermark 1000" },
	{ SIM_EPOCH + 700, 1, 1, "end 10/100-200 completed, watermark 700" },
	/* The queue to slurmdbd has not been empty yet. */
	{ 0, 1, 1, "end 10/100-200 completed" },
	{ 0, 0, 0, "end 10/100-200 completed" },
	/* sdiag does not show the queue: the latest end in the answer. */
	{ 0, 0, 1, "end 10/100-200 completed, watermark 200" },
};

static void
test_bounds(void)
{
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		begin();
		c->clock.drained = bounds[i].drained;
		c->clock.works = bounds[i].works;
		c->clock.tried = bounds[i].tried;
		acct_poll(acct, 0);
		/* A later answer of slurmctld does not concern this question. */
		if (bounds[i].drained != 0)
			drained(1050);
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		CHECK_STR(sim_said(), bounds[i].said);
	}
}

/* Our own rows prove nothing: sacctmgr is asked for the permission. */
static const struct {
	const char *answer; /* NULL = sacctmgr fails */
	const char *said;
} permissions[] = {
	{ SIM_USER "|Operator\n", "watermark 1000" },
	{ SIM_USER "|Administrator\n", "watermark 1000" },
	{ SIM_USER "|None\n", "" },
	{ "labbob|Operator\n", "" },
	{ "", "" },
	{ NULL, "" },
};

static void
test_permission(void)
{
	size_t i;

	for (i = 0; i < sizeof(permissions) / sizeof(permissions[0]); i++) {
		begin();
		acct_poll(acct, 1);
		sim_answer("sacct", "");
		CHECK_STR(sim_said(), "");
		CHECK_STR(sim_asked(), "sacctmgr");
		if (permissions[i].answer != NULL)
			sim_answer("sacctmgr", permissions[i].answer);
		else
			sim_answer_failed("sacctmgr", "", "no slurmdbd");
		CHECK_STR(sim_said(), permissions[i].said);
	}
}

static void
on_details(struct details *d, int ok, void *arg)
{
	(void)arg;
	CHECK(ok);
	acct_details_done(acct, d);
}

/* The watermark waits for a row that slurmctld is asked about. */
static void
test_row_waits(void)
{
	struct details *d;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 900));
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->work.rows_wait, 1);
	/* The next poll brings the row again and does not pass it. */
	next_poll();
	CHECK_FROM(-LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 900));
	CHECK_STR(sim_said(), "");
	/* Nor does a question by id send it. */
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 900));
	CHECK_STR(sim_said(), "answered 10 ended known");
	d = sim_keep(details_new(c, on_details, NULL));
	acct_details_wanted(acct, d);
	CHECK_INT(details_wanted(d), 1);
	details_start(d, 0, now_ms());
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 10");
	sim_answer_failed("scontrol", "",
	    "slurm_load_jobs error: Invalid job id specified");
	CHECK_STR(sim_said(), "end 10/100-900 completed, watermark 1060");
}

/* The permission is queried, and we have it; then this is said. */
static void
permitted(const char *said)
{
	CHECK_STR(sim_asked(), "sacctmgr");
	sim_answer("sacctmgr", SIM_USER "|Operator\n");
	CHECK_STR(sim_said(), said);
}

static void
test_sentinel(void)
{
	begin();
	acct_poll(acct, 0);
	/* The run that ended last becomes the sentinel. */
	sim_answer("sacct",
	    rows(ROW(10, "COMPLETED", 100, 200), ROW(11, "COMPLETED", 100, 300),
		ROW(13, "COMPLETED", 100, 250)));
	CHECK_STR(sim_said(),
	    "end 10/100-200 completed, "
	    "end 11/100-300 completed, end 13/100-250 completed, "
	    "watermark 1000");
	/* Another run of the same job is not the sentinel. */
	next_poll();
	sim_answer("sacct",
	    rows(ROW(10, "COMPLETED", 100, 200), ROW(11, "COMPLETED", 350, 400),
		ROW(13, "COMPLETED", 100, 250)));
	CHECK_STR(sim_said(), "end 11/350-400 completed");
	/*
	 * We may have lost the permission and got it again: the permission is
	 * queried, and answers from then on count.
	 */
	next_poll();
	CHECK_FROM(1000 - LAG);
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	permitted("");
	next_poll();
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "watermark 1180");
	/* Missing for an hour: it was removed, and another one is chosen. */
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	CHECK_STR(sim_said(), "end 12/100-400 completed");
	sim_pass(3600 - 61);
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	CHECK_STR(sim_said(), "");
	sim_pass(1 - 60);
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	permitted("");
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	CHECK_STR(sim_said(), "watermark 4900");
}

/* A missing sentinel: may we still see all jobs? */
static void
test_sentinel_asks_permission(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	(void)sim_said();
	sim_pass(60);
	acct_poll(acct, 1);
	sim_answer("sacct", "");
	CHECK_STR(sim_asked(), "sacctmgr");
	sim_answer("sacctmgr", SIM_USER "|Operator\n");
	/* The permission alone does not make the answer count. */
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->resume.point, SIM_EPOCH + 1000);
}

/* The permission was taken away: sacct's answer is empty and ends well. */
static void
test_permission_lost(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", -800, -700));
	(void)sim_said();
	sim_pass(60);
	drained(1060);
	acct_poll(acct, 1);
	sim_answer("sacct", "");
	CHECK_STR(sim_asked(), "sacctmgr");
	sim_answer("sacctmgr", SIM_USER "|None\n");
	CHECK_INT(c->permission, PERMISSION_NONE);
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->resume.point, SIM_EPOCH + 1000);
}

/*
 * Our user is coordinator of an account: it sees the runs of this account without
 * the permission.  An answer with these counts only if we had the permission
 * before.
 */
static void
test_coordinator(void)
{
	static const enum permission before[] = { PERMISSION_UNKNOWN,
		PERMISSION_NONE };
	size_t i;

	for (i = 0; i < 2; i++) {
		begin();
		c->permission = before[i];
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		CHECK_STR(sim_said(), "end 10/100-200 completed");
		CHECK_STR(sim_asked(), "sacctmgr");
		sim_answer("sacctmgr", SIM_USER "|None\n");
		CHECK_STR(sim_said(), "");
		/* The permission is granted after the answer. */
		next_poll();
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		permitted("");
		CHECK_INT(c->resume.point, SIM_EPOCH);
		next_poll();
		CHECK_FROM(-LAG);
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		CHECK_STR(sim_asked(), "");
		CHECK_STR(sim_said(), "watermark 1120");
	}
}

/* The permission was replaced by the right of a coordinator, unnoticed. */
static void
test_coordinator_later(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct",
	    rows(ROW(10, "COMPLETED", -800, -700),
		ROW(11, "COMPLETED", 100, 300), ""));
	CHECK_STR(sim_said(),
	    "end 10/-800--700 completed, end 11/100-300 completed, "
	    "watermark 1000");
	/* The account has another run; the sentinel is not in the account. */
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	CHECK_STR(sim_said(), "end 12/100-400 completed");
	sim_pass(3600);
	next_poll();
	sim_answer("sacct", ROW(12, "COMPLETED", 100, 400));
	CHECK_STR(sim_asked(), "sacctmgr");
	sim_answer("sacctmgr", SIM_USER "|None\n");
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->resume.point, SIM_EPOCH + 1000);
}

/* slurmctld's clock was set back by so many seconds from 1000. */
static void
set_back(int64_t seconds)
{
	slurm_clock_set(&c->clock, SIM_EPOCH + 1000 - seconds, now_s());
	acct_clock(acct, SIM_EPOCH + 1000 - seconds);
}

static void
test_clock_set_back(void)
{
	/* Within the lag: it is read again from there on. */
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	set_back(600);
	CHECK_INT(c->resume.point, SIM_EPOCH + 400);
	CHECK_INT(c->clock.drained, SIM_EPOCH + 400);
	acct_poll(acct, 0);
	CHECK_FROM(400 - LAG);
	(void)sim_said();
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_STR(sim_asked(), "");

	/* Further back: the last day is read as well. */
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	set_back(LAG + 1);
	acct_poll(acct, 0);
	CHECK_FROM(99 - LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_FROM(99 - DAY);
	CHECK_TO(99);

	/* A question under way was asked by the clock as it was. */
	begin();
	acct_poll(acct, 0);
	c->resume.point = SIM_EPOCH + 900;
	set_back(600);
	sim_answer("sacct", ROW(10, "COMPLETED", 60, 65));
	CHECK_STR(sim_said(), "end 10/60-65 completed");
	CHECK_INT(c->resume.point, SIM_EPOCH + 400);

	/* A clock that goes on changes nothing. */
	begin();
	acct_clock(acct, SIM_EPOCH + 1000);
	CHECK_INT(c->resume.point, SIM_EPOCH);
}

/* A long time is asked for in slices; each one moves the resume point. */
static void
test_slices(void)
{
	begin();
	c->resume.point = SIM_EPOCH - 3 * DAY;
	c->caught_up = 0;
	acct_poll(acct, 0);
	CHECK_FROM(-3 * DAY - LAG);
	CHECK_TO(-2 * DAY - LAG);
	sim_answer("sacct", ROW(10, "COMPLETED", -3 * DAY, -3 * DAY + 100));
	CHECK_STR(sim_said(),
	    "end 10/-259200--259100 completed, "
	    "watermark -173700");
	CHECK(acct_busy(acct));
	/* The second slice, to the present, fails: it is asked for again. */
	CHECK_FROM(-2 * DAY - LAG);
	sim_answer_failed("sacct", "", "slurmdbd: Connection refused");
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->caught_up, 0);
	next_poll();
	CHECK_FROM(-2 * DAY - LAG - LAG);
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 200));
	CHECK_STR(sim_said(), "end 11/100-200 completed, watermark 1060");
	CHECK_INT(c->caught_up, 1);
}

/* A slice without a proof is not passed by later ones. */
static void
test_slice_unproved(void)
{
	begin();
	c->resume.point = SIM_EPOCH - 3 * DAY;
	acct_poll(acct, 0);
	sim_answer("sacct", "");
	CHECK_STR(sim_asked(), "sacctmgr");
	sim_answer("sacctmgr", SIM_USER "|None\n");
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "");
	next_poll();
	CHECK_FROM(-3 * DAY - LAG);
}

/* slurmdbd's MaxQueryTimeRange: shorter slices, and slurmdbd is not away. */
static void
test_slice_too_wide(void)
{
	begin();
	c->resume.point = SIM_EPOCH - 3 * DAY;
	acct_poll(acct, 0);
	sim_answer_failed("sacct", "",
	    "slurmdbd: Too wide of a date range in "
	    "query");
	CHECK_INT(c->dbd.away, 0);
	acct_kick(acct);
	CHECK_FROM(-3 * DAY - LAG);
	CHECK_TO(-3 * DAY - LAG + DAY / 2);
}

/* slurmdbd needs too long: shorter slices as well. */
static void
test_slice_timeout(void)
{
	begin();
	c->resume.point = SIM_EPOCH - 3 * DAY;
	acct_poll(acct, 0);
	sim_answer_late("sacct");
	CHECK_INT(c->dbd.away, 1);
	sim_pass(2);
	acct_kick(acct);
	CHECK_FROM(-3 * DAY - LAG);
	CHECK_TO(-3 * DAY - LAG + DAY / 2);
}

/* slurmdbd hangs while polls are short: later ranges are as long as before. */
static void
test_poll_timeout(void)
{
	int i;

	begin();
	for (i = 0; i < 8; i++) {
		acct_poll(acct, 0);
		sim_answer_late("sacct");
		sim_pass(130);
	}
	/* slurmdbd answers: the poll that waited, and the one that is due. */
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 3 * DAY, SIM_EPOCH - DAY, 0),
	    0);
	CHECK_FROM(-3 * DAY);
	CHECK(asked_time("-E uts") >= -2 * DAY);
}

/* Short polls between the slices of a backfill do not lengthen these again. */
static void
test_backfill_timeout(void)
{
	int i;

	begin();
	for (i = 0; i < 4; i++) {
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
		sim_pass(60);
	}
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 30 * DAY, SIM_EPOCH - DAY, 0),
	    0);
	CHECK_TO(-29 * DAY);
	acct_poll(acct, 0);
	sim_answer_late("sacct");
	sim_pass(130);
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	if (asked_time("-S uts") > -DAY)
		sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_FROM(-30 * DAY);
	CHECK_TO(-30 * DAY + DAY / 2);
}

/*
 * A part of a backfill that is shorter than a slice is not repeated for ever; the
 * query for the last day, which comes in between, does not lengthen it again.
 */
static void
test_short_backfill_timeout(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK_INT(acct_backfill(acct, SIM_EPOCH - 30 * DAY,
		      SIM_EPOCH - 30 * DAY + DAY / 4, 0),
	    0);
	CHECK_TO(-30 * DAY + DAY / 4);
	sim_answer_late("sacct");
	sim_pass(130);
	acct_kick(acct);
	CHECK_FROM(-30 * DAY);
	CHECK_TO(-30 * DAY + DAY / 8);
}

static void
test_max_span(void)
{
	begin();
	sim_set(c, CONF_QUERY_MAX_SPAN, "7200");
	c->resume.point = SIM_EPOCH - 10000;
	acct_poll(acct, 0);
	CHECK_FROM(1000 - 7200 - LAG);
	CHECK_INT(c->resume.skipped_seconds, 10000 + 1000 - 7200);
}

/* Asked for by id: an end, no end, no row; a failure is asked again. */
static const struct {
	const char *state; /* NULL = no row */
	int64_t start;
	int64_t end;
	const char *said;
} by_id[] = {
	{ "COMPLETED", 100, 200,
	    "end 10/100-200 completed, answered 10 ended "
	    "known" },
	{ "RUNNING", 100, SIM_NEVER, "answered 10 known" },
	{ NULL, 0, 0, "answered 10" },
	/* An id that was used long ago. */
	{ "COMPLETED", -9 * DAY, -8 * DAY, "answered 10 ended known" },
};

static void
test_by_id(void)
{
	size_t i;

	for (i = 0; i < sizeof(by_id) / sizeof(by_id[0]); i++) {
		begin();
		(void)idmap_put(&c->work.accounting, 10, NULL);
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer_failed("sacct", "", "Connection refused");
		CHECK_STR(sim_said(), "");
		acct_kick(acct);
		CHECK_STR(sim_asked(), "");
		sim_pass(2);
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct",
		    by_id[i].state == NULL ?
			"" :
			ROW(10, by_id[i].state, by_id[i].start, by_id[i].end));
		CHECK_STR(sim_said(), by_id[i].said);
		CHECK_INT(c->work.accounting.n, 0);
	}
}

/*
 * The last part of a resized run begins at the resize.  Its end counts although
 * it is older than slurmQueryMaxSpan, because the run is open.
 */
static void
test_old_end_of_resized(void)
{
	struct open_run *run;

	begin();
	sim_set(c, CONF_QUERY_MAX_SPAN, "7200");
	c->slurm.version = 2411;
	run = open_put(&c->open, 10, SIM_EPOCH - 9000);
	run->flags = OPEN_RESOURCES_SENT | OPEN_LEFT;
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	sim_answer("sacct",
	    sim_sacct_row(OTHER, 10, "COMPLETED", -8500, -8500, -8000));
	CHECK_STR(sim_said(),
	    "end 10/-9000--8000 completed, answered 10 ended known");
	CHECK_INT(c->open.n, 0);
}

/*
 * Up to 22.05 the last part of a resized run has the start of the run and a
 * later submission.  The job ids have begun again: the row is of an earlier
 * run, not of the open one that only the spool knows.
 */
static void
test_resized_of_earlier_job(void)
{
	struct open_key open = { { "alpha", 10, SIM_EPOCH - 100 },
		SIM_EPOCH - 110 };

	begin();
	c->slurm.version = 2205;
	resume_open(c->site, &open, 0);
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	sim_answer("sacct",
	    sim_sacct_row(OTHER, 10, "COMPLETED", -8500, -9000, -8000));
	CHECK_STR(sim_said(),
	    "end 10/-9000--8000 completed, answered 10 ended known");
	CHECK_STR(sim_open(c, 10), "10/-100");
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	/* Slurm has moved the start of the open run. */
	sim_answer("sacct",
	    sim_sacct_row(OTHER, 10, "COMPLETED", -110, -90, -5));
	CHECK_STR(sim_said(),
	    "end 10/-100--5 completed, answered 10 ended known");
	CHECK_INT(c->open.n, 0);
}

#define PART(job, state, submit, start, end) \
	sim_sacct_row(OTHER, job, state, submit, start, end)

/*
 * Parts that begin before the time from which accounting is read, -LAG: of a
 * resized run, of a run that was not resized, and of one that was resized twice.
 * The range returns rows from `first` on, the query by id all of them.
 */
static const struct {
	const char *title;
	unsigned version;
	struct {
		const char *state; /* NULL = no row */
		int64_t submit;
		int64_t start;
		int64_t end;
	} rows[3];
	unsigned first;
	const char *said;
} parts[] = {
	{ "resized", 2411,
	    { { "RESIZING", -2100, -2050, -2000 },
		{ "COMPLETED", -2000, -2000, 200 } },
	    1, "end 10/-2050-200 completed" },
	{ "whole", 2411, { { "COMPLETED", -2000, -2000, 200 } }, 0,
	    "end 10/-2000-200 completed" },
	{ "resized twice", 2411,
	    { { "RESIZING", -2100, -2050, -2000 },
		{ "RESIZING", -2000, -2000, -800 },
		{ "COMPLETED", -800, -800, 200 } },
	    1, "end 10/-2050-200 completed" },
	{ "resized before 23.02", 2205,
	    { { "RESIZING", -2100, -2050, -2000 },
		{ "COMPLETED", -2000, -2050, 200 } },
	    1, "end 10/-2050-200 completed" },
};

static const char *
parts_text(size_t i, unsigned first)
{
	const char *text[3] = { "", "", "" };
	unsigned k;

	for (k = first; k < 3 && parts[i].rows[k].state != NULL; k++)
		text[k] = PART(10, parts[i].rows[k].state,
		    parts[i].rows[k].submit, parts[i].rows[k].start,
		    parts[i].rows[k].end);
	return rows(text[0], text[1], text[2]);
}

/* No watermark is earned before the job was queried by id. */
static void
test_part_before_range(void)
{
	size_t i;
	char said[128];

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		begin();
		c->slurm.version = parts[i].version;
		acct_poll(acct, 0);
		CHECK_FROM(-LAG);
		sim_answer("sacct", parts_text(i, parts[i].first));
		CHECK_STR(sim_said(), "");
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct", parts_text(i, 0));
		snprintf(said, sizeof(said), "%s, answered 10 ended known",
		    parts[i].said);
		CHECK_STR(sim_said(), said);
		acct_kick(acct);
		CHECK_FROM(-LAG);
		sim_answer("sacct", parts_text(i, parts[i].first));
		CHECK_STR(sim_said(), "watermark 1000");
		CHECK_STR(sim_asked(), "");
		/* The next polls do not query the job again. */
		next_poll();
		CHECK_FROM(1000 - LAG);
		sim_answer("sacct", parts_text(i, parts[i].first));
		CHECK_STR(sim_said(), "watermark 1060");
		CHECK_STR(sim_asked(), "");
	}
}

/*
 * Slurm before 23.02 gives all parts the start of the run, and the later ones the
 * resize as their submission.
 */
static void
test_part_of_old_slurm(void)
{
	begin();
	c->slurm.version = 2205;
	acct_poll(acct, 0);
	sim_answer("sacct", PART(10, "COMPLETED", -2000, -2000, 200));
	CHECK_STR(sim_said(), "end 10/-2000-200 completed, watermark 1000");
	CHECK_STR(sim_asked(), "");
}

/* The answers to the query by id lack the job that the range has. */
static void
test_part_not_shown(void)
{
	int i;

	begin();
	c->slurm.version = 2411;
	acct_poll(acct, 0);
	for (i = 0; i < 3; i++) {
		sim_answer("sacct", PART(10, "COMPLETED", -2000, -2000, 200));
		CHECK_STR(sim_said(), "");
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct", "");
		CHECK_STR(sim_said(), "answered 10");
		acct_kick(acct);
		CHECK_FROM(-LAG);
	}
	sim_answer("sacct", PART(10, "COMPLETED", -2000, -2000, 200));
	CHECK_STR(sim_said(), "end 10/-2000-200 completed, watermark 1000");
}

/*
 * The first part was in a range that failed and that slurmQueryMaxSpan has cut
 * off since.
 */
static void
test_part_in_gap(void)
{
	begin();
	sim_set(c, CONF_QUERY_MAX_SPAN, "7200");
	c->slurm.version = 2411;
	acct_poll(acct, 0);
	CHECK_FROM(-LAG);
	sim_answer_failed("sacct", "", "Connection refused");
	sim_pass(10000);
	drained(11000);
	acct_poll(acct, 0);
	CHECK_FROM(11000 - 7200 - LAG);
	sim_answer("sacct", PART(10, "COMPLETED", 2000, 2000, 4000));
	CHECK_STR(sim_said(), "");
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
}

/* A backfill and its dry run: the slice is read again. */
static void
test_part_before_backfill(void)
{
	int dry_run;

	for (dry_run = 0; dry_run < 2; dry_run++) {
		begin();
		c->slurm.version = 2411;
		CHECK_INT(acct_backfill(acct, SIM_EPOCH - 9 * DAY,
			      SIM_EPOCH - 8 * DAY, dry_run),
		    0);
		sim_answer("sacct",
		    PART(10, "COMPLETED", -9 * DAY - 5, -9 * DAY - 5,
			-9 * DAY + 7));
		CHECK_STR(sim_said(), "");
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct",
		    rows(PART(10, "RESIZING", -9 * DAY - 20, -9 * DAY - 10,
			     -9 * DAY - 5),
			PART(10, "COMPLETED", -9 * DAY - 5, -9 * DAY - 5,
			    -9 * DAY + 7),
			""));
		CHECK_STR(sim_said(), "answered 10 ended known");
		acct_kick(acct);
		CHECK_FROM(-9 * DAY);
		sim_answer("sacct",
		    PART(10, "COMPLETED", -9 * DAY - 5, -9 * DAY - 5,
			-9 * DAY + 7));
		CHECK_STR(sim_said(),
		    dry_run ?
			"end 10/-777610--777593 completed backfill dry-run, "
			"backfilled -691200" :
			"end 10/-777610--777593 completed backfill, "
			"backfilled -691200");
		CHECK_STR(sim_asked(), "");
	}
}

/* A run that left squeue is asked for again and again, ever later. */
static void
test_left(void)
{
	static const int64_t waits[] = { 10, 20, 40, 80 };
	struct open_run *run;
	size_t i;

	begin();
	run = open_put(&c->open, 10, SIM_EPOCH + 100);
	run->flags = OPEN_RESOURCES_SENT | OPEN_LEFT;
	run->seen = (uint32_t)now_s();
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		acct_poll(acct, 0);
		CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
		sim_answer("sacct", "");
		/* The range follows. */
		acct_kick(acct);
		sim_answer("sacct", "");
		CHECK_STR(sim_said(), "answered 10");
		CHECK(idmap_get(&c->work.left, 10) != NULL);
		idmap_clear(&c->work.left);
		sim_pass(waits[i] - 1);
		acct_poll(acct, 0);
		CHECK(strstr(sim_args("sacct"), "-j 10") == NULL);
		sim_answer("sacct", "");
		sim_pass(1);
	}
}

/* A restarted job that is found while accounting is read up to now. */
static void
restarted_in(const char *state, int64_t end)
{
	struct job_snapshot s;

	c->caught_up = 0;
	snapshot_init(&s);
	s.state = state_word((struct span) { state, strlen(state) });
	s.job.end = end != 0 ? SIM_EPOCH + end : 0;
	s.job.key.job = 10;
	s.job.key.start = SIM_EPOCH + 400;
	s.job.submit = SIM_EPOCH + 250;
	s.job.restarts = 1;
	(void)track_snapshot(c, &s);
	snapshot_clear(&s);
}

static void
restarted_found(void)
{
	restarted_in("RUNNING", 0);
}

static void
squeue_runs(void)
{
	struct squeue_job row = { 10, state_compact((struct span) { "R", 1 }),
		SIM_EPOCH + 400 };

	track_squeue_row(c, &row);
}

/*
 * The row of the earlier run waits for details.  The later run waits for the row,
 * also when accounting was queried about the job.
 */
static void
test_kept_before_later(void)
{
	struct details *d;

	begin();
	c->slurm.min_job_age = 3600;
	acct_poll(acct, 0);
	restarted_found();
	sim_answer("sacct", ROW(10, "NODE_FAIL", 100, 200));
	CHECK_STR(sim_said(), "held 10/400");
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	sim_answer("sacct", ROW(10, "NODE_FAIL", 100, 200));
	CHECK_STR(sim_said(), "answered 10 ended known");
	squeue_runs();
	CHECK_STR(sim_said(), "");
	d = sim_keep(details_new(c, on_details, NULL));
	acct_details_wanted(acct, d);
	details_start(d, 0, now_ms());
	sim_answer_failed("scontrol", "",
	    "slurm_load_jobs error: Invalid job id specified");
	CHECK_STR(sim_said(), "end 10/100-200 node_fail, watermark 1000");
	CHECK(idmap_get(&c->work.confirm, 10) != NULL);
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");

	/* The end of the later run waits for the kept row, too. */
	begin();
	c->slurm.min_job_age = 3600;
	acct_poll(acct, 0);
	restarted_in("COMPLETED", 500);
	sim_answer("sacct",
	    rows(ROW(10, "NODE_FAIL", 100, 200),
		sim_sacct_row(OTHER, 10, "COMPLETED", 250, 400, 500), ""));
	acct_kick(acct);
	sim_answer("sacct",
	    rows(ROW(10, "NODE_FAIL", 100, 200),
		sim_sacct_row(OTHER, 10, "COMPLETED", 250, 400, 500), ""));
	CHECK_STR(sim_said(), "held 10/400, answered 10 ended known");
	d = sim_keep(details_new(c, on_details, NULL));
	acct_details_wanted(acct, d);
	details_start(d, 0, now_ms());
	sim_answer_failed("scontrol", "",
	    "slurm_load_jobs error: Invalid job id specified");
	CHECK_STR(sim_said(),
	    "end 10/100-200 node_fail, end 10/400-500 completed, watermark "
	    "1000");
}

#define STORM 300 /* runs whose prolog fails; 256 wait for their steps */

/*
 * The rows of n runs in an answer about steps, the first one of this job; no run
 * has a step.
 */
static const char *
stepless(uint64_t job, unsigned n, int64_t start, int64_t end)
{
	static char text[STORM * 64];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%llu||||%lld||||%lld||||0:0\n",
		    (unsigned long long)job + i, (long long)start + SIM_EPOCH,
		    (long long)end + SIM_EPOCH);
	return text;
}

/* The earlier run's end goes before the start of the later run. */
static void
test_catch_up_order(void)
{
	begin();
	restarted_found();
	squeue_runs();
	CHECK_STR(sim_said(), "held 10/400");
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	sim_answer("sacct",
	    rows(ROW(10, "NODE_FAIL", 100, 200),
		sim_sacct_row(OTHER, 10, "RUNNING", 250, 400, SIM_NEVER), ""));
	CHECK_STR(sim_said(),
	    "end 10/100-200 node_fail, answered 10 ended "
	    "known");
	CHECK(idmap_get(&c->work.confirm, 10) != NULL);
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");

	/* The earlier run may have been a failed prolog: its steps first. */
	begin();
	restarted_found();
	acct_kick(acct);
	sim_answer("sacct", ROW(10, "REQUEUED", 100, 200));
	CHECK_STR(sim_said(), "held 10/400, answered 10 ended known");
	squeue_runs();
	CHECK_STR(sim_said(), "");
	acct_kick(acct);
	CHECK_STR(sim_asked(), "sacct");
	sim_answer("sacct", stepless(10, 1, 100, 200));
	CHECK_STR(sim_said(), "end 10/100-200 requeued never-ran");
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");
}

/*
 * slurmctld shows the third run of the job while the steps of the first one are
 * read.  The second one is not known yet.
 */
static void
test_second_of_three(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
	CHECK_STR(sim_asked(), "sacct");
	restarted_found();
	CHECK_STR(sim_said(), "held 10/400");
	sim_answer("sacct", stepless(10, 1, 100, 105));
	CHECK_STR(sim_said(),
	    "end 10/100-105 requeued never-ran, watermark 1000");
	squeue_runs();
	CHECK_STR(sim_said(), "");
	acct_kick(acct);
	sim_answer("sacct",
	    rows(ROW(10, "REQUEUED", 100, 105), ROW(10, "NODE_FAIL", 200, 300),
		""));
	CHECK_STR(sim_said(),
	    "end 10/200-300 node_fail, answered 10 ended known");
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");
}

/* A run that was requeued soon after its start: rows of its steps. */
static const struct {
	const char *step; /* the id of a step */
	int64_t from;
	int64_t to;
	const char *status;
	const char *said;
} steps[] = {
	{ "10.batch", 100, 105, "0:0",
	    "end 10/100-105 requeued, watermark 1000" },
	{ "10.extern", 101, 104, "0:15",
	    "end 10/100-105 requeued, watermark 1000" },
	/* The node's prolog failed: a step without a status. */
	{ "10.batch", 100, 105, "",
	    "end 10/100-105 requeued never-ran, watermark 1000" },
	/* A step of an earlier run, of a later run, of another job; the job. */
	{ "10.batch", 30, 40, "0:0",
	    "end 10/100-105 requeued never-ran, watermark 1000" },
	{ "10.batch", 230, 240, "0:0",
	    "end 10/100-105 requeued never-ran, watermark 1000" },
	{ "11.batch", 100, 105, "0:0",
	    "end 10/100-105 requeued never-ran, watermark 1000" },
	{ "10", 100, 105, "0:0",
	    "end 10/100-105 requeued never-ran, watermark 1000" },
};

static void
test_steps(void)
{
	char text[STORM * 64 + 256];
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		begin();
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
		CHECK_STR(sim_said(), "");
		CHECK(strstr(sim_args("sacct"),
			  "-o JobIDRaw,Start,End,"
			  "ExitCode -j 10") != NULL);
		sim_answer_failed("sacct", "", "Connection refused");
		CHECK_STR(sim_said(), "");
		sim_pass(60);
		acct_kick(acct);
		snprintf(text, sizeof(text), "%s%s||||%lld||||%lld||||%s\n",
		    stepless(10, 1, 100, 105), steps[i].step,
		    (long long)steps[i].from + SIM_EPOCH,
		    (long long)steps[i].to + SIM_EPOCH, steps[i].status);
		sim_answer("sacct", text);
		CHECK_STR(sim_said(), steps[i].said);
	}
}

/*
 * A requeued run that ended two days ago, and a step of its job.  slurmdbd may have
 * purged the steps of that time.
 */
static const struct {
	int64_t from; /* SIM_NEVER = there is no step */
	const char *said;
} purged[] = {
	{ SIM_NEVER, "end 10/100-105 requeued" },
	/* More than a day later: the purge may have reached the run. */
	{ 105 + DAY + 1, "end 10/100-105 requeued" },
	{ 105 + DAY, "end 10/100-105 requeued never-ran" },
	{ 50, "end 10/100-105 requeued never-ran" },
	{ 101, "end 10/100-105 requeued" },
};

static void
test_steps_purged(void)
{
	char text[STORM * 64 + 256];
	size_t i;

	for (i = 0; i < sizeof(purged) / sizeof(purged[0]); i++) {
		begin();
		sim_pass(2 * DAY);
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
		CHECK_STR(sim_said(), "");
		snprintf(text, sizeof(text), "%s", stepless(10, 1, 100, 105));
		if (purged[i].from != SIM_NEVER)
			snprintf(text + strlen(text), 256,
			    "10.batch||||%lld||||%lld||||0:0\n",
			    (long long)purged[i].from + SIM_EPOCH,
			    (long long)purged[i].from + 2 + SIM_EPOCH);
		sim_answer("sacct", text);
		snprintf(text, sizeof(text), "%s", sim_said());
		text[strcspn(text, ",")] = '\0';
		CHECK_STR(text, purged[i].said);
	}
}

static void
open_add(int64_t start)
{
	struct open_run *run = open_put(&c->open, 10, SIM_EPOCH + start);

	run->start_now = (uint32_t)(SIM_EPOCH + start);
	run->submit = SIM_EPOCH + 50;
	run->flags = OPEN_RESOURCES_SENT;
}

/* The row of an open run lacks the start, which its row among the steps lacks, too. */
static void
test_start_missing(void)
{
	int ran;

	for (ran = 0; ran < 2; ran++) {
		begin();
		open_add(100);
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "REQUEUED", SIM_NEVER, 105));
		CHECK_STR(sim_said(), "");
		sim_answer("sacct",
		    ran ? "10||||None||||1795212459||||0:0\n"
			  "10.batch||||1795212455||||1795212459||||0:15\n" :
			  "10||||None||||1795212459||||0:0\n");
		CHECK_STR(sim_said(),
		    ran ? "end 10/100-105 requeued, watermark 1000" :
			  "end 10/100-105 requeued never-ran, watermark 1000");
	}
	/* Two open runs of this submission: the row may be of either. */
	begin();
	open_add(100);
	open_add(102);
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "REQUEUED", SIM_NEVER, 105));
	CHECK_STR(sim_said(), "watermark 1000");
}

/*
 * squeue has shown the run only CONFIGURING, and accounting calls it NODE_FAIL: the
 * steps, and whether the job was requeued.
 */
static const struct {
	const char *rows; /* after the row of the run */
	const char *said;
} no_boot[] = {
	/* The job is pending again, or has run again. */
	{ "10||||Unknown||||Unknown||||0:0\n",
	    "end 10/100-123 requeued never-ran, watermark 1000" },
	{ "10||||1795212504||||1795212604||||0:0\n"
	  "10.batch||||1795212504||||1795212604||||0:0\n",
	    "end 10/100-123 requeued never-ran, watermark 1000" },
	/* Was the job requeued?  slurmctld is queried. */
	{ "", "" },
	/* The batch script was started, and then the node died. */
	{ "10.batch||||1795212454||||Unknown||||\n"
	  "10||||Unknown||||Unknown||||0:0\n",
	    "end 10/100-123 node_fail, watermark 1000" },
	{ "10.batch||||1795212470||||1795212480||||\n"
	  "10||||Unknown||||Unknown||||0:0\n",
	    "end 10/100-123 node_fail, watermark 1000" },
};

static void
test_no_boot(void)
{
	char text[STORM * 64 + 256];
	size_t i;

	for (i = 0; i < sizeof(no_boot) / sizeof(no_boot[0]); i++) {
		begin();
		open_add(100);
		open_find(&c->open, 10, SIM_EPOCH + 100)
		    ->flags |= OPEN_UNCONFIRMED;
		acct_poll(acct, 0);
		sim_answer("sacct", ROW(10, "NODE_FAIL", 100, 123));
		CHECK_STR(sim_said(), "");
		snprintf(text, sizeof(text), "%s%s", stepless(10, 1, 100, 123),
		    no_boot[i].rows);
		sim_answer("sacct", text);
		CHECK_STR(sim_said(), no_boot[i].said);
		CHECK_INT(c->work.rows_wait, no_boot[i].said[0] == '\0');
	}
}

static unsigned
ends_said(const char *said)
{
	unsigned n = 0;

	for (; (said = strstr(said, "end ")) != NULL; said++)
		n++;
	return n;
}

/* Rows of runs 1000 to 1299, each requeued after 5 s.  The caller frees them. */
static char *
storm_rows(void)
{
	char *text = calloc(STORM, 512);
	size_t len = 0;
	unsigned i;

	for (i = 0; i < STORM; i++)
		len += (size_t)snprintf(text + len, STORM * 512 - len, "%s",
		    ROW(1000 + i, "REQUEUED", 100, 105));
	return text;
}

/*
 * Answers all commands, those for steps with no step: the ends that were sent.
 * Each answer of rows is text.
 */
static unsigned
storm_ends(const char *text)
{
	unsigned ends = 0, i;

	for (i = 0; i < 8; i++) {
		sim_pass(60);
		sim_stored(c);
		acct_kick(acct);
		if (*sim_asked() == '\0')
			break;
		sim_answer("sacct",
		    strstr(sim_args("sacct"), "-o JobIDRaw,Start,End,") !=
			    NULL ?
			stepless(1000, STORM, 100, 105) :
			text);
		ends += ends_said(sim_said());
	}
	CHECK_STR(sim_asked(), "");
	return ends;
}

static char logged[512]; /* the last line of the log */

static void
on_log(const struct log_line *line)
{
	snprintf(logged, sizeof(logged), "%s", line->text);
}

/*
 * More runs wait for their steps than the table has rows: slurmdbd is not
 * blamed, the rest is read at once, and each query makes progress.
 */
static void
test_steps_full(void)
{
	char *text = storm_rows();
	unsigned i;

	begin();
	acct_poll(acct, 0);
	log_set_level(LOG_LEVEL_WARN);
	log_sink_set(on_log);
	sim_answer("sacct", text);
	log_set_level(LOG_LEVEL_FATAL);
	CHECK(strstr(logged, "256") != NULL);
	CHECK(strstr(logged, "does not answer") == NULL);
	CHECK_INT(c->dbd.away, 0);
	CHECK_INT(storm_ends(text), STORM);

	/* By id, as hooks ask. */
	begin();
	for (i = 0; i < STORM; i++)
		(void)idmap_put(&c->work.accounting, 1000 + i, NULL);
	CHECK_INT(storm_ends(text), STORM);
	CHECK_INT(c->work.accounting.n, 0);

	/* A backfill sends its rows also when they were sent before. */
	CHECK_INT(acct_backfill(acct, SIM_EPOCH, SIM_EPOCH + 200, 0), 0);
	CHECK_INT(storm_ends(text), STORM);
	CHECK(!acct_waits(acct));
	free(text);
}

/*
 * The rows that fill the table wait a minute, because accounting hides them: the
 * query that found no room is not repeated before, other queries are made.
 */
static void
test_steps_full_waits(void)
{
	char *text = storm_rows();
	unsigned i, ranges = 0, ids = 0;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", text);
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "-o JobIDRaw,Start,End,") != NULL);
	sim_answer("sacct", "");
	for (i = 0; i < 59; i++) {
		if (i == 10 || i == 20)
			(void)idmap_put(&c->work.accounting, 10, NULL);
		if (i == 30)
			(void)idmap_put(&c->work.accounting, 1299, NULL);
		acct_kick(acct);
		if (strstr(sim_args("sacct"), "-j 10") != NULL) {
			sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
			CHECK_STR(sim_said(),
			    "end 10/100-200 completed, answered 10 ended known");
			done_clear(&c->done);
		} else if (strstr(sim_args("sacct"), "-j 1299") != NULL) {
			sim_answer("sacct", text);
			ids++;
		} else if (asked_time("-S uts") != SIM_NEVER) {
			sim_answer("sacct", text);
			ranges++;
		}
		CHECK_STR(sim_asked(), "");
		sim_pass(1);
	}
	CHECK_INT(ranges, 1);
	CHECK_INT(ids, 1);
	CHECK_INT(c->work.accounting.n, 1);
	CHECK_INT(storm_ends(text), STORM);
	CHECK_INT(c->work.accounting.n, 0);
	free(text);
}

/*
 * A row that was not sent after its steps were read is sent later: the queue to
 * the submitter was full, or squeue showed the run running.
 */
static void
test_steps_unsent(void)
{
	char *text = storm_rows();
	struct open_run *run;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct",
	    rows(ROW(10, "REQUEUED", 100, 105), ROW(11, "REQUEUED", 100, 105),
		""));
	sim_fill(c);
	sim_answer("sacct", stepless(10, 2, 100, 105));
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->resume.point, SIM_EPOCH);
	sim_stored(c);
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "ExitCode -j 10,11") != NULL);
	sim_answer("sacct", stepless(10, 2, 100, 105));
	CHECK_STR(sim_said(),
	    "end 10/100-105 requeued never-ran, "
	    "end 11/100-105 requeued never-ran, watermark 1000");

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", text);
	acct_kick(acct);
	run = open_put(&c->open, 1000, SIM_EPOCH + 100);
	run->flags = OPEN_RESOURCES_SENT | OPEN_RUNNING;
	sim_answer("sacct", stepless(1000, STORM, 100, 105));
	CHECK_INT(ends_said(sim_said()), 255);
	run->flags |= OPEN_LEFT;
	CHECK_INT(storm_ends(text), STORM - 255);
	CHECK_INT(c->open.n, 0);
	free(text);
}

/*
 * slurmdbd does not answer a query for many jobs in time: the next query has
 * fewer jobs, and each job is queried.
 */
static void
test_ids_late(void)
{
	unsigned i, n[3];

	begin();
	for (i = 0; i < STORM; i++)
		(void)idmap_put(&c->work.accounting, 1000 + i, NULL);
	for (i = 0; i < 3; i++) {
		acct_kick(acct);
		n[i] = STORM - (unsigned)c->work.accounting.n;
		if (i < 2)
			sim_answer_late("sacct");
		sim_pass(60);
	}
	CHECK_INT(n[0], STORM);
	CHECK_INT(n[1], STORM / 2);
	CHECK_INT(n[2], STORM / 4);
	for (i = 0; i < 8 && *sim_asked() != '\0'; i++) {
		sim_answer("sacct", "");
		acct_kick(acct);
	}
	CHECK_INT(c->work.accounting.n, 0);
	CHECK_INT(i, 3);
	(void)sim_said();
}

/*
 * sacct never reads job 1005: the other jobs are answered, and the end of another run
 * later.  After an hour job 1005 has an answer, too, which proves nothing.
 */
static void
ids_unread_test(int late)
{
	char said[8192] = "";
	unsigned i, failed = 0, ranges = 0;
	size_t len;

	begin();
	for (i = 0; i < 300; i++) {
		if (i < 10)
			(void)idmap_put(&c->work.accounting, 1000 + i, NULL);
		if (i == 20)
			(void)idmap_put(&c->work.accounting, 2000, NULL);
		sim_pass(30);
		acct_poll(acct, 0);
		if (strstr(sim_args("sacct"), "1005") != NULL) {
			failed++;
			if (late)
				sim_answer_late("sacct");
			else
				sim_answer_failed("sacct", "",
				    "Query result exceeds size limit");
		} else if (*sim_asked() != '\0') {
			ranges += asked_time("-S uts") != SIM_NEVER;
			sim_answer("sacct", "");
		}
		len = strlen(said);
		snprintf(said + len, sizeof(said) - len, "%s\n", sim_said());
		if (i == 60) {
			CHECK(strstr(said, "answered 1000") != NULL);
			CHECK(strstr(said, "answered 1009") != NULL);
			CHECK(strstr(said, "answered 2000") != NULL);
			CHECK(strstr(said, "answered 1005") == NULL);
		}
	}
	CHECK(strstr(said, "answered 1005\n") != NULL);
	CHECK(failed > 5 && failed < 30);
	CHECK(ranges > 200);
	CHECK_INT(c->work.accounting.n, 0);
}

static void
test_ids_unread(void)
{
	ids_unread_test(1);
	ids_unread_test(0);
}

/* Nothing else is queried between two polls: that is no outage of slurmdbd. */
static void
test_ids_unread_long_poll(void)
{
	unsigned i, hours = 0;

	begin();
	c->set->poll = 1800;
	(void)idmap_put(&c->work.accounting, 1005, NULL);
	for (i = 1; i <= 360 && hours == 0; i++) {
		sim_pass(60);
		if (i % 30 == 0)
			acct_poll(acct, 0);
		else
			acct_kick(acct);
		while (*sim_asked() != '\0')
			if (strstr(sim_args("sacct"), "1005") != NULL)
				sim_answer_failed("sacct", "",
				    "Query result exceeds size limit");
			else
				sim_answer("sacct", "");
		if (strstr(sim_said(), "answered 1005") != NULL)
			hours = i / 60;
	}
	CHECK(hours >= 1 && hours < 4);
}

/* No query is answered for three hours: no job is blamed, and each is queried soon. */
static void
test_ids_outage(void)
{
	unsigned i;

	begin();
	for (i = 0; i < 10; i++)
		(void)idmap_put(&c->work.accounting, 1000 + i, NULL);
	for (i = 0; i < 180; i++) {
		next_poll();
		if (*sim_asked() != '\0')
			sim_answer_failed("sacct", "", "Connection refused");
	}
	CHECK_STR(sim_said(), "");
	for (i = 0; i < 10; i++) {
		next_poll();
		if (*sim_asked() != '\0')
			sim_answer("sacct", "");
	}
	CHECK_INT(c->work.accounting.n, 0);
	CHECK(strstr(sim_said(), "answered 1009") != NULL);
}

/*
 * The query that fails before three hours without an answer, and the one after them,
 * are for the same job: it could not be read for a moment, not for three hours.
 */
static void
test_ids_after_outage(void)
{
	unsigned i, failed = 0;

	begin();
	(void)idmap_put(&c->work.accounting, 1005, NULL);
	for (i = 0; i < 180; i++) {
		next_poll();
		if (*sim_asked() != '\0')
			sim_answer_failed("sacct", "", "Connection refused");
	}
	for (i = 0; i < 20; i++) {
		next_poll();
		if (strstr(sim_args("sacct"), "1005") != NULL) {
			failed++;
			sim_answer_failed("sacct", "",
			    "Query result exceeds size limit");
		} else if (*sim_asked() != '\0')
			sim_answer("sacct", "");
	}
	CHECK(failed > 1);
	CHECK(strstr(sim_said(), "answered 1005") == NULL);
}

/* Hook events come so fast that a job waits whenever a query has ended. */
static void
test_ids_always(void)
{
	unsigned i, ranges = 0;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", "");
	(void)sim_said();
	for (i = 0; i < 60; i++) {
		(void)idmap_put(&c->work.accounting, 10 + i, NULL);
		if (i % 6 == 0)
			next_poll();
		acct_kick(acct);
		ranges += asked_time("-S uts") != SIM_NEVER;
		sim_answer("sacct", "");
		sim_pass(1);
	}
	CHECK_INT(ranges, 3);
	(void)sim_said();
}

/* The answer to a query by id waits for room in the queue to the submitter. */
static void
test_ids_pause(void)
{
	unsigned i;

	begin();
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	for (i = 0; !outbox_full(c->outbox); i++)
		(void)outbox_backfilled(c->outbox, c->slurm.cluster,
		    SIM_EPOCH + 1);
	(void)sim_said();
	sim_answer("sacct", ROW(10, "COMPLETED", 100, 200));
	CHECK(strstr(sim_said(), "pause") != NULL);
	sim_stored(c);
}

/*
 * The permission was lost, or slurmdbd restored, before the steps were read: an
 * answer without the row of a run does not prove that the run never ran.
 */
static void
test_steps_hidden(void)
{
	char text[256];
	unsigned i;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct",
	    rows(ROW(10, "REQUEUED", 100, 105), ROW(11, "REQUEUED", 100, 105),
		""));
	/* Another row of job 11 proves nothing either. */
	snprintf(text, sizeof(text), "%s", stepless(10, 1, 100, 105));
	strncat(text, stepless(11, 1, 30, 40), 100);
	sim_answer("sacct", text);
	CHECK_STR(sim_said(), "end 10/100-105 requeued never-ran");
	acct_kick(acct);
	CHECK_STR(sim_asked(), "");
	sim_pass(60);
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "ExitCode -j 11") != NULL);
	sim_answer("sacct", stepless(11, 1, 100, 105));
	CHECK_STR(sim_said(),
	    "end 11/100-105 requeued never-ran, watermark 1000");

	/* The first run of a job is not shown: its second run waits, too. */
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct",
	    rows(ROW(10, "REQUEUED", 100, 105), ROW(10, "REQUEUED", 120, 125),
		""));
	sim_answer("sacct", stepless(10, 1, 120, 125));
	CHECK_STR(sim_said(), "");
	sim_pass(60);
	acct_kick(acct);
	snprintf(text, sizeof(text), "%s", stepless(10, 1, 100, 105));
	strncat(text, stepless(10, 1, 120, 125), 100);
	sim_answer("sacct", text);
	CHECK_STR(sim_said(),
	    "end 10/100-105 requeued never-ran, "
	    "end 10/120-125 requeued never-ran, watermark 1000");

	/* Gone for an hour: nothing proves that the run did not run. */
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
	for (i = 0; i < 60; i++) {
		sim_answer("sacct", "");
		CHECK_STR(sim_said(), "");
		sim_pass(60);
		acct_kick(acct);
	}
	sim_answer("sacct", "");
	CHECK_STR(sim_said(), "end 10/100-105 requeued, watermark 1000");
}

/*
 * Job 10 has so many steps that slurmdbd never answers in time, or sacct fails each
 * time.  Other queries continue, also those for the steps of other jobs, which do not
 * wait.  After an hour the run counts as one that ran, and its next run at once.
 */
static void
steps_unread_test(int late)
{
	char said[8192] = "";
	const char *first, *other;
	unsigned i, failed = 0, ranges = 0, ids = 0;
	size_t len;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct",
	    rows(ROW(10, "REQUEUED", 100, 105), ROW(11, "REQUEUED", 100, 105),
		""));
	for (i = 0; i < 400; i++) {
		if (strstr(sim_args("sacct"), "ExitCode -j 10") != NULL) {
			failed++;
			if (late) {
				sim_pass(120);
				sim_answer_late("sacct");
			} else
				sim_answer_failed("sacct", "",
				    "Query result exceeds size limit");
		} else if (strstr(sim_args("sacct"), "ExitCode -j 11") != NULL)
			sim_answer("sacct", stepless(11, 1, 100, 105));
		else if (strstr(sim_args("sacct"), "ExitCode -j 12") != NULL)
			sim_answer("sacct", stepless(12, 1, 300, 305));
		else if (strcmp(sim_asked(), "sacctmgr") == 0)
			sim_answer("sacctmgr", SIM_USER "|Operator\n");
		else if (strstr(sim_args("sacct"), "-j 30") != NULL) {
			sim_answer("sacct", "");
			ids++;
		} else if (*sim_asked() != '\0') {
			sim_answer("sacct",
			    rows(ROW(20, "COMPLETED", 100, 200),
				i < 320 ? "" : ROW(10, "REQUEUED", 300, 305),
				i < 320 ? "" : ROW(12, "REQUEUED", 300, 305)));
			ranges++;
		}
		len = strlen(said);
		snprintf(said + len, sizeof(said) - len, "%s\n", sim_said());
		sim_pass(15);
		drained(slurm_now(c) - SIM_EPOCH);
		if (i % 40 == 0)
			(void)idmap_put(&c->work.accounting, 30, NULL);
		acct_poll(acct, 0);
	}
	CHECK(failed > 2 && failed < 80);
	CHECK(ranges > 20);
	CHECK_INT(ids, 10);
	CHECK(strstr(said, "end 20/100-200 completed") != NULL);
	first = strstr(said, "end 10/100-105 requeued, watermark");
	other = strstr(said, "end 11/100-105 requeued never-ran");
	CHECK(first != NULL && other != NULL && other < first);
	CHECK(strstr(said, "end 10/300-305 requeued") != NULL);
	CHECK(strstr(said, "end 10/300-305 requeued never-ran") == NULL);
	CHECK(strstr(said, "end 12/300-305 requeued never-ran") != NULL);
}

static void
test_steps_unread(void)
{
	steps_unread_test(1);
	steps_unread_test(0);
}

/* The run of a user who has opted out is not reported: its steps are not read. */
static void
test_steps_opted_out(void)
{
	char text[512], *end;

	begin();
	acct_poll(acct, 0);
	snprintf(text, sizeof(text), "%s", ROW(10, "REQUEUED", 100, 105));
	end = strstr(text, "sbatch");
	CHECK(end != NULL);
	snprintf(end, sizeof(text) - (size_t)(end - text),
	    "disable_cc_submission<~!>x<~!>node1\n");
	end = strstr(text, "<~!><~!>disable");
	CHECK(end != NULL);
	memmove(end, end + 4, strlen(end + 4) + 1);
	sim_answer("sacct", text);
	CHECK_STR(sim_said(),
	    "end 10/100-105 requeued opted-out, watermark 1000");
}

/*
 * slurmdbd answers nothing for three hours: the run is not blamed, and its steps are
 * read afterwards.
 */
static void
test_steps_outage(void)
{
	unsigned i;

	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
	for (i = 0; i < 180; i++) {
		if (*sim_asked() != '\0')
			sim_answer_failed("sacct", "", "Connection refused");
		next_poll();
	}
	for (i = 0; i < 5; i++) {
		if (strstr(sim_args("sacct"), "ExitCode -j 10") != NULL)
			break;
		CHECK_STR(sim_said(), "");
		sim_answer("sacct", "");
		next_poll();
	}
	sim_answer("sacct", stepless(10, 1, 100, 105));
	CHECK(strstr(sim_said(), "end 10/100-105 requeued never-ran") != NULL);
}

/* The submitter looks up runs 10/100 and 12/start, as lookup 7. */
static void
runs_looked_up(int64_t start)
{
	const struct run_key keys[] = {
		{ "alpha", 10, SIM_EPOCH + 100 },
		{ "beta", 13, SIM_EPOCH + 100 },
		{ "alpha", 12, SIM_EPOCH + start },
	};
	struct writer w;
	struct reader r;
	size_t i;

	wr_init(&w, 1024);
	wr_str(&w, "alpha");
	wr_u64(&w, 7);
	wr_u32(&w, 3);
	for (i = 0; i < 3; i++)
		wr_run_key(&w, &keys[i]);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(lookup_add(c->lookups, &r), 0);
	wr_clear(&w);
}

static void
on_permission(void *arg, int proved)
{
	(void)arg;
	lookup_permission(c->lookups, proved);
}

/* What the scheduler does with work.permission. */
static void
permission_asked(const char *answer)
{
	if (!c->work.permission)
		return;
	c->work.permission = 0;
	permission_check(c, on_permission, NULL);
	sim_answer("sacctmgr", answer);
}

/*
 * Neither squeue nor accounting knows the runs: said only when both answers
 * had a run that must be there, and our permission was proved.
 */
static const struct {
	int squeue;	   /* its answer had a run known before */
	int sentinel;	   /* accounting's had the sentinel */
	int poll;	   /* the permission was proved in this poll */
	const char *admin; /* or is asked for: sacctmgr's answer */
	const char *said;
} absences[] = {
	{ 1, 1, 1, "", "not-found 7: 10/100 12/100" },
	{ 1, 1, 0, SIM_USER "|Operator\n", "not-found 7: 10/100 12/100" },
	{ 1, 1, 0, SIM_USER "|None\n", "" },
	{ 1, 1, 0, "", "" },
	{ 0, 1, 1, "", "" },
	{ 1, 0, 1, "", "" },
	{ 0, 0, 1, "", "" },
};

/* Without the notes of the test's own callback. */
static const char *
said_to_submitter(void)
{
	static char text[1024];
	const char *said = sim_said(), *end;
	size_t n;

	text[0] = '\0';
	for (; *said != '\0'; said = *end == ',' ? end + 2 : end) {
		end = strstr(said, ", ");
		if (end == NULL)
			end = said + strlen(said);
		if (strncmp(said, "answered", 8) == 0)
			continue;
		n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "%s%.*s",
		    n > 0 ? ", " : "", (int)(end - said), said);
	}
	return text;
}

/* Accounting is read once, so that there is a sentinel: job 11. */
static void
begin_with_sentinel(void)
{
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	c->listing.number = 5;
	(void)sim_said();
}

static void
test_absence(void)
{
	size_t i;

	for (i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		begin_with_sentinel();
		c->permission = PERMISSION_OPERATOR;
		c->permission_poll = absences[i].poll ? 5 : 4;
		runs_looked_up(100);
		lookup_listed(c->lookups, absences[i].squeue);
		acct_kick(acct);
		CHECK(strstr(sim_args("sacct"), ",11") != NULL);
		CHECK(strstr(sim_args("sacct"), "13") == NULL);
		sim_answer("sacct",
		    absences[i].sentinel ? ROW(11, "COMPLETED", 100, 300) :
					   ROW(14, "COMPLETED", 100, 300));
		permission_asked(absences[i].admin);
		CHECK_STR(said_to_submitter(),
		    absences[i].sentinel ? absences[i].said :
					   "end 14/100-300 completed");
		/* The lookup is over; the submitter may ask again. */
		lookup_detailed(c->lookups);
		CHECK(!lookup_has(c->lookups, 10, SIM_EPOCH + 100));
	}
}

/* Accounting has one of the two runs: only the other is not found. */
static void
test_absence_of_one(void)
{
	begin_with_sentinel();
	c->permission = PERMISSION_OPERATOR;
	c->permission_poll = 5;
	runs_looked_up(100);
	lookup_listed(c->lookups, 1);
	acct_kick(acct);
	sim_answer("sacct",
	    rows(ROW(11, "COMPLETED", 100, 300),
		ROW(10, "RUNNING", 100, SIM_NEVER), ""));
	CHECK_STR(said_to_submitter(), "not-found 7: 12/100");
}

/*
 * A query by id is under way, and its rows of the job were read, when squeue's
 * answer lacks the job: its end says nothing about the lookup.
 */
static void
test_absence_in_older_answer(void)
{
	begin_with_sentinel();
	c->permission = PERMISSION_OPERATOR;
	c->permission_poll = 5;
	(void)idmap_put(&c->work.accounting, 10, NULL);
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	runs_looked_up(100);
	lookup_listed(c->lookups, 1);
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	CHECK_STR(said_to_submitter(), "");
	acct_kick(acct);
	CHECK(strstr(sim_args("sacct"), "10") != NULL);
	sim_answer("sacct",
	    rows(ROW(11, "COMPLETED", 100, 300), ROW(10, "COMPLETED", 100, 200),
		""));
	CHECK_STR(said_to_submitter(),
	    "end 10/100-200 completed, not-found 7: 12/100");
}

/* squeue shows job 12 again, with a later submission. */
static void
shown_again(void)
{
	struct open_run *run;

	runs_looked_up(100);
	run = open_put(&c->open, 12, SIM_EPOCH + 150);
	CHECK(run != NULL);
	run->flags = OPEN_RUNNING | OPEN_RESOURCES_SENT;
	lookup_listed(c->lookups, 1);
	acct_kick(acct);
}

/*
 * slurmdbd may still get the end of a run as long as it lacks a later run of
 * the job: another poll asks again.  An earlier run that is still running in
 * accounting will not get an end.
 */
static const struct {
	const char *state; /* of run 12/100 in accounting; NULL = no row */
	int later;	   /* accounting has run 12/150 */
	const char *said;
	int again;
} reused[] = {
	{ NULL, 0, "not-found 7: 10/100", 1 },
	{ NULL, 1, "not-found 7: 10/100 12/100", 0 },
	{ "RUNNING", 1, "not-found 7: 10/100 12/100", 0 },
	{ "COMPLETED", 1, "end 12/100-120 completed, not-found 7: 10/100", 0 },
};

static const char *
rows_of_reused(size_t i)
{
	int ended = reused[i].state != NULL &&
	    strcmp(reused[i].state, "COMPLETED") == 0;

	return rows(ROW(11, "COMPLETED", 100, 300),
	    reused[i].state == NULL ?
		"" :
		ROW(12, reused[i].state, 100, ended ? 120 : SIM_NEVER),
	    reused[i].later ?
		sim_sacct_row(OTHER, 12, "RUNNING", 140, 150, SIM_NEVER) :
		"");
}

static void
test_absence_of_reused(void)
{
	size_t i;

	for (i = 0; i < sizeof(reused) / sizeof(reused[0]); i++) {
		begin_with_sentinel();
		c->permission = PERMISSION_OPERATOR;
		c->permission_poll = 5;
		shown_again();
		sim_answer("sacct", rows_of_reused(i));
		CHECK_STR(said_to_submitter(), reused[i].said);
		lookup_listed(c->lookups, 1);
		CHECK_INT(lookup_has(c->lookups, 12, SIM_EPOCH + 100),
		    reused[i].again);
	}
}

/*
 * Run 12/100 was requeued in the second of its start, so that its next run looks
 * as if the start had moved: accounting has both runs, or lacks the first one.
 */
static void
test_next_run_is_not_moved(void)
{
	struct open_run *run;
	int lacks;

	for (lacks = 0; lacks < 2; lacks++) {
		begin_with_sentinel();
		run = open_put(&c->open, 12, SIM_EPOCH + 100);
		CHECK(run != NULL);
		run->submit = SIM_EPOCH + 50;
		run->flags |= OPEN_LEFT;
		runs_looked_up(100);
		lookup_listed(c->lookups, 1);
		acct_kick(acct);
		sim_answer("sacct",
		    rows(ROW(11, "COMPLETED", 100, 300),
			lacks ? "" : ROW(12, "COMPLETED", 100, 100),
			sim_sacct_row(OTHER, 12, "COMPLETED", 100, 230, 260)));
		CHECK_STR(said_to_submitter(),
		    lacks ? "end 12/230-260 completed" :
			    "end 12/100-100 completed, "
			    "end 12/230-260 completed");
	}
}

/*
 * The nodes of run 12 were powered up first: its start moved from 100 to 130.
 * squeue does not show it any more, and accounting has its row without an end,
 * with the later start or still with the first one.
 */
static const struct {
	int64_t stored;
	int64_t row;
	int again; /* squeue shows a later run of the job */
	const char *said;
} moved[] = {
	{ 100, 130, 0, "not-found 7: 10/100" },
	{ 130, 100, 0, "not-found 7: 10/100" },
	{ 100, 130, 1, "not-found 7: 10/100" },
	{ 100, 100, 1, "not-found 7: 10/100" },
};

static void
test_moved_without_end(void)
{
	struct open_run *run;
	size_t i;

	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		begin_with_sentinel();
		c->permission = PERMISSION_OPERATOR;
		c->permission_poll = 5;
		run = open_put(&c->open, 12, SIM_EPOCH + moved[i].stored);
		CHECK(run != NULL);
		run->submit = SIM_EPOCH + 50;
		run->flags |= OPEN_LEFT;
		runs_looked_up(moved[i].stored);
		run = moved[i].again ? open_put(&c->open, 12, SIM_EPOCH + 400) :
				       NULL;
		if (run != NULL)
			run->flags = OPEN_RUNNING | OPEN_RESOURCES_SENT;
		lookup_listed(c->lookups, 1);
		acct_kick(acct);
		sim_answer("sacct",
		    rows(ROW(11, "COMPLETED", 100, 300),
			sim_sacct_row(OTHER, 12, "RUNNING", 50, moved[i].row,
			    SIM_NEVER),
			""));
		CHECK_STR(said_to_submitter(), moved[i].said);
	}
}

/* Without accounting, only a later run of the job proves anything. */
static void
test_reused_alone(void)
{
	begin();
	c->slurm.accounting = 0;
	c->listing.number = 5;
	c->permission = PERMISSION_OPERATOR;
	c->permission_poll = 5;
	shown_again();
	CHECK_STR(said_to_submitter(), "not-found 7: 12/100");
	CHECK(lookup_has(c->lookups, 10, SIM_EPOCH + 100));
}

/* slurmdbd is removed from Slurm's configuration: nothing waits for its answer. */
static void
test_accounting_removed(void)
{
	/* A start that waits for an earlier run */
	begin();
	restarted_found();
	c->slurm.accounting = 0;
	acct_kick(acct);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "held 10/400, answered 10");
	CHECK(idmap_get(&c->work.confirm, 10) != NULL);
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");

	/* A row that waits for its steps, and a later run of its job */
	begin();
	acct_poll(acct, 0);
	sim_answer("sacct", ROW(10, "REQUEUED", 100, 105));
	restarted_found();
	c->slurm.accounting = 0;
	sim_answer_failed("sacct", "", "Connection refused");
	sim_pass(2);
	acct_kick(acct);
	CHECK_STR(said_to_submitter(),
	    "held 10/400, end 10/100-105 requeued, watermark 1000");
	squeue_runs();
	CHECK_STR(sim_said(), "confirm 10/400");
	CHECK(!acct_waits(acct));

	/* The rest of a range */
	begin();
	c->resume.point = SIM_EPOCH - 3 * DAY;
	acct_poll(acct, 0);
	c->slurm.accounting = 0;
	sim_answer("sacct", ROW(11, "COMPLETED", 100, 300));
	CHECK_STR(sim_asked(), "");
	CHECK(!acct_waits(acct));
	CHECK(!acct_catching_up(acct));
	(void)sim_said();

	/* A lookup: slurmctld may have the runs. */
	begin_with_sentinel();
	runs_looked_up(100);
	lookup_listed(c->lookups, 1);
	c->slurm.accounting = 0;
	acct_kick(acct);
	CHECK_STR(said_to_submitter(), "");
	lookup_listed(c->lookups, 1);
	CHECK(idmap_get(&c->work.details, 10) != NULL);
	lookup_detailed(c->lookups);
	CHECK(!lookup_has(c->lookups, 10, SIM_EPOCH + 100));
}

/* A run that was reported as ended is reported again. */
static void
test_lookup_of_done(void)
{
	begin_with_sentinel();
	next_poll();
	sim_answer("sacct",
	    rows(ROW(11, "COMPLETED", 100, 300), ROW(10, "COMPLETED", 100, 200),
		ROW(12, "COMPLETED", 100, 250)));
	(void)sim_said();
	runs_looked_up(100);
	lookup_listed(c->lookups, 1);
	acct_kick(acct);
	sim_answer("sacct",
	    rows(ROW(11, "COMPLETED", 100, 300), ROW(10, "COMPLETED", 100, 200),
		ROW(12, "COMPLETED", 100, 250)));
	CHECK_STR(said_to_submitter(),
	    "end 10/100-200 completed, "
	    "end 12/100-250 completed");
}

/* squeue shows a run: accounting is not asked, and no answer denies it. */
static void
test_absence_shown(void)
{
	begin_with_sentinel();
	runs_looked_up(100);
	lookup_shown(c->lookups, 10, SIM_EPOCH + 100);
	lookup_shown(c->lookups, 12, SIM_EPOCH + 100);
	lookup_listed(c->lookups, 1);
	CHECK_INT(c->work.accounting.n, 0);
}

/* Rows of a recording that end a run which had nodes. */
static unsigned
ended_rows(const char *version)
{
	size_t n;
	char *text = recording_read(version, "acct.records", &n), *p, *nl;
	unsigned ended = 0;

	for (p = text; (nl = strchr(p, '\n')) != NULL; p = nl + 1) {
		*nl = '\0';
		ended += strstr(p, "|never 0|") != NULL &&
		    strstr(p, "|end 0 ") == NULL &&
		    strstr(p, "|state RESIZING|") == NULL;
	}
	free(text);
	return ended;
}

/* The rows of the requeued runs of a recording in an answer about steps. */
static const char *
stepless_recorded(const char *version)
{
	static char rows[4096];
	long long job, start, end;
	size_t n, len = 0;
	char *text = recording_read(version, "acct.records", &n), *p, *at;

	for (p = text; (p = strstr(p, "|state REQUEUED|")) != NULL; p++) {
		for (at = p; at > text && at[-1] != '\n'; at--)
			continue;
		CHECK_INT(sscanf(at, "job %lld|start %lld|", &job, &start), 2);
		at = strstr(p, "|end ");
		CHECK(at != NULL && sscanf(at, "|end %lld", &end) == 1);
		len += (size_t)snprintf(rows + len, sizeof(rows) - len,
		    "%lld||||%lld||||%lld||||0:0\n", job, start, end);
	}
	free(text);
	return rows;
}

/* Answers of real Slurm: every end once, and then nothing again. */
static void
test_recorded(void)
{
	static const struct {
		const char *dir;
		unsigned version;
	} all[] = { { "22.05", 2205 }, { "24.11", 2411 }, { "26.05", 2605 } };
	const char *said;
	char *text;
	size_t i, n;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin();
		c->slurm.version = all[i].version;
		sim_pass(2 * DAY);
		drained(2 * DAY + 1000);
		c->resume.point = SIM_EPOCH + 2 * DAY;
		text = recording_read(all[i].dir, "acct.txt", &n);
		acct_poll(acct, 0);
		sim_answer("sacct", text);
		/* The steps of those that were requeued soon. */
		if (*sim_asked() != '\0')
			sim_answer("sacct", stepless_recorded(all[i].dir));
		said = sim_said();
		CHECK(ended_rows(all[i].dir) > 5);
		CHECK_INT(ends_said(said), ended_rows(all[i].dir));
		CHECK(strstr(said, "watermark 173800") != NULL);
		next_poll();
		sim_answer("sacct", text);
		CHECK_STR(sim_said(), "watermark 173860");
		free(text);
	}
}

int
main(void)
{
	test_resume_point();
	test_older_resume_point();
	test_slurmdbd_away();
	test_bad_row();
	test_bad_rows();
	test_all_rows_bad();
	test_forged_row();
	test_backfill();
	test_backfill_cancelled();
	test_backfill_is_no_proof();
	test_backfill_steps();
	test_backfill_no_room();
	test_backfill_no_accounting();
	test_not_counted();
	test_bounds();
	test_permission();
	test_row_waits();
	test_sentinel();
	test_sentinel_asks_permission();
	test_permission_lost();
	test_coordinator();
	test_coordinator_later();
	test_clock_set_back();
	test_slices();
	test_slice_unproved();
	test_slice_too_wide();
	test_slice_timeout();
	test_poll_timeout();
	test_backfill_timeout();
	test_short_backfill_timeout();
	test_max_span();
	test_by_id();
	test_old_end_of_resized();
	test_resized_of_earlier_job();
	test_part_before_range();
	test_part_of_old_slurm();
	test_part_not_shown();
	test_part_in_gap();
	test_part_before_backfill();
	test_left();
	test_catch_up_order();
	test_kept_before_later();
	test_second_of_three();
	test_steps();
	test_steps_purged();
	test_no_boot();
	test_start_missing();
	test_steps_full();
	test_steps_full_waits();
	test_steps_unsent();
	test_steps_hidden();
	test_steps_unread();
	test_steps_outage();
	test_steps_opted_out();
	test_ids_late();
	test_ids_unread();
	test_ids_unread_long_poll();
	test_ids_outage();
	test_ids_after_outage();
	test_ids_always();
	test_ids_pause();
	test_absence();
	test_absence_of_one();
	test_absence_in_older_answer();
	test_absence_of_reused();
	test_next_run_is_not_moved();
	test_moved_without_end();
	test_reused_alone();
	test_accounting_removed();
	test_lookup_of_done();
	test_absence_shown();
	test_recorded();
	return check_done();
}
