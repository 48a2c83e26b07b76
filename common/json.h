/* SPDX-License-Identifier: MIT */
/*
 * JSON as Slurm prints it, read where it lies: one job of ten kilobytes at a
 * time, of which a tenth is wanted.  Nothing is built, nothing is copied but
 * the strings asked for; bytes that are no UTF-8 (Slurm prints them) disturb
 * nobody, for structure is ASCII.  A value is the span of its bytes.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "common/text.h"

#define JSON_DEPTH_MAX	64	/* Slurm nests seven deep */

/* json_scan.c */

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
/* The next quote or bracket, or end. */
const char *json_mark(const char *p, const char *end);

/* json_value.c */

/*
 * Returns owned: the string unescaped and fit to be passed on (text.h); NULL
 * when it is empty, no string, or on memory.
 */
char *json_text(struct span value, size_t max);
/* Is it exactly this string?  Only for words without escapes. */
int json_is(struct span value, const char *word);
/* The string's bytes as they stand; *raw is empty when it is no string. */
void json_raw(struct span value, struct span *raw);
/* 1 for true, 0 for false, -1 for anything else. */
int json_truth(struct span value);

/* What became of a number that may be {"set":…,"infinite":…,"number":…}. */
enum json_number {
	JSON_NUMBER_BAD,	/* no number in any of the shapes */
	JSON_NUMBER_UNSET,	/* null, or set is false */
	JSON_NUMBER_INFINITE,
	JSON_NUMBER_SET
};

/* A plain integer, a float (its integer part), null, or Slurm's object. */
enum json_number json_number(struct span value, int64_t *v);

/* json_split.c */

struct json_split;

struct json_split_ops {
	/* One element of the array, whole; -1 stops the reading. */
	int	(*on_element)(struct span element, void *arg);
	/* Another member of the document (meta, errors, warnings); may be NULL. */
	void	(*on_member)(struct span key, struct span value, void *arg);
	/* An element above the bound was left out; may be NULL. */
	void	(*on_too_long)(size_t n, void *arg);
};

/*
 * Reads a document {"jobs":[…],…} as its bytes arrive and hands out each
 * element of the named array.  An element may have up to max bytes; other
 * members up to 64 KiB, longer ones are left out.  NULL on memory.
 */
struct json_split *json_split_new(const char *array, size_t max,
    const struct json_split_ops *ops, void *arg);
void json_split_free(struct json_split *s);
/* 0, or -1: no such document, memory, or an element's reader has stopped. */
int json_split_feed(struct json_split *s, const char *p, size_t n);
/* 0 when the document was whole and had the array, else -1. */
int json_split_end(const struct json_split *s);

#endif
