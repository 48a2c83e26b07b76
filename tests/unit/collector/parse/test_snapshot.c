/* SPDX-License-Identifier: MIT */
/* The meaning of states, and the rules of snapshot.c. */
#include "config.h"

#include "collector/parse/snapshot.h"
#include "tests/unit/check.h"

#define S(text) ((struct span) { text, strlen(text) })

static void
test_states(void)
{
	CHECK_INT(state_compact(S("R"))->phase, PHASE_RUNNING);
	CHECK_INT(state_compact(S("CG"))->phase, PHASE_COMPLETING);
	/* Data is staged out after the end. */
	CHECK_INT(state_compact(S("SO"))->phase, PHASE_COMPLETING);
	CHECK_INT(state_word(S("EXPEDITING"))->phase, PHASE_PENDING);
	CHECK_INT(state_word(S("STAGE_OUT"))->phase, PHASE_COMPLETING);
	CHECK_INT(state_compact(S("??"))->phase, PHASE_UNKNOWN);
	CHECK_INT(state_word(S("CANCELLED by 1001"))->end, END_CANCELLED);
	CHECK_INT(state_word(S("REQUEUED"))->end, END_REQUEUED);
	CHECK_INT(state_word(S("RESIZING"))->phase, PHASE_RESIZED);
	CHECK_INT(state_word(S("SUSPENDED"))->phase, PHASE_RUNNING);
	CHECK_INT(state_word(S(""))->phase, PHASE_UNKNOWN);
}

static void
check_end(const char *word, uint32_t restarts, int64_t limit, int64_t lasts,
    const char *state, int64_t end)
{
	struct job_snapshot s;

	snapshot_init(&s);
	s.state = state_word((struct span) { word, strlen(word) });
	s.job.key.start = 1795273879;
	s.job.restarts = restarts;
	s.job.walltime = limit;
	snapshot_end(&s, s.job.key.start + lasts);
	CHECK_STR(s.state->word, state);
	CHECK_INT(s.job.end, end != 0 ? s.job.key.start + end : 0);
	snapshot_clear(&s);
}

/* 22.05: a failed prolog requeued the job, the epilog still runs. */
static void
test_ends(void)
{
	check_end("COMPLETING", 1, 600, 600, "PENDING", 0);
	check_end("COMPLETING", 1, 0, 31536000, "PENDING", 0);
	check_end("COMPLETING", 0, 600, 600, "COMPLETING", 0);
	check_end("COMPLETING", 1, 600, 3, "COMPLETING", 0);
	check_end("COMPLETING", 1, 600, 623, "COMPLETING", 0);
	check_end("RUNNING", 1, 600, 600, "RUNNING", 0);
	check_end("TIMEOUT", 1, 600, 600, "TIMEOUT", 600);
}

/* 20.11: a job was cancelled while it was pending after a failed prolog. */
static void
test_never(void)
{
	struct job_snapshot s;

	snapshot_init(&s);
	s.state = state_word((struct span) { "CANCELLED", 9 });
	s.job.key.start = s.job.end = 1795274541;
	CHECK(snapshot_never(&s));
	job_add_host(&s.job, "n2");
	CHECK(!snapshot_never(&s));
	s.no_nodes = 1;
	CHECK(snapshot_never(&s));
	s.job.end++;
	CHECK(!snapshot_never(&s));
	s.job.end--;
	s.state = state_word((struct span) { "COMPLETING", 10 });
	CHECK(!snapshot_never(&s));
	snapshot_clear(&s);
}

int
main(void)
{
	test_states();
	test_ends();
	test_never();
	return check_done();
}
