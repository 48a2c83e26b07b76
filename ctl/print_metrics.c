/* SPDX-License-Identifier: MIT */
/*
 * Counters and gauges in OpenMetrics' text form: the rows of one metric
 * together, its type and help before them, a counter's samples named _total.
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

static int
seen_before(const struct ctl_reply *a, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (is_metric(&a->rows[k]) &&
		    strcmp(a->rows[k].fields[NAME], a->rows[i].fields[NAME]) ==
			0)
			return 1;
	return 0;
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

/* Length of the name without the suffix _total of a counter. */
static int
base_length(const char *name, int counter)
{
	size_t n = strlen(name);

	if (counter && n > 6 && strcmp(name + n - 6, "_total") == 0)
		n -= 6;
	return (int)n;
}

static void
print_sample(const struct ctl_row *row, int n, int counter)
{
	print_plain(row->fields[NAME], n);
	printf("%s", counter ? "_total" : "");
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
print_family(const struct ctl_reply *a, size_t first)
{
	const struct ctl_row *row = &a->rows[first];
	const char *name = row->fields[NAME];
	int counter = strcmp(row->fields[TYPE], "counter") == 0;
	int n = base_length(name, counter);
	size_t i;

	printf("# TYPE ");
	print_plain(name, n);
	printf(" %s\n# HELP ", counter ? "counter" : "gauge");
	print_plain(name, n);
	putchar(' ');
	print_help(row->fields[HELP]);
	putchar('\n');
	for (i = first; i < a->n; i++) {
		row = &a->rows[i];
		if (is_metric(row) && strcmp(row->fields[NAME], name) == 0)
			print_sample(row, n, counter);
	}
}

void
print_metrics(const struct ctl_reply *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (is_metric(&a->rows[i]) && !seen_before(a, i))
			print_family(a, i);
	printf("# EOF\n");
}
