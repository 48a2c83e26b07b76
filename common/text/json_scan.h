/* SPDX-License-Identifier: MIT */
/*
 * The JSON scanner: reads a text as it arrives, in a fixed amount of memory,
 * and calls a function for each bracket, name and value.  It needs libc only.
 *
 * The text is one object or array with blanks around it.  Brackets, commas,
 * colons and the escapes in strings are checked.  Numbers, true, false and null
 * are not checked, only delimited.  Bytes that are no UTF-8 are passed on
 * unchanged.  A name may occur twice; the caller decides which one is used.
 */
#ifndef COMMON_JSON_SCAN_H
#define COMMON_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

#define JSON_SCAN_DEPTH_MAX 64 /* nested objects and arrays */

enum json_event {
	JSON_EV_OBJECT, /* '{' */
	JSON_EV_OBJECT_END,
	JSON_EV_ARRAY, /* '[' */
	JSON_EV_ARRAY_END,
	JSON_EV_NAME, /* of a member */
	JSON_EV_STRING,
	JSON_EV_SCALAR /* a number, true, false or null */
};

struct json_scan;

/*
 * Returns NULL to go on, or a constant text with the reason to stop, which
 * json_scan_feed() returns.
 */
typedef const char *json_scan_fn(struct json_scan *s, enum json_event event,
    void *arg);

struct json_scan {
	/* For the function. */
	char *text;	/* of a name, string or scalar, with a NUL */
	size_t len;	/* bytes in text without the NUL */
	int cut;	/* the text was longer; its begin is in text */
	unsigned depth; /* open brackets around this one or the text */
	size_t offset;	/* bytes before the bracket or text */
	/* Private. */
	json_scan_fn *fn;
	void *arg;
	const char *error;
	size_t size;	 /* of text */
	size_t base;	 /* bytes in earlier pieces */
	uint64_t arrays; /* bit per depth: 1 = array */
	unsigned max_depth;
	int state;
	int is_name;	    /* the string is a member's name */
	unsigned unicode;   /* value of the \u escape under way */
	unsigned digits;    /* of it */
	unsigned surrogate; /* first half of a pair, or 0 */
	char first;	    /* '{' or '[' */
};

/*
 * first: '{' or '[', what the text must begin with.  text: memory for one
 * name, string or scalar, size > 0 bytes with the NUL; borrowed.
 */
void json_scan_init(struct json_scan *s, char first, char *text, size_t size,
    json_scan_fn *fn, void *arg);
/* At most JSON_SCAN_DEPTH_MAX, which is the default. */
void json_scan_set_depth(struct json_scan *s, unsigned max_depth);
/*
 * Reads the next piece.  Returns NULL, or a constant text with the error; all
 * later calls return the same text.
 */
const char *json_scan_feed(struct json_scan *s, const char *p, size_t n);
/* Returns NULL when the text is complete, or a constant text with the error. */
const char *json_scan_end(const struct json_scan *s);
/* Is the innermost of the open brackets an array's?  0 when none is open. */
int json_scan_in_array(const struct json_scan *s);

#endif
