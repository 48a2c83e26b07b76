/* SPDX-License-Identifier: MIT */
/* jansson behind other names; see twin.h. */
#include "config.h"

#include <jansson.h>

#include "tests/fuzz/twin.h"

static const json_t *
tree(const struct twin *t)
{
	return (const json_t *)t;
}

struct twin *
twin_load(const void *p, size_t n)
{
	json_error_t err;

	return (struct twin *)json_loadb(p, n, JSON_REJECT_DUPLICATES, &err);
}

void
twin_free(struct twin *t)
{
	json_decref((json_t *)t);
}

enum twin_kind
twin_kind(const struct twin *t)
{
	switch (json_typeof(tree(t))) {
	case JSON_OBJECT:
		return TWIN_OBJECT;
	case JSON_ARRAY:
		return TWIN_ARRAY;
	case JSON_STRING:
		return TWIN_STRING;
	case JSON_INTEGER:
		return TWIN_INTEGER;
	case JSON_REAL:
		return TWIN_REAL;
	case JSON_NULL:
		return TWIN_NULL;
	default:
		return TWIN_BOOL;
	}
}

const struct twin *
twin_member(const struct twin *object, const char *key)
{
	return (const struct twin *)json_object_get(tree(object), key);
}

const struct twin *
twin_item(const struct twin *array, size_t i)
{
	return (const struct twin *)json_array_get(tree(array), i);
}

size_t
twin_size(const struct twin *t)
{
	return json_is_object(tree(t)) ? json_object_size(tree(t)) :
					 json_array_size(tree(t));
}

static unsigned
depth_of(const json_t *v)
{
	unsigned most = 0, d;
	const json_t *item;
	size_t i;
	void *it;

	if (!json_is_object(v) && !json_is_array(v))
		return 0;
	for (i = 0; i < json_array_size(v); i++) {
		d = depth_of(json_array_get(v, i));
		most = d > most ? d : most;
	}
	/* json_object_foreach() wants what may be changed. */
	for (it = json_object_iter((json_t *)(uintptr_t)v); it != NULL;
	     it = json_object_iter_next((json_t *)(uintptr_t)v, it)) {
		item = json_object_iter_value(it);
		d = depth_of(item);
		most = d > most ? d : most;
	}
	return most + 1;
}

unsigned
twin_depth(const struct twin *t)
{
	return depth_of(tree(t));
}

const char *
twin_text(const struct twin *t, size_t *n)
{
	*n = json_string_length(tree(t));
	return json_string_value(tree(t));
}

int64_t
twin_integer(const struct twin *t)
{
	return json_integer_value(tree(t));
}
