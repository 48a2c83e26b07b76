/* SPDX-License-Identifier: MIT */
/*
 * Runs that Slurm took back soon: did they run, or did a prolog fail?  Their
 * steps tell.  A batch script that was begun left a step with an exit status;
 * where slurmctld's prolog failed there is no step, where a node's did the
 * step has none.  Such rows wait until accounting was asked about them.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting.h"

#define IDS_BYTES	(DOUBTS_MAX * 12)	/* ten digits each */

int
steps_waiting(const struct ledger *l, uint64_t job)
{
	unsigned i;

	for (i = 0; i < l->n_doubts; i++)
		if (l->doubts[i]->job.key.job == job)
			return 1;
	return 0;
}

int
steps_keep(struct ledger *l, struct sighting *s)
{
	struct sighting *copy;
	unsigned i;

	for (i = 0; i < l->n_doubts; i++)
		if (run_key_equal(&l->doubts[i]->job.key, &s->job.key))
			return 0;
	/* What does not fit comes again, when these have gone. */
	if (l->n_doubts == DOUBTS_MAX ||
	    (copy = malloc(sizeof(*copy))) == NULL)
		return -1;
	*copy = *s;
	copy->ran = RAN_UNKNOWN;
	sighting_init(s);
	l->doubts[l->n_doubts++] = copy;
	return 0;
}

/* A step that began and ended in a run's time, and has a status: that one ran. */
static int
on_line(struct span line, void *arg)
{
	struct ledger *l = arg;
	struct job_step step;
	unsigned i;

	if (step_row(line, &step) == -1)
		return 0;
	for (i = 0; i < l->n_doubting; i++)
		if (l->doubts[i]->job.key.job == step.job &&
		    step.start >= l->doubts[i]->job.key.start &&
		    step.end <= l->doubts[i]->job.end)
			l->doubts[i]->ran = RAN_YES;
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct ledger *l = arg;

	return lines_feed(&l->lines, p, n, on_line, l);
}

/* Those that were asked about go on; the others wait for the next question. */
static void
doubts_settled(struct ledger *l)
{
	struct sighting *s;
	unsigned i, n = l->n_doubting;

	l->n_doubting = 0;
	for (i = 0; i < n; i++) {
		s = l->doubts[i];
		if (s->ran == RAN_UNKNOWN)
			s->ran = RAN_NEVER;
		run_accounted(l->c, s, 0);
	}
	for (i = 0; i < n; i++) {
		idmap_remove(&l->c->earlier, l->doubts[i]->job.key.job);
		held_want(l->c->held, l->doubts[i]->job.key.job);
		sighting_clear(l->doubts[i]);
		free(l->doubts[i]);
	}
	l->n_doubts -= n;
	memmove(l->doubts, l->doubts + n, l->n_doubts * sizeof(*l->doubts));
	ledger_mark(l);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct ledger *l = arg;
	unsigned i;

	l->cmd = NULL;
	free(l->ids);
	l->ids = NULL;
	if (end->outcome == COMMAND_OK && l->lines.len == 0) {
		health_good(&l->c->dbd);
		doubts_settled(l);
	} else {
		for (i = 0; i < l->n_doubting; i++)
			l->doubts[i]->ran = RAN_UNKNOWN;
		l->n_doubting = 0;
		ask_failed(l->c, &l->c->dbd, "sacct", end);
	}
	lines_clear(&l->lines);
	ledger_kick(l);
	plan_kick(l->c);
}

int
steps_ask(struct ledger *l)
{
	static const char delimiter[] = "--delimiter=" STEP_DELIMITER;
	struct ask ask = { .cmd = CMD_SACCT, .deadline_ms = ASK_LONG_MS,
	    .on_output = on_output, .on_end = on_end, .arg = l };
	size_t len = 0;
	unsigned i;

	if (l->n_doubts == 0)
		return 0;
	l->ids = malloc(IDS_BYTES);
	if (l->ids == NULL)
		return 0;
	for (i = 0; i < l->n_doubts; i++)
		len += (size_t)snprintf(l->ids + len, IDS_BYTES - len, "%s%llu",
		    i > 0 ? "," : "",
		    (unsigned long long)l->doubts[i]->job.key.job);
	l->n_doubting = l->n_doubts;
	lines_clear(&l->lines);
	memcpy(ask.args, ((const char *[]){ "-D", "-a", "-P", "-n",
	    delimiter, "-o", STEP_FIELDS, "-j", l->ids, NULL }),
	    10 * sizeof(ask.args[0]));
	l->cmd = ask_start(l->c, &ask);
	return 1;
}
