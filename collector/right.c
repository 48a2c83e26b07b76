/* SPDX-License-Identifier: MIT */
/*
 * May we see all jobs?  root and SlurmUser may, an operator may, and where
 * PrivateData hides no jobs everybody may.  Without the right Slurm's answers
 * are empty and look well, so it has to be asked for.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "common/log.h"

#define PROVERS_MAX	4	/* that wait for one answer */

static const char *const names[] = {
	[RIGHT_UNKNOWN] = "not known yet",
	[RIGHT_NONE] = "none: other users' jobs are hidden",
	[RIGHT_OPERATOR] = "operator",
	[RIGHT_INHERENT] = "root or SlurmUser",
	[RIGHT_OPEN] = "not needed (PrivateData hides no jobs)",
};

/* One question at a time. */
struct proof {
	struct lines	lines;
	int		busy;
	struct admin	admin;		/* what the answer says */
	void		(*then[PROVERS_MAX])(struct collector *c, int proved);
	unsigned	n;
	char		who[96];
};

const char *
right_name(enum right right)
{
	return names[right];
}

int
right_sure(const struct collector *c)
{
	if (slurm_right_inherent(&c->slurm))
		return 1;
	return (c->right == RIGHT_OPERATOR || c->right == RIGHT_OPEN) &&
	    c->right_cycle == cycle_number(c->cycle);
}

static void
tell_missing(const struct collector *c)
{
	const char *user = c->slurm.user;

	if (c->proof != NULL && c->proof->admin.known)
		log_errorx("NO JOBS%s WILL BE REPORTED: %s may not see other "
		    "users' jobs; this repairs it: sacctmgr -i modify user "
		    "where name=%s set adminlevel=Operator", site_of(c), user,
		    user);
	else
		log_errorx("NO JOBS%s WILL BE REPORTED: Slurm does not know "
		    "the user %s; this repairs it: sacctmgr -i add user "
		    "name=%s account=root adminlevel=Operator", site_of(c),
		    user, user);
}

static void
right_set(struct collector *c, enum right right)
{
	enum right before = c->right;

	c->right = right;
	c->right_cycle = cycle_number(c->cycle);
	if (before == right)
		return;
	if (right == RIGHT_NONE)
		tell_missing(c);
	else if (before == RIGHT_NONE)
		log_notice("%s may see all jobs%s again", c->slurm.user,
		    site_of(c));
}

static void
answer(struct collector *c, int proved)
{
	struct proof *proof = c->proof;
	unsigned i, n = proof->n;

	proof->n = 0;
	proof->busy = 0;
	for (i = 0; i < n; i++)
		proof->then[i](c, proved);
}

/* "ccadapter|Operator" */
static int
on_line(struct span line, void *arg)
{
	struct collector *c = arg;

	admin_line(&c->proof->admin, c->slurm.user, line);
	return 0;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct collector *c = arg;

	return lines_feed(&c->proof->lines, p, n, on_line, c);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct collector *c = arg;
	int ok = end->outcome == COMMAND_OK &&
	    lines_end(&c->proof->lines, on_line, c) == 0;

	lines_clear(&c->proof->lines);
	if (!ok) {
		ask_failed(c, &c->dbd, "sacctmgr", end);
		answer(c, 0);
		return;
	}
	if (c->proof->admin.operator)
		right_set(c, RIGHT_OPERATOR);
	else
		right_set(c, c->slurm.private_jobs ? RIGHT_NONE : RIGHT_OPEN);
	answer(c, c->right != RIGHT_NONE);
	plan_kick(c);
}

void
right_prove(struct collector *c, void (*then)(struct collector *c,
    int proved))
{
	struct proof *proof = c->proof;
	struct ask ask = { .cmd = CMD_SACCTMGR, .deadline_ms = ASK_LONG_MS / 2,
	    .args = { "-n", "-P", "show", "user", NULL,
	    "format=user,adminlevel" }, .on_output = on_output,
	    .on_end = on_end, .arg = c };

	if (proof == NULL && (proof = c->proof = calloc(1, sizeof(*proof))) ==
	    NULL)
		fatal("no memory");
	if (slurm_right_inherent(&c->slurm)) {
		right_set(c, RIGHT_INHERENT);
		then(c, 1);
		return;
	}
	/* Without slurmdbd nobody is an operator. */
	if (!c->slurm.accounting) {
		right_set(c, c->slurm.private_jobs ? RIGHT_NONE : RIGHT_OPEN);
		then(c, c->right == RIGHT_OPEN);
		return;
	}
	if (proof->n == PROVERS_MAX) {
		then(c, 0);
		return;
	}
	proof->then[proof->n++] = then;
	if (proof->busy)
		return;
	proof->busy = 1;
	proof->admin = (struct admin){ 0, 0 };
	snprintf(proof->who, sizeof(proof->who), "name=%s", c->slurm.user);
	ask.args[4] = proof->who;
	if (ask_start(c, &ask) == NULL)
		answer(c, 0);
}
