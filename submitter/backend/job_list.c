/* SPDX-License-Identifier: MIT */
/*
 * Lists the jobs of cc-backend page by page; see job_list.h. The newest starts
 * come first. While jobs start, rows move to later pages and may come twice.
 * While jobs stop, rows move to earlier pages and may be missed, so a caller
 * that needs proof of absence lists twice.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/backend/breaker.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/context.h"
#include "submitter/net/http.h"
#include "submitter/spool/spool.h"

/*
 * A token that is refused does not reach this number: the first probe after a
 * refusal stops the lists.
 */
#define REFUSED_MAX 5
/*
 * In an outage the probe fails, too, and no list is requested.  Three lists
 * without an answer are followed by a probe, so this is 30 probes and more.
 */
#define UNANSWERED_MAX 100

static int page_send(struct job_list *p);

static void
on_row(const struct backend_job *row, void *arg)
{
	struct job_list *p = arg;
	const char *cc = payload_cluster(p->s->payload, p->cluster);
	struct backend_job mine = *row;

	if (strcmp(row->key.cluster, cc) != 0)
		return; /* a row of another cluster */
	snprintf(mine.key.cluster, sizeof(mine.key.cluster), "%s", p->cluster);
	p->fn(&mine, p->arg);
}

static int
on_data(const char *text, size_t n, void *arg)
{
	struct job_list *p = arg;

	if (job_list_parser_feed(&p->parser, text, n) == -1)
		return -1;
	/* Each row can become a run of the spool. */
	return p->parser.rows > JOB_LIST_ROWS ? -1 : 0;
}

static void
on_done(const struct http_answer *a, void *arg)
{
	struct job_list *p = arg;
	struct http_answer known = *a;
	struct result v;

	if (a->error == NULL && a->code == 200 &&
	    job_list_parser_end(&p->parser) == -1)
		known.error = "the list of jobs is incomplete";
	known.backend = breaker_version(p->s->breaker);
	response_classify(&known, &v);
	if (p->parser.bad > 0)
		log_debug("%u rows of the list of jobs have no valid job, "
			  "start or cluster",
		    p->parser.bad);
	p->rows += p->parser.rows;
	if (v.code == RESULT_DONE && p->parser.rows >= JOB_LIST_ROWS &&
	    p->page < JOB_LIST_PAGES) {
		p->page++;
		if (page_send(p) == 0)
			return;
		v.code = RESULT_RETRY;
	}
	p->busy = 0;
	/* One damaged row makes a list of stopped jobs fail with 500. */
	if (p->running || v.code != RESULT_RETRY)
		breaker_listed(p->s->breaker, &v);
	p->done(&v, p->arg);
}

int
job_list_gives_up(struct job_list_failures *f, const struct result *v)
{
	if (v->code == RESULT_UNREACHABLE)
		return ++f->unanswered >= UNANSWERED_MAX;
	return ++f->refused >= REFUSED_MAX;
}

static int
page_send(struct job_list *p)
{
	char path[640];
	struct http_request req = { .what = REQUEST_LIST,
		.method = "GET",
		.path = path,
		.data = on_data,
		.done = on_done,
		.arg = p };

	snprintf(path, sizeof(path), "%s&items-per-page=%d&page=%u", p->query,
	    JOB_LIST_ROWS, p->page);
	job_list_parser_init(&p->parser, on_row, p);
	return http_send(p->s->http, &req);
}

/* Escapes the name of a cluster for the query. */
static void
name_escape(const char *name, char *buf, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = 0;

	for (; *name != '\0' && n + 4 < size; name++)
		n += (size_t)snprintf(buf + n, size - n,
		    strchr(plain, *name) != NULL ? "%c" : "%%%02X",
		    (unsigned char)*name);
	buf[n] = '\0';
}

int
job_list_start(struct job_list *p, struct submitter *s, const char *cluster,
    int running, int64_t from, int64_t to, job_list_fn *fn,
    job_list_done_fn *done, void *arg)
{
	char name[3 * CLUSTER_MAX + 8], span[64] = "";

	if (p->busy || !breaker_reaches(s->breaker))
		return -1;
	p->s = s;
	p->running = running;
	p->page = 1;
	p->rows = 0;
	p->fn = fn;
	p->done = done;
	p->arg = arg;
	p->asked = spool_now(s->spool);
	snprintf(p->cluster, sizeof(p->cluster), "%s", cluster);
	name_escape(payload_cluster(s->payload, cluster), name, sizeof(name));
	if (to != 0)
		snprintf(span, sizeof(span), "&start-time=%lld-%lld",
		    (long long)from, (long long)to);
	snprintf(p->query, sizeof(p->query), "jobs/?%scluster=%s%s",
	    running ? "state=running&" : "", name, span);
	if (page_send(p) == -1)
		return -1;
	p->busy = 1;
	return 0;
}
