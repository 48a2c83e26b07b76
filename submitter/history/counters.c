/* SPDX-License-Identifier: MIT */
/*
 * The counters of a minute or an hour; stored as pairs of a number (u8) and a
 * value of variable length.
 */
#include "config.h"

#include <string.h>

#include "submitter/history/counters.h"

#define SHIFT_MAX 63

static const struct {
	const char *name;
	int is_max;
} counters[COUNT__COUNT] = {
	[COUNT_JOBS_IN] = { "jobs_in", 0 },
	[COUNT_STARTS] = { "starts", 0 },
	[COUNT_STOPS] = { "stops", 0 },
	[COUNT_REJECTED] = { "rejected", 0 },
	[COUNT_RETRIES] = { "retries", 0 },
	[COUNT_WAITING_MAX] = { "waiting_max", 1 },
	[COUNT_RUNNING_MAX] = { "running_max", 1 },
	[COUNT_HOOK_MS] = { "hook_ms", 0 },
	[COUNT_HOOK_N] = { "hook_n", 0 },
	[COUNT_HOOK_MS_MAX] = { "hook_ms_max", 1 },
	[COUNT_END_MS] = { "end_ms", 0 },
	[COUNT_END_N] = { "end_n", 0 },
	[COUNT_END_MS_MAX] = { "end_ms_max", 1 },
	[COUNT_BACKEND_AWAY] = { "backend_away_s", 0 },
	[COUNT_NATS_AWAY] = { "nats_away_s", 0 },
	[COUNT_RESTARTS] = { "restarts", 0 },
	[COUNT_CTLD_AWAY] = { "slurmctld_away_s", 0 },
	[COUNT_CTLD_MS] = { "slurmctld_ms", 0 },
	[COUNT_CTLD_N] = { "slurmctld_n", 0 },
	[COUNT_CTLD_MS_MAX] = { "slurmctld_ms_max", 1 },
	[COUNT_DBD_AWAY] = { "slurmdbd_away_s", 0 },
	[COUNT_DBD_MS] = { "slurmdbd_ms", 0 },
	[COUNT_DBD_N] = { "slurmdbd_n", 0 },
	[COUNT_DBD_MS_MAX] = { "slurmdbd_ms_max", 1 },
};

const char *
counter_name(enum history_counter which)
{
	return counters[which].name;
}

void
counts_add(struct history_counts *c, enum history_counter which, uint64_t value)
{
	if (!counters[which].is_max)
		c->n[which] += value;
	else if (value > c->n[which])
		c->n[which] = value;
}

void
counts_merge(struct history_counts *c, const struct history_counts *from)
{
	unsigned i;

	for (i = 0; i < COUNT__COUNT; i++)
		counts_add(c, (enum history_counter)i, from->n[i]);
}

int
counts_empty(const struct history_counts *c)
{
	unsigned i;

	for (i = 0; i < COUNT__COUNT; i++)
		if (c->n[i] != 0)
			return 0;
	return 1;
}

size_t
counts_write(const struct history_counts *c, uint8_t buf[COUNTS_BYTES_MAX])
{
	size_t n = 0;
	unsigned i;
	uint64_t v;

	for (i = 0; i < COUNT__COUNT; i++) {
		if ((v = c->n[i]) == 0)
			continue;
		buf[n++] = (uint8_t)i;
		for (; v >= 0x80; v >>= 7)
			buf[n++] = (uint8_t)(v | 0x80);
		buf[n++] = (uint8_t)v;
	}
	return n;
}

int
counts_read(struct history_counts *c, const uint8_t *p, size_t n)
{
	size_t at = 0;
	unsigned i, shift;
	uint64_t v;

	memset(c, 0, sizeof(*c));
	while (at < n) {
		i = p[at++];
		for (v = 0, shift = 0;; shift += 7) {
			if (at == n || shift > SHIFT_MAX)
				return -1;
			v |= (uint64_t)(p[at] & 0x7f) << shift;
			if ((p[at++] & 0x80) == 0)
				break;
		}
		if (i < COUNT__COUNT)
			c->n[i] = v;
	}
	return 0;
}
