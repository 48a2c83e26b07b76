/* SPDX-License-Identifier: MIT */
/* Memory of objects that live as long as the process; see permanent.h. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/permanent.h"

/* Keeps each object reachable, so that a leak checker does not report it. */
struct permanent {
	struct permanent *next;
	max_align_t object[];
};

static struct permanent *all;

void *
permanent_new(size_t size)
{
	struct permanent *p = calloc(1, sizeof(*p) + size);

	if (p == NULL)
		fatalx("out of memory");
	p->next = all;
	all = p;
	return p->object;
}
