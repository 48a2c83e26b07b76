/* SPDX-License-Identifier: MIT */
/* Memory of objects that live as long as the process; see permanent.h. */
#include "config.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/permanent.h"

void *
permanent_new(size_t size)
{
	void *p = calloc(1, size);

	if (p == NULL)
		fatalx("out of memory");
	return p;
}
