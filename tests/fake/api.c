/* SPDX-License-Identifier: MIT */
/*
 * Which path and method leads where.  1.5 answers a wrong method with 405
 * and knows no redirects; the older versions redirect to and from the
 * trailing slash.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define OLD (1u << V131 | 1u << V141 | 1u << V144)
#define NEW (1u << V154)
#define ALL (OLD | NEW)

struct route {
	const char *path; /* a last {} stands for one part */
	const char *methods;
	const char *endpoint; /* name for faults and statistics */
	void (*handle)(struct request *, struct reply *, const char *part);
	unsigned int versions;
	bool submits; /* not there in NATS mode */
};

static const struct route routes[] = {
	{ "/api/jobs/start_job/", "POST PUT", "start_job", start_job, ALL,
	    true },
	{ "/api/jobs/stop_job/", "POST PUT", "stop_job", stop_job, ALL, true },
	{ "/api/jobs/", "GET", "jobs", list_jobs, ALL, false },
	{ "/api/jobs/{}", "POST GET", "job", list_one, ALL, false },
	{ "/api/jobs/tag_job/{}", "POST PATCH", "tag_job", tag_by_id, ALL,
	    false },
	{ "/api/jobs/edit_meta/", "PATCH", "edit_meta", edit_by_run, NEW,
	    false },
	{ "/api/jobs/edit_meta/{}", "PATCH", "edit_meta", edit_by_id, NEW,
	    false },
	{ "/api/jobs/edit_meta/{}", "POST PATCH", "edit_meta", edit_by_id, OLD,
	    false },
	{ "/api/jobs/delete_job/", "DELETE", "delete_job", delete_by_run, ALL,
	    false },
	{ "/api/jobs/delete_job/{}", "DELETE", "delete_job", delete_by_id, ALL,
	    false },
	{ "/api/jobs/delete_job_before/{}", "DELETE", "delete_job",
	    delete_before, ALL, false },
	{ "/api/clusters/", "GET", "clusters", list_clusters, ALL, false },
	{ "/api/nodestate/", "POST PUT", "nodestate", nodestate, NEW, false },
};
#define NROUTES (sizeof(routes) / sizeof(routes[0]))

static const struct options *opts;

void
api_init(const struct options *o)
{
	opts = o;
	schema_init(o->version);
	store_init();
}

const struct options *
api_options(void)
{
	return opts;
}

/* Returns what stands for {}, "" without one, NULL when it does not fit. */
static const char *
route_part(const struct route *r, const char *path)
{
	size_t n = strcspn(r->path, "{");

	if (!(r->versions & 1u << opts->version) ||
	    (r->submits && opts->natsmode) || strncmp(path, r->path, n) != 0)
		return NULL;
	if (r->path[n] == '\0')
		return path[n] == '\0' ? path + n : NULL;
	return path[n] != '\0' && strchr(path + n, '/') == NULL ? path + n :
								  NULL;
}

static bool
method_in(const char *methods, const char *method)
{
	size_t n = strlen(method);
	const char *p;

	for (p = methods; (p = strstr(p, method)) != NULL; p += n)
		if ((p == methods || p[-1] == ' ') &&
		    (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

static const struct route *
route_find(const char *path, const char *method, const char **part,
    const struct route **other)
{
	const char *p;
	size_t i;

	for (i = 0; i < NROUTES; i++) {
		if ((p = route_part(&routes[i], path)) == NULL)
			continue;
		if (method_in(routes[i].methods, method)) {
			*part = p;
			return &routes[i];
		}
		if (other != NULL)
			*other = &routes[i];
	}
	return NULL;
}

const char *
api_endpoint(const struct request *rq)
{
	const struct route *other = NULL, *r;
	const char *part;

	r = route_find(rq->path, rq->method, &part, &other);
	return r != NULL  ? r->endpoint :
	    other != NULL ? other->endpoint :
			    "unknown";
}

/* The older versions' router puts a slash right; -1: redirected. */
static int
redirect_check(struct request *rq, struct reply *rp)
{
	size_t n = strlen(rq->path);
	struct text to = { 0 };
	const char *part;

	if (opts->version == V154 || n < 2)
		return 0;
	text_add(&to, rq->path, rq->path[n - 1] == '/' ? n - 1 : n);
	if (rq->path[n - 1] != '/')
		text_str(&to, "/");
	if (route_find(to.p, rq->method, &part, NULL) == NULL) {
		text_clear(&to);
		return 0;
	}
	rp->status = 301;
	if (strcmp(rq->method, "GET") == 0) {
		rp->ctype = "text/html; charset=utf-8";
		text_fmt(&rp->body, "<a href=\"%s\">Moved Permanently</a>.\n\n",
		    to.p);
	}
	rp->location = to.p;
	return -1;
}

/* The check against requests that a foreign site's script makes. */
static int
site_check(struct request *rq, struct reply *rp)
{
	if (opts->version != V154 || rq->site == NULL ||
	    strcmp(rq->site, "same-origin") == 0 ||
	    strcmp(rq->site, "none") == 0 || *rq->site == '\0' ||
	    method_in("GET HEAD OPTIONS", rq->method))
		return 0;
	rp->status = 403;
	rp->ctype = "text/plain; charset=utf-8";
	text_str(&rp->body, "cross-site request blocked\n");
	return -1;
}

static int
page_check(struct request *rq, struct reply *rp)
{
	if (strcmp(rq->path, "/") != 0 && strcmp(rq->path, "/login") != 0)
		return 0;
	rp->status = 200;
	rp->ctype = "text/html; charset=utf-8";
	text_str(&rp->body,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><title>"
	    "Login - ClusterCockpit</title></head><body></body></html>\n");
	return -1;
}

static int
route_check(struct request *rq, struct reply *rp, const struct route **route,
    const char **part)
{
	const struct route *other = NULL;

	if (page_check(rq, rp) == -1 || site_check(rq, rp) == -1)
		return -1;
	*route = route_find(rq->path, rq->method, part, &other);
	/* The older router redirects before it takes a name for an id. */
	if ((*route == NULL || (*route)->handle == list_one) &&
	    redirect_check(rq, rp) == -1)
		return -1;
	if (*route == NULL) {
		if (other == NULL) {
			reply_no_endpoint(rp);
			return -1;
		}
		rp->status = 405;
		if (opts->version == V154)
			rp->allow = other->methods;
		return -1;
	}
	return auth_check(rq, rp);
}

int
api_check(struct request *rq, struct reply *rp)
{
	const struct route *route;
	const char *part;

	if (strncmp(rq->path, "/fake/", 6) == 0)
		return 0;
	return route_check(rq, rp, &route, &part);
}

void
api_handle(struct request *rq, struct reply *rp)
{
	const struct route *route = NULL;
	const char *part = "";

	if (strncmp(rq->path, "/fake/", 6) == 0)
		admin_handle(rq, rp);
	else if (route_check(rq, rp, &route, &part) == 0)
		route->handle(rq, rp, part);
}

json_t *
body_decode(struct request *rq, struct reply *rp, const struct go_type *type)
{
	const char *what = type == schema_tags() ? "decoding request" :
						   "parsing request body";
	struct text err = { 0 };
	json_t *v;

	v = go_decode(rq->body.p != NULL ? rq->body.p : "", rq->body.len, type,
	    &err);
	if (v == NULL)
		reply_error(rp, 400, "%s failed: %s", what, err.p);
	else if (json_is_null(v)) {
		json_decref(v);
		v = type->kind == GO_LIST ? json_array() : json_object();
	}
	text_clear(&err);
	return v;
}

int64_t
json_num(json_t *obj, const char *key, int64_t absent)
{
	json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : absent;
}

const char *
json_text(json_t *obj, const char *key, const char *absent)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s != NULL ? s : absent;
}
