/* SPDX-License-Identifier: MIT */
/* The clusters of a fan-in, in `status` at the centre. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text/text.h"
#include "common/text/time_text.h"
#include "ctl/print_private.h"

/* Fields of a row of CTL_T_STREAM. */
enum field {
	F_CLUSTER,
	F_STATE,
	F_LAST,
	F_LAG,
	F_WAITING,
	F_HELD,
	F_EXPIRED,
	F__COUNT
};

#define CLUSTER_WIDTH	22   /* as the names of processes */
#define STREAM_LINE_MAX 1024 /* bytes of one line */

static int
is_stream(const struct ctl_row *row)
{
	return row->table == CTL_T_STREAM && row->n == F__COUNT;
}

static long long
number_of(const struct ctl_row *row, enum field field)
{
	return strtoll(row->fields[field], NULL, 10);
}

static void
part_add(char *line, size_t size, const char *before, long long n,
    const char *after)
{
	size_t len = strlen(line);

	if (n > 0)
		snprintf(line + len, size - len, "%s%s%s", before,
		    count_text((unsigned long long)n), after);
}

static void
print_cluster(const struct ctl_row *row, const struct style *style)
{
	int64_t last = field_seconds(row->fields[F_LAST]), now = time(NULL);
	int64_t lag = field_seconds(row->fields[F_LAG]);
	char line[STREAM_LINE_MAX], cluster[CELL_MAX], state[CELL_MAX];
	size_t len;

	snprintf(line, sizeof(line), "  %-*.200s %.400s", CLUSTER_WIDTH,
	    text_vis(row->fields[F_CLUSTER], cluster, sizeof(cluster)),
	    text_vis(row->fields[F_STATE], state, sizeof(state)));
	len = strlen(line);
	if (last == 0)
		snprintf(line + len, sizeof(line) - len, ", no message yet");
	else
		snprintf(line + len, sizeof(line) - len,
		    ", last message %s ago",
		    duration_text((now > last ? now - last : 0) * 1000));
	part_add(line, sizeof(line), ", ", number_of(row, F_WAITING), " wait");
	len = strlen(line);
	if (lag > 0)
		snprintf(line + len, sizeof(line) - len, ", %s behind",
		    duration_text(lag * 1000));
	part_add(line, sizeof(line), ", ", number_of(row, F_HELD),
	    " of a newer version");
	part_add(line, sizeof(line), ", ", number_of(row, F_EXPIRED),
	    " expired");
	line_print(line, style->width);
}

void
print_streams(const struct ctl_reply *a, const struct style *style)
{
	size_t i;
	int any = 0;

	for (i = 0; i < a->n; i++) {
		if (!is_stream(&a->rows[i]))
			continue;
		if (!any++)
			printf("\n%sClusters%s\n", style_on(style, COLOUR_BOLD),
			    style_off(style));
		print_cluster(&a->rows[i], style);
	}
}
