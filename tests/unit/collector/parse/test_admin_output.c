/* SPDX-License-Identifier: MIT */
/* Short answers, read line by line: recorded ones and malformed ones. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define S(text) ((struct span) { text, strlen(text) })

static const char *const versions[] = { "20.11", "22.05", "24.11" };
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

/* --- scontrol ping --- */

static int
on_controllers(struct span line, void *arg)
{
	controllers_line(arg, "labbackup.example.org", line);
	return 0;
}

static struct controllers
controllers_of(const char *host, const char *text)
{
	struct controllers c = { .first_up = -1, .ours = -1 };
	const char *end;
	char *copy;

	for (; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
		end = strchrnul(text, '\n');
		controllers_line(&c, host,
		    line_new(text, (size_t)(end - text), &copy));
		free(copy);
	}
	return c;
}

static void
controllers_are(struct controllers c, unsigned n, int first_up, int ours)
{
	CHECK_INT(c.n, n);
	CHECK_INT(c.first_up, first_up);
	CHECK_INT(c.ours, ours);
}

static void
test_controllers(void)
{
	static const char up[] = "Slurmctld(primary) at ctl is UP\n"
				 "Slurmctld(backup) at labbackup is UP";
	struct controllers c = { .first_up = -1, .ours = -1 };
	char many[64 * 40] = "";
	unsigned i;

	recording_lines("22.05", "ping.txt", on_controllers, &c);
	controllers_are(c, 2, 1, 1);
	c = (struct controllers) { .first_up = -1, .ours = -1 };
	recording_lines("20.11", "ping.txt", on_controllers, &c);
	controllers_are(c, 1, -1, -1);
	controllers_are(controllers_of("ctl", up), 2, 0, 0);
	controllers_are(controllers_of("CTL.example.org", up), 2, 0, 0);
	controllers_are(controllers_of("labbackup", up), 2, 0, 1);
	controllers_are(controllers_of("ct", up), 2, 0, -1);
	controllers_are(controllers_of("ctl2", up), 2, 0, -1);
	controllers_are(controllers_of("", up), 2, 0, -1);
	/* Other lines, and lines that are cut. */
	controllers_are(controllers_of("x", "scontrol: error: at x is UP"), 0,
	    -1, -1);
	controllers_are(controllers_of("x",
			    "\nSlurmctld(\nSlurmctld(p) at x\n"
			    "Slurmctld(p) at  is UP\n at x is UP"),
	    0, -1, -1);
	controllers_are(controllers_of("x", "Slurmctld(p) at x is U"), 1, -1,
	    0);
	controllers_are(controllers_of("x",
			    "Slurmctld(p) at x is UPSET\n"
			    "Slurmctld(p) at x.y is "),
	    2, -1, 1);
	/* No more than CONTROLLERS_MAX are counted. */
	for (i = 0; i < 40; i++)
		strcat(many, "Slurmctld(backup) at x is DOWN\n");
	controllers_are(controllers_of("y", many), CONTROLLERS_MAX, -1, -1);
}

/* --- sdiag --- */

static int
on_sdiag(struct span line, void *arg)
{
	sdiag_line(arg, line);
	return 0;
}

static void
test_sdiag(void)
{
	static const int64_t clocks[VERSIONS] = { 1795282425, 1795282344,
		1795282451 };
	static const int64_t since[VERSIONS] = { 1795282423, 1795282327,
		1795282444 };
	static const char *const bad[] = { "", "sdiag output at ",
		"sdiag output at x (", "sdiag output at x (12",
		"sdiag output at x ()",
		"sdiag output at x (99999999999999999999)", "Data since ",
		"Data since x", "Data since      (", "DBD Agent queue size:",
		"DBD Agent queue size: ", "DBD Agent queue size: -1",
		"DBD Agent queue size: 12x",
		"DBD Agent queue size: 18446744073709551615",
		"DBD Agent queue size: 99999999999999999999",
		"Jobs started:", "Jobs started: ", "Jobs started:   -1",
		"Jobs failed:    99999999999999999999", "Jobs pending:   7",
		"Jobs running:   7", "\tJobs started:   7",
		"Jobs completed: x" };
	struct sdiag d;
	char *copy;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		d = (struct sdiag) { .queue = -1 };
		recording_lines(versions[i], "sdiag.txt", on_sdiag, &d);
		CHECK_INT(d.clock, clocks[i]);
		CHECK_INT(d.queue, 0);
		CHECK_INT(d.since, since[i]);
		/* Five were submitted, and one was started. */
		CHECK_INT(d.counters, SDIAG_COUNTERS);
		CHECK_INT(d.events, 6);
	}
	d = (struct sdiag) { .clock = 7, .queue = 8, .since = 9 };
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sdiag_line(&d, line_new(bad[i], strlen(bad[i]), &copy));
		free(copy);
		/* "()" is a time that is not set, "(12" is a time. */
		CHECK(d.queue == 8);
		CHECK(d.clock == 7 || d.clock == 0 || d.clock == 12);
		CHECK(d.since == 9 || d.since == 0);
		CHECK_INT(d.counters, 0);
	}
	/* slurmctld prints this in its first second. */
	d.since = 9;
	sdiag_line(&d, S("Data since      Thu Jan 01 00:00:00 1970 (0)"));
	CHECK_INT(d.since, 0);
	sdiag_line(&d, S("DBD Agent queue size:   17"));
	CHECK_INT(d.queue, 17);
	sdiag_line(&d, S("Jobs canceled:  3"));
	sdiag_line(&d, S("Jobs failed:    4"));
	CHECK_INT(d.counters, 2);
	CHECK_INT(d.events, 7);
	/* slurmctld's own queue is another one. */
	sdiag_line(&d, S("Agent queue size:     3"));
	CHECK_INT(d.queue, 17);
}

/* --- sacctmgr --- */

struct asked {
	struct admin admin;
	const char *user;
};

static int
on_admin(struct span line, void *arg)
{
	struct asked *a = arg;

	admin_line(&a->admin, a->user, line);
	return 0;
}

/* 0 = not known, 1 = known, 2 = operator. */
static int
admin_of(const char *user, const char *text)
{
	struct admin a = { 0, 0 };
	char *copy;

	admin_line(&a, user, line_new(text, strlen(text), &copy));
	free(copy);
	return a.operator? 2 : a.known;
}

static void
test_admins(void)
{
	static const struct {
		const char *user;
		int known, operator;
	} users[] = {
		{ "laboper", 1, 1 },
		{ "root", 1, 1 },
		{ "labalice", 1, 0 },
		{ "labcarol", 0, 0 },
		{ "lab", 0, 0 },
		{ "", 0, 0 },
	};
	struct asked a;
	size_t i, k;

	for (i = 0; i < VERSIONS; i++)
		for (k = 0; k < sizeof(users) / sizeof(users[0]); k++) {
			a = (struct asked) { .user = users[k].user };
			recording_lines(versions[i], "users.txt", on_admin, &a);
			CHECK_INT(a.admin.known, users[k].known);
			CHECK_INT(a.admin.operator, users[k].operator);
		}
	/* slurmdbd stores names in lower case. */
	CHECK_INT(admin_of("LabOper", "laboper|Operator"), 2);
	CHECK_INT(admin_of("laboper", "laboper|Operator|root"), 2);
	CHECK_INT(admin_of("laboper", "laboper|"), 1);
	CHECK_INT(admin_of("laboper", "laboper|Oper"), 1);
	CHECK_INT(admin_of("laboper", "laboper|OperatorX"), 1);
	CHECK_INT(admin_of("laboper", "laboper|None|Operator"), 1);
	CHECK_INT(admin_of("laboper", "laboper||Administrator"), 1);
	CHECK_INT(admin_of("laboper", "laboper"), 0);
	CHECK_INT(admin_of("laboper", "laboper Operator"), 0);
	CHECK_INT(admin_of("laboper", "|Operator"), 0);
	CHECK_INT(admin_of("", "|Operator"), 0);
	CHECK_INT(admin_of("laboper", ""), 0);
}

static int
on_dbd(struct span line, void *arg)
{
	dbd_config_line(arg, line);
	return 0;
}

static int
dbd_hides(const char *text)
{
	struct dbd_config d = { 1, 0 };
	char *copy;

	dbd_config_line(&d, line_new(text, strlen(text), &copy));
	free(copy);
	return d.private_jobs;
}

/* PrivateData of slurm.conf comes first and does not count. */
static void
test_dbd(void)
{
	struct dbd_config d = { 0, 0 };

	recording_lines("22.05", "dbd.txt", on_dbd, &d);
	CHECK_INT(d.reached, 1);
	CHECK_INT(d.private_jobs, 1);
	d = (struct dbd_config) { 0, 0 };
	dbd_config_line(&d, S("PrivateData            = jobs"));
	CHECK_INT(d.private_jobs, 0);
	dbd_config_line(&d, S("SlurmDBD configuration:"));
	CHECK_INT(d.private_jobs, 0);
	CHECK_INT(dbd_hides("PrivateData = accounts,jobs,users"), 1);
	CHECK_INT(dbd_hides("PrivateData=jobs"), 1);
	CHECK_INT(dbd_hides("PrivateData = none"), 0);
	CHECK_INT(dbd_hides("PrivateData = users"), 0);
	CHECK_INT(dbd_hides("PrivateData = "), 0);
	CHECK_INT(dbd_hides("PrivateData"), 0);
	CHECK_INT(dbd_hides("PrivateDataX = jobs"), 0);
	CHECK_INT(dbd_hides(""), 0);
}

int
main(void)
{
	test_controllers();
	test_sdiag();
	test_admins();
	test_dbd();
	return check_done();
}
