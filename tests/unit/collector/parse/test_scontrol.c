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
	q->verdict = scontrol_record(line, NULL, &how, &s);
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

/* The texts of a job with this name, the QOS n and no label. */
static const struct record_texts *
named(struct span name)
{
	static struct record_texts exact;

	exact = (struct record_texts) { name, S("(null)"), S("n") };
	return &exact;
}

/* Tokens that a user forged in the command. */
static void
test_forged(void)
{
	static const char good[] =
	    "JobId=7 JobName=x UserId=a(1) GroupId=a(1) "
	    "MCS_label=N/A Priority=1 Nice=0 Account=p QOS=n JobState=RUNNING Reason=None "
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
	v = scontrol_record(S(text), NULL, &how, &s);
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
	v = scontrol_record(S(text), NULL, &how, &s);
	CHECK_INT(v, RECORD_AMBIGUOUS);
	snapshot_clear(&s);
	/* The exact name shows which owner is true. */
	snapshot_init(&s);
	v = scontrol_record(S(text), named(S("x")), &how, &s);
	CHECK_INT(v, RECORD_GOOD);
	CHECK_STR(s.job.user, "a");
	snapshot_clear(&s);
	snapshot_init(&s);
	v = scontrol_record(S(text), named(S("y")), &how, &s);
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
	    "Priority=1 Nice=-5 Account=p q QOS=n JobState=COMPLETED Reason=None Restarts=3 "
	    "BatchFlag=0 ExitCode=3:0 TimeLimit=UNLIMITED SubmitTime=100 "
	    "StartTime=200 EndTime=500 Partition=main NodeList=n1 NumNodes=1 "
	    "NumCPUs=2 AllocTRES=cpu=2,node=1,gres/gpu=1 CoreSpec=* "
	    "Nodes=n1 CPU_IDs=0-1 Mem=0 GRES= MinCPUsNode=1 OverSubscribe=NO "
	    "Exclusive=USER Licenses=(null) Command=x",
	    name);
	snapshot_init(&s);
	CHECK_INT(scontrol_record(S(text), named(S(name)), &how, &s),
	    RECORD_GOOD);
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
	    "JobId=7 JobName=x UserId=%s GroupId=a(1) MCS_label=N/A Priority=1 "
	    "Nice=0 Account=p "
	    "QOS=n JobState=RUNNING Reason=None Restarts=1%s ExitCode=0:0 "
	    "TimeLimit=00:05:00 SubmitTime=100 StartTime=200 EndTime=500 "
	    "Partition=main NodeList=n1 NumNodes=1 NumCPUs=2 "
	    "TRES=cpu=2,node=1,gres/gpu=1 CoreSpec=* JOB_GRES=gpu:1   Nodes=n1 "
	    "CPU_IDs=%s Mem=0 GRES=gpu:1(IDX:7) MinCPUsNode=1 OverSubscribe=OK "
	    "Network=(null) Command=x\n",
	    owner, flag, cpus);
	snapshot_init(s);
	CHECK_INT(scontrol_record(S(text), named(S("x")), &how, s),
	    RECORD_GOOD);
}

/* The tokens between two texts of the user in a record. */
#define OWNER_TEXT   "JobId=7 JobName=x UserId=a(1) GroupId=a(1) MCS_label="
#define ACCOUNT_TEXT " Priority=9 Nice=0 Account=phys QOS="
#define LIFE_TEXT \
	" JobState=RUNNING Reason=None Restarts=1 BatchFlag=1 ExitCode=0:0 " \
	"TimeLimit=00:05:00 SubmitTime=100 StartTime=200 EndTime=500 " \
	"Partition=main NodeList=n1 NumNodes=1 NumCPUs=2 TRES=cpu=2,node=1 " \
	"CoreSpec=* JOB_GRES=(null)   Nodes=n1 CPU_IDs=0-1 Mem=0 GRES= " \
	"MinCPUsNode=1 MinMemoryNode=100M Features="
#define END_TEXT \
	" OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) " \
	"Command=/x"
/* A whole record from the label on, with other values. */
#define FORGED \
	"N/A Priority=1 Nice=0 Account=victim QOS=normal JobState=RUNNING " \
	"Reason=None SubmitTime=1 StartTime=2 EndTime=3 Partition=p " \
	"NodeList=n[1-500] NumNodes=500 NumCPUs=64000 CoreSpec=*   " \
	"Nodes=n[1-500] CPU_IDs=0-127 Mem=0 GRES= MinCPUsNode=1 " \
	"OverSubscribe=NO Licenses=x"
#define NO_FEATURES "(null) DelayBoot=00:00:00"

static const struct user_texts {
	const char *label;    /* as scontrol prints it */
	const char *label_is; /* as squeue prints it; NULL = the same */
	const char *qos;
	const char *features; /* and what follows, before OverSubscribe= */
	enum record_verdict verdict;
	enum job_shared exactly; /* how the job shares its nodes, exactly */
	const char *reservation;
} user_texts[] = {
	{ "N/A", "(null)", "normal", NO_FEATURES, RECORD_GOOD,
	    SHARED_MULTI_USER, NULL },
	{ "N/A", NULL, "normal", NO_FEATURES, RECORD_GOOD, SHARED_MULTI_USER,
	    NULL },
	{ "(null)", NULL, "normal", NO_FEATURES, RECORD_GOOD, SHARED_MULTI_USER,
	    NULL },
	{ "", NULL, "(null)", NO_FEATURES, RECORD_GOOD, SHARED_MULTI_USER,
	    NULL },
	{ "physics", NULL, "normal", "(null) DelayBoot=0 Reservation=r",
	    RECORD_GOOD, SHARED_MULTI_USER, "r" },
	/* Texts with keys are harmless while the end of each is certain. */
	{ "a JobState=REVOKED Licenses=x", NULL, "b Licenses=x", NO_FEATURES,
	    RECORD_GOOD, SHARED_MULTI_USER, NULL },
	{ "a Priority=1 Nice=0", NULL, "normal", NO_FEATURES, RECORD_GOOD,
	    SHARED_MULTI_USER, NULL },
	{ FORGED, NULL, "normal", NO_FEATURES, RECORD_AMBIGUOUS,
	    SHARED_MULTI_USER, NULL },
	{ FORGED "\nJobId=77 JobName=y UserId=bob(1) GroupId=bob(1)", NULL,
	    "normal", NO_FEATURES, RECORD_AMBIGUOUS, SHARED_MULTI_USER, NULL },
	{ "N/A Priority=1 Nice=0 Account=victim QOS=normal", NULL, "normal",
	    NO_FEATURES, RECORD_AMBIGUOUS, SHARED_MULTI_USER, NULL },
	{ "N/A", "(null)", "b JobState=REVOKED Reason=None", NO_FEATURES,
	    RECORD_AMBIGUOUS, SHARED_MULTI_USER, NULL },
	{ "N/A", "(null)", "b\nJobId=5 JobName=z", NO_FEATURES, RECORD_GOOD,
	    SHARED_MULTI_USER, NULL },
	/* Features: squeue is not queried for them. */
	{ "N/A", "(null)", "normal", "[f|g] DelayBoot=00:00:00 Reservation=r",
	    RECORD_GOOD, SHARED_UNKNOWN, "r" },
	{ "N/A", "(null)", "normal",
	    "[f] OverSubscribe=NO Contiguous=0 Licenses=x DelayBoot=0",
	    RECORD_AMBIGUOUS, SHARED_UNKNOWN, NULL },
	{ "N/A", "(null)", "normal",
	    "[f] DelayBoot=0 Reservation=q DelayBoot=0", RECORD_AMBIGUOUS,
	    SHARED_UNKNOWN, NULL },
	{ "N/A", "(null)", "normal", "[f] MinMemoryCPU=9G DelayBoot=0",
	    RECORD_GOOD, SHARED_UNKNOWN, NULL },
	{ "N/A", "(null)", "normal",
	    "(null) DelayBoot=0 ClusterFeatures=a Reservation=q", RECORD_GOOD,
	    SHARED_UNKNOWN, NULL },
	/* Tokens that the record does not have before. */
	{ "N/A", "(null)", "normal",
	    "(null) DelayBoot=0 ClusterFeatures=a AllocTRES=cpu=9 NumTasks=9",
	    RECORD_GOOD, SHARED_UNKNOWN, NULL },
	{ "N/A", "(null)", "normal",
	    "(null) DelayBoot=0 ClusterFeatures=a OverSubscribe=NO Command=c",
	    RECORD_AMBIGUOUS, SHARED_UNKNOWN, NULL },
	{ "N/A", "(null)", "normal",
	    "f DelayBoot=0 Prefer=[f*1] q OverSubscribe=NO Licenses=x",
	    RECORD_AMBIGUOUS, SHARED_UNKNOWN, NULL },
};

/* The values of Slurm's tokens, whatever the user has written. */
static void
check_true(const struct user_texts *t, const struct job_snapshot *s,
    int exactly)
{
	CHECK_STR(s->job.account, "phys");
	CHECK_INT(s->state->phase, PHASE_RUNNING);
	CHECK_INT(s->job.key.start, 200);
	CHECK_STR(s->job.partition, "main");
	CHECK_INT(s->job.n_hosts, 1);
	CHECK_INT(s->job.cpus, 2);
	CHECK_INT(s->job.memory, 100);
	CHECK_INT(s->job.shared, exactly ? t->exactly : SHARED_MULTI_USER);
	CHECK_STR(s->job.reservation,
	    exactly && t->exactly == SHARED_UNKNOWN ? NULL : t->reservation);
	/* A viewer must not take a text of the user for a token. */
	CHECK(strstr(s->job.slurm_info, " JobState=REVOKED") == NULL);
	CHECK(strstr(s->job.slurm_info, " Account=victim") == NULL);
	CHECK(
	    strstr(s->job.slurm_info, " JobState=RUNNING Reason=None") != NULL);
}

/* MCS label, QOS and features are texts of the user, too. */
static void
test_user_texts(void)
{
	const struct user_texts *t;
	struct record_texts exact;
	struct job_snapshot s;
	char text[8192];
	size_t i;
	int n;

	for (i = 0; i < sizeof(user_texts) / sizeof(user_texts[0]); i++) {
		t = &user_texts[i];
		n = snprintf(text, sizeof(text),
		    OWNER_TEXT "%s" ACCOUNT_TEXT "%s" LIFE_TEXT "%s" END_TEXT,
		    t->label, t->qos, t->features);
		snapshot_init(&s);
		CHECK_INT(scontrol_record(S(text), NULL, &how, &s), t->verdict);
		if (t->verdict == RECORD_GOOD)
			check_true(t, &s, 0);
		snapshot_clear(&s);
		/* The answer goes on with the record of another task. */
		snprintf(text + n, sizeof(text) - (size_t)n, "\n%s",
		    OWNER_TEXT "N/A Priority=1 Nice=0 Account=p");
		exact = (struct record_texts) { S("x"),
			S(t->label_is != NULL ? t->label_is : t->label),
			S(t->qos) };
		snapshot_init(&s);
		CHECK_INT(scontrol_record(S(text), &exact, &how, &s),
		    RECORD_GOOD);
		check_true(t, &s, 1);
		CHECK_INT(strlen(s.job.slurm_info), n);
		snapshot_clear(&s);
		exact.label = S("other");
		snapshot_init(&s);
		CHECK_INT(scontrol_record(S(text), &exact, &how, &s),
		    RECORD_AMBIGUOUS);
		snapshot_clear(&s);
	}
}

/* With TrackWCKey=yes Slurm prints WCKey=, in lower case, behind the QOS. */
static void
test_wckey(void)
{
	static const char text[] = OWNER_TEXT
	    "N/A" ACCOUNT_TEXT
	    "n WCKey=*a jobstate=x" LIFE_TEXT NO_FEATURES END_TEXT;
	struct job_snapshot s;
	int i;

	for (i = 0; i < 2; i++) {
		snapshot_init(&s);
		CHECK_INT(scontrol_record(S(text), i ? named(S("x")) : NULL,
			      &how, &s),
		    RECORD_GOOD);
		CHECK_STR(s.job.qos, "n");
		CHECK_INT(s.state->phase, PHASE_RUNNING);
		snapshot_clear(&s);
	}
}

static unsigned asked; /* addresses of devices */

static int
no_device(const char *host, uint32_t index, char address[ACCEL_MAX], void *arg)
{
	(void)host;
	(void)index;
	(void)arg;
	*address = '\0';
	asked++;
	return -1;
}

/* The work for one record has a limit, whatever the record contains. */
static void
test_work(void)
{
	static const char life[] = OWNER_TEXT
	    "N/A" ACCOUNT_TEXT
	    "n JobState=RUNNING Reason=None SubmitTime=1 StartTime=2 EndTime=3 "
	    "NodeList=n[1-99999] NumNodes=99999 TRES=gres/gpu=1 CoreSpec=*   ";
	static const struct {
		const char *groups;
		enum record_verdict verdict;
		unsigned asked; /* at most */
	} works[] = {
		{ "Nodes=n[1-99999] CPU_IDs=0-7 Mem=0 GRES=gpu:8(IDX:0-7)",
		    RECORD_GOOD, 99999 * 8 },
		{ "Nodes=n[1-99999] CPU_IDs=0-7 Mem=0 GRES=gpu:1(IDX:0-1023)",
		    RECORD_BAD, 8000000 },
		{ "Nodes=n[1-99999] CPU_IDs="
		  "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,"
		  "40,42,44,46,48,50,52,54,56,58,60,62,64,66,68,70,72,74,76,78"
		  " Mem=0 GRES=",
		    RECORD_GOOD, 0 },
	};
	struct read_options none = how;
	struct job_snapshot s;
	char text[4096];
	size_t i;

	none.device = no_device;
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		snprintf(text, sizeof(text), "%s%s MinCPUsNode=1" END_TEXT,
		    life, works[i].groups);
		asked = 0;
		snapshot_init(&s);
		CHECK_INT(scontrol_record(S(text), NULL, &none, &s),
		    works[i].verdict);
		CHECK(asked <= works[i].asked);
		snapshot_clear(&s);
	}
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
	v = scontrol_record(line, NULL, &how, &s);
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
	test_user_texts();
	test_wckey();
	test_work();
	test_batch();
	test_owner();
	test_cut();
	test_sharing();
	test_versions();
	free(file);
	return check_done();
}
