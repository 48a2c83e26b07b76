/* SPDX-License-Identifier: MIT */
/* The tables of runs, and the map from job ids. */
#include "config.h"

#include "collector/base/tables.h"
#include "tests/unit/check.h"

static void
test_idmap(void)
{
	struct idmap m = { 0 };
	uint64_t i, sum = 0, key;
	uint32_t *v, value;
	size_t at = 0;
	int added;

	CHECK(idmap_get(&m, 1) == NULL);
	CHECK(idmap_put(&m, 0, &added) == NULL);
	for (i = 1; i <= 5000; i++) {
		v = idmap_put(&m, i * 64, &added);
		CHECK(v != NULL && added);
		*v = (uint32_t)i;
	}
	v = idmap_put(&m, 64, &added);
	CHECK(v != NULL && !added && *v == 1);
	/* Every second one goes; the others stay reachable. */
	for (i = 2; i <= 5000; i += 2)
		idmap_remove(&m, i * 64);
	CHECK_INT(m.n, 2500);
	for (i = 1; i <= 5000; i++) {
		v = idmap_get(&m, i * 64);
		CHECK((v != NULL) == (i % 2 == 1));
		CHECK(v == NULL || *v == i);
	}
	while ((key = idmap_next(&m, &at, &value)) != 0)
		sum += value;
	CHECK_INT(sum, 2500 * 2500);
	idmap_clear(&m);
}

/* Nobody can choose keys that have one slot: the order of two maps differs. */
static void
test_random(void)
{
	struct idmap m[2] = { { 0 }, { 0 } };
	size_t at[2] = { 0, 0 };
	uint64_t i, key[2];
	int k, differ = 0;

	for (k = 0; k < 2; k++) {
		idmap_random(&m[k]);
		for (i = 1; i <= 5000; i++)
			CHECK(idmap_put(&m[k], i << 20, NULL) != NULL);
		for (i = 2; i <= 5000; i += 2)
			idmap_remove(&m[k], i << 20);
		for (i = 1; i <= 5000; i++)
			CHECK((idmap_get(&m[k], i << 20) != NULL) ==
			    (i % 2 == 1));
	}
	do {
		for (k = 0; k < 2; k++)
			key[k] = idmap_next(&m[k], &at[k], NULL);
		differ |= key[0] != key[1];
	} while (key[0] != 0);
	CHECK(differ);
	idmap_clear(&m[0]);
	idmap_clear(&m[1]);
}

static void
test_open(void)
{
	struct open_runs o = { 0 };
	struct open_run *run;
	size_t at;
	uint64_t i;
	int n = 0;

	CHECK(sizeof(struct open_run) <= 40);
	CHECK(open_find(&o, 1, 1) == NULL);
	for (i = 1; i <= 3000; i++)
		CHECK(open_put(&o, i, 1000 + (int64_t)i) != NULL);
	CHECK_INT(o.n, 3000);
	/* The same run once; a second run of one job beside it. */
	CHECK(open_put(&o, 5, 1005) == open_find(&o, 5, 1005));
	CHECK_INT(o.n, 3000);
	CHECK(open_put(&o, 5, 2000) != NULL);
	at = 0;
	while (open_of_job(&o, 5, &at) != NULL)
		n++;
	CHECK_INT(n, 2);
	for (i = 1; i <= 3000; i += 3)
		open_remove(&o, open_find(&o, i, 1000 + (int64_t)i));
	for (i = 1; i <= 3000; i++)
		CHECK((open_find(&o, i, 1000 + (int64_t)i) != NULL) ==
		    (i % 3 != 1));
	/* A start that moved, by squeue, and by its submission alone. */
	run = open_find(&o, 6, 1006);
	run->start_now = 1500;
	run->submit = 900;
	CHECK(open_find(&o, 6, 1500) == run);
	CHECK(open_match(&o, 6, 1700, 900, 0) == run);
	CHECK(open_match(&o, 6, 1700, 950, 0) == NULL);
	CHECK(open_match(&o, 6, 900, 900, 0) == NULL);
	/* The clock was set back while it ran: it began before it was submitted. */
	CHECK(open_match(&o, 6, 800, 900, 0) == run);
	CHECK(open_match(&o, 6, 800, 950, 0) == NULL);
	/* Known from the spool only: no restart, so it can be no other. */
	run = open_find(&o, 8, 1008);
	CHECK(open_match(&o, 8, 1700, 900, 0) == run);
	CHECK(open_match(&o, 8, 1700, 900, 1) == NULL);
	CHECK(open_match(&o, 8, 1700, 1600, 0) == NULL);
	free(o.slots);
}

static void
test_done(void)
{
	struct done_runs d = { { 0 }, { 0 } };
	uint64_t i;

	CHECK_INT(run_number(0, 1), 0);
	CHECK_INT(run_number(1, 0), 0);
	CHECK_INT(run_number(1, -5), 0);
	CHECK_INT(run_number(1ull << 32, 5), 0);
	for (i = 1; i <= DONE_GENERATION + 10; i++)
		done_put(&d, i, 100);
	CHECK(done_has(&d, 1, 100));
	CHECK(!done_has(&d, 1, 101));
	CHECK(done_has(&d, DONE_GENERATION + 10, 100));
	for (; i <= 3 * DONE_GENERATION; i++)
		done_put(&d, i, 100);
	CHECK(!done_has(&d, 1, 100));
	done_clear(&d);
}

int
main(void)
{
	test_idmap();
	test_random();
	test_open();
	test_done();
	return check_done();
}
