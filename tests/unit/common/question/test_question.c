/* SPDX-License-Identifier: MIT */
/*
 * Questions to Slurm: the arguments of each, and that the runner refuses what
 * no collector of this suite sends.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/question/question.h"
#include "tests/unit/check.h"

#define D "\x01\x02\xfe\xff\x01\x02\xfe\xff\x01\x02\xfe\xff"
#define SACCT \
	"/x/sacct --local -X -D -a -P -n --noconvert --delimiter=" D " -o " \
	"JobIDRaw,JobID,User,UID,Account,Partition,QOS,Reservation,State," \
	"ExitCode,Submit,Start,End,TimelimitRaw,AllocTRES,ReqMem,ReqCPUS," \
	"AdminComment,JobName,NodeList "
#define SQUEUE "/x/squeue --local -h -a "
#define LIVE   " -t R,S,CG,CF,ST,SO,SI,RS"

/* What a kind has, and the command line that follows from it. */
static const struct {
	int has_times, has_delimiter;
	unsigned ids;
	const char *line;
} kinds[QUESTION__COUNT] = {
	[QUESTION_CONFIG] = { 0, 0, 0, "/x/scontrol show config" },
	[QUESTION_PING] = { 0, 0, 0, "/x/scontrol ping" },
	[QUESTION_SHAPES] = { 0, 0, 0, "/x/scontrol --all show node -o" },
	[QUESTION_NODES] = { 0, 0, 0, "/x/scontrol --all show node -d -o" },
	[QUESTION_JOBS] = { 0, 0, 0,
	    "/x/scontrol --local --all show job -d -o" },
	[QUESTION_JOB] = { 0, 0, 1,
	    "/x/scontrol --local --all show job -d -o 10" },
	[QUESTION_SCRIPT] = { 0, 0, 1, "/x/scontrol write batch_script 10 -" },
	[QUESTION_LIST] = { 0, 0, 0, SQUEUE "-o %A %t %2r %S" LIVE },
	[QUESTION_LIST_JOBS] = { 0, 0, 2,
	    SQUEUE "-o %A %t %2r %S" LIVE " -j 10,4294967295" },
	[QUESTION_LIST_ALL] = { 0, 0, 0, SQUEUE "-t all -o %A %t %2r %S" },
	[QUESTION_NAME] = { 0, 1, 1,
	    SQUEUE "-t all -j 10 -O JobID:" D ",Name:" D ",admin_comment:" D
		   ",MCSLabel:" D ",QOS:" D },
	[QUESTION_BUSY_NODES] = { 0, 0, 0, SQUEUE "-t R,S,CF,ST -o %N" },
	[QUESTION_CLOCK] = { 0, 0, 0, "/x/sdiag" },
	[QUESTION_RANGE] = { 1, 1, 0,
	    SACCT "-S uts100 -E uts200 -s "
		  "CD,F,TO,CA,NF,PR,OOM,BF,DL,RQ,RS" },
	[QUESTION_RUNS] = { 0, 1, 2, SACCT "-j 10,4294967295" },
	[QUESTION_STEPS] = { 0, 0, 2,
	    "/x/sacct --local -D -a -P -n --delimiter=" STEP_DELIMITER " -o "
	    "JobIDRaw,Start,End,ExitCode -j 10,4294967295" },
	[QUESTION_ADMIN] = { 0, 0, 0,
	    "/x/sacctmgr -n -P show user name=op format=user,adminlevel" },
	[QUESTION_DBD_CONFIG] = { 0, 0, 0,
	    "/x/sacctmgr -n -P show configuration" },
	[QUESTION_UNMUNGE] = { 0, 0, 0,
	    "/x/unmunge -S /run/m.s -k "
	    "STATUS,ENCODE_TIME,DECODE_TIME,TTL,UID,LENGTH" },
};

#define CREDENTIAL "MUNGE:AwQ+/AA=:"

static struct question
question_of(int kind)
{
	struct question q = { .kind = (enum question_kind)kind };

	if (kinds[kind].has_times) {
		q.from = 100;
		q.to = 200;
	}
	if (kinds[kind].has_delimiter)
		snprintf(q.delimiter, sizeof(q.delimiter), "%s", D);
	if (kinds[kind].ids > 0)
		CHECK_INT(id_list_add(&q.ids, 10), 0);
	if (kinds[kind].ids > 1)
		CHECK_INT(id_list_add(&q.ids, UINT32_MAX), 0);
	if (kind == QUESTION_UNMUNGE)
		snprintf(q.credential, sizeof(q.credential), CREDENTIAL);
	return q;
}

/* 1 when the runner accepts it; *to is owned. */
static int
passes(const struct question *q, struct question *to)
{
	struct writer w;
	struct reader r;
	int good;

	wr_init(&w, QUESTION_BYTES_MAX);
	question_write(&w, q);
	CHECK_INT(wr_end(&w), 0);
	rd_init(&r, w.buf, w.len);
	question_read(&r, to);
	good = rd_end(&r) == 0;
	wr_clear(&w);
	return good;
}

static int
is_refused(const struct question *q)
{
	struct question to;
	int good = passes(q, &to);

	question_clear(&to);
	return !good;
}

static void
line_of(const struct question *q, const char *cluster, char *line, size_t size)
{
	char program[64];
	const struct question_site site = { program, cluster, "op",
		"/run/m.s" };
	struct question_args args;
	size_t i, len = 0;

	snprintf(program, sizeof(program), "/x/%s",
	    slurm_command_name(question_type(q->kind)->command));
	CHECK_INT(question_args(q, &site, &args), 0);
	/* The credential is no argument. */
	CHECK_STR(args.input, q->kind == QUESTION_UNMUNGE ? CREDENTIAL : "");
	line[0] = '\0';
	for (i = 0; args.argv[i] != NULL; i++)
		len += (size_t)snprintf(line + len, size - len, "%s%s",
		    i > 0 ? " " : "", args.argv[i]);
	question_args_clear(&args);
}

static void
test_kinds(void)
{
	struct question q, to;
	char line[1024];
	int kind;

	for (kind = 0; kind < QUESTION__COUNT; kind++) {
		q = question_of(kind);
		CHECK(passes(&q, &to));
		line_of(&to, NULL, line, sizeof(line));
		CHECK_STR(line, kinds[kind].line);
		CHECK(question_type(q.kind)->deadline_ms >= 10000);
		question_clear(&q);
		question_clear(&to);
	}
}

static void
test_cluster(void)
{
	struct question q = question_of(QUESTION_CLOCK);
	char line[256];

	line_of(&q, "beta", line, sizeof(line));
	CHECK_STR(line, "/x/sdiag -M beta");
	q.kind = QUESTION_DBD_CONFIG;
	line_of(&q, "beta", line, sizeof(line));
	CHECK_STR(line, "/x/sacctmgr -n -P show configuration");
	q = question_of(QUESTION_UNMUNGE);
	line_of(&q, "beta", line, sizeof(line));
	CHECK_STR(line, kinds[QUESTION_UNMUNGE].line);
}

/* A column that sacct lacks is replaced, so that rows keep their length. */
static void
test_lacking(void)
{
	struct question q = question_of(QUESTION_RUNS);
	char line[1024];

	q.lacking = 1u << SACCT_RESERVATION;
	CHECK(!is_refused(&q));
	line_of(&q, NULL, line, sizeof(line));
	CHECK(strstr(line, ",QOS,JobIDRaw,State,") != NULL);
	CHECK(strstr(line, "Reservation") == NULL);
	q.lacking = 1u << SACCT__COUNT;
	CHECK(is_refused(&q));
	question_clear(&q);
}

/* Each kind with a value that it does not have, or without one that it has. */
static void
test_values(void)
{
	struct question q;
	int kind;

	for (kind = 0; kind < QUESTION__COUNT; kind++) {
		q = question_of(kind);
		q.from = kinds[kind].has_times ? 201 : 1;
		CHECK(is_refused(&q));
		q.from = kinds[kind].has_times ? 100 : 0;
		snprintf(q.delimiter, sizeof(q.delimiter), "%s",
		    kinds[kind].has_delimiter ? "" : D);
		CHECK(is_refused(&q));
		snprintf(q.delimiter, sizeof(q.delimiter), "%s",
		    kinds[kind].has_delimiter ? D : "");
		CHECK(!is_refused(&q));
		if (kinds[kind].ids == 1)
			CHECK_INT(id_list_add(&q.ids, 11), 0);
		else if (kinds[kind].ids == 0)
			CHECK_INT(id_list_add(&q.ids, 10), 0);
		else
			id_list_clear(&q.ids);
		CHECK(is_refused(&q));
		question_clear(&q);
	}
}

static void
test_hostile(void)
{
	static const char *const delimiters[] = { "------------",
		"a,b:c;d-e%fg", "\x01\x02\xfe\xff", "  \n\n        ",
		"$(x)$(x)$(x)" };
	struct question q = question_of(QUESTION_RANGE);
	size_t i;

	for (i = 0; i < sizeof(delimiters) / sizeof(delimiters[0]); i++) {
		snprintf(q.delimiter, sizeof(q.delimiter), "%s", delimiters[i]);
		CHECK(is_refused(&q));
	}
	snprintf(q.delimiter, sizeof(q.delimiter), "%s", D);
	q.to = INT64_MAX;
	CHECK(is_refused(&q));
	q.from = INT64_MIN;
	q.to = 200;
	CHECK(is_refused(&q));
	q.from = 0;
	q.kind = QUESTION__COUNT;
	CHECK(is_refused(&q));
	question_clear(&q);
}

/* Each kind has the credential or has none; the form is checked. */
static void
test_credentials(void)
{
	struct question q;
	int kind;

	for (kind = 0; kind < QUESTION__COUNT; kind++) {
		q = question_of(kind);
		snprintf(q.credential, sizeof(q.credential), "%s",
		    kind == QUESTION_UNMUNGE ? "" : CREDENTIAL);
		CHECK(is_refused(&q));
		question_clear(&q);
	}
	q = question_of(QUESTION_UNMUNGE);
	snprintf(q.credential, sizeof(q.credential), "MUNGE:AwQ\nAA:");
	CHECK(is_refused(&q));
	question_clear(&q);
}

static void
test_ids(void)
{
	struct question q = { .kind = QUESTION_RUNS }, to;
	uint64_t i;

	snprintf(q.delimiter, sizeof(q.delimiter), "%s", D);
	CHECK_INT(id_list_add(&q.ids, 0), -1);
	CHECK_INT(id_list_add(&q.ids, 1ull << 32), -1);
	for (i = 0; i < ID_LIST_MAX; i++)
		CHECK_INT(id_list_add(&q.ids, UINT32_MAX - i), 0);
	CHECK_INT(id_list_add(&q.ids, 1), -1);
	CHECK(passes(&q, &to));
	CHECK_INT(to.ids.n, ID_LIST_MAX);
	CHECK_INT(to.ids.ids[ID_LIST_MAX - 1], UINT32_MAX - (ID_LIST_MAX - 1));
	question_clear(&to);
	question_clear(&q);
}

static void
test_delimiters(void)
{
	char a[DELIMITER_LEN + 1], b[DELIMITER_LEN + 1];
	int i, equal = 0;

	for (i = 0; i < 100; i++) {
		delimiter_new(a);
		delimiter_new(b);
		CHECK_INT(delimiter_check(a), 0);
		equal += strcmp(a, b) == 0;
	}
	CHECK_INT(equal, 0);
	/* See question.h: a user has some 10^12 guesses. */
	CHECK(DELIMITER_LEN >= 12);
}

int
main(void)
{
	test_kinds();
	test_cluster();
	test_lacking();
	test_values();
	test_hostile();
	test_credentials();
	test_ids();
	test_delimiters();
	return check_done();
}
