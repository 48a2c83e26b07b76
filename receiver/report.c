/* SPDX-License-Identifier: MIT */
/* See report.h. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "common/nats/nats_broker.h"
#include "common/text/time_text.h"
#include "receiver/report.h"

#define PREFIX	   "cc_slurm_adapter_"
#define LABELS_MAX 256 /* bytes with the NUL */
#define STATE_MAX  512

/*
 * Items of PROBLEM_STREAM that belong to no single cluster.  The supervisor finds the
 * begin of a problem by kind and item.  Only the last two of 256 clusters have the
 * same numbers; then only the begin can be that of the other problem.
 */
#define ITEM_STATES UINT8_MAX
#define ITEM_LEASE  (UINT8_MAX - 1)

static const char *
state_of(const struct stream_status *st, char *buf, size_t size)
{
	snprintf(buf, size, "%s",
	    st->problem[0] != '\0'  ? st->problem :
		st->loss[0] != '\0' ? st->loss :
		st->ready	    ? "reads" :
				      "waits for the stream");
	return buf;
}

/* s since the newest message that was read was stored, while messages wait. */
static int64_t
lag_of(const struct stream_status *st)
{
	int64_t now = (int64_t)time(NULL);

	return st->waiting + st->unacked > 0 && st->last != 0 &&
		now > st->last ?
	    now - st->last :
	    0;
}

static void
stream_row(struct receiver *v, uint64_t request, const struct stream_status *st)
{
	char state[STATE_MAX], text[5][24];
	const long long numbers[5] = { st->last, lag_of(st),
		(long long)(st->waiting + st->unacked), st->held,
		(long long)st->expired };
	struct writer row;
	int i;

	for (i = 0; i < 5; i++)
		snprintf(text[i], sizeof(text[i]), "%lld", numbers[i]);
	wr_init(&row, CTL_REPLY_MAX);
	ctl_row(&row, CTL_T_STREAM, st->cluster,
	    state_of(st, state, sizeof(state)), text[0], text[1], text[2],
	    text[3], text[4], NULL);
	worker_ctl_row(v->w, request, &row);
	wr_clear(&row);
}

static void
lease_text(const struct bucket_status *st, char *buf, size_t size)
{
	if (st->active)
		snprintf(buf, size, "active since %s", time_text(st->since));
	else if (st->over)
		snprintf(buf, size,
		    "not active: this centre has not renewed its lease for "
		    "%lld s",
		    (long long)(st->unchanged / 1000));
	else if (st->holder[0] == '\0')
		snprintf(buf, size, "not active: no centre has the lease");
	else
		snprintf(buf, size,
		    "standby: %s is active since %s and has renewed its lease "
		    "%lld s ago",
		    st->holder, time_text(st->holder_since),
		    (long long)(st->unchanged / 1000));
}

static void
lease_status(struct receiver *v, uint64_t request)
{
	struct bucket_status st;
	char text[512];

	if (!v->active_only)
		return;
	bucket_status(v->lease, &st);
	lease_text(&st, text, sizeof(text));
	worker_status(v->w, request, "lease", "%s", text);
	if (st.problem[0] != '\0')
		worker_status(v->w, request, "lease_problem", "%s", st.problem);
}

void
report_status(struct receiver *v, uint64_t request)
{
	const struct intake_counts *n = intake_counts(v->intake);
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{ "records", n->records },
		{ "records_foreign", n->foreign },
		{ "records_invalid", n->invalid },
		{ "records_newer", n->newer },
		{ "records_quarantined", n->quarantined },
		{ "quarantined", intake_quarantine_size(v->intake) },
		{ "node_state_messages", n->states },
	};
	struct nats_broker_status broker;
	struct stream_status st;
	struct asks_status asks;
	unsigned k;
	size_t i;

	link_status(v->link, &broker);
	asks_status(v->asks, &asks);
	worker_status(v->w, request, "questions",
	    "%llu to clusters, %llu answered, %llu answers refused; %llu runs "
	    "unknown to Slurm%s%s",
	    (unsigned long long)asks.asked, (unsigned long long)asks.answered,
	    (unsigned long long)asks.refused, (unsigned long long)asks.unknown,
	    asks.trouble[0] != '\0' ? "; last problem: " : "", asks.trouble);
	worker_status(v->w, request, "nats", "%s", broker.text);
	if (broker.clear[0] != '\0')
		worker_status(v->w, request, "nats_in_clear",
		    "the login is readable in the network to %s: set natsTls",
		    broker.clear);
	lease_status(v, request);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		worker_status(v->w, request, rows[i].key, "%llu",
		    (unsigned long long)rows[i].value);
	for (k = 0; streams_status(v->streams, k, &st); k++)
		stream_row(v, request, &st);
}

static void
stream_metrics(struct receiver *v, uint64_t request,
    const struct stream_status *st)
{
	const struct {
		const char *name, *type, *help;
		int64_t value;
	} rows[] = {
		{ PREFIX "stream_up", "gauge",
		    "1 while the messages of the stream are read.", st->ready },
		{ PREFIX "stream_last_message_timestamp_seconds", "gauge",
		    "Time of the newest message that was read.", st->last },
		{ PREFIX "stream_lag_seconds", "gauge",
		    "Age of the newest message that was read while others wait.",
		    lag_of(st) },
		{ PREFIX "stream_waiting_messages", "gauge",
		    "Messages of the stream that are not stored.",
		    (int64_t)(st->waiting + st->unacked) },
		{ PREFIX "stream_held_messages", "gauge",
		    "Messages of a newer version, which wait.", st->held },
		{ PREFIX "stream_position", "gauge",
		    "Number in the stream of the newest message that was read.",
		    (int64_t)st->taken },
		{ PREFIX "stream_messages_total", "counter",
		    "Messages that were read.", (int64_t)st->received },
		{ PREFIX "stream_expired_total", "counter",
		    "Messages that the stream deleted before they were read.",
		    (int64_t)st->expired },
	};
	char labels[LABELS_MAX];
	size_t i;

	snprintf(labels, sizeof(labels), "cluster=\"%.100s\"", st->cluster);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		worker_metric_value(v->w, request, rows[i].name, rows[i].type,
		    rows[i].help, labels, rows[i].value);
}

void
report_metrics(struct receiver *v, uint64_t request)
{
	const struct intake_counts *n = intake_counts(v->intake);
	struct stream_status st;
	unsigned k;

	worker_metric(v->w, request, PREFIX "nats_up", "gauge",
	    "1 while the broker is connected.", (unsigned)link_is_up(v->link));
	if (v->active_only)
		worker_metric(v->w, request, PREFIX "lease_held", "gauge",
		    "1 while this centre has the lease and sends.",
		    (unsigned)(bucket_until(v->lease) != 0));
	worker_metric_value(v->w, request, PREFIX "stream_refused_total",
	    "counter", "Messages that are stored as no record, by reason.",
	    "reason=\"foreign\"", (int64_t)n->foreign);
	worker_metric_value(v->w, request, PREFIX "stream_refused_total",
	    "counter", "Messages that are stored as no record, by reason.",
	    "reason=\"invalid\"", (int64_t)n->invalid);
	for (k = 0; streams_status(v->streams, k, &st); k++)
		stream_metrics(v, request, &st);
}

static void
expired_add(struct summary *to, unsigned k, const struct stream_status *st)
{
	if (st->expired > 0)
		summary_add(to, PROBLEM_EXPIRED, k, 0,
		    "%llu message%s of cluster %.64s expired before the centre "
		    "read them; run: cc-slurm-adapterctl backfill --cluster "
		    "%.64s --from TIME --to TIME",
		    (unsigned long long)st->expired,
		    st->expired == 1 ? "" : "s", st->cluster, st->cluster);
	else if (st->renewed > 0)
		summary_add(to, PROBLEM_EXPIRED, k, 0,
		    "the stream of cluster %.64s is another one since %s; "
		    "messages that were not read are lost; run: "
		    "cc-slurm-adapterctl backfill --cluster %.64s --from TIME "
		    "--to TIME",
		    st->cluster, time_text(st->renewed), st->cluster);
}

static void
stream_problems(struct summary *to, unsigned k, const struct stream_status *st)
{
	if (st->problem[0] != '\0')
		summary_add(to, PROBLEM_STREAM, k, 0,
		    "the stream of cluster %.64s%s: %.180s", st->cluster,
		    st->ready ? "" : " is not read", st->problem);
	if (st->held > 0)
		summary_add(to, PROBLEM_NEWER, k, 0,
		    "%u message%s of cluster %.64s %s of a newer version and "
		    "wait%s: upgrade the centre",
		    st->held, st->held == 1 ? "" : "s", st->cluster,
		    st->held == 1 ? "is" : "are", st->held == 1 ? "s" : "");
}

/* One problem for all clusters: the number of problems is limited. */
static void
states_problem(struct summary *to, const struct streams *states)
{
	struct stream_status st;
	char first[256] = "";
	unsigned k, n = 0;

	for (k = 0; streams_status(states, k, &st); k++)
		if (!st.ready && st.problem[0] != '\0' && n++ == 0)
			snprintf(first, sizeof(first), "cluster %.64s: %.180s",
			    st.cluster, st.problem);
	if (n > 0)
		summary_add(to, PROBLEM_STREAM, ITEM_STATES, 0,
		    "the states of the nodes of %u cluster%s are not read; %s",
		    n, n == 1 ? "" : "s", first);
}

void
report_summary(struct worker *w, struct summary *to)
{
	const struct receiver *v = w->arg;
	struct nats_broker_status broker;
	struct bucket_status lease;
	struct stream_status st;
	unsigned k;

	bucket_status(v->lease, &lease);
	if (v->active_only && lease.problem[0] != '\0')
		summary_add(to, PROBLEM_STREAM, ITEM_LEASE, 0,
		    "the lease of the active centre cannot be renewed: %.200s",
		    lease.problem);
	link_status(v->link, &broker);
	if (broker.away_since != 0)
		summary_add(to, PROBLEM_NATS, 0, broker.away_since,
		    "NATS has no connection: %.200s; check the broker and "
		    "natsServer",
		    broker.why);
	/* Lost messages first: the number of problems is limited. */
	for (k = 0; streams_status(v->streams, k, &st); k++)
		expired_add(to, k, &st);
	for (k = 0; streams_status(v->streams, k, &st); k++)
		stream_problems(to, k, &st);
	states_problem(to, v->states);
}
