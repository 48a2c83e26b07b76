/* SPDX-License-Identifier: MIT */
/*
 * Run records as bytes, as they come from a neighbour or the spool: one, and
 * behind it a second of which the first learns.
 */
#include "config.h"

#include "common/model/job.h"
#include "tests/fuzz/fuzz.h"

static void
job_bytes(struct writer *w, const struct job *job)
{
	wr_init(w, SIZE_MAX / 2);
	job_write(w, job);
	HOLDS(wr_end(w) == 0);
}

static void
job_copy(struct job *to, const struct job *from)
{
	struct writer w;
	struct reader r;

	job_bytes(&w, from);
	rd_init(&r, w.buf, w.len);
	job_init(to);
	job_read(&r, to);
	HOLDS(rd_end(&r) == 0);
	wr_clear(&w);
}

static int
same(const struct job *a, const struct job *b)
{
	struct writer x, y;
	int rc;

	job_bytes(&x, a);
	job_bytes(&y, b);
	rc = x.len == y.len && memcmp(x.buf, y.buf, x.len) == 0;
	wr_clear(&x);
	wr_clear(&y);
	return rc;
}

static void
bounds_hold(const struct job *job)
{
	uint32_t i, k;

	HOLDS((unsigned)job->state < END__COUNT);
	HOLDS((unsigned)job->shared < SHARED__COUNT);
	HOLDS(job->n_hosts <= HOSTS_MAX);
	for (i = 0; i < job->n_hosts; i++) {
		HOLDS(strlen(job->hosts[i].name) < HOST_MAX);
		HOLDS(job->hosts[i].n_cpus <= RANGES_MAX);
		HOLDS(job->hosts[i].n_accels <= ACCELS_MAX);
		for (k = 0; k < job->hosts[i].n_accels; k++)
			HOLDS(strlen(job->hosts[i].accels[k]) < ACCEL_MAX);
	}
}

/* What is learned is kept; the same told twice is nothing new. */
static void
merge_holds(const struct job *first, const struct job *second)
{
	struct job into, from, was;
	int changed;

	job_copy(&into, first);
	job_copy(&from, second);
	changed = job_merge(&into, &from);
	job_clear(&from);
	bounds_hold(&into);
	if (!changed)
		HOLDS(same(&into, first));
	HOLDS(first->end == 0 ||
	    (into.end == first->end && into.state == first->state));
	HOLDS(first->n_hosts == 0 || into.n_hosts != 0);
	HOLDS((first->flags & (JOB_HAS_THREADS | JOB_HAS_ACCELS) &
		  ~into.flags) == 0);
	/* Only a record with a higher revision replaces a text. */
	HOLDS(first->script == NULL ||
	    strcmp(first->script, into.script) == 0 ||
	    (first->revision != 0 && second->revision > first->revision));
	HOLDS(into.revision ==
	    (second->revision > first->revision ? second->revision :
						  first->revision));
	/* An end without a state is no end: its reason stays open. */
	if (second->end == 0 || second->state != END_NOT) {
		job_copy(&from, second);
		job_copy(&was, &into);
		HOLDS(job_merge(&into, &from) == 0 && same(&into, &was));
		job_clear(&from);
		job_clear(&was);
	}
	job_clear(&into);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct job first, second, copy;
	struct node_state node;
	struct open_key open;
	struct run_key key;
	struct reader r;

	fuzz_quiet();
	rd_init(&r, bytes, n);
	node_read(&r, &node);
	HOLDS(memchr(node.host, '\0', sizeof(node.host)) != NULL);
	HOLDS(memchr(node.states, '\0', sizeof(node.states)) != NULL);
	rd_init(&r, bytes, n);
	rd_run_key(&r, &key);
	HOLDS(memchr(key.cluster, '\0', sizeof(key.cluster)) != NULL);
	rd_init(&r, bytes, n);
	rd_open_key(&r, &open);
	HOLDS(memchr(open.key.cluster, '\0', sizeof(open.key.cluster)) != NULL);
	HOLDS(open.submit >= 0 && open.submit <= TIME_S_MAX);

	rd_init(&r, bytes, n);
	job_init(&first);
	job_init(&second);
	job_read(&r, &first);
	if (r.err == 0) {
		bounds_hold(&first);
		job_copy(&copy, &first);
		HOLDS(same(&first, &copy));
		job_clear(&copy);
		job_read(&r, &second);
		if (r.err == 0) {
			merge_holds(&first, &second);
			merge_holds(&second, &first);
		}
		merge_holds(&first, &first);
	}
	job_clear(&first);
	job_clear(&second);
	return 0;
}
