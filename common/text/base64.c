/* SPDX-License-Identifier: MIT */
/* Base64; see base64.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/text/base64.h"

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *
base64_text(const void *p, size_t n)
{
	const uint8_t *b = p;
	char *text = malloc((n + 2) / 3 * 4 + 1), *t = text;
	uint32_t v;
	size_t i;

	if (text == NULL)
		return NULL;
	for (i = 0; i < n; i += 3) {
		v = (uint32_t)b[i] << 16;
		v |= i + 1 < n ? (uint32_t)b[i + 1] << 8 : 0;
		v |= i + 2 < n ? b[i + 2] : 0;
		*t++ = letters[v >> 18];
		*t++ = letters[v >> 12 & 63];
		*t++ = i + 1 < n ? letters[v >> 6 & 63] : '=';
		*t++ = i + 2 < n ? letters[v & 63] : '=';
	}
	*t = '\0';
	return text;
}

/* Decodes four characters.  Returns the number of bytes, or -1. */
static int
four(const char *text, int last, uint8_t out[3])
{
	uint32_t v = 0;
	const char *at;
	int i, pad = 0;

	for (i = 0; i < 4; i++) {
		at = memchr(letters, text[i], sizeof(letters) - 1);
		if (at == NULL && (text[i] != '=' || !last || i < 2))
			return -1;
		if (at != NULL && pad > 0)
			return -1;
		pad += at == NULL;
		v = v << 6 | (at != NULL ? (uint32_t)(at - letters) : 0);
	}
	out[0] = (uint8_t)(v >> 16);
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)v;
	return 3 - pad;
}

uint8_t *
base64_bytes(const char *text, size_t *n)
{
	size_t len = strlen(text), i;
	uint8_t *bytes = malloc(len / 4 * 3 + 3);
	int got = 0;

	*n = 0;
	if (bytes == NULL)
		return NULL;
	for (i = 0; i + 4 <= len; i += 4) {
		got = four(text + i, i + 4 == len, bytes + *n);
		if (got == -1)
			break;
		*n += (size_t)got;
	}
	if (len % 4 != 0 || got == -1) {
		free(bytes);
		return NULL;
	}
	return bytes;
}
