/* SPDX-License-Identifier: MIT */
/*
 * Request bodies for each version of cc-backend.  jansson parses each start
 * that is made here.
 */
#include "config.h"

#include <stdlib.h>

#include <jansson.h>

#include "common/json_write.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/topology.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/payload/sample.h"

/* The body of a start, or the reason why there is none. */
static const char *
start(const struct payload *p, enum backend backend, const struct job *job)
{
	struct payload_how how;
	const char *why;
	json_t *j;

	payload_how_init(&how, backend, NULL);
	wr_reset(&w);
	if (payload_start(p, &how, job, &w, &why) == -1)
		return why;
	j = json_loadb((char *)w.buf, w.len, JSON_REJECT_DUPLICATES, NULL);
	CHECK(j != NULL);
	json_decref(j);
	return text_of();
}

static const char *
stop(const struct payload *p, enum backend backend, const struct job *job)
{
	const char *why;

	wr_reset(&w);
	if (payload_stop(p, backend, job, &w, &why) == -1)
		return why;
	return text_of();
}

static void
check_versions(void)
{
	struct job job;

	job_plain(&job);
	job.memory = 4000;
	CHECK_STR(start(plain, BACKEND_1_5, &job),
	    "{\"jobId\":4711,\"cluster\":\"lab\",\"startTime\":1790000000,"
	    "\"partition\":\"main\",\"user\":\"alice\",\"project\":\"proja\","
	    "\"shared\":\"multi_user\",\"numNodes\":1,\"numHwthreads\":4,"
	    "\"walltime\":300,\"submitTime\":1789999000,"
	    "\"requestedMemory\":4000,\"resources\":[{\"hostname\":\"n1\","
	    "\"hwthreads\":[0,1,2,3]}],\"metaData\":{\"jobName\":\"plain\","
	    "\"submitTime\":\"1789999000\"}}");
	CHECK_STR(start(plain, BACKEND_1_4_3, &job),
	    "{\"jobId\":4711,\"cluster\":\"lab\",\"startTime\":1790000000,"
	    "\"partition\":\"main\",\"user\":\"alice\",\"project\":\"proja\","
	    "\"exclusive\":0,\"numNodes\":1,\"numHwthreads\":4,"
	    "\"walltime\":300,\"resources\":[{\"hostname\":\"n1\","
	    "\"hwthreads\":[0,1,2,3]}],\"metaData\":{\"jobName\":\"plain\","
	    "\"submitTime\":\"1789999000\"}}");
	job.shared = SHARED_NONE;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "\"shared\":\"none\""));
	CHECK(strstr(start(plain, BACKEND_1_3, &job), "\"exclusive\":1"));
	job.shared = SHARED_SINGLE_USER;
	CHECK(strstr(start(plain, BACKEND_1_5, &job),
	    "\"shared\":\"single_user\""));
	CHECK(strstr(start(plain, BACKEND_1_3, &job), "\"exclusive\":2"));
	job.shared = SHARED_UNKNOWN;
	CHECK(strstr(start(plain, BACKEND_1_5, &job),
	    "\"shared\":\"multi_user\""));
	job_clear(&job);
	CHECK_INT(backend_of("1.3.1"), BACKEND_1_3);
	CHECK_INT(backend_of("1.4"), BACKEND_1_4_0);
	CHECK_INT(backend_of("1.4.2"), BACKEND_1_4_0);
	CHECK_INT(backend_of("1.4.4"), BACKEND_1_4_3);
	CHECK_INT(backend_of("1.5.0"), BACKEND_1_5);
	CHECK_INT(backend_of("2.0"), BACKEND_1_5);
	CHECK_INT(backend_of("auto"), BACKEND_1_5);
}

static void
check_resources(void)
{
	struct job_host *h;
	struct job job;
	const char *s;
	uint32_t i;

	job_plain(&job);
	h = job_add_host(&job, "n2");
	/* A host without threads: no hwthreads, and a message. */
	s = start(plain, BACKEND_1_5, &job);
	CHECK(strstr(s, "hwthreads") == NULL);
	CHECK(strstr(s,
		  "\"resources\":[{\"hostname\":\"n1\"},"
		  "{\"hostname\":\"n2\"}]") != NULL);
	CHECK(strstr(s, "\"message\":\"The hardware threads") != NULL);
	CHECK(strstr(s, "\"numNodes\":2") != NULL);
	/* Exclusive nodes: no message. */
	job.shared = SHARED_NONE;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "message") == NULL);
	job_host_add_cpus(h, 8, 9);
	job_host_add_cpus(h, 12, 12);
	job_host_add_accel(h, "00000000:C1:00.0");
	job_host_add_accel(h, "00000000:0A:00.0");
	s = start(plain, BACKEND_1_5, &job);
	CHECK(
	    strstr(s,
		"{\"hostname\":\"n2\",\"hwthreads\":[8,9,12],"
		"\"accelerators\":[\"00000000:C1:00.0\",\"00000000:0A:00.0\"]}") !=
	    NULL);
	CHECK(strstr(s, "\"numAcc\":2") != NULL);
	job.accels = 1;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "\"numAcc\":1") != NULL);
	/* Without JOB_HAS_THREADS the ids are not used. */
	job.flags = JOB_HAS_START;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "hwthreads") == NULL);
	/* A range that is too long: no hwthreads, not an empty list. */
	job.flags |= JOB_HAS_THREADS;
	job_host_add_cpus(h, 100, UINT32_MAX);
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "hwthreads") == NULL);
	/* Hosts whose threads fill the body more than once: no host has them. */
	h->n_cpus = 0;
	job_host_add_cpus(h, 0, 16383);
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "hwthreads") != NULL);
	while (job.n_hosts < 1100)
		job_host_add_cpus(job_add_host(&job, "n3"), 0, 16383);
	s = start(plain, BACKEND_1_5, &job);
	CHECK(strstr(s, "hwthreads") == NULL);
	CHECK(strstr(s, "\"numNodes\":1100") != NULL);
	for (i = 0; i < job.n_hosts; i++) {
		job.hosts[i].n_cpus = 0;
		job_host_add_cpus(&job.hosts[i], 10000, 15461);
	}
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "hwthreads") == NULL);
	job.accels = 4000000000u;
	CHECK(strstr(start(plain, BACKEND_1_5, &job),
		  "\"numAcc\":2147483647") != NULL);
	job_clear(&job);
}

static void
check_meta(void)
{
	struct payload *p;
	struct job job;
	char why[128];
	const char *s;

	job_plain(&job);
	job.array_job = 4700;
	job.array_task = 0;
	job.het_job = 4690;
	job.state = END_FAILED;
	job.end = 1790000100;
	job.exit_code = 3 << 8;
	job.reason = strdup("NonZeroExitCode");
	job.message = strdup("told by hand");
	job.script = strdup("#!/bin/sh\n\techo \"\\x\"\x01\xff\xe2\x82\xac\n");
	s = start(plain, BACKEND_1_5, &job);
	CHECK(strstr(s, "\"arrayJobId\":4700") != NULL);
	CHECK(strstr(s,
		  "\"arrayTaskId\":\"0\",\"hetJobId\":\"4690\","
		  "\"exitCode\":\"3:0\",\"reason\":\"NonZeroExitCode\","
		  "\"message\":\"told by hand\"") != NULL);
	CHECK(strstr(s,
		  "\"jobScript\":\"#!/bin/sh\\n\\techo \\\"\\\\x\\\""
		  "\\\\x01\xef\xbf\xbd\xe2\x82\xac\\n\"") != NULL);
	p = conf_payload(CONF_META_DATA_FIELDS, "[\"jobName\",\"exitCode\"]",
	    why, sizeof(why));
	CHECK(strstr(start(p, BACKEND_1_5, &job),
		  "\"metaData\":"
		  "{\"jobName\":\"plain\",\"exitCode\":\"3:0\"}}") != NULL);
	payload_free(p);
	p = conf_payload(CONF_META_DATA_FIELDS, "[]", why, sizeof(why));
	CHECK(strstr(start(p, BACKEND_1_5, &job), "\"metaData\":{}}") != NULL);
	payload_free(p);
	/* A running job has no exit code. */
	job.state = END_NOT;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "exitCode") == NULL);
	job_clear(&job);
	CHECK(conf_payload(CONF_META_DATA_FIELDS, "[\"jobname\"]", why,
		  sizeof(why)) == NULL);
	CHECK(strstr(why, "jobname") != NULL);
	CHECK(conf_payload(CONF_REQUEUED_STATE, "running", why, sizeof(why)) ==
	    NULL);
	CHECK(conf_payload(CONF_REQUEUED_STATE, "requeued", why, sizeof(why)) ==
	    NULL);
	CHECK(conf_payload(CONF_CLUSTER_NAMES, "{\"a\":1}", why, sizeof(why)) ==
	    NULL);
	CHECK(
	    conf_payload(CONF_CPU_MAP, "{\"a\":1}", why, sizeof(why)) == NULL);
}

/* A name for each cluster of a centre, and no more. */
static void
check_cluster_names(void)
{
	char text[CONF_CLUSTERS_MAX * 24 + 64], why[256] = "";
	struct payload *p;
	unsigned i;
	size_t n;

	text[0] = '{';
	for (i = 0, n = 1; i < CONF_CLUSTERS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "%s\"s%u\":\"C%u\"", i == 0 ? "" : ",", i, i);
	snprintf(text + n, sizeof(text) - n, "}");
	p = conf_payload(CONF_CLUSTER_NAMES, text, why, sizeof(why));
	CHECK(p != NULL);
	CHECK_STR(payload_cluster(p, "s255"), "C255");
	payload_free(p);
	snprintf(text + n, sizeof(text) - n, ",\"x\":\"X\"}");
	CHECK(conf_payload(CONF_CLUSTER_NAMES, text, why, sizeof(why)) == NULL);
	CHECK_STR(why, "clusterNames has more than 256 names");
}

/* All patterns of a rule must match; no tag is written twice. */
static void
check_tags(void)
{
	static const char rules[] =
	    "[{\"type\":\"t\",\"name\":\"all\"},"
	    "{\"type\":\"t\",\"name\":\"night\\\"\",\"scope\":\"admin\","
	    "\"when\":{\"partition\":\"^mai\",\"qos\":\"^low$\"}},"
	    "{\"type\":\"t\",\"name\":\"all\",\"when\":{\"account\":\".\"}},"
	    "{\"type\":\"t\",\"name\":\"none\",\"when\":{\"reservation\":\"^$\"}}]";
	struct payload_how how;
	struct payload *p;
	struct job job;
	char why[256] = "";
	const char *wrong;

	p = conf_payload(CONF_TAGS, rules, why, sizeof(why));
	CHECK_STR(why, "");
	CHECK(payload_tags(p) && !payload_tags(plain));
	job_plain(&job);
	free(job.partition);
	job.partition = strdup("main");
	job.qos = strdup("low");
	job.reservation = strdup("r1");
	CHECK(payload_tagged(p, &job));
	/* only with how.tags */
	CHECK(strstr(start(p, BACKEND_1_5, &job), "tags") == NULL);
	payload_how_init(&how, BACKEND_1_4_0, NULL);
	how.tags = 1;
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(
	    strstr(text_of(),
		",\"tags\":[{\"type\":\"t\",\"name\":\"all\","
		"\"scope\":\"global\"},{\"type\":\"t\",\"name\":\"night\\\"\","
		"\"scope\":\"admin\"}],") != NULL);
	how.backend = BACKEND_1_3;
	free(job.qos);
	job.qos = NULL;
	free(job.reservation);
	job.reservation = NULL;
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(strstr(text_of(),
		  ",\"tags\":[{\"type\":\"t\",\"name\":\"all\"},"
		  "{\"type\":\"t\",\"name\":\"none\"}],") != NULL);
	payload_free(p);
	p = conf_payload(CONF_TAGS,
	    "[{\"type\":\"t\",\"name\":\"x\","
	    "\"when\":{\"qos\":\"y\"}}]",
	    why, sizeof(why));
	CHECK(!payload_tagged(p, &job));
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(strstr(text_of(), "tags") == NULL);
	payload_free(p);
	CHECK(conf_payload(CONF_TAGS,
		  "[{\"type\":\"t\",\"name\":\"x\","
		  "\"when\":{\"qos\":\"a(\"}}]",
		  why, sizeof(why)) == NULL);
	CHECK(strstr(why, "tags: item 1: \"a(\" is not a regular expression") !=
	    NULL);
	CHECK(conf_payload(CONF_TAGS, "[{\"type\":\"t\"}]", why, sizeof(why)) ==
	    NULL);
	CHECK(conf_payload(CONF_TAGS, "{}", why, sizeof(why)) == NULL);
	job_clear(&job);
}

static void
check_flaws(void)
{
	struct job job;

	job_plain(&job);
	free(job.user);
	job.user = NULL;
	CHECK_STR(start(plain, BACKEND_1_5, &job), "the record has no user");
	job.user = strdup("alice");
	job.key.start = 0;
	CHECK_STR(start(plain, BACKEND_1_5, &job),
	    "the record has no start time");
	CHECK_STR(stop(plain, BACKEND_1_5, &job), "the record has no end");
	job_clear(&job);
	job_plain(&job);
	job.n_hosts = 0;
	CHECK_STR(start(plain, BACKEND_1_5, &job), "the record has no host");
	job.n_hosts = 1;
	job_clear(&job);
}

static void
check_stop(void)
{
	static const struct {
		enum job_end end;
		const char *new, *old;
	} t[] = {
		{ END_COMPLETED, "completed", "completed" },
		{ END_FAILED, "failed", "failed" },
		{ END_CANCELLED, "cancelled", "cancelled" },
		{ END_TIMEOUT, "timeout", "timeout" },
		{ END_OUT_OF_MEMORY, "out_of_memory", "out_of_memory" },
		{ END_PREEMPTED, "preempted", "preempted" },
		{ END_NODE_FAIL, "node_fail", "failed" },
		{ END_BOOT_FAIL, "boot_fail", "failed" },
		{ END_DEADLINE, "deadline", "timeout" },
		{ END_REQUEUED, "preempted", "preempted" },
	};
	struct payload *p;
	struct job job;
	char want[256], why[128];
	size_t i;

	job_plain(&job);
	job.end = 1790003600;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		job.state = t[i].end;
		snprintf(want, sizeof(want),
		    "{\"jobId\":4711,\"cluster\":"
		    "\"lab\",\"startTime\":1790000000,\"stopTime\":1790003600,"
		    "\"jobState\":\"%s\"}",
		    t[i].new);
		CHECK_STR(stop(plain, BACKEND_1_5, &job), want);
		snprintf(want, sizeof(want), "\"jobState\":\"%s\"}", t[i].old);
		CHECK(strstr(stop(plain, BACKEND_1_4_3, &job), want) != NULL);
	}
	p = conf_payload(CONF_REQUEUED_STATE, "cancelled", why, sizeof(why));
	CHECK(strstr(stop(p, BACKEND_1_5, &job), "cancelled") != NULL);
	payload_free(p);
	p = conf_payload(CONF_CLUSTER_NAMES, "{\"lab\":\"Lab-1\"}", why,
	    sizeof(why));
	CHECK(strstr(stop(p, BACKEND_1_5, &job), "\"cluster\":\"Lab-1\"") !=
	    NULL);
	payload_free(p);
	job.end = job.key.start - 5;
	CHECK(strstr(stop(plain, BACKEND_1_5, &job),
		  "\"stopTime\":1790000000,") != NULL);
	CHECK(strstr(stop(plain, BACKEND_1_4_0, &job),
		  "\"stopTime\":1790000001,") != NULL);
	job.end = job.key.start;
	CHECK(strstr(stop(plain, BACKEND_1_3, &job),
		  "\"stopTime\":1790000001,") != NULL);
	CHECK(strstr(stop(plain, BACKEND_1_4_3, &job),
		  "\"stopTime\":1790000000,") != NULL);
	job.state = END_NOT;
	CHECK_STR(stop(plain, BACKEND_1_5, &job), "the record has no end");
	job_clear(&job);
}

/* An edit_meta that changes nothing contains no text that is not sent. */
static void
check_same(const char *fields, const char *name, int64_t submit,
    const char *want)
{
	struct payload *p;
	struct job job;
	char why[128];

	p = conf_payload(CONF_META_DATA_FIELDS, fields, why, sizeof(why));
	CHECK(p != NULL);
	job_init(&job);
	job.key = (struct run_key) { "lab", 7, 1790000000 };
	job.name = name != NULL ? strdup(name) : NULL;
	job.submit = submit;
	wr_reset(&w);
	CHECK_INT(payload_edit_meta_same(p, &job, &w), want != NULL ? 0 : -1);
	if (want != NULL)
		CHECK(strstr(text_of(), want) != NULL);
	job_clear(&job);
	payload_free(p);
}

static void
check_same_texts(void)
{
	static const char all[] = "[\"slurmInfo\",\"jobName\",\"submitTime\"]";

	check_same(all, "train", 1789999999,
	    ",\"payload\":{\"key\":\"jobName\",\"value\":\"train\"}}");
	check_same(all, NULL, 1789999999,
	    ",\"payload\":{\"key\":\"submitTime\",\"value\":"
	    "\"1789999999\"}}");
	check_same("[\"submitTime\"]", "train", 1789999999, "\"1789999999\"}}");
	check_same(all, "", 0, NULL);
	check_same("[\"slurmInfo\"]", "train", 1789999999, NULL);
	check_same("[]", "train", 1789999999, NULL);
}

static void
check_small(void)
{
	struct run_key key = { "lab", 7, 1790000000 };
	struct node_state nodes[2];

	memset(nodes, 0, sizeof(nodes));
	strcpy(nodes[0].host, "n1");
	strcpy(nodes[0].states, "MIXED,,DRAIN");
	nodes[0].cpus = 16;
	nodes[0].memory = 64000;
	nodes[0].gpus = 1;
	nodes[0].jobs = 2;
	strcpy(nodes[1].host, "n2");
	wr_reset(&w);
	payload_nodes(plain, "lab", nodes, 2, &w);
	CHECK_STR(text_of(),
	    "{\"cluster\":\"lab\",\"nodes\":[{\"hostname\":"
	    "\"n1\",\"states\":[\"MIXED\",\"DRAIN\"],\"cpusAllocated\":16,"
	    "\"memoryAllocated\":64000,\"gpusAllocated\":1,\"jobsRunning\":2},"
	    "{\"hostname\":\"n2\",\"states\":[],\"cpusAllocated\":0,"
	    "\"memoryAllocated\":0,\"gpusAllocated\":0,\"jobsRunning\":0}]}");
	wr_reset(&w);
	payload_edit_meta(plain, &key, "message", "a \"b\"", &w);
	CHECK_STR(text_of(),
	    "{\"jobId\":7,\"cluster\":\"lab\",\"startTime\":"
	    "1790000000,\"payload\":{\"key\":\"message\",\"value\":"
	    "\"a \\\"b\\\"\"}}");
	wr_reset(&w);
	payload_delete(plain, &key, &w);
	CHECK_STR(text_of(),
	    "{\"jobId\":7,\"cluster\":\"lab\",\"startTime\":1790000000}");
	wr_reset(&w);
	wr_json_number(&w, INT64_MIN);
	CHECK_STR(text_of(), "-9223372036854775808");
}

int
main(void)
{
	char why[128];

	wr_init(&w, PAYLOAD_MAX);
	plain = conf_payload(CONF__COUNT, NULL, why, sizeof(why));
	CHECK(plain != NULL);
	check_versions();
	check_resources();
	check_meta();
	check_tags();
	check_flaws();
	check_stop();
	check_small();
	check_same_texts();
	payload_free(plain);
	payload_free(NULL);
	wr_clear(&w);
	check_cluster_names();
	return check_done();
}
