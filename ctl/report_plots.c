/* SPDX-License-Identifier: MIT */
/*
 * Plots as inline SVG: one column of a plot is one minute or one hour.  Outages
 * are bands behind the curves, restarts are vertical lines.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/text/time_text.h"
#include "ctl/report.h"

#define WIDTH	    744 /* of the drawing; an hour of the month is 1 unit */
#define HEIGHT	    120
#define BUCKETS_MAX 1440
#define MINUTE_S    60
#define HOUR_S	    3600

/* The counters of a plot; a curve is value, or value / by. */
static const struct plot {
	const char *title;
	const char *unit;
	struct {
		const char *value;
		const char *by; /* NULL = 1 */
		const char *label;
	} curves[3];
} plots[] = {
	{ "Runs", "runs",
	    { { "jobs_in", NULL, "new" }, { "starts", NULL, "starts accepted" },
		{ "stops", NULL, "stops accepted" } } },
	{ "Runs that wait, and runs that run in cc-backend", "runs",
	    { { "waiting_max", NULL, "wait" },
		{ "running_max", NULL, "run" } } },
	{ "Time from the hook to the accepted start", "ms",
	    { { "hook_ms", "hook_n", "average" },
		{ "hook_ms_max", NULL, "longest" } } },
	{ "Time from the end in Slurm to the accepted stop", "ms",
	    { { "end_ms", "end_n", "average" },
		{ "end_ms_max", NULL, "longest" } } },
	{ "Response time of slurmctld", "ms",
	    { { "slurmctld_ms", "slurmctld_n", "average" },
		{ "slurmctld_ms_max", NULL, "longest" } } },
	{ "Response time of slurmdbd", "ms",
	    { { "slurmdbd_ms", "slurmdbd_n", "average" },
		{ "slurmdbd_ms_max", NULL, "longest" } } },
	{ "Rejected runs and repeated requests", "number",
	    { { "rejected", NULL, "rejected" },
		{ "retries", NULL, "repeated" } } },
};

struct span_data {
	const char *name; /* minute or hour */
	int64_t step;	  /* s */
	int64_t from;	  /* epoch */
	unsigned n;	  /* buckets */
	const struct ctl_reply *rows;
};

/* Fields of a row of CTL_T_HISTORY. */
enum {
	F_SPAN,
	F_TIME,
	F_COUNTER,
	F_VALUE,
	F__COUNT
};

/* The values of a counter by bucket; returns 1 when one is not 0. */
static int
series_read(const struct span_data *d, const char *counter, double *values)
{
	const struct ctl_row *row;
	int64_t at;
	size_t i;
	int any = 0;

	memset(values, 0, sizeof(double) * BUCKETS_MAX);
	for (i = 0; i < d->rows->n; i++) {
		row = &d->rows->rows[i];
		if (row->table != CTL_T_HISTORY || row->n != F__COUNT ||
		    strcmp(row->fields[F_SPAN], d->name) != 0 ||
		    strcmp(row->fields[F_COUNTER], counter) != 0)
			continue;
		at = (field_seconds(row->fields[F_TIME]) - d->from) / d->step;
		if (at < 0 || at >= (int64_t)d->n)
			continue;
		values[at] = (double)strtoull(row->fields[F_VALUE], NULL, 10);
		any |= values[at] > 0;
	}
	return any;
}

static double
column(const struct span_data *d, unsigned i)
{
	return (double)i * WIDTH / d->n;
}

/* Bands for the buckets in which the counter is not 0. */
static void
bands_put(FILE *f, const struct span_data *d, const char *counter,
    const char *style)
{
	static double values[BUCKETS_MAX];
	unsigned i;

	if (!series_read(d, counter, values))
		return;
	fprintf(f, "<path class=\"%s\" d=\"", style);
	for (i = 0; i < d->n; i++)
		if (values[i] > 0)
			fprintf(f, "M%.1f 0h%.2fv%dh-%.2fz", column(d, i),
			    (double)WIDTH / d->n + 0.5, HEIGHT,
			    (double)WIDTH / d->n + 0.5);
	fprintf(f, "\"/>\n");
}

static void
marks_put(FILE *f, const struct span_data *d)
{
	static double values[BUCKETS_MAX];
	unsigned i;

	if (!series_read(d, "restarts", values))
		return;
	fprintf(f, "<path class=\"restart\" d=\"");
	for (i = 0; i < d->n; i++)
		if (values[i] > 0)
			fprintf(f, "M%.1f 0v%d", column(d, i), HEIGHT);
	fprintf(f, "\"/>\n");
}

/* Reads a curve; returns its largest value. */
static double
curve_read(const struct span_data *d, const struct plot *p, unsigned k,
    double *values)
{
	static double by[BUCKETS_MAX];
	double most = 0;
	unsigned i;

	series_read(d, p->curves[k].value, values);
	if (p->curves[k].by != NULL)
		series_read(d, p->curves[k].by, by);
	for (i = 0; i < d->n; i++) {
		if (p->curves[k].by != NULL)
			values[i] = by[i] > 0 ? values[i] / by[i] : 0;
		if (values[i] > most)
			most = values[i];
	}
	return most;
}

static void
curve_put(FILE *f, const struct span_data *d, const double *values, double most,
    unsigned k)
{
	unsigned i;

	fprintf(f, "<path class=\"c%u\" d=\"M0 %d", k, HEIGHT);
	for (i = 0; i < d->n; i++)
		if (i == 0 || values[i] != values[i - 1])
			fprintf(f, "H%.1fV%.1f", column(d, i),
			    HEIGHT - values[i] / most * (HEIGHT - 4));
	fprintf(f, "H%d\"/>\n", WIDTH);
}

static void
plot_put(FILE *f, const struct span_data *d, const struct plot *p)
{
	static double values[3][BUCKETS_MAX];
	double most = 0, of;
	unsigned k;

	for (k = 0; k < 3 && p->curves[k].value != NULL; k++)
		if ((of = curve_read(d, p, k, values[k])) > most)
			most = of;
	fprintf(f, "<figure><figcaption>%s: 0 to %.0f %s", p->title, most,
	    p->unit);
	for (k = 0; k < 3 && p->curves[k].value != NULL; k++)
		fprintf(f, " <span class=\"l%u\">%s</span>", k,
		    p->curves[k].label);
	fprintf(f,
	    "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
	    "preserveAspectRatio=\"none\">\n",
	    WIDTH, HEIGHT);
	bands_put(f, d, "backend_away_s", "away");
	bands_put(f, d, "nats_away_s", "nats");
	bands_put(f, d, "slurmctld_away_s", "ctld");
	bands_put(f, d, "slurmdbd_away_s", "dbd");
	for (k = 0; most > 0 && k < 3 && p->curves[k].value != NULL; k++)
		curve_put(f, d, values[k], most, k);
	marks_put(f, d);
	fprintf(f, "</svg></figure>\n");
}

static void
span_put(FILE *f, const struct span_data *d, const char *title)
{
	size_t i;

	fprintf(f, "<h2>%s</h2>\n<p>%s to ", title, time_text(d->from));
	fprintf(f,
	    "%s. <span class=\"lb\">cc-backend did not answer</span> "
	    "<span class=\"ln\">NATS did not answer</span> "
	    "<span class=\"lc\">slurmctld did not answer</span> "
	    "<span class=\"ld\">slurmdbd did not answer</span> "
	    "<span class=\"lr\">restart of the submitter</span></p>\n",
	    time_text(d->from + d->step * d->n));
	for (i = 0; i < sizeof(plots) / sizeof(plots[0]); i++)
		plot_put(f, d, &plots[i]);
}

void
report_plots(FILE *f, const struct ctl_reply *history, int64_t now)
{
	struct span_data day = { .name = "minute",
		.step = MINUTE_S,
		.n = BUCKETS_MAX,
		.rows = history };
	struct span_data month = { .name = "hour",
		.step = HOUR_S,
		.n = 744,
		.rows = history };

	day.from = (now / MINUTE_S + 1 - day.n) * MINUTE_S;
	month.from = (now / HOUR_S + 1 - month.n) * HOUR_S;
	span_put(f, &day, "Last day, by minute");
	span_put(f, &month, "Last 31 days, by hour");
}
