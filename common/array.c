/* SPDX-License-Identifier: MIT */
/* Arrays and buffers that grow; see array.h. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/array.h"

#define FIRST_BYTES 4096 /* of a new array */
#define FIRST_ITEMS 16	 /* of a new array, if they are large */

void *
array_reserve(void *array, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap;

	if (n >= need && array != NULL)
		return array;
	if (n == 0)
		n = size <= FIRST_BYTES / FIRST_ITEMS ? FIRST_BYTES / size :
							FIRST_ITEMS;
	while (n < need && n <= SIZE_MAX / 2)
		n *= 2;
	if (n < need || n > SIZE_MAX / size ||
	    (array = realloc(array, n * size)) == NULL)
		return NULL;
	*cap = n;
	return array;
}
