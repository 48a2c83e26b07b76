/* SPDX-License-Identifier: MIT */
/* The rule that `explain` names for a job that the suite does not have. */
#include "config.h"

#include "collector/explain_reason.h"
#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define JOB    10
#define HOUR   INT64_C(3600)
#define NOW    (SIM_EPOCH + 10 * 24 * HOUR)
#define AGO(s) (NOW - (s))

static struct job_facts facts;
static struct explain_answer answer;
static struct cluster *c;

static struct run_fact *
fact(int of_ctld, const char *state, int64_t start, int64_t end)
{
	struct run_fact *run = fact_new(&facts, of_ctld);

	*run = (struct run_fact) { .of_ctld = of_ctld,
		.state = state_word((struct span) { state, strlen(state) }),
		.start = start,
		.end = end,
		.nodes = 1 };
	return run;
}

/* The reason for the facts contains the text, the remedy the other one. */
static void
expect(const char *reason, const char *remedy)
{
	explain_reason(c, &facts, &answer);
	if (strstr(answer.reason, reason) == NULL)
		CHECK_STR(answer.reason, reason);
	else
		CHECK(1);
	if (*remedy == '\0')
		CHECK_STR(answer.remedy, "");
	else if (strstr(answer.remedy, remedy) == NULL)
		CHECK_STR(answer.remedy, remedy);
	memset(&facts, 0, sizeof(facts));
	facts.job = JOB;
	facts.next_poll_ms = 30000;
	facts.next_day_ms = 3600000;
}

static void
test_ended(void)
{
	struct run_key *key = &c->site->quarantined[0];

	c->resume.point = AGO(60);
	c->resume.oldest = AGO(2 * 24 * HOUR);
	fact(0, "COMPLETED", AGO(3 * 24 * HOUR), AGO(3 * 24 * HOUR - 5));
	expect("the oldest time from which accounting was read",
	    "backfill --from ");
	c->resume.oldest = AGO(600);
	fact(0, "COMPLETED", AGO(900), AGO(700));
	expect("not read yet: it ended at", "sync");
	fact(0, "FAILED", AGO(90), AGO(10));
	expect("not read yet: the job ended after accounting was read; the "
	       "next poll is in 30 s",
	    "");
	fact(0, "FAILED", AGO(90), AGO(70));
	expect("no rule excludes the job", "sync --job");
	done_put(&c->done, JOB, AGO(95));
	fact(0, "FAILED", AGO(95), AGO(70));
	expect("its end was sent to the spool by this process", "sync --job");
	fact(0, "CANCELLED", AGO(90), AGO(70))->never = 1;
	expect("it has no run", "");
	fact(1, "COMPLETED", AGO(90), AGO(70))->ignored = 1;
	expect("all its hosts match ignoreHosts", "change ignoreHosts");
	fact(1, "COMPLETED", AGO(90), AGO(70))->opted_out = 1;
	expect("optOutWord", "");
	*key = (struct run_key) { .job = JOB, .start = AGO(90) };
	snprintf(key->cluster, sizeof(key->cluster), "%s", c->slurm.cluster);
	c->site->n_quarantined = 1;
	fact(1, "COMPLETED", AGO(90), AGO(70));
	expect("in quarantine", "restart");
	c->site->n_quarantined = 0;
}

static void
test_live(void)
{
	fact(1, "PENDING", 0, 0);
	fact(0, "CANCELLED", AGO(900), AGO(800));
	expect("the job is pending", "");
	/* slurmdbd is late */
	fact(1, "RUNNING", AGO(5), 0);
	fact(0, "PENDING", 0, 0);
	expect("not read yet: the job has started since the last poll", "");
	fact(1, "RUNNING", AGO(5), 0)->ignored = 1;
	expect("all its hosts match ignoreHosts", "change ignoreHosts");
	open_put(&c->open, JOB, AGO(7));
	fact(1, "RUNNING", AGO(7), 0);
	expect("on the way to the spool", "");
	fact(0, "RUNNING", AGO(900), 0);
	expect("a runaway job is not sent", "runawayjobs");
	fact(0, "REVOKED", AGO(900), 0);
	expect("another cluster of the federation", "");
}

static void
test_unknown(void)
{
	c->permission = PERMISSION_OPERATOR;
	expect("unknown to Slurm: neither slurmctld nor accounting has this "
	       "job in cluster alpha",
	    "");
	snprintf(facts.purge, sizeof(facts.purge), "12 months");
	expect("slurmdbd removes jobs after 12 months", "");
	facts.array_tasks = 3;
	expect("3 records are tasks of this array", "explain 10_N");
	facts.oldest_job = 4123;
	facts.oldest_submit = AGO(60);
	expect("this job in cluster alpha (oldest job in accounting: 4123, "
	       "submitted 20",
	    "");
	facts.ambiguous = 1;
	expect("cannot be read with certainty", "");
	snprintf(facts.ctld_error, sizeof(facts.ctld_error), "exit status 1");
	expect("slurmctld does not answer (exit status 1)", "none");
	snprintf(facts.dbd_error, sizeof(facts.dbd_error), "exit status 1");
	expect("slurmdbd does not answer", "none");
	c->permission = PERMISSION_NONE;
	expect("the operator permission is missing", "adminlevel=Operator");
	c->slurm.accounting = 0;
	expect("the operator permission is missing", "set slurmUser to slurm");
	c->slurm.accounting = 1;
	facts.not_ready = 1;
	expect("Slurm was not queried yet", "");
}

static void
test_texts(void)
{
	char text[256];

	fact(1, "COMPLETED", AGO(90), AGO(70));
	fact_text(&facts.runs[0], text, sizeof(text));
	CHECK(strstr(text, "COMPLETED, start 20") == text);
	CHECK(strstr(text, ", end 20") != NULL);
	CHECK(strstr(text, ", 1 node") != NULL);
	fact(1, "PENDING", AGO(90), 0);
	fact_text(&facts.runs[1], text, sizeof(text));
	CHECK_STR(text, "PENDING");
	memset(&facts, 0, sizeof(facts));
}

/* The prolog of the job failed again and again; then the job ran and ended. */
static void
test_many(void)
{
	int i;

	c->resume.oldest = AGO(HOUR);
	c->resume.point = AGO(60);
	for (i = 0; i < 3 * FACTS_MAX; i++)
		fact(0, "REQUEUED", AGO(1000 - i), AGO(1000 - i));
	fact(0, "COMPLETED", AGO(90), AGO(10));
	CHECK_INT(facts.n, FACTS_MAX);
	CHECK_INT(facts.more, 1);
	CHECK_INT(facts.runs[FACTS_MAX - 1].end, AGO(10));
	expect("not read yet: the job ended after accounting was read", "");

	fact(1, "RUNNING", AGO(90), 0);
	for (i = 0; i < FACTS_MAX; i++)
		fact(0, "REQUEUED", AGO(1000 - i), AGO(1000 - i));
	CHECK_INT(facts.runs[0].of_ctld, 1);
	expect("the job has started since the last poll", "");
}

int
main(void)
{
	c = sim_begin(NULL, NULL);
	slurm_clock_set(&c->clock, NOW, now_s());
	c->slurm.accounting = 1;
	facts.job = JOB;
	facts.next_poll_ms = 30000;
	test_ended();
	test_live();
	test_unknown();
	test_texts();
	test_many();
	return check_done();
}
