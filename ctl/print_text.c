/* SPDX-License-Identifier: MIT */
/*
 * The reply as text: a column is as wide as its longest field, the start of a
 * run is an ISO 8601 time, control characters are escaped.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/time_text.h"
#include "ctl/ctl.h"

#define CELL_MAX  4096 /* bytes printed of one field */
#define WIDTH_MAX 60   /* of a column; a longer field exceeds it */

/* The text of a field.  column is NULL for a column that is not known. */
static const char *
cell_text(const struct ctl_row *row, unsigned i,
    const struct ctl_column *column, char buf[CELL_MAX])
{
	long long seconds;
	char *end;

	if (i >= row->n)
		return "";
	seconds = strtoll(row->fields[i], &end, 10);
	if (column != NULL && strcmp(column->name, "start") == 0 &&
	    seconds > 0 && *end == '\0') {
		snprintf(buf, CELL_MAX, "%s", time_text(seconds));
		return buf;
	}
	return text_vis(row->fields[i], buf, CELL_MAX);
}

/* Characters of a UTF-8 text. */
static int
text_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
cell_print(const char *s, int width)
{
	int n = text_width(s);

	printf("%s%*s", s, n < width ? width - n + 2 : 2, "");
}

static unsigned
columns_count(const struct ctl_column *columns)
{
	unsigned n = 0;

	while (columns != NULL && columns[n].name != NULL)
		n++;
	return n;
}

static void
columns_measure(const struct ctl_reply *a, unsigned table,
    const struct ctl_column *columns, unsigned n, int *widths)
{
	char buf[CELL_MAX];
	unsigned c;
	size_t i;
	int w;

	for (c = 0; c < n; c++)
		widths[c] = text_width(columns[c].name);
	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != table)
			continue;
		for (c = 0; c < n; c++) {
			w = text_width(
			    cell_text(&a->rows[i], c, &columns[c], buf));
			if (w > widths[c] && w <= WIDTH_MAX)
				widths[c] = w;
		}
	}
}

static void
print_table(const struct ctl_reply *a, unsigned table)
{
	const struct ctl_column *columns = ctl_columns(table);
	unsigned c, n = columns_count(columns);
	int widths[CTL_COLUMNS_MAX];
	char buf[CELL_MAX];
	size_t i;

	columns_measure(a, table, columns, n, widths);
	for (c = 0; c < n; c++) {
		if (c + 1 < n)
			cell_print(columns[c].name, widths[c]);
		else
			printf("%s\n", columns[c].name);
	}
	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != table)
			continue;
		for (c = 0; c + 1 < n; c++)
			cell_print(cell_text(&a->rows[i], c, &columns[c], buf),
			    widths[c]);
		printf("%s\n", cell_text(&a->rows[i], c, &columns[c], buf));
	}
}

static int
is_status(const struct ctl_row *row)
{
	return row->table == CTL_T_STATUS && row->n == 3;
}

static int
row_same_process(const struct ctl_reply *a, size_t i, size_t k)
{
	return is_status(&a->rows[k]) &&
	    strcmp(a->rows[i].fields[0], a->rows[k].fields[0]) == 0;
}

/* The name of the process and below it all its rows. */
static void
print_process(const struct ctl_reply *a, size_t first, int width)
{
	char buf[CELL_MAX];
	size_t i;

	printf("%s\n", text_vis(a->rows[first].fields[0], buf, sizeof(buf)));
	for (i = first; i < a->n; i++) {
		if (!row_same_process(a, first, i))
			continue;
		printf("  ");
		cell_print(text_vis(a->rows[i].fields[1], buf, sizeof(buf)),
		    width);
		printf("%s\n",
		    text_vis(a->rows[i].fields[2], buf, sizeof(buf)));
	}
}

static void
print_status(const struct ctl_reply *a)
{
	int width = 0, w;
	size_t i, k;

	for (i = 0; i < a->n; i++)
		if (is_status(&a->rows[i]) &&
		    (w = text_width(a->rows[i].fields[1])) > width)
			width = w;
	for (i = 0; i < a->n; i++) {
		if (!is_status(&a->rows[i]))
			continue;
		for (k = 0; k < i && !row_same_process(a, i, k); k++)
			continue;
		if (k == i)
			print_process(a, i, width);
	}
}

static void
print_notes(const struct ctl_reply *a)
{
	char buf[CELL_MAX];
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->rows[i].table == CTL_T_NOTE && a->rows[i].n > 0)
			printf("%s\n",
			    text_vis(a->rows[i].fields[0], buf, sizeof(buf)));
}

static int
reply_has_rows(const struct ctl_reply *a, unsigned table)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->rows[i].table == table)
			return 1;
	return 0;
}

void
print_text(const struct ctl_reply *a)
{
	char buf[CELL_MAX];

	if (reply_has_rows(a, CTL_T_STATUS))
		print_status(a);
	if (reply_has_rows(a, CTL_T_QUEUE))
		print_table(a, CTL_T_QUEUE);
	if (reply_has_rows(a, CTL_T_DIFF))
		print_table(a, CTL_T_DIFF);
	if (reply_has_rows(a, CTL_T_GPUS))
		print_gpus(a);
	if (reply_has_rows(a, CTL_T_METRIC))
		print_metrics(a, METRICS_OPEN);
	print_notes(a);
	if (a->text != NULL && a->text[0] != '\0' && a->status == CTL_OK)
		printf("%s\n", text_vis(a->text, buf, sizeof(buf)));
}
