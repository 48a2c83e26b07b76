/* SPDX-License-Identifier: MIT */
/* Rows of CTL_T_DIFF; see diff_row.h. */
#include "config.h"

#include <stdio.h>

#include "common/model/ctl.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"

size_t
diff_row_send(struct submitter *s, uint64_t request, const struct run_key *key,
    const char *difference, const char *action)
{
	char job[24], start[24];
	struct writer w;
	size_t bytes;

	snprintf(job, sizeof(job), "%llu", (unsigned long long)key->job);
	snprintf(start, sizeof(start), "%lld", (long long)key->start);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_DIFF, key->cluster, job, start, difference, action,
	    NULL);
	worker_ctl_row(s->w, request, &w);
	bytes = w.len;
	wr_clear(&w);
	return bytes;
}

void
diff_rows_add(struct submitter *s, struct diff_rows *to,
    const struct run_key *key, const char *difference, const char *action)
{
	if (to->bytes >= DIFF_BYTES_MAX)
		to->untold++;
	else
		to->bytes += diff_row_send(s, to->request, key, difference,
		    action);
}

void
diff_rows_untold(const struct diff_rows *rows, char *buf, size_t size)
{
	if (rows->untold > 0)
		snprintf(buf, size, "; %u rows are not shown", rows->untold);
	else
		buf[0] = '\0';
}
