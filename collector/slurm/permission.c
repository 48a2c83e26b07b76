/* SPDX-License-Identifier: MIT */
/*
 * Our permission to see all jobs and nodes.  root, SlurmUser and an operator have
 * it; everybody has it where PrivateData hides neither.  slurmctld and slurmdbd
 * have a PrivateData each.  Without the permission Slurm answers with status 0
 * and without the jobs, so that the permission must be queried.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/wake.h"
#include "collector/slurm/query.h"
#include "collector/slurm/slurm.h"
#include "common/log.h"

#define CHECK_WAITERS_MAX 4 /* callers that wait for one answer */
/*
 * sacctmgr of 26.05 shows PrivateData of slurm.conf in place of slurmdbd's;
 * versions up to this one show slurmdbd's.
 */
#define DBD_TOLD_UNTIL 2411

static const char *const names[] = {
	[PERMISSION_UNKNOWN] = "not known yet",
	[PERMISSION_NONE] = "none: other users' jobs are hidden",
	[PERMISSION_OPERATOR] = "operator",
	[PERMISSION_INHERENT] = "root or SlurmUser",
	[PERMISSION_OPEN] = "not needed (PrivateData hides no jobs)",
};

/* One question at a time. */
struct permission_check {
	struct query query;
	int busy;
	int admin_asked;
	struct admin admin; /* the answer */
	int dbd_asked;
	struct dbd_config dbd;
	struct {
		void (*then)(void *arg, int proved);
		void *arg;
	} waiters[CHECK_WAITERS_MAX];
	unsigned n;
};

const char *
permission_name(enum permission permission)
{
	return names[permission];
}

void
permission_missing(const struct cluster *c, char *buf, size_t size)
{
	const char *user = c->slurm.user;
	/* Where only slurmdbd hides jobs, squeue shows the running ones. */
	const char *what = slurm_is_private(&c->slurm) ? "no jobs" :
							 "no ends of jobs";

	if (!c->slurm.accounting)
		snprintf(buf, size,
		    "%s%s are reported: PrivateData hides jobs or nodes, and "
		    "without slurmdbd only root and SlurmUser see them; set "
		    "slurmUser to %s",
		    what, cluster_suffix(c), c->slurm.slurm_user);
	else if (c->permission_check != NULL &&
	    c->permission_check->admin.known)
		snprintf(buf, size,
		    "%s%s are reported: the user %s may not see %s; run: "
		    "sacctmgr -i modify user where name=%s set "
		    "adminlevel=Operator",
		    what, cluster_suffix(c), user,
		    c->slurm.private_nodes && !c->slurm.private_jobs ?
			"the nodes" :
			"other users' jobs",
		    user);
	else
		snprintf(buf, size,
		    "%s%s are reported: Slurm does not know "
		    "the user %s; run: sacctmgr -i add user name=%s "
		    "account=root adminlevel=Operator",
		    what, cluster_suffix(c), user, user);
}

static void
tell_missing(const struct cluster *c)
{
	char text[512];

	permission_missing(c, text, sizeof(text));
	log_about(LOG_ID_OPERATOR_MISSING, NULL, 0);
	log_errorx("%s", text);
}

static void
permission_set(struct cluster *c, enum permission permission)
{
	enum permission before = c->permission;

	c->permission = permission;
	c->permission_poll = c->listing.number;
	if (before == permission)
		return;
	if (permission == PERMISSION_OPEN && c->slurm.accounting &&
	    c->slurm.version > DBD_TOLD_UNTIL)
		log_warnx(
		    "Slurm %s does not show whether slurmdbd hides jobs "
		    "(PrivateData of slurmdbd.conf): if no ends of jobs are "
		    "reported%s, make the user %s an operator",
		    c->slurm.version_text, cluster_suffix(c), c->slurm.user);
	if (permission == PERMISSION_NONE)
		tell_missing(c);
	else if (before == PERMISSION_NONE)
		log_notice("the user %s may see all jobs%s", c->slurm.user,
		    cluster_suffix(c));
}

static void
answer(struct cluster *c, int proved)
{
	struct permission_check *check = c->permission_check;
	unsigned i, n = check->n;

	check->n = 0;
	check->busy = 0;
	for (i = 0; i < n; i++)
		check->waiters[i].then(check->waiters[i].arg, proved);
}

static void next_question(struct cluster *c);

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct cluster *c = arg;

	if (complete) {
		next_question(c);
		return;
	}
	query_failed(c, &c->dbd, "sacctmgr", end);
	answer(c, 0);
}

/* "ccadapter|Operator" */
static int
on_admin_line(struct span line, void *arg)
{
	struct cluster *c = arg;

	admin_line(&c->permission_check->admin, c->slurm.user, line);
	return 0;
}

static const struct query_type admin_query = {
	.kind = QUESTION_ADMIN,
	.flags = QUERY_LAST_LINE,
	.on_line = on_admin_line,
	.on_end = on_end,
};

static int
admin_query_start(struct cluster *c)
{
	struct permission_check *check = c->permission_check;

	check->admin_asked = 1;
	query_begin(&check->query, c, &admin_query, c);
	return query_start(&check->query);
}

static int
on_dbd_line(struct span line, void *arg)
{
	struct cluster *c = arg;

	dbd_config_line(&c->permission_check->dbd, line);
	return 0;
}

static const struct query_type dbd_query = {
	.kind = QUESTION_DBD_CONFIG,
	.flags = QUERY_LAST_LINE,
	.on_line = on_dbd_line,
	.on_end = on_end,
};

/* Every user may query it. */
static int
dbd_query_start(struct cluster *c)
{
	struct permission_check *check = c->permission_check;

	check->dbd_asked = 1;
	query_begin(&check->query, c, &dbd_query, c);
	return query_start(&check->query);
}

static void
permission_found(struct cluster *c, enum permission permission)
{
	permission_set(c, permission);
	answer(c, permission != PERMISSION_NONE);
	wake(c);
}

/* Where the permission was not needed before, one query is mostly enough. */
static void
next_question(struct cluster *c)
{
	struct permission_check *p = c->permission_check;
	int hidden = slurm_is_private(&c->slurm);
	int dbd_first = c->permission == PERMISSION_OPEN && !hidden;

	if (p->admin_asked && p->admin.operator)
		permission_found(c, PERMISSION_OPERATOR);
	else if (p->dbd_asked && !p->dbd.reached) {
		/* An answer without slurmdbd's part proves nothing. */
		health_bad(&c->dbd,
		    "sacctmgr says nothing of slurmdbd's configuration");
		answer(c, 0);
	} else if (p->dbd_asked && !p->dbd.private_jobs && !hidden)
		permission_found(c, PERMISSION_OPEN);
	else if (!p->admin_asked && (!dbd_first || p->dbd_asked)) {
		if (admin_query_start(c) == -1)
			answer(c, 0);
	} else if (!p->dbd_asked && !hidden) {
		if (dbd_query_start(c) == -1)
			answer(c, 0);
	} else
		permission_found(c, PERMISSION_NONE);
}

void
permission_check(struct cluster *c, void (*then)(void *arg, int proved),
    void *arg)
{
	struct permission_check *check = c->permission_check;

	if (check == NULL &&
	    (check = c->permission_check = calloc(1, sizeof(*check))) == NULL)
		fatalx("out of memory");
	if (slurm_permission_inherent(&c->slurm)) {
		permission_set(c, PERMISSION_INHERENT);
		then(arg, 1);
		return;
	}
	/* Without slurmdbd nobody is an operator. */
	if (!c->slurm.accounting) {
		permission_set(c,
		    slurm_is_private(&c->slurm) ? PERMISSION_NONE :
						  PERMISSION_OPEN);
		then(arg, c->permission == PERMISSION_OPEN);
		return;
	}
	if (check->n == CHECK_WAITERS_MAX) {
		then(arg, 0);
		return;
	}
	check->waiters[check->n].then = then;
	check->waiters[check->n++].arg = arg;
	if (check->busy)
		return;
	check->busy = 1;
	check->admin = (struct admin) { 0, 0 };
	check->dbd = (struct dbd_config) { 0, 0 };
	check->admin_asked = check->dbd_asked = 0;
	next_question(c);
}
