/* SPDX-License-Identifier: MIT */
/* jansson, behind names of its own, for its names meet common/json.h's. */
#ifndef TESTS_BENCH_TREE_H
#define TESTS_BENCH_TREE_H

#include <stddef.h>

/* Owned: the document indented as Slurm prints it; NULL when it is none. */
char *tree_indent(const char *p, size_t n, size_t *len);
/* Builds the tree of a whole document and frees it: items of jobs[], or 0. */
size_t tree_load(const char *p, size_t n);

#endif
