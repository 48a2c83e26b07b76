/* SPDX-License-Identifier: MIT */
/*
 * Finds out which of Slurm's controllers is active, and whether it is the one
 * on this host.  `scontrol ping` is run at each poll when activeOnly is set.
 * The first controller that is up is active.  The suite on the host of a backup
 * also waits until squeue has answered after that, because then the backup has
 * taken over.
 */
#include "config.h"

#include <sys/utsname.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "common/permanent.h"

struct controller_role {
	struct site *site;
	struct query query;
	int64_t next;		 /* monotonic ms */
	struct controllers seen; /* of the answer that is being read */
	/* of the last complete answer */
	int known;
	int is_working;
	unsigned rank;
	/* monotonic ms since which ours is the first that is up; 0 = it is not */
	int64_t first_since;
	char text[128];
	struct log_limit not_a_controller;
};

static int
on_line(struct span line, void *arg)
{
	struct controller_role *a = arg;
	struct utsname me;

	if (uname(&me) == -1)
		me.nodename[0] = '\0';
	controllers_line(&a->seen, me.nodename, line);
	return 0;
}

static void
role_send(struct controller_role *a)
{
	struct channel *c = a->site->w->peers[ROLE_SUBMITTER];
	struct writer w;

	if (c == NULL || !a->known)
		return;
	wr_init(&w, 2);
	wr_u8(&w, (uint8_t)a->is_working);
	wr_u8(&w, (uint8_t)a->rank);
	channel_send(c, MSG_CONTROLLER_ROLE, 0, &w, -1);
	wr_clear(&w);
}

/* Decides from an answer with at least one controller. */
static void
role_decide(struct controller_role *a)
{
	const struct health *ctld = &a->site->clusters[0]->ctld;
	const struct controllers *seen = &a->seen;
	int first = seen->ours != -1 && seen->first_up == seen->ours;
	int now = first;

	if (seen->ours == -1)
		log_limited(&a->not_a_controller, log_errorx,
		    "activeOnly: this host is no controller of Slurm: nothing "
		    "is sent from here");
	if (!first)
		a->first_since = 0;
	else if (a->first_since == 0)
		a->first_since = now_ms();
	if (now && seen->ours > 0 && !(a->known && a->is_working))
		now = !ctld->away && ctld->answered_ms >= a->first_since;
	snprintf(a->text, sizeof(a->text),
	    "this host has %s of %u controllers; %s",
	    seen->ours == -1	? "none" :
		seen->ours == 0 ? "the first" :
				  "a backup",
	    seen->n, now ? "it is active" : "another one is active");
	a->known = 1;
	a->is_working = now;
	a->rank = seen->ours > 0 ? (unsigned)seen->ours : 0;
	/*
	 * Also without a change: the submitter may have received the last one before
	 * the configuration that sets activeOnly.
	 */
	role_send(a);
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct controller_role *a = arg;

	/*
	 * The exit status does not count: some versions exit with 1 when a
	 * controller is down.  Without an answer the role stays the same.
	 */
	if (a->seen.n > 0 && a->seen.first_up != -1)
		role_decide(a);
}

static const struct query_type ping_query = {
	.kind = QUESTION_PING,
	.flags = QUERY_LAST_LINE,
	.on_line = on_line,
	.on_end = on_end,
};

void
controller_role_kick(struct controller_role *a)
{
	struct cluster *c = a->site->clusters[0];

	if (!conf_bool(&a->site->w->conf, CONF_ACTIVE_ONLY)) {
		a->known = 0;
		return;
	}
	if (query_busy(&a->query) || now_ms() < a->next || c->set == NULL)
		return;
	a->next = now_ms() + c->set->poll * 1000;
	a->seen = (struct controllers) { .first_up = -1, .ours = -1 };
	query_begin(&a->query, c, &ping_query, a);
	(void)query_start(&a->query);
}

int64_t
controller_role_next(const struct controller_role *a)
{
	/* The end of the query runs the lanes. */
	if (!conf_bool(&a->site->w->conf, CONF_ACTIVE_ONLY) ||
	    query_busy(&a->query))
		return INT64_MAX;
	return a->next;
}

void
controller_role_peer(struct controller_role *a)
{
	role_send(a);
}

void
controller_role_status(struct controller_role *a, uint64_t request)
{
	if (conf_bool(&a->site->w->conf, CONF_ACTIVE_ONLY))
		worker_status(a->site->w, request, "controllers", "%s",
		    a->known ? a->text : "not known yet");
}

struct controller_role *
controller_role_new(struct site *site)
{
	struct controller_role *a = permanent_new(sizeof(*a));

	a->site = site;
	return a;
}
