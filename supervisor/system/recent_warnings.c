/* SPDX-License-Identifier: MIT */
/* The last warnings and errors; see recent_warnings.h. */
#include "config.h"

#include <string.h>

#include "common/text/text.h"
#include "supervisor/system/recent_warnings.h"

static struct recent_warning kept[RECENT_WARNINGS_MAX]; /* newest first */
static unsigned n_kept;

/*
 * A process that logs too fast makes the supervisor report the number of its
 * suppressed lines again and again.  These reports are equal except for the number,
 * so that they do not remove the supervisor's other lines.
 */
static const char *
text_key(const struct recent_warning *a)
{
	size_t n = a->id == LOG_ID_LINES_LOST ? strspn(a->text, "0123456789") :
						0;

	return a->text + n;
}

static int
is_equal(const struct recent_warning *a, const struct recent_warning *b)
{
	return a->kind == b->kind && a->id == b->id &&
	    strcmp(a->sender, b->sender) == 0 &&
	    strcmp(text_key(a), text_key(b)) == 0;
}

static unsigned
sender_count(const char *sender)
{
	unsigned i, n = 0;

	for (i = 0; i < n_kept; i++)
		n += strcmp(kept[i].sender, sender) == 0;
	return n;
}

/* Which one a new one replaces when there are RECENT_WARNINGS_MAX. */
static unsigned
victim_find(void)
{
	unsigned i, n, most = 0, victim = 0;

	for (i = n_kept; i > 0; i--) {
		n = sender_count(kept[i - 1].sender);
		if (n > most) {
			most = n;
			victim = i - 1;
		}
	}
	return victim;
}

void
recent_warning_add(const struct log_line *line, int64_t now)
{
	struct recent_warning new = { .last = now,
		.first = now,
		.count = 1,
		.sender = line->sender,
		.kind = line->kind,
		.id = line->id };
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
		i = victim_find();
	memmove(&kept[1], &kept[0], i * sizeof(kept[0]));
	kept[0] = new;
}

const struct recent_warning *
recent_warning_at(unsigned i)
{
	return i < n_kept ? &kept[i] : NULL;
}
