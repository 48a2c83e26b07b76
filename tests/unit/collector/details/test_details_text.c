/* SPDX-License-Identifier: MIT */
/*
 * Answers of `scontrol show job` in which the name of a job contains newlines
 * and lines that look like records.  A line that may be a part of a name gives
 * no record: the job waits for the next answer, and is then queried exactly.
 */
#include "config.h"

#include "collector/details/details_private.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define START 1700000100

static struct site site;
static struct settings settings;
static struct cluster cluster = { .site = &site, .set = &settings };
static struct gres_names gpus;

/* What follows a name, in a record of a user. */
static const char *
rest(const char *user, const char *state, int restarts, long start)
{
	static char texts[4][1024];
	static unsigned next;
	char *text = texts[next++ % 4];

	snprintf(text, sizeof(texts[0]),
	    " UserId=%s(1001) GroupId=staff(100) MCS_label=N/A"
	    " Priority=1 Nice=0 Account=phys"
	    " QOS=normal JobState=%s Reason=None Restarts=%d BatchFlag=1"
	    " ExitCode=0:0 TimeLimit=00:05:00 SubmitTime=1700000000"
	    " StartTime=%ld EndTime=1700000400 Partition=main NodeList=n1"
	    " NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1 TRES=cpu=2,node=1"
	    " CoreSpec=* JOB_GRES=(null)   Nodes=n1 CPU_IDs=0-1 Mem=100 GRES="
	    " MinCPUsNode=1 MinMemoryNode=100M DelayBoot=00:00:00"
	    " OverSubscribe=OK Licenses=(null) Network=(null) Command=/x",
	    user, state, restarts, start);
	return text;
}

/* The verdicts about jobs 77 and 78 after each of two such answers. */
static void
answers(struct details *d, const char *text, const uint64_t wanted[2],
    enum detail verdicts[2][2])
{
	struct lines lines = { 0 };
	int i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++)
			if (wanted[k] != 0)
				CHECK_INT(details_want_run(d, wanted[k], START),
				    0);
		details_text_begin(d);
		CHECK_INT(lines_feed(&lines, text, strlen(text),
			      details_text_line, d),
		    0);
		for (k = 0; k < 2; k++)
			verdicts[i][k] = details_verdict(d, wanted[k]);
		details_forget(d);
	}
	lines_clear(&lines);
}

static const struct answer {
	const char *what;
	uint64_t wanted[2];
	const char *lines[3]; /* before each, "JobId=" and, behind, a rest */
	const char *states[3];
	int restarts;		/* of the last line */
	long start;		/* of the last line */
	enum detail verdict[2]; /* of the first wanted job, in both answers */
} table[] = {
	{ "plain", { 77, 0 }, { "77 JobName=a" }, { "RUNNING" }, 0, START,
	    { DETAIL_GOOD, DETAIL_GOOD } },
	{ "beside a job that has ended", { 77, 0 },
	    { "77 JobName=a", "39 JobName=b" }, { "RUNNING", "COMPLETED" }, 0,
	    START - 7, { DETAIL_GOOD, DETAIL_GOOD } },
	{ "beside a job that waits", { 77, 0 },
	    { "77 JobName=a", "39 JobName=b" }, { "RUNNING", "PENDING" }, 0, 0,
	    { DETAIL_GOOD, DETAIL_GOOD } },
	{ "behind another one", { 78, 0 }, { "39 JobName=a", "78 JobName=b" },
	    { "RUNNING", "RUNNING" }, 0, START, { DETAIL_GOOD, DETAIL_GOOD } },
	/* The first line is forged, the second the rest of the record. */
	{ "the rest names a job that runs", { 77, 0 },
	    { "77 JobName=a", "39 JobName=b" }, { "RUNNING", "RUNNING" }, 0,
	    START, { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	{ "the rest has ended since", { 77, 0 },
	    { "77 JobName=a", "39 JobName=b" }, { "RUNNING", "COMPLETED" }, 0,
	    START, { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	{ "the rest is pending again", { 77, 0 },
	    { "77 JobName=a", "39 JobName=b" }, { "RUNNING", "PENDING" }, 1, 0,
	    { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	/* slurmctld has purged job 78, and job 77 has a name with its line. */
	{ "a line of a missing job", { 78, 0 },
	    { "77 JobName=x\nJobId=78 JobName=y" }, { "RUNNING" }, 0, START,
	    { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	{ "with another start", { 78, 0 },
	    { "77 JobName=x\nJobId=78 JobName=y" }, { "RUNNING" }, 0, START - 7,
	    { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	{ "behind an owner without a rest", { 78, 0 },
	    { "77 JobName=x UserId=a(1)\nJobId=78 JobName=y" }, { "RUNNING" },
	    0, START, { DETAIL_LATER, DETAIL_AMBIGUOUS } },
	{ "two missing jobs", { 79, 78 },
	    { "77 JobName=x", "78 JobName=y", "79 JobName=z" },
	    { NULL, "RUNNING", "RUNNING" }, 0, START - 7,
	    { DETAIL_LATER, DETAIL_AMBIGUOUS } },
};

static void
check_answer(const struct answer *a)
{
	struct details *d = details_new(&cluster, NULL, NULL);
	enum detail verdicts[2][2];
	char text[8192];
	size_t n = 0;
	int i, last;

	for (i = 0; i < 3 && a->lines[i] != NULL; i++) {
		last = i == 2 || a->lines[i + 1] == NULL;
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "JobId=%s%s\n", a->lines[i],
		    a->states[i] == NULL ?
			"" :
			rest("alice", a->states[i], last ? a->restarts : 0,
			    last ? a->start : START));
	}
	d->all = 1;
	answers(d, text, a->wanted, verdicts);
	if (verdicts[0][0] != a->verdict[0] || verdicts[1][0] != a->verdict[1])
		fprintf(stderr, "%s:\n", a->what);
	CHECK_INT(verdicts[0][0], a->verdict[0]);
	CHECK_INT(verdicts[1][0], a->verdict[1]);
	idmap_clear(&d->suspects);
	free(d);
}

/*
 * Reads an answer about the jobs 77 and 78 twice; the verdicts about 77 are
 * before and after.
 */
static void
check_text(const char *what, const char *text, enum detail first,
    enum detail second)
{
	const uint64_t wanted[2] = { 77, 78 };
	struct details *d = details_new(&cluster, NULL, NULL);
	enum detail verdicts[2][2];

	d->all = 1;
	answers(d, text, wanted, verdicts);
	if (verdicts[0][0] != first || verdicts[1][0] != second)
		fprintf(stderr, "%s:\n", what);
	CHECK_INT(verdicts[0][0], first);
	CHECK_INT(verdicts[1][0], second);
	idmap_clear(&d->suspects);
	free(d);
}

/*
 * A newline in the MCS label or in the QOS of job 77, behind the rest of a record:
 * the line is a whole record, with padding in the name and in the label.
 */
static void
test_cut_in_text(void)
{
	const char *forged = strstr(rest("alice", "REVOKED", 0, START),
	    " Priority=");
	const char *real = strstr(rest("alice", "RUNNING", 0, START),
	    " Priority=");
	const char *life = strstr(forged, " JobState=");
	const char *real_life = strstr(real, " JobState=");
	char text[8192];

	CHECK(strlen(forged) < 900);
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=%01000d UserId=alice(1001) GroupId=staff(100) "
	    "MCS_label=%0100d%s\nJobId=39 JobName=y UserId=b(1) GroupId=b(1) "
	    "MCS_label=N/A%s\n",
	    0, 0, forged, real);
	check_text("a record in the label", text, DETAIL_LATER,
	    DETAIL_AMBIGUOUS);
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=%01000d UserId=alice(1001) GroupId=staff(100) "
	    "MCS_label=%01024d Priority=1 Nice=0 Account=phys QOS=%0100d%s\n"
	    "JobId=39 JobName=y UserId=b(1) GroupId=b(1) MCS_label=N/A "
	    "Priority=1 Nice=0 Account=a QOS=a%s\n",
	    0, 0, 0, life, real_life);
	check_text("a record in the QOS", text, DETAIL_LATER, DETAIL_AMBIGUOUS);
	/* Keys in the texts do not move their ends. */
	snprintf(text, sizeof(text),
	    "JobId=77 JobName= MCS_label=%01000d QOS= UserId=alice(1001) "
	    "GroupId=staff(100) MCS_label=%0100d%s QOS=\nx%s\n",
	    0, 0, forged, real);
	check_text("keys in the texts", text, DETAIL_AMBIGUOUS,
	    DETAIL_AMBIGUOUS);
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%.*s Features=f DelayBoot=0 ClusterFeatures=x "
	    "OverSubscribe=NO Licenses=%0900d\nx OverSubscribe=OK\n",
	    (int)(strstr(real, " DelayBoot=") - real +
		strlen(" UserId=alice(1001) GroupId=staff(100) MCS_label=N/A")),
	    rest("alice", "RUNNING", 0, START), 0);
	check_text("a place in the features", text, DETAIL_AMBIGUOUS,
	    DETAIL_AMBIGUOUS);
	/* The name and the label have newlines: the state is on the third line. */
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%s Command=/x\n%0200d UserId=b(1) GroupId=b(1) "
	    "MCS_label=%01000d\nx%s\n",
	    rest("alice", "RUNNING", 0, START), 0, 0, real);
	check_text("a record in front of two texts", text, DETAIL_AMBIGUOUS,
	    DETAIL_AMBIGUOUS);
}

/*
 * The rest of the record of job 77 is a record of job 78, which follows: both
 * lines of job 78 can be the true one, and so the line before them is no record.
 */
static void
test_rest_named(void)
{
	const char *real = rest("alice", "RUNNING", 0, START);
	const char *others = rest("bob", "COMPLETED", 0, START - 7);
	char text[16384];

	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%s\nJobId=78 JobName=b%s\nJobId=40 JobName=c%s "
	    "WorkDir=%04000d\nJobId=41 JobName=d%s\nJobId=78 JobName=e%s\n",
	    rest("mallory", "RUNNING", 0, START), real, others, 0, others,
	    real);
	check_text("the rest names a later job", text, DETAIL_AMBIGUOUS,
	    DETAIL_AMBIGUOUS);
	/* The same with another start: 78 is not in its place either. */
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%s\nJobId=78 JobName=b%s\n",
	    rest("mallory", "RUNNING", 0, START),
	    rest("alice", "RUNNING", 0, START - 7));
	check_text("the rest names a missing job", text, DETAIL_LATER,
	    DETAIL_AMBIGUOUS);
}

/*
 * The script of job 77 is in SubmitLine=, with its newlines (26.05).  The comment of an
 * admin is behind it, on another line, with the word for jobs that are not reported.
 */
static void
test_opt_out_behind(void)
{
	char text[4096];

	settings.how.opt_out_word = "nosubmit";
	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%s SubmitLine=sbatch --wrap cd /%01100d\n"
	    "sleep 100 WorkDir=/tmp AdminComment=nosubmit\n",
	    rest("alice", "RUNNING", 0, START), 0);
	check_text("the word is behind a newline", text, DETAIL_AMBIGUOUS,
	    DETAIL_AMBIGUOUS);
	*strstr(text, "nosubmit") = 'N';
	check_text("another comment is", text, DETAIL_GOOD, DETAIL_GOOD);
	settings.how.opt_out_word = NULL;
}

/* Ordinary jobs of 26.05 whose first line has few bytes behind the QOS, or a list. */
static void
test_submit_lines(void)
{
	static const unsigned versions[] = { 2411, 2605 };
	char text[4096];
	size_t i;

	snprintf(text, sizeof(text),
	    "JobId=77 JobName=a%s SubmitLine=sbatch -w n[1-4] --wrap #!/bin/sh\n"
	    "\nsleep 100 WorkDir=/tmp\n",
	    rest("alice", "RUNNING", 0, START));
	CHECK(strlen(text) < 1024);
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		cluster.slurm.version = versions[i];
		check_text("a script in SubmitLine=", text,
		    i == 0 ? DETAIL_AMBIGUOUS : DETAIL_GOOD,
		    i == 0 ? DETAIL_AMBIGUOUS : DETAIL_GOOD);
	}
}

#define STORM 1500 /* jobs that run, each before a job that is pending again */

/* Reads an answer about the jobs of the storm: how many have this verdict. */
static unsigned
storm_read(struct details *d, const char *text, enum detail verdict)
{
	struct lines lines = { 0 };
	unsigned i, n = 0;

	for (i = 0; i < STORM; i++)
		CHECK_INT(details_want_run(d, 1000 + 2 * i, START), 0);
	details_text_begin(d);
	CHECK_INT(lines_feed(&lines, text, strlen(text), details_text_line, d),
	    0);
	for (i = 0; i < STORM; i++)
		n += details_verdict(d, 1000 + 2 * i) == verdict;
	details_forget(d);
	lines_clear(&lines);
	return n;
}

/*
 * Many nodes have failed.  Slurm has requeued their jobs, and half of them run
 * again.  Each job that runs waits for one answer only.
 */
static void
test_storm(void)
{
	struct details *d = details_new(&cluster, NULL, NULL);
	char *text = malloc(STORM * 2048);
	size_t n = 0;
	unsigned i;

	for (i = 0; i < STORM; i++)
		n += (size_t)snprintf(text + n, STORM * 2048 - n,
		    "JobId=%u JobName=a%s\nJobId=%u JobName=b%s\n",
		    1000 + 2 * i, rest("alice", "RUNNING", 1, START),
		    1001 + 2 * i, rest("alice", "PENDING", 1, 0));
	d->all = 1;
	CHECK_INT(storm_read(d, text, DETAIL_LATER), STORM);
	CHECK_INT(storm_read(d, text, DETAIL_AMBIGUOUS), STORM);
	idmap_clear(&d->suspects);
	free(d);
	free(text);
}

/* Reads the answer about the wanted job of this place alone. */
static void
single_read(struct details *d, size_t at, const char *text)
{
	struct lines lines = { 0 };

	d->at = at;
	details_text_begin(d);
	CHECK_INT(lines_feed(&lines, text, strlen(text), details_text_line, d),
	    0);
	CHECK_INT(lines_end(&lines, details_text_line, d), 0);
	lines_clear(&lines);
}

/* The result of this place has exactly this line. */
static int
single_has(struct details *d, size_t at, const char *text)
{
	const struct detail_result *r = &d->results[at];

	return r->line != NULL && r->len == strlen(text) &&
	    memcmp(details_line(d, r).p, text, r->len) == 0;
}

/*
 * The jobs 77 and 78 are queried singly, as after two hook messages.  The name
 * of job 77 contains the rest of a record and the beginning of one of job 78.
 */
static void
test_single_forged(void)
{
	struct details *d = details_new(&cluster, NULL, NULL);
	char forged[4096], real[2048];

	snprintf(forged, sizeof(forged),
	    "JobId=77 JobName=a%s\nJobId=78 JobName=b%s",
	    rest("mallory", "RUNNING", 0, START),
	    rest("mallory", "RUNNING", 0, START + 7));
	snprintf(real, sizeof(real), "JobId=78 JobName=c%s",
	    rest("alice", "RUNNING", 0, START));

	/* slurmctld does not know job 78. */
	CHECK_INT(details_want(d, 77), 0);
	CHECK_INT(details_want(d, 78), 0);
	single_read(d, 0, forged);
	CHECK_INT(details_verdict(d, 78), DETAIL_UNSEEN);
	CHECK_INT(details_verdict(d, 77), DETAIL_LATER);
	details_forget(d);

	/* The answer about job 78 comes first. */
	CHECK_INT(details_want(d, 78), 0);
	CHECK_INT(details_want(d, 77), 0);
	single_read(d, 0, real);
	single_read(d, 1, forged);
	CHECK_INT(details_verdict(d, 78), DETAIL_GOOD);
	CHECK(single_has(d, 0, real));
	CHECK_INT(details_verdict(d, 77), DETAIL_AMBIGUOUS);
	details_forget(d);

	/* A second line of job 78 in the answer about job 77. */
	snprintf(forged, sizeof(forged),
	    "JobId=77 JobName=a\nJobId=78 JobName=b\nJobId=78 JobName=b%s",
	    rest("mallory", "RUNNING", 0, START));
	CHECK_INT(details_want(d, 78), 0);
	CHECK_INT(details_want(d, 77), 0);
	single_read(d, 0, real);
	single_read(d, 1, forged);
	CHECK_INT(details_verdict(d, 78), DETAIL_GOOD);
	CHECK(single_has(d, 0, real));
	CHECK_INT(details_verdict(d, 77), DETAIL_AMBIGUOUS);
	details_forget(d);
	idmap_clear(&d->suspects);
	free(d);
}

/* Lines of tasks and components in a recording. */
struct group {
	char *lines[8]; /* owned */
	size_t n;
	char text[16384]; /* all of them */
};

static int
on_group_line(struct span line, void *arg)
{
	static const char *const keys[] = { " ArrayJobId=", " HetJobId=" };
	const char *name = token_find(line, " JobName=");
	struct group *g = arg;
	struct span head;
	size_t used = strlen(g->text);

	if (name == NULL)
		return 0;
	head = (struct span) { line.p, (size_t)(name - line.p) };
	if (token_find(head, keys[0]) == NULL &&
	    token_find(head, keys[1]) == NULL)
		return 0;
	CHECK(g->n < sizeof(g->lines) / sizeof(g->lines[0]));
	g->lines[g->n++] = strndup(line.p, line.n);
	snprintf(g->text + used, sizeof(g->text) - used, "%.*s\n", (int)line.n,
	    line.p);
	return 0;
}

/* Queries the job of this line; squeue has shown its run before. */
static void
group_want(struct details *d, const char *text)
{
	struct span line = { text, strlen(text) };
	struct job_snapshot s;

	snapshot_init(&s);
	CHECK_INT(scontrol_record(line, NULL, &settings.how, &s), RECORD_GOOD);
	CHECK(open_put(&cluster.open, s.job.key.job, s.job.key.start) != NULL);
	CHECK_INT(details_want(d, s.job.key.job), 0);
	snapshot_clear(&s);
}

/*
 * The answer about the id of an array, or about the first component of a
 * heterogeneous job, has the records of all of them.  Each job gets its record
 * from its own answer only.
 */
static void
check_group(const char *version)
{
	struct details *d = details_new(&cluster, NULL, NULL);
	struct group g = { .n = 0 };
	size_t i, k;

	recording_lines(version, "scontrol-job-d-o.txt", on_group_line, &g);
	CHECK(g.n >= 3);
	for (i = 0; i < g.n; i++)
		group_want(d, g.lines[i]);
	for (i = 0; i < g.n; i++) {
		single_read(d, i, g.text);
		for (k = 0; k < g.n; k++)
			CHECK_INT(single_has(d, k, g.lines[k]), k <= i);
	}
	for (i = 0; i < g.n; i++) {
		CHECK_INT(d->results[i].verdict, DETAIL_GOOD);
		free(g.lines[i]);
	}
	details_forget(d);
	idmap_clear(&d->suspects);
	free(d);
}

static void
test_single_groups(void)
{
	static const char *const versions[] = { "20.11", "22.05", "24.11",
		"26.05" };
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		check_group(versions[i]);
}

/* 0 = not known */
static const unsigned slurm_versions[] = { 0, 2411, 2605 };

int
main(void)
{
	size_t i, v;

	CHECK_INT(gres_names_set(&gpus, "[\"gpu\"]"), 0);
	settings.how = (struct read_options) { .gpus = &gpus,
		.device = recording_device };
	cluster.slurm.accounting = 1;
	for (v = 0; v < sizeof(slurm_versions) / sizeof(slurm_versions[0]);
	     v++) {
		cluster.slurm.version = slurm_versions[v];
		for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
			check_answer(&table[i]);
		test_cut_in_text();
		test_rest_named();
		test_opt_out_behind();
	}
	test_submit_lines();
	cluster.slurm.version = 0;
	test_storm();
	test_single_forged();
	test_single_groups();
	return check_done();
}
