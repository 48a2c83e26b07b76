/* SPDX-License-Identifier: MIT */
/* Rows of SQUEUE_FORMAT; see parse.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/* Takes the next word off the line; empty at the end. */
static struct span
word(struct span *line)
{
	struct span w = { line->p, 0 };
	const char *space;

	space = line->n > 0 ? memchr(line->p, ' ', line->n) : NULL;
	w.n = space != NULL ? (size_t)(space - line->p) : line->n;
	line->p += w.n + (space != NULL);
	line->n -= w.n + (space != NULL);
	return w;
}

int
squeue_row(struct span line, struct squeue_job *row)
{
	struct span state, start;

	if (number_u64(word(&line), &row->job) == -1 || row->job == 0)
		return -1;
	state = word(&line);
	row->state = state_with_reason(state_compact(state), word(&line));
	/* squeue pads a reason that is shorter than two letters. */
	while (line.n > 0 && *line.p == ' ')
		line = span_from(line, line.p + 1);
	start = word(&line);
	if (state.n == 0 || start.n == 0 ||
	    time_point(start, &row->start) == -1 || line.n != 0)
		return -1;
	return 0;
}
