/* SPDX-License-Identifier: MIT */
/*
 * What must be known before the first poll: Slurm's own configuration, the
 * shapes of its nodes, our right to see all jobs, slurmctld's clock.  While
 * Slurm is away this waits; the worker serves all the same.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/base/cluster.h"
#include "common/log.h"

#define WAITERS_MAX	4	/* for the shapes of nodes */

enum startup_step { STARTUP_CONFIG, STARTUP_NODES, STARTUP_PERMISSION,
    STARTUP_CLOCK,
	STARTUP_DONE };

struct startup {
	struct lines	 lines;
	enum startup_step step;
	int		 busy;
	struct slurm	 next;		/* filled from the answer */
	struct lines	 node_lines;
	struct hosts	*next_hosts;	/* owned while they come in */
	struct {
		void	(*then)(void *arg);
		void	*arg;
	} waiters[WAITERS_MAX];
	unsigned	 n_waiters;
	int		 complained;	/* about missing commands */
};

static struct startup *
startup_of(struct cluster *c)
{
	if (c->startup == NULL) {
		c->startup = calloc(1, sizeof(*c->startup));
		if (c->startup == NULL)
			fatal("no memory");
	}
	return c->startup;
}

static int
on_config_line(struct span line, void *arg)
{
	struct startup *s = arg;

	slurm_config_line(&s->next, line);
	return 0;
}

static int
on_config_output(const char *p, size_t n, void *arg)
{
	struct cluster *c = arg;

	return lines_feed(&c->startup->lines, p, n, on_config_line, c->startup);
}

static void
config_use(struct cluster *c)
{
	struct slurm *next = &c->startup->next;

	if (!c->slurm.known || strcmp(c->slurm.version_text,
	    next->version_text) != 0)
		log_notice("Slurm %s, cluster %s, asked as %s%s",
		    next->version_text[0] != '\0' ? next->version_text :
		    "of unknown version", next->cluster, next->user,
		    c->by_name ? " by its name" : "");
	if (!next->accounting && (!c->slurm.known || c->slurm.accounting))
		log_warnx("Slurm%s has no slurmdbd: ends are learned from "
		    "slurmctld alone, for as long as it remembers them (%lld s)",
		    cluster_suffix(c), (long long)next->min_job_age);
	else if (next->accounting && c->slurm.known && !c->slurm.accounting)
		log_notice("Slurm%s has a slurmdbd by now: it is asked from "
		    "here on", cluster_suffix(c));
	next->known = 1;
	c->slurm = *next;
	if (rate_limit_on(c))
		log_info("slurmctld%s limits requests (bucket %u, %u back in "
		    "%u s): two thirds of that are used", cluster_suffix(c),
		    next->limit_bucket, next->limit_rate, next->limit_period);
	resume_cluster(c);
}

/*
 * Commands know the local cluster from slurm.conf, and work for it without
 * slurmdbd; another one's slurmctld they find by its name in slurmdbd.  As long
 * as nobody has learned which one is local (its slurmctld may be away) both
 * ways are tried in turn, so that it holds up no other.
 */
static void
way_other(struct cluster *c)
{
	if (c->name[0] != '\0' && c->site->local[0] == '\0')
		c->by_name = !c->by_name;
}

/* 1 when the configuration is that of the cluster that was meant. */
static int
config_is_ours(struct cluster *c)
{
	const char *cluster = c->startup->next.cluster;

	if (!c->by_name)
		site_local(c->site, cluster);
	if (c->name[0] == '\0' || strcmp(c->name, cluster) == 0)
		return 1;
	if (!c->by_name)
		health_bad(&c->ctld, "`scontrol -M` answers for another cluster");
	return 0;
}

static void
on_config_end(const struct command_end *end, void *arg)
{
	struct cluster *c = arg;
	struct startup *s = c->startup;

	s->busy = 0;
	if (end->outcome != COMMAND_OK ||
	    lines_end(&s->lines, on_config_line, s) == -1) {
		query_failed(c, &c->ctld, "scontrol show config", end);
		way_other(c);
	} else if (s->next.cluster[0] == '\0')
		health_bad(&c->ctld, "`scontrol show config` names no cluster");
	else if (config_is_ours(c)) {
		health_good(&c->ctld);
		c->ctld.returned = c->dbd.returned = 0;
		config_use(c);
		s->step = c->ready ? STARTUP_DONE : STARTUP_NODES;
	}
	lines_clear(&s->lines);
	wake(c);
}

static void
ask_config(struct cluster *c)
{
	struct startup *s = c->startup;
	struct query query = { .cmd = CMD_SCONTROL,
	    .args = { "show", "config" }, .on_output = on_config_output,
	    .on_end = on_config_end, .arg = c };

	s->next = c->slurm;
	s->next.cluster[0] = '\0';
	s->next.min_job_age = 300;
	s->next.limit_bucket = 0;
	s->next.sacct_lacking = 0;
	lines_clear(&s->lines);
	s->busy = query_start(c, &query) != NULL;
}

static int
on_node_line(struct span line, void *arg)
{
	hosts_line(arg, line);
	return 0;
}

static int
on_node_output(const char *p, size_t n, void *arg)
{
	struct cluster *c = arg;

	return lines_feed(&c->startup->node_lines, p, n, on_node_line,
	    c->startup->next_hosts);
}

static void
on_node_end(const struct command_end *end, void *arg)
{
	struct cluster *c = arg;
	struct startup *s = c->startup;
	unsigned i, n = s->n_waiters;

	if (end->outcome == COMMAND_OK && lines_end(&s->node_lines,
	    on_node_line, s->next_hosts) == 0 &&
	    hosts_count(s->next_hosts) > 0) {
		hosts_free(c->hosts);
		c->hosts = s->next_hosts;
		health_good(&c->ctld);
		log_debug("%zu nodes", hosts_count(c->hosts));
	} else {
		hosts_free(s->next_hosts);
		query_failed(c, &c->ctld, "scontrol show node", end);
	}
	s->next_hosts = NULL;
	lines_clear(&s->node_lines);
	c->hosts_at = now_s();
	s->n_waiters = 0;
	for (i = 0; i < n; i++)
		s->waiters[i].then(s->waiters[i].arg);
}

void
startup_nodes(struct cluster *c, void (*then)(void *arg), void *arg)
{
	struct startup *s = startup_of(c);
	struct query query = { .cmd = CMD_SCONTROL,
	    .deadline_ms = QUERY_LONG_MS / 2,
	    .args = { "--all", "show", "node", "-o" },
	    .on_output = on_node_output, .on_end = on_node_end, .arg = c };

	if (s->n_waiters == WAITERS_MAX) {
		then(arg);
		return;
	}
	s->waiters[s->n_waiters].then = then;
	s->waiters[s->n_waiters++].arg = arg;
	if (s->next_hosts != NULL)
		return;
	s->next_hosts = hosts_new();
	if (s->next_hosts == NULL || query_start(c, &query) == NULL)
		fatal("no memory");
}

static void
on_nodes(void *arg)
{
	struct cluster *c = arg;

	c->startup->busy = 0;
	if (c->hosts != NULL)
		c->startup->step = STARTUP_PERMISSION;
	wake(c);
}

static void
on_permission(struct cluster *c, int proved)
{
	c->startup->busy = 0;
	/* Without it the polls go on: it may be given any time. */
	if (proved || c->permission == PERMISSION_NONE)
		c->startup->step = STARTUP_CLOCK;
	wake(c);
}

static void
commands_find(struct cluster *c)
{
	slurm_find(&c->slurm, c->set->bin_dir);
	if (c->slurm.missing[0] == '\0') {
		c->startup->complained = 0;
		return;
	}
	health_bad(&c->ctld, "its commands are not there");
	if (!c->startup->complained)
		log_errorx("Slurm's commands are missing in %s: %s; slurmBinDir "
		    "says where they are", *c->set->bin_dir != '\0' ?
		    c->set->bin_dir : SLURMBINDIR, c->slurm.missing);
	c->startup->complained = 1;
}

static void
startup_permission(struct cluster *c)
{
	if (c->slurm.accounting && health_wait(&c->dbd) > 0) {
		/* slurmctld tells of new runs without it. */
		c->startup->step = STARTUP_CLOCK;
		wake(c);
		return;
	}
	c->startup->busy = 1;
	permission_check(c, on_permission);
}

void
startup_kick(struct cluster *c)
{
	struct startup *s = startup_of(c);

	/* An upgrade begins with slurmdbd and ends with the commands. */
	if (c->ready && !s->busy && (c->ctld.returned || c->dbd.returned ||
	    slurm_replaced(&c->slurm)))
		s->step = STARTUP_CONFIG;
	if (s->busy || s->step == STARTUP_DONE || health_wait(&c->ctld) > 0)
		return;
	switch (s->step) {
	case STARTUP_CONFIG:
		commands_find(c);
		if (c->slurm.missing[0] == '\0')
			ask_config(c);
		break;
	case STARTUP_NODES:
		s->busy = 1;
		startup_nodes(c, on_nodes, c);
		break;
	case STARTUP_PERMISSION:
		startup_permission(c);
		break;
	case STARTUP_CLOCK:
		s->step = STARTUP_DONE;
		c->ready = 1;
		poll_clock(c->poll);
		wake(c);
		break;
	case STARTUP_DONE:
		break;
	}
}

void
startup_again(struct cluster *c)
{
	struct startup *s = startup_of(c);

	if (c->ready && !s->busy)
		s->step = STARTUP_CONFIG;
}
