/* SPDX-License-Identifier: MIT */
/*
 * The record of a run as JSON: each member there and back, each bound, what is
 * refused and why, what another version may have written.
 */
#include "config.h"

#include <stdlib.h>

#include "common/model/msg.h"
#include "common/record/record_json.h"
#include "tests/unit/check.h"

#define ROOM (64 * 1024 * 1024)

/* The least that is a record; further members go behind it. */
#define LEAST \
	"\"schema\":1,\"revision\":7,\"cluster\":\"alpha\",\"jobId\":4711," \
	"\"startTime\":1790000000"

static char *
text_of(char c, size_t n)
{
	char *s = malloc(n + 1);

	if (s == NULL)
		abort();
	memset(s, c, n);
	s[n] = '\0';
	return s;
}

/* A job whose members all differ from those of job_init(). */
static void
job_full(struct job *j)
{
	struct job_host *h;

	job_init(j);
	strcpy(j->key.cluster, "alpha");
	j->key.job = 4711;
	j->key.start = 1790000000;
	j->flags = (JOB_NEVER_RAN << 1) - 1;
	j->submit = 1789999000;
	j->end = 1790000060;
	j->state = END_OUT_OF_MEMORY;
	j->shared = SHARED_SINGLE_USER;
	j->restarts = 3;
	j->array_job = 4700;
	j->array_task = 11;
	j->het_job = 4690;
	j->het_offset = 2;
	j->nodes = 2;
	j->cpus = 16;
	j->accels = 4;
	j->walltime = 3600;
	j->memory = 65536;
	j->exit_code = 256;
	j->user = strdup("u1");
	j->account = strdup("physics");
	j->partition = strdup("long,short");
	j->qos = strdup("normal");
	j->reservation = strdup("maint");
	j->name = strdup("j\303\266b \"1\" \\ \342\202\254");
	j->script = strdup("#!/bin/sh\n\techo \"$1\"\n");
	j->slurm_info = strdup("{\"a\":1}");
	j->reason = strdup("None");
	j->admin_comment = strdup("a/b");
	j->message = strdup("no GPU indices");
	h = job_add_host(j, "n1.example.org");
	h->sockets = 2;
	h->cores = 8;
	h->threads = 2;
	job_host_add_cpus(h, 0, 3);
	job_host_add_cpus(h, 8, UINT32_MAX);
	job_host_add_accel(h, "00000000:C1:00.0");
	job_host_add_accel(h, "00000000:C2:00.0");
	job_add_host(j, "n2");
}

/* The bytes of the spool's encoding contain each member. */
static int
job_same(const struct job *a, const struct job *b)
{
	struct writer x, y;
	int rc;

	wr_init(&x, ROOM);
	wr_init(&y, ROOM);
	job_write(&x, a);
	job_write(&y, b);
	rc = wr_end(&x) == 0 && wr_end(&y) == 0 && x.len == y.len &&
	    memcmp(x.buf, y.buf, x.len) == 0;
	wr_clear(&x);
	wr_clear(&y);
	return rc;
}

static void
there_and_back(struct job *a, uint64_t revision)
{
	char why[RECORD_WHY_MAX] = "";
	uint64_t got = 0;
	struct writer w;
	struct job b;

	wr_init(&w, ROOM);
	record_json_write(&w, a, revision);
	CHECK_INT(wr_end(&w), 0);
	job_init(&b);
	CHECK_INT(record_json_read(&b, &got, (char *)w.buf, w.len, why,
		      sizeof(why)),
	    RECORD_JSON_OK);
	CHECK_STR(why, "");
	CHECK(got == revision);
	a->revision = revision;
	CHECK(job_same(a, &b));
	job_clear(&b);
	wr_clear(&w);
}

static void
test_there_and_back(void)
{
	struct job j;
	int i;

	job_full(&j);
	there_and_back(&j, 1);
	there_and_back(&j, UINT64_MAX);
	for (i = 0; i < END__COUNT; i++) {
		j.state = (enum job_end)i;
		there_and_back(&j, 2);
	}
	for (i = 0; i < SHARED__COUNT; i++) {
		j.shared = (enum job_shared)i;
		there_and_back(&j, 2);
	}
	for (i = 0; i < 11; i++) {
		j.flags = 1u << i;
		there_and_back(&j, 2);
	}
	job_clear(&j);

	/* The least: all else is what job_init() sets. */
	strcpy(j.key.cluster, "a");
	j.key.job = 1;
	j.key.start = 1;
	there_and_back(&j, 0);
}

/* The largest and smallest values that struct job can have. */
static void
test_bounds(void)
{
	struct job j;
	struct job_host *h;
	char *name;
	uint32_t i;

	job_full(&j);
	memset(j.key.cluster, 'c', CLUSTER_MAX - 1);
	j.key.job = INT64_MAX;
	j.key.start = j.submit = j.end = j.walltime = TIME_S_MAX;
	j.restarts = j.array_task = j.het_offset = UINT32_MAX;
	j.nodes = j.cpus = j.accels = UINT32_MAX;
	j.array_job = j.het_job = j.memory = UINT64_MAX;
	j.exit_code = INT32_MIN;
	there_and_back(&j, 3);
	free(j.user);
	j.user = text_of('u', TEXT_MAX);
	free(j.script);
	j.script = text_of('s', SCRIPT_MAX);
	j.script[SCRIPT_MAX - 1] = '\n';
	name = text_of('n', HOST_MAX - 1);
	h = job_add_host(&j, name);
	free(name);
	h->sockets = h->cores = h->threads = UINT16_MAX;
	for (i = 0; i < RANGES_MAX; i++)
		CHECK_INT(job_host_add_cpus(h, 2 * i, 2 * i), 0);
	name = text_of('g', ACCEL_MAX - 1);
	for (i = 0; i < ACCELS_MAX; i++)
		CHECK_INT(job_host_add_accel(h, name), 0);
	free(name);
	j.exit_code = INT32_MAX;
	while (j.n_hosts < HOSTS_MAX)
		if (job_add_host(&j, "n") == NULL)
			abort();
	there_and_back(&j, 3);
	job_clear(&j);
}

static enum record_json
result_of(const char *text, size_t n, char *why)
{
	char *exact = malloc(n + 1); /* without a NUL behind the text */
	enum record_json rc;
	uint64_t revision;
	struct job j;

	if (exact == NULL)
		abort();
	memcpy(exact, text, n);
	job_init(&j);
	*why = '\0';
	rc = record_json_read(&j, &revision, exact, n, why, RECORD_WHY_MAX);
	job_clear(&j);
	free(exact);
	return rc;
}

/* The members after the least ones make the record invalid. */
static const struct {
	const char *members;
	const char *why;
} invalid[] = {
	{ "\"schema\":1", "schema: given twice" },
	{ "\"user\":\"a\",\"user\":\"a\"", "user: given twice" },
	{ "\"user\":1", "user: has another type" },
	{ "\"user\":null", "user: has another type" },
	{ "\"user\":[]", "user: has another type" },
	{ "\"user\":{}", "user: has another type" },
	{ "\"user\":\"\\u001b[0m\"",
	    "user: not UTF-8, or a control character" },
	{ "\"user\":\"\xff\"", "user: not UTF-8, or a control character" },
	{ "\"submitTime\":\"1\"", "submitTime: has another type" },
	{ "\"submitTime\":-1",
	    "submitTime: not a whole number from 0 to 253402300799" },
	{ "\"stopTime\":253402300800",
	    "stopTime: not a whole number from 0 to 253402300799" },
	{ "\"walltime\":1.0",
	    "walltime: not a whole number from 0 to 253402300799" },
	{ "\"walltime\":007",
	    "walltime: not a whole number from 0 to 253402300799" },
	{ "\"walltime\":null",
	    "walltime: not a whole number from 0 to 253402300799" },
	{ "\"restarts\":4294967296",
	    "restarts: not a whole number from 0 to 4294967295" },
	{ "\"requestedMemory\":18446744073709551616",
	    "requestedMemory: not a whole number from 0 to "
	    "18446744073709551615" },
	{ "\"exitCode\":2147483648",
	    "exitCode: not a whole number from -2147483648 to 2147483647" },
	{ "\"exitCode\":-2147483649",
	    "exitCode: not a whole number from -2147483648 to 2147483647" },
	{ "\"exitCode\":--1",
	    "exitCode: not a whole number from -2147483648 to 2147483647" },
	{ "\"jobState\":\"exploded\"",
	    "jobState: not a state of this version" },
	{ "\"shared\":\"all\"", "shared: not a value of this version" },
	{ "\"flags\":\"live\"", "flags: has another type" },
	{ "\"flags\":{}", "flags: has another type" },
	{ "\"flags\":[1]", "flags: has another type" },
	{ "\"hosts\":{}", "hosts: has another type" },
	{ "\"hosts\":[1]", "hosts: has another type" },
	{ "\"hosts\":[[]]", "hosts: has another type" },
	{ "\"hosts\":[{}]", "hosts[0].name: missing" },
	{ "\"hosts\":[{\"name\":\"a\"},{\"name\":\"\"}]",
	    "hosts[1].name: missing" },
	{ "\"hosts\":[{\"name\":1}]", "hosts[0].name: has another type" },
	{ "\"hosts\":[{\"name\":[\"a\"]}]", "hosts[0].name: has another type" },
	{ "\"hosts\":[{\"name\":\"a\",\"name\":\"a\"}]",
	    "hosts[0].name: given twice" },
	{ "\"hosts\":[{\"name\":\"a\\u0001\"}]",
	    "hosts[0].name: not UTF-8, or a control character" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":1}]",
	    "hosts[0].threads: has another type" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[1]}]",
	    "hosts[0].threads: not a list of ranges" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[1]]}]",
	    "hosts[0].threads: a range is not two ascending numbers" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[2,1]]}]",
	    "hosts[0].threads: a range is not two ascending numbers" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[1,2,3]]}]",
	    "hosts[0].threads: not 2 whole numbers from 0 to 4294967295" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[1,\"2\"]]}]",
	    "hosts[0].threads: not 2 whole numbers from 0 to 4294967295" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[1,4294967296]]}]",
	    "hosts[0].threads: not 2 whole numbers from 0 to 4294967295" },
	{ "\"hosts\":[{\"name\":\"a\",\"threads\":[[1,[2]]]}]",
	    "hosts[0].threads: not 2 whole numbers from 0 to 4294967295" },
	{ "\"hosts\":[{\"name\":\"a\",\"shape\":[1,2]}]",
	    "hosts[0].shape: not three numbers" },
	{ "\"hosts\":[{\"name\":\"a\",\"shape\":[1,2,65536]}]",
	    "hosts[0].shape: not 3 whole numbers from 0 to 65535" },
	{ "\"hosts\":[{\"name\":\"a\",\"shape\":[1,2,3,4]}]",
	    "hosts[0].shape: not 3 whole numbers from 0 to 65535" },
	{ "\"hosts\":[{\"name\":\"a\",\"gpus\":[1]}]",
	    "hosts[0].gpus: has another type" },
	{ "\"hosts\":[{\"name\":\"a\",\"gpus\":[\"\x80\"]}]",
	    "hosts[0].gpus: not UTF-8, or a control character" },
	{ "\"hosts\":[{\"name\":\"a\",\"gpus\":\"b\"}]",
	    "hosts[0].gpus: has another type" },
	{ "\"qos\"", "not JSON: a colon is missing" },
	{ "\"qos\":\"a\"}}", "not JSON: more bytes after the end" },
};

static void
test_invalid(void)
{
	char text[1024], why[RECORD_WHY_MAX];
	size_t i;

	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		snprintf(text, sizeof(text), "{" LEAST ",%s}",
		    invalid[i].members);
		CHECK_INT(result_of(text, strlen(text), why),
		    RECORD_JSON_INVALID);
		CHECK_STR(why, invalid[i].why);
	}
}

/* Without one of the members that a record must have, or with a bad one. */
static void
test_required(void)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "{\"revision\":7,\"cluster\":\"a\",\"jobId\":1,"
		  "\"startTime\":1}",
		    "schema: missing" },
		{ "{\"schema\":1,\"cluster\":\"a\",\"jobId\":1,"
		  "\"startTime\":1}",
		    "revision: missing" },
		{ "{\"schema\":1,\"revision\":7,\"jobId\":1,\"startTime\":1}",
		    "cluster: missing" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"a\","
		  "\"startTime\":1}",
		    "jobId: missing" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"a\","
		  "\"jobId\":1}",
		    "startTime: missing" },
		{ "{\"schema\":0,\"revision\":7,\"cluster\":\"a\","
		  "\"jobId\":1,\"startTime\":1}",
		    "schema: not a whole number from 1 to 4294967295" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"\","
		  "\"jobId\":1,\"startTime\":1}",
		    "cluster: empty" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"a\","
		  "\"jobId\":0,\"startTime\":1}",
		    "jobId: not a whole number from 1 to "
		    "9223372036854775807" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"a\","
		  "\"jobId\":9223372036854775808,\"startTime\":1}",
		    "jobId: not a whole number from 1 to "
		    "9223372036854775807" },
		{ "{\"schema\":1,\"revision\":7,\"cluster\":\"a\","
		  "\"jobId\":1,\"startTime\":0}",
		    "startTime: not a whole number from 1 to 253402300799" },
		{ "[]", "not JSON: not a JSON object" },
		{ "", "not JSON: not a JSON object" },
	};
	char why[RECORD_WHY_MAX];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_INT(result_of(cases[i].text, strlen(cases[i].text), why),
		    RECORD_JSON_INVALID);
		CHECK_STR(why, cases[i].why);
	}
}

/* One more than a bound: the record is refused, not cut. */
static void
check_above(const char *before, const char *one, size_t n, const char *after,
    const char *want)
{
	size_t len = strlen(one), i;
	char why[RECORD_WHY_MAX], *all = text_of(' ', n * len);
	struct writer w;

	for (i = 0; i < n; i++)
		memcpy(all + i * len, one, len);
	wr_init(&w, ROOM);
	wr_mem(&w, "{" LEAST ",", strlen("{" LEAST ","));
	wr_mem(&w, before, strlen(before));
	wr_mem(&w, all, n * len);
	free(all);
	wr_mem(&w, after, strlen(after));
	CHECK_INT(wr_end(&w), 0);
	CHECK_INT(result_of((char *)w.buf, w.len, why), RECORD_JSON_INVALID);
	CHECK_STR(why, want);
	wr_clear(&w);
}

static void
test_above(void)
{
	check_above("\"user\":\"", "u", TEXT_MAX + 1, "\"}",
	    "user: longer than 65536 bytes");
	check_above("\"jobScript\":\"", "s", SCRIPT_MAX + 1, "\"}",
	    "jobScript: longer than 4194304 bytes");
	check_above("\"hosts\":[{\"name\":\"", "h", HOST_MAX, "\"}]}",
	    "hosts[0].name: longer than 255 bytes");
	check_above("\"hosts\":[{\"name\":\"a\"}", ",{\"name\":\"a\"}",
	    HOSTS_MAX, "]}", "hosts: more than 100000");
	check_above("\"hosts\":[{\"name\":\"a\",\"threads\":[[1,2]", ",[1,2]",
	    RANGES_MAX, "]}]}", "hosts[0].threads: more than 4096 ranges");
	check_above("\"hosts\":[{\"name\":\"a\",\"gpus\":[\"a\"", ",\"a\"",
	    ACCELS_MAX, "]}]}", "hosts[0].gpus: more than 1024");
	check_above("\"hosts\":[{\"name\":\"a\",\"gpus\":[\"", "g", ACCEL_MAX,
	    "\"]}]}", "hosts[0].gpus: longer than 63 bytes");
}

static void
test_long_cluster(void)
{
	char text[512], why[RECORD_WHY_MAX], *name = text_of('c', CLUSTER_MAX);

	snprintf(text, sizeof(text),
	    "{\"schema\":1,\"revision\":1,\"cluster\":\"%s\",\"jobId\":1,"
	    "\"startTime\":1}",
	    name);
	CHECK_INT(result_of(text, strlen(text), why), RECORD_JSON_INVALID);
	CHECK_STR(why, "cluster: longer than 63 bytes");
	free(name);
}

/* Cut at each byte the text is no record. */
static void
test_cut(void)
{
	char why[RECORD_WHY_MAX];
	struct writer w;
	struct job j;
	size_t n;

	job_full(&j);
	wr_init(&w, ROOM);
	record_json_write(&w, &j, 9);
	for (n = 0; n < w.len; n++)
		CHECK_INT(result_of((char *)w.buf, n, why),
		    RECORD_JSON_INVALID);
	CHECK_INT(result_of((char *)w.buf, w.len, why), RECORD_JSON_OK);
	wr_clear(&w);
	job_clear(&j);
}

/* A later version may have added members, flags and members of hosts. */
static void
test_unknown(void)
{
	static const char text[] =
	    "{\"x\":[[1,{\"user\":\"no\"}]]," LEAST
	    ",\"flags\":[\"live\",\"new\"],\"y\":null,\"hosts\":[{\"user\":"
	    "{\"name\":\"no\",\"threads\":[[1]]},\"name\":\"n1\",\"z\":[[[1]]],"
	    "\"threads\":[[4,5]]}],\"user\":\"u1\",\"exitCode\":0}";
	char why[RECORD_WHY_MAX] = "";
	uint64_t revision;
	struct job j;

	job_init(&j);
	CHECK_INT(record_json_read(&j, &revision, text, strlen(text), why,
		      sizeof(why)),
	    RECORD_JSON_OK);
	CHECK_STR(why, "");
	CHECK_INT(revision, 7);
	CHECK_INT(j.revision, 7);
	CHECK_STR(j.key.cluster, "alpha");
	CHECK_INT(j.key.job, 4711);
	CHECK_INT(j.flags, JOB_LIVE);
	CHECK_INT(j.n_hosts, 1);
	CHECK_STR(j.hosts[0].name, "n1");
	CHECK_INT(j.hosts[0].n_cpus, 1);
	CHECK_INT(j.hosts[0].cpus[0].last, 5);
	CHECK_STR(j.user, "u1");
	CHECK_INT(j.exit_code, 0);
	job_clear(&j);
}

/* A newer schema is reported as such whatever its members are. */
static void
test_newer(void)
{
	static const char *const texts[] = {
		"{\"schema\":2}",
		"{\"schema\":2,\"jobId\":\"a\",\"hosts\":{\"n1\":[]}}",
		"{\"jobId\":\"a\",\"hosts\":[{}],\"schema\":4294967295}",
	};
	char why[RECORD_WHY_MAX];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(result_of(texts[i], strlen(texts[i]), why),
		    RECORD_JSON_NEWER);
	CHECK_STR(why, "schema: 4294967295 is newer than 1");
	CHECK_INT(result_of("{\"schema\":2", 11, why), RECORD_JSON_INVALID);
}

/* Texts that no reader accepts are written in their clean form. */
static void
test_unclean(void)
{
	char why[RECORD_WHY_MAX];
	uint64_t revision;
	struct writer w;
	struct job a, b;

	job_full(&a);
	free(a.name);
	a.name = strdup("a\033[0m\xff");
	free(a.message);
	a.message = strdup("");
	wr_init(&w, ROOM);
	record_json_write(&w, &a, 1);
	job_init(&b);
	CHECK_INT(record_json_read(&b, &revision, (char *)w.buf, w.len, why,
		      sizeof(why)),
	    RECORD_JSON_OK);
	CHECK_STR(b.name, "a\\x1b[0m\xef\xbf\xbd");
	CHECK(b.message == NULL);
	job_clear(&b);
	wr_clear(&w);

	/* A record that does not fit the writer is an error, not cut. */
	wr_init(&w, 200);
	record_json_write(&w, &a, 1);
	CHECK_INT(wr_end(&w), -1);
	wr_clear(&w);
	job_clear(&a);
}

int
main(void)
{
	test_there_and_back();
	test_bounds();
	test_invalid();
	test_required();
	test_above();
	test_long_cluster();
	test_cut();
	test_unknown();
	test_newer();
	test_unclean();
	return check_done();
}
