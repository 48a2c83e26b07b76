/* SPDX-License-Identifier: MIT */
/* Rows of squeue: recorded ones and malformed ones. */
#include "config.h"

#include <stdlib.h>

#include "collector/parse/parse.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

#define S(text) ((struct span) { text, strlen(text) })

static const char *const versions[] = { "20.11", "22.05", "24.11" };
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

/* The phase of each line of a recording, as a letter. */
struct phase_letters {
	char phases[16];
	size_t n;
};

static int
on_listed(struct span line, void *arg)
{
	struct phase_letters *l = arg;
	struct squeue_job row;

	CHECK_INT(squeue_row(line, &row), 0);
	CHECK(row.start != 0 || row.state->phase == PHASE_PENDING);
	l->phases[l->n++] = "PCRxE"[row.state->phase];
	return 0;
}

static void
test_squeue(void)
{
	static const char *const bad[] = { "", "x R 1", "5", "0 R 1",
		"5 R No x", "5 R No 1 2", "-5 R No 1", "5  1", "5 R 1",
		"5 R No", "5 R No ", "5 R    ", " 5 R No 1" };
	struct squeue_job row;
	struct phase_letters l = { "", 0 };
	char *copy;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		l = (struct phase_letters) { "", 0 };
		recording_lines(versions[i], "squeue.txt", on_listed, &l);
		CHECK_STR(l.phases, i == 2 ? "EPPPR" : "PPPPR");
	}
	CHECK_INT(squeue_row(S("12 R No 1795212354"), &row), 0);
	CHECK(row.job == 12 && row.start == 1795212354 &&
	    row.state->phase == PHASE_RUNNING);
	CHECK_INT(squeue_row(S("12 PD Be N/A"), &row), 0);
	CHECK_INT(row.start, 0);
	CHECK_INT(squeue_row(S("12 R Pr 1795212354"), &row), 0);
	CHECK(row.state->phase == PHASE_CONFIGURING);
	CHECK_INT(squeue_row(S("12 CG Pr 1795212354"), &row), 0);
	CHECK(row.state->phase == PHASE_COMPLETING);
	/* squeue pads a reason of one letter, and an empty one. */
	CHECK_INT(squeue_row(S("12 R x  1795212354"), &row), 0);
	CHECK_INT(row.start, 1795212354);
	CHECK_INT(squeue_row(S("12 R    1795212354"), &row), 0);
	CHECK(row.start == 1795212354 && row.state->phase == PHASE_RUNNING);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(squeue_row(line_new(bad[i], strlen(bad[i]), &copy),
			      &row),
		    -1);
		free(copy);
	}
}

int
main(void)
{
	test_squeue();
	return check_done();
}
