/* SPDX-License-Identifier: MIT */
/*
 * The two tables job_cache and job, in memory: found by job id, by database
 * id, and in the listing's order.  A job id rarely has more than a few runs,
 * so its hash chain serves every search that names one.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fake.h"

/* Chains stay short up to some hundred thousand runs. */
#define BUCKETS 131072u

static struct run_list byjob[BUCKETS], byid[BUCKETS];
static struct run_list cache = TAILQ_HEAD_INITIALIZER(cache);
static struct tag_list tags = TAILQ_HEAD_INITIALIZER(tags);
static struct run **rows;
static size_t nrows, rowcap, ncached;
static int64_t nextid = 1, nextcached = 1, nexttag = 1;
static bool sorted;

static struct run_list *
bucket(struct run_list *table, int64_t id)
{
	return &table[((uint64_t)id * 0x9e3779b97f4a7c15u) >> 47 &
	    (BUCKETS - 1)];
}

void
store_init(void)
{
	size_t i;

	for (i = 0; i < BUCKETS; i++) {
		TAILQ_INIT(&byjob[i]);
		TAILQ_INIT(&byid[i]);
	}
}

size_t
store_count(bool cached)
{
	return cached ? ncached : nrows;
}

/* 1.5.4: newest start first, of equals the newest row; 1.4.1 by row. */
static int
run_compare(const void *a, const void *b)
{
	const struct run *x = *(struct run *const *)a;
	const struct run *y = *(struct run *const *)b;

	if (api_options()->version == V141)
		return x->dbid < y->dbid ? -1 : x->dbid > y->dbid;
	if (x->start != y->start)
		return x->start > y->start ? -1 : 1;
	return x->dbid > y->dbid ? -1 : x->dbid < y->dbid;
}

struct run **
store_sorted(size_t *n)
{
	if (!sorted && nrows > 0)
		qsort(rows, nrows, sizeof(*rows), run_compare);
	sorted = true;
	*n = nrows;
	return rows;
}

struct run *
store_byid(int64_t dbid)
{
	struct run *r;

	TAILQ_FOREACH(r, bucket(byid, dbid), byid)
	if (r->dbid == dbid)
		return r;
	return NULL;
}

static bool
run_matches(const struct run *r, bool cached, int64_t jobid,
    const char *cluster)
{
	return r->jobid == jobid && r->cached == cached &&
	    (cluster == NULL || strcmp(r->cluster, cluster) == 0);
}

struct run *
store_find(bool cached, int64_t jobid, const char *cluster,
    const int64_t *start)
{
	struct run *r, *found = NULL;

	TAILQ_FOREACH(r, bucket(byjob, jobid), byjob)
	if (run_matches(r, cached, jobid, cluster) &&
	    (start == NULL || r->start == *start) &&
	    (found == NULL || r->dbid > found->dbid))
		found = r;
	return found;
}

struct run *
store_conflict(int64_t jobid, const char *cluster, int64_t start)
{
	struct run *r, *found = NULL;

	/* SQLite's index answers in the order of start times. */
	TAILQ_FOREACH(r, bucket(byjob, jobid), byjob)
	if (run_matches(r, false, jobid, cluster) &&
	    start - r->start < RUN_DISTANCE &&
	    (found == NULL || r->start < found->start))
		found = r;
	return found;
}

static void
row_add(struct run *r)
{
	if (nrows == rowcap) {
		rowcap = rowcap != 0 ? rowcap * 2 : 1024;
		rows = realloc(rows, rowcap * sizeof(*rows));
		if (rows == NULL)
			abort();
	}
	rows[nrows++] = r;
	sorted = false;
	r->cached = false;
	r->dbid = nextid++;
	TAILQ_INSERT_TAIL(bucket(byid, r->dbid), r, byid);
}

struct run *
store_add(json_t *body, const char *sub, bool cached)
{
	int64_t jobid = json_num(body, "jobId", 0);
	int64_t start = json_num(body, "startTime", 0);
	const char *cluster = json_text(body, "cluster", "");
	struct run *r;

	if (store_find(cached, jobid, cluster, &start) != NULL)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->body = body;
	r->meta = json_incref(json_object_get(body, "metaData"));
	r->cluster = cluster;
	r->subcluster = sub;
	r->state = "running";
	r->jobid = jobid;
	r->start = start;
	r->monitoring = (int)json_num(body, "monitoringStatus", 1);
	/* So a client can say that the archive is there: it is not. */
	r->lost = r->monitoring == 3;
	TAILQ_INSERT_TAIL(bucket(byjob, jobid), r, byjob);
	if (!cached) {
		row_add(r);
		return r;
	}
	r->cached = true;
	r->dbid = nextcached++;
	TAILQ_INSERT_TAIL(&cache, r, waiting);
	ncached++;
	return r;
}

static void
run_free(struct run *r)
{
	TAILQ_REMOVE(bucket(byjob, r->jobid), r, byjob);
	json_decref(r->meta);
	json_decref(r->body);
	free(r->tags);
	free(r);
}

int
store_transfer(struct run *r)
{
	if (store_find(false, r->jobid, r->cluster, &r->start) != NULL)
		return -1;
	TAILQ_REMOVE(&cache, r, waiting);
	ncached--;
	row_add(r);
	return 0;
}

void
store_commit(void)
{
	struct run *r;

	if (!TAILQ_EMPTY(&cache))
		ledger_commit();
	while ((r = TAILQ_FIRST(&cache)) != NULL) {
		if (store_transfer(r) == 0)
			continue;
		TAILQ_REMOVE(&cache, r, waiting);
		ncached--;
		run_free(r);
	}
	nextcached = 1;
}

struct run *
store_first_cached(void)
{
	return TAILQ_FIRST(&cache);
}

void
store_delete(struct run *r)
{
	size_t i;

	for (i = 0; i < nrows && rows[i] != r; i++)
		;
	if (i < nrows)
		memmove(&rows[i], &rows[i + 1], (--nrows - i) * sizeof(*rows));
	TAILQ_REMOVE(bucket(byid, r->dbid), r, byid);
	run_free(r);
}

static struct tag *
tag_find(const char *type, const char *name, const char *scope)
{
	struct tag *t;

	TAILQ_FOREACH(t, &tags, entry)
	if (strcmp(t->type, type) == 0 && strcmp(t->name, name) == 0 &&
	    (scope == NULL || strcmp(t->scope, scope) == 0))
		return t;
	return NULL;
}

static struct tag *
tag_new(const char *type, const char *name, const char *scope)
{
	struct tag *t = xcalloc(1, sizeof(*t));

	t->id = nexttag++;
	t->type = xstrdup(type);
	t->name = xstrdup(name);
	t->scope = xstrdup(scope);
	TAILQ_INSERT_TAIL(&tags, t, entry);
	return t;
}

const char *
store_tag(struct run *r, const char *type, const char *name, const char *scope,
    struct tag **added)
{
	struct tag *t = tag_find(type, name, scope);
	size_t i;

	if (t == NULL && tag_find(type, name, NULL) != NULL)
		return "UNIQUE constraint failed: tag.tag_type, tag.tag_name";
	if (t == NULL)
		t = tag_new(type, name, scope);
	for (i = 0; i < r->ntags; i++)
		if (r->tags[i] == t)
			return "UNIQUE constraint failed: "
			       "jobtag.job_id, jobtag.tag_id";
	r->tags = realloc(r->tags, (r->ntags + 1) * sizeof(*r->tags));
	if (r->tags == NULL)
		abort();
	r->tags[r->ntags++] = t;
	*added = t;
	return NULL;
}

static json_t *
run_dump(struct run *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "dbid", json_integer(r->dbid));
	json_object_set_new(o, "jobId", json_integer(r->jobid));
	json_object_set_new(o, "cluster", json_string(r->cluster));
	json_object_set_new(o, "startTime", json_integer(r->start));
	json_object_set_new(o, "subCluster", json_string(r->subcluster));
	json_object_set_new(o, "jobState", json_string(r->state));
	json_object_set_new(o, "duration", json_integer(r->duration));
	json_object_set_new(o, "cached", json_boolean(r->cached));
	json_object_set_new(o, "monitoringStatus", json_integer(r->monitoring));
	if (r->meta != NULL)
		json_object_set(o, "metaData", r->meta);
	json_object_set(o, "body", r->body);
	return o;
}

json_t *
store_dump(void)
{
	json_t *list = json_array();
	struct run *r;
	size_t i;

	for (i = 0; i < nrows; i++)
		json_array_append_new(list, run_dump(rows[i]));
	TAILQ_FOREACH(r, &cache, waiting)
	json_array_append_new(list, run_dump(r));
	return list;
}
