/* SPDX-License-Identifier: MIT */
/*
 * The jobs of one query and the result of each.  Records are kept to the end
 * of the answer as they came, but packed: a snapshot is twice as long as the
 * line, the packed line a fifth of it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/details/details_private.h"
#include "collector/details/record_pack.h"
#include "collector/slurm/slurm.h"

#define ALLOC_BYTES 16 /* of the allocator for each piece of memory */

static void
result_drop(struct detail_result *r)
{
	if (r->s != NULL) {
		snapshot_clear(r->s);
		free(r->s);
	}
	free(r->line);
	r->s = NULL;
	r->line = NULL;
}

void
details_result_drop(struct detail_result *r, enum detail verdict)
{
	result_drop(r);
	r->verdict = verdict;
}

struct detail_result *
details_result(const struct details *d, uint64_t job)
{
	uint32_t *at = idmap_get(&d->index, job);

	return at != NULL ? &d->results[*at - 1] : NULL;
}

struct detail_result *
details_result_new(struct details *d, uint64_t job, int wanted)
{
	struct detail_result *results, *r = details_result(d, job);
	size_t cap = d->cap != 0 ? d->cap * 2 : 16;
	uint32_t *at;

	if (r != NULL)
		return r;
	if (d->n == d->cap) {
		results = realloc(d->results, cap * sizeof(*results));
		if (results == NULL)
			return NULL;
		d->results = results;
		d->cap = cap;
	}
	at = idmap_put(&d->index, job, NULL);
	if (at == NULL)
		return NULL;
	r = &d->results[d->n++];
	memset(r, 0, sizeof(*r));
	r->job = job;
	r->wanted = wanted != 0;
	*at = (uint32_t)d->n;
	return r;
}

int
details_lacks_host(const struct details *d, const struct job_snapshot *s)
{
	uint32_t i;

	for (i = 0; d->c->hosts != NULL && i < s->job.n_hosts; i++)
		if (hosts_shape(d->c->hosts, s->job.hosts[i].name) == NULL)
			return 1;
	return 0;
}

void
details_keep(struct details *d, struct detail_result *r, struct job_snapshot *s)
{
	r->s = malloc(sizeof(*s));
	if (r->s == NULL) {
		snapshot_clear(s);
		r->verdict = DETAIL_LATER;
		return;
	}
	*r->s = *s;
	r->phase = s->state->phase;
	r->lacks = details_lacks_host(d, s) != 0;
	r->verdict = DETAIL_GOOD;
}

void
details_line_keep(struct details *d, struct detail_result *r, struct span line)
{
	size_t size;

	if (d->pack == NULL)
		d->pack = pack_new();
	free(r->line);
	r->line = d->pack != NULL ? pack_line(d->pack, line.p, line.n, &size) :
				    NULL;
	if (r->line == NULL) {
		r->verdict = DETAIL_LATER;
		return;
	}
	r->size = (uint32_t)size;
	r->len = (uint32_t)line.n;
	r->verdict = DETAIL_GOOD;
	d->record_bytes += size + ALLOC_BYTES;
}

struct span
details_line(const struct details *d, const struct detail_result *r)
{
	const char *p = r->line != NULL ?
	    pack_read(d->pack, r->line, r->size, r->len) :
	    NULL;

	return (struct span) { p, p != NULL ? r->len : 0 };
}
