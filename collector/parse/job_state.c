/* SPDX-License-Identifier: MIT */
/* The meaning of Slurm's job states: one table per source; see snapshot.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/snapshot.h"

static const struct job_state unknown = { "", PHASE_UNKNOWN, END_NOT };

/* squeue %t. */
static const struct job_state compact[] = {
	{ "R", PHASE_RUNNING, END_NOT },
	{ "S", PHASE_RUNNING, END_NOT },
	{ "CG", PHASE_COMPLETING, END_NOT },
	{ "CF", PHASE_CONFIGURING, END_NOT },
	{ "SO", PHASE_COMPLETING, END_NOT }, /* staging data out */
	{ "ST", PHASE_RUNNING, END_NOT },    /* stopped by a signal */
	{ "SI", PHASE_RUNNING, END_NOT },    /* receives a signal */
	{ "RS", PHASE_RUNNING, END_NOT },
	{ "PD", PHASE_PENDING, END_NOT },
	{ "SE", PHASE_PENDING, END_NOT }, /* special exit: requeued and held */
	{ "RD", PHASE_PENDING, END_NOT },
	{ "RF", PHASE_PENDING, END_NOT },
	{ "RH", PHASE_PENDING, END_NOT },
	{ "RQ", PHASE_PENDING, END_NOT },
	{ "RV", PHASE_NEVER, END_NOT },
	{ "CD", PHASE_ENDED, END_COMPLETED },
	{ "CA", PHASE_ENDED, END_CANCELLED },
	{ "F", PHASE_ENDED, END_FAILED },
	{ "TO", PHASE_ENDED, END_TIMEOUT },
	{ "NF", PHASE_ENDED, END_NODE_FAIL },
	{ "PR", PHASE_ENDED, END_PREEMPTED },
	{ "BF", PHASE_ENDED, END_BOOT_FAIL },
	{ "DL", PHASE_ENDED, END_DEADLINE },
	{ "OOM", PHASE_ENDED, END_OUT_OF_MEMORY },
};

/* JobState= of scontrol, and the first word of sacct's State. */
static const struct job_state words[] = {
	{ "RUNNING", PHASE_RUNNING, END_NOT },
	{ "PENDING", PHASE_PENDING, END_NOT },
	{ "SUSPENDED", PHASE_RUNNING, END_NOT },
	{ "CONFIGURING", PHASE_CONFIGURING, END_NOT },
	{ "COMPLETING", PHASE_COMPLETING, END_NOT },
	{ "STAGE_OUT", PHASE_COMPLETING, END_NOT },
	{ "STOPPED", PHASE_RUNNING, END_NOT },
	{ "SIGNALING", PHASE_RUNNING, END_NOT },
	{ "COMPLETED", PHASE_ENDED, END_COMPLETED },
	{ "CANCELLED", PHASE_ENDED, END_CANCELLED },
	{ "CANCELLED+", PHASE_ENDED, END_CANCELLED },
	{ "FAILED", PHASE_ENDED, END_FAILED },
	{ "TIMEOUT", PHASE_ENDED, END_TIMEOUT },
	{ "NODE_FAIL", PHASE_ENDED, END_NODE_FAIL },
	{ "PREEMPTED", PHASE_ENDED, END_PREEMPTED },
	{ "BOOT_FAIL", PHASE_ENDED, END_BOOT_FAIL },
	{ "DEADLINE", PHASE_ENDED, END_DEADLINE },
	{ "OUT_OF_MEMORY", PHASE_ENDED, END_OUT_OF_MEMORY },
	{ "REQUEUED", PHASE_ENDED, END_REQUEUED },
	{ "RESIZING", PHASE_RESIZED, END_NOT },
	{ "REVOKED", PHASE_NEVER, END_NOT },
	{ "SPECIAL_EXIT", PHASE_PENDING, END_NOT },
	{ "REQUEUE_FED", PHASE_PENDING, END_NOT },
	{ "REQUEUE_HOLD", PHASE_PENDING, END_NOT },
	{ "EXPEDITING", PHASE_PENDING, END_NOT }, /* since 25.11: requeued */
	{ "RESV_DEL_HOLD", PHASE_PENDING, END_NOT },
};

static const struct job_state *
find(const struct job_state *table, size_t n, struct span s)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (span_is(s, table[i].word))
			return &table[i];
	return &unknown;
}

/*
 * squeue prints two letters of the reason.  No other reason of a running job
 * begins with "Pr".
 */
const struct job_state *
state_with_reason(const struct job_state *state, struct span reason)
{
	if (state->phase == PHASE_RUNNING &&
	    (span_is(reason, "Pr") || span_is(reason, "Prolog")))
		return state_word((struct span) { "CONFIGURING", 11 });
	return state;
}

int
phase_has_devices(enum slurm_phase phase)
{
	return phase == PHASE_CONFIGURING || phase == PHASE_RUNNING;
}

const struct job_state *
state_compact(struct span s)
{
	return find(compact, sizeof(compact) / sizeof(compact[0]), s);
}

const struct job_state *
state_word(struct span s)
{
	const char *space = s.n > 0 ? memchr(s.p, ' ', s.n) : NULL;

	if (space != NULL)
		s.n = (size_t)(space - s.p);
	return find(words, sizeof(words) / sizeof(words[0]), s);
}
