/* SPDX-License-Identifier: MIT */
/*
 * Growing text and allocation that cannot fail: a test program that is out
 * of memory has nothing better to do than abort.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL)
		abort();
	return p;
}

char *
xstrndup(const char *s, size_t n)
{
	char *p = strndup(s, n);

	if (p == NULL)
		abort();
	return p;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

static void
text_room(struct text *t, size_t more)
{
	size_t cap = t->cap != 0 ? t->cap : 256;

	if (t->p != NULL && t->len + more < t->cap)
		return;
	while (cap <= t->len + more)
		cap *= 2;
	t->p = realloc(t->p, cap);
	if (t->p == NULL)
		abort();
	t->cap = cap;
}

void
text_add(struct text *t, const void *s, size_t n)
{
	text_room(t, n);
	if (n > 0)
		memcpy(t->p + t->len, s, n);
	t->len += n;
	t->p[t->len] = '\0';
}

void
text_str(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

void
text_fmt(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	text_room(t, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(t->p + t->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)n;
}

void
text_clear(struct text *t)
{
	free(t->p);
	memset(t, 0, sizeof(*t));
}

int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
