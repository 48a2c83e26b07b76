/* SPDX-License-Identifier: MIT */
/*
 * Pages of a listing; see paging.h.  Newest starts come first, so rows shift
 * to later pages while jobs start: they may come twice, and what a stop makes
 * slip to an earlier page is missed: whoever needs absence looks twice.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "submitter/backend/job_list.h"
#include "submitter/base/submitter.h"

static int page_send(struct paging *p);

static void
on_row(const struct listed *row, void *arg)
{
	struct paging *p = arg;
	const char *cc = payload_cluster(p->s->payload, p->cluster);
	struct listed mine = *row;

	if (strcmp(row->key.cluster, cc) != 0)
		return;		/* not what was asked for */
	snprintf(mine.key.cluster, sizeof(mine.key.cluster), "%s", p->cluster);
	p->fn(&mine, p->arg);
}

static int
on_data(const char *text, size_t n, void *arg)
{
	struct paging *p = arg;

	return listing_feed(&p->listing, text, n);
}

static void
on_done(const struct answer *a, void *arg)
{
	struct paging *p = arg;
	struct answer known = *a;
	struct verdict v;

	if (a->error == NULL && a->code == 200 && listing_end(&p->listing) == -1)
		known.error = "the listing of jobs is not whole";
	known.backend = p->s->backend;
	outcome_judge(&known, &v);
	if (p->listing.bad > 0)
		log_debug("%u rows of cc-backend's listing lack job, start or "
		    "cluster", p->listing.bad);
	p->rows += p->listing.rows;
	if (v.outcome == OUT_DONE && p->listing.rows >= PAGING_ROWS &&
	    p->page < PAGING_MAX) {
		p->page++;
		if (page_send(p) == 0)
			return;
		v.outcome = OUT_RETRY;
	}
	p->busy = 0;
	p->done(&v, p->arg);
}

static int
page_send(struct paging *p)
{
	char path[640];
	struct rest_request req = { .what = WHAT_LIST, .method = "GET",
		.path = path, .data = on_data, .done = on_done, .arg = p };

	snprintf(path, sizeof(path), "%s&items-per-page=%d&page=%u", p->query,
	    PAGING_ROWS, p->page);
	listing_init(&p->listing, on_row, p);
	return rest_send(p->s->rest, &req);
}

/* A cluster's name as a query may hold it. */
static void
name_escape(const char *name, char *buf, size_t size)
{
	size_t n = 0;

	for (; *name != '\0' && n + 4 < size; name++)
		n += (size_t)snprintf(buf + n, size - n,
		    strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789-_.", *name) != NULL ? "%c" : "%%%02X",
		    (unsigned char)*name);
	buf[n] = '\0';
}

int
paging_start(struct paging *p, struct submitter *s, const char *cluster,
    int running, int64_t from, int64_t to, paging_fn *fn,
    paging_done_fn *done, void *arg)
{
	char name[3 * CLUSTER_MAX + 8], span[64] = "";

	if (p->busy || !relay_reaches(s->relay))
		return -1;
	p->s = s;
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
