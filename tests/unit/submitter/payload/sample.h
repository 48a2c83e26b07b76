/* SPDX-License-Identifier: MIT */
/* A record, a configuration and a writer for the tests of submitter/payload. */
#ifndef TESTS_UNIT_SUBMITTER_PAYLOAD_SAMPLE_H
#define TESTS_UNIT_SUBMITTER_PAYLOAD_SAMPLE_H

#include <stdlib.h>

#include "submitter/payload/payload.h"
#include "tests/unit/check.h"

static struct payload *plain; /* of the default configuration */
static struct writer w;

/* What was written to w. */
static inline const char *
text_of(void)
{
	static char buf[1 << 20];

	CHECK(w.len < sizeof(buf));
	memcpy(buf, w.buf, w.len);
	buf[w.len] = '\0';
	return buf;
}

/* The default configuration with one value, unless value is NULL. */
static inline struct payload *
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

/* A running job on one host with four threads. */
static inline void
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

#endif
