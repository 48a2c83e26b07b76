/* SPDX-License-Identifier: MIT */
/* The collector's message about Slurm's daemons, in counters. */
#include "config.h"

#include "common/model/msg.h"
#include "submitter/history/history.h"

/* slurmctld, then slurmdbd. */
static const struct {
	enum history_counter away, n, ms, ms_max;
} counters[] = {
	{ COUNT_CTLD_AWAY, COUNT_CTLD_N, COUNT_CTLD_MS, COUNT_CTLD_MS_MAX },
	{ COUNT_DBD_AWAY, COUNT_DBD_N, COUNT_DBD_MS, COUNT_DBD_MS_MAX },
};

#define DAEMONS (sizeof(counters) / sizeof(counters[0]))

_Static_assert(DAEMONS * 4 * sizeof(uint32_t) == MSG_SLURM_TIMES_LEN,
    "four numbers for each daemon");

int
history_slurm_times(struct history *h, struct reader *r)
{
	uint32_t away[DAEMONS], n[DAEMONS], ms[DAEMONS], ms_max[DAEMONS];
	size_t i;

	for (i = 0; i < DAEMONS; i++) {
		away[i] = rd_u32(r);
		n[i] = rd_u32(r);
		ms[i] = rd_u32(r);
		ms_max[i] = rd_u32(r);
		if (away[i] > SLURM_TIMES_AWAY_MAX)
			rd_fail(r);
	}
	if (rd_end(r) == -1)
		return -1;
	for (i = 0; i < DAEMONS; i++) {
		history_count(h, counters[i].away, away[i]);
		history_count(h, counters[i].n, n[i]);
		history_count(h, counters[i].ms, ms[i]);
		history_count(h, counters[i].ms_max, ms_max[i]);
	}
	return 0;
}
