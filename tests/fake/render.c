/* SPDX-License-Identifier: MIT */
/*
 * A run as the API shows it.  The order of the keys is that of the Go
 * structs of the version that is played, and so is what is left out when it
 * is zero.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include "fake.h"

static void
comma(struct text *t)
{
	if (t->len > 0 && t->p[t->len - 1] != '{' && t->p[t->len - 1] != '[')
		text_str(t, ",");
}

static void
put_num(struct text *t, const char *key, int64_t v)
{
	comma(t);
	text_fmt(t, "\"%s\":%lld", key, (long long)v);
}

/* Left out when zero (omitempty). */
static void
put_nonzero(struct text *t, const char *key, int64_t v)
{
	if (v != 0)
		put_num(t, key, v);
}

static void
put_str(struct text *t, const char *key, const char *v)
{
	comma(t);
	text_fmt(t, "\"%s\":", key);
	go_cstring(t, v);
}

static void
put_value(struct text *t, const char *key, json_t *v)
{
	comma(t);
	text_fmt(t, "\"%s\":", key);
	go_value(t, v);
}

static void
put_resources(struct text *t, json_t *list)
{
	static const char *const lists[] = { "hwthreads", "accelerators" };
	json_t *r, *l;
	size_t i, k;

	comma(t);
	text_str(t, "\"resources\":[");
	json_array_foreach(list, i, r)
	{
		comma(t);
		if (json_is_null(r)) {
			text_str(t, "null");
			continue;
		}
		text_str(t, "{");
		put_str(t, "hostname", json_text(r, "hostname", ""));
		if (json_text(r, "configuration", "")[0] != '\0')
			put_str(t, "configuration",
			    json_text(r, "configuration", ""));
		for (k = 0; k < 2; k++) {
			l = json_object_get(r, lists[k]);
			if (json_array_size(l) > 0)
				put_value(t, lists[k], l);
		}
		text_str(t, "}");
	}
	text_str(t, "]");
}

static void
put_tags(struct text *t, const struct run *r)
{
	bool scoped = api_options()->version != V131;
	size_t i;

	if (r->ntags == 0)
		return;
	comma(t);
	text_str(t, "\"tags\":[");
	for (i = 0; i < r->ntags; i++) {
		comma(t);
		text_str(t, "{");
		if (!scoped)
			put_num(t, "id", r->tags[i]->id);
		put_str(t, "type", r->tags[i]->type);
		put_str(t, "name", r->tags[i]->name);
		if (scoped) {
			put_str(t, "scope", r->tags[i]->scope);
			put_num(t, "id", r->tags[i]->id);
		}
		text_str(t, "}");
	}
	text_str(t, "]");
}

/* Both grow for ever and are cut to 32 bits, as cc-backend does it. */
static int32_t
run_duration(const struct run *r, enum render how)
{
	if (how != RENDER_STOP && strcmp(r->state, "running") == 0)
		return (int32_t)(uint32_t)(time(NULL) - r->start);
	return r->duration;
}

bool
run_archived(const struct run *r)
{
	return r->lost || (r->archived != 0 && now_ms() >= r->archived);
}

void
run_archive_path(struct text *t, const struct run *r)
{
	text_fmt(t, "var/job-archive/%s/%lld/%03lld/%lld/meta.json", r->cluster,
	    (long long)(r->jobid / 1000), (long long)(r->jobid % 1000),
	    (long long)r->start);
}

static void
put_start(struct text *t, const struct run *r, bool old)
{
	time_t when = (time_t)r->start;
	char buf[64];
	struct tm tm;

	if (!old) {
		put_num(t, "startTime", r->start);
		return;
	}
	gmtime_r(&when, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	put_str(t, "startTime", buf);
}

/* The archive worker knows better than who started the run. */
static void
put_footprint(struct text *t, const struct run *r, bool done)
{
	comma(t);
	if (done)
		text_str(t, "\"footprint\":{}");
	else {
		text_str(t, "\"footprint\":");
		go_value(t, json_object_get(r->body, "footprint"));
	}
}

static int
run_monitoring(const struct run *r, bool done)
{
	return done ? 3 : r->monitoring;
}

static void
render_head(struct text *t, const struct run *r)
{
	put_str(t, "cluster", r->cluster);
	put_str(t, "subCluster", r->subcluster);
	if (json_text(r->body, "partition", "")[0] != '\0')
		put_str(t, "partition", json_text(r->body, "partition", ""));
	put_str(t, "project", json_text(r->body, "project", ""));
	put_str(t, "user", json_text(r->body, "user", ""));
}

/* From resources to the counts: the same in 1.4 and 1.5. */
static void
render_middle(struct text *t, struct run *r, enum render how, bool withmeta,
    bool done)
{
	put_resources(t, json_object_get(r->body, "resources"));
	put_value(t, "energyFootprint", NULL);
	put_footprint(t, r, done);
	put_value(t, "metaData", withmeta ? r->meta : NULL);
	text_str(t, ",\"concurrentJobs\":{\"items\":null,\"count\":0}");
	text_str(t, ",\"energy\":");
	go_float(t,
	    done ? 0 : json_real_value(json_object_get(r->body, "energy")));
	put_nonzero(t, "arrayJobId", json_num(r->body, "arrayJobId", 0));
	put_nonzero(t, "walltime", json_num(r->body, "walltime", 0));
	put_num(t, "jobId", r->jobid);
	put_num(t, "duration", run_duration(r, how));
	put_nonzero(t, "smt", json_num(r->body, "smt", 0));
	put_nonzero(t, "monitoringStatus", run_monitoring(r, done));
}

static void
render_counts(struct text *t, const struct run *r)
{
	put_nonzero(t, "numAcc", json_num(r->body, "numAcc", 0));
	put_nonzero(t, "numHwthreads", json_num(r->body, "numHwthreads", 0));
	put_num(t, "numNodes", json_num(r->body, "numNodes", 0));
}

static void
put_statistics(struct text *t, bool done)
{
	comma(t);
	text_str(t, done ? "\"statistics\":{}" : "\"statistics\":null");
}

static void
render_15(struct text *t, struct run *r, enum render how, bool withmeta)
{
	bool done = run_archived(r);

	render_head(t, r);
	put_str(t, "shared", json_text(r->body, "shared", "none"));
	put_str(t, "jobState", r->state);
	if (how == RENDER_LIST || how == RENDER_TAGGED)
		put_tags(t, r);
	render_middle(t, r, how, withmeta, done);
	render_counts(t, r);
	put_statistics(t, done && how == RENDER_LIST);
	put_num(t, "id", r->dbid);
	put_start(t, r, false);
}

static void
render_14(struct text *t, struct run *r, enum render how, bool withmeta)
{
	bool done = run_archived(r), list = how == RENDER_LIST;

	if (list) {
		put_num(t, "id", r->dbid);
		put_statistics(t, done);
	} else
		put_start(t, r, true);
	render_head(t, r);
	put_str(t, "jobState", r->state);
	if (list || how == RENDER_TAGGED)
		put_tags(t, r);
	render_middle(t, r, how, withmeta, done);
	put_num(t, "exclusive", json_num(r->body, "exclusive", 1));
	render_counts(t, r);
	if (list)
		put_start(t, r, false);
	else
		put_num(t, "id", r->dbid);
}

static void
render_13(struct text *t, struct run *r, enum render how, bool withmeta)
{
	bool done = run_archived(r);

	put_num(t, "id", r->dbid);
	put_num(t, "jobId", r->jobid);
	put_str(t, "user", json_text(r->body, "user", ""));
	put_str(t, "project", json_text(r->body, "project", ""));
	put_str(t, "cluster", r->cluster);
	put_str(t, "subCluster", r->subcluster);
	if (json_text(r->body, "partition", "")[0] != '\0')
		put_str(t, "partition", json_text(r->body, "partition", ""));
	put_nonzero(t, "arrayJobId", json_num(r->body, "arrayJobId", 0));
	put_num(t, "numNodes", json_num(r->body, "numNodes", 0));
	put_nonzero(t, "numHwthreads", json_num(r->body, "numHwthreads", 0));
	put_nonzero(t, "numAcc", json_num(r->body, "numAcc", 0));
	put_num(t, "exclusive", json_num(r->body, "exclusive", 1));
	put_nonzero(t, "monitoringStatus", run_monitoring(r, done));
	put_nonzero(t, "smt", json_num(r->body, "smt", 0));
	put_str(t, "jobState", r->state);
	put_num(t, "duration", run_duration(r, how));
	put_nonzero(t, "walltime", json_num(r->body, "walltime", 0));
	if (how == RENDER_LIST || how == RENDER_TAGGED)
		put_tags(t, r);
	put_resources(t, json_object_get(r->body, "resources"));
	put_value(t, "metaData", withmeta ? r->meta : NULL);
	text_str(t, ",\"concurrentJobs\":{\"items\":null,\"count\":0}");
	put_start(t, r, how != RENDER_LIST);
	if (how == RENDER_LIST)
		put_statistics(t, done);
	else
		text_str(t,
		    ",\"memUsedMax\":0,\"flopsAnyAvg\":0,"
		    "\"memBwAvg\":0,\"loadAvg\":0");
}

void
run_render(struct text *t, struct run *r, enum render how, bool withmeta)
{
	text_str(t, "{");
	switch (api_options()->version) {
	case V154:
		render_15(t, r, how, withmeta);
		break;
	case V144:
	case V141:
		render_14(t, r, how, withmeta);
		break;
	case V131:
		render_13(t, r, how, withmeta);
		break;
	}
	text_str(t, "}");
}
