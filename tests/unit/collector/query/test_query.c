/* SPDX-License-Identifier: MIT */
/*
 * The lanes that ask slurmctld, with simulated commands: hook events from the
 * message to event-ack, the poll, and the confirmation of starts.  Records of
 * scontrol and answers of sdiag are those of tests/data/slurm.
 */
#include "config.h"

#include <stdlib.h>

#include <event2/event.h>

#include "collector/details/details.h"
#include "collector/query/query_lanes.h"
#include "collector/track/track.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"
#include "tests/unit/collector/simulation.h"

#define UNKNOWN_JOB  "slurm_load_jobs error: Invalid job id specified"
#define NO_SLURMCTLD "Unable to contact slurm controller (connect failure)"

static struct cluster *c;
static struct accounting *acct;
static struct poll *poll;
static struct hook_events *hooks;
static struct confirm *confirm;

static void
on_answered(void *arg, uint64_t job, int ended, int known)
{
	(void)arg;
	hook_events_answered(hooks, job, ended, known);
}

static const struct accounting_ops acct_ops = { .answered = on_answered };

static void
on_stored(void *arg)
{
	(void)arg;
	hook_events_durable(hooks);
}

static void
on_flow(void *arg)
{
	(void)arg;
}

static void
on_advanced(struct cluster *cluster, int64_t until)
{
	(void)cluster;
	(void)until;
}

static const struct outbox_ops outbox_ops = { on_stored, on_flow, on_advanced };

static void
begin(void)
{
	c = sim_begin(&outbox_ops, NULL);
	acct = sim_keep(acct_new(c, &acct_ops, NULL));
	poll = sim_keep(poll_new(c, acct));
	hooks = sim_keep(hook_events_new(c));
	confirm = sim_keep(confirm_new(c));
}

/* What the scheduler does when it is woken up, without a new poll. */
static void
lanes_run(void)
{
	poll_kick(poll);
	hook_events_kick(hooks);
	acct_kick(acct);
	confirm_kick(confirm);
}

static void
replace(char *text, size_t size, const char *key, const char *value)
{
	char *p = strstr(text, key), rest[4096];

	if (p == NULL)
		return;
	p += strlen(key);
	snprintf(rest, sizeof(rest), "%s", p + strcspn(p, " "));
	snprintf(p, size - (size_t)(p - text), "%s%s", value, rest);
}

/*
 * The recorded job 1, which began at 0, with another id and state; it ends, or
 * is to end, at 300.  Borrowed until the eighth later call.
 */
static const char *
record(uint64_t job, const char *state)
{
	static char records[8][4096], recorded[2048], id[24];
	static unsigned next;
	char *text = records[next++ % 8], *all;
	size_t n;

	if (recorded[0] == '\0') {
		all = recording_read("22.05", "scontrol-job-d-o.txt", &n);
		n = strcspn(all, "\n") + 1;
		CHECK(n < sizeof(recorded));
		snprintf(recorded, sizeof(recorded), "%.*s", (int)n, all);
		free(all);
	}
	snprintf(text, sizeof(records[0]), "%s", recorded);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
	replace(text, sizeof(records[0]), "JobId=", id);
	replace(text, sizeof(records[0]), "JobState=", state);
	return text;
}

/* A row of squeue of a job that began at 0.  Borrowed until the next call. */
static const char *
listed(uint64_t job, const char *state, const char *reason)
{
	static char text[128];

	snprintf(text, sizeof(text), "%llu %s %s %d\n", (unsigned long long)job,
	    state, reason, SIM_EPOCH);
	return text;
}

/* Hook events. */

/* slurmctld knows the job: one record, and event-ack when it is stored. */
static const struct {
	const char *state;
	const char *said;
} hook_states[] = {
	{ "RUNNING", "start 10/0 threads" },
	{ "CONFIGURING", "held 10/0 threads" },
	{ "COMPLETED", "end 10/0-300 completed threads" },
};

static void
test_hook_acked_when_stored(void)
{
	size_t i;

	for (i = 0; i < sizeof(hook_states) / sizeof(hook_states[0]); i++) {
		begin();
		hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
		CHECK_STR(sim_args("scontrol"),
		    "--local --all show job -d -o 10");
		sim_answer("scontrol", record(10, hook_states[i].state));
		lanes_run();
		CHECK_STR(sim_said(), hook_states[i].said);
		CHECK_INT(hook_events_waiting(hooks), 1);
		sim_stored(c);
		CHECK_STR(sim_said(), "event-ack 5");
		CHECK_INT(hook_events_waiting(hooks), 0);
	}
}

/* The run is about to end: accounting is asked for its end. */
static void
test_hook_end_from_accounting(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "COMPLETING"));
	CHECK_STR(sim_said(), "held 10/0 threads");
	sim_stored(c);
	CHECK_STR(sim_said(), "");
	/* slurmQueryDelay is a second. */
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	sim_answer("sacct",
	    sim_sacct_row("labalice", 10, "COMPLETED", 0, 0, 300));
	CHECK_STR(sim_said(), "end 10/0-300 completed");
	CHECK_INT(hook_events_waiting(hooks), 1);
	sim_stored(c);
	CHECK_STR(sim_said(), "event-ack 5");

	/* While slurmdbd is away, the event does not wait for it. */
	begin();
	c->dbd.away = 1;
	hook_event_add(hooks, 5, 10, EVENT_END);
	sim_answer("scontrol", record(10, "COMPLETING"));
	CHECK_STR(sim_said(), "held 10/0 threads");
	sim_stored(c);
	CHECK_STR(sim_said(), "event-ack 5");
	CHECK_INT(hook_events_waiting(hooks), 0);
}

/*
 * slurmctld has shown the run running: at its end accounting alone is asked.
 * Without slurmdbd, and for a run that was not confirmed, slurmctld is asked.
 */
static void
test_hook_end_of_known_run(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_START);
	sim_answer("scontrol", record(10, "RUNNING"));
	CHECK_STR(sim_said(), "start 10/0 threads");
	sim_stored(c);
	CHECK_STR(sim_said(), "event-ack 5");
	hook_event_add(hooks, 6, 10, EVENT_END);
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	/* slurmdbd does not have the end yet. */
	sim_answer("sacct", "");
	CHECK_STR(sim_said(), "");
	sim_pass(2);
	lanes_run();
	sim_answer("sacct",
	    sim_sacct_row("labalice", 10, "COMPLETED", 0, 0, 300));
	CHECK_STR(sim_said(), "end 10/0-300 completed");
	sim_stored(c);
	CHECK_STR(sim_said(), "event-ack 6");

	/* The epilog may be that of an earlier run. */
	hook_event_add(hooks, 7, 12, EVENT_START);
	sim_answer("scontrol", record(12, "RUNNING"));
	open_find(&c->open, 12, SIM_EPOCH)->restarts = 1;
	hook_event_add(hooks, 8, 12, EVENT_END);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer("scontrol", record(12, "RUNNING"));

	hook_event_add(hooks, 7, 11, EVENT_START);
	sim_answer("scontrol", record(11, "CONFIGURING"));
	hook_event_add(hooks, 8, 11, EVENT_END);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer("scontrol", record(11, "RUNNING"));
	c->dbd.away = 1;
	hook_event_add(hooks, 9, 11, EVENT_END);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer("scontrol", record(11, "RUNNING"));
	c->dbd.away = 0;
	c->slurm.accounting = 0;
	hook_event_add(hooks, 9, 11, EVENT_END);
	CHECK_STR(sim_asked(), "scontrol");
}

static void
events_add(uint64_t first, unsigned n)
{
	for (; n > 0; n--, first++)
		hook_event_add(hooks, first, first, EVENT_UNKNOWN);
}

/*
 * Two jobs are queried singly.  The answer about one also has a record of the
 * other, which slurmctld does not know.
 */
static void
test_hook_single(void)
{
	char text[8192], path[256];

	begin();
	events_add(9, 3);
	sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	lanes_run();
	sim_pass(1);
	lanes_run();
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 10");
	snprintf(text, sizeof(text), "%s%s", record(10, "RUNNING"),
	    record(11, "RUNNING"));
	/* Too much follows the texts of the user: the line does not go on. */
	snprintf(path, sizeof(path), "/%0200d", 0);
	replace(text, sizeof(text), " WorkDir=", path);
	sim_answer("scontrol", text);
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 11");
	sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	CHECK_STR(sim_said(), "start 10/0 threads");
}

/* A burst: one question for all jobs of a second. */
static void
test_hook_burst(void)
{
	begin();
	events_add(10, 20);
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 10");
	sim_answer("scontrol", record(10, "RUNNING"));
	lanes_run();
	CHECK_STR(sim_asked(), "");
	events_add(30, 20);
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	events_add(50, 1);
	CHECK_STR(sim_asked(), "scontrol");
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
	(void)sim_said();
	sim_answer("scontrol", record(50, "RUNNING"));
	CHECK_STR(sim_said(), "start 50/0 threads");
	/* slurmctld does not know the others: accounting, in one question. */
	sim_pass(3);
	lanes_run();
	CHECK_STR(sim_asked(), "sacct");
	CHECK(strstr(sim_args("sacct"), "11,") != NULL);
	CHECK(strstr(sim_args("sacct"), "49") != NULL);
	/* The burst is over: the next event is asked for at once. */
	events_add(60, 1);
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 60");
}

/*
 * A burst on a big cluster: slurmctld answers questions about all jobs for a
 * fifth of its time at most.
 */
static void
test_hook_burst_big(void)
{
	unsigned i;

	begin();
	c->listing.jobs = 2000;
	events_add(10, 20);
	sim_answer("scontrol", record(10, "RUNNING"));
	lanes_run();
	sim_pass(1);
	events_add(30, 40);
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
	sim_pass(1); /* the answer takes a second */
	events_add(70, 20);
	sim_answer("scontrol", record(30, "RUNNING"));
	lanes_run();
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 31");
	for (i = 0; i < 4; i++) {
		sim_pass(1);
		events_add(100 + 20 * i, 20);
	}
	for (i = 0; i < 5; i++)
		sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	lanes_run();
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
}

/*
 * Events that slurmctld is queried about singly do not wait: on a cluster of any
 * size a few, on a big one as many as one query for all jobs costs.
 */
static void
test_hook_no_burst(void)
{
	static const struct {
		uint32_t jobs;
		unsigned events; /* in this second */
	} all[] = { { 1, 12 }, { 10000, 14 } };
	unsigned i, k;
	char one[64];

	for (k = 0; k < 2; k++) {
		begin();
		c->listing.jobs = all[k].jobs;
		for (i = 0; i < all[k].events; i++) {
			events_add(10 + i, 1);
			snprintf(one, sizeof(one),
			    "--local --all show job -d -o %u", 10 + i);
			CHECK_STR(sim_args("scontrol"), one);
			sim_answer("scontrol", record(10 + i, "RUNNING"));
			lanes_run();
		}
	}
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* The lanes run when the gathering of a burst ends, not at a later tick. */
static void
test_hook_burst_wakes(void)
{
	struct event_base *base = event_base_new();

	begin();
	c->site->timer = evtimer_new(base, on_timer, NULL);
	events_add(10, 20);
	sim_answer("scontrol", record(10, "RUNNING"));
	c->site->wake_at = 0;
	lanes_run();
	CHECK_STR(sim_asked(), "");
	CHECK_INT(c->site->wake_at, now_ms() + 1000);
	event_free(c->site->timer);
	c->site->timer = NULL;
	event_base_free(base);
}

/* slurmctld forgets an ended job after 2 s: a burst waits half a second. */
static void
test_hook_burst_short_age(void)
{
	begin();
	c->slurm.min_job_age = 2;
	events_add(10, 20);
	sim_answer("scontrol", record(10, "RUNNING"));
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
}

/* Asks accounting as often as the event wants; returns how often. */
static int
accounting_tries(const char *answer)
{
	int i, n = 0;

	for (i = 0; i < 300 && hook_events_waiting(hooks) > 0; i++) {
		sim_pass(1);
		lanes_run();
		if (*sim_asked() == '\0')
			continue;
		sim_answer("sacct", answer);
		n++;
	}
	return n;
}

static void
test_hook_unknown_job(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	CHECK_STR(sim_said(), "");
	CHECK_INT(accounting_tries(""), 2);
	CHECK_STR(sim_said(), "event-ack 5");

	/* Accounting has it without an end: slurmQueryMaxRetries. */
	begin();
	sim_set(c, CONF_QUERY_MAX_RETRIES, "3");
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	CHECK_INT(accounting_tries(sim_sacct_row("labalice", 10, "RUNNING", 0,
		      0, SIM_NEVER)),
	    4);
	CHECK_STR(sim_said(), "event-ack 5");
}

/* An end of an earlier run is no end while a later run is open. */
static void
test_hook_other_run_open(void)
{
	begin();
	sim_set(c, CONF_QUERY_MAX_RETRIES, "1");
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "COMPLETING"));
	(void)sim_said();
	CHECK_INT(accounting_tries(sim_sacct_row("labalice", 10, "NODE_FAIL",
		      -500, -500, -100)),
	    2);
	CHECK_STR(sim_said(), "end 10/-500--100 node_fail");
	sim_stored(c);
	CHECK_STR(sim_said(), "event-ack 5");
}

/* An event without a valid job id causes no question. */
static void
test_hook_without_job(void)
{
	begin();
	hook_event_add(hooks, 5, 0, EVENT_UNKNOWN);
	hook_event_add(hooks, 6, 1ull << 32, EVENT_UNKNOWN);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "event-ack 5, event-ack 6");
}

static void
test_hook_slurmctld_away(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer_failed("scontrol", "", NO_SLURMCTLD);
	lanes_run();
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	sim_answer_late("scontrol");
	CHECK_INT(c->ctld.away, 1);
	sim_pass(2);
	lanes_run();
	sim_answer("scontrol", record(10, "RUNNING"));
	sim_stored(c);
	CHECK_STR(sim_said(), "start 10/0 threads, event-ack 5");
}

/* A new listener repeats its events under new numbers. */
static void
test_hook_listener_gone(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "RUNNING"));
	hook_events_forget(hooks);
	sim_stored(c);
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_INT(hook_events_waiting(hooks), 0);
}

/* Nothing is asked before the submitter has sent its open runs. */
static void
test_hook_before_sync(void)
{
	begin();
	c->synced = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	CHECK_STR(sim_asked(), "");
	c->synced = 1;
	lanes_run();
	CHECK_STR(sim_asked(), "scontrol");
}

/*
 * Of many jobs all are asked in one question.  A line of job 99, which nobody
 * asked for, makes no run: it may be a part of somebody's job name.  Where there
 * is no accounting, it counts when squeue shows the same job as ended.
 */
static const struct {
	int accounting;
	const char *state;
	const char *squeue; /* state of 99 there; NULL = not asked */
	const char *said;
} forged[] = {
	{ 1, "COMPLETED", NULL, "" },
	{ 1, "RUNNING", NULL, "" },
	{ 0, "RUNNING", NULL, "" },
	{ 0, "COMPLETED", "CD", ", end 99/0-300 completed threads" },
	{ 0, "COMPLETED", "R", "" },
	{ 0, "COMPLETED", "", "" },
};

/* The answer about all jobs: the line of 99 and those of 10 to 13. */
static const char *
all_jobs(const char *state_of_99)
{
	static char text[5 * 4096];
	uint64_t job;
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s", record(99, state_of_99));
	for (job = 10; job <= 13; job++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
		    record(job, "RUNNING"));
	return text;
}

static void
forged_test(size_t i)
{
	static const char starts[] = "start 10/0 threads, start 11/0 threads, "
				     "start 12/0 threads, start 13/0 threads";
	char said[256];
	uint64_t job;

	begin();
	c->slurm.accounting = forged[i].accounting;
	/* While the first is asked for, four more come. */
	hook_event_add(hooks, 1, 9, EVENT_UNKNOWN);
	for (job = 10; job <= 13; job++)
		hook_event_add(hooks, job, job, EVENT_UNKNOWN);
	sim_answer("scontrol", record(9, "RUNNING"));
	lanes_run();
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
	(void)sim_said();
	sim_answer("scontrol", all_jobs(forged[i].state));
	CHECK_STR(sim_asked(), forged[i].squeue != NULL ? "squeue" : "");
	if (forged[i].squeue != NULL)
		sim_answer("squeue",
		    *forged[i].squeue == '\0' ?
			"" :
			listed(99, forged[i].squeue, "No"));
	snprintf(said, sizeof(said), "%s%s", starts, forged[i].said);
	CHECK_STR(sim_said(), said);
	CHECK_STR(sim_open(c, 99), "");
}

static void
test_forged_line(void)
{
	size_t i;

	for (i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		forged_test(i);
}

/* Is this one of the ids that sacct is asked for? */
static int
is_asked_by_id(const char *id)
{
	const char *ids = strstr(sim_args("sacct"), "-j ");

	return ids != NULL && strstr(ids, id) != NULL;
}

static int
details_asked(void)
{
	return strcmp(sim_asked(), "squeue") == 0 ||
	    strcmp(sim_asked(), "scontrol") == 0;
}

/*
 * A job's name has a line that is another job's record: both jobs are asked
 * for again, exactly.  squeue does not show them: no run is made.
 */
static void
test_forged_record(void)
{
	char text[5 * 4096];
	const char *rest = strstr(record(11, "RUNNING"), " UserId=");

	begin();
	hook_event_add(hooks, 1, 9, EVENT_UNKNOWN);
	hook_event_add(hooks, 2, 10, EVENT_UNKNOWN);
	hook_event_add(hooks, 3, 11, EVENT_UNKNOWN);
	hook_event_add(hooks, 4, 12, EVENT_UNKNOWN);
	hook_event_add(hooks, 5, 13, EVENT_UNKNOWN);
	sim_answer_failed("scontrol", "", UNKNOWN_JOB);
	lanes_run();
	snprintf(text, sizeof(text), "%sJobId=11 JobName=x\n%sy%s",
	    record(10, "RUNNING"), record(10, "COMPLETED"), rest);
	sim_answer("scontrol", text);
	CHECK_STR(sim_asked(), "squeue");
	CHECK(strstr(sim_args("squeue"), "admin_comment:") != NULL);
	while (details_asked())
		sim_answer(strstr(sim_asked(), "squeue") != NULL ? "squeue" :
								   "scontrol",
		    "");
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->open.n, 0);
	/* Accounting is asked for these jobs. */
	sim_pass(1);
	lanes_run();
	CHECK(is_asked_by_id("10"));
	CHECK(is_asked_by_id("11"));
}

/*
 * A job's name has the rest of a record and a newline: the record is not used.
 * Where more follows a text of the user than it can have, the next line is no part
 * of it.
 */
static void
test_forged_name(void)
{
	const char *whole = record(10, "COMPLETED");
	size_t n = (size_t)(strstr(whole, " Contiguous=") - whole);
	char text[2 * 4096];

	CHECK(n < 1024);
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	snprintf(text, sizeof(text), "%.*s\ny%s", (int)n, whole,
	    strstr(record(10, "RUNNING"), " UserId="));
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_asked(), "squeue");
	CHECK(strstr(sim_args("squeue"), "admin_comment:") != NULL);

	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	snprintf(text, sizeof(text), "%.*s Comment=%0200d\ny\n",
	    (int)strcspn(whole, "\n"), whole, 0);
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "end 10/0-300 completed threads");
}

/*
 * The MCS label of a job has the rest of a record.  squeue shows the label, and the
 * tokens behind it are read.
 */
static void
test_forged_label(void)
{
	static const char label[] =
	    "x Priority=1 Nice=0 Account=victim QOS=normal JobState=CANCELLED "
	    "Reason=None SubmitTime=1 StartTime=2 EndTime=3 Partition=p "
	    "NodeList=n9 Licenses=x";
	char text[8192], answer[1024];

	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	snprintf(text, sizeof(text), "%s", record(10, "COMPLETED"));
	replace(text, sizeof(text), " MCS_label=", label);
	sim_answer("scontrol", text);
	CHECK(strstr(sim_args("squeue"), ",MCSLabel:") != NULL);
	snprintf(answer, sizeof(answer),
	    "10<~!>sbatch<~!>(null)<~!>%s<~!>normal<~!>\n", label);
	sim_answer("squeue", answer);
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o 10");
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "end 10/0-300 completed threads");
	/* Its label has changed meanwhile. */
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", text);
	sim_answer("squeue", "10<~!>sbatch<~!>(null)<~!>y<~!>normal<~!>\n");
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "");
}

/* The poll. */

static int counted; /* jobs, by slurmctld; 0 = the counters are not shown */

/* slurmctld's clock goes on; its queue to slurmdbd is never empty. */
static void
sdiag_answer(void)
{
	char text[512];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text),
	    "sdiag output at Sat Nov 21 00:00:00 2026 "
	    "(%lld)\nDBD Agent queue size: 3\n",
	    (long long)slurm_now(c));
	if (counted > 0)
		snprintf(text + n, sizeof(text) - n,
		    "Data since x (%d)\nJobs submitted: 1\nJobs started: 1\n"
		    "Jobs completed: %d\nJobs canceled: 1\nJobs failed: 1\n",
		    SIM_EPOCH, counted);
	sim_answer("sdiag", text);
}

/* The answer of scontrol: these jobs, and no nodes. */
static void
scontrol_answer(const char *jobs)
{
	int nodes = strstr(sim_args("scontrol"), "show node") != NULL;

	sim_answer("scontrol", nodes ? "No nodes in the system\n" : jobs);
}

/* A poll with these answers; NULL = the command must not be asked. */
static void
poll_with(const char *squeue, const char *scontrol, const char *sacct)
{
	sim_pass(60);
	lanes_run();
	poll_start(poll);
	sim_answer("squeue", squeue);
	while (*sim_asked() != '\0') {
		if (*sim_args("sacct") != '\0')
			sim_answer("sacct", sacct);
		else if (strncmp(sim_asked(), "sdiag", 5) == 0)
			sdiag_answer();
		else if (strncmp(sim_asked(), "sacctmgr", 8) == 0)
			sim_answer("sacctmgr", SIM_USER "|Operator\n");
		else if (scontrol != NULL)
			scontrol_answer(scontrol);
		else
			break;
		lanes_run();
	}
	CHECK_STR(sim_asked(), "");
	CHECK(!c->listing.busy);
}

static void
test_poll(void)
{
	begin();
	poll_with(listed(10, "R", "No"), record(10, "RUNNING"), "");
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_STR(sim_open(c, 10), "10/0 runs");
	/* A run that is known needs no details. */
	poll_with(listed(10, "R", "No"), NULL, "");
	CHECK_STR(sim_said(), "");
	/* The run has left; two polls later accounting is asked by its id. */
	poll_with("", NULL, "");
	CHECK_STR(sim_open(c, 10), "10/0 runs left");
	CHECK_STR(sim_said(), "");
	/* squeue shows it again: it has not left. */
	poll_with(listed(10, "R", "No"), NULL, "");
	CHECK_STR(sim_open(c, 10), "10/0 runs");
	poll_with(listed(10, "CG", "No"), NULL, "");
	CHECK_STR(sim_open(c, 10), "10/0");
	poll_with("", NULL,
	    sim_sacct_row("labalice", 10, "COMPLETED", 0, 0, 300));
	CHECK_STR(sim_said(), "end 10/0-300 completed");
	/* A late row of squeue: the run is done. */
	poll_with(listed(10, "CG", "No"), NULL, "");
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_open(c, 10), "");
}

/* The end of a run that left: two polls are waited for the range. */
static void
test_poll_left_asked(void)
{
	begin();
	poll_with(listed(10, "R", "No"), record(10, "RUNNING"), "");
	poll_with("", NULL, "");
	poll_with("", NULL, "");
	poll_with("", NULL, "");
	CHECK_INT(c->work.accounting.n, 0);
	sim_pass(60);
	poll_start(poll);
	sim_answer("squeue", "");
	if (strcmp(sim_asked(), "sdiag") == 0)
		sdiag_answer();
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
}

/* Answers of squeue after which no run has left. */
static const struct {
	const char *text;
	const char *err; /* NULL = squeue ends well */
} no_lists[] = {
	{ "", "slurm_load_jobs error: " NO_SLURMCTLD },
	{ "11 R No 1795212354\n", "Killed" },
	{ "11 R No 17952", NULL },
	{ "slurm_load_jobs error: Unable to contact slurm controller\n", NULL },
};

static void
test_poll_failed(void)
{
	size_t i;

	for (i = 0; i < sizeof(no_lists) / sizeof(no_lists[0]); i++) {
		begin();
		poll_with(listed(10, "R", "No"), record(10, "RUNNING"), "");
		(void)sim_said();
		sim_pass(60);
		poll_start(poll);
		if (no_lists[i].err != NULL)
			sim_answer_failed("squeue", no_lists[i].text,
			    no_lists[i].err);
		else
			sim_answer("squeue", no_lists[i].text);
		CHECK_STR(sim_open(c, 10), "10/0 runs");
		CHECK_INT(c->ctld.away, 1);
		CHECK_STR(sim_asked(), "");
		CHECK_STR(sim_said(), "");
		CHECK(!c->listing.busy);
	}
}

/* A start that is held goes when squeue shows the job running. */
static void
test_poll_confirms(void)
{
	begin();
	poll_with(listed(10, "CF", "No"), record(10, "CONFIGURING"), "");
	CHECK_STR(sim_said(), "held 10/0 threads");
	/* RUNNING with reason Prolog is CONFIGURING. */
	poll_with(listed(10, "R", "Pr"), NULL, "");
	CHECK_STR(sim_said(), "");
	poll_with(listed(10, "R", "No"), NULL, "");
	CHECK_STR(sim_said(), "confirm 10/0");
	CHECK_STR(sim_open(c, 10), "10/0 runs");
}

/* No question names a job that is quarantined, done or pending. */
static void
test_poll_not_asked(void)
{
	struct run_key *key;

	begin();
	key = &c->site->quarantined[c->site->n_quarantined++];
	*key = (struct run_key) { "alpha", 10, SIM_EPOCH };
	poll_with(listed(10, "R", "No"), NULL, "");
	done_put(&c->done, 11, SIM_EPOCH);
	poll_with(listed(11, "CG", "No"), NULL, "");
	poll_with(listed(12, "PD", "Re"), NULL, "");
	poll_with("13 PD De N/A\n", NULL, "");
	CHECK_STR(sim_said(), "");
}

/*
 * The start of an ignored run moves when its node is powered up.  The run is asked
 * for once more, and has not left.
 */
static void
test_poll_ignored_moves(void)
{
	char moved[4096], start[24];

	begin();
	sim_set(c, CONF_IGNORE_HOSTS, ".");
	poll_with(listed(10, "CF", "No"), record(10, "CONFIGURING"), "");
	CHECK_STR(sim_open(c, 10), "10/0 held ignored");
	snprintf(moved, sizeof(moved), "%s", record(10, "RUNNING"));
	snprintf(start, sizeof(start), "%d", SIM_EPOCH + 60);
	replace(moved, sizeof(moved), "StartTime=", start);
	poll_with("10 R No 1795212414\n", moved, "");
	CHECK_STR(sim_open(c, 10), "10/60 runs ignored");
	poll_with("10 R No 1795212414\n", NULL, "");
	CHECK_STR(sim_open(c, 10), "10/60 runs ignored");
	CHECK_STR(sim_said(), "");
}

/* Lists jobs from..to-1 as running; returns owned text. */
static char *
many_listed(uint64_t from, uint64_t to)
{
	char *text = malloc((size_t)(to - from) * 32 + 1);
	size_t n = 0;

	CHECK(text != NULL);
	text[0] = '\0';
	for (; from < to; from++)
		n += (size_t)snprintf(text + n, 32, "%llu R No %d\n",
		    (unsigned long long)from, SIM_EPOCH);
	return text;
}

/* Without slurmdbd.  1 when this poll, with nothing in squeue, queries all jobs. */
static int
asks_all(void)
{
	sim_pass(60);
	lanes_run();
	poll_start(poll);
	sim_answer("squeue", "");
	while (strncmp(sim_asked(), "sdiag", 5) == 0) {
		sdiag_answer();
		lanes_run();
	}
	if (*sim_asked() == '\0')
		return 0;
	CHECK_STR(sim_args("scontrol"), "--local --all show job -d -o");
	return 1;
}

/*
 * Without slurmdbd a run between two polls is in slurmctld only: all jobs are
 * queried when the counters show that there was one.
 */
static void
test_poll_unseen(void)
{
	begin();
	c->slurm.accounting = 0;
	counted = 5;
	CHECK(asks_all());
	sim_answer("scontrol", "");
	CHECK(!asks_all());
	CHECK(!asks_all());
	counted++;
	CHECK(asks_all());
	sim_answer("scontrol", record(99, "COMPLETED"));
	sim_answer("squeue", listed(99, "CD", "No"));
	scontrol_answer(""); /* the shapes of nodes */
	CHECK_STR(sim_said(), "end 99/0-300 completed threads");
	CHECK(!asks_all());
	/* A run that is about to end has no end yet, but its counter has grown. */
	counted++;
	CHECK(asks_all());
	sim_answer("scontrol", record(98, "COMPLETING"));
	CHECK(asks_all());
	sim_answer("scontrol", record(98, "COMPLETED"));
	sim_answer("squeue", listed(98, "CD", "No"));
	scontrol_answer("");
	CHECK_STR(sim_said(), "end 98/0-300 completed threads");
	CHECK(!asks_all());
	/* An answer that fails is no answer. */
	counted++;
	CHECK(asks_all());
	sim_answer_failed("scontrol", "", NO_SLURMCTLD);
	c->ctld = (struct health) { 0 };
	CHECK(asks_all());
	sim_answer("scontrol", "");
	CHECK(!asks_all());
	counted = 0;
}

/*
 * More new runs than one answer has room for: the next round follows at once,
 * as long as a round brings something.  Scripts come after all of them.
 */
static void
test_poll_rounds(void)
{
	char *all = many_listed(10, 10 + NEW_JOBS_MAX + 3);
	char *rest = many_listed(10, 12);

	begin();
	c->slurm.accounting = 0; /* it would be asked for each job */
	poll_with(all, record(10, "RUNNING"), "");
	CHECK_INT(c->work.more_runs, 1);
	poll_with(all, record(11, "RUNNING"), "");
	CHECK_INT(c->work.more_runs, 1);
	/* The round before brought job 11, this one and the next one nothing. */
	poll_with(all, "", "");
	CHECK_INT(c->work.more_runs, 1);
	poll_with(all, "", "");
	CHECK_INT(c->work.more_runs, 0);
	poll_with(all, "", "");
	CHECK_INT(c->work.more_runs, 1);
	/* The others have ended. */
	poll_with(rest, "", "");
	CHECK_INT(c->work.more_runs, 0);
	/* A round that fails is the last one. */
	begin();
	c->slurm.accounting = 0; /* it would be asked for each job */
	poll_with(all, record(10, "RUNNING"), "");
	CHECK_INT(c->work.more_runs, 1);
	sim_pass(60);
	poll_start(poll);
	sim_answer_failed("squeue", "", NO_SLURMCTLD);
	CHECK_INT(c->work.more_runs, 0);
	free(all);
	free(rest);
}

#define NEW_RUNS 70 /* more than may exceed the window */

/* squeue shows new runs, and slurmctld their details. */
static void
new_runs_found(void)
{
	char *listing = many_listed(10, 10 + NEW_RUNS);
	char *text = calloc(NEW_RUNS, 4096);
	size_t n = 0;
	unsigned job;

	for (job = 10; job < 10 + NEW_RUNS; job++)
		n += (size_t)sprintf(text + n, "%s", record(job, "RUNNING"));
	poll_start(poll);
	sim_answer("squeue", listing);
	sim_answer("scontrol", text);
	free(listing);
	free(text);
}

static void
window_fill(void)
{
	while (!outbox_behind(c->outbox))
		(void)outbox_backfilled(c->outbox, c->slurm.cluster, SIM_EPOCH);
	(void)sim_said();
}

/*
 * New runs wait for the submitter to store others.  If the spool is full they
 * do not wait, because Slurm has their details for minutes.
 */
static void
test_poll_spool_full(void)
{
	begin();
	window_fill();
	new_runs_found();
	CHECK_STR(sim_said(), "");
	CHECK_INT(c->listing.busy, 1);
	outbox_flow(c->outbox, 1);
	poll_resume(poll);
	CHECK_INT(c->open.n, NEW_RUNS);
	CHECK(strstr(sim_said(), "start 79/0 threads") != NULL);
	CHECK_INT(c->listing.busy, 0);
	/* Runs that begin meanwhile */
	begin();
	window_fill();
	outbox_flow(c->outbox, 1);
	new_runs_found();
	CHECK_INT(c->open.n, NEW_RUNS);
	CHECK_INT(c->listing.busy, 0);
	(void)sim_said();
}

/*
 * Of many ambiguous jobs some are queried exactly; the others wait for the next
 * round, so that the polls continue.
 */
static void
test_poll_exact_max(void)
{
	char *listing = many_listed(10, 310), *text = calloc(300, 8192);
	size_t n = 0;
	unsigned job, asked = 0;

	for (job = 10; job < 310; job++) {
		n += (size_t)sprintf(text + n, "%s", record(job, "RUNNING"));
		n += (size_t)sprintf(text + n, "%s", record(job, "RUNNING"));
	}
	begin();
	c->slurm.accounting = 0; /* it would be asked for each job */
	poll_start(poll);
	sim_answer("squeue", listing);
	sim_answer("scontrol", text);
	for (; strstr(sim_args("squeue"), "admin_comment:") != NULL; asked++)
		sim_answer_failed("squeue", "", UNKNOWN_JOB);
	CHECK_INT(asked, 256);
	CHECK_INT(c->work.more_runs, 1);
	sdiag_answer();
	CHECK_INT(c->listing.busy, 0);
	free(listing);
	free(text);
}

#define LONG_ANSWER (17 * 1024 * 1024) /* bytes; read are 16 MiB */

/*
 * An ambiguous job is the first one of an array with many tasks: slurmctld's
 * answer about them is too long.  The other jobs do not wait for it.
 */
static void
test_poll_exact_too_long(void)
{
	char *listing = many_listed(10, 12), *text = calloc(1, LONG_ANSWER + 1);

	begin();
	poll_start(poll);
	sim_answer("squeue", listing);
	snprintf(text, LONG_ANSWER, "%s%s%s", record(10, "RUNNING"),
	    record(10, "RUNNING"), record(11, "RUNNING"));
	sim_answer("scontrol", text);
	CHECK(strstr(sim_args("squeue"), "admin_comment:") != NULL);
	sim_answer("squeue", "10<~!>x<~!><~!>(null)<~!>normal<~!>\n");
	memset(text, 'x', LONG_ANSWER);
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "start 11/0 threads");
	CHECK(idmap_get(&c->ambiguous, 10) != NULL);
	CHECK_INT(c->ctld.away, 0);
	/* The same with the names of the tasks. */
	begin();
	poll_start(poll);
	sim_answer("squeue", listing);
	snprintf(text, LONG_ANSWER, "%s%s%s", record(10, "RUNNING"),
	    record(10, "RUNNING"), record(11, "RUNNING"));
	sim_answer("scontrol", text);
	memset(text, 'x', LONG_ANSWER);
	sim_answer("squeue", text);
	CHECK_STR(sim_said(), "start 11/0 threads");
	free(listing);
	free(text);
}

/*
 * slurmctld's answer about one job is too long: the other jobs of the hook events do
 * not wait, and slurmctld is not blamed.
 */
static void
test_one_too_long(void)
{
	char *text = calloc(1, LONG_ANSWER + 1);

	begin();
	hook_event_add(hooks, 5, 9, EVENT_UNKNOWN);
	hook_event_add(hooks, 6, 10, EVENT_UNKNOWN);
	hook_event_add(hooks, 7, 11, EVENT_UNKNOWN);
	sim_answer("scontrol", record(9, "RUNNING"));
	CHECK_STR(sim_said(), "start 9/0 threads");
	lanes_run();
	CHECK(strstr(sim_args("scontrol"), "-o 10") != NULL);
	sim_answer_too_long("scontrol", record(10, "RUNNING"));
	CHECK(strstr(sim_args("scontrol"), "-o 11") != NULL);
	sim_answer("scontrol", record(11, "RUNNING"));
	CHECK(strstr(sim_args("squeue"), "admin_comment:") != NULL);
	sim_answer("squeue", "10<~!>x<~!><~!>(null)<~!>normal<~!>\n");
	memset(text, 'x', LONG_ANSWER);
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "start 11/0 threads");
	CHECK(idmap_get(&c->ambiguous, 10) != NULL);
	CHECK_INT(c->ctld.away, 0);
	free(text);
}

/*
 * The poll 10 s after a query for all jobs of a big cluster queries them again,
 * also if its squeue takes less time than the one before.
 */
static void
test_poll_all_gap(void)
{
	static const struct {
		int squeue_s;
		int asks; /* for all jobs */
	} polls[] = { { 1, 1 }, { 0, 0 }, { 0, 1 }, { 0, 0 }, { 1, 1 } };
	char text[32 * 1000];
	size_t n = 0, i;

	for (i = 1; i <= 1000; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%zu R No %d\n", i, SIM_EPOCH);
	begin();
	c->slurm.accounting = 0; /* it would be asked for each job */
	for (i = 0; i < sizeof(polls) / sizeof(polls[0]); i++) {
		poll_start(poll);
		sim_pass(polls[i].squeue_s);
		sim_answer("squeue", text);
		CHECK_STR(sim_args("scontrol"),
		    polls[i].asks ? "--local --all show job -d -o" : "");
		if (polls[i].asks)
			sim_answer("scontrol", record(10, "RUNNING"));
		while (*sim_asked() != '\0')
			sdiag_answer();
		sim_pass(5 - polls[i].squeue_s);
	}
}

/* The output of sdiag in a poll, and of squeue. */
struct shown {
	const char *squeue;
	int64_t since;
	int queue;
	int counted[SDIAG_COUNTERS];
	int asks; /* accounting */
};

static int every_s = 60; /* a poll */

static void
shown_answer(const struct shown *s)
{
	static const char *const names[SDIAG_COUNTERS] = { "submitted",
		"started", "completed", "canceled", "failed" };
	char text[1024];
	size_t n, i;

	n = (size_t)snprintf(text, sizeof(text),
	    "sdiag output at x (%lld)\nData since x (%lld)\n"
	    "DBD Agent queue size: %d\n",
	    (long long)slurm_now(c), (long long)s->since, s->queue);
	for (i = 0; i < SDIAG_COUNTERS; i++)
		if (s->counted[i] >= 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "Jobs %s: %d\n", names[i], s->counted[i]);
	sim_answer("sdiag", text);
}

/* A poll; 1 when accounting was queried.  An end proves the permission. */
static int
asks_accounting(const struct shown *s)
{
	int asked = 0;

	sim_pass(every_s);
	poll_start(poll);
	sim_answer("squeue", s->squeue);
	while (*sim_asked() != '\0') {
		if (*sim_args("sacct") != '\0') {
			asked = 1;
			sim_answer("sacct",
			    sim_sacct_row("labalice", 9, "COMPLETED", 0, 0, 9));
		} else if (strncmp(sim_asked(), "sdiag", 5) == 0)
			shown_answer(s);
		else
			sim_answer("sacctmgr", SIM_USER "|Operator\n");
		lanes_run();
	}
	(void)sim_said();
	return asked;
}

/* Polls until accounting is not queried any more. */
static void
settle(const struct shown *s)
{
	int i;

	for (i = 0; i < 8 && asks_accounting(s); i++)
		continue;
	/* Not before two more answers with the same counters. */
	CHECK(i >= 3 && i < 8);
}

/*
 * A poll reads accounting unless slurmctld has counted no job since the last
 * answer of accounting.  Job 10 runs in all of them.
 */
static void
test_poll_quiet(void)
{
	static const char runs[] = "10 R No 1795212354\n";
	static const struct shown before = { runs, 7, 0, { 5, 4, 3, 2, 1 }, 1 };
	static const struct shown after[] = {
		{ runs, 7, 0, { 5, 4, 3, 2, 1 }, 0 },
		/* One job more was counted. */
		{ runs, 7, 0, { 6, 4, 3, 2, 1 }, 1 },
		{ runs, 7, 0, { 5, 5, 3, 2, 1 }, 1 },
		{ runs, 7, 0, { 5, 4, 4, 2, 1 }, 1 },
		{ runs, 7, 0, { 5, 4, 3, 3, 1 }, 1 },
		{ runs, 7, 0, { 5, 4, 3, 2, 2 }, 1 },
		/* The counters began again, or one is missing. */
		{ runs, 8, 0, { 5, 4, 3, 2, 1 }, 1 },
		{ runs, 0, 0, { 5, 4, 3, 2, 1 }, 1 },
		{ runs, 7, 0, { 5, 4, 3, 3, -1 }, 1 },
		/* slurmdbd has not got all. */
		{ runs, 7, 1, { 5, 4, 3, 2, 1 }, 1 },
		/* The run ends, or has left. */
		{ "10 CG No 1795212354\n", 7, 0, { 5, 4, 3, 2, 1 }, 1 },
		{ "", 7, 0, { 5, 4, 3, 2, 1 }, 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		begin();
		poll_with(runs, record(10, "RUNNING"), "");
		settle(&before);
		CHECK_INT(asks_accounting(&after[i]), after[i].asks);
	}
}

/* Without a change accounting is read every tenth poll all the same. */
static void
test_poll_quiet_ends(void)
{
	static const struct shown idle = { "", 7, 0, { 5, 4, 3, 2, 1 }, 0 };
	int i;

	begin();
	settle(&idle);
	for (i = 1; i < 20 && !asks_accounting(&idle); i++)
		continue;
	CHECK_INT(i, 9);
	/* slurmdbd does not answer: its next answer is awaited. */
	begin();
	settle(&idle);
	health_bad(&c->dbd, "away");
	CHECK_INT(asks_accounting(&idle), 1);
}

/*
 * After a start of slurmctld accounting is read for a minute: slurmdbd may lack
 * records of the outage although the queue to it is empty.
 */
static void
test_poll_quiet_settles(void)
{
	struct shown idle = { "", 0, 0, { 5, 4, 3, 2, 1 }, 0 };
	int i;

	begin();
	idle.since = slurm_now(c);
	every_s = 5;
	for (i = 0; i < 11; i++)
		CHECK_INT(asks_accounting(&idle), 1);
	for (i = 0; i < 8 && asks_accounting(&idle); i++)
		continue;
	CHECK(i < 4);
	every_s = 60;
}

/*
 * In the minute in which each poll reads accounting, a hook event does not wait
 * for the answer: the start is sent before.
 */
static void
test_hook_in_first_minute(void)
{
	struct shown idle = { "", 0, 0, { 5, 4, 3, 2, 1 }, 0 };

	begin();
	idle.since = slurm_now(c);
	every_s = 5;
	CHECK_INT(asks_accounting(&idle), 1);
	sim_pass(every_s);
	poll_start(poll);
	sim_answer("squeue", "");
	if (strncmp(sim_asked(), "sdiag", 5) == 0)
		shown_answer(&idle);
	CHECK_STR(sim_asked(), "sacct");
	hook_event_add(hooks, 5, 10, EVENT_START);
	CHECK_STR(sim_asked(), "sacct scontrol");
	sim_answer("scontrol", record(10, "RUNNING"));
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_STR(sim_asked(), "sacct");
	every_s = 60;
}

/* The wait ends before slurmQueryMaxSpan excludes a part of the range. */
static void
test_poll_quiet_max_span(void)
{
	static const struct shown idle = { "", 7, 0, { 5, 4, 3, 2, 1 }, 0 };
	int i;

	begin();
	settle(&idle);
	c->set->max_span = 360;
	for (i = 1; i < 20 && !asks_accounting(&idle); i++)
		continue;
	CHECK_INT(i, 2);
	CHECK_INT(c->resume.skipped_seconds, 0);
}

/* Details of rows of accounting are no round of new runs. */
static void
test_poll_rows_no_round(void)
{
	begin();
	/* slurmctld might purge job 11 before the next poll. */
	c->set->poll = c->slurm.min_job_age;
	sim_pass(60);
	poll_start(poll);
	sim_answer("squeue", listed(10, "R", "No"));
	while (*sim_args("scontrol") != '\0')
		scontrol_answer(record(10, "RUNNING"));
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK(!c->listing.busy);
	sim_answer("sacct",
	    sim_sacct_row("labalice", 11, "COMPLETED", 0, 0, 1000));
	lanes_run();
	CHECK(c->listing.busy);
	while (*sim_args("scontrol") != '\0')
		scontrol_answer(record(11, "COMPLETED"));
	CHECK(!c->listing.busy);
	CHECK_INT(c->work.more_runs, 0);
}

/* The answer without a proof of the permission earns nothing. */
static void
test_poll_quiet_unproved(void)
{
	static const struct shown idle = { "", 7, 0, { 5, 4, 3, 2, 1 }, 0 };

	begin();
	c->permission = PERMISSION_NONE;
	sim_pass(60);
	c->listing.number = 1;
	poll_start(poll);
	sim_answer("squeue", "");
	shown_answer(&idle);
	sim_answer("sacct", "");
	lanes_run();
	/* The next poll proves it, and reads again. */
	CHECK_INT(asks_accounting(&idle), 1);
}

#define SDIAG_CLOCK 1795282425

/*
 * slurmctld's clock and its queue to slurmdbd, from a recorded sdiag of a
 * slurmctld that began long before.
 */
static void
clock_read(const char *queue)
{
	size_t n;
	char *text = recording_read("20.11", "sdiag.txt", &n), *p, *since;

	since = strstr(text, "(1795282423)");
	p = strstr(text, "DBD Agent queue size: ");
	CHECK(p != NULL && since != NULL);
	if (p != NULL && since != NULL) {
		p[22] = *queue;
		since[6] = '1';
	}
	poll_clock(poll);
	sim_answer("sdiag", text);
	free(text);
}

static void
test_poll_clock(void)
{
	begin();
	clock_read("0");
	CHECK_INT(slurm_now(c), SDIAG_CLOCK);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	sim_pass(60);
	clock_read("7");
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	CHECK_INT(slurm_now(c), SDIAG_CLOCK);
	CHECK_INT(c->clock.works, 1);
	/* The clock shows less than what was read: accounting goes back. */
	c->resume.point = SDIAG_CLOCK + 500;
	clock_read("7");
	CHECK_INT(c->resume.point, SDIAG_CLOCK);
	/* sdiag fails: nothing is known of the queue. */
	poll_clock(poll);
	sim_answer_failed("sdiag", "", NO_SLURMCTLD);
	CHECK_INT(c->clock.works, 0);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
}

/* sdiag shows since when slurmctld counts: a restart moves this time. */
static void
counts_read(long long clock, long long since)
{
	char text[160];

	snprintf(text, sizeof(text),
	    "sdiag output at x (%lld)\nData since      x (%lld)\n"
	    "DBD Agent queue size: 0\n",
	    clock, since);
	poll_clock(poll);
	sim_answer("sdiag", text);
}

static void
since_read(long long since)
{
	counts_read(SDIAG_CLOCK, since);
}

/* After a start of slurmctld its empty queue proves nothing for a minute. */
static void
test_drained_settles(void)
{
	const long long outage = 20000, back = SDIAG_CLOCK + outage;

	begin();
	since_read(SDIAG_CLOCK - 500);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back, back);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back + 59, back);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back + 60, back);
	CHECK_INT(c->clock.drained, back + 60);
	/* The clock was set back, before the start. */
	counts_read(back - 10, back);
	CHECK_INT(c->clock.drained, back - 10);
	/* This process has begun with slurmctld: a day is read again. */
	begin();
	counts_read(back + 1, back);
	CHECK_INT(c->clock.drained, back - 86400);
	counts_read(back + 61, back);
	CHECK_INT(c->clock.drained, back + 61);
}

/* In the first second sdiag prints 0 as the time of the start. */
static void
test_drained_starts(void)
{
	const long long back = SDIAG_CLOCK + 20000;

	begin();
	since_read(SDIAG_CLOCK - 500);
	counts_read(back, 0);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back + 5, back + 1);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back + 61, back + 1);
	CHECK_INT(c->clock.drained, back + 61);
	/* This process has begun with slurmctld. */
	begin();
	counts_read(back, 0);
	CHECK_INT(c->clock.drained, back - 86400);
	counts_read(back + 5, back + 1);
	CHECK_INT(c->clock.drained, back - 86400);
	counts_read(back + 61, back + 1);
	CHECK_INT(c->clock.drained, back + 61);
}

/* sdiag without that time: the watermark moves after five minutes. */
static void
test_drained_without_since(void)
{
	begin();
	counts_read(SDIAG_CLOCK, 0);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK - 86400);
	sim_pass(300);
	counts_read(SDIAG_CLOCK + 300, 0);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK + 300);
}

/* The outage was long: the time before which nothing is lacking stays. */
static void
test_drained_long_outage(void)
{
	const long long back = SDIAG_CLOCK + 3LL * 86400;

	begin();
	since_read(SDIAG_CLOCK - 500);
	counts_read(back + 1, back);
	CHECK_INT(c->clock.drained, SDIAG_CLOCK);
	counts_read(back + 61, back);
	CHECK_INT(c->clock.drained, back + 61);
}

/* Somebody resets the counters between any two answers. */
static void
test_drained_resets(void)
{
	long long clock = SDIAG_CLOCK;
	int i;

	begin();
	since_read(SDIAG_CLOCK - 500);
	for (i = 1; i <= 10; i++) {
		clock += 60;
		sim_pass(60);
		counts_read(clock, clock - 30);
		CHECK_INT(c->clock.drained, i <= 5 ? SDIAG_CLOCK : clock);
	}
	/* One answer without a reset before it: the next start counts again. */
	counts_read(clock + 60, clock - 30);
	CHECK_INT(c->clock.drained, clock + 60);
	counts_read(clock + 90, clock + 80);
	CHECK_INT(c->clock.drained, clock + 60);
}

static void
test_restarted(void)
{
	begin();
	since_read(SDIAG_CLOCK - 500);
	CHECK_INT(c->work.restarted, 0);
	since_read(SDIAG_CLOCK - 500);
	/* The first second after a restart, and a version without the line. */
	since_read(0);
	clock_read("0");
	CHECK_INT(c->work.restarted, 1);
	c->work.restarted = 0;
	since_read(0);
	CHECK_INT(c->work.restarted, 0);
	since_read(SDIAG_CLOCK - 10);
	CHECK_INT(c->work.restarted, 1);
}

/* The submitter looks run 12/100 up. */
static void
run_looked_up(void)
{
	static const struct run_key key = { "alpha", 12, SIM_EPOCH + 100 };
	struct writer w;
	struct reader r;

	wr_init(&w, 1024);
	wr_str(&w, "alpha");
	wr_u64(&w, 7);
	wr_u32(&w, 1);
	wr_run_key(&w, &key);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(lookup_add(c->lookups, &r), 0);
	wr_clear(&w);
}

/* A run is unknown to squeue only in an answer with a run known before. */
static const struct {
	uint64_t job; /* the only one in squeue's answer */
	const char *said;
} unknown_cases[] = {
	{ 10, "not-found 7: 12/100" },
	{ 20, "start 20/0 threads" },
};

static void
test_poll_unknown(void)
{
	const char *sentinel;
	size_t i;

	for (i = 0; i < sizeof(unknown_cases) / sizeof(unknown_cases[0]); i++) {
		begin();
		/* SlurmUser sees all jobs. */
		snprintf(c->slurm.slurm_user, sizeof(c->slurm.slurm_user), "%s",
		    SIM_USER);
		sentinel = sim_sacct_row("labalice", 11, "COMPLETED", 50, 100,
		    300);
		poll_with(listed(10, "R", "No"), record(10, "RUNNING"),
		    sentinel);
		(void)sim_said();
		run_looked_up();
		poll_with(listed(unknown_cases[i].job, "R", "No"),
		    record(unknown_cases[i].job, "RUNNING"), sentinel);
		CHECK_STR(sim_said(), unknown_cases[i].said);
	}
}

/* The confirmation of starts that a hook has announced. */

static void
hook_held(void)
{
	begin();
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "CONFIGURING"));
	CHECK_STR(sim_said(), "held 10/0 threads");
}

static void
test_confirm(void)
{
	hook_held();
	/* A second later squeue is asked about just this job. */
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	CHECK(strstr(sim_args("squeue"), "-j 10") != NULL);
	sim_answer("squeue", listed(10, "CF", "No"));
	CHECK_STR(sim_said(), "");
	/* The prolog still runs: again, later and later. */
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	sim_answer("squeue", listed(10, "CF", "No"));
	sim_pass(1);
	lanes_run();
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	lanes_run();
	sim_answer("squeue", listed(10, "R", "No"));
	CHECK_STR(sim_said(), "confirm 10/0");
	sim_pass(60);
	lanes_run();
	CHECK_STR(sim_asked(), "");
}

/* The job is pending again: what became of it is left to the poll. */
static void
test_confirm_forgotten(void)
{
	hook_held();
	sim_pass(1);
	lanes_run();
	sim_answer("squeue", listed(10, "PD", "Be"));
	sim_pass(60);
	lanes_run();
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_open(c, 10), "10/0 held");
}

/*
 * A cloud node is hidden while it is powered down, and has its shape when the
 * job runs, with another start.
 */
static void
test_cloud(void)
{
	char row[64], start[24], text[4096];

	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "CONFIGURING"));
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	sim_answer("scontrol", "No nodes in the system\n");
	CHECK_STR(sim_said(), "held 10/0 threads");
	/* The shapes are not queried for each such job. */
	hook_event_add(hooks, 6, 11, EVENT_UNKNOWN);
	sim_answer("scontrol", record(11, "CONFIGURING"));
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "held 11/0 threads");
	sim_pass(5);
	poll_start(poll);
	snprintf(start, sizeof(start), "%d", SIM_EPOCH + 5);
	snprintf(row, sizeof(row), "10 R No %s\n", start);
	sim_answer("squeue", row);
	snprintf(text, sizeof(text), "%s", record(10, "RUNNING"));
	replace(text, sizeof(text), " StartTime=", start);
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "");
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	sim_answer("scontrol",
	    "NodeName=node1 CoresPerSocket=8 Sockets=2 State=MIXED+CLOUD"
	    " ThreadsPerCore=2\n");
	CHECK_STR(sim_said(), "start 10/5 threads");
	CHECK_INT(c->host_absent_at, 0);
}

/* Hidden nodes of jobs that run and of jobs that do not are queried once a minute. */
static void
test_hidden_both(void)
{
	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "CONFIGURING"));
	sim_answer("scontrol", "No nodes in the system\n");
	CHECK_STR(sim_said(), "held 10/0 threads");
	hook_event_add(hooks, 6, 11, EVENT_UNKNOWN);
	sim_answer("scontrol", record(11, "RUNNING"));
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	sim_answer("scontrol", "No nodes in the system\n");
	CHECK_STR(sim_said(), "start 11/0 threads");
	hook_event_add(hooks, 7, 12, EVENT_UNKNOWN);
	sim_answer("scontrol", record(12, "CONFIGURING"));
	CHECK_STR(sim_asked(), "");
	hook_event_add(hooks, 8, 13, EVENT_UNKNOWN);
	sim_answer("scontrol", record(13, "RUNNING"));
	CHECK_STR(sim_asked(), "");
}

/* A hook of job 10 leads to the query for the shapes of nodes, which fails. */
static void
shapes_fail(unsigned i)
{
	static const char *const why[] = { NO_SLURMCTLD, "Rate limit exceeded",
		NO_SLURMCTLD };

	lanes_run();
	sim_answer("scontrol", record(10, "RUNNING"));
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	sim_answer_failed("scontrol", "", why[i % 3]);
}

/*
 * A failed query for the shapes does not show that Slurm has no such node: the
 * record waits for the shapes.  The run is sent without them when they fail
 * again and again.
 */
static void
test_shapes_failed(void)
{
	unsigned i;

	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	for (i = 0; i < 3; i++) {
		shapes_fail(i);
		CHECK_STR(sim_said(), "");
		CHECK_INT(c->host_absent_at, 0);
		lanes_run();
		CHECK_STR(sim_asked(), "");
		sim_pass(60);
	}
	lanes_run();
	sim_answer("scontrol", record(10, "RUNNING"));
	sim_answer("scontrol",
	    "NodeName=node1 CoresPerSocket=8 Sockets=2 State=MIXED"
	    " ThreadsPerCore=2\n");
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_INT(c->ctld.away, 0);

	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	for (i = 0; i < 4; i++) {
		CHECK_STR(sim_said(), "");
		sim_pass(60);
		shapes_fail(0);
	}
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_INT(c->host_absent_at, now_s());
	CHECK_INT(c->ctld.away, 1);
	/* An answer that needs no shapes shows that slurmctld is there. */
	sim_pass(30);
	hook_event_add(hooks, 6, 11, EVENT_UNKNOWN);
	lanes_run();
	sim_answer("scontrol", record(11, "RUNNING"));
	CHECK_STR(sim_said(), "start 11/0 threads");
	CHECK_INT(c->ctld.away, 0);
}

/* While the query for the shapes fails, only jobs on unknown nodes wait. */
static void
test_shapes_known(void)
{
	char text[8192], *second;

	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	sim_answer("scontrol", record(10, "RUNNING"));
	sim_answer("scontrol",
	    "NodeName=node1 CoresPerSocket=8 Sockets=2 State=MIXED"
	    " ThreadsPerCore=2\n");
	CHECK_STR(sim_said(), "start 10/0 threads");
	sim_pass(60);
	poll_start(poll);
	snprintf(text, sizeof(text), "%s", listed(11, "R", "No"));
	second = text + strlen(text);
	snprintf(second, sizeof(text) - (size_t)(second - text), "%s",
	    listed(12, "R", "No"));
	sim_answer("squeue", text);
	snprintf(text, sizeof(text), "%s", record(11, "RUNNING"));
	replace(text, sizeof(text), " NodeList=", "node2");
	replace(text, sizeof(text), " Nodes=", "node2");
	second = text + strlen(text);
	snprintf(second, sizeof(text) - (size_t)(second - text), "%s",
	    record(12, "RUNNING"));
	sim_answer("scontrol", text);
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	CHECK_STR(sim_said(), "");
	sim_answer_failed("scontrol", "", NO_SLURMCTLD);
	CHECK_STR(sim_said(), "start 12/0 threads");
}

#define NODE1 \
	"NodeName=node1 CoresPerSocket=8 Sockets=2 State=MIXED" \
	" ThreadsPerCore=2\n"

/*
 * The hosts of a job are those of its record.  A job name with NodeList= leads to no
 * query, which would hide that another job has an unknown node; a job that was
 * queried exactly leads to one.
 */
static void
test_shapes_named(void)
{
	char text[8192];

	begin();
	c->host_absent_at = c->host_hidden_at = 0;
	hook_event_add(hooks, 5, 10, EVENT_UNKNOWN);
	snprintf(text, sizeof(text), "%s", record(10, "RUNNING"));
	replace(text, sizeof(text), " JobName=", "x NodeList=nosuch1");
	sim_answer("scontrol", text);
	sim_answer("scontrol", NODE1);
	CHECK_STR(sim_said(), "start 10/0 threads");
	CHECK_INT(c->host_absent_at, 0);
	sim_pass(60);
	hook_event_add(hooks, 6, 11, EVENT_UNKNOWN);
	lanes_run();
	snprintf(text, sizeof(text), "%s", record(11, "RUNNING"));
	replace(text, sizeof(text), " JobName=", "x NodeList=nosuch1");
	sim_answer("scontrol", text);
	CHECK_STR(sim_said(), "start 11/0 threads");
	CHECK_INT(c->host_absent_at, 0);

	hook_event_add(hooks, 7, 12, EVENT_UNKNOWN);
	lanes_run();
	snprintf(text, sizeof(text), "%s", record(12, "RUNNING"));
	replace(text, sizeof(text), " JobName=", "x UserId=a(1) GroupId=a(1) ");
	replace(text, sizeof(text), " NodeList=", "node2");
	replace(text, sizeof(text), " Nodes=", "node2");
	sim_answer("scontrol", text);
	sim_answer("squeue",
	    "12<~!>x UserId=a(1) GroupId=a(1) <~!>(null)<~!>(null)<~!>"
	    "normal<~!>\n");
	sim_answer("scontrol", text);
	CHECK_STR(sim_args("scontrol"), "--all show node -o");
	CHECK_STR(sim_said(), "");
	sim_answer("scontrol",
	    NODE1 "NodeName=node2 CoresPerSocket=8 "
		  "Sockets=2 State=MIXED ThreadsPerCore=2\n");
	CHECK_STR(sim_said(), "start 12/0 threads");
	CHECK_INT(c->host_absent_at, 0);
}

/* A prolog of two minutes is left to the poll. */
static void
test_confirm_long_prolog(void)
{
	int i, asked = 0;

	hook_held();
	for (i = 0; i < 300; i++) {
		sim_pass(1);
		lanes_run();
		if (*sim_asked() == '\0')
			continue;
		asked = i + 1;
		sim_answer("squeue", listed(10, "CF", "No"));
	}
	CHECK(asked >= 115 && asked <= 130);
	poll_with(listed(10, "R", "No"), NULL, "");
	CHECK_STR(sim_said(), "confirm 10/0");
}

/*
 * The process before has ended before it sent the job script of a run.  Accounting
 * has its end, and is queried by id before the first poll.
 */
static void
test_script_due(void)
{
	static const unsigned bits[] = { OPEN_RUNS_SCRIPT_DUE,
		OPEN_RUNS_SCRIPT_DUE | OPEN_RUNS_UNCONFIRMED };
	static const char *const said[] = {
		"end 10/0-300 completed threads script-follows",
		"held 10/0 threads script-follows, end 10/0-300 completed"
	};
	struct open_key open = { .key = { "alpha", 10, SIM_EPOCH },
		.submit = SIM_EPOCH };
	const char *row = sim_sacct_row("labalice", 10, "COMPLETED", 0, 0, 300);
	struct scripts *scripts;
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		begin();
		scripts = sim_keep(scripts_new(c));
		sim_set(c, CONF_JOB_SCRIPT_MAX, "65536");
		c->permission = PERMISSION_OPERATOR;
		c->slurm.min_job_age = 3600;
		c->caught_up = 0;
		resume_unsynced(c->site);
		resume_open(c->site, &open, bits[i]);
		resume_synced(c->site);
		lanes_run();
		if (bits[i] & OPEN_RUNS_UNCONFIRMED) {
			CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
			sim_answer("sacct", row);
			CHECK_STR(sim_said(), "");
			lanes_run();
			sim_answer("scontrol", record(10, "COMPLETED"));
		} else {
			poll_with("", NULL, row);
			poll_with("", record(10, "COMPLETED"), row);
		}
		CHECK_STR(sim_said(), said[i]);
		scripts_kick(scripts);
		CHECK(strstr(sim_args("scontrol"), "batch_script") != NULL);
		sim_answer("scontrol", "#!/bin/sh\n");
		CHECK_STR(sim_said(), "script 10/0");
	}
}

/* The same of a run whose job was requeued early: the steps are read first. */
static void
test_script_due_after_steps(void)
{
	struct open_key open = { .key = { "alpha", 10, SIM_EPOCH },
		.submit = SIM_EPOCH };
	char text[1024];
	size_t n;

	begin();
	sim_set(c, CONF_JOB_SCRIPT_MAX, "65536");
	c->permission = PERMISSION_OPERATOR;
	c->slurm.min_job_age = 3600;
	c->caught_up = 0;
	resume_unsynced(c->site);
	resume_open(c->site, &open,
	    OPEN_RUNS_SCRIPT_DUE | OPEN_RUNS_UNCONFIRMED);
	resume_synced(c->site);
	lanes_run();
	n = (size_t)snprintf(text, sizeof(text), "%s",
	    sim_sacct_row("labalice", 10, "REQUEUED", -400, -300, -295));
	snprintf(text + n, sizeof(text) - n, "%s",
	    sim_sacct_row("labalice", 10, "COMPLETED", 0, 0, 300));
	CHECK(strstr(sim_args("sacct"), "-j 10") != NULL);
	sim_answer("sacct", text);
	lanes_run();
	snprintf(text, sizeof(text),
	    "10||||%lld||||%lld||||0:0\n10||||%lld||||%lld||||0:0\n",
	    (long long)SIM_EPOCH - 300, (long long)SIM_EPOCH - 295,
	    (long long)SIM_EPOCH, (long long)SIM_EPOCH + 300);
	sim_answer("sacct", text);
	CHECK_STR(sim_said(), "end 10/-300--295 requeued never-ran");
	lanes_run();
	sim_answer("scontrol", record(10, "COMPLETED"));
	CHECK_STR(sim_said(),
	    "held 10/0 threads script-follows, end 10/0-300 completed");
}

int
main(void)
{
	test_script_due();
	test_script_due_after_steps();
	test_hook_acked_when_stored();
	test_hook_end_from_accounting();
	test_hook_end_of_known_run();
	test_hook_single();
	test_hook_burst();
	test_hook_burst_big();
	test_hook_no_burst();
	test_hook_burst_wakes();
	test_hook_burst_short_age();
	test_hook_unknown_job();
	test_hook_other_run_open();
	test_hook_without_job();
	test_hook_slurmctld_away();
	test_hook_listener_gone();
	test_hook_before_sync();
	test_forged_line();
	test_forged_record();
	test_forged_name();
	test_forged_label();
	test_poll();
	test_poll_left_asked();
	test_poll_failed();
	test_poll_confirms();
	test_poll_not_asked();
	test_poll_ignored_moves();
	test_poll_unseen();
	test_poll_rounds();
	test_poll_exact_max();
	test_poll_spool_full();
	test_poll_exact_too_long();
	test_one_too_long();
	test_poll_all_gap();
	test_poll_quiet();
	test_poll_quiet_ends();
	test_poll_quiet_settles();
	test_hook_in_first_minute();
	test_poll_quiet_max_span();
	test_poll_rows_no_round();
	test_poll_quiet_unproved();
	test_poll_clock();
	test_drained_settles();
	test_drained_starts();
	test_drained_without_since();
	test_drained_long_outage();
	test_drained_resets();
	test_restarted();
	test_poll_unknown();
	test_confirm();
	test_confirm_forgotten();
	test_cloud();
	test_hidden_both();
	test_shapes_failed();
	test_shapes_known();
	test_shapes_named();
	test_confirm_long_prolog();
	return check_done();
}
