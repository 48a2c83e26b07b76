/* SPDX-License-Identifier: MIT */
/*
 * A burst of runs leaves cached pages of the spool and free memory between
 * blocks in use.  Some seconds after the spool was written, both go back to the
 * system.  The kernel still has the pages in its own cache: the next run reads
 * the few that it needs from there.  Without work no timer runs.
 */
#include "config.h"

#include <malloc.h>

#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/memory.h"
#include "submitter/net/http.h"
#include "submitter/spool/spool.h"

#define AFTER_MS 3000 /* under load, 0.05 % of the processor time */

static struct event *timer;
static int armed;

void
memory_release(struct submitter *s)
{
	/* Requests under way use the same pages again; a commit follows. */
	if (http_busy(s->http) > 0)
		return;
	spool_shrink(s->spool);
	malloc_trim(0);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	armed = 0;
	memory_release(arg);
}

void
memory_used(struct submitter *s)
{
	(void)s;
	if (armed)
		return;
	armed = 1;
	timer_after(timer, AFTER_MS);
}

void
memory_begin(struct submitter *s)
{
	timer = timer_new(s, on_timer, s);
	memory_used(s);
}
