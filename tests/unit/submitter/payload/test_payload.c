/* SPDX-License-Identifier: MIT */
/*
 * Bodies as each cc-backend takes them, and as the Go adapter's messages
 * have them.  Every body made here is read again as JSON.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include "submitter/payload/nats_message.h"
#include "submitter/payload/json_write.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/topology.h"
#include "tests/unit/check.h"

static struct payload *plain;
static struct writer w;

static const char *
text_of(void)
{
	static char buf[1 << 20];

	CHECK(w.len < sizeof(buf));
	memcpy(buf, w.buf, w.len);
	buf[w.len] = '\0';
	return buf;
}

static struct payload *
conf_payload(enum conf_key key, const char *value, char *why, size_t size)
{
	struct payload *p;
	struct conf conf;

	conf_init(&conf);
	if (value != NULL)
		conf_set(&conf, key, value);
	p = payload_new(&conf, why, size);
	conf_clear(&conf);
	return p;
}

static void
job_plain(struct job *job)
{
	struct job_host *h;

	job_init(job);
	strcpy(job->key.cluster, "lab");
	job->key.job = 4711;
	job->key.start = 1790000000;
	job->submit = 1789999000;
	job->flags = JOB_HAS_START | JOB_HAS_THREADS | JOB_HAS_ACCELS;
	job->shared = SHARED_MULTI_USER;
	job->nodes = 1;
	job->cpus = 4;
	job->walltime = 300;
	job->user = strdup("alice");
	job->account = strdup("proja");
	job->partition = strdup("main");
	job->name = strdup("plain");
	h = job_add_host(job, "n1");
	job_host_add_cpus(h, 0, 3);
}

/* The start's body; "" and its reason when none can be made. */
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

	job_plain(&job);
	h = job_add_host(&job, "n2");
	/* A host without threads: none at all, and a message. */
	s = start(plain, BACKEND_1_5, &job);
	CHECK(strstr(s, "hwthreads") == NULL);
	CHECK(strstr(s, "\"resources\":[{\"hostname\":\"n1\"},"
	    "{\"hostname\":\"n2\"}]") != NULL);
	CHECK(strstr(s, "\"message\":\"The hardware threads") != NULL);
	CHECK(strstr(s, "\"numNodes\":2") != NULL);
	/* Its nodes whole: nothing to say. */
	job.shared = SHARED_NONE;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "message") == NULL);
	job_host_add_cpus(h, 8, 9);
	job_host_add_cpus(h, 12, 12);
	job_host_add_accel(h, "00000000:C1:00.0");
	job_host_add_accel(h, "00000000:0A:00.0");
	s = start(plain, BACKEND_1_5, &job);
	CHECK(strstr(s, "{\"hostname\":\"n2\",\"hwthreads\":[8,9,12],"
	    "\"accelerators\":[\"00000000:C1:00.0\",\"00000000:0A:00.0\"]}") !=
	    NULL);
	CHECK(strstr(s, "\"numAcc\":2") != NULL);
	job.accels = 1;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "\"numAcc\":1") != NULL);
	/* Threads were not seen while it ran: what is there is not used. */
	job.flags = JOB_HAS_START;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "hwthreads") == NULL);
	/* A range beyond all bounds is no list, and no empty one either. */
	job.flags |= JOB_HAS_THREADS;
	job_host_add_cpus(h, 100, UINT32_MAX);
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
	CHECK(strstr(s, "\"arrayTaskId\":\"0\",\"hetJobId\":\"4690\","
	    "\"exitCode\":\"3:0\",\"reason\":\"NonZeroExitCode\","
	    "\"message\":\"told by hand\"") != NULL);
	CHECK(strstr(s, "\"jobScript\":\"#!/bin/sh\\n\\techo \\\"\\\\x\\\""
	    "\\\\x01\xef\xbf\xbd\xe2\x82\xac\\n\"") != NULL);
	p = conf_payload(CONF_META_DATA_FIELDS, "[\"jobName\",\"exitCode\"]",
	    why, sizeof(why));
	CHECK(strstr(start(p, BACKEND_1_5, &job), "\"metaData\":"
	    "{\"jobName\":\"plain\",\"exitCode\":\"3:0\"}}") != NULL);
	payload_free(p);
	p = conf_payload(CONF_META_DATA_FIELDS, "[]", why, sizeof(why));
	CHECK(strstr(start(p, BACKEND_1_5, &job), "\"metaData\":{}}") != NULL);
	payload_free(p);
	/* While it runs it has no exit code, whatever Slurm fills in. */
	job.state = END_NOT;
	CHECK(strstr(start(plain, BACKEND_1_5, &job), "exitCode") == NULL);
	job_clear(&job);
	CHECK(conf_payload(CONF_META_DATA_FIELDS, "[\"jobname\"]", why,
	    sizeof(why)) == NULL);
	CHECK(strstr(why, "jobname") != NULL);
	CHECK(conf_payload(CONF_REQUEUED_STATE, "running", why,
	    sizeof(why)) == NULL);
	CHECK(conf_payload(CONF_REQUEUED_STATE, "requeued", why,
	    sizeof(why)) == NULL);
	CHECK(conf_payload(CONF_CLUSTER_NAMES, "{\"a\":1}", why,
	    sizeof(why)) == NULL);
	CHECK(conf_payload(CONF_CPU_MAP, "{\"a\":1}", why,
	    sizeof(why)) == NULL);
}

/* Tags by rule: all patterns of a rule must fit, none is given twice. */
static void
check_tags(void)
{
	static const char rules[] = "[{\"type\":\"t\",\"name\":\"all\"},"
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
	/* not without its being asked for */
	CHECK(strstr(start(p, BACKEND_1_5, &job), "tags") == NULL);
	payload_how_init(&how, BACKEND_1_4_0, NULL);
	how.tags = 1;
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(strstr(text_of(), ",\"tags\":[{\"type\":\"t\",\"name\":\"all\","
	    "\"scope\":\"global\"},{\"type\":\"t\",\"name\":\"night\\\"\","
	    "\"scope\":\"admin\"}],") != NULL);
	how.backend = BACKEND_1_3;
	free(job.qos);
	job.qos = NULL;
	free(job.reservation);
	job.reservation = NULL;
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(strstr(text_of(), ",\"tags\":[{\"type\":\"t\",\"name\":\"all\"},"
	    "{\"type\":\"t\",\"name\":\"none\"}],") != NULL);
	payload_free(p);
	p = conf_payload(CONF_TAGS, "[{\"type\":\"t\",\"name\":\"x\","
	    "\"when\":{\"qos\":\"y\"}}]", why, sizeof(why));
	CHECK(!payload_tagged(p, &job));
	wr_reset(&w);
	CHECK_INT(payload_start(p, &how, &job, &w, &wrong), 0);
	CHECK(strstr(text_of(), "tags") == NULL);
	payload_free(p);
	CHECK(conf_payload(CONF_TAGS, "[{\"type\":\"t\",\"name\":\"x\","
	    "\"when\":{\"qos\":\"a(\"}}]", why, sizeof(why)) == NULL);
	CHECK(strstr(why, "tags: item 1: \"a(\" is not a regular expression") != NULL);
	CHECK(conf_payload(CONF_TAGS, "[{\"type\":\"t\"}]", why,
	    sizeof(why)) == NULL);
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
	static const struct { enum job_end end; const char *new, *old; } t[] = {
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
		snprintf(want, sizeof(want), "{\"jobId\":4711,\"cluster\":"
		    "\"lab\",\"startTime\":1790000000,\"stopTime\":1790003600,"
		    "\"jobState\":\"%s\"}", t[i].new);
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
	CHECK_STR(text_of(), "{\"cluster\":\"lab\",\"nodes\":[{\"hostname\":"
	    "\"n1\",\"states\":[\"MIXED\",\"DRAIN\"],\"cpusAllocated\":16,"
	    "\"memoryAllocated\":64000,\"gpusAllocated\":1,\"jobsRunning\":2},"
	    "{\"hostname\":\"n2\",\"states\":[],\"cpusAllocated\":0,"
	    "\"memoryAllocated\":0,\"gpusAllocated\":0,\"jobsRunning\":0}]}");
	wr_reset(&w);
	payload_edit_meta(plain, &key, "message", "a \"b\"", &w);
	CHECK_STR(text_of(), "{\"jobId\":7,\"cluster\":\"lab\",\"startTime\":"
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

static int
message(const struct job *job, enum message kind, enum message_format format,
    size_t max, const char **why)
{
	struct message_how mh = { format, "ctl", max };
	struct payload_how how;

	payload_how_init(&how, BACKEND_1_5, NULL);
	return message_make(plain, &how, &mh, job, kind, &w, why);
}

static void
check_message(void)
{
	char id[MESSAGE_ID_MAX];
	const char *why;
	struct job job;

	job_plain(&job);
	free(job.name);
	job.name = strdup("a \"q\" \\ b");
	job.submit = 0;
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 4096, &why), 0);
	CHECK_STR(text_of(), "job,function=start_job,hostname=ctl,type=node,"
	    "type-id=0 event=\"{\\\"jobId\\\":4711,\\\"cluster\\\":\\\"lab\\\","
	    "\\\"startTime\\\":1790000000,\\\"partition\\\":\\\"main\\\","
	    "\\\"user\\\":\\\"alice\\\",\\\"project\\\":\\\"proja\\\","
	    "\\\"shared\\\":\\\"multi_user\\\",\\\"numNodes\\\":1,"
	    "\\\"numHwthreads\\\":4,\\\"walltime\\\":300,\\\"resources\\\":"
	    "[{\\\"hostname\\\":\\\"n1\\\",\\\"hwthreads\\\":[0,1,2,3]}],"
	    "\\\"metaData\\\":{\\\"jobName\\\":\\\"a \\\\\\\"q\\\\\\\" "
	    "\\\\\\\\ b\\\"}}\" 1790000000000000000\n");
	free(job.partition);
	job.partition = strdup("a b,c=d\\");
	job.state = END_TIMEOUT;
	job.end = 1790000300;
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_LINE, 4096, &why), 0);
	CHECK_STR(text_of(), "job,function=stop_job,hostname=ctl,"
	    "partition=a\\ b\\,c\\=d_,type=node,type-id=0 event=\"{\\\"jobId"
	    "\\\":4711,\\\"cluster\\\":\\\"lab\\\",\\\"startTime\\\":1790000000"
	    ",\\\"stopTime\\\":1790000300,\\\"jobState\\\":\\\"timeout\\\"}\" "
	    "1790000300000000000\n");
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_JSON, 4096, &why), 0);
	CHECK_STR(text_of(), "{\"event\":\"stop\",\"body\":{\"jobId\":4711,"
	    "\"cluster\":\"lab\",\"startTime\":1790000000,\"stopTime\":"
	    "1790000300,\"jobState\":\"timeout\"}}");
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_LINE, 64, &why), -1);
	CHECK_INT(errno, E2BIG);
	job.state = END_NOT;
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_LINE, 4096, &why), -1);
	CHECK_INT(errno, EINVAL);
	strcpy(job.key.cluster, "l\nb");
	message_id(&job.key, MESSAGE_STOP, id, sizeof(id));
	CHECK_STR(id, "l_b:4711:1790000000:stop");
	job_clear(&job);
}

static char *
filled(size_t n, const char *with)
{
	char *s = malloc(n + 1);
	size_t i;

	for (i = 0; i < n; i++)
		s[i] = with[i % strlen(with)];
	s[n] = '\0';
	return s;
}

/* Over the broker's limit: the script first, then slurmInfo, then the rest. */
static void
check_shortened(void)
{
	const char *why;
	struct job job;
	size_t max;

	job_plain(&job);
	job.script = filled(20000, "echo \"\\\"\n");
	job.slurm_info = filled(3000, "JobId=1 ");
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 1 << 20, &why),
	    0);
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 30000, &why), 1);
	CHECK(w.len <= 30000 && strstr(text_of(), "[cut]") != NULL);
	CHECK(strstr(text_of(), "jobScript") != NULL);
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 4096, &why), 1);
	CHECK(w.len <= 4096 && strstr(text_of(), "jobScript") == NULL);
	CHECK(strstr(text_of(), "slurmInfo") != NULL);
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 2000, &why), 1);
	CHECK(strstr(text_of(), "slurmInfo") != NULL);
	CHECK(strstr(text_of(), "[cut]") != NULL);
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_JSON, 500, &why), 1);
	CHECK(strstr(text_of(), "jobName") != NULL);
	CHECK(strstr(text_of(), "JobId=1") != NULL);
	for (max = 500; max > 100; max -= 7)
		if (message(&job, MESSAGE_START, MESSAGE_LINE, max, &why) == -1)
			break;
		else
			CHECK(w.len <= max);
	CHECK_INT(errno, E2BIG);
	CHECK(max < 420);
	job_clear(&job);
}

/* A typical start: 64 threads, 3 KB of texts. */
static void
check_speed(void)
{
	struct timespec a, b;
	struct job job;
	double us;
	int i;

	job_plain(&job);
	job.script = filled(1500, "srun ./a.out\n");
	job.slurm_info = filled(1500, "JobId=1 ");
	job.hosts[0].n_cpus = 0;
	job_host_add_cpus(&job.hosts[0], 0, 63);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (i = 0; i < 2000; i++) {
		struct payload_how how;
		const char *why;

		payload_how_init(&how, BACKEND_1_5, NULL);
		wr_reset(&w);
		CHECK_INT(payload_start(plain, &how, &job, &w, &why), 0);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	us = ((double)(b.tv_sec - a.tv_sec) * 1e6 +
	    (double)(b.tv_nsec - a.tv_nsec) / 1e3) / 2000;
	printf("a start body of %zu bytes takes %.1f us\n", w.len, us);
	job_clear(&job);
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
	check_message();
	check_shortened();
	check_speed();
	payload_free(plain);
	payload_free(NULL);
	wr_clear(&w);
	return check_done();
}
