/* SPDX-License-Identifier: MIT */
/* Writes JSON into a buffer, without a tree. */
#ifndef COMMON_JSON_WRITE_H
#define COMMON_JSON_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"

/* A string literal as it is. */
#define WR_TEXT(w, s) wr_mem(w, s, sizeof(s) - 1)
/* A limit for wr_json_string_max() that no text reaches. */
#define JSON_UNLIMITED (SIZE_MAX / 8)

/* A string with its quotes; invalid UTF-8 is replaced by U+FFFD. */
void wr_json_string(struct writer *w, const char *s);
/* At most max bytes of s; a cut string ends with a mark. */
void wr_json_string_max(struct writer *w, const char *s, size_t max);
void wr_json_number(struct writer *w, int64_t v);
void wr_json_unsigned(struct writer *w, uint64_t v);

#endif
