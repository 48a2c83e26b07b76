/* SPDX-License-Identifier: MIT */
/*
 * start_job: the checks in cc-backend's order, then the row.  Without tags
 * it goes to job_cache (1.5), with tags straight to job.
 */
#include "config.h"

#include <string.h>

#include "fake.h"

/* Sets *sub to the subcluster, which is named or follows from the host. */
static int
subcluster_check(json_t *body, struct reply *rp, const char **sub)
{
	const char *cluster = json_text(body, "cluster", "");
	const char *given = json_text(body, "subCluster", "");
	json_t *res = json_object_get(body, "resources");
	json_t *first = json_array_get(res, 0);
	const char *host;

	*sub = cluster_sub(cluster, NULL);
	if (*given != '\0') {
		if (strcmp(given, *sub) == 0)
			return 0;
		reply_error(rp, 400,
		    "ARCHIVE/CLUSTERCONFIG > already "
		    "assigned subcluster %s unkown (cluster: %s)",
		    given, cluster);
		return -1;
	}
	if (first == NULL) {
		reply_error(rp, 400,
		    "ARCHIVE/CLUSTERCONFIG > job without "
		    "any resources/hosts");
		return -1;
	}
	if (json_is_null(first)) { /* cc-backend's handler panics */
		rp->status = 500;
		return -1;
	}
	host = json_text(first, "hostname", "");
	*sub = cluster_sub(cluster, host);
	if (*sub != NULL)
		return 0;
	reply_error(rp, 400,
	    "ARCHIVE/CLUSTERCONFIG > no subcluster found "
	    "for cluster %s and host %s",
	    cluster, host);
	return -1;
}

static int
body_check(json_t *body, struct reply *rp, const char **sub)
{
	const char *cluster = json_text(body, "cluster", "");
	size_t nres = json_array_size(json_object_get(body, "resources"));
	long long nodes = json_num(body, "numNodes", 0);

	if (!cluster_exists(cluster)) {
		reply_error(rp, 400, "no such cluster: %s", cluster);
		return -1;
	}
	if (subcluster_check(body, rp, sub) == -1)
		return -1;
	if (nres == 0 || *json_text(body, "user", "") == '\0') {
		reply_error(rp, 400,
		    "'resources' and 'user' should not be empty");
		return -1;
	}
	if (nodes < 1 || json_num(body, "numAcc", 0) < 0 ||
	    json_num(body, "numHwthreads", 0) < 0) {
		reply_error(rp, 400,
		    "'numNodes', 'numAcc' or 'numHWThreads' invalid");
		return -1;
	}
	if ((long long)nres == nodes)
		return 0;
	reply_error(rp, 400,
	    "len(resources) does not equal numNodes "
	    "(%zu vs %lld)",
	    nres, nodes);
	return -1;
}

/* The table's CHECK constraints: NULL or the one that fails. */
static const char *
constraint_check(json_t *body, bool old)
{
	const char *shared = json_text(body, "shared", "none");
	int64_t v;

	v = json_num(body, "smt", 0);
	if (v < 0 || v > 1)
		return old ? "smt               IN (0, 1   )" : "smt IN (0, 1)";
	v = json_num(body, "exclusive", 1);
	if (old && (v < 0 || v > 2))
		return "exclusive         IN (0, 1, 2)";
	if (!old && strcmp(shared, "none") != 0 &&
	    strcmp(shared, "single_user") != 0 &&
	    strcmp(shared, "multi_user") != 0)
		return "shared IN (\"none\", \"single_user\", \"multi_user\")";
	v = json_num(body, "monitoringStatus", 1);
	if (v < 0 || v > 3)
		return "monitoring_status IN (0, 1, 2, 3)";
	return NULL;
}

/* Adds the tags; -1 with the answer that says which failed. */
static int
tags_add(struct request *rq, struct run *r, json_t *tags, struct reply *rp)
{
	const char *scope, *why;
	struct tag *added;
	json_t *tag;
	size_t i;

	if (rq->nats)
		return 0;
	json_array_foreach(tags, i, tag)
	{
		if (json_is_null(tag)) {
			rp->status = 500;
			return -1;
		}
		scope = json_text(tag, "scope", "");
		if (*scope == '\0')
			scope = "global";
		if (strcmp(scope, "global") != 0 &&
		    strcmp(scope, "admin") != 0 &&
		    strcmp(scope, rq->subject) != 0)
			why = "cannot write tag scope with current "
			      "authorization";
		else
			why = store_tag(r, json_text(tag, "type", ""),
			    json_text(tag, "name", ""), scope, &added);
		if (why != NULL) {
			reply_error(rp, 500,
			    "adding tag to new job %lld failed: %s",
			    (long long)r->dbid, why);
			return -1;
		}
	}
	return 0;
}

static void
started(struct reply *rp, const struct run *r)
{
	rp->status = 201;
	rp->ctype = "application/json";
	switch (api_options()->version) {
	case V131:
		text_fmt(&rp->body, "{\"id\":%lld}\n", (long long)r->dbid);
		break;
	case V141:
		text_str(&rp->body,
		    "{\"msg\":\"Successfully triggered job start\"}\n");
		break;
	default:
		text_str(&rp->body, "{\"msg\":\"success\"}\n");
		break;
	}
}

/* Takes body. */
static void
run_start(struct request *rq, struct reply *rp, json_t *body, const char *sub)
{
	bool old = api_options()->version != V154;
	json_t *tags = json_object_get(body, "tags");
	bool cached = !old && json_array_size(tags) == 0;
	const char *failed = constraint_check(body, old);
	struct run *r;

	/* 1.4.1 answers before it inserts: such a row is lost in silence. */
	if (failed != NULL && api_options()->version == V141) {
		rp->status = 201;
		rp->ctype = "application/json";
		text_str(&rp->body,
		    "{\"msg\":\"Successfully triggered job start\"}\n");
	} else if (failed != NULL)
		reply_error(rp, 500,
		    "insert into database failed: CHECK "
		    "constraint failed: %s",
		    failed);
	if (failed != NULL) {
		json_decref(body);
		return;
	}
	r = store_add(body, sub, cached);
	if (r == NULL) {
		reply_error(rp, 500,
		    "insert into database failed: UNIQUE "
		    "constraint failed: job_cache.job_id, job_cache.cluster, "
		    "job_cache.start_time");
		json_decref(body);
		return;
	}
	ledger_write("start", r, body);
	if (tags_add(rq, r, tags, rp) == 0)
		started(rp, r);
}

void
start_job(struct request *rq, struct reply *rp, const char *part)
{
	json_t *body = body_decode(rq, rp, schema_job());
	const char *sub = NULL;
	struct run *r;

	if (body == NULL)
		return;
	if (body_check(body, rp, &sub) == -1) {
		json_decref(body);
		return;
	}
	r = store_conflict(json_num(body, "jobId", 0),
	    json_text(body, "cluster", ""), json_num(body, "startTime", 0));
	if (r != NULL) {
		reply_error(rp, 422,
		    "a job with that jobId, cluster and "
		    "startTime already exists: dbid: %lld, jobid: %lld",
		    (long long)r->dbid, (long long)r->jobid);
		json_decref(body);
		return;
	}
	run_start(rq, rp, body, sub);
}
