/* SPDX-License-Identifier: MIT */
/* A change of the destinations of jobs; see destinations.h. */
#include "config.h"

#include "common/crash_point.h"
#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/base/wake.h"
#include "submitter/reconcile/destinations.h"
#include "submitter/reconcile/first_list.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/spool.h"

static void
report(const struct submitter *s, const struct spool_dest_change *c)
{
	const struct spool_policy *p = spool_policy(s->spool);

	log_notice(
	    "the destinations of jobs were changed: %u runs of the spool "
	    "are delivered to %s from now on%s",
	    c->runs,
	    !p->to[DEST_NATS]	 ? "cc-backend" :
		p->to[DEST_REST] ? "cc-backend and NATS" :
				   "NATS",
	    c->removed[DEST_REST] ?
		"; cc-backend gets their ends only if it reads them from NATS" :
		"");
}

int
destinations_check(struct submitter *s)
{
	struct spool_dest_change c;
	int rc = spool_destinations_change(s->spool, &c);

	if (rc == 0) {
		if (spool_dirty(s->spool))
			commit_soon(s->commit); /* the value is new */
		return 0;
	}
	/* In the commit of the rows: cc-backend may have these runs. */
	if (c.added[DEST_REST])
		first_list_again(s->first_list);
	CRASH_POINT("destinations-changed");
	if (commit_now(s->commit) == -1 || rc == -1)
		return -1;
	if (c.runs > 0)
		report(s, &c);
	wake(s, WAKE_DELIVERY);
	return 0;
}
