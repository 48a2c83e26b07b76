/* SPDX-License-Identifier: MIT */
/* The submitter's part of the first line of `status`. */
#include "config.h"

#include "submitter/backend/breaker.h"
#include "submitter/base/context.h"
#include "submitter/ctl.h"
#include "submitter/delivery/delivery.h"
#include "submitter/intake/intake.h"
#include "submitter/nats/nats.h"
#include "submitter/reconcile/reconcile.h"
#include "submitter/spool/spool.h"

uint64_t
states_count(const struct submitter *s, const enum run_state *states, size_t n)
{
	uint64_t sum, max = 0;
	size_t i;
	int d;

	for (d = 0; d < DEST__COUNT; d++) {
		sum = 0;
		for (i = 0; i < n; i++)
			sum += spool_count(s->spool, (enum dest)d, states[i]);
		if (sum > max)
			max = sum;
	}
	return max;
}

static void
runs_add(const struct submitter *s, struct summary *to)
{
	static const enum run_state waiting[] = { START_DUE, START_DUE_ENDED,
		START_BLOCKED, START_CONFLICT, STOP_BLOCKED, STOP_DUE,
		STOP_CONFLICT, DELETE_DUE };
	static const enum run_state rejected[] = { START_REJECTED,
		STOP_REJECTED };
	static const enum run_state foreign[] = { STOPPED_BY_OTHERS };
	unsigned long long n;

	to->waiting = states_count(s, waiting,
	    sizeof(waiting) / sizeof(waiting[0]));
	to->rejected = n = states_count(s, rejected, 2);
	if (n > 0)
		summary_add(to, PROBLEM_REJECTED, 0, 0,
		    "%llu run%s rejected: see `cc-slurm-adapterctl queue "
		    "--rejected`",
		    n, n == 1 ? " is" : "s are");
	n = states_count(s, foreign, 1);
	if (n > 0)
		summary_add(to, PROBLEM_FOREIGN, 0, 0,
		    "%llu run%s stopped in cc-backend by another client: see "
		    "`cc-slurm-adapterctl repair --dry-run`",
		    n, n == 1 ? " was" : "s were");
}

static void
nats_add(const struct submitter *s, struct summary *to)
{
	const struct stream_hold *hold;
	struct nats_status st;
	unsigned i;

	if (s->nats == NULL)
		return;
	for (i = 0; (hold = nats_delivery_hold(s->nats_delivery, i)) != NULL;
	     i++)
		if (hold->until != 0)
			summary_add(to, PROBLEM_STREAM, i, hold->since,
			    "the stream of cluster %s does not accept records: "
			    "%s",
			    hold->cluster, hold->why);
	nats_status(s->nats, &st);
	if (st.broker.away_since != 0)
		summary_add(to, PROBLEM_NATS, 0, st.broker.away_since,
		    "NATS has no connection: %.200s; check the broker and "
		    "natsServer",
		    st.broker.why);
}

/* At the centre no collector counts the runs without an end. */
static void
running_add(const struct submitter *s, struct summary *to)
{
	static const enum run_state open[] = { START_DUE, STARTED,
		START_COMMITTED };

	if (conf_reads_stream(&s->w->conf))
		to->running = states_count(s, open,
		    sizeof(open) / sizeof(open[0]));
}

void
submitter_summary(struct worker *w, struct summary *to)
{
	struct submitter *s = w->arg;

	to->last_job = s->n.last_job;
	to->standby = s->role.passive != 0;
	intake_summary(s->intake, to);
	breaker_summary(s->breaker, to);
	nats_add(s, to);
	node_states_summary(s->nodes, to);
	missing_runs_summary(s->missing, to);
	runs_add(s, to);
	running_add(s, to);
}
