/* SPDX-License-Identifier: MIT */
/*
 * Once a minute the submitter gets the times of Slurm's commands and the
 * seconds without slurmctld and slurmdbd, for the counters of its history.  The
 * message may be lost: no record depends on it.
 */
#include "config.h"

#include "collector/query/query_lanes.h"
#include "common/permanent.h"

#define SEND_MS 60000 /* the lanes run at least as often */
/* a longer time without a run of the lanes: the process was stopped */
#define PAUSE_MAX_MS 90000

_Static_assert((SEND_MS + PAUSE_MAX_MS) / 1000 < SLURM_TIMES_AWAY_MAX,
    "the submitter accepts the seconds");

struct slurm_times {
	struct site *site;
	int64_t sampled; /* monotonic ms; 0 = not yet */
	int64_t sent;	 /* monotonic ms */
	int64_t away_ms[DAEMON__COUNT];
};

/* 1 when the daemon of one cluster does not answer. */
static int
is_away(const struct site *site, enum slurm_daemon daemon)
{
	const struct cluster *c;
	unsigned i;

	for (i = 0; i < site->n; i++) {
		c = site->clusters[i];
		if (daemon == DAEMON_SLURMCTLD ?
			c->ctld.away :
			c->dbd.away && (!c->slurm.known || c->slurm.accounting))
			return 1;
	}
	return 0;
}

static uint32_t
bounded(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void
times_send(struct slurm_times *t, struct command_times *times)
{
	struct channel *ch = t->site->w->peers[ROLE_SUBMITTER];
	struct command_span span;
	struct writer w;
	int daemon;

	wr_init(&w, MSG_SLURM_TIMES_LEN);
	for (daemon = 0; daemon < DAEMON__COUNT; daemon++) {
		command_span_take(times, (enum slurm_daemon)daemon, &span);
		wr_u32(&w, (uint32_t)(t->away_ms[daemon] / 1000));
		t->away_ms[daemon] %= 1000;
		wr_u32(&w, bounded(span.n));
		wr_u32(&w, bounded(span.sum_ms));
		wr_u32(&w, bounded(span.max_ms));
	}
	if (ch != NULL && !channel_full(ch))
		channel_send(ch, MSG_SLURM_TIMES, 0, &w, -1);
	wr_clear(&w);
}

void
slurm_times_kick(struct slurm_times *t, struct command_times *times)
{
	int64_t now = now_ms();
	int daemon;

	if (t->sampled == 0)
		t->sampled = t->sent = now;
	for (daemon = 0; daemon < DAEMON__COUNT; daemon++)
		if (now - t->sampled <= PAUSE_MAX_MS &&
		    is_away(t->site, (enum slurm_daemon)daemon))
			t->away_ms[daemon] += now - t->sampled;
	t->sampled = now;
	if (now - t->sent < SEND_MS)
		return;
	t->sent = now;
	times_send(t, times);
}

int64_t
slurm_times_next(const struct slurm_times *t)
{
	return t->sent + SEND_MS;
}

struct slurm_times *
slurm_times_new(struct site *site)
{
	struct slurm_times *t = permanent_new(sizeof(*t));

	t->site = site;
	return t;
}
