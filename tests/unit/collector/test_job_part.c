/* SPDX-License-Identifier: MIT */
/* The job ids of tasks and components, from lines as Slurm prints them. */
#include "config.h"

#include "collector/job_part.h"
#include "tests/unit/check.h"

static struct part_facts facts;
static char reason[512], remedy[160];

static void
want(enum ctl_part kind, uint64_t job, uint64_t number)
{
	memset(&facts, 0, sizeof(facts));
	facts.kind = kind;
	facts.job = job;
	facts.number = number;
}

static void
record(const char *line)
{
	part_record(&facts, (struct span) { line, strlen(line) });
}

static void
row(uint64_t id, uint64_t array, uint32_t task, uint64_t het, uint32_t offset)
{
	struct job job;

	job_init(&job);
	job.key.job = id;
	job.array_job = array;
	job.array_task = task;
	job.het_job = het;
	job.het_offset = offset;
	part_row(&facts, &job);
	job_clear(&job);
}

static void
expect(const char *text, const char *command)
{
	part_reason(&facts, "alpha", reason, sizeof(reason), remedy,
	    sizeof(remedy));
	if (strstr(reason, text) == NULL)
		CHECK_STR(reason, text);
	if (*command == '\0' || strstr(remedy, command) == NULL)
		CHECK_STR(remedy, command);
	CHECK_INT(facts.n, 0);
}

static void
test_tasks(void)
{
	want(CTL_PART_TASK, 17, 2);
	record("JobId=17 ArrayJobId=17 ArrayTaskId=4-9%2 ArrayTaskThrottle=2 "
	       "JobName=x");
	record("JobId=18 ArrayJobId=17 ArrayTaskId=1 JobName=x");
	record("JobId=19 ArrayJobId=17 ArrayTaskId=2 JobName=x");
	record("JobId=20 ArrayJobId=16 ArrayTaskId=2 JobName=x");
	record("JobId=21 JobName=a ArrayJobId=17 ArrayTaskId=2 JobName=x");
	row(19, 17, 2, 0, 0);
	CHECK_INT(facts.n, 1);
	CHECK_INT(facts.ids[0], 19);
	CHECK_INT(facts.others, 2);
	row(5, 17, 2, 0, 0); /* the array of that time had this id, too */
	CHECK_INT(facts.n, 2);
}

static void
test_waiting(void)
{
	static const struct {
		const char *list;
		unsigned task;
		const char *reason;
	} cases[] = {
		{ "4-9%2", 4, "17_4 is pending: " },
		{ "4-9%2", 9, "17_9 is pending: " },
		{ "4-9%2", 3, "has other tasks, but no task 3" },
		{ "1,3,20-30", 3, "pending: " },
		{ "1,3,20-30", 2, "no task 2" },
		{ "1-9:4", 5, "pending: " },
		{ "1-9:4", 6, "no task 6" },
		{ "1,3,5,...", 5, "pending: " },
		{ "1,3,5,...", 7, "the task may be pending" },
		{ "1-9:0", 5, "the task may be pending" },
		{ "?", 5, "the task may be pending" },
	};
	char line[128];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		want(CTL_PART_TASK, 17, cases[i].task);
		snprintf(line, sizeof(line),
		    "JobId=17 ArrayJobId=17 ArrayTaskId=%s JobName=x",
		    cases[i].list);
		record(line);
		expect(cases[i].reason, "");
	}
	want(CTL_PART_TASK, 17, 5); /* the last one that waits */
	record("JobId=17 ArrayJobId=17 ArrayTaskId=5 JobName=x");
	CHECK_INT(facts.ids[0], 17);
}

static void
test_components(void)
{
	want(CTL_PART_COMPONENT, 18, 1);
	record("JobId=18 HetJobId=18 HetJobOffset=0 JobName=x");
	record("JobId=19 HetJobId=18 HetJobOffset=1 JobName=x");
	CHECK_INT(facts.n, 1);
	CHECK_INT(facts.ids[0], 19);
	CHECK_INT(facts.others, 1);
	want(CTL_PART_COMPONENT, 18, 0);
	record("JobId=18 PackJobId=18 PackJobOffset=0 JobName=x");
	CHECK_INT(facts.ids[0], 18);
	want(CTL_PART_COMPONENT, 18, 1);
	row(18, 0, 0, 18, 0);
	expect("has other components, but no component 1", "");
	row(19, 0, 0, 18, 1);
	CHECK_INT(facts.ids[0], 19);
}

static void
test_none(void)
{
	want(CTL_PART_TASK, 17, 2);
	expect("unknown to Slurm: neither slurmctld nor accounting has 17_2 in "
	       "cluster alpha",
	    "");
	record("JobId=17 JobName=ArrayJobId=17 ArrayTaskId=2 UserId=a(1)");
	expect("job 17 in cluster alpha has no tasks", "explain 17");
	want(CTL_PART_COMPONENT, 17, 2);
	record("JobId=17 ArrayJobId=17 ArrayTaskId=2 JobName=x");
	expect("has no components", "explain 17");
	want(CTL_PART_TASK, 17, 2);
	snprintf(facts.dbd_error, sizeof(facts.dbd_error), "exit status 1");
	expect("17_2 is not known: slurmdbd does not answer (exit status 1)",
	    "%A");
}

int
main(void)
{
	test_tasks();
	test_waiting();
	test_components();
	test_none();
	return check_done();
}
