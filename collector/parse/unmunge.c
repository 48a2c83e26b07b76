/* SPDX-License-Identifier: MIT */
/*
 * The output of unmunge: lines as "UID:   slurm (64030)", an empty line, the
 * payload.  Anybody who may run a program on a host with the key can choose the
 * payload.  unmunge writes the lines before the payload.
 */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/* "Success (0)", "2026-11-22 13:07:46 +0000 (1795352866)", "300" */
static int
line_number(struct span v, uint64_t *n)
{
	const char *open = v.n > 0 ? memrchr(v.p, '(', v.n) : NULL;

	if (open != NULL) {
		if (v.p[v.n - 1] != ')')
			return -1;
		v = span_from(v, open + 1);
		v.n--;
	}
	while (v.n > 0 && *v.p == ' ')
		v = span_from(v, v.p + 1);
	return number_u64(v, n);
}

/* Where the values go, in the order of the bits of `have`. */
static const char *const keys[] = { "STATUS", "ENCODE_TIME", "DECODE_TIME",
	"TTL", "UID", "LENGTH" };

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* 0, or -1: the line has no known key, or its value is no number. */
static int
line_read(struct span line, uint64_t values[KEYS], unsigned *have)
{
	const char *colon = line.n > 0 ? memchr(line.p, ':', line.n) : NULL;
	struct span key;
	size_t i;

	if (colon == NULL)
		return -1;
	key = (struct span) { line.p, (size_t)(colon - line.p) };
	for (i = 0; i < KEYS; i++)
		if (span_is(key, keys[i]))
			break;
	if (i == KEYS || (*have & 1u << i) != 0 ||
	    line_number(span_from(line, colon + 1), &values[i]) == -1)
		return -1;
	*have |= 1u << i;
	return 0;
}

int
unmunge_read(struct span text, struct munge_answer *a)
{
	uint64_t values[KEYS] = { 0 };
	unsigned have = 0;
	struct span line;
	const char *nl;

	memset(a, 0, sizeof(*a));
	for (;;) {
		nl = text.n > 0 ? memchr(text.p, '\n', text.n) : NULL;
		if (nl == NULL)
			return -1;
		line = (struct span) { text.p, (size_t)(nl - text.p) };
		text = span_from(text, nl + 1);
		if (line.n == 0)
			break;
		if (line_read(line, values, &have) == -1)
			return -1;
	}
	if (have != (1u << KEYS) - 1 || values[0] > UINT16_MAX ||
	    values[1] > INT64_MAX || values[2] > INT64_MAX ||
	    values[4] > UINT32_MAX || values[5] != text.n)
		return -1;
	a->status = (unsigned)values[0];
	a->encoded = (int64_t)values[1];
	a->decoded = (int64_t)values[2];
	a->uid = (uint32_t)values[4];
	a->payload = text;
	return 0;
}
