/* SPDX-License-Identifier: MIT */
/*
 * Reads the data that the first poll needs: Slurm's configuration, our permission
 * to see all jobs and nodes, the shapes of the nodes, slurmctld's clock.  While
 * Slurm is away these queries are repeated; the worker is ready in any case.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"

/* s between two hooks of other clusters that cause a query */
#define UNKNOWN_EVERY_S 60

enum startup_step {
	STARTUP_CONFIG,
	STARTUP_PERMISSION,
	STARTUP_NODES,
	STARTUP_CLOCK,
	STARTUP_DONE
};

struct startup {
	struct cluster *c;
	struct poll *poll;
	enum startup_step step;
	int busy;
	struct query query;
	struct slurm next; /* filled from the answer */
	/* of the query: an answer for another cluster may change that of c */
	int by_name;
	int complained; /* the error about missing commands was logged */
	char unknown[CLUSTER_MAX]; /* the last one of startup_unknown() */
	int64_t unknown_at;	   /* monotonic s of it; 0 = none */
};

struct startup *
startup_new(struct cluster *c, struct poll *poll)
{
	struct startup *s = permanent_new(sizeof(*s));

	s->c = c;
	s->poll = poll;
	return s;
}

static int
on_config_line(struct span line, void *arg)
{
	struct startup *s = arg;

	slurm_config_line(&s->next, line);
	return 0;
}

static void
config_use(struct cluster *c, struct slurm *next)
{
	int named = !c->slurm.known ||
	    strcmp(c->slurm.cluster, next->cluster) != 0;

	if (!c->slurm.known ||
	    strcmp(c->slurm.version_text, next->version_text) != 0)
		log_notice("Slurm %s, cluster %s, queried as user %s%s",
		    next->version_text[0] != '\0' ? next->version_text :
						    "of unknown version",
		    next->cluster, next->user, c->by_name ? ", by name" : "");
	if (c->slurm.known && strcmp(c->slurm.cluster, next->cluster) != 0)
		log_warnx("the cluster %s has the name %s in Slurm now: runs "
			  "that are open under the old name may get no end; "
			  "see cc-slurm-adapter-runbook(7)",
		    c->slurm.cluster, next->cluster);
	if (!next->accounting && (!c->slurm.known || c->slurm.accounting))
		log_warnx("Slurm%s has no slurmdbd: ends are read from "
			  "slurmctld only, which keeps them %s (MinJobAge)",
		    cluster_suffix(c), duration_text(next->min_job_age * 1000));
	else if (next->accounting && c->slurm.known && !c->slurm.accounting)
		log_notice("Slurm%s has a slurmdbd now: ends are read from "
			   "slurmdbd",
		    cluster_suffix(c));
	next->known = 1;
	c->slurm = *next;
	if (rate_limit_on(c))
		log_info("slurmctld%s limits requests (bucket %u, refill %u "
			 "in %u s): two thirds of that are used",
		    cluster_suffix(c), next->limit_bucket, next->limit_rate,
		    next->limit_period);
	/* Later the resume point moves, also back with slurmctld's clock. */
	if (named)
		resume_cluster(c);
}

/*
 * Slurm's commands read the local cluster from slurm.conf and find its
 * slurmctld without slurmdbd.  They find the slurmctld of another cluster by
 * the cluster's name in slurmdbd.  The local cluster may be unknown because
 * its slurmctld is away; until it is known, both ways are tried in turn, so
 * that one cluster does not delay another.
 */
static void
way_other(struct cluster *c)
{
	if (c->name[0] != '\0' && c->site->local[0] == '\0')
		c->by_name = !c->by_name;
}

/*
 * Returns 1 when the answer is the configuration of the right cluster.  With
 * the local cluster's answer, c->by_name becomes right: the query is repeated
 * by the name at once.
 */
static int
config_is_ours(struct startup *s, const char *cluster)
{
	struct cluster *c = s->c;

	if (!s->by_name)
		site_local(c->site, cluster);
	if (c->name[0] == '\0' || strcmp(c->name, cluster) == 0)
		return 1;
	if (s->by_name)
		health_bad(&c->ctld,
		    "`scontrol -M` answers for another cluster");
	return 0;
}

static void
on_config_end(const struct command_end *end, int complete, void *arg)
{
	struct startup *s = arg;
	struct cluster *c = s->c;

	s->busy = 0;
	if (!complete) {
		query_failed(c, &c->ctld, "scontrol show config", end);
		way_other(c);
	} else if (s->next.cluster[0] == '\0')
		health_bad(&c->ctld, "`scontrol show config` names no cluster");
	else if (config_is_ours(s, s->next.cluster)) {
		health_good(&c->ctld);
		c->ctld.returned = c->dbd.returned = 0;
		config_use(c, &s->next);
		s->step = c->ready ? STARTUP_DONE : STARTUP_PERMISSION;
	}
	wake(c);
}

static const struct query_type config_query = {
	.kind = QUESTION_CONFIG,
	.flags = QUERY_LAST_LINE,
	.on_line = on_config_line,
	.on_end = on_config_end,
};

static void
config_query_start(struct startup *s)
{
	s->next = s->c->slurm;
	s->next.cluster[0] = '\0';
	s->next.prolog[0] = s->next.epilog[0] = s->next.prep[0] = '\0';
	s->next.min_job_age = 300;
	s->next.limit_bucket = 0;
	s->next.sacct_lacking = 0;
	s->by_name = s->c->by_name;
	query_begin(&s->query, s->c, &config_query, s);
	s->busy = query_start(&s->query) == 0;
}

static void
on_nodes(void *arg, int failed)
{
	struct startup *s = arg;

	(void)failed; /* the shapes of an earlier answer are better than none */
	s->busy = 0;
	if (s->c->hosts != NULL)
		s->step = STARTUP_CLOCK;
	else /* an admin may grant the permission, or open the nodes */
		s->step = STARTUP_CONFIG;
	wake(s->c);
}

static void
on_permission(void *arg, int proved)
{
	struct startup *s = arg;

	s->busy = 0;
	/*
	 * The polls also run without the permission: an admin may grant it at
	 * any time.  Without the nodes no record would be right.
	 */
	if (proved || s->c->permission == PERMISSION_NONE)
		s->step = STARTUP_NODES;
	wake(s->c);
}

/* Are all of Slurm's commands installed? */
static int
commands_check(struct startup *s)
{
	struct cluster *c = s->c;
	const struct runner_info *info = runner_info(c->site->runner);

	slurm_runner_info(&c->slurm, info);
	if (info->missing[0] == '\0') {
		s->complained = 0;
		return 1;
	}
	health_bad(&c->ctld, "Slurm's commands are missing");
	if (!s->complained)
		log_errorx(
		    "Slurm's commands are missing in %s: %s; set slurmBinDir "
		    "to their directory",
		    *c->set->bin_dir != '\0' ? c->set->bin_dir : SLURMBINDIR,
		    info->missing);
	s->complained = 1;
	return 0;
}

static void
startup_permission(struct startup *s)
{
	struct cluster *c = s->c;

	if (c->slurm.accounting && health_wait(&c->dbd) > 0) {
		/* slurmctld shows new runs, also without slurmdbd. */
		s->step = STARTUP_NODES;
		wake(c);
		return;
	}
	s->busy = 1;
	permission_check(c, on_permission, s);
}

void
startup_kick(struct startup *s)
{
	struct cluster *c = s->c;
	const struct runner_info *info = runner_info(c->site->runner);

	/*
	 * An upgrade of Slurm begins with slurmdbd and ends with the commands.
	 */
	if (c->ready && !s->busy &&
	    (c->ctld.returned || c->dbd.returned ||
		c->slurm.installed != info->replaced))
		s->step = STARTUP_CONFIG;
	if (s->busy || !info->known || s->step == STARTUP_DONE ||
	    health_wait(&c->ctld) > 0)
		return;
	switch (s->step) {
	case STARTUP_CONFIG:
		if (commands_check(s))
			config_query_start(s);
		break;
	case STARTUP_PERMISSION:
		startup_permission(s);
		break;
	case STARTUP_NODES:
		s->busy = 1;
		hosts_query(c, on_nodes, s);
		break;
	case STARTUP_CLOCK:
		s->step = STARTUP_DONE;
		c->ready = 1;
		poll_clock(s->poll);
		wake(c);
		break;
	case STARTUP_DONE:
		break;
	}
}

void
startup_again(struct startup *s)
{
	if (s->c->ready && !s->busy)
		s->step = STARTUP_CONFIG;
}

/*
 * A site may send the hooks of other clusters here: one query for a name that is
 * not the last one, and at most one a minute.
 */
void
startup_unknown(struct startup *s, const char *cluster)
{
	struct cluster *c = s->c;
	int64_t now = now_s();

	if (*cluster == '\0' || c->name[0] != '\0' || !c->ready || s->busy ||
	    strcmp(s->unknown, cluster) == 0 ||
	    (s->unknown_at != 0 && now - s->unknown_at < UNKNOWN_EVERY_S))
		return;
	snprintf(s->unknown, sizeof(s->unknown), "%s", cluster);
	s->unknown_at = now;
	startup_again(s);
}
