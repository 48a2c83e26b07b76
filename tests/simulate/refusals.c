/* SPDX-License-Identifier: MIT */
/* See refusals.h. */
#include "config.h"

#include <string.h>

#include "tests/simulate/cc_box.h"
#include "tests/simulate/check.h"
#include "tests/simulate/reduce.h"
#include "tests/simulate/refusals.h"
#include "tests/simulate/truth.h"
#include "tests/simulate/world.h"

#define FAILS_MAX (30 * HOUR_MS)

static const char deletion_invalid[] =
    "{\"status\":\"Bad Request\",\"error\":\"the deletion is refused\"}";
static const char no_cluster[] =
    "{\"status\":\"Bad Request\",\"error\":\"no such cluster: " TRUTH_CLUSTER
    "\"}";
static const char failure[] =
    "{\"status\":\"Internal Server Error\",\"error\":\"disk I/O error\"}";

static struct {
	struct prng random;
	int deletion;	/* status instead of a deletion; 0 = none */
	unsigned fails; /* of a million runs: a request fails for a time */
	unsigned lacks; /* of a million restarts: without the cluster */
	int unknown;	/* the cluster, now */
	int rejects;	/* a start was rejected for that reason */
} refusals;

static int
has_kind(const char *kind)
{
	return prng_chance(&refusals.random, 300000) && reduce_allows(kind);
}

void
refusals_begin(int no_faults)
{
	prng_init(&refusals.random, world_seed(), "refusals");
	if (no_faults || !prng_chance(&refusals.random, 400000) ||
	    !reduce_allows("refusals"))
		return;
	if (has_kind("deletion-refused"))
		refusals.deletion = prng_chance(&refusals.random, 500000) ?
		    400 :
		    500;
	if (has_kind("run-fails"))
		refusals.fails = prng_chance(&refusals.random, 500000) ? 50000 :
									 500000;
	if (has_kind("cluster-unknown"))
		refusals.lacks = 500000;
}

static int
answer_with(struct cc_answer *answer, int status, const char *text)
{
	answer->status = status;
	answer->len = strlen(text);
	answer->body = world_alloc(answer->len + 1);
	memcpy(answer->body, text, answer->len);
	return 1;
}

/* The run whose request fails; its first request decides for how long. */
static int
fails(const char *path, const char *body, size_t n)
{
	struct truth_run *t = check_named(body, n);

	if (t == NULL)
		return 0;
	if (t->fails_until == 0) {
		t->fails_until = prng_chance(&refusals.random, refusals.fails) ?
		    world_ms() +
			prng_between(&refusals.random, MINUTE_MS, FAILS_MAX) :
		    1;
		t->fails_stop = prng_chance(&refusals.random, 300000);
	}
	return world_ms() < t->fails_until &&
	    t->fails_stop == (strstr(path, "stop_job") != NULL);
}

/* Not the probe, which has no job. */
static int
is_start(const char *path, const char *body, size_t n)
{
	return strstr(path, "start_job") != NULL &&
	    memmem(body, n, "\"jobId\"", 7) != NULL;
}

int
refusals_answer(const char *path, const char *body, size_t n,
    struct cc_answer *answer)
{
	if (refusals.deletion != 0 && strstr(path, "delete_job") != NULL)
		return answer_with(answer, refusals.deletion,
		    refusals.deletion == 400 ? deletion_invalid : failure);
	if (refusals.unknown && is_start(path, body, n)) {
		refusals.rejects = 1;
		return answer_with(answer, 400, no_cluster);
	}
	if (refusals.fails > 0 &&
	    (strstr(path, "start_job") != NULL ||
		strstr(path, "stop_job") != NULL) &&
	    fails(path, body, n))
		return answer_with(answer, 500, failure);
	return 0;
}

void
refusals_restart(void)
{
	if (refusals.lacks > 0)
		refusals.unknown = prng_chance(&refusals.random,
		    refusals.lacks);
	if (refusals.unknown)
		trace("cc-backend does not know the cluster");
}

int
refusals_of_deletions(void)
{
	return refusals.deletion == 400;
}

int
refusals_end(void)
{
	int retry = refusals.rejects;

	if (refusals.deletion == 500)
		refusals.deletion = 0;
	refusals.fails = refusals.lacks = 0;
	refusals.unknown = 0;
	return retry;
}
