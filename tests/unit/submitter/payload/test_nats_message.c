/* SPDX-License-Identifier: MIT */
/* NATS messages: both formats, ids, texts shortened to the broker's limit. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "submitter/payload/nats_message.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/payload/sample.h"

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
	CHECK_STR(text_of(),
	    "job,function=start_job,hostname=ctl,type=node,"
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
	CHECK_STR(text_of(),
	    "job,function=stop_job,hostname=ctl,"
	    "partition=a\\ b\\,c\\=d_,type=node,type-id=0 event=\"{\\\"jobId"
	    "\\\":4711,\\\"cluster\\\":\\\"lab\\\",\\\"startTime\\\":1790000000"
	    ",\\\"stopTime\\\":1790000300,\\\"jobState\\\":\\\"timeout\\\"}\" "
	    "1790000300000000000\n");
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_JSON, 4096, &why), 0);
	CHECK_STR(text_of(),
	    "{\"event\":\"stop\",\"body\":{\"jobId\":4711,"
	    "\"cluster\":\"lab\",\"startTime\":1790000000,\"stopTime\":"
	    "1790000300,\"jobState\":\"timeout\"}}");
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_LINE, 64, &why), -1);
	CHECK_INT(errno, E2BIG);
	job.state = END_NOT;
	CHECK_INT(message(&job, MESSAGE_STOP, MESSAGE_LINE, 4096, &why), -1);
	CHECK_INT(errno, EINVAL);
	strcpy(job.key.cluster, "l\nb");
	message_id(&job.key, MESSAGE_STOP, 0, id, sizeof(id));
	CHECK_STR(id, "l_b:4711:1790000000:stop");
	/* published again: the stream may still know the first id */
	message_id(&job.key, MESSAGE_START, 1800000000, id, sizeof(id));
	CHECK_STR(id, "l_b:4711:1790000000:start:1800000000");
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

/* First jobScript is shortened, then slurmInfo, then metaData omitted. */
static void
check_shortened(void)
{
	const char *why;
	struct job job;
	size_t max;

	job_plain(&job);
	job.script = filled(20000, "echo \"\\\"\n");
	job.slurm_info = filled(3000, "JobId=1 ");
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 1 << 20, &why), 0);
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

/* Less memory than a message needs now may be free again later. */
static void
check_no_memory(void)
{
#ifndef SANITIZED /* the sanitizer needs memory itself */
	struct rlimit before, none;
	const char *why = NULL;
	struct job job;
	int rc, error;

	if (check_on_valgrind())
		return;
	job_plain(&job);
	job.script = filled(4 << 20, "sleep 1\n");
	wr_clear(&w);
	CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
	none = before;
	none.rlim_cur = 0;
	CHECK_INT(setrlimit(RLIMIT_AS, &none), 0);
	rc = message(&job, MESSAGE_START, MESSAGE_LINE, 8 << 20, &why);
	error = errno;
	CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
	CHECK_INT(rc, -1);
	CHECK_INT(error, ENOMEM);
	CHECK_STR(why, "out of memory");
	CHECK_INT(message(&job, MESSAGE_START, MESSAGE_LINE, 8 << 20, &why), 0);
	job_clear(&job);
#endif
}

int
main(void)
{
	char why[128];

	wr_init(&w, PAYLOAD_MAX);
	plain = conf_payload(CONF__COUNT, NULL, why, sizeof(why));
	CHECK(plain != NULL);
	check_message();
	check_shortened();
	check_no_memory();
	payload_free(plain);
	wr_clear(&w);
	return check_done();
}
