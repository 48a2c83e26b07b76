/* SPDX-License-Identifier: MIT */
/*
 * test_powercut [CUTS [SEED]]: power cuts under the spool (20 of them as a
 * test).  The disk is a model of one (power.c): what was written since the
 * last flush is there in part or not at all, sector by sector, torn and out of
 * order.  After each cut the spool is what the last acknowledged commit made
 * it, or what the one under way did: whole, and nothing in between.
 *
 * Then the same on a disk that only says that it has flushed: there the test
 * must find losses, or it would prove nothing.
 */
#include "config.h"

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "submitter/spool/spool_private.h"
#include "tests/unit/check.h"
#include "tests/unit/submitter/spool/power.h"

#define CUTS  20
#define RUNS  500 /* of one world */
#define LIFE  50  /* cuts, then a new world: its runs are done */
#define BATCH 20  /* changes of a commit at most */
#define SPAN  400 /* writes within which the current fails */

/* How far a run is. */
enum {
	NOT,
	STORED,
	ENDED,
	DONE
};

/* The runs and the cursor that a spool must have, or may have. */
struct world {
	uint8_t run[RUNS + 1];
	int64_t cursor;
};

static struct world acked, tried;
static unsigned long commits, losses;
static const char path[] = "power-cut.db"; /* in the model alone */

static struct spool *
begin(void)
{
	char reason[256];
	struct spool *sp = spool_open(path, 64 << 20, 604800, reason,
	    sizeof(reason));

	if (sp != NULL)
		spool_policy(sp)->to[DEST_REST] = 1;
	return sp;
}

static void
put(struct spool *sp, uint64_t id, int ended)
{
	struct job job;
	int64_t row;

	job_init(&job);
	memcpy(job.key.cluster, "alpha", 6);
	job.key.job = id;
	job.key.start = 1000000 + (int64_t)id;
	job.flags = JOB_HAS_START;
	if (ended) {
		job.end = job.key.start + 60;
		job.state = END_COMPLETED;
	}
	job.script = malloc(1200);
	if (job.script != NULL) {
		memset(job.script, 'x', 1199);
		job.script[power_random(1200)] = '\0';
		job.script[1199] = '\0';
	}
	spool_put(sp, &job, &row);
	job_clear(&job);
}

static void
key_of(struct run_key *key, uint64_t id)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->cluster, "alpha", 6);
	key->job = id;
	key->start = 1000000 + (int64_t)id;
}

static void
change(struct spool *sp)
{
	uint64_t id = 1 + power_random(RUNS);
	struct spool_run run;
	struct run_key key;

	key_of(&key, id);
	switch (tried.run[id]) {
	case NOT:
		put(sp, id, 0);
		break;
	case STORED:
		put(sp, id, 1);
		break;
	case ENDED:
		if (spool_find(sp, &key, &run) == 1)
			spool_finish(sp, &run);
		break;
	default:
		spool_watermark(sp, "alpha", ++tried.cursor);
		return;
	}
	tried.run[id]++;
}

/* Commits until the current fails. */
static void
work(struct spool *sp)
{
	uint64_t n;

	while (!power_is_off()) {
		for (n = 1 + power_random(BATCH); n > 0; n--)
			change(sp);
		if (spool_commit(sp) == -1)
			return;
		commits++;
		acked = tried;
	}
}

static int
run_is(struct spool *sp, uint64_t id)
{
	struct spool_run run;
	struct run_key key;
	struct job job;
	int is = NOT;

	key_of(&key, id);
	if (spool_is_done(sp, &key))
		is = DONE;
	if (spool_find(sp, &key, &run) == 1) {
		if (is == DONE)
			return -1;
		is = run.end != 0 ? ENDED : STORED;
		job_init(&job);
		if (spool_record(sp, run.id, &job) == -1 || job.end != run.end)
			is = -1;
		job_clear(&job);
	}
	return is;
}

static int
world_is(struct spool *sp, struct world *w)
{
	struct run_key name;
	uint64_t id;

	memset(w, 0, sizeof(*w));
	spool_cluster(sp, 0, &name, &w->cursor);
	for (id = 1; id <= RUNS; id++) {
		int is = run_is(sp, id);

		if (is == -1)
			return -1;
		w->run[id] = (uint8_t)is;
	}
	return 0;
}

static int
worlds_equal(const struct world *a, const struct world *b)
{
	return a->cursor == b->cursor &&
	    memcmp(a->run, b->run, sizeof(a->run)) == 0;
}

/* 0 when what is there is what may be there. */
static int
cut(void)
{
	struct world there;
	struct spool *sp;
	char text[256];
	int bad = 1;

	power_cut_at(1 + (unsigned)power_random(SPAN));
	if ((sp = begin()) != NULL) {
		work(sp);
		spool_close(sp);
	}
	power_back();
	sp = begin();
	if (sp != NULL && spool_check(sp, text, sizeof(text)) == 0 &&
	    world_is(sp, &there) == 0)
		bad = !worlds_equal(&there, &acked) &&
		    !worlds_equal(&there, &tried);
	if (!bad)
		acked = tried = there;
	spool_close(sp);
	return bad;
}

static void
world_new(void)
{
	memset(&acked, 0, sizeof(acked));
	memset(&tried, 0, sizeof(tried));
	power_forget();
}

static unsigned long
cuts(long n)
{
	unsigned long bad = 0;
	long i;

	for (i = 0; i < n; i++) {
		if (i % LIFE == 0 || bad > 0)
			world_new();
		bad += (unsigned long)cut();
	}
	return bad;
}

/* A disk that fails for a while: said in words, nothing half done, and it goes on. */
static void
test_passing_error(void)
{
	struct run_key key;
	struct spool_run run;
	struct spool *sp;

	world_new();
	sp = begin();
	CHECK(sp != NULL);
	put(sp, 1, 0);
	CHECK_INT(spool_commit(sp), 0);
	put(sp, 2, 0);
	power_cut_at(1);
	CHECK_INT(spool_commit(sp), -1);
	CHECK(spool_failed(sp));
	CHECK(strstr(spool_error(sp), "disk I/O error") != NULL);
	spool_rollback(sp);
	key_of(&key, 2);
	CHECK_INT(spool_find(sp, &key, &run), 0);
	power_resume();
	put(sp, 2, 0);
	CHECK_INT(spool_commit(sp), 0);
	CHECK(!spool_failed(sp));
	CHECK_INT(spool_runs(sp), 2);
	spool_close(sp);
}

/*
 * The same without honesty: what is torn then may also end the process, so
 * each is one.
 */
static unsigned long
cuts_of_a_liar(long n)
{
	unsigned long bad = 0;
	int status = 1;
	pid_t pid;
	long i;

	power_lies(1);
	for (i = 0; i < n; i++) {
		power_random(2);
		world_new();
		if ((pid = fork()) == 0) {
			close(STDERR_FILENO);
			_exit(cut() != 0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		bad += status != 0;
	}
	return bad;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : CUTS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;

	log_init("test_powercut", LOG_LEVEL_FATAL);
	power_prepare(seed);
	spool_prepare();
	losses = cuts(n);
	printf("%ld power cuts, %lu commits acknowledged, %lu times something "
	       "was lost or torn\n",
	    n, commits, losses);
	CHECK_INT(losses, 0);
	CHECK(commits > (unsigned long)n);
	test_passing_error();
	losses = cuts_of_a_liar(CUTS);
	printf("on a disk that lies: %lu of %d\n", losses, CUTS);
	CHECK(losses > 0);
	return check_done();
}
