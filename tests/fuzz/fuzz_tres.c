/* SPDX-License-Identifier: MIT */
/* Lists of trackable resources: unknown items must not change the result. */
#include "config.h"

#include <inttypes.h>

#include "tests/fuzz/snapshot.h"

static int
same(const struct tres *a, const struct tres *b)
{
	return a->nodes == b->nodes && a->cpus == b->cpus &&
	    a->gpus == b->gpus && a->memory == b->memory;
}

/* Writes the values in their plain form and reads them again. */
static void
again(const struct tres *first)
{
	struct tres second;
	char text[160];
	int n;

	if (first->memory > UINT64_MAX / 102400)
		return;
	n = snprintf(text, sizeof(text),
	    "node=%u,cpu=%u,mem=%" PRIu64 "M,gres/gpu=%u,billing=7",
	    first->nodes, first->cpus, first->memory, first->gpus);
	tres_parse((struct span) { text, (size_t)n }, fuzz_reading()->gpus,
	    &second);
	HOLDS(same(first, &second));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct gres_names none;
	static const char more[] = ",fs/disk=1,energy=2,gres/tape=3,=,cpu";
	struct span s = { (const char *)bytes, n };
	struct tres tres, other;
	char *longer;

	fuzz_quiet();
	tres_parse(s, fuzz_reading()->gpus, &tres);
	again(&tres);
	tres_parse(s, &none, &other);
	HOLDS(other.gpus == 0 && other.cpus == tres.cpus &&
	    other.nodes == tres.nodes && other.memory == tres.memory);
	longer = malloc(n + sizeof(more) - 1);
	HOLDS(longer != NULL);
	if (n != 0)
		memcpy(longer, bytes, n);
	memcpy(longer + n, more, sizeof(more) - 1);
	tres_parse((struct span) { longer, n + sizeof(more) - 1 },
	    fuzz_reading()->gpus, &other);
	HOLDS(same(&tres, &other));
	free(longer);
	return 0;
}
