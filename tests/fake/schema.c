/* SPDX-License-Identifier: MIT */
/*
 * The Go types that cc-backend's requests are read into: which fields exist
 * in which version, their types, and the names its error messages use.
 */
#include "config.h"

#include "fake.h"

static const struct go_type t_string = { .kind = GO_STRING, .name = "string" };
static const struct go_type t_pstring = { .kind = GO_STRING,
	.pointer = true,
	.name = "string" };
static const struct go_type t_state = { .kind = GO_STRING,
	.name = "schema.JobState" };
static const struct go_type t_int32 = { .kind = GO_INT32, .name = "int32" };
static const struct go_type t_int64 = { .kind = GO_INT64, .name = "int64" };
static const struct go_type t_pint64 = { .kind = GO_INT64,
	.pointer = true,
	.name = "int64" };
static const struct go_type t_int = { .kind = GO_INT64, .name = "int" };
static const struct go_type t_float = { .kind = GO_FLOAT, .name = "float64" };

static const struct go_type t_ints = { .kind = GO_LIST,
	.name = "[]int",
	.elem = &t_int };
static const struct go_type t_strings = { .kind = GO_LIST,
	.name = "[]string",
	.elem = &t_string };
static const struct go_type t_texts = { .kind = GO_MAP,
	.name = "map[string]string",
	.elem = &t_string };
static const struct go_type t_floats = { .kind = GO_MAP,
	.name = "map[string]float64",
	.elem = &t_float };

static const struct go_field resource_fields[] = { { "hostname", &t_string },
	{ "configuration", &t_string }, { "hwthreads", &t_ints },
	{ "accelerators", &t_strings }, { NULL, NULL } };
static const struct go_type t_resource = { .kind = GO_STRUCT,
	.pointer = true,
	.name = "schema.Resource",
	.sname = "Resource",
	.fields = resource_fields };
static const struct go_type t_resources = { .kind = GO_LIST,
	.name = "[]*schema.Resource",
	.elem = &t_resource };

static const struct go_field tag_fields[] = { { "type", &t_string },
	{ "name", &t_string }, { "scope", &t_string }, { "id", &t_int64 },
	{ NULL, NULL } };
static const struct go_field tag_fields_131[] = { { "id", &t_int64 },
	{ "type", &t_string }, { "name", &t_string }, { NULL, NULL } };
static const struct go_type t_tag = { .kind = GO_STRUCT,
	.pointer = true,
	.name = "schema.Tag",
	.sname = "Tag",
	.fields = tag_fields };
static const struct go_type t_tags = { .kind = GO_LIST,
	.name = "[]*schema.Tag",
	.elem = &t_tag };
static const struct go_type t_tag_131 = { .kind = GO_STRUCT,
	.pointer = true,
	.name = "schema.Tag",
	.sname = "Tag",
	.fields = tag_fields_131 };
static const struct go_type t_tags_131 = { .kind = GO_LIST,
	.name = "[]*schema.Tag",
	.elem = &t_tag_131 };

static const struct go_field unit_fields[] = { { "base", &t_string },
	{ "prefix", &t_string }, { NULL, NULL } };
static const struct go_type t_unit = { .kind = GO_STRUCT,
	.name = "schema.Unit",
	.sname = "Unit",
	.fields = unit_fields };
static const struct go_field statistics_fields[] = { { "unit", &t_unit },
	{ "avg", &t_float }, { "min", &t_float }, { "max", &t_float },
	{ NULL, NULL } };
static const struct go_type t_statistic = { .kind = GO_STRUCT,
	.name = "schema.JobStatistics",
	.sname = "JobStatistics",
	.fields = statistics_fields };
static const struct go_type t_statistics = { .kind = GO_MAP,
	.name = "map[string]schema.JobStatistics",
	.elem = &t_statistic };

static const struct go_field link_fields[] = { { "id", &t_int64 },
	{ "jobId", &t_int64 }, { NULL, NULL } };
static const struct go_type t_link = { .kind = GO_STRUCT,
	.pointer = true,
	.name = "schema.JobLink",
	.sname = "JobLink",
	.fields = link_fields };
static const struct go_type t_links = { .kind = GO_LIST,
	.name = "[]*schema.JobLink",
	.elem = &t_link };
static const struct go_field links_fields[] = { { "items", &t_links },
	{ "count", &t_int }, { NULL, NULL } };
static const struct go_type t_concurrent = { .kind = GO_STRUCT,
	.name = "schema.JobLinkResultList",
	.sname = "JobLinkResultList",
	.fields = links_fields };

#define JOB_COMMON \
	{ "cluster", &t_string }, { "subCluster", &t_string }, \
	    { "partition", &t_string }, { "project", &t_string }, \
	    { "user", &t_string }, { "jobState", &t_state }, \
	    { "resources", &t_resources }, { "metaData", &t_texts }, \
	    { "concurrentJobs", &t_concurrent }, { "arrayJobId", &t_int64 }, \
	    { "walltime", &t_int64 }, { "jobId", &t_int64 }, \
	    { "duration", &t_int32 }, { "smt", &t_int32 }, \
	    { "monitoringStatus", &t_int32 }, { "numAcc", &t_int32 }, \
	    { "numHwthreads", &t_int32 }, { "numNodes", &t_int32 }, \
	    { "statistics", &t_statistics }, { "id", &t_int64 }, \
	{ \
		"startTime", &t_int64 \
	}
#define JOB_ENERGY \
	{ "energyFootprint", &t_floats }, { "footprint", &t_floats }, \
	{ \
		"energy", &t_float \
	}

static const struct go_field job_fields[] = { JOB_COMMON, JOB_ENERGY,
	{ "tags", &t_tags }, { "shared", &t_string },
	{ "submitTime", &t_int64 }, { "requestedMemory", &t_int64 },
	{ NULL, NULL } };
static const struct go_field job_fields_14[] = { JOB_COMMON, JOB_ENERGY,
	{ "tags", &t_tags }, { "exclusive", &t_int32 }, { NULL, NULL } };
static const struct go_field job_fields_131[] = { JOB_COMMON,
	{ "tags", &t_tags_131 }, { "exclusive", &t_int32 }, { NULL, NULL } };
static const struct go_type t_job = { .kind = GO_STRUCT,
	.name = "schema.Job",
	.sname = "Job",
	.fields = job_fields };
static const struct go_type t_job_14 = { .kind = GO_STRUCT,
	.name = "schema.JobMeta",
	.sname = "JobMeta",
	.prefix = "BaseJob.",
	.fields = job_fields_14 };
static const struct go_type t_job_131 = { .kind = GO_STRUCT,
	.name = "schema.JobMeta",
	.sname = "JobMeta",
	.prefix = "BaseJob.",
	.fields = job_fields_131 };

static const struct go_field stop_fields[] = { { "jobId", &t_pint64 },
	{ "cluster", &t_pstring }, { "startTime", &t_pint64 },
	{ "jobState", &t_state }, { "stopTime", &t_int64 }, { NULL, NULL } };
static const struct go_type t_stop = { .kind = GO_STRUCT,
	.name = "api.StopJobAPIRequest",
	.sname = "StopJobAPIRequest",
	.fields = stop_fields };
static const struct go_type t_stop_14 = { .kind = GO_STRUCT,
	.name = "api.StopJobApiRequest",
	.sname = "StopJobApiRequest",
	.fields = stop_fields };

static const struct go_field delete_fields[] = { { "jobId", &t_pint64 },
	{ "cluster", &t_pstring }, { "startTime", &t_pint64 }, { NULL, NULL } };
static const struct go_type t_delete = { .kind = GO_STRUCT,
	.name = "api.DeleteJobAPIRequest",
	.sname = "DeleteJobAPIRequest",
	.fields = delete_fields };

static const struct go_field payload_fields[] = { { "key", &t_string },
	{ "value", &t_string }, { NULL, NULL } };
static const struct go_type t_payload = { .kind = GO_STRUCT,
	.name = "api.EditMetaRequest",
	.sname = "EditMetaRequest",
	.fields = payload_fields };
static const struct go_field meta_run_fields[] = { { "jobId", &t_pint64 },
	{ "cluster", &t_pstring }, { "startTime", &t_pint64 },
	{ "payload", &t_payload }, { NULL, NULL } };
static const struct go_type t_meta_run = { .kind = GO_STRUCT,
	.name = "api.JobMetaRequest",
	.sname = "JobMetaRequest",
	.fields = meta_run_fields };

static const struct go_type t_tag_request = { .kind = GO_LIST,
	.name = "api.TagJobAPIRequest",
	.elem = &t_tag };

static const struct go_field node_fields[] = { { "hostname", &t_string },
	{ "states", &t_strings }, { "cpusAllocated", &t_int },
	{ "memoryAllocated", &t_int64 }, { "gpusAllocated", &t_int },
	{ "jobsRunning", &t_int }, { NULL, NULL } };
static const struct go_type t_node = { .kind = GO_STRUCT,
	.name = "schema.NodePayload",
	.sname = "NodePayload",
	.fields = node_fields };
static const struct go_type t_nodelist = { .kind = GO_LIST,
	.name = "[]schema.NodePayload",
	.elem = &t_node };
static const struct go_field nodes_fields[] = { { "nodes", &t_nodelist },
	{ "cluster", &t_string }, { NULL, NULL } };
static const struct go_type t_nodes = { .kind = GO_STRUCT,
	.name = "api.UpdateNodeStatesRequest",
	.sname = "UpdateNodeStatesRequest",
	.fields = nodes_fields };

static enum version played = V154;

void
schema_init(enum version v)
{
	played = v;
}

const struct go_type *
schema_job(void)
{
	return played == V131 ? &t_job_131 : played < V154 ? &t_job_14 : &t_job;
}

const struct go_type *
schema_stop(void)
{
	return played < V154 ? &t_stop_14 : &t_stop;
}

const struct go_type *
schema_delete(void)
{
	return &t_delete;
}

const struct go_type *
schema_meta_run(void)
{
	return &t_meta_run;
}

const struct go_type *
schema_meta_id(void)
{
	return &t_payload;
}

const struct go_type *
schema_tags(void)
{
	return &t_tag_request;
}

const struct go_type *
schema_nodes(void)
{
	return &t_nodes;
}
