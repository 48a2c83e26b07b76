/* SPDX-License-Identifier: MIT */
/*
 * The queue as a table.  A column that has the same value in each row tells
 * nothing: the cluster is shown when there are several, the destination when
 * one is NATS.  On a terminal the reason is cut at its edge; in a file or a
 * pipe nothing is cut.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/print_private.h"

#define START_WIDTH 120 /* of a terminal that has room for the start */
#define STATE_WIDTH 26	/* on a terminal */
#define COLUMNS	    9

/* Fields of CTL_T_QUEUE. */
enum {
	CLUSTER,
	JOB,
	START,
	WHAT,
	TO,
	TRIES,
	DUE,
	STATE,
	REASON,
	AGE,
	FIELDS
};

/* The columns of the table for people, in their order. */
static const struct {
	const char *title;
	unsigned field;
} columns[COLUMNS] = { { "JOB", JOB }, { "CLUSTER", CLUSTER },
	{ "START", START }, { "AGE", AGE }, { "WHAT", WHAT }, { "TO", TO },
	{ "TRIES", TRIES }, { "NEXT", DUE }, { "STATE", STATE } };

struct layout {
	int shown[COLUMNS];
	int widths[COLUMNS];
	int terminal; /* its columns; 0 = none */
};

static int
is_queue(const struct ctl_row *row)
{
	return row->table == CTL_T_QUEUE && row->n >= AGE;
}

/* "3 min" instead of "3 min 5 s": the second unit is not needed here. */
static const char *
seconds_text(const char *s, char buf[CELL_MAX])
{
	char *end, *second;
	long long n = strtoll(s, &end, 10);

	if (end == s || *end != '\0' || n < 0)
		return "";
	snprintf(buf, CELL_MAX, "%s", duration_text(field_seconds(s) * 1000));
	if ((second = strchr(buf, ' ')) != NULL &&
	    (second = strchr(second + 1, ' ')) != NULL)
		*second = '\0';
	return buf;
}

/*
 * The run waits for an admin, for Slurm, for a list of cc-backend or for another
 * run: no try is planned.
 */
static int
has_no_next_try(const struct ctl_row *row)
{
	static const char *const states[] = { "start rejected", "stop rejected",
		"unknown to Slurm", "unconfirmed", "stopped by others, kept",
		"waits for an earlier run", "ended, waits for commit" };
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(row->fields[STATE], states[i]) == 0)
			return 1;
	return 0;
}

static const char *
queue_cell(const struct ctl_row *row, unsigned field, char buf[CELL_MAX])
{
	const char *s = field < row->n ? row->fields[field] : "";

	switch (field) {
	case START:
		snprintf(buf, CELL_MAX, "%s", time_text(strtoll(s, NULL, 10)));
		return buf;
	case AGE:
		return seconds_text(s, buf);
	case DUE:
		if (strcmp(s, "0") == 0)
			return has_no_next_try(row) ? "-" : "now";
		return seconds_text(s, buf);
	default:
		return text_vis(s, buf, CELL_MAX);
	}
}

/* 1 when a row has another value than the first one. */
static int
is_mixed(const struct ctl_reply *a, unsigned field, const char *usual)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		if (!is_queue(&a->rows[i]))
			continue;
		if (usual == NULL)
			usual = a->rows[i].fields[field];
		if (strcmp(a->rows[i].fields[field], usual) != 0)
			return 1;
	}
	return 0;
}

static void
layout_measure(const struct ctl_reply *a, struct layout *l)
{
	char buf[CELL_MAX];
	size_t i;
	int c, w;

	for (c = 0; c < COLUMNS; c++) {
		l->shown[c] = 1;
		l->widths[c] = text_width(columns[c].title);
		for (i = 0; i < a->n; i++) {
			if (!is_queue(&a->rows[i]))
				continue;
			w = text_width(
			    queue_cell(&a->rows[i], columns[c].field, buf));
			if (w > l->widths[c])
				l->widths[c] = w;
		}
		if (columns[c].field == CLUSTER)
			l->shown[c] = is_mixed(a, CLUSTER, NULL);
		else if (columns[c].field == TO)
			l->shown[c] = is_mixed(a, TO, "rest");
		else if (columns[c].field == START)
			l->shown[c] = l->terminal == 0 ||
			    l->terminal >= START_WIDTH;
		else if (columns[c].field == STATE && l->terminal != 0 &&
		    l->widths[c] > STATE_WIDTH)
			l->widths[c] = STATE_WIDTH;
	}
}

/* Columns that are left for the reason; 0: it is not cut. */
static int
reason_width(const struct layout *l)
{
	int c, used = 0;

	if (l->terminal == 0)
		return 0;
	for (c = 0; c < COLUMNS; c++)
		used += l->shown[c] ? l->widths[c] + 2 : 0;
	return l->terminal > used + 10 ? l->terminal - used : 10;
}

void
print_queue(const struct ctl_reply *a, const struct style *style)
{
	struct layout l = { .terminal = style->width };
	char buf[CELL_MAX];
	size_t i;
	int c;

	layout_measure(a, &l);
	printf("%s", style_on(style, COLOUR_BOLD));
	for (c = 0; c < COLUMNS; c++)
		if (l.shown[c])
			cell_print(columns[c].title, l.widths[c], 0);
	printf("REASON%s\n", style_off(style));
	for (i = 0; i < a->n; i++) {
		if (!is_queue(&a->rows[i]))
			continue;
		for (c = 0; c < COLUMNS; c++)
			if (l.shown[c])
				cell_print(queue_cell(&a->rows[i],
					       columns[c].field, buf),
				    l.widths[c], l.terminal != 0);
		line_print(queue_cell(&a->rows[i], REASON, buf),
		    reason_width(&l));
	}
}
