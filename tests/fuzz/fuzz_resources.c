/* SPDX-License-Identifier: MIT */
/*
 * Resource records of a spool file, of both versions.  The first byte decides
 * whether the others are the whole record, or what is packed in one of version
 * 2.  What is read stays within the bounds of struct job, and is the same after
 * it was written and read again.
 */
#include "config.h"

#include <zlib.h>

#include "common/model/msg.h"
#include "submitter/spool/spool_private.h"
#include "tests/fuzz/fuzz.h"

static void
bounds_hold(const struct job *job)
{
	const struct job_host *h;
	uint32_t i, k;

	HOLDS((unsigned)job->shared < SHARED__COUNT);
	HOLDS((job->flags & ~(JOB_HAS_THREADS | JOB_HAS_ACCELS)) == 0);
	HOLDS(job->n_hosts <= HOSTS_MAX);
	for (i = 0; i < job->n_hosts; i++) {
		h = &job->hosts[i];
		HOLDS(strlen(h->name) < HOST_MAX);
		for (k = 0; k < h->n_cpus; k++)
			HOLDS(h->cpus[k].first <= h->cpus[k].last);
		for (k = 0; k < h->n_accels; k++)
			HOLDS(strlen(h->accels[k]) < ACCEL_MAX);
	}
}

static void
hosts_equal(const struct job *a, const struct job *b)
{
	const struct job_host *x, *y;
	uint32_t i, k;

	HOLDS(a->shared == b->shared && a->flags == b->flags);
	HOLDS(a->n_hosts == b->n_hosts);
	for (i = 0; i < a->n_hosts; i++) {
		x = &a->hosts[i];
		y = &b->hosts[i];
		HOLDS(strcmp(x->name, y->name) == 0);
		HOLDS(x->sockets == y->sockets && x->cores == y->cores &&
		    x->threads == y->threads);
		HOLDS(x->n_cpus == y->n_cpus && x->n_accels == y->n_accels);
		HOLDS(x->n_cpus == 0 ||
		    memcmp(x->cpus, y->cpus, x->n_cpus * sizeof(*x->cpus)) ==
			0);
		for (k = 0; k < x->n_accels; k++)
			HOLDS(strcmp(x->accels[k], y->accels[k]) == 0);
	}
}

/* A key belongs to each record of version 2. */
static void
again_holds(struct job *job)
{
	struct writer w;
	struct job copy;

	if (job->key.job == 0)
		job->key = (struct run_key) { "alpha", 1, 1000 };
	wr_init(&w, MSG_PAYLOAD_MAX);
	if (spool_resources_write(&w, job) == 0) {
		job_init(&copy);
		HOLDS(spool_resources_read(w.buf, w.len, &copy) == 0);
		hosts_equal(job, &copy);
		job_clear(&copy);
	}
	wr_clear(&w);
}

static void
record_read(const uint8_t *p, size_t n)
{
	char *bytes = exact(p, n);
	struct job job;

	job_init(&job);
	if (spool_resources_read(bytes, n, &job) == 0) {
		bounds_hold(&job);
		again_holds(&job);
	}
	job_clear(&job);
	free(bytes);
}

static void
packed_read(const uint8_t *p, size_t n)
{
	uLongf len = compressBound((uLong)n);
	uint8_t *packed = malloc(len);
	struct writer w;

	HOLDS(packed != NULL);
	HOLDS(compress2(packed, &len, p, (uLong)n, Z_BEST_SPEED) == Z_OK);
	wr_init(&w, MSG_PAYLOAD_MAX);
	wr_u8(&w, 2);
	wr_u32(&w, (uint32_t)n);
	wr_blob(&w, packed, len);
	HOLDS(wr_end(&w) == 0);
	record_read(w.buf, w.len);
	wr_clear(&w);
	free(packed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_quiet();
	if (n == 0)
		return 0;
	if (bytes[0] == 'p')
		packed_read(bytes + 1, n - 1);
	else
		record_read(bytes + 1, n - 1);
	return 0;
}
