/* SPDX-License-Identifier: MIT */
/*
 * Counters, gauges and histograms as text; see metrics_text.h.  A counter's
 * samples are named _total.  In the older text form the type of a counter has
 * the name with _total, too.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/text/metrics_text.h"
#include "common/text/text.h"

#define FIELD_MAX 4096 /* bytes printed of one field */

enum family_type {
	FAMILY_GAUGE,
	FAMILY_COUNTER,
	FAMILY_HISTOGRAM
};

static const char *const type_names[] = {
	[FAMILY_GAUGE] = "gauge",
	[FAMILY_COUNTER] = "counter",
	[FAMILY_HISTOGRAM] = "histogram",
};

/* Prints a field; control characters are escaped. */
static void
print_plain(FILE *f, const char *s, int n)
{
	char buf[FIELD_MAX], copy[FIELD_MAX];

	snprintf(copy, sizeof(copy), "%.*s", n, s);
	fprintf(f, "%s", text_vis(copy, buf, sizeof(buf)));
}

/* Doubles backslashes, as OpenMetrics requires; a newline becomes \n. */
static void
print_help(FILE *f, const char *s)
{
	const char *p;

	for (p = s; *p != '\0'; s = p) {
		p += strcspn(p, "\\");
		print_plain(f, s, (int)(p - s));
		if (*p == '\\') {
			fprintf(f, "\\\\");
			p++;
		}
	}
}

/* An unknown type of a newer daemon is printed as a gauge. */
static enum family_type
row_type(const struct metric_row *row)
{
	if (strcmp(row->fields[METRIC_TYPE], "counter") == 0)
		return FAMILY_COUNTER;
	return strcmp(row->fields[METRIC_TYPE], "histogram") == 0 ?
	    FAMILY_HISTOGRAM :
	    FAMILY_GAUGE;
}

static int
has_suffix(const char *name, size_t n, const char *suffix)
{
	size_t len = strlen(suffix);

	return n > len && strcmp(name + n - len, suffix) == 0;
}

/* Length of the name of the family: without a counter's or histogram's suffix. */
static int
base_length(const struct metric_row *row)
{
	static const char *const suffixes[] = { "_bucket", "_count", "_sum" };
	const char *name = row->fields[METRIC_NAME];
	size_t n = strlen(name), i;

	if (row_type(row) == FAMILY_COUNTER && has_suffix(name, n, "_total"))
		return (int)(n - strlen("_total"));
	if (row_type(row) == FAMILY_HISTOGRAM)
		for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
			if (has_suffix(name, n, suffixes[i]))
				return (int)(n - strlen(suffixes[i]));
	return (int)n;
}

/* A family has one name; a counter may be named without _total. */
static int
family_compare(const struct metric_row *a, const struct metric_row *b)
{
	int n = base_length(a), m = base_length(b);
	int rc = memcmp(a->fields[METRIC_NAME], b->fields[METRIC_NAME],
	    (size_t)(n < m ? n : m));

	return rc != 0 ? rc : n - m;
}

static int
number_compare(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int
by_family(const void *p, const void *q)
{
	const struct metric_row *a = p, *b = q;
	int rc = family_compare(a, b);

	return rc != 0 ? rc : number_compare(a->at, b->at);
}

static int
by_place(const void *p, const void *q)
{
	const struct metric_row *a = p, *b = q;
	int rc = number_compare(a->family, b->family);

	return rc != 0 ? rc : number_compare(a->at, b->at);
}

/* Brings the rows of a family together; the family is at its first row. */
static void
rows_order(struct metric_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		rows[i].at = i;
	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_family);
	for (i = 0; i < n; i++)
		rows[i].family = i > 0 &&
			family_compare(&rows[i - 1], &rows[i]) == 0 ?
		    rows[i - 1].family :
		    rows[i].at;
	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_place);
}

static void
print_sample(FILE *f, const struct metric_row *row)
{
	if (row_type(row) == FAMILY_COUNTER) {
		print_plain(f, row->fields[METRIC_NAME], base_length(row));
		fprintf(f, "_total");
	} else
		print_plain(f, row->fields[METRIC_NAME], FIELD_MAX);
	if (row->fields[METRIC_LABELS][0] != '\0') {
		fputc('{', f);
		print_plain(f, row->fields[METRIC_LABELS], FIELD_MAX);
		fputc('}', f);
	}
	fputc(' ', f);
	print_plain(f, row->fields[METRIC_VALUE], FIELD_MAX);
	fputc('\n', f);
}

static void
print_head(FILE *f, const struct metric_row *row, enum metrics_form form)
{
	enum family_type type = row_type(row);
	const char *suffix = type == FAMILY_COUNTER &&
		form == METRICS_PROMETHEUS ?
	    "_total" :
	    "";
	int n = base_length(row);

	fprintf(f, "# TYPE ");
	print_plain(f, row->fields[METRIC_NAME], n);
	fprintf(f, "%s %s\n# HELP ", suffix, type_names[type]);
	print_plain(f, row->fields[METRIC_NAME], n);
	fprintf(f, "%s ", suffix);
	print_help(f, row->fields[METRIC_HELP]);
	fputc('\n', f);
}

void
metrics_print(FILE *f, struct metric_row *rows, size_t n,
    enum metrics_form form)
{
	size_t i;

	rows_order(rows, n);
	for (i = 0; i < n; i++) {
		if (i == 0 || rows[i - 1].family != rows[i].family)
			print_head(f, &rows[i], form);
		print_sample(f, &rows[i]);
	}
	if (form == METRICS_OPEN)
		fprintf(f, "# EOF\n");
}
