/* SPDX-License-Identifier: MIT */
/* Arrays and buffers that grow. */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

#include <stddef.h>

/*
 * Makes room for need items of size bytes in an array of *cap items; *cap
 * doubles.  Returns the array; NULL with the array unchanged when out of
 * memory.
 */
void *array_reserve(void *array, size_t *cap, size_t need, size_t size);

#endif
