/* SPDX-License-Identifier: MIT */
/*
 * Cuts Slurm's output: a stream into lines, in bounded memory, and a row into
 * fields, at delimiters that no user can write into a field.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"
#include "common/array.h"

#define KEEP_BYTES (64u * 1024) /* a larger buffer is freed after its line */

void
lines_clear(struct lines *l)
{
	free(l->buf);
	memset(l, 0, sizeof(*l));
}

/* Appends to the incomplete line, or begins to skip a line that is too long. */
static int
hold(struct lines *l, const char *p, size_t n)
{
	char *buf;

	if (n == 0)
		return 0;
	if (n > LINE_BYTES_MAX - l->len) {
		l->len = 0;
		l->skipping = 1;
		l->skipped++;
		return 0;
	}
	buf = array_reserve(l->buf, &l->cap, l->len + n, 1);
	if (buf == NULL)
		return -1;
	l->buf = buf;
	memcpy(l->buf + l->len, p, n);
	l->len += n;
	return 0;
}

/* Passes the held bytes to each() as one line. */
static int
release(struct lines *l, int (*each)(struct span line, void *arg), void *arg)
{
	struct span line = { l->buf, l->len };
	int rc;

	l->len = 0;
	rc = each(line, arg);
	if (l->cap > KEEP_BYTES) {
		free(l->buf);
		l->buf = NULL;
		l->cap = 0;
	}
	return rc;
}

int
lines_feed(struct lines *l, const char *p, size_t n,
    int (*each)(struct span line, void *arg), void *arg)
{
	struct span line;
	const char *nl;
	size_t len;
	int rc;

	for (; n > 0; p += len + 1, n -= len + 1) {
		nl = memchr(p, '\n', n);
		len = nl != NULL ? (size_t)(nl - p) : n;
		rc = 0;
		if (nl == NULL)
			return l->skipping ? 0 : hold(l, p, len);
		if (l->skipping)
			l->skipping = 0;
		else if (l->len == 0) {
			line.p = p;
			line.n = len;
			rc = each(line, arg);
		} else {
			rc = hold(l, p, len);
			if (rc == 0 && !l->skipping)
				rc = release(l, each, arg);
			l->skipping = 0;
		}
		if (rc == -1)
			return -1;
	}
	return 0;
}

int
lines_end(struct lines *l, int (*each)(struct span line, void *arg), void *arg)
{
	if (l->len == 0 || l->skipping)
		return 0;
	return release(l, each, arg);
}

unsigned
delimiter_split(struct span text, const char *delimiter, struct span *fields,
    unsigned max)
{
	const char *at;
	size_t len = strlen(delimiter);
	unsigned n = 0;

	for (;;) {
		at = text.n > 0 ? memmem(text.p, text.n, delimiter, len) : NULL;
		if (n == max)
			return max + 1;
		fields[n].p = text.p;
		fields[n].n = at != NULL ? (size_t)(at - text.p) : text.n;
		n++;
		if (at == NULL)
			return n;
		text.n -= fields[n - 1].n + len;
		text.p = at + len;
	}
}
