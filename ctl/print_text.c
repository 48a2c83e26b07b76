/* SPDX-License-Identifier: MIT */
/*
 * The reply as text: a column is as wide as its longest field, the start of a
 * run and the time of a warning are ISO 8601 times, control characters are
 * escaped.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/print_private.h"

#define WIDTH_MAX 60 /* of a column; a longer field exceeds it */

int
column_is_time(unsigned table, const struct ctl_column *column)
{
	return strcmp(column->name, "start") == 0 ||
	    (table == CTL_T_WARNING &&
		(strcmp(column->name, "time") == 0 ||
		    strcmp(column->name, "first") == 0));
}

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
	if (column != NULL && column_is_time(row->table, column) &&
	    seconds > 0 && *end == '\0') {
		snprintf(buf, CELL_MAX, "%s", time_text(seconds));
		return buf;
	}
	return text_vis(row->fields[i], buf, CELL_MAX);
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

/* Any table with all its columns. */
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
			cell_print(columns[c].name, widths[c], 0);
		else
			printf("%s\n", columns[c].name);
	}
	for (i = 0; i < a->n; i++) {
		if (a->rows[i].table != table)
			continue;
		for (c = 0; c + 1 < n; c++)
			cell_print(cell_text(&a->rows[i], c, &columns[c], buf),
			    widths[c], 0);
		printf("%s\n", cell_text(&a->rows[i], c, &columns[c], buf));
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

const struct ctl_row *
reply_summary(const struct ctl_reply *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->rows[i].table == CTL_T_SUMMARY && a->rows[i].n >= 4)
			return &a->rows[i];
	return NULL;
}

int
reply_is_degraded(const struct ctl_reply *a)
{
	const struct ctl_row *row = reply_summary(a);

	return row != NULL && strcmp(row->fields[0], "ok") != 0;
}

void
print_text(const struct ctl_reply *a, const struct style *style, int verbose)
{
	char buf[CELL_MAX];

	if (reply_has_rows(a, CTL_T_STATUS))
		print_status(a, style, verbose);
	if (reply_has_rows(a, CTL_T_QUEUE))
		print_queue(a, style);
	if (reply_has_rows(a, CTL_T_DIFF))
		print_table(a, CTL_T_DIFF);
	if (reply_has_rows(a, CTL_T_GPUS))
		print_gpus(a);
	if (reply_has_rows(a, CTL_T_HISTORY))
		print_table(a, CTL_T_HISTORY);
	if (reply_has_rows(a, CTL_T_WARNING))
		print_table(a, CTL_T_WARNING);
	if (reply_has_rows(a, CTL_T_METRIC))
		print_metrics(a, METRICS_OPEN);
	print_notes(a);
	if (a->text != NULL && a->text[0] != '\0' && a->status == CTL_OK)
		printf("%s\n", text_vis(a->text, buf, sizeof(buf)));
}

void
print_unreached(const struct ctl_args *args, const char *reason)
{
	if (args->json) {
		json_begin("unreached", reason);
		printf("}\n");
	} else
		fprintf(stderr, "cc-slurm-adapterctl: %s\n", reason);
}
