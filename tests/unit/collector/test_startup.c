/* SPDX-License-Identifier: MIT */
/* The start, and an admin who renames the cluster while the daemon runs. */
#include "config.h"

#include <stdlib.h>

#include "collector/collector.h"
#include "collector/track/track.h"
#include "common/log.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"
#include "tests/unit/supervisor/system/log_capture.h"

#define RENAMED \
	"the cluster gamma has the name delta in Slurm now: runs that are " \
	"open under the old name may get no end"

static struct cluster *c;
static struct startup *s;

/* `scontrol show config` is under way: answers it.  Returns the log. */
static const char *
config_answer(const char *cluster)
{
	char text[256];

	CHECK_STR(sim_asked(), "scontrol");
	snprintf(text, sizeof(text),
	    "Configuration data as of 2026-11-21T00:00:00\n"
	    "AccountingStorageType   = accounting_storage/slurmdbd\n"
	    "ClusterName             = %s\n"
	    "SLURM_VERSION           = 22.05.8\n\n"
	    "Slurmctld(primary) at ctl is UP\n",
	    cluster);
	log_init("test_startup", LOG_LEVEL_WARN);
	capture_begin();
	sim_answer("scontrol", text);
	log_init("test_startup", LOG_LEVEL_FATAL);
	return capture_end();
}

/* The daemon runs, and its cluster is gamma. */
static void
begin(void)
{
	c = sim_begin(NULL, NULL);
	c->slurm.known = 0;
	s = sim_keep(startup_new(c, NULL));
	startup_kick(s);
	CHECK(strstr(config_answer("gamma"), "cluster gamma, queried as ") !=
	    NULL);
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(c->slurm.cluster, "gamma");
}

/* slurmctld was restarted with another name. */
static void
test_renamed(void)
{
	begin();
	startup_again(s);
	startup_kick(s);
	CHECK(strstr(config_answer("delta"), RENAMED) != NULL);
	CHECK_STR(c->slurm.cluster, "delta");
	startup_again(s);
	startup_kick(s);
	CHECK_STR(config_answer("delta"), "");
}

/* A hook has the new name first; a hook of another cluster is no reason. */
static void
test_hook(void)
{
	begin();
	startup_unknown(s, "");
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
	startup_unknown(s, "delta");
	startup_kick(s);
	CHECK(strstr(config_answer("delta"), RENAMED) != NULL);
	CHECK_STR(c->slurm.cluster, "delta");
	/* Another name within a minute, and later. */
	sim_pass(59);
	startup_unknown(s, "other");
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	startup_unknown(s, "other");
	startup_kick(s);
	CHECK_STR(config_answer("delta"), "");
	/* The name is known not to be the cluster's. */
	sim_pass(3600);
	startup_unknown(s, "other");
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
	/* With the key clusters, the names are fixed. */
	snprintf(c->name, sizeof(c->name), "delta");
	startup_unknown(s, "third");
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
}

#define NODES_DENIED \
	"no jobs are reported: the user " SIM_USER " may not see the nodes; " \
	"run: sacctmgr -i modify user where name=" SIM_USER " set adminlevel=" \
	"Operator"

/* The answer to a query of an operator that our user may not make. */
static void
nodes_deny(const char *level)
{
	char text[64];

	startup_kick(s);
	CHECK_STR(sim_asked(), "sacctmgr");
	snprintf(text, sizeof(text), SIM_USER "|%s\n", level);
	sim_answer("sacctmgr", text);
	startup_kick(s);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer_failed("scontrol", "",
	    "slurm_load_node error: Access/permission denied");
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
}

/* Only operators see the nodes: slurmctld answers, and the remedy is named. */
static void
test_private_nodes(void)
{
	c = sim_begin(NULL, NULL);
	c->slurm.private_jobs = 0;
	c->slurm.private_nodes = 1;
	free(c->hosts); /* it is empty */
	c->hosts = NULL;
	c->ready = 0;
	s = sim_keep(startup_new(c, NULL));
	startup_kick(s);
	(void)config_answer("alpha");
	log_init("test_startup", LOG_LEVEL_WARN);
	capture_begin();
	nodes_deny("None");
	log_init("test_startup", LOG_LEVEL_FATAL);
	CHECK(strstr(capture_end(), NODES_DENIED) != NULL);
	CHECK_INT(c->ctld.away, 0);
	CHECK_INT(c->ready, 0);
	/* All is read again after a poll interval: an admin may have acted. */
	sim_pass(60);
	startup_kick(s);
	(void)config_answer("alpha");
	nodes_deny("None");
	CHECK_INT(c->ctld.away, 0);
	sim_pass(60);
	startup_kick(s);
	(void)config_answer("alpha");
	startup_kick(s);
	sim_answer("sacctmgr", SIM_USER "|Operator\n");
	startup_kick(s);
	sim_answer("scontrol",
	    "NodeName=n1 CPUTot=4 CoresPerSocket=4 "
	    "Sockets=1 ThreadsPerCore=1 State=IDLE\n");
	CHECK_INT(c->permission, PERMISSION_OPERATOR);
	CHECK(c->hosts != NULL);
}

/*
 * slurmdbd leads to another cluster by the name: the log says so, and the query
 * waits.
 */
static void
test_by_name(void)
{
	const char *said;

	c = sim_begin(NULL, NULL);
	snprintf(c->name, sizeof(c->name), "gamma");
	c->slurm.known = 0;
	s = sim_keep(startup_new(c, NULL));
	startup_kick(s);
	CHECK_STR(config_answer("alpha"), "");
	/* The local cluster is another one: gamma is queried by its name. */
	CHECK_INT(c->by_name, 1);
	startup_kick(s);
	said = config_answer("beta");
	CHECK(
	    strstr(said, "answers for another cluster; the query is") != NULL);
	CHECK_INT(c->ctld.away, 1);
	startup_kick(s);
	CHECK_STR(sim_asked(), "");
	sim_pass(1);
	startup_kick(s);
	CHECK(strstr(config_answer("gamma"), ", by name") != NULL);
	CHECK_INT(c->ctld.away, 0);
}

/*
 * The answer about the local cluster for another cluster makes this one a
 * cluster that is queried by name, while its query without the name runs.
 */
static void
test_local_meanwhile(void)
{
	c = sim_begin(NULL, NULL);
	snprintf(c->name, sizeof(c->name), "gamma");
	c->slurm.known = 0;
	s = sim_keep(startup_new(c, NULL));
	startup_kick(s);
	site_local(c->site, "alpha");
	CHECK_INT(c->by_name, 1);
	CHECK_STR(config_answer("alpha"), "");
	CHECK_INT(c->ctld.away, 0);
	startup_kick(s);
	CHECK_STR(sim_asked(), "scontrol");
}

static void
spool_has_point(const char *cluster, int64_t until)
{
	struct resume_point
	    *p = &c->site->resume_points[c->site->n_resume_points++];

	snprintf(p->cluster, sizeof(p->cluster), "%s", cluster);
	p->until = until + SIM_EPOCH;
}

/*
 * The clock of slurmctld was set back, and the resume point with it.  The point
 * of the spool does not return when the configuration is read again.
 */
static void
test_set_back(void)
{
	begin();
	resume_unsynced(c->site);
	spool_has_point("gamma", 900);
	spool_has_point("delta", 950);
	resume_synced(c->site);
	CHECK_INT(c->resume.point - SIM_EPOCH, 900);
	c->resume.point = SIM_EPOCH + 400;
	startup_again(s);
	startup_kick(s);
	CHECK_STR(config_answer("gamma"), "");
	CHECK_INT(c->resume.point - SIM_EPOCH, 400);
	/* A new name has a point of its own. */
	startup_again(s);
	startup_kick(s);
	CHECK(strstr(config_answer("delta"), RENAMED) != NULL);
	CHECK_INT(c->resume.point - SIM_EPOCH, 950);
}

int
main(void)
{
	log_init("test_startup", LOG_LEVEL_FATAL);
	test_renamed();
	test_hook();
	test_private_nodes();
	test_by_name();
	test_local_meanwhile();
	test_set_back();
	return check_done();
}
