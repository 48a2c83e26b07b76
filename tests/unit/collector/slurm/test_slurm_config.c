/* SPDX-License-Identifier: MIT */
/* `scontrol show config`: recorded output and malformed lines. */
#include "config.h"

#include <stdlib.h>

#include "collector/slurm/slurm.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/parse/recording.h"

static const char *const versions[] = { "20.11", "22.05", "24.11" };
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

static int
on_config(struct span line, void *arg)
{
	slurm_config_line(arg, line);
	return 0;
}

static void
test_config(void)
{
	static const unsigned numbers[VERSIONS] = { 2011, 2205, 2411 };
	struct slurm s;
	size_t i;

	for (i = 0; i < VERSIONS; i++) {
		memset(&s, 0, sizeof(s));
		s.private_jobs = 1;
		recording_lines(versions[i], "config.txt", on_config, &s);
		CHECK_INT(s.version, numbers[i]);
		CHECK_STR(s.cluster, "alpha");
		CHECK_STR(s.slurm_user, "slurm");
		CHECK(s.slurm_uid != 0);
		CHECK_INT(s.min_job_age, 300);
		CHECK_INT(s.accounting, 1);
		CHECK_INT(s.private_jobs, 0);
		CHECK_INT(s.limit_bucket, 0);
	}
}

static void
config_line(struct slurm *slurm, const char *line)
{
	slurm_config_line(slurm, (struct span) { line, strlen(line) });
}

static void
test_config_words(void)
{
	struct slurm s = { .min_job_age = 300 };

	config_line(&s, "SLURM_VERSION           = 27.11.0-0rc1");
	config_line(&s, "ClusterName             = alpha");
	config_line(&s, "MinJobAge               = 60 sec");
	config_line(&s, "AccountingStorageType   = accounting_storage/none");
	config_line(&s, "SlurmctldParameters     = (null)");
	CHECK_INT(s.version, 2711);
	CHECK_STR(s.cluster, "alpha");
	CHECK_INT(s.min_job_age, 60);
	/* slurmctld purges no job. */
	config_line(&s, "MinJobAge               = 0 sec");
	CHECK_INT(s.min_job_age, 86400);
	CHECK_INT(s.accounting, 0);
	config_line(&s, "AccountingStorageEnforce = associations,limits");
	CHECK_INT(s.no_steps, 0);
	config_line(&s, "AccountingStorageEnforce = associations,nosteps");
	CHECK_INT(s.no_steps, 1);
	config_line(&s, "AccountingStorageEnforce = none");
	CHECK_INT(s.no_steps, 0);
	config_line(&s, "AccountingStorageEnforce = nojobs,nosteps");
	CHECK_INT(s.no_steps, 1);
	CHECK_INT(s.limit_bucket, 0);
	config_line(&s,
	    "SlurmctldParameters     = idle_on_node_suspend,"
	    "rl_enable");
	CHECK_INT(s.limit_bucket, 30);
	CHECK_INT(s.limit_rate, 2);
	CHECK_INT(s.limit_period, 1);
	config_line(&s,
	    "SlurmctldParameters = rl_enable,rl_bucket_size=50,"
	    "rl_refill_rate=10,rl_refill_period=99999999999");
	CHECK_INT(s.limit_bucket, 50);
	CHECK_INT(s.limit_rate, 10);
	CHECK_INT(s.limit_period, 1);
	config_line(&s,
	    "SlurmctldParameters = rl_enable,"
	    "rl_bucket_size=4000000000");
	CHECK_INT(s.limit_bucket, 1000000);
}

/* Values that are too long, missing or misplaced. */
static void
test_config_hostile(void)
{
	static const char *const odd[] = { "", "=", " = ", "ClusterName",
		"ClusterName=", "ClusterName =  \t ", "= alpha",
		"xClusterName = b", "ClusterName x = b", "SlurmUser = " };
	char longer[300], *copy;
	struct slurm s;
	size_t i;

	memset(&s, 0, sizeof(s));
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		slurm_config_line(&s, line_new(odd[i], strlen(odd[i]), &copy));
		free(copy);
		CHECK_STR(s.cluster, "");
		CHECK_STR(s.slurm_user, "");
	}
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "ClusterName=", 12);
	slurm_config_line(&s, line_new(longer, sizeof(longer), &copy));
	free(copy);
	CHECK_INT(strlen(s.cluster), CLUSTER_MAX - 1);
	memcpy(longer, "SlurmUser= (", 12);
	slurm_config_line(&s, line_new(longer, sizeof(longer), &copy));
	free(copy);
	CHECK_STR(s.slurm_user, "");
	CHECK_INT(s.slurm_uid, 0);
	config_line(&s, "SlurmUser = slurm(64030)");
	CHECK_INT(s.slurm_uid, 64030);
	config_line(&s, "SlurmUser = slurm(4294967296)");
	CHECK_INT(s.slurm_uid, 0);
	config_line(&s, "SlurmUser = slurm(-1)");
	CHECK_INT(s.slurm_uid, 0);
	config_line(&s, "SlurmUser = slurm");
	CHECK_INT(s.slurm_uid, 0);
	config_line(&s, "SLURM_VERSION = x");
	CHECK_INT(s.version, 0);
	config_line(&s, "SLURM_VERSION = 24.13");
	CHECK_INT(s.version, 0);
	config_line(&s, "SLURM_VERSION = 4294967295.4294967295.1");
	CHECK_INT(s.version, 0);
	config_line(&s, "MinJobAge = -5 sec");
	CHECK_INT(s.min_job_age, 0);
	config_line(&s, "MinJobAge = 99999999999 sec");
	CHECK_INT(s.min_job_age, 0);
	config_line(&s, "PrivateData = accounts,jobs,users");
	CHECK_INT(s.private_jobs, 1);
	CHECK_INT(s.private_nodes, 0);
	config_line(&s, "PrivateData = nodes,users");
	CHECK_INT(s.private_jobs, 0);
	CHECK_INT(s.private_nodes, 1);
	CHECK_INT(slurm_is_private(&s), 1);
}

int
main(void)
{
	test_config();
	test_config_words();
	test_config_hostile();
	return check_done();
}
