/* SPDX-License-Identifier: MIT */
/* Hostlists and lists of ranges: the result, joined, must give the same result. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/fuzz/fuzz.h"

#define AGAIN_MAX 2000 /* names that are joined and read again */

struct names {
	int n;
	int stop_at; /* 0 = never */
	uint64_t digest;
	char *text; /* joined, or NULL */
	size_t len;
};

static int
on_name(const char *name, void *arg)
{
	struct names *names = arg;
	size_t n = strlen(name);

	HOLDS(n > 0 && n < HOST_MAX);
	HOLDS(strpbrk(name, "[], \t\n()=") == NULL);
	names->n++;
	HOLDS(names->n <= HOSTS_MAX);
	names->digest = digest(names->digest, name, n + 1);
	if (names->text != NULL && names->n <= AGAIN_MAX) {
		memcpy(names->text + names->len, name, n);
		names->text[names->len + n] = ',';
		names->len += n + 1;
	}
	return names->n == names->stop_at ? -1 : 0;
}

static void
hostlist_holds(struct span s)
{
	struct names once = { .text = NULL }, again = { .text = NULL };
	struct names less = { .stop_at = 3 };
	int n;

	once.text = malloc(AGAIN_MAX * HOST_MAX);
	HOLDS(once.text != NULL);
	n = hostlist_each(s, on_name, &once);
	HOLDS(n == -1 || n == once.n);
	if (n > 0 && n <= AGAIN_MAX) {
		HOLDS(hostlist_each((struct span) { once.text, once.len - 1 },
			  on_name, &again) == n);
		HOLDS(once.digest == again.digest);
	}
	if (once.n >= 3)
		HOLDS(hostlist_each(s, on_name, &less) == -1 && less.n == 3);
	free(once.text);
}

struct ranges {
	unsigned n;
	uint32_t last;
	char *text;
	size_t len;
};

static int
on_range(uint32_t first, uint32_t last, void *arg)
{
	struct ranges *r = arg;

	HOLDS(first <= last && (r->n == 0 || first > r->last));
	r->n++;
	r->last = last;
	r->len += (size_t)sprintf(r->text + r->len, "%s%u-%u",
	    r->len != 0 ? "," : "", first, last);
	return 0;
}

static void
ranges_hold(struct span s)
{
	struct ranges once = { .text = NULL }, again = { .text = NULL };

	/* A range is written with its two numbers of up to ten digits each. */
	once.text = malloc(s.n * 22 + 24);
	again.text = malloc(s.n * 22 + 24);
	HOLDS(once.text != NULL && again.text != NULL);
	*once.text = *again.text = '\0';
	if (ranges_each(s, on_range, &once) == 0) {
		HOLDS(ranges_each((struct span) { once.text, once.len },
			  on_range, &again) == 0);
		HOLDS(strcmp(once.text, again.text) == 0);
	}
	free(once.text);
	free(again.text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct span s = { (const char *)bytes, n };

	fuzz_quiet();
	hostlist_holds(s);
	ranges_hold(s);
	return 0;
}
