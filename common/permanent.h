/* SPDX-License-Identifier: MIT */
/* Memory of objects that live as long as the process. */
#ifndef COMMON_PERMANENT_H
#define COMMON_PERMANENT_H

#include <stddef.h>

/* Returns zeroed memory that is never freed.  fatalx() when out of memory. */
void *permanent_new(size_t size);

#endif
