/* SPDX-License-Identifier: MIT */
/*
 * May we see all jobs?  root and SlurmUser may, an operator may, and where
 * PrivateData hides no jobs everybody may: slurmctld's and slurmdbd's, each has
 * its own.  Without the right Slurm's answers are empty and look well, so it has
 * to be asked for.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

#define PROVERS_MAX	4	/* that wait for one answer */
/* 26.05's sacctmgr shows slurm.conf's PrivateData as slurmdbd's; seen right. */
#define DBD_TOLD_UNTIL	2411

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
	int		admin_asked;
	struct admin	admin;		/* what the answer says */
	int		dbd_asked;
	struct dbd_config dbd;
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
	/* Where only slurmdbd hides them, squeue still shows who runs. */
	const char *what = c->slurm.private_jobs ? "NO JOBS" : "NO JOB'S END";

	if (c->proof != NULL && c->proof->admin.known)
		log_errorx("%s%s WILL BE REPORTED: %s may not see other "
		    "users' jobs; this repairs it: sacctmgr -i modify user "
		    "where name=%s set adminlevel=Operator", what, site_of(c),
		    user, user);
	else
		log_errorx("%s%s WILL BE REPORTED: Slurm does not know "
		    "the user %s; this repairs it: sacctmgr -i add user "
		    "name=%s account=root adminlevel=Operator", what,
		    site_of(c), user, user);
}

static void
right_set(struct collector *c, enum right right)
{
	enum right before = c->right;

	c->right = right;
	c->right_cycle = cycle_number(c->cycle);
	if (before == right)
		return;
	if (right == RIGHT_OPEN && c->slurm.accounting &&
	    c->slurm.version > DBD_TOLD_UNTIL)
		log_warnx("Slurm %s does not tell whether slurmdbd hides jobs "
		    "(PrivateData of slurmdbd.conf): if no job's end is "
		    "reported%s, make %s an operator",
		    c->slurm.version_text, site_of(c), c->slurm.user);
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

static void next_question(struct collector *c);

static void
on_end(struct collector *c, const struct command_end *end,
    int (*on_line)(struct span line, void *arg))
{
	int ok = end->outcome == COMMAND_OK &&
	    lines_end(&c->proof->lines, on_line, c) == 0;

	lines_clear(&c->proof->lines);
	if (ok) {
		next_question(c);
		return;
	}
	ask_failed(c, &c->dbd, "sacctmgr", end);
	answer(c, 0);
}

/* "ccadapter|Operator" */
static int
on_admin_line(struct span line, void *arg)
{
	struct collector *c = arg;

	admin_line(&c->proof->admin, c->slurm.user, line);
	return 0;
}

static int
on_admin_output(const char *p, size_t n, void *arg)
{
	struct collector *c = arg;

	return lines_feed(&c->proof->lines, p, n, on_admin_line, c);
}

static void
on_admin_end(const struct command_end *end, void *arg)
{
	on_end(arg, end, on_admin_line);
}

static int
ask_admin(struct collector *c)
{
	struct proof *proof = c->proof;
	struct ask ask = { .cmd = CMD_SACCTMGR, .deadline_ms = ASK_LONG_MS / 2,
	    .args = { "-n", "-P", "show", "user", proof->who,
	    "format=user,adminlevel" }, .on_output = on_admin_output,
	    .on_end = on_admin_end, .arg = c };

	proof->admin_asked = 1;
	snprintf(proof->who, sizeof(proof->who), "name=%s", c->slurm.user);
	return ask_start(c, &ask) != NULL ? 0 : -1;
}

static int
on_dbd_line(struct span line, void *arg)
{
	struct collector *c = arg;

	dbd_config_line(&c->proof->dbd, line);
	return 0;
}

static int
on_dbd_output(const char *p, size_t n, void *arg)
{
	struct collector *c = arg;

	return lines_feed(&c->proof->lines, p, n, on_dbd_line, c);
}

static void
on_dbd_end(const struct command_end *end, void *arg)
{
	on_end(arg, end, on_dbd_line);
}

/* Everybody may ask for it. */
static int
ask_dbd(struct collector *c)
{
	struct ask ask = { .cmd = CMD_SACCTMGR, .deadline_ms = ASK_LONG_MS / 2,
	    .args = { "-n", "-P", "show", "configuration" },
	    .on_output = on_dbd_output, .on_end = on_dbd_end, .arg = c };

	c->proof->dbd_asked = 1;
	return ask_start(c, &ask) != NULL ? 0 : -1;
}

static void
proved(struct collector *c, enum right right)
{
	right_set(c, right);
	answer(c, right != RIGHT_NONE);
	plan_kick(c);
}

/* Where the right was not needed before, one question mostly is enough. */
static void
next_question(struct collector *c)
{
	struct proof *p = c->proof;
	int hidden = c->slurm.private_jobs;
	int dbd_first = c->right == RIGHT_OPEN && !hidden;

	if (p->admin_asked && p->admin.operator)
		proved(c, RIGHT_OPERATOR);
	else if (p->dbd_asked && !p->dbd.reached) {
		/* Silence proves nothing. */
		health_bad(&c->dbd, "sacctmgr says nothing of slurmdbd's "
		    "configuration");
		answer(c, 0);
	} else if (p->dbd_asked && !p->dbd.private_jobs && !hidden)
		proved(c, RIGHT_OPEN);
	else if (!p->admin_asked && (!dbd_first || p->dbd_asked)) {
		if (ask_admin(c) == -1)
			answer(c, 0);
	} else if (!p->dbd_asked && !hidden) {
		if (ask_dbd(c) == -1)
			answer(c, 0);
	} else
		proved(c, RIGHT_NONE);
}

void
right_prove(struct collector *c, void (*then)(struct collector *c,
    int proved))
{
	struct proof *proof = c->proof;

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
	proof->dbd = (struct dbd_config){ 0, 0 };
	proof->admin_asked = proof->dbd_asked = 0;
	next_question(c);
}
