/* SPDX-License-Identifier: MIT */
/*
 * Records as JSON, as a cluster publishes them: what is read stays within the
 * bounds of struct job, and is the same after it was written and read again.
 */
#include "config.h"

#include "common/record/record_json.h"
#include "common/text/text.h"
#include "tests/fuzz/fuzz.h"

#define ROOM (1 << 20)

static void
json_bytes(struct writer *w, const struct job *job, uint64_t revision)
{
	wr_init(w, ROOM);
	record_json_write(w, job, revision);
	HOLDS(wr_end(w) == 0);
}

static void
text_holds(const char *s)
{
	HOLDS(s == NULL || (*s != '\0' && text_is_clean(s, strlen(s))));
}

static void
bounds_hold(const struct job *job)
{
	uint32_t i, k;

	HOLDS(job->key.job != 0 && job->key.job <= INT64_MAX);
	HOLDS(job->key.start > 0 && *job->key.cluster != '\0');
	HOLDS((unsigned)job->state < END__COUNT);
	HOLDS((unsigned)job->shared < SHARED__COUNT);
	HOLDS(job->end >= 0 && job->submit >= 0 && job->walltime >= 0);
	text_holds(job->user);
	text_holds(job->script);
	text_holds(job->message);
	for (i = 0; i < job->n_hosts; i++) {
		text_holds(job->hosts[i].name);
		for (k = 0; k < job->hosts[i].n_cpus; k++)
			HOLDS(job->hosts[i].cpus[k].first <=
			    job->hosts[i].cpus[k].last);
		for (k = 0; k < job->hosts[i].n_accels; k++)
			HOLDS(strlen(job->hosts[i].accels[k]) < ACCEL_MAX);
	}
}

static void
again_holds(const struct job *job, uint64_t revision)
{
	char why[RECORD_WHY_MAX];
	struct writer one, two;
	struct job copy;
	uint64_t again;

	json_bytes(&one, job, revision);
	job_init(&copy);
	HOLDS(record_json_read(&copy, &again, (char *)one.buf, one.len, why,
		  sizeof(why)) == RECORD_JSON_OK);
	HOLDS(again == revision && copy.revision == revision);
	json_bytes(&two, &copy, again);
	HOLDS(one.len == two.len && memcmp(one.buf, two.buf, one.len) == 0);
	job_clear(&copy);
	wr_clear(&one);
	wr_clear(&two);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char why[RECORD_WHY_MAX] = "", *text = exact(bytes, n);
	uint64_t revision;
	struct job job;

	fuzz_quiet();
	job_init(&job);
	switch (record_json_read(&job, &revision, text, n, why, sizeof(why))) {
	case RECORD_JSON_OK:
		HOLDS(*why == '\0');
		bounds_hold(&job);
		again_holds(&job, revision);
		break;
	default:
		HOLDS(*why != '\0' && text_is_clean(why, strlen(why)));
	}
	job_clear(&job);
	free(text);
	return 0;
}
