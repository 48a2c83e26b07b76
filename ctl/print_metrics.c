/* SPDX-License-Identifier: MIT */
/*
 * Counters and gauges in OpenMetrics' text form: the rows of one metric
 * together, its type and help before them, a counter's samples named _total.
 * In Prometheus' older text form, which the textfile collector of node_exporter
 * and promtool read, the type of a counter has the name with _total, too.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "ctl/ctl.h"

#define FIELD_MAX 4096 /* bytes printed of one field */

/* The fields of a row of CTL_T_METRIC. */
enum {
	NAME,
	TYPE,
	HELP,
	LABELS,
	VALUE,
	FIELDS
};

static int
is_metric(const struct ctl_row *row)
{
	return row->table == CTL_T_METRIC && row->n == FIELDS;
}

/* Prints a field; control characters are escaped. */
static void
print_plain(const char *s, int n)
{
	char buf[FIELD_MAX], copy[FIELD_MAX];

	snprintf(copy, sizeof(copy), "%.*s", n, s);
	printf("%s", text_vis(copy, buf, sizeof(buf)));
}

/* Doubles backslashes, as OpenMetrics requires; a newline becomes \n. */
static void
print_help(const char *s)
{
	const char *p;

	for (p = s; *p != '\0'; s = p) {
		p += strcspn(p, "\\");
		print_plain(s, (int)(p - s));
		if (*p == '\\') {
			printf("\\\\");
			p++;
		}
	}
}

static int
is_counter(const struct ctl_row *row)
{
	return strcmp(row->fields[TYPE], "counter") == 0;
}

/* Length of the name without the suffix _total of a counter. */
static int
base_length(const struct ctl_row *row)
{
	const char *name = row->fields[NAME];
	size_t n = strlen(name);

	if (is_counter(row) && n > 6 && strcmp(name + n - 6, "_total") == 0)
		n -= 6;
	return (int)n;
}

/* Both rows belong to one metric; a counter may be named without _total. */
static int
same_family(const struct ctl_row *a, const struct ctl_row *b)
{
	int n = base_length(a);

	return n == base_length(b) &&
	    strncmp(a->fields[NAME], b->fields[NAME], (size_t)n) == 0;
}

static int
seen_before(const struct ctl_reply *a, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_metric(&a->rows[k]) &&
		    same_family(&a->rows[k], &a->rows[i]))
			return 1;
	return 0;
}

static void
print_sample(const struct ctl_row *row)
{
	print_plain(row->fields[NAME], base_length(row));
	printf("%s", is_counter(row) ? "_total" : "");
	if (row->fields[LABELS][0] != '\0') {
		putchar('{');
		print_plain(row->fields[LABELS], FIELD_MAX);
		putchar('}');
	}
	putchar(' ');
	print_plain(row->fields[VALUE], FIELD_MAX);
	putchar('\n');
}

static void
print_family(const struct ctl_reply *a, size_t first, enum metrics_form form)
{
	const struct ctl_row *row = &a->rows[first];
	const char *suffix = is_counter(row) && form == METRICS_PROMETHEUS ?
	    "_total" :
	    "";
	int n = base_length(row);
	size_t i;

	printf("# TYPE ");
	print_plain(row->fields[NAME], n);
	printf("%s %s\n# HELP ", suffix, is_counter(row) ? "counter" : "gauge");
	print_plain(row->fields[NAME], n);
	printf("%s ", suffix);
	print_help(row->fields[HELP]);
	putchar('\n');
	for (i = first; i < a->n; i++)
		if (is_metric(&a->rows[i]) && same_family(row, &a->rows[i]))
			print_sample(&a->rows[i]);
}

void
print_metrics(const struct ctl_reply *a, enum metrics_form form)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (is_metric(&a->rows[i]) && !seen_before(a, i))
			print_family(a, i, form);
	if (form == METRICS_OPEN)
		printf("# EOF\n");
}
