/* SPDX-License-Identifier: MIT */
/*
 * A document as jansson reads it, to hold our readers against.  Behind names
 * of its own, so that no target sees jansson's.
 */
#ifndef TESTS_FUZZ_TWIN_H
#define TESTS_FUZZ_TWIN_H

#include <stddef.h>
#include <stdint.h>

struct twin;

enum twin_kind {
	TWIN_NULL,
	TWIN_BOOL,
	TWIN_INTEGER,
	TWIN_REAL,
	TWIN_STRING,
	TWIN_ARRAY,
	TWIN_OBJECT
};

/* NULL when jansson refuses it, a name that comes twice included. */
struct twin *twin_load(const void *p, size_t n);
void twin_free(struct twin *t);
enum twin_kind twin_kind(const struct twin *t);
/* Borrowed; NULL when there is none. */
const struct twin *twin_member(const struct twin *object, const char *key);
const struct twin *twin_item(const struct twin *array, size_t i);
/* Of an object or array. */
size_t twin_size(const struct twin *t);
/* How deep it nests; a scalar is 0. */
unsigned twin_depth(const struct twin *t);
const char *twin_text(const struct twin *t, size_t *n);
int64_t twin_integer(const struct twin *t);

#endif
