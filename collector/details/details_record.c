/* SPDX-License-Identifier: MIT */
/*
 * Records kept to the end of their answer, as they came, but packed: what can be
 * made of one is twice as long, and packed it is a fifth of scontrol's line.
 */
#include "config.h"

#include "collector/details/details.h"
#include "collector/details/record_pack.h"

#define ALLOC_BYTES	16	/* that each piece of memory costs beside */

void
details_line_keep(struct details *d, struct detail_result *r, struct span line)
{
	size_t size;

	if (d->pack == NULL)
		d->pack = pack_new();
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
	const char *p = r->line != NULL ? pack_read(d->pack, r->line, r->size,
	    r->len) : NULL;

	return (struct span){ p, p != NULL ? r->len : 0 };
}
