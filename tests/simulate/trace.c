/* SPDX-License-Identifier: MIT */
/* Random numbers, the trace and what a failure prints; see world.h. */
#include "config.h"

#include <sys/mman.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/world.h"

#define LINES	 400 /* kept for a failure */
#define LINE_MAX 400 /* bytes */

static struct {
	char lines[LINES][LINE_MAX];
	unsigned n; /* lines so far */
	uint64_t hash;
	enum trace_mode mode;
} log_book;

static uint64_t *failure; /* a hash of the invariant */

static const char *const process_names[PROCESS__COUNT] = { "world", "submitter",
	"collector", "cluster", "receiver" };

/* --- random numbers: splitmix64 for the state, xoshiro256** --- */

static uint64_t
splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t
hash_add(uint64_t h, const char *p)
{
	for (; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	return h;
}

void
prng_init(struct prng *p, uint64_t seed, const char *label)
{
	uint64_t x = hash_add(seed ^ 0xcbf29ce484222325u, label);
	int i;

	for (i = 0; i < 4; i++)
		p->s[i] = splitmix(&x);
}

static uint64_t
rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t
prng_next(struct prng *p)
{
	uint64_t *s = p->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t
prng_below(struct prng *p, uint64_t n)
{
	return n > 0 ? prng_next(p) % n : 0;
}

int64_t
prng_between(struct prng *p, int64_t low, int64_t high)
{
	return low + (int64_t)prng_below(p, (uint64_t)(high - low) + 1);
}

int
prng_chance(struct prng *p, unsigned n)
{
	return prng_below(p, 1000000) < n;
}

/* --- the trace --- */

void
trace_mode_set(enum trace_mode mode)
{
	log_book.mode = mode;
}

uint64_t
trace_hash(void)
{
	return log_book.hash;
}

void
trace(const char *fmt, ...)
{
	char *line = log_book.lines[log_book.n++ % LINES];
	int64_t ms = world_ms();
	va_list ap;
	int n;

	if (log_book.mode == TRACE_NONE)
		return;
	n = snprintf(line, LINE_MAX, "%5lld:%02d:%02d.%03d %-9s ",
	    (long long)(ms / HOUR_MS), (int)(ms / MINUTE_MS % 60),
	    (int)(ms / SECOND_MS % 60), (int)(ms % 1000),
	    process_names[process_current()]);
	va_start(ap, fmt);
	vsnprintf(line + n, LINE_MAX - (size_t)n, fmt, ap);
	va_end(ap);
	log_book.hash = hash_add(log_book.hash, line);
	if (log_book.mode == TRACE_PRINT)
		printf("%s\n", line);
}

void
invariant_prepare(void)
{
	void *p = mmap(NULL, sizeof(*failure), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	failure = p;
}

void
invariant_forget(void)
{
	*failure = 0;
}

uint64_t
invariant_failed(void)
{
	return *failure != 0 ? *failure : 1;
}

void
invariant_fail(const char *fmt, ...)
{
	unsigned i = log_book.n > LINES ? log_book.n - LINES : 0;
	va_list ap;

	if (log_book.mode != TRACE_PRINT)
		for (; i < log_book.n; i++)
			printf("%s\n", log_book.lines[i % LINES]);
	if (failure != NULL)
		*failure = hash_add(0, fmt);
	printf("FAILED seed %llu at %lld ms: ",
	    (unsigned long long)world_seed(), (long long)world_ms());
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_Exit(INVARIANT_STATUS);
}
