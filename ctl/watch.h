/* SPDX-License-Identifier: MIT */
/* The live screen: what watch.c reads and watch_view.c makes of it. */
#ifndef CTL_WATCH_H
#define CTL_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

#define WATCH_QUEUE_ROWS 1000 /* of which the ages are counted */
#define VIEW_ROWS_MAX	 200  /* a larger terminal stays empty below */
#define VIEW_COLUMNS_MAX 500  /* characters */
#define VIEW_LINE_BYTES	 (4 * VIEW_COLUMNS_MAX + 1)

/* The replies of the daemon at one moment. */
struct sample {
	long long at_ms;  /* clock_ms() */
	int64_t now;	  /* epoch */
	int ok;		  /* all replies are here */
	char reason[512]; /* why they are not */
	struct ctl_reply status;
	struct ctl_reply metrics;
	struct ctl_reply queue; /* at most WATCH_QUEUE_ROWS rows */
};

/* The lines of the screen, without control characters. */
struct view {
	int rows;    /* of the terminal */
	int columns; /* of the terminal */
	int n;
	char lines[VIEW_ROWS_MAX][VIEW_LINE_BYTES];
};

/*
 * Makes the lines for v->rows and v->columns.  before is an earlier sample, for
 * the rates; it may be empty.  away: seconds since the daemon answered last, 0
 * when it answers.
 */
void view_make(struct view *v, const struct sample *now,
    const struct sample *before, int64_t away);

/*
 * The quantile q (0 to 1) of the histogram name, in ms: of the rows of the
 * metrics whose labels contain label ("" = any), since the daemon's start.  -1
 * when there are no values.  A value above the largest bound counts as it.
 */
double quantile_ms(const struct ctl_reply *metrics, const char *name,
    const char *label, double q);

#endif
