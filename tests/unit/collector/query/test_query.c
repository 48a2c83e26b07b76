/* SPDX-License-Identifier: MIT */
/* The lanes that ask slurmctld: the poll, hook events, confirmation of starts. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector/accounting/accounting.h"
#include "collector/query/query_lanes.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

#define T	((int64_t)SIM_BEGIN)

static struct cluster *c;
static struct accounting *accounting;
static struct poll *y;
static struct hook_events *events;
static struct confirm *confirm;

static void
on_answered(void *arg, uint64_t job, int ended, int known)
{
	(void)arg;
	hook_events_answered(events, job, ended, known);
}

static const struct accounting_ops ops = { .answered = on_answered };

static void
begin(void)
{
	c = sim_cluster();
	accounting = acct_new(c, &ops, NULL);
	y = poll_new(c, accounting);
	events = hook_events_new(c);
	confirm = confirm_new(c);
	c->resume.point = T - 600;
	c->clock.works = c->clock.tried = 1;
}

static void
end(void)
{
	sim_end(c);
	free(accounting);
}

/* One record of `scontrol show job -d -o`, with its newline. */
static const char *
record(uint64_t job, const char *name, const char *state, int64_t start)
{
	static char text[4][2048];
	static unsigned turn;
	char *p = text[turn++ % 4];

	snprintf(p, sizeof(text[0]), "JobId=%llu JobName=%s UserId=alice(1001) "
	    "GroupId=alice(1001) MCS_label=N/A Priority=1 Nice=0 "
	    "Account=physics QOS=normal JobState=%s Reason=None "
	    "Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 "
	    "ExitCode=0:0 DerivedExitCode=0:0 RunTime=00:00:32 "
	    "TimeLimit=00:05:00 TimeMin=N/A SubmitTime=%lld EligibleTime=%lld "
	    "AccrueTime=%lld StartTime=%lld EndTime=%lld Deadline=N/A "
	    "SuspendTime=None SecsPreSuspend=0 LastSchedEval=%lld "
	    "Scheduler=Backfill Partition=main AllocNode:Sid=localhost:2989 "
	    "ReqNodeList=(null) ExcNodeList=(null) NodeList=n1 BatchHost=n1 "
	    "NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:* "
	    "TRES=cpu=2,node=1,billing=2 Socks/Node=* "
	    "NtasksPerN:B:S:C=0:0:*:* CoreSpec=* JOB_GRES=(null)   Nodes=n1 "
	    "CPU_IDs=8-9 Mem=0 GRES= MinCPUsNode=1 MinMemoryCPU=100M "
	    "MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 "
	    "OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) "
	    "Command=(null) WorkDir=/tmp StdErr=/dev/null StdIn=/dev/null "
	    "StdOut=/dev/null Power= \n", (unsigned long long)job, name,
	    state, (long long)start - 10, (long long)start - 10,
	    (long long)start - 10, (long long)start, (long long)start + 300,
	    (long long)start);
	return p;
}

/* One row of squeue's periodic answer. */
static const char *
listed(uint64_t job, const char *state, int64_t start)
{
	static char text[64];

	snprintf(text, sizeof(text), "%llu %s No %lld\n",
	    (unsigned long long)job, state, (long long)start);
	return text;
}

/* Ends the range question of accounting, whichever command it is. */
static void
range_end(void)
{
	unsigned i;

	for (i = 0; i < sim_commands(); i++)
		if (sim_command_has(i, "-S")) {
			sim_answer(i, "");
			return;
		}
}

/* A new job: squeue's row, then its details in one question, then a record. */
static void
test_poll(void)
{
	begin();
	poll_start(y);
	CHECK(c->listing.busy);
	CHECK_INT(c->listing.number, 2);
	CHECK(strstr(sim_command(0), "squeue -h -a") != NULL);
	sim_answer(0, listed(10, "R", T - 10));
	CHECK_INT(c->listing.jobs, 1);
	range_end();
	CHECK(strstr(sim_command(0), "scontrol --all show job") != NULL);
	sim_answer(0, record(10, "job", "RUNNING", T - 10));
	CHECK(!c->listing.busy);
	CHECK_INT(sim_sent_count(), 1);
	CHECK_INT(sim_sent(0).key.job, 10);
	CHECK_INT(sim_sent(0).flags & (JOB_UNCONFIRMED | JOB_HAS_THREADS),
	    JOB_HAS_THREADS);
	/* Nothing new: no question about details. */
	sim_wait(60);
	poll_start(y);
	sim_answer(0, listed(10, "R", T - 10));
	CHECK(strstr(sim_command(0), "scontrol") == NULL);
	while (sim_commands() > 0)
		sim_answer(0, "");
	CHECK_INT(sim_sent_count(), 1);
	/* It has left squeue: accounting is asked by id, but not at once. */
	sim_wait(60);
	poll_start(y);
	sim_answer(0, "");
	CHECK(open_find(&c->open, 10, T - 10)->flags & OPEN_LEFT);
	CHECK(open_find(&c->open, 10, T - 10)->seen > (uint32_t)now_s());
	while (sim_commands() > 0)
		sim_answer(0, "");
	CHECK_INT(sim_sent_count(), 1);
	end();
}

/* An answer of squeue that is cut, or has lines that are no rows, is none. */
static void
test_poll_bad(void)
{
	begin();
	open_put(&c->open, 10, T - 10)->flags = OPEN_DETAILED;
	poll_start(y);
	sim_answer(0, "10 R No");
	CHECK(c->ctld.away);
	CHECK(!c->listing.busy);
	CHECK_INT(open_find(&c->open, 10, T - 10)->flags & OPEN_LEFT, 0);
	sim_wait(60);
	poll_start(y);
	sim_answer(0, "slurm_load_jobs error: unexpected message\n");
	CHECK(c->ctld.away);
	CHECK_INT(open_find(&c->open, 10, T - 10)->flags & OPEN_LEFT, 0);
	sim_wait(60);
	poll_start(y);
	sim_fail(0, "slurm_load_jobs error: Unable to contact slurm controller");
	CHECK_INT(open_find(&c->open, 10, T - 10)->flags & OPEN_LEFT, 0);
	CHECK_INT(c->ctld.fails, 3);
	CHECK_INT(sim_commands(), 0);
	end();
}

/*
 * A job's name that has a record of another job in it: both are asked for
 * again, exactly; nothing of the name is believed.
 */
static void
test_forged_record(void)
{
	char text[8192];

	begin();
	poll_start(y);
	snprintf(text, sizeof(text), "10 R No %lld\n11 R No %lld\n",
	    (long long)T - 10, (long long)T - 9);
	sim_answer(0, text);
	range_end();
	/* 10 twice: its real record, and one in the name of 11. */
	snprintf(text, sizeof(text), "%s", record(10, "job", "RUNNING",
	    T - 10));
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
	    "JobId=11 JobName=x\n%s%s", record(10, "y", "COMPLETED", T - 10),
	    record(11, "z", "RUNNING", T - 9) + strlen("JobId=11 JobName=z"));
	sim_answer(0, text);
	CHECK_INT(sim_sent_count(), 0);
	CHECK(strstr(sim_command(0), "squeue -h -a -t all -j") != NULL);
	CHECK(strstr(sim_command(0), "admin_comment:") != NULL);
	/* squeue does not know the name either: left to accounting. */
	while (sim_commands() > 0)
		sim_answer(0, "");
	CHECK_INT(sim_sent_count(), 0);
	CHECK(idmap_get(&c->work.accounting, 10) != NULL);
	CHECK(idmap_get(&c->work.accounting, 11) != NULL);
	CHECK_INT(c->open.n, 0);
	end();
}

/* A hook's event: slurmctld is asked at once, the ack waits for the spool. */
static void
test_hook_start(void)
{
	begin();
	hook_event_add(events, 1, 10);
	CHECK(sim_command_has(0, "10"));
	CHECK(strstr(sim_command(0), "scontrol") != NULL);
	sim_answer(0, record(10, "job", "RUNNING", T - 1));
	CHECK_INT(sim_sent_count(), 1);
	CHECK_INT(sim_acks(), 0);
	sim_submitter_stores();
	hook_events_durable(events);
	CHECK_INT(sim_acks(), 1);
	CHECK_INT(hook_events_waiting(events), 0);
	/* A number that is no job is acknowledged and ignored. */
	hook_event_add(events, 2, 0);
	CHECK_INT(sim_acks(), 2);
	CHECK_INT(sim_commands(), 0);
	end();
}

/* slurmctld does not know the job: accounting is asked, a few times. */
static void
test_hook_unknown(void)
{
	int i;

	begin();
	hook_event_add(events, 1, 10);
	sim_fail(0, "slurm_load_jobs error: Invalid job id specified");
	CHECK_INT(sim_commands(), 0);
	hook_events_kick(events);
	CHECK_INT(c->work.accounting.n, 0);
	for (i = 0; i < 2; i++) {
		CHECK_INT(hook_events_waiting(events), 1);
		sim_wait(40);
		hook_events_kick(events);
		CHECK(idmap_get(&c->work.accounting, 10) != NULL);
		acct_kick(accounting);
		CHECK(strstr(sim_command(0), "sacct") != NULL);
		sim_answer(0, "");
	}
	/* Nobody knows it: the event is over. */
	sim_submitter_stores();
	hook_events_durable(events);
	CHECK_INT(hook_events_waiting(events), 0);
	CHECK_INT(sim_acks(), 1);
	end();
}

/* slurmctld does not answer: the event waits, and is asked for again. */
static void
test_hook_away(void)
{
	begin();
	hook_event_add(events, 1, 10);
	sim_timeout(0);
	CHECK(c->ctld.away);
	hook_events_kick(events);
	CHECK_INT(sim_commands(), 0);
	sim_wait(61);
	hook_events_kick(events);
	CHECK_INT(sim_commands(), 1);
	sim_answer(0, record(10, "job", "RUNNING", T - 1));
	CHECK_INT(sim_sent_count(), 1);
	CHECK(!c->ctld.away);
	end();
}

/* Many events make one question about all jobs. */
static void
test_hook_many(void)
{
	uint64_t job;
	unsigned i;

	begin();
	hook_event_add(events, 1, 1);
	for (job = 2; job <= 100; job++)
		hook_event_add(events, job, job);
	/* The first one is under way; the others are asked for together. */
	CHECK_INT(sim_commands(), 1);
	sim_fail(0, "slurm_load_jobs error: Invalid job id specified");
	hook_events_kick(events);
	CHECK_INT(sim_commands(), 1);
	CHECK(!sim_command_has(0, "2"));
	sim_answer(0, record(50, "job", "RUNNING", T - 1));
	CHECK_INT(sim_sent_count(), 1);
	for (i = 0; i < sim_commands(); i++)
		CHECK(strstr(sim_command(i), "scontrol") == NULL);
	/* A new listener repeats its events; the old numbers are not acked. */
	hook_events_forget(events);
	sim_submitter_stores();
	hook_events_durable(events);
	CHECK_INT(sim_acks(), 0);
	end();
}

/* A prolog runs: squeue is asked after a second, then less and less often. */
static void
test_confirm(void)
{
	begin();
	hook_event_add(events, 1, 10);
	sim_answer(0, record(10, "job", "CONFIGURING", T - 1));
	CHECK(sim_sent(0).flags & JOB_UNCONFIRMED);
	confirm_kick(confirm);
	CHECK_INT(sim_commands(), 0);
	sim_wait_ms(1000);
	confirm_kick(confirm);
	CHECK(strstr(sim_command(0), "squeue") != NULL);
	CHECK(sim_command_has(0, "10"));
	sim_answer(0, listed(10, "CF", T - 1));
	CHECK_INT(sim_sent_count(), 1);
	sim_wait_ms(900);
	confirm_kick(confirm);
	CHECK_INT(sim_commands(), 0);
	sim_wait_ms(100);
	confirm_kick(confirm);
	CHECK_INT(sim_commands(), 1);
	sim_answer(0, listed(10, "R", T - 1));
	CHECK_INT(sim_sent_count(), 2);
	CHECK(sim_sent(1).flags & JOB_LIVE);
	/* It is over. */
	sim_wait(60);
	confirm_kick(confirm);
	CHECK_INT(sim_commands(), 0);
	end();
}

/* A job that is prepared for minutes is left to the poll. */
static void
test_confirm_long(void)
{
	int i, n = 0;

	begin();
	hook_event_add(events, 1, 10);
	sim_answer(0, record(10, "job", "CONFIGURING", T - 1));
	for (i = 0; i < 600; i++) {
		sim_wait(1);
		confirm_kick(confirm);
		if (sim_commands() == 0)
			continue;
		n++;
		sim_answer(0, listed(10, "CF", T - 1));
	}
	CHECK(n >= 10 && n <= 25);
	CHECK_INT(c->work.confirm.n, 0);
	/* The poll confirms it. */
	poll_start(y);
	sim_answer(0, listed(10, "R", T - 1));
	CHECK(sim_sent(1).flags & JOB_LIVE);
	end();
}

int
main(void)
{
	test_poll();
	test_poll_bad();
	test_forged_record();
	test_hook_start();
	test_hook_unknown();
	test_hook_away();
	test_hook_many();
	test_confirm();
	test_confirm_long();
	return check_done();
}
