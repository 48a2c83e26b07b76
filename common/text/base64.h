/* SPDX-License-Identifier: MIT */
/* Base64 of RFC 4648, section 4: with padding, without line breaks. */
#ifndef COMMON_BASE64_H
#define COMMON_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Returns owned, NUL-terminated; NULL when out of memory. */
char *base64_text(const void *p, size_t n);
/* Returns owned, *n bytes; NULL when text is not base64 or out of memory. */
uint8_t *base64_bytes(const char *text, size_t *n);

#endif
