/* SPDX-License-Identifier: MIT */
/* Numbers in Slurm's output; see read.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"
#include "common/text.h"

char *
span_text(struct span s, size_t max)
{
	if (s.n == 0 || span_is(s, "(null)"))
		return NULL;
	return text_clean(s.p, s.n, max);
}

int
number_u64(struct span s, uint64_t *v)
{
	uint64_t sum = 0;
	unsigned digit;
	size_t i;

	if (s.n == 0 || s.n > 20)
		return -1;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		digit = (unsigned)(s.p[i] - '0');
		if (sum > (UINT64_MAX - digit) / 10)
			return -1;
		sum = sum * 10 + digit;
	}
	*v = sum;
	return 0;
}

int
number_u32(struct span s, uint32_t *v)
{
	uint64_t wide;

	if (number_u64(s, &wide) == -1 || wide > UINT32_MAX)
		return -1;
	*v = (uint32_t)wide;
	return 0;
}

/* Power of 1024 above a MB of Slurm's suffixes; -2 when it is none. */
static int
memory_power(char c)
{
	static const char suffixes[] = "KMGTP";
	const char *p = c != '\0' ? strchr(suffixes, c) : NULL;

	return p != NULL ? (int)(p - suffixes) - 1 : -2;
}

int
number_memory(struct span s, uint64_t *mb, char *per)
{
	struct span whole = s, part = { NULL, 0 };
	uint64_t value, hundredths = 0;
	const char *dot;
	int power = 0;

	if (per != NULL)
		*per = '\0';
	if (s.n > 0 && (s.p[s.n - 1] == 'n' || s.p[s.n - 1] == 'c')) {
		if (per != NULL)
			*per = s.p[s.n - 1];
		whole.n--;
	}
	if (whole.n > 0 && memory_power(whole.p[whole.n - 1]) != -2)
		power = memory_power(whole.p[--whole.n]);
	dot = whole.n > 0 ? memchr(whole.p, '.', whole.n) : NULL;
	if (dot != NULL) {
		part.p = dot + 1;
		part.n = whole.n - (size_t)(part.p - whole.p);
		whole.n = (size_t)(dot - whole.p);
		if (part.n > 2)
			part.n = 2;
		if (number_u64(part, &hundredths) == -1)
			return -1;
		if (part.n == 1)
			hundredths *= 10;
	}
	if (number_u64(whole, &value) == -1 || value > UINT64_MAX / 1024)
		return -1;
	value = value * 100 + hundredths;
	for (; power > 0; power--) {
		if (value > UINT64_MAX / 1024)
			return -1;
		value *= 1024;
	}
	if (power < 0)
		value /= 1024;
	*mb = value / 100;
	return 0;
}
