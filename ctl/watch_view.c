/* SPDX-License-Identifier: MIT */
/* The lines of the live screen; see watch.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/watch.h"

#define PREFIX	      "cc_slurm_adapter_"
#define SENTENCE_ROWS 3 /* at most */
#define TEXT_BYTES    2048

/* Upper bounds of the ages of the queue, in seconds. */
static const struct {
	int64_t below;
	const char *name;
} ages[] = { { 60, "<1 min" }, { 600, "<10 min" }, { 3600, "<1 h" },
	{ 86400, "<1 d" }, { INT64_MAX, "older" } };
#define AGES (sizeof(ages) / sizeof(ages[0]))

/* Adds one line; the part that does not fit into the columns is cut. */
static void __attribute__((format(printf, 2, 3)))
line_add(struct view *v, const char *fmt, ...)
{
	char text[TEXT_BYTES], vis[TEXT_BYTES];
	const char *p;
	va_list ap;
	int columns = 0;

	if (v->n >= v->rows || v->n >= VIEW_ROWS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_vis(text, vis, sizeof(vis));
	for (p = vis; *p != '\0'; p++) {
		columns += ((unsigned char)*p & 0xc0) != 0x80;
		if (columns > v->columns || columns > VIEW_COLUMNS_MAX)
			break;
	}
	snprintf(v->lines[v->n++], VIEW_LINE_BYTES, "%.*s", (int)(p - vis),
	    vis);
}

/* Adds a text in as many lines as needed, broken at blanks. */
static void
text_add(struct view *v, const char *text, int rows)
{
	size_t width = (size_t)v->columns, n;

	for (; *text != '\0' && rows > 0; rows--, text += n) {
		n = strlen(text);
		if (n > width && rows > 1) {
			for (n = width; n > 0 && text[n] != ' '; n--)
				continue;
			if (n == 0)
				n = width;
		}
		line_add(v, "%.*s", (int)n, text);
		while (text[n] == ' ')
			n++;
	}
}

static const char *
status_value(const struct sample *s, const char *process, const char *key)
{
	const struct ctl_row *row;
	size_t i;

	for (i = 0; i < s->status.n; i++) {
		row = &s->status.rows[i];
		if (row->table == CTL_T_STATUS && row->n == 3 &&
		    strcmp(row->fields[0], process) == 0 &&
		    strcmp(row->fields[1], key) == 0)
			return row->fields[2];
	}
	return "";
}

/* The sum of the rows of a counter or gauge; -1: there is none. */
static double
metric_sum(const struct sample *s, const char *name)
{
	const struct ctl_row *row;
	double sum = 0;
	size_t i, n = 0;

	for (i = 0; i < s->metrics.n; i++) {
		row = &s->metrics.rows[i];
		if (row->table != CTL_T_METRIC || row->n != 5 ||
		    strcmp(row->fields[0], name) != 0)
			continue;
		sum += strtod(row->fields[4], NULL);
		n++;
	}
	return n > 0 ? sum : -1;
}

/* "1.5/s"; "-" while there is no earlier sample, or a process was restarted. */
static const char *
rate_text(const struct sample *now, const struct sample *before,
    const char *name, char buf[32])
{
	double a = metric_sum(before, name), b = metric_sum(now, name);
	long long ms = now->at_ms - before->at_ms;

	if (!before->ok || ms <= 0 || a < 0 || b < a)
		return "-";
	snprintf(buf, 32, "%.1f/s", (b - a) * 1000 / (double)ms);
	return buf;
}

/* The centre of a fan-in has a receiver in place of the collector. */
static int
is_centre(const struct sample *s)
{
	return *status_value(s, "receiver", "state") != '\0';
}

/* The runs go to NATS only. */
static int
is_published(const struct sample *s)
{
	return *status_value(s, "submitter", "published_starts") != '\0';
}

static const char *
running_text(const struct sample *s)
{
	double open = metric_sum(s, PREFIX "open_runs");

	if (is_centre(s))
		open = strtod(status_value(s, "submitter", "open"), NULL);
	return count_text((uint64_t)(open > 0 ? open : 0));
}

static void
rates_add(struct view *v, const struct sample *now, const struct sample *before)
{
	int centre = is_centre(now), nats = is_published(now);
	double rejected = metric_sum(now, PREFIX "rejected_runs");
	char in[32], starts[32], stops[32];

	line_add(v, "Jobs      %s %s   starts sent %s   stops sent %s",
	    centre ? "messages" : "hooks",
	    rate_text(now, before,
		centre ? PREFIX "stream_messages_total" :
			 PREFIX "hook_events_total",
		in),
	    rate_text(now, before,
		nats ? PREFIX "nats_starts_total" : PREFIX "starts_total",
		starts),
	    rate_text(now, before,
		nats ? PREFIX "nats_stops_total" : PREFIX "stops_total",
		stops));
	if (nats)
		line_add(v,
		    "          running %s   rejected %.0f   delivered %s of %s",
		    running_text(now), rejected > 0 ? rejected : 0,
		    status_value(now, "submitter", "published_ends"),
		    status_value(now, "submitter", "published_starts"));
	else
		line_add(v,
		    "          running %s   rejected %s   delivered %s of %s",
		    running_text(now),
		    status_value(now, "submitter", "rejected"),
		    status_value(now, "submitter", "delivered_stops"),
		    status_value(now, "submitter", "delivered_starts"));
}

/* Waiting runs: the rows, and those that are not among them. */
static uint64_t
waiting_count(const struct sample *s)
{
	const struct ctl_row *row;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->queue.n; i++) {
		row = &s->queue.rows[i];
		if (row->table == CTL_T_ROWS && row->n == 2)
			n += strtoull(row->fields[0], NULL, 10) +
			    strtoull(row->fields[1], NULL, 10);
	}
	return n;
}

/* When nothing waits any more, at the rate between the two samples. */
static void
end_add(struct view *v, const struct sample *now, const struct sample *before)
{
	uint64_t n = waiting_count(now), was = waiting_count(before);
	long long ms = now->at_ms - before->at_ms;

	if (before->ok && was > n && n > 0 && ms > 0)
		line_add(v,
		    "          nothing waits in about %s, at the present rate",
		    duration_text((int64_t)(n * (uint64_t)ms / (was - n))));
}

static void
waiting_add(struct view *v, const struct sample *now)
{
	unsigned long long counts[AGES] = { 0 }, n = 0, more = 0;
	const struct ctl_row *row;
	int64_t age, oldest = 0;
	int is_counted = 0;
	char text[256] = "";
	size_t i, k, len = 0;

	for (i = 0; i < now->queue.n; i++) {
		row = &now->queue.rows[i];
		if (row->table == CTL_T_ROWS && row->n == 2) {
			more = strtoull(row->fields[1], NULL, 10);
			is_counted = 1;
		}
		if (row->table != CTL_T_QUEUE || row->n < 10)
			continue;
		age = field_seconds(row->fields[9]);
		for (k = 0; k + 1 < AGES && age >= ages[k].below; k++)
			continue;
		counts[k]++;
		n++;
		oldest = age > oldest ? age : oldest;
	}
	for (k = 0; k < AGES && n > 0; k++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "   %s: %llu", ages[k].name, counts[k]);
	line_add(v, "Waiting   %s%s", is_counted ? count_text(n + more) : "-",
	    text);
	if (n > 0)
		line_add(v, "          oldest %s%s",
		    duration_text(oldest * 1000),
		    more > 0 ? " (ages of the first 1,000)" : "");
}

static const char *
quantiles_text(const struct sample *now, const char *name, const char *label,
    char buf[96])
{
	double p50 = quantile_ms(&now->metrics, name, label, 0.5);
	double p99 = quantile_ms(&now->metrics, name, label, 0.99);

	if (p50 < 0)
		return NULL;
	snprintf(buf, 96, "p50 %s, p99 %s", duration_text((int64_t)p50),
	    duration_text((int64_t)p99));
	return buf;
}

static void
latencies_add(struct view *v, const struct sample *now)
{
	const char *label = "to=\"cc-backend\"", *to = "cc-backend", *a, *b;
	char start[96], end[96];

	if (is_published(now)) {
		label = "to=\"nats\"";
		to = "NATS";
	}
	a = quantiles_text(now, PREFIX "start_delivered_seconds", label, start);
	b = quantiles_text(now, PREFIX "end_delivered_seconds", label, end);
	line_add(v, "Latency   start to %s: %s", to, a != NULL ? a : "-");
	line_add(v, "          end to %s: %s", to, b != NULL ? b : "-");
}

/* A value that the daemon does not have makes no line. */
static void
value_add(struct view *v, const struct sample *s, const char *title,
    const char *process, const char *key)
{
	const char *value = status_value(s, process, key);

	if (*value != '\0')
		line_add(v, "%s%s", title, value);
}

static void
slurm_add(struct view *v, const struct sample *now)
{
	static const char *const commands[] = { "squeue", "scontrol", "sacct",
		"sdiag" };
	char text[96], label[32];
	const char *a;
	size_t i;

	value_add(v, now, "Slurm     slurmctld: ", "collector", "slurmctld");
	value_add(v, now, "          slurmdbd: ", "collector", "slurmdbd");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(label, sizeof(label), "command=\"%s\"", commands[i]);
		a = quantiles_text(now, PREFIX "slurm_command_seconds", label,
		    text);
		if (a != NULL)
			line_add(v, "          %s: %s", commands[i], a);
	}
}

/* The broker: of the receiver at the centre, else of the submitter. */
static void
nats_add(struct view *v, const struct sample *now)
{
	value_add(v, now, "NATS      ",
	    is_centre(now) ? "receiver" : "submitter", "nats");
	value_add(v, now, "          lease: ", "receiver", "lease");
	value_add(v, now, "          deliver: ", "submitter", "deliver");
}

static void
processes_add(struct view *v, const struct sample *now)
{
	static const char *const names[] = { "listener", "collector", "runner",
		"receiver", "submitter", "exporter" };
	const char *uptime, *state, *title = "Processes ";
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uptime = status_value(now, names[i], "uptime");
		state = status_value(now, names[i], "state");
		if (*state == '\0')
			continue; /* the configuration does not need it */
		line_add(v, "%s%-11s %s%s%s, %s restarts", title, names[i],
		    state, *uptime != '\0' ? " for " : "",
		    *uptime != '\0' ?
			duration_text(field_seconds(uptime) * 1000) :
			"",
		    status_value(now, names[i], "restarts"));
		title = "          ";
	}
}

/* The last answer of cc-backend is shown also if it is no error. */
static void
errors_add(struct view *v, const struct sample *now)
{
	const char *error = status_value(now, "collector", "last_error");
	const char *answer = status_value(now, "submitter", "last_answer");
	const struct ctl_row *row;
	size_t i;
	int first = 1;

	if (*error != '\0' && strcmp(error, "none") != 0)
		line_add(v, "Last      error of Slurm: %s", error);
	if (*answer != '\0')
		line_add(v, "Last      answer of cc-backend: %s", answer);
	for (i = 0; i < now->status.n; i++) {
		row = &now->status.rows[i];
		if (row->table != CTL_T_PROBLEM || row->n < 4)
			continue;
		line_add(v, "%s%s", first ? "Problems  " : "          ",
		    row->fields[3]);
		first = 0;
	}
}

void
view_make(struct view *v, const struct sample *now, const struct sample *before,
    int64_t away)
{
	const struct ctl_row *row = reply_summary(&now->status);

	v->n = 0;
	line_add(v, "cc-slurm-adapter  %s  (q quits)", time_text(now->now));
	if (away > 0) {
		line_add(v, "The daemon does not answer for %s: %s",
		    duration_text(away * 1000), now->reason);
		if (row != NULL)
			line_add(v, "The values are those of its last answer.");
	} else if (row != NULL)
		text_add(v, row->fields[3], SENTENCE_ROWS);
	line_add(v, "%s", "");
	if (reply_summary(&now->status) == NULL)
		return;
	rates_add(v, now, before);
	waiting_add(v, now);
	end_add(v, now, before);
	latencies_add(v, now);
	slurm_add(v, now);
	nats_add(v, now);
	errors_add(v, now);
	processes_add(v, now);
}
