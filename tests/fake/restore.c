/* SPDX-License-Identifier: MIT */
/*
 * A stand-in that is started again with the ledger of an earlier one knows
 * what that one knew, as a real server would from its database.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

static void
start_restore(json_t *line)
{
	json_t *body = json_incref(json_object_get(line, "body")), *tag;
	json_t *tags = json_object_get(body, "tags");
	bool cached = json_is_true(json_object_get(line, "cached"));
	const char *scope;
	struct tag *added;
	struct run *r;
	size_t i;

	r = store_add(body, cluster_sub(json_text(body, "cluster", ""), NULL),
	    cached);
	if (r == NULL) {
		json_decref(body);
		return;
	}
	json_array_foreach(tags, i, tag)
	{
		scope = json_text(tag, "scope", "");
		if (store_tag(r, json_text(tag, "type", ""),
			json_text(tag, "name", ""),
			*scope != '\0' ? scope : "global", &added) != NULL)
			return;
	}
}

static void
meta_restore(struct run *r, json_t *body)
{
	json_t *payload = json_object_get(body, "payload");

	if (payload == NULL)
		payload = body;
	run_meta(r, json_text(payload, "key", ""),
	    json_text(payload, "value", ""));
}

static void
tags_restore(struct run *r, json_t *body)
{
	struct tag *added;
	const char *scope;
	json_t *tag;
	size_t i;

	json_array_foreach(body, i, tag)
	{
		scope = json_text(tag, "scope", "");
		store_tag(r, json_text(tag, "type", ""),
		    json_text(tag, "name", ""),
		    *scope != '\0' ? scope : "global", &added);
	}
}

static void
line_restore(json_t *line)
{
	const char *effect = json_text(line, "effect", "");
	int64_t start = json_num(line, "startTime", 0);
	int64_t id = json_num(line, "jobId", 0);
	const char *cluster = json_text(line, "cluster", "");
	json_t *body = json_object_get(line, "body");
	struct run *r;

	if (strcmp(effect, "start") == 0) {
		start_restore(line);
		return;
	}
	r = store_find(true, id, cluster, &start);
	if (r != NULL && store_transfer(r) == -1)
		r = NULL;
	if (r == NULL)
		r = store_find(false, id, cluster, &start);
	if (r == NULL)
		return;
	if (strcmp(effect, "stop") == 0 || strcmp(effect, "race") == 0)
		run_finish(r, json_text(line, "jobState", ""),
		    json_num(line, "duration", 0));
	else if (strcmp(effect, "edit_meta") == 0)
		meta_restore(r, body);
	else if (strcmp(effect, "tag") == 0)
		tags_restore(r, body);
	r->lost = json_is_true(json_object_get(line, "lost"));
	if (strcmp(effect, "delete") == 0)
		store_delete(r);
}

void
restore_ledger(const char *path, double commit)
{
	FILE *f = fopen(path, "re");
	json_int_t commits = 0, seen;
	double last = 0;
	char *buf = NULL;
	size_t cap = 0;
	json_error_t err;
	json_t *line;
	ssize_t n;

	while (f != NULL && (n = getline(&buf, &cap, f)) > 0) {
		line = json_loadb(buf, (size_t)n, JSON_ALLOW_NUL, &err);
		seen = json_num(line, "commits", commits);
		if (seen != commits)
			store_commit();
		commits = seen;
		last = json_number_value(json_object_get(line, "time"));
		if (line != NULL)
			line_restore(line);
		json_decref(line);
	}
	/* What was cached then has been committed by now. */
	if (last + commit < (double)time(NULL))
		store_commit();
	free(buf);
	if (f != NULL)
		fclose(f);
}
