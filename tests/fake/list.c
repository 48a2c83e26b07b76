/* SPDX-License-Identifier: MIT */
/*
 * What is read back: the listing of committed runs with its filters, one
 * run by its database id, and the clusters.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define FILTER_MAX    32
#define ITEMS_DEFAULT 25

struct filter {
	const char *states[FILTER_MAX];
	const char *cluster, *project;
	size_t nstates;
	int64_t from, to;
	int64_t page, items;
	bool ranged, withmeta;
	bool paged, counted; /* the first of each counts */
};

/* strconv.ParseInt and Atoi, with their complaints. */
static int
num_parse(struct reply *rp, const char *func, const char *s, size_t n,
    int64_t *out)
{
	char buf[64], *end;
	bool good = n > 0 && n < sizeof(buf);

	snprintf(buf, sizeof(buf), "%.*s", (int)n, s);
	errno = 0;
	*out = strtoll(buf, &end, 10);
	if (!good || *end != '\0' || isspace((unsigned char)buf[0])) {
		reply_error(rp, 400,
		    "strconv.%s: parsing \"%.*s\": invalid "
		    "syntax",
		    func, (int)n, s);
		return -1;
	}
	if (errno != ERANGE)
		return 0;
	reply_error(rp, 400, "strconv.%s: parsing \"%s\": value out of range",
	    func, buf);
	return -1;
}

static int
hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f'    ? c - 'a' + 10 :
	    c >= 'A' && c <= 'F'    ? c - 'A' + 10 :
				      -1;
}

/* Undoes %XX and + in place; -1: Go drops such a pair. */
static int
query_unescape(char *s)
{
	char *to = s;
	int hi, lo;

	if (strchr(s, ';') != NULL)
		return -1;
	for (; *s != '\0'; s++) {
		if (*s == '+')
			*to++ = ' ';
		else if (*s != '%')
			*to++ = *s;
		else if ((hi = hex_digit(s[1])) >= 0 &&
		    (lo = hex_digit(s[2])) >= 0) {
			*to++ = (char)(hi << 4 | lo);
			s += 2;
		} else
			return -1;
	}
	*to = '\0';
	return 0;
}

static int
state_filter(struct filter *f, const char *v, struct reply *rp)
{
	static const char *const states[] = { "running", "completed", "failed",
		"cancelled", "timeout", "out_of_memory", "preempted", "stopped",
		"node_fail", "boot_fail", "deadline", "pending", "suspended" };
	bool new = api_options()->version == V154;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(v, states[i]) == 0 &&
		    (i == 7 ? !new : i < 7 || new) && f->nstates < FILTER_MAX) {
			f->states[f->nstates++] = states[i];
			return 0;
		}
	reply_error(rp, 400, "invalid query parameter value: state");
	return -1;
}

static int
range_filter(struct filter *f, const char *v, struct reply *rp)
{
	const char *dash = strchr(v, '-');

	if (dash == NULL || strchr(dash + 1, '-') != NULL) {
		reply_error(rp, 400,
		    "invalid query parameter value: startTime");
		return -1;
	}
	f->ranged = true;
	if (num_parse(rp, "ParseInt", v, (size_t)(dash - v), &f->from) == -1)
		return -1;
	return num_parse(rp, "ParseInt", dash + 1, strlen(dash + 1), &f->to);
}

static int
count_filter(int64_t *out, bool *seen, const char *key, const char *v,
    struct reply *rp)
{
	if (*seen)
		return 0;
	*seen = true;
	if (num_parse(rp, "Atoi", v, strlen(v), out) == -1)
		return -1;
	if (*out >= 1)
		return 0;
	reply_error(rp, 400, "%s must be >= 1", key);
	return -1;
}

static int
key_filter(struct filter *f, const char *key, const char *v, struct reply *rp)
{
	if (strcmp(key, "state") == 0)
		return state_filter(f, v, rp);
	if (strcmp(key, "start-time") == 0)
		return range_filter(f, v, rp);
	if (strcmp(key, "page") == 0)
		return count_filter(&f->page, &f->paged, key, v, rp);
	if (strcmp(key, "items-per-page") == 0)
		return count_filter(&f->items, &f->counted, key, v, rp);
	if (strcmp(key, "cluster") == 0) {
		if (f->cluster == NULL)
			f->cluster = v;
	} else if (strcmp(key, "project") == 0 &&
	    api_options()->version == V154) {
		if (f->project == NULL)
			f->project = v;
	} else if (strcmp(key, "with-metadata") == 0) {
		f->withmeta = true;
	} else {
		reply_error(rp, 400, "invalid query parameter: %s", key);
		return -1;
	}
	return 0;
}

/* Cuts query into pieces, which the filter points into. */
static int
query_parse(struct filter *f, char *query, struct reply *rp)
{
	char *save = NULL, *pair, *v;

	f->page = 1;
	f->items = ITEMS_DEFAULT;
	for (pair = strtok_r(query, "&", &save); pair != NULL;
	     pair = strtok_r(NULL, "&", &save)) {
		v = strchr(pair, '=');
		if (v != NULL)
			*v++ = '\0';
		else
			v = pair + strlen(pair);
		if (query_unescape(pair) == -1 || query_unescape(v) == -1)
			continue;
		if (key_filter(f, pair, v, rp) == -1)
			return -1;
	}
	return 0;
}

static bool
run_passes(const struct filter *f, const struct run *r)
{
	size_t i;

	if ((f->cluster != NULL && strcmp(f->cluster, r->cluster) != 0) ||
	    (f->project != NULL &&
		strcmp(f->project, json_text(r->body, "project", "")) != 0) ||
	    (f->ranged && (r->start < f->from || r->start > f->to)))
		return false;
	for (i = 0; i < f->nstates; i++)
		if (strcmp(f->states[i], r->state) == 0)
			return true;
	return f->nstates == 0;
}

/* Writes one page; -1: a row on it lacks its archive, rp says so. */
static int
page_write(const struct filter *f, struct text *t, struct reply *rp)
{
	struct text path = { 0 };
	struct run **rows;
	int64_t at = 0;
	size_t i, n;

	rows = store_sorted(&n);
	for (i = 0; i < n && at / f->items < f->page; i++) {
		if (!run_passes(f, rows[i]) || at++ / f->items < f->page - 1)
			continue;
		if (rows[i]->lost) {
			run_archive_path(&path, rows[i]);
			reply_error(rp, 500,
			    "open %s: no such file or directory", path.p);
			text_clear(&path);
			return -1;
		}
		if (t->p[t->len - 1] != '[')
			text_str(t, ",");
		run_render(t, rows[i], RENDER_LIST, f->withmeta);
	}
	return 0;
}

void
list_jobs(struct request *rq, struct reply *rp, const char *part)
{
	char *query = xstrdup(rq->query);
	struct filter f = { 0 };
	struct text t = { 0 };

	text_str(&t, "{\"jobs\":[");
	if (query_parse(&f, query, rp) == 0 && page_write(&f, &t, rp) == 0) {
		text_fmt(&t, "],\"items\":%lld,\"page\":%lld}\n",
		    (long long)f.items, (long long)f.page);
		rp->status = 200;
		rp->ctype = "application/json";
		rp->body = t;
		memset(&t, 0, sizeof(t));
	}
	text_clear(&t);
	free(query);
}

void
list_one(struct request *rq, struct reply *rp, const char *part)
{
	struct run *r;
	char *end;
	int64_t id;

	errno = 0;
	id = strtoll(part, &end, 10);
	if (*end != '\0' || end == part || errno == ERANGE) {
		reply_error(rp, 400,
		    "integer expected in path for id: "
		    "strconv.ParseInt: parsing \"%s\": %s",
		    part,
		    *end != '\0' || end == part ? "invalid syntax" :
						  "value out of range");
		return;
	}
	r = store_byid(id);
	if (r == NULL) {
		reply_error(rp, 422,
		    "finding job with db id %s failed: "
		    "sql: no rows in result set",
		    part);
		return;
	}
	rp->status = 200;
	rp->ctype = "application/json";
	text_str(&rp->body, "{\"Meta\":");
	run_render(&rp->body, r, RENDER_TAGGED, true);
	text_str(&rp->body, ",\"Data\":null}\n");
}

void
list_clusters(struct request *rq, struct reply *rp, const char *part)
{
	char *query = xstrdup(rq->query), *save = NULL, *pair;
	const char *only = NULL;

	for (pair = strtok_r(query, "&", &save); pair != NULL;
	     pair = strtok_r(NULL, "&", &save))
		if (strncmp(pair, "cluster=", 8) == 0 &&
		    query_unescape(pair + 8) == 0) {
			only = pair + 8;
			break;
		}
	if (only != NULL && !cluster_exists(only))
		reply_error(rp, 400, "unknown cluster: %s", only);
	else {
		rp->status = 200;
		rp->ctype = "application/json";
		clusters_write(&rp->body, only);
	}
	free(query);
}
