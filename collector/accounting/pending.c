/* SPDX-License-Identifier: MIT */
/*
 * Ended runs that nobody saw running: slurmctld remembers their threads for a
 * while, so their rows wait until it was asked.
 */
#include "config.h"

#include <stdlib.h>

#include "collector/accounting/accounting.h"

int
ledger_keep(struct ledger *l, struct sighting *s)
{
	uint64_t number = run_number(s->job.key.job, s->job.key.start);
	struct sighting *copy;
	int added;

	if (number == 0)	/* of no run that could be told apart */
		return run_accounted(l->c, s, 0) == ROW_FAILED ? -1 : 0;
	/* The last day again, or the lag, may bring it twice. */
	if (idmap_get(&l->held_runs, number) != NULL)
		return 0;
	if (l->n_held == HELD_ROWS_MAX) {
		l->left_out++;
		return 0;
	}
	copy = malloc(sizeof(*copy));
	if (copy == NULL || idmap_put(&l->held_runs, number, &added) == NULL) {
		free(copy);
		return -1;
	}
	*copy = *s;
	sighting_init(s);
	l->held[l->n_held++] = copy;
	return 0;
}

int
ledger_holds(struct ledger *l, const struct run_key *key)
{
	return idmap_get(&l->held_runs, run_number(key->job, key->start)) !=
	    NULL;
}

void
ledger_details_wanted(struct ledger *l, struct details *d)
{
	unsigned i;

	for (i = 0; i < l->n_held; i++)
		if (details_want(d, l->held[i]->job.key.job) == -1)
			return;
}

/*
 * What slurmctld knew was sent with its end, or is open now; then the row has
 * nothing to add, or brings the end.  What it did not know goes alone.
 */
void
ledger_details_done(struct ledger *l, const struct details *d)
{
	struct sighting *s;
	uint64_t number;
	unsigned i, n = 0;

	for (i = 0; i < l->n_held; i++) {
		s = l->held[i];
		number = run_number(s->job.key.job, s->job.key.start);
		switch (details_verdict(d, s->job.key.job)) {
		case DETAIL_UNSEEN:
		case DETAIL_LATER:
			l->held[n++] = s;
			continue;
		default:
			break;
		}
		if (run_accounted(l->c, s, 0) == ROW_WANTS_STEPS &&
		    steps_keep(l, s) == -1) {
			l->held[n++] = s;
			continue;
		}
		idmap_remove(&l->held_runs, number);
		sighting_clear(s);
		free(s);
	}
	l->n_held = n;
	ledger_mark(l);
}
