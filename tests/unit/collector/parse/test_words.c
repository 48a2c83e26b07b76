/* SPDX-License-Identifier: MIT */
/*
 * Short answers, a line at a time: as three versions of Slurm print them, and
 * as nobody should.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/slurm/slurm.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define S(text)	((struct span){ text, strlen(text) })

static const char *const versions[] = { "20.11", "22.05", "24.11" };
#define VERSIONS	(sizeof(versions) / sizeof(versions[0]))

/* A line that ends where memory ends: who reads on is caught by the sanitizer. */
static struct span
line_new(const char *text, size_t n, char **copy)
{
	*copy = malloc(n != 0 ? n : 1);
	if (*copy == NULL)
		exit(1);
	memcpy(*copy, text, n);
	return (struct span){ *copy, n };
}

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
		controllers_line(&c, host, line_new(text,
		    (size_t)(end - text), &copy));
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
	c = (struct controllers){ .first_up = -1, .ours = -1 };
	recording_lines("20.11", "ping.txt", on_controllers, &c);
	controllers_are(c, 1, -1, -1);
	controllers_are(controllers_of("ctl", up), 2, 0, 0);
	controllers_are(controllers_of("CTL.example.org", up), 2, 0, 0);
	controllers_are(controllers_of("labbackup", up), 2, 0, 1);
	controllers_are(controllers_of("ct", up), 2, 0, -1);
	controllers_are(controllers_of("ctl2", up), 2, 0, -1);
	controllers_are(controllers_of("", up), 2, 0, -1);
	/* No such line, or one that was cut. */
	controllers_are(controllers_of("x", "scontrol: error: at x is UP"), 0,
	    -1, -1);
	controllers_are(controllers_of("x", "\nSlurmctld(\nSlurmctld(p) at x\n"
	    "Slurmctld(p) at  is UP\n at x is UP"), 0, -1, -1);
	controllers_are(controllers_of("x", "Slurmctld(p) at x is U"), 1, -1,
	    0);
	controllers_are(controllers_of("x", "Slurmctld(p) at x is UPSET\n"
	    "Slurmctld(p) at x.y is "), 2, -1, 1);
	/* More than Slurm has are not counted. */
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
	static const char *const bad[] = { "", "sdiag output at ",
		"sdiag output at x (", "sdiag output at x (12",
		"sdiag output at x ()",
		"sdiag output at x (99999999999999999999)",
		"DBD Agent queue size:", "DBD Agent queue size: ",
		"DBD Agent queue size: -1", "DBD Agent queue size: 12x",
		"DBD Agent queue size: 18446744073709551615",
		"DBD Agent queue size: 99999999999999999999" };
	struct sdiag d;
	char *copy;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		d = (struct sdiag){ 0, -1 };
		recording_lines(versions[i], "sdiag.txt", on_sdiag, &d);
		CHECK_INT(d.clock, clocks[i]);
		CHECK_INT(d.queue, 0);
	}
	d = (struct sdiag){ 7, 8 };
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sdiag_line(&d, line_new(bad[i], strlen(bad[i]), &copy));
		free(copy);
		/* Nothing in brackets is a time that is not set, "12" one. */
		CHECK(d.queue == 8);
		CHECK(d.clock == 7 || d.clock == 0 || d.clock == 12);
	}
	sdiag_line(&d, S("DBD Agent queue size:   17"));
	CHECK_INT(d.queue, 17);
	/* Another queue. */
	sdiag_line(&d, S("Agent queue size:     3"));
	CHECK_INT(d.queue, 17);
}

/* --- sacctmgr --- */

struct asked {
	struct admin	 admin;
	const char	*user;
};

static int
on_admin(struct span line, void *arg)
{
	struct asked *a = arg;

	admin_line(&a->admin, a->user, line);
	return 0;
}

/* 0 = unknown, 1 = known, 2 = an operator. */
static int
admin_of(const char *user, const char *text)
{
	struct admin a = { 0, 0 };
	char *copy;

	admin_line(&a, user, line_new(text, strlen(text), &copy));
	free(copy);
	return a.operator ? 2 : a.known;
}

static void
test_admins(void)
{
	static const struct {
		const char	*user;
		int		 known, operator;
	} users[] = {
		{ "laboper", 1, 1 }, { "root", 1, 1 }, { "labalice", 1, 0 },
		{ "labcarol", 0, 0 }, { "lab", 0, 0 }, { "", 0, 0 },
	};
	struct asked a;
	size_t i, k;

	for (i = 0; i < VERSIONS; i++)
		for (k = 0; k < sizeof(users) / sizeof(users[0]); k++) {
			a = (struct asked){ .user = users[k].user };
			recording_lines(versions[i], "users.txt", on_admin, &a);
			CHECK_INT(a.admin.known, users[k].known);
			CHECK_INT(a.admin.operator, users[k].operator);
		}
	/* Accounting keeps names in small letters. */
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

/* slurm.conf's part, which comes first, has a PrivateData of its own. */
static void
test_dbd(void)
{
	struct dbd_config d = { 0, 0 };

	recording_lines("22.05", "dbd.txt", on_dbd, &d);
	CHECK_INT(d.reached, 1);
	CHECK_INT(d.private_jobs, 1);
	d = (struct dbd_config){ 0, 0 };
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

/* --- a job's steps --- */

static int
on_step(struct span line, void *arg)
{
	struct job_step step, *sum = arg;

	if (step_row(line, &step) == -1)
		return 0;
	sum->job++;
	sum->start += step.start;
	sum->end += step.end;
	return 0;
}

static int
step_of(const char *text, struct job_step *step)
{
	char *copy;
	int rc = step_row(line_new(text, strlen(text), &copy), step);

	free(copy);
	return rc;
}

static void
test_steps(void)
{
	static const char *const none[] = { "", "||||", "||||||||||||",
		".|||||||||||0:0", "5||||1||||2||||0:0", "5.0||||1||||2||||",
		"5.0||||1||||2", "5.0||||1||||2||||0:0||||x",
		"x.0||||1||||2||||0:0", "5.0||||x||||2||||0:0",
		"5.0||||1||||x||||0:0", ".0||||1||||2||||0:0",
		"5.0|1|2|0:0", "99999999999999999999.0||||1||||2||||0:0" };
	struct job_step s, sum = { 0 };
	size_t i;

	recording_lines("22.05", "steps.txt", on_step, &sum);
	CHECK_INT(sum.job, 3);
	CHECK_INT(sum.start, 1795282342LL * 2 + 1795282354);
	CHECK_INT(sum.end, 1795282353LL + 1795282345 + 1795282355);
	CHECK_INT(step_of("67108870.batch||||1795282342||||Unknown||||0:0", &s),
	    0);
	CHECK(s.job == 67108870 && s.start == 1795282342 && s.end == 0);
	CHECK_INT(step_of("5.4294967294.0||||1||||2||||1:15", &s), 0);
	CHECK_INT(s.job, 5);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK_INT(step_of(none[i], &s), -1);
}

/* --- squeue --- */

/* What a line of each recording is: a letter by its phase. */
struct phase_letters {
	char	phases[16];
	size_t	n;
};

static int
on_listed(struct span line, void *arg)
{
	struct phase_letters *l = arg;
	struct squeue_job row;

	CHECK_INT(squeue_row(line, &row), 0);
	CHECK(row.start != 0 || row.state->phase == PHASE_PENDING);
	l->phases[l->n++] = "PCRxE"[row.state->phase];
	return 0;
}

static void
test_squeue(void)
{
	static const char *const bad[] = { "", "x R 1", "5", "0 R 1",
		"5 R No x", "5 R No 1 2", "-5 R No 1", "5  1", "5 R 1",
		"5 R No", "5 R No ", "5 R    ", " 5 R No 1" };
	struct squeue_job row;
	struct phase_letters l = { "", 0 };
	char *copy;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		l = (struct phase_letters){ "", 0 };
		recording_lines(versions[i], "squeue.txt", on_listed, &l);
		CHECK_STR(l.phases, i == 2 ? "EPPPR" : "PPPPR");
	}
	CHECK_INT(squeue_row(S("12 R No 1795212354"), &row), 0);
	CHECK(row.job == 12 && row.start == 1795212354 &&
	    row.state->phase == PHASE_RUNNING);
	CHECK_INT(squeue_row(S("12 PD Be N/A"), &row), 0);
	CHECK_INT(row.start, 0);
	CHECK_INT(squeue_row(S("12 R Pr 1795212354"), &row), 0);
	CHECK(row.state->phase == PHASE_CONFIGURING);
	CHECK_INT(squeue_row(S("12 CG Pr 1795212354"), &row), 0);
	CHECK(row.state->phase == PHASE_COMPLETING);
	/* A reason of one letter, or of none, is filled up with blanks. */
	CHECK_INT(squeue_row(S("12 R x  1795212354"), &row), 0);
	CHECK_INT(row.start, 1795212354);
	CHECK_INT(squeue_row(S("12 R    1795212354"), &row), 0);
	CHECK(row.start == 1795212354 && row.state->phase == PHASE_RUNNING);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(squeue_row(line_new(bad[i], strlen(bad[i]), &copy),
		    &row), -1);
		free(copy);
	}
}

/* --- scontrol show config --- */

static int
on_config(struct span line, void *arg)
{
	slurm_config_line(arg, line);
	return 0;
}

static void
test_config(void)
{
	static const unsigned numbers[VERSIONS] = { 2011, 2205, 2411 };
	struct slurm s;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		memset(&s, 0, sizeof(s));
		s.private_jobs = 1;
		recording_lines(versions[i], "config.txt", on_config, &s);
		CHECK_INT(s.version, numbers[i]);
		CHECK_STR(s.cluster, "alpha");
		CHECK_STR(s.slurm_user, "slurm");
		CHECK_INT(s.min_job_age, 300);
		CHECK_INT(s.accounting, 1);
		CHECK_INT(s.private_jobs, 0);
		CHECK_INT(s.limit_bucket, 0);
	}
}

static void
config_line(struct slurm *slurm, const char *line)
{
	slurm_config_line(slurm, (struct span){ line, strlen(line) });
}

static void
test_config_words(void)
{
	struct slurm s = { .min_job_age = 300 };

	config_line(&s, "SLURM_VERSION           = 27.11.0-0rc1");
	config_line(&s, "ClusterName             = alpha");
	config_line(&s, "MinJobAge               = 60 sec");
	config_line(&s, "AccountingStorageType   = accounting_storage/none");
	config_line(&s, "SlurmctldParameters     = (null)");
	CHECK_INT(s.version, 2711);
	CHECK_STR(s.cluster, "alpha");
	CHECK_INT(s.min_job_age, 60);
	CHECK_INT(s.accounting, 0);
	CHECK_INT(s.limit_bucket, 0);
	config_line(&s, "SlurmctldParameters     = idle_on_node_suspend,"
	    "rl_enable");
	CHECK_INT(s.limit_bucket, 30);
	CHECK_INT(s.limit_rate, 2);
	CHECK_INT(s.limit_period, 1);
	config_line(&s, "SlurmctldParameters = rl_enable,rl_bucket_size=50,"
	    "rl_refill_rate=10,rl_refill_period=99999999999");
	CHECK_INT(s.limit_bucket, 50);
	CHECK_INT(s.limit_rate, 10);
	CHECK_INT(s.limit_period, 1);
	config_line(&s, "SlurmctldParameters = rl_enable,"
	    "rl_bucket_size=4000000000");
	CHECK_INT(s.limit_bucket, 1000000);
}

/* What is too long, is none, or stands where it should not. */
static void
test_config_hostile(void)
{
	static const char *const odd[] = { "", "=", " = ", "ClusterName",
		"ClusterName=", "ClusterName =  \t ", "= alpha",
		"xClusterName = b", "ClusterName x = b", "SlurmUser = " };
	char longer[300], *copy;
	struct slurm s;
	size_t i;

	memset(&s, 0, sizeof(s));
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		slurm_config_line(&s, line_new(odd[i], strlen(odd[i]), &copy));
		free(copy);
		CHECK_STR(s.cluster, "");
		CHECK_STR(s.slurm_user, "");
	}
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "ClusterName=", 12);
	slurm_config_line(&s, line_new(longer, sizeof(longer), &copy));
	free(copy);
	CHECK_INT(strlen(s.cluster), CLUSTER_MAX - 1);
	memcpy(longer, "SlurmUser= (", 12);
	slurm_config_line(&s, line_new(longer, sizeof(longer), &copy));
	free(copy);
	CHECK_STR(s.slurm_user, "");
	config_line(&s, "SLURM_VERSION = x");
	CHECK_INT(s.version, 0);
	config_line(&s, "SLURM_VERSION = 24.13");
	CHECK_INT(s.version, 0);
	config_line(&s, "SLURM_VERSION = 4294967295.4294967295.1");
	CHECK_INT(s.version, 0);
	config_line(&s, "MinJobAge = -5 sec");
	CHECK_INT(s.min_job_age, 0);
	config_line(&s, "MinJobAge = 99999999999 sec");
	CHECK_INT(s.min_job_age, 0);
	config_line(&s, "PrivateData = accounts,jobs,users");
	CHECK_INT(s.private_jobs, 1);
}

int
main(void)
{
	test_controllers();
	test_sdiag();
	test_admins();
	test_dbd();
	test_steps();
	test_squeue();
	test_config();
	test_config_words();
	test_config_hostile();
	return check_done();
}
