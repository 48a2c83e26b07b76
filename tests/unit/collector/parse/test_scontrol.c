/* SPDX-License-Identifier: MIT */
/* Records of `scontrol show job`: recorded ones, and ones that a user forged. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define S(text) ((struct span) { text, strlen(text) })

static struct gres_names names;
static char *file; /* owned */
static size_t file_len;

static int
device(const char *host, uint32_t index, char address[ACCEL_MAX], void *arg)
{
	(void)arg;
	return snprintf(address, ACCEL_MAX, "%s#%u", host, index) < ACCEL_MAX ?
	    0 :
	    -1;
}

static struct read_options how = { .gpus = &names,
	.opt_out_word = "keep_away",
	.device = device };

/* name is VERSION/FILE. */
static void
load(const char *name)
{
	free(file);
	file = recording_read(".", name, &file_len);
	CHECK(file_len > 0);
}

/* The values of a snapshot in one line. */
static const char *
show(const struct job_snapshot *s)
{
	static char buf[8192];
	const struct job *j = &s->job;
	size_t len;
	uint32_t i, k;

	snprintf(buf, sizeof(buf),
	    "%llu %s %s/%s/%s start=%lld submit=%lld "
	    "end=%lld wall=%lld n=%u c=%u a=%u mem=%llu shared=%s%s f=%u "
	    "b=%d r=%u",
	    (unsigned long long)j->key.job, s->state->word, j->user,
	    j->account != NULL ? j->account : "-", j->partition,
	    (long long)j->key.start, (long long)j->submit, (long long)j->end,
	    (long long)j->walltime, j->nodes, j->cpus, j->accels,
	    (unsigned long long)j->memory, job_shared_name(j->shared),
	    s->whole_is_none ? "?" : "", j->flags, s->batch, j->restarts);
	for (i = 0; i < j->n_hosts; i++) {
		len = strlen(buf);
		len += (size_t)snprintf(buf + len, sizeof(buf) - len,
		    " %s:", j->hosts[i].name);
		for (k = 0; k < j->hosts[i].n_cpus; k++)
			len += (size_t)snprintf(buf + len, sizeof(buf) - len,
			    "%u-%u,", j->hosts[i].cpus[k].first,
			    j->hosts[i].cpus[k].last);
		for (k = 0; k < j->hosts[i].n_accels; k++)
			len += (size_t)snprintf(buf + len, sizeof(buf) - len,
			    "+%s", j->hosts[i].accels[k]);
	}
	return buf;
}

struct search {
	uint64_t id;
	const char *want;
	const char *name;
	unsigned found;
	enum record_verdict verdict;
};

static int
on_line(struct span line, void *arg)
{
	struct search *q = arg;
	struct job_snapshot s;

	if (scontrol_id(line) != q->id)
		return 0;
	q->found++;
	snapshot_init(&s);
	q->verdict = scontrol_record(line, (struct span) { NULL, 0 }, &how, &s);
	if (q->verdict == RECORD_GOOD) {
		CHECK_STR(show(&s), q->want);
		if (q->name != NULL)
			CHECK_STR(s.job.name, q->name);
	}
	snapshot_clear(&s);
	return 0;
}

/* Feeds pieces of step bytes, so that lines cross their borders. */
static void
search(struct search *q, size_t step)
{
	struct lines lines = { 0 };
	size_t at, n;

	q->found = 0;
	q->verdict = RECORD_NONE;
	for (at = 0; at < file_len; at += n) {
		n = file_len - at < step ? file_len - at : step;
		CHECK_INT(lines_feed(&lines, file + at, n, on_line, q), 0);
	}
	CHECK_INT(lines_end(&lines, on_line, q), 0);
	CHECK_INT(lines.skipped, 0);
	lines_clear(&lines);
}

static const struct {
	const char *file;
	uint64_t id;
	enum record_verdict verdict;
	const char *want;
	const char *name;
} records[] = {
	{ "22.05/scontrol-job-d-o.txt", 1, RECORD_GOOD,
	    "1 RUNNING "
	    "labalice/proj1/main start=1795212354 submit=1795212354 end=0 "
	    "wall=300 n=1 c=2 a=1 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "node1:8-9,+node1#0",
	    "sbatch" },
	{ "22.05/scontrol-job-d-o.txt", 2, RECORD_GOOD,
	    "2 CANCELLED "
	    "labalice/proj1/main start=1795212354 submit=1795212354 "
	    "end=1795212356 wall=300 n=1 c=2 a=1 mem=100 shared=multi_user? "
	    "f=3 b=1 r=0 node1:10-11,",
	    "sbatch" },
	{ "22.05/scontrol-job-d-o.txt", 5, RECORD_GOOD,
	    "5 RUNNING "
	    "labalice/proj1/main start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=2 a=2 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "node1:10-11,+node1#1+node1#3",
	    "gpu_noncontig" },
	{ "22.05/scontrol-job-d-o.txt", 8, RECORD_GOOD,
	    "8 RUNNING "
	    "labbob/proj2/mixed start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=2 c=2 a=2 mem=200 shared=multi_user? f=23 b=1 r=0 "
	    "node5:8-8,+node5#0 node6:6-6,+node6#0",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 9, RECORD_GOOD,
	    "9 RUNNING "
	    "labalice/proj1/mixed start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=1 a=2 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "node5:9-9,+node5#1+node5#2",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 12, RECORD_GOOD,
	    "12 RUNNING "
	    "labalice/proj1/main start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=4 a=0 mem=200 shared=multi_user? f=23 b=1 r=0 "
	    "node3:4-5,8-9,",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 15, RECORD_GOOD,
	    "15 RUNNING "
	    "labalice/proj1/main start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=2 c=6 a=0 mem=500 shared=multi_user? f=23 b=1 r=0 "
	    "node3:10-13, node4:0-1,",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 20, RECORD_GOOD,
	    "20 RUNNING "
	    "labalice/proj1/shared start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=2 a=0 mem=100 shared=multi_user f=23 b=1 r=0 "
	    "node7:0-1,",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 22, RECORD_GOOD,
	    "22 RUNNING "
	    "labbob/proj2/main start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=2 a=0 mem=100 shared=single_user f=23 b=1 r=0 "
	    "node2:0-1,",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 17, RECORD_GOOD,
	    "17 PENDING "
	    "labalice/proj1/big start=0 submit=1795212358 end=0 wall=300 "
	    "n=0 c=0 a=0 mem=0 shared=multi_user f=0 b=1 r=0",
	    "arr" },
	{ "22.05/scontrol-job-d-o.txt", 33, RECORD_GOOD,
	    "33 RUNNING "
	    "labalice/proj1/big start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "big1:5-5,",
	    "name with  spaces" },
	{ "22.05/scontrol-job-d-o.txt", 35, RECORD_GOOD,
	    "35 RUNNING "
	    "labalice/proj1/big start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "big1:7-7,",
	    "j\xc3\xb6"
	    "b_\xe5\x90\x8d\xe5\x89\x8d_\xf0\x9f\x9a\x80" },
	/* The first line of a record with a newline in the name. */
	{ "22.05/scontrol-job-d-o.txt", 36, RECORD_BAD, NULL, NULL },
	{ "22.05/scontrol-job-d-o.txt", 39, RECORD_GOOD,
	    "39 RUNNING "
	    "labalice/proj1/big start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "big1:11-11,",
	    "latin1-\xef\xbf\xbd-bad" },
	{ "22.05/scontrol-job-d-o.txt", 40, RECORD_GOOD,
	    "40 RUNNING "
	    "labalice/proj1/big start=1795212359 submit=1795212358 end=0 "
	    "wall=300 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "big1:12-12,",
	    "esc\\x1b[31mred\\x01" },
	/* "x JobState=FAILED UserId=root(0)": needs the exact name. */
	{ "22.05/scontrol-job-d-o.txt", 42, RECORD_AMBIGUOUS, NULL, NULL },
	{ "22.05/scontrol-job-d-o.txt", 26, RECORD_GOOD,
	    "26 RUNNING "
	    "labalice/proj1/mixed start=1795212359 submit=1795212358 end=0 "
	    "wall=0 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "node5:6-6,",
	    NULL },
	{ "22.05/scontrol-job-d-o.txt", 6, RECORD_GOOD,
	    "6 FAILED "
	    "labalice/proj1/big start=1795212358 submit=1795212358 "
	    "end=1795212358 wall=300 n=1 c=2 a=2 mem=200 shared=multi_user? "
	    "f=1 b=1 r=0",
	    NULL },
	{ "22.05/scontrol-job-d-o-later.txt", 58, RECORD_GOOD,
	    "58 RUNNING "
	    "labalice/proj1/mixed start=1795212490 submit=1795212365 end=0 "
	    "wall=300 n=1 c=1 a=0 mem=100 shared=multi_user? f=23 b=1 r=1 "
	    "node6:0-0,",
	    NULL },
	{ "22.05/scontrol-job-d-o-later.txt", 83, RECORD_GOOD,
	    "83 RUNNING "
	    "labalice/proj1/main start=1795212548 submit=1795212547 end=0 "
	    "wall=300 n=2 c=4 a=3 mem=200 shared=multi_user? f=23 b=1 r=0 "
	    "node1:8-9,+node1#0+node1#1 node2:10-11,+node2#3",
	    NULL },
	{ "22.05/scontrol-job-d-o-later.txt", 84, RECORD_GOOD,
	    "84 RUNNING "
	    "labalice/proj1/mixed start=1795212548 submit=1795212547 end=0 "
	    "wall=300 n=1 c=1 a=4 mem=100 shared=multi_user? f=23 b=1 r=0 "
	    "node5:8-8,+node5#0+node5#1+node5#2+node5#3",
	    NULL },
	{ "22.05/scontrol-configuring.txt", 129, RECORD_GOOD,
	    "129 CONFIGURING "
	    "labalice/proj1/main start=1795213427 submit=1795213427 end=0 "
	    "wall=300 n=2 c=4 a=2 mem=300 shared=multi_user? f=7 b=1 r=0 "
	    "node1:0-1,+node1#0 node2:0-1,+node2#0",
	    NULL },
};

static void
test_records(void)
{
	struct search q;
	const char *loaded = "";
	size_t i;

	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		if (strcmp(loaded, records[i].file) != 0)
			load(records[i].file);
		loaded = records[i].file;
		q.id = records[i].id;
		q.want = records[i].want;
		q.name = records[i].name;
		search(&q, 1 + i * 37);
		CHECK_INT(q.verdict, records[i].verdict);
		CHECK_INT(q.found, 1);
	}
}

/* Tokens that a user forged in the command. */
static void
test_forged(void)
{
	static const char good[] =
	    "JobId=7 JobName=x UserId=a(1) GroupId=a(1) "
	    "MCS_label=N/A Account=p QOS=n JobState=RUNNING Reason=None "
	    "Restarts=0 BatchFlag=1 ExitCode=0:0 TimeLimit=00:05:00 "
	    "SubmitTime=100 StartTime=200 EndTime=500 Partition=main "
	    "NodeList=n1 NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=1 "
	    "TRES=cpu=2,node=1 CoreSpec=* JOB_GRES=(null)   Nodes=n1 "
	    "CPU_IDs=0-1 Mem=0 GRES= MinCPUsNode=1 OverSubscribe=OK "
	    "Network=(null) Command=%s\n";
	char text[8192];
	struct job_snapshot s;
	enum record_verdict v;

	/* Tokens behind Command= do not count. */
	snprintf(text, sizeof(text), good,
	    "/x Nodes=n9 CPU_IDs=0-999 Mem=0 "
	    "GRES=gpu:1(IDX:7) MinCPUsNode=1 OverSubscribe=NO keep_away");
	snapshot_init(&s);
	v = scontrol_record(S(text), (struct span) { NULL, 0 }, &how, &s);
	CHECK_INT(v, RECORD_GOOD);
	CHECK_INT(s.job.n_hosts, 1);
	CHECK_STR(s.job.hosts[0].name, "n1");
	CHECK_INT(s.job.shared, SHARED_MULTI_USER);
	CHECK_INT(s.opt_out_seen, 1);
	CHECK_INT(s.job.flags & JOB_OPTED_OUT, 0);
	snapshot_clear(&s);

	/* A second owner makes the record ambiguous. */
	snprintf(text, sizeof(text), good,
	    "/x UserId=root(0) GroupId=root(0) Account=evil");
	snapshot_init(&s);
	v = scontrol_record(S(text), (struct span) { NULL, 0 }, &how, &s);
	CHECK_INT(v, RECORD_AMBIGUOUS);
	snapshot_clear(&s);
	/* The exact name shows which owner is true. */
	snapshot_init(&s);
	v = scontrol_record(S(text), S("x"), &how, &s);
	CHECK_INT(v, RECORD_GOOD);
	CHECK_STR(s.job.user, "a");
	snapshot_clear(&s);
	snapshot_init(&s);
	v = scontrol_record(S(text), S("y"), &how, &s);
	CHECK_INT(v, RECORD_AMBIGUOUS);
	snapshot_clear(&s);
}

static void
test_forged_name(void)
{
	static const char name[] =
	    "x UserId=root(0) GroupId=root(0) "
	    "JobState=COMPLETED Nodes=n9\nJobId=8 JobName=y";
	char text[4096];
	struct job_snapshot s;

	snprintf(text, sizeof(text),
	    "JobId=7 ArrayJobId=5 ArrayTaskId=2 "
	    "JobName=%s SLUID=s25 UserId=a b(1) GroupId=a(1) MCS_label=N/A "
	    "Account=p q QOS=n JobState=COMPLETED Reason=None Restarts=3 "
	    "BatchFlag=0 ExitCode=3:0 TimeLimit=UNLIMITED SubmitTime=100 "
	    "StartTime=200 EndTime=500 Partition=main NodeList=n1 NumNodes=1 "
	    "NumCPUs=2 AllocTRES=cpu=2,node=1,gres/gpu=1 CoreSpec=* "
	    "Nodes=n1 CPU_IDs=0-1 Mem=0 GRES= MinCPUsNode=1 OverSubscribe=NO "
	    "Exclusive=USER Licenses=(null) Command=x",
	    name);
	snapshot_init(&s);
	CHECK_INT(scontrol_record(S(text), S(name), &how, &s), RECORD_GOOD);
	CHECK_STR(s.job.user, "a b");
	CHECK_STR(s.job.account, "p q");
	CHECK_STR(s.job.name, name);
	CHECK_INT(s.job.array_job, 5);
	CHECK_INT(s.job.array_task, 2);
	CHECK_INT(s.job.restarts, 3);
	CHECK_INT(s.job.exit_code, 768);
	CHECK_INT(s.job.end, 500);
	CHECK_INT(s.job.shared, SHARED_SINGLE_USER);
	/* Slurm prints no indices of an ended job, but the number of GPUs. */
	CHECK_INT(s.job.accels, 1);
	CHECK_INT(s.job.flags & JOB_HAS_ACCELS, 0);
	snapshot_clear(&s);
}

/* Reads a record with these parts. */
static void
record_of(struct job_snapshot *s, const char *owner, const char *flag,
    const char *cpus)
{
	char text[2048];

	snprintf(text, sizeof(text),
	    "JobId=7 JobName=x UserId=%s GroupId=a(1) MCS_label=N/A Account=p "
	    "QOS=n JobState=RUNNING Reason=None Restarts=1%s ExitCode=0:0 "
	    "TimeLimit=00:05:00 SubmitTime=100 StartTime=200 EndTime=500 "
	    "Partition=main NodeList=n1 NumNodes=1 NumCPUs=2 "
	    "TRES=cpu=2,node=1,gres/gpu=1 CoreSpec=* JOB_GRES=gpu:1   Nodes=n1 "
	    "CPU_IDs=%s Mem=0 GRES=gpu:1(IDX:7) MinCPUsNode=1 OverSubscribe=OK "
	    "Network=(null) Command=x\n",
	    owner, flag, cpus);
	snapshot_init(s);
	CHECK_INT(scontrol_record(S(text), S("x"), &how, s), RECORD_GOOD);
}

/* slurmctld increments BatchFlag when a node has crashed. */
static void
test_batch(void)
{
	static const struct {
		const char *flag;
		int batch;
	} flags[] = { { " BatchFlag=0", 0 }, { " BatchFlag=1", 1 },
		{ " BatchFlag=2", 1 }, { " BatchFlag=x", 0 }, { "", 0 } };
	struct job_snapshot s;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		record_of(&s, "a(1)", flags[i].flag, "0-1");
		CHECK_INT(s.batch, flags[i].batch);
		snapshot_clear(&s);
	}
}

/* Slurm up to 22.05 prints nobody for an id without a name. */
static void
test_owner(void)
{
	static const char *const owners[][2] = { { "a(1)", "a" },
		{ "(1)", "1" }, { "(null)(1)", "1" },
		{ "nobody(3999999)", "3999999" }, { "nobody(65534)", "nobody" },
		{ "nobody(99)", "nobody" } };
	struct job_snapshot s;
	size_t i;

	for (i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		record_of(&s, owners[i][0], "", "0-1");
		CHECK_STR(s.job.user, owners[i][1]);
		snapshot_clear(&s);
	}
}

/* scontrol cuts the list of a node after 127 bytes. */
static void
test_cut(void)
{
	static const struct {
		const char *first; /* before 31 numbers of 3 digits */
		size_t len;
		int known;
	} lists[] = { { "10,", 126, 1 }, { "0,2,", 127, 0 },
		{ "0,10,", 128, 1 } };
	char cpus[256];
	struct job_snapshot s;
	size_t i, len;
	unsigned cpu;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		len = (size_t)snprintf(cpus, sizeof(cpus), "%s",
		    lists[i].first);
		for (cpu = 100; cpu < 162; cpu += 2)
			len += (size_t)snprintf(cpus + len, sizeof(cpus) - len,
			    "%s%u", cpu > 100 ? "," : "", cpu);
		CHECK_INT(len, lists[i].len);
		record_of(&s, "a(1)", "", cpus);
		CHECK_INT((s.job.flags & JOB_HAS_THREADS) != 0, lists[i].known);
		CHECK_INT(s.job.n_hosts, 1);
		CHECK_INT(s.job.hosts[0].n_cpus != 0, lists[i].known);
		CHECK_INT((s.job.flags & JOB_HAS_ACCELS) != 0, 1);
		snapshot_clear(&s);
	}
}

static void
test_sharing(void)
{
	static const struct {
		const char *text;
		enum job_shared shared;
		int whole;
	} cases[] = {
		{ " OverSubscribe=OK", SHARED_MULTI_USER, 1 },
		{ " OverSubscribe=NO", SHARED_NONE, 0 },
		{ " OverSubscribe=USER", SHARED_SINGLE_USER, 0 },
		{ " OverSubscribe=MCS", SHARED_MULTI_USER, 0 },
		{ " OverSubscribe=TOPO", SHARED_NONE, 0 },
		{ " OverSubscribe=YES", SHARED_MULTI_USER, 0 },
		{ " OverSubscribe=FORCE:4", SHARED_MULTI_USER, 0 },
		{ " OverSubscribe=NO Exclusive=NO", SHARED_MULTI_USER, 1 },
		{ " OverSubscribe=NO Exclusive=NODE", SHARED_NONE, 0 },
		{ " OverSubscribe=NO Exclusive=USER", SHARED_SINGLE_USER, 0 },
		{ " OverSubscribe=YES Exclusive=NO", SHARED_MULTI_USER, 0 },
		{ " OverSubscribe=WHAT", SHARED_UNKNOWN, 0 },
		{ "", SHARED_UNKNOWN, 0 },
	};
	struct job_snapshot s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snapshot_init(&s);
		CHECK_INT(scontrol_resources(S(cases[i].text), &how, &s),
		    RECORD_GOOD);
		CHECK_INT(s.job.shared, cases[i].shared);
		CHECK_INT(s.whole_is_none, cases[i].whole);
		snapshot_clear(&s);
	}
}

/* Every record of the other versions is read completely. */
static int
on_version(struct span line, void *arg)
{
	unsigned *counts = arg;
	struct job_snapshot s;
	enum record_verdict v;

	if (scontrol_id(line) == 0)
		return 0;
	counts[0]++;
	snapshot_init(&s);
	v = scontrol_record(line, (struct span) { NULL, 0 }, &how, &s);
	if (v == RECORD_GOOD) {
		counts[1]++;
		if (s.state->phase == PHASE_RUNNING) {
			CHECK(s.job.flags & JOB_HAS_THREADS);
			CHECK(s.job.flags & JOB_HAS_ACCELS);
			CHECK(s.job.shared != SHARED_UNKNOWN);
			CHECK(s.job.user != NULL && s.job.account != NULL);
			CHECK(s.job.nodes > 0 && s.job.cpus > 0);
			CHECK(s.job.walltime > 0 && s.job.key.start > 0);
		}
	}
	snapshot_clear(&s);
	return 0;
}

static void
test_versions(void)
{
	static const char *const versions[] = { "20.11", "24.11", "26.05" };
	struct lines lines = { 0 };
	unsigned counts[2];
	char name[64];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/scontrol-job-d-o.txt",
		    versions[i]);
		load(name);
		memset(counts, 0, sizeof(counts));
		CHECK_INT(lines_feed(&lines, file, file_len, on_version,
			      counts),
		    0);
		CHECK_INT(lines_end(&lines, on_version, counts), 0);
		CHECK(counts[0] >= 15);
		CHECK_INT(counts[0], counts[1]);
	}
	lines_clear(&lines);
}

int
main(void)
{
	gres_names_set(&names, "[\"gpu\"]");
	test_records();
	test_forged();
	test_forged_name();
	test_batch();
	test_owner();
	test_cut();
	test_sharing();
	test_versions();
	free(file);
	return check_done();
}
