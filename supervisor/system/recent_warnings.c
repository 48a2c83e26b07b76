/* SPDX-License-Identifier: MIT */
/* The last warnings and errors; see recent_warnings.h. */
#include "config.h"

#include <string.h>

#include "common/text/text.h"
#include "supervisor/system/recent_warnings.h"

static struct recent_warning kept[RECENT_WARNINGS_MAX]; /* newest first */
static unsigned n_kept;

static int
is_equal(const struct recent_warning *a, const struct recent_warning *b)
{
	return a->kind == b->kind && strcmp(a->sender, b->sender) == 0 &&
	    strcmp(a->text, b->text) == 0;
}

void
recent_warning_add(const struct log_line *line, int64_t now)
{
	struct recent_warning new = { .last = now,
		.first = now,
		.count = 1,
		.sender = line->sender,
		.kind = line->kind };
	unsigned i;

	if (line->kind > LOG_WARN)
		return;
	text_vis(line->text, new.text, sizeof(new.text));
	for (i = 0; i < n_kept && !is_equal(&kept[i], &new); i++)
		continue;
	if (i < n_kept) {
		new.first = kept[i].first;
		new.count += kept[i].count;
	} else if (n_kept < RECENT_WARNINGS_MAX)
		n_kept++;
	else
		i--;
	memmove(&kept[1], &kept[0], i * sizeof(kept[0]));
	kept[0] = new;
}

const struct recent_warning *
recent_warning_at(unsigned i)
{
	return i < n_kept ? &kept[i] : NULL;
}
