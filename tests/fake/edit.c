/* SPDX-License-Identifier: MIT */
/*
 * The smaller writes: metaData, tags, deletions, node states.  They see
 * committed runs only.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fake.h"

/* A tag request that is longer shows stored scopes in its answer. */
#define TAGS_MAX 64

/* The database id in the path; -1 with the answer. */
static int
id_parse(const char *part, int64_t *id, struct reply *rp)
{
	char *end;

	errno = 0;
	*id = strtoll(part, &end, 10);
	if (end != part && *end == '\0' && errno != ERANGE)
		return 0;
	reply_error(rp, 400,
	    "parsing job ID failed: strconv.ParseInt: "
	    "parsing \"%s\": %s",
	    part, errno == ERANGE ? "value out of range" : "invalid syntax");
	return -1;
}

/* The run a body names; NULL with the answer. */
static struct run *
run_named(json_t *body, struct reply *rp)
{
	int64_t start = json_num(body, "startTime", 0);
	struct run *r;

	if (json_object_get(body, "jobId") == NULL) {
		reply_error(rp, 400, "the field 'jobId' is required");
		return NULL;
	}
	r = store_find(false, json_num(body, "jobId", 0),
	    json_text(body, "cluster", NULL),
	    json_object_get(body, "startTime") != NULL ? &start : NULL);
	if (r == NULL)
		reply_error(rp, 422,
		    "finding job failed: sql: no rows in result set");
	return r;
}

/* The run whose id the path has; NULL with the answer. */
static struct run *
run_by_id(const char *part, struct reply *rp)
{
	struct run *r;
	int64_t id;

	if (id_parse(part, &id, rp) == -1)
		return NULL;
	r = store_byid(id);
	if (r == NULL)
		reply_error(rp, 404,
		    "finding job failed: sql: no rows in result set");
	return r;
}

void
run_meta(struct run *r, const char *key, const char *value)
{
	/* The run's body keeps what was started with. */
	if (r->meta == NULL)
		r->meta = json_object();
	else if (r->meta == json_object_get(r->body, "metaData")) {
		json_decref(r->meta);
		r->meta = json_deep_copy(json_object_get(r->body, "metaData"));
	}
	json_object_set_new_nocheck(r->meta, key, json_string_nocheck(value));
}

static void
meta_set(struct run *r, json_t *payload, json_t *body, struct reply *rp)
{
	struct text path = { 0 };

	if (strcmp(r->state, "running") != 0 &&
	    (r->lost || r->monitoring == 0)) {
		run_archive_path(&path, r);
		reply_error(rp, 500,
		    "updating metadata failed: open %s: no "
		    "such file or directory",
		    path.p);
		text_clear(&path);
		return;
	}
	run_meta(r, json_text(payload, "key", ""),
	    json_text(payload, "value", ""));
	ledger_write("edit_meta", r, body);
	rp->status = 200;
	rp->ctype = "application/json";
	run_render(&rp->body, r, RENDER_META, true);
	text_str(&rp->body, "\n");
}

void
edit_by_run(struct request *rq, struct reply *rp, const char *part)
{
	json_t *body = body_decode(rq, rp, schema_meta_run());
	struct run *r;

	if (body == NULL)
		return;
	if ((r = run_named(body, rp)) != NULL)
		meta_set(r, json_object_get(body, "payload"), body, rp);
	json_decref(body);
}

void
edit_by_id(struct request *rq, struct reply *rp, const char *part)
{
	struct run *r = run_by_id(part, rp);
	json_t *body;

	if (r == NULL || (body = body_decode(rq, rp, schema_meta_id())) == NULL)
		return;
	meta_set(r, body, body, rp);
	json_decref(body);
}

/*
 * Of the tags that were just added the answer shows the scope as it was
 * sent, which may be empty, not as it was stored.
 */
static void
tags_answer(struct run *r, size_t before, json_t *body, struct reply *rp)
{
	char *stored[TAGS_MAX] = { NULL }, none[] = "";
	size_t i;

	for (i = before; i < r->ntags && i - before < TAGS_MAX; i++) {
		stored[i - before] = r->tags[i]->scope;
		if (*json_text(json_array_get(body, i - before), "scope", "") ==
		    '\0')
			r->tags[i]->scope = none;
	}
	rp->status = 200;
	rp->ctype = "application/json";
	run_render(&rp->body, r, RENDER_TAGGED, false);
	text_str(&rp->body, "\n");
	for (i = before; i < r->ntags && i - before < TAGS_MAX; i++)
		r->tags[i]->scope = stored[i - before];
}

static void
tags_set(struct request *rq, struct run *r, json_t *body, struct reply *rp)
{
	const char *scope, *why;
	size_t i, before = r->ntags;
	struct tag *added;
	json_t *tag;

	json_array_foreach(body, i, tag)
	{
		scope = json_text(tag, "scope", "");
		if (*scope == '\0')
			scope = "global";
		why = strcmp(scope, "global") != 0 &&
			strcmp(scope, "admin") != 0 &&
			strcmp(scope, rq->subject) != 0 ?
		    "cannot write tag scope with current authorization" :
		    store_tag(r, json_text(tag, "type", ""),
			json_text(tag, "name", ""), scope, &added);
		if (why != NULL) {
			reply_error(rp, 500, "adding tag failed: %s", why);
			return;
		}
	}
	ledger_write("tag", r, body);
	tags_answer(r, before, body, rp);
}

void
tag_by_id(struct request *rq, struct reply *rp, const char *part)
{
	struct run *r = run_by_id(part, rp);
	json_t *body;

	if (r == NULL || (body = body_decode(rq, rp, schema_tags())) == NULL)
		return;
	tags_set(rq, r, body, rp);
	json_decref(body);
}

static void
deleted(struct reply *rp, int64_t id)
{
	rp->status = 200;
	rp->ctype = "application/json";
	text_fmt(&rp->body, "{\"msg\":\"Successfully deleted job %lld\"}\n",
	    (long long)id);
}

void
delete_by_run(struct request *rq, struct reply *rp, const char *part)
{
	json_t *body = body_decode(rq, rp, schema_delete());
	struct run *r;

	if (body == NULL)
		return;
	if ((r = run_named(body, rp)) != NULL) {
		deleted(rp, r->dbid);
		ledger_write("delete", r, body);
		store_delete(r);
	}
	json_decref(body);
}

void
delete_by_id(struct request *rq, struct reply *rp, const char *part)
{
	struct run *r;
	int64_t id;

	if (id_parse(part, &id, rp) == -1)
		return;
	/* What is not there counts as deleted, too. */
	deleted(rp, id);
	if ((r = store_byid(id)) != NULL) {
		ledger_write("delete", r, NULL);
		store_delete(r);
	}
}

void
delete_before(struct request *rq, struct reply *rp, const char *part)
{
	struct run **rows;
	size_t i, n, count = 0;
	int64_t before;

	if (id_parse(part, &before, rp) == -1)
		return;
	rows = store_sorted(&n);
	for (i = n; i > 0; i--) {
		if (rows[i - 1]->start >= before)
			continue;
		ledger_write("delete", rows[i - 1], NULL);
		store_delete(rows[i - 1]);
		rows = store_sorted(&n);
		count++;
	}
	rp->status = 200;
	rp->ctype = "application/json";
	text_fmt(&rp->body, "{\"msg\":\"Successfully deleted %zu jobs\"}\n",
	    count);
}

/* The one state that cc-backend makes of a node's words. */
static const char *
state_reduce(json_t *states)
{
	static const char *const order[] = { "allocated", "reserved", "idle",
		"down", "mixed" };
	bool has[5] = { false };
	json_t *word;
	size_t i, k;

	json_array_foreach(states, i,
	    word) for (k = 0; k < 5; k++) if (json_is_string(word) &&
	    strcasecmp(order[k], json_string_value(word)) == 0) has[k] = true;
	if (!has[0] && !has[1] && has[2] && has[3])
		return "down";
	for (k = 0; k < 5; k++)
		if (has[k])
			return order[k];
	return "unknown";
}

void
nodestate(struct request *rq, struct reply *rp, const char *part)
{
	json_t *body = body_decode(rq, rp, schema_nodes()), *nodes, *node, *out;
	const char *cluster;
	size_t i;

	if (body == NULL)
		return;
	rp->status = 200;
	cluster = json_text(body, "cluster", "");
	nodes = json_object_get(body, "nodes");
	out = json_array();
	json_array_foreach(nodes, i, node)
	{
		if (!cluster_host(cluster, json_text(node, "hostname", "")))
			continue;
		json_object_set_new(node, "stored",
		    json_string(state_reduce(json_object_get(node, "states"))));
		json_array_append(out, node);
	}
	if (json_array_size(out) > 0) {
		json_object_set(body, "nodes", out);
		ledger_write("nodestate", NULL, body);
	}
	json_decref(out);
	json_decref(body);
}
