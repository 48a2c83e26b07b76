/* SPDX-License-Identifier: MIT */
/* The baseline of the JSON readers: a whole document as a tree; see tree.h. */
#include "config.h"

#include <string.h>

#include <jansson.h>

#include "tests/bench/tree.h"

char *
tree_indent(const char *p, size_t n, size_t *len)
{
	json_error_t err;
	json_t *root = json_loadb(p, n, 0, &err);
	char *text = NULL;

	if (root != NULL)
		text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	*len = text != NULL ? strlen(text) : 0;
	return text;
}

size_t
tree_load(const char *p, size_t n)
{
	json_error_t err;
	json_t *root = json_loadb(p, n, 0, &err);
	size_t jobs = json_array_size(json_object_get(root, "jobs"));

	json_decref(root);
	return jobs;
}
