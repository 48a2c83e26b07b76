/* SPDX-License-Identifier: MIT */
/*
 * Values in a span of Slurm's output: texts, "Key=value" tokens, numbers,
 * lists of ranges.  Every function reads s.n bytes at most, needs no NUL and
 * writes nothing into the span.
 */
#ifndef COLLECTOR_PARSE_SPAN_H
#define COLLECTOR_PARSE_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/text/text.h"

/*
 * Returns owned: the text after text_clean(), at most max bytes long.  NULL
 * for "" and "(null)", and when memory is short.
 */
char *span_text(struct span s, size_t max);
/* The part of s that begins at p.  p points into s or to its end. */
struct span span_from(struct span s, const char *p);

/* The first occurrence of what in s; NULL when there is none. */
const char *token_find(struct span s, const char *what);
/*
 * The value of the first token with this key, up to the next blank.  key
 * begins with a blank and ends with "=".  *s becomes the rest behind the
 * value.  When the key is missing, p is NULL and *s does not change.
 */
struct span token_value(struct span *s, const char *key);
/* The same, if s begins with key. */
struct span token_next(struct span *s, const char *key);
/* Does s begin with what? */
int span_begins(struct span s, const char *what);

/* Decimal digits only.  Returns 0, or -1, also when the number is too large. */
int number_u64(struct span s, uint64_t *v);
int number_u32(struct span s, uint32_t *v);
/*
 * "5", "100M", "62.50G" in MB, rounded down.  A number without a suffix is in
 * MB.  A trailing n (per node) or c (per CPU), written up to 20.11, goes to
 * *per; otherwise *per becomes 0.  per may be NULL.  Returns 0 or -1.
 */
int number_memory(struct span s, uint64_t *mb, char *per);
/*
 * "3:0" (exit code) or "0:9" (signal) as a status of wait(2); -1 when s is
 * neither.
 */
int32_t exit_status(struct span s);

/*
 * "0-3,8": calls each() for every range; each() returns -1 to stop.  Returns
 * 0, or -1 when s is no list of ascending ranges or each() stopped.
 */
int ranges_each(struct span s,
    int (*each)(uint32_t first, uint32_t last, void *arg), void *arg);

#endif
