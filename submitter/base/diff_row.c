/* SPDX-License-Identifier: MIT */
/* A row of CTL_T_DIFF; see diff_row.h. */
#include "config.h"

#include <stdio.h>

#include "common/model/ctl.h"
#include "submitter/base/context.h"
#include "submitter/base/diff_row.h"

void
diff_row_send(struct submitter *s, uint64_t request, const struct run_key *key,
    const char *difference, const char *action)
{
	char job[24], start[24];
	struct writer w;

	snprintf(job, sizeof(job), "%llu", (unsigned long long)key->job);
	snprintf(start, sizeof(start), "%lld", (long long)key->start);
	wr_init(&w, CTL_REPLY_MAX);
	ctl_row(&w, CTL_T_DIFF, key->cluster, job, start, difference, action,
	    NULL);
	worker_ctl_row(s->w, request, &w);
	wr_clear(&w);
}
