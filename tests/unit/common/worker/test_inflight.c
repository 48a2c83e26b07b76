/* SPDX-License-Identifier: MIT */
/* The page that names the run in work. */
#include "config.h"

#include "common/worker/inflight.h"
#include "tests/unit/check.h"

static void
test_inflight(void)
{
	struct run_key key = { "alpha", 4711, 1790000000 }, got;
	struct inflight *ours, *theirs;
	int fd;

	ours = inflight_new(&fd);
	CHECK(ours != NULL);
	theirs = inflight_map(fd);
	CHECK(theirs != NULL);
	CHECK_INT(inflight_read(ours, &got), 0);
	inflight_set(theirs, &key);
	CHECK_INT(inflight_read(ours, &got), 1);
	CHECK(run_key_equal(&key, &got));
	inflight_clear(theirs);
	CHECK_INT(inflight_read(ours, &got), 0);
	/* No reader of a run takes these times. */
	key.start = -1;
	inflight_set(theirs, &key);
	CHECK_INT(inflight_read(ours, &got), 0);
	key.start = INT64_MAX;
	inflight_set(theirs, &key);
	CHECK_INT(inflight_read(ours, &got), 0);
	inflight_free(ours);
	inflight_free(theirs);
}

int
main(void)
{
	test_inflight();
	return check_done();
}
