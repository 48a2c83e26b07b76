/* SPDX-License-Identifier: MIT */
/*
 * The search for the oldest job: a model of accounting answers each round, and
 * a failed round has no result.
 */
#include "config.h"

#include "collector/oldest_job.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct oldest_job search;
static unsigned rounds, asked;
#define MAX_JOB_ID 67043328

static uint64_t submit_begin; /* of the job with this id and those behind it */

/* Does accounting have the job? */
typedef int has_fn(uint64_t id);

static int64_t
submit_of(uint64_t id)
{
	if (submit_begin != 0 && id < submit_begin) /* ids have begun anew */
		id += MAX_JOB_ID;
	return 1000000000 + (int64_t)id;
}

static uint64_t
oldest(uint64_t first, uint64_t next, has_fn *has)
{
	uint64_t id;
	unsigned n;

	memset(&search, 0, sizeof(search));
	search.first = first;
	search.next = next;
	search.max = MAX_JOB_ID;
	rounds = asked = 0;
	oldest_job_begin(&search);
	do {
		rounds++;
		for (n = 0; (id = oldest_job_id(&search, n)) != 0; n++) {
			CHECK(id >= first && id < MAX_JOB_ID);
			asked++;
			if (has(id) && (id < next || submit_begin != 0) &&
			    oldest_job_row(&search, id, submit_of(id)) == -1)
				break;
		}
	} while (oldest_job_next(&search));
	CHECK(rounds <= OLDEST_ROUNDS_MAX);
	CHECK(asked <= rounds * 257);
	return search.job;
}

static int
has_all(uint64_t id)
{
	return 1;
}

static int
has_none(uint64_t id)
{
	return 0;
}

static int
has_purged(uint64_t id)
{
	return id >= 4123457;
}

static int
has_last(uint64_t id)
{
	return id >= 4999999;
}

/* Every second id has no job, and one range of 200 ids. */
static int
has_gaps(uint64_t id)
{
	return id >= 4123456 && id % 2 == 0 && (id < 4200000 || id > 4200200);
}

/* Each round finds an older job. */
static int
has_endless(uint64_t id)
{
	return id == search.high;
}

/* The ids have begun anew: 1 to 1,999 are the newest jobs. */
static int
has_wrapped(uint64_t id)
{
	return id < 2000 || id >= 3000000;
}

static void
on_unused(void *arg)
{
}

static void
on_advanced(struct cluster *c, int64_t until)
{
}

static void
on_found(void *arg)
{
	struct oldest_job *o = arg;

	sim_note("%s %llu", o->is_known ? "oldest" : "perhaps",
	    (unsigned long long)o->job);
}

/* slurmctld's and the first two answers of accounting */
static void
search_begin(struct oldest_job *o, struct cluster *c)
{
	oldest_job_search(o, c, on_found, o);
	sim_answer("scontrol",
	    "FirstJobId              = 1\nMaxJobId                = 67043328\n"
	    "NEXT_JOB_ID             = 1000\n");
	sim_answer("sacct", "");
	sim_answer("sacct", sim_sacct_row("u", 900, "COMPLETED", 5, 5, 9));
}

/* A job that was found before the error may not be the oldest one. */
static void
test_failed_round(void)
{
	static const struct outbox_ops ops = { on_unused, on_unused,
		on_advanced };
	struct cluster *c = sim_begin(&ops, NULL);
	struct oldest_job *o = sim_keep(calloc(1, sizeof(*o)));

	search_begin(o, c);
	CHECK_STR(sim_said(), "");
	sim_answer_failed("sacct", "", "slurmdbd: Connection refused");
	CHECK_STR(sim_said(), "perhaps 900");
	/* The next search asks again. */
	search_begin(o, c);
	sim_answer("sacct", sim_sacct_row("u", 899, "COMPLETED", 4, 5, 9));
	while (*sim_asked() != '\0')
		sim_answer("sacct", "");
	CHECK_STR(sim_said(), "oldest 899");
	sim_pass(500);
	oldest_job_search(o, c, on_found, o);
	CHECK_STR(sim_said(), "oldest 899");
	CHECK_STR(sim_asked(), "");
}

int
main(void)
{
	test_failed_round();
	CHECK_INT(oldest(1, 2, has_all), 1);
	CHECK_INT(oldest(1, 100, has_all), 1);
	CHECK_INT(oldest(1, 5000000, has_all), 1);
	CHECK_INT(oldest(1, 5000000, has_none), 0);
	CHECK_INT(rounds, 2);
	CHECK_INT(oldest(1, 5000000, has_purged), 4123457);
	CHECK_INT(oldest(1, 5000000, has_last), 4999999);
	CHECK_INT(oldest(1, MAX_JOB_ID, has_purged), 4123457);
	CHECK_INT(oldest(1, 5000000, has_gaps), 4123456);
	CHECK_INT(search.submit, submit_of(4123456));
	oldest(1, 5000000, has_endless);
	CHECK_INT(rounds, OLDEST_ROUNDS_MAX);
	submit_begin = 2000;
	CHECK_INT(oldest(1, 2000, has_wrapped), 3000000);
	submit_begin = 0;
	memset(&search, 0, sizeof(search));
	while (oldest_job_row(&search, 5, 5) == 0)
		continue;
	CHECK(search.rows < 100000);
	return check_done();
}
