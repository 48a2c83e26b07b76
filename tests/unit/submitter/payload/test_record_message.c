/* SPDX-License-Identifier: MIT */
/* Records as messages for a stream: what a short limit leaves out, and ids. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/record/record_json.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/record_message.h"
#include "tests/unit/check.h"

static void
job_long(struct job *job)
{
	job_init(job);
	strcpy(job->key.cluster, "alpha");
	job->key.job = 4711;
	job->key.start = 1790000000;
	job->revision = 9;
	job->flags = JOB_HAS_START | JOB_BACKFILL | JOB_DRY_RUN | JOB_MORE;
	job->user = strdup("u1");
	job->message = strdup("no threads.");
	job->script = calloc(1, 4001);
	memset(job->script, 's', 4000);
	job->slurm_info = calloc(1, 2001);
	memset(job->slurm_info, 'i', 2000);
}

/* Makes the message with this limit and reads it: the result. */
static int
make(size_t max, struct job *got)
{
	char reason[RECORD_WHY_MAX];
	const char *why = NULL;
	uint64_t revision;
	struct writer w;
	struct job job;
	int rc;

	job_long(&job);
	job_init(got);
	wr_init(&w, PAYLOAD_MAX);
	rc = record_message_make(&job, max, &w, &why);
	if (rc == -1) {
		CHECK_INT(errno, EMSGSIZE);
		CHECK(why != NULL);
	} else {
		CHECK(w.len <= max);
		CHECK_INT(record_json_read(got, &revision, (char *)w.buf, w.len,
			      reason, sizeof(reason)),
		    RECORD_JSON_OK);
		CHECK_INT(revision, 9);
	}
	wr_clear(&w);
	job_clear(&job);
	return rc;
}

static void
test_limits(void)
{
	struct job got;

	CHECK_INT(make(100000, &got), 0);
	CHECK_INT(strlen(got.script), 4000);
	/* Flags of this spool are not in the message. */
	CHECK_INT(got.flags, JOB_HAS_START | JOB_MORE);
	job_clear(&got);

	CHECK_INT(make(4000, &got), 1);
	CHECK(got.script == NULL);
	CHECK_INT(strlen(got.slurm_info), 2000);
	CHECK_STR(got.message,
	    "no threads. The job script is left out: the record is longer "
	    "than the 4000 bytes that the NATS server accepts.");
	job_clear(&got);

	CHECK_INT(make(1000, &got), 1);
	CHECK(got.script == NULL && got.slurm_info == NULL);
	CHECK(strstr(got.message, "job script is left out") != NULL);
	CHECK(strstr(got.message, "by Slurm is left out") != NULL);
	job_clear(&got);

	CHECK_INT(make(100, &got), -1);
	job_clear(&got);
}

/* A row of a time before the records had revisions. */
static void
test_first_revision(void)
{
	const char *why;
	struct writer w;
	struct job job;

	job_long(&job);
	job.revision = 0;
	wr_init(&w, PAYLOAD_MAX);
	CHECK_INT(record_message_make(&job, 100000, &w, &why), 0);
	CHECK_INT(job.revision, 1);
	wr_clear(&w);
	job_clear(&job);
}

static void
test_id(void)
{
	char id[RECORD_ID_MAX], cluster[CLUSTER_MAX];
	struct job job;

	job_init(&job);
	strcpy(job.key.cluster, "a b");
	job.key.job = 12;
	job.key.start = 1790000000;
	job.revision = 7;
	record_message_id(&job, 0, id, sizeof(id));
	CHECK_STR(id, "a_b:12:1790000000:record:7");
	record_message_id(&job, 1790000099, id, sizeof(id));
	CHECK_STR(id, "a_b:12:1790000000:record:7:1790000099");
	memset(cluster, 'c', sizeof(cluster) - 1);
	cluster[sizeof(cluster) - 1] = '\0';
	memcpy(job.key.cluster, cluster, sizeof(cluster));
	job.key.job = job.revision = UINT64_MAX;
	job.key.start = INT64_MIN;
	record_message_id(&job, INT64_MIN, id, sizeof(id));
	CHECK(strlen(id) < sizeof(id) - 1);
}

int
main(void)
{
	test_limits();
	test_first_revision();
	test_id();
	return check_done();
}
