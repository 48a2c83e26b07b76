/* SPDX-License-Identifier: MIT */
/*
 * Counters and gauges in OpenMetrics' text form: the rows of one metric
 * together, its type and help before them, a counter's samples named _total.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"

/* The fields of a row of CTL_T_METRIC. */
enum { NAME, TYPE, HELP, LABELS, VALUE, FIELDS };

static int
is_metric(const struct row *row)
{
	return row->table == CTL_T_METRIC && row->n == FIELDS;
}

static int
seen_before(const struct answer *a, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_metric(&a->rows[k]) &&
		    strcmp(a->rows[k].fields[NAME], a->rows[i].fields[NAME]) == 0)
			return 1;
	return 0;
}

/* Backslash and newline as OpenMetrics wants them in a help text. */
static void
print_help(const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\n')
			printf("\\n");
		else if (*s == '\\')
			printf("\\\\");
		else
			putchar(*s);
	}
}

/* The name without _total, which only a counter's samples have. */
static int
base_length(const char *name, int counter)
{
	size_t n = strlen(name);

	if (counter && n > 6 && strcmp(name + n - 6, "_total") == 0)
		n -= 6;
	return (int)n;
}

static void
print_family(const struct answer *a, size_t first)
{
	const struct row *row = &a->rows[first];
	const char *name = row->fields[NAME];
	int counter = strcmp(row->fields[TYPE], "counter") == 0;
	int n = base_length(name, counter);
	size_t i;

	printf("# TYPE %.*s %s\n# HELP %.*s ", n, name, row->fields[TYPE], n,
	    name);
	print_help(row->fields[HELP]);
	putchar('\n');
	for (i = first; i < a->n; i++) {
		row = &a->rows[i];
		if (!is_metric(row) || strcmp(row->fields[NAME], name) != 0)
			continue;
		printf("%.*s%s", n, name, counter ? "_total" : "");
		if (row->fields[LABELS][0] != '\0')
			printf("{%s}", row->fields[LABELS]);
		printf(" %s\n", row->fields[VALUE]);
	}
}

void
print_metrics(const struct answer *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (is_metric(&a->rows[i]) && !seen_before(a, i))
			print_family(a, i);
	printf("# EOF\n");
}
