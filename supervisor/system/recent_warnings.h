/* SPDX-License-Identifier: MIT */
/*
 * The last warnings and errors of all processes since the supervisor started,
 * in memory.  A line that is equal to a kept one is counted, not kept again.
 */
#ifndef SUPERVISOR_SYSTEM_RECENT_WARNINGS_H
#define SUPERVISOR_SYSTEM_RECENT_WARNINGS_H

#include <stdint.h>

#include "common/log_line.h"

#define RECENT_WARNINGS_MAX 50
#define RECENT_TEXT_MAX	    400 /* bytes with the NUL; "..." ends a cut text */

struct recent_warning {
	int64_t last;	    /* epoch, of the last equal line */
	int64_t first;	    /* epoch, of the first equal line */
	uint64_t count;	    /* equal lines */
	const char *sender; /* name of the process */
	enum log_kind kind; /* LOG_WARN or more urgent */
	enum log_id id;	    /* of the line */
	char text[RECENT_TEXT_MAX];
};

/*
 * Keeps the line, unless it is less urgent than a warning.  When there are
 * RECENT_WARNINGS_MAX, removes the oldest one of the sender with the most (of the
 * senders with equally many, the oldest), so that one process cannot remove the
 * lines of the others.  line->sender is borrowed for ever.  now: epoch.
 */
void recent_warning_add(const struct log_line *line, int64_t now);
/* The i-th one, newest first; NULL when there are not so many. */
const struct recent_warning *recent_warning_at(unsigned i);

#endif
