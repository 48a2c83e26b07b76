/* SPDX-License-Identifier: MIT */
/* Bytes as text, RFC 4648's first alphabet, padded, without line breaks. */
#ifndef COMMON_BASE64_H
#define COMMON_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Returns owned, NUL-terminated; NULL on memory. */
char *base64_text(const void *p, size_t n);
/* Returns owned, *n bytes; NULL when text is none, or on memory. */
uint8_t *base64_bytes(const char *text, size_t *n);

#endif
