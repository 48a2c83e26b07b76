/* SPDX-License-Identifier: MIT */
/*
 * A JSON scanner.  A value is the span of its bytes in the caller's text.  The
 * scanner builds no tree, allocates no memory and copies nothing.  The text may
 * hold bytes that are not UTF-8: the scanner interprets only ASCII bytes.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include "common/text.h"

#define JSON_DEPTH_MAX	64	/* levels of objects and arrays */

/* json.c */

enum json_kind {
	JSON_NONE,		/* absent or malformed */
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

enum json_kind json_kind(struct span value);

/* Goes through the members of an object or the items of an array. */
struct json_iter {
	const char	*p;
	const char	*end;
	char		 close;		/* '}' or ']'; 0 = done */
	int		 first;
	int		 err;		/* the text ended early or is malformed */
};

/* On another kind of value the iteration is empty and err is set. */
void json_iter_object(struct json_iter *it, struct span object);
void json_iter_array(struct json_iter *it, struct span array);
/* 1 with the raw key (between its quotes) and value; 0 at the end. */
int json_member(struct json_iter *it, struct span *key, struct span *value);
/* 1 with the item; 0 at the end. */
int json_item(struct json_iter *it, struct span *value);

/* A member by name; JSON_NONE and an empty span when there is none. */
enum json_kind json_get(struct span object, const char *key,
    struct span *value);
/* The end of the value that starts at p (blanks before it are skipped), or NULL. */
const char *json_skip(const char *p, const char *end);

#endif
