/* SPDX-License-Identifier: MIT */
/* Which problems of its streams the receiver tells.  The boxes are of the test. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/nats/nats_broker.h"
#include "receiver/report.h"
#include "tests/unit/check.h"

#define CLUSTERS 3

static struct receiver receiver;
static struct worker worker = { .arg = &receiver };

/* Two lists of streams, by their address. */
static char runs, states;
static struct stream_status of_runs[CLUSTERS], of_states[CLUSTERS];

int
streams_status(const struct streams *t, unsigned i, struct stream_status *to)
{
	if (i >= CLUSTERS)
		return 0;
	*to = (const char *)t == &runs ? of_runs[i] : of_states[i];
	return 1;
}

static struct bucket_status lease = { .holder = "", .problem = "" };

void
bucket_status(const struct bucket *b, struct bucket_status *st)
{
	*st = lease;
}

int64_t
bucket_until(const struct bucket *b)
{
	return 0;
}

void
link_status(const struct link *l, struct nats_broker_status *st)
{
	memset(st, 0, sizeof(*st));
}

int
link_is_up(const struct link *l)
{
	return 1;
}

void
asks_status(const struct asks *a, struct asks_status *to)
{
	memset(to, 0, sizeof(*to));
}

const struct intake_counts *
intake_counts(const struct intake *b)
{
	static const struct intake_counts none;

	return &none;
}

unsigned
intake_quarantine_size(const struct intake *b)
{
	return 0;
}

static char lease_row[256]; /* of the last status */

void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	va_list ap;

	if (strcmp(key, "lease") != 0)
		return;
	va_start(ap, fmt);
	vsnprintf(lease_row, sizeof(lease_row), fmt, ap);
	va_end(ap);
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
}

void
worker_metric(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, unsigned long long value)
{
}

void
worker_metric_value(struct worker *w, uint64_t request, const char *name,
    const char *type, const char *help, const char *labels, int64_t value)
{
}

static void
begin(void)
{
	static const char *const names[CLUSTERS] = { "alpha", "beta", "gamma" };
	unsigned i;

	for (i = 0; i < CLUSTERS; i++) {
		memset(&of_runs[i], 0, sizeof(of_runs[i]));
		of_runs[i].cluster = names[i];
		of_runs[i].problem = of_runs[i].loss = "";
		of_runs[i].ready = 1;
		of_states[i] = of_runs[i];
	}
	receiver.streams = (struct streams *)&runs;
	receiver.states = (struct streams *)&states;
}

static void
test_runs(void)
{
	struct summary to = { .n = 0 };

	begin();
	report_summary(&worker, &to);
	CHECK_INT(to.n, 0);
	of_runs[1].ready = 0;
	of_runs[1].problem = "the broker says: insufficient storage";
	report_summary(&worker, &to);
	CHECK_INT(to.n, 1);
	CHECK_INT(to.problems[0].kind, PROBLEM_STREAM);
	CHECK_STR(to.problems[0].text,
	    "the stream of cluster beta is not read: the broker says: "
	    "insufficient storage");
}

/* The states of nodes are no records, but they do not arrive either. */
static void
test_states(void)
{
	struct summary to = { .n = 0 };

	begin();
	of_states[1].problem = "it is sealed and accepts no message";
	report_summary(&worker, &to);
	CHECK_INT(to.n, 0);
	of_states[1].ready = of_states[2].ready = 0;
	of_states[2].problem = "another one";
	report_summary(&worker, &to);
	CHECK_INT(to.n, 1);
	CHECK_INT(to.problems[0].kind, PROBLEM_STREAM);
	CHECK_STR(to.problems[0].text,
	    "the states of the nodes of 2 clusters are not read; cluster beta: "
	    "it is sealed and accepts no message");
}

/* The supervisor knows a problem by its kind and item: no two have the same. */
static void
test_items(void)
{
	struct summary to = { .n = 0 };
	unsigned i, k;

	begin();
	receiver.active_only = 1;
	lease.problem = "no answer";
	for (i = 0; i < CLUSTERS; i++) {
		of_runs[i].ready = of_states[i].ready = 0;
		of_runs[i].problem = of_states[i].problem = "it is sealed";
	}
	report_summary(&worker, &to);
	CHECK_INT(to.n, CLUSTERS + 2);
	for (i = 0; i < to.n; i++)
		for (k = 0; k < i; k++)
			CHECK(to.problems[i].kind != to.problems[k].kind ||
			    to.problems[i].item != to.problems[k].item);
	lease.problem = "";
	receiver.active_only = 0;
}

static void
check_lease_row(const char *row)
{
	report_status(&receiver, 1);
	CHECK_STR(lease_row, row);
}

static void
test_lease(void)
{
	begin();
	receiver.active_only = 1;
	check_lease_row("not active: no centre has the lease");
	lease.holder = "centre-b";
	lease.holder_since = 1;
	lease.unchanged = 40900;
	report_status(&receiver, 1);
	CHECK(
	    strstr(lease_row,
		"standby: centre-b is active since 1970-01-01T") == lease_row);
	CHECK(strstr(lease_row, " and has renewed its lease 40 s ago") != NULL);
	lease.holder = "centre-a";
	lease.over = 1;
	check_lease_row(
	    "not active: this centre has not renewed its lease for 40 s");
	receiver.active_only = 0;
}

int
main(void)
{
	test_lease();
	test_runs();
	test_states();
	test_items();
	return check_done();
}
