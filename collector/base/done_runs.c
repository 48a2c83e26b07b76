/* SPDX-License-Identifier: MIT */
/* Runs whose end was sent recently; see tables.h. */
#include "config.h"

#include "collector/base/tables.h"

void
done_clear(struct done_runs *d)
{
	idmap_clear(&d->now);
	idmap_clear(&d->before);
}

void
done_put(struct done_runs *d, uint64_t job, int64_t start)
{
	if (d->now.n >= DONE_GENERATION) {
		idmap_clear(&d->before);
		d->before = d->now;
		d->now = (struct idmap){ 0 };
	}
	/* A run that is forgotten is only sent twice. */
	(void)idmap_put(&d->now, run_number(job, start), NULL);
}

int
done_has(const struct done_runs *d, uint64_t job, int64_t start)
{
	uint64_t number = run_number(job, start);

	return idmap_get(&d->now, number) != NULL ||
	    idmap_get(&d->before, number) != NULL;
}
