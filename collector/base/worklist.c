/* SPDX-License-Identifier: MIT */
/* The queries to make for one cluster; see worklist.h. */
#include "config.h"

#include "collector/base/cluster.h"
#include "collector/base/worklist.h"

void
worklist_init(struct worklist *work)
{
	work->scripts_tail = &work->scripts;
}

void
worklist_confirm(struct cluster *c, uint64_t job)
{
	struct open_run *run;
	size_t at = 0;

	while ((run = open_of_job(&c->open, job, &at)) != NULL)
		if (run->flags & OPEN_UNCONFIRMED)
			break;
	if (run == NULL || c->work.confirm.n >= CONFIRM_JOBS_MAX)
		return;
	c->work.confirm_at = now_ms();
	(void)idmap_put(&c->work.confirm, job, NULL);
}

void
worklist_script(struct worklist *work, struct script_request *req)
{
	req->next = NULL;
	*work->scripts_tail = req;
	work->scripts_tail = &req->next;
	work->n_scripts++;
}
