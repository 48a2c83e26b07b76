/* SPDX-License-Identifier: MIT */
/*
 * Watches the states of the runs: each change is counted, and an event that the
 * table does not allow in a state is a failure.  The linker puts
 * __wrap_run_move() in front of run_move().
 */
#include "config.h"

#include "submitter/spool/transition.h"
#include "tests/simulate/coverage.h"
#include "tests/simulate/world.h"

int __real_run_move(struct spool *sp, struct spool_run *run, enum dest dest,
    enum run_event event, int64_t due, const char *reason);
int __wrap_run_move(struct spool *sp, struct spool_run *run, enum dest dest,
    enum run_event event, int64_t due, const char *reason);

int
__wrap_run_move(struct spool *sp, struct spool_run *run, enum dest dest,
    enum run_event event, int64_t due, const char *reason)
{
	enum run_state before = run->state[dest];
	int rc = __real_run_move(sp, run, dest, event, due, reason);

	invariant(rc == 0, "%s: \"%s\" in state \"%s\"",
	    run_key_text(&run->key), run_event_text(event),
	    run_state_label(before));
	trace("%s: %s: %s", run_key_text(&run->key), run_event_text(event),
	    run_state_label(run->state[dest]));
	coverage_add(dest, before, event);
	return rc;
}

int
submitter_transition(unsigned dest, unsigned state, unsigned event,
    const char **from, const char **what)
{
	if (state >= RUN_STATE__COUNT || event >= RUN_EVENT__COUNT)
		return -1;
	*from = run_state_label((enum run_state)state);
	*what = run_event_text((enum run_event)event);
	return run_next((enum dest)dest, (enum run_state)state,
		   (enum run_event)event, 0) != RUN_STATE__COUNT ||
	    run_next((enum dest)dest, (enum run_state)state,
		(enum run_event)event, 1) != RUN_STATE__COUNT;
}
