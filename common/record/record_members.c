/* SPDX-License-Identifier: MIT */
/*
 * The members of a record's JSON; see record_members.h.  A member has the name
 * that it has in cc-backend's API, where it has one.  A name never changes.
 */
#include "config.h"

#include "common/record/record_members.h"

#define AT(member) offsetof(struct job, member)

const struct member record_members[] = {
	{ "schema", MEMBER_SCHEMA, 0, 0 },
	{ "revision", MEMBER_REVISION, AT(revision), 0 },
	{ "cluster", MEMBER_CLUSTER, AT(key.cluster), CLUSTER_MAX - 1 },
	{ "jobId", MEMBER_JOB, AT(key.job), 0 },
	{ "startTime", MEMBER_START, AT(key.start), 0 },
	{ "submitTime", MEMBER_TIME, AT(submit), 0 },
	{ "stopTime", MEMBER_TIME, AT(end), 0 },
	{ "jobState", MEMBER_STATE, AT(state), 0 },
	{ "exitCode", MEMBER_EXIT, AT(exit_code), 0 },
	{ "shared", MEMBER_SHARED, AT(shared), 0 },
	{ "restarts", MEMBER_U32, AT(restarts), 0 },
	{ "arrayJobId", MEMBER_U64, AT(array_job), 0 },
	{ "arrayTaskId", MEMBER_U32, AT(array_task), 0 },
	{ "hetJobId", MEMBER_U64, AT(het_job), 0 },
	{ "hetJobOffset", MEMBER_U32, AT(het_offset), 0 },
	{ "numNodes", MEMBER_U32, AT(nodes), 0 },
	{ "numHwthreads", MEMBER_U32, AT(cpus), 0 },
	{ "numAcc", MEMBER_U32, AT(accels), 0 },
	{ "walltime", MEMBER_TIME, AT(walltime), 0 },
	{ "requestedMemory", MEMBER_U64, AT(memory), 0 },
	{ "user", MEMBER_TEXT, AT(user), TEXT_MAX },
	{ "project", MEMBER_TEXT, AT(account), TEXT_MAX },
	{ "partition", MEMBER_TEXT, AT(partition), TEXT_MAX },
	{ "qos", MEMBER_TEXT, AT(qos), TEXT_MAX },
	{ "reservation", MEMBER_TEXT, AT(reservation), TEXT_MAX },
	{ "jobName", MEMBER_TEXT, AT(name), TEXT_MAX },
	{ "reason", MEMBER_TEXT, AT(reason), TEXT_MAX },
	{ "adminComment", MEMBER_TEXT, AT(admin_comment), TEXT_MAX },
	{ "message", MEMBER_TEXT, AT(message), TEXT_MAX },
	{ "flags", MEMBER_FLAGS, AT(flags), 0 },
	{ "hosts", MEMBER_HOSTS, AT(hosts), 0 },
	{ "slurmInfo", MEMBER_TEXT, AT(slurm_info), TEXT_MAX },
	{ "jobScript", MEMBER_TEXT, AT(script), SCRIPT_MAX },
	{ NULL, MEMBER_SCHEMA, 0, 0 },
};

const char *const record_flags[RECORD_FLAGS] = {
	"hasStart",
	"hasThreads",
	"hasAccels",
	"more",
	"live",
	"optedOut",
	"partial",
	"unconfirmed",
	"backfill",
	"dryRun",
	"neverRan",
};
