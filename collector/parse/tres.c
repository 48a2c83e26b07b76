/* SPDX-License-Identifier: MIT */
/* Lists of trackable resources, "cpu=2,mem=200M,gres/gpu=1"; see parse.h. */
#include "config.h"

#include <string.h>

#include "collector/parse/parse.h"

/* The total of a name counts; without one, the sum of its types. */
struct gpu_count {
	uint64_t total;
	uint64_t typed;
};

static void
count_gres(struct span name, struct span value, const struct gres_names *names,
    struct gpu_count *gpus)
{
	const char *colon = memchr(name.p, ':', name.n);
	struct span plain = name;
	uint32_t n;

	if (colon != NULL)
		plain.n = (size_t)(colon - name.p);
	if (!gres_is_gpu(names, plain) || gres_is_part(plain) ||
	    number_u32(value, &n) == -1)
		return;
	if (colon != NULL)
		gpus->typed += n;
	else
		gpus->total += n;
}

static void
take(struct span key, struct span value, const struct gres_names *names,
    struct tres *tres, struct gpu_count *gpus)
{
	static const char gres[] = "gres/";
	const size_t len = sizeof(gres) - 1;

	if (span_is(key, "cpu"))
		number_u32(value, &tres->cpus);
	else if (span_is(key, "node"))
		number_u32(value, &tres->nodes);
	else if (span_is(key, "mem"))
		number_memory(value, &tres->memory, NULL);
	else if (key.n > len && memcmp(key.p, gres, len) == 0) {
		key.p += len;
		key.n -= len;
		count_gres(key, value, names, gpus);
	}
}

void
tres_parse(struct span s, const struct gres_names *names, struct tres *tres)
{
	struct gpu_count gpus = { 0, 0 };
	struct span key, value;
	const char *comma, *equals;

	memset(tres, 0, sizeof(*tres));
	while (s.n > 0) {
		comma = memchr(s.p, ',', s.n);
		key.p = s.p;
		key.n = comma != NULL ? (size_t)(comma - s.p) : s.n;
		s.p += key.n + (comma != NULL);
		s.n -= key.n + (comma != NULL);
		equals = key.n > 0 ? memchr(key.p, '=', key.n) : NULL;
		if (equals == NULL)
			continue;
		value.p = equals + 1;
		value.n = key.n - (size_t)(value.p - key.p);
		key.n = (size_t)(equals - key.p);
		take(key, value, names, tres, &gpus);
	}
	if (gpus.total == 0)
		gpus.total = gpus.typed;
	tres->gpus = gpus.total > UINT32_MAX ? UINT32_MAX :
					       (uint32_t)gpus.total;
}
