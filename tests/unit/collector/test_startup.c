/* SPDX-License-Identifier: MIT */
/* An admin renames the cluster while the daemon runs. */
#include "config.h"

#include "collector/collector.h"
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

int
main(void)
{
	log_init("test_startup", LOG_LEVEL_FATAL);
	test_renamed();
	test_hook();
	return check_done();
}
