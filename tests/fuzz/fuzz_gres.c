/* SPDX-License-Identifier: MIT */
/* The GRES of a node; behind a newline follow the names of GPUs. */
#include "config.h"

#include "collector/parse/parse.h"
#include "tests/fuzz/fuzz.h"

static int
on_index(uint32_t index, void *arg)
{
	unsigned *seen = arg;

	++*seen;
	return 0;
}

static int
on_index_stop(uint32_t index, void *arg)
{
	on_index(index, arg);
	return -1;
}

static void
each_holds(struct span s, const struct gres_names *names)
{
	unsigned seen = 0, one = 0;
	uint32_t count = 77, again = 77;
	int rc;

	rc = gres_each(s, names, on_index, &seen, &count);
	HOLDS(rc == 0 || rc == -1);
	HOLDS(seen <= 3 * ACCELS_MAX);
	if (rc == 0)
		HOLDS(count >= seen);
	if (names->n == 0)
		HOLDS(seen == 0 && count == 0);
	if (seen > 0) {
		HOLDS(gres_each(s, names, on_index_stop, &one, &again) == -1);
		HOLDS(one == 1);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct gres_names none;
	const uint8_t *nl = n > 0 ? memchr(bytes, '\n', n) : NULL;
	size_t len = nl != NULL ? (size_t)(nl - bytes) : n;
	char *text = exact(bytes, len), *list;
	struct span s = { text, len };
	struct gres_names names;
	unsigned i;

	fuzz_quiet();
	HOLDS(gres_names_set(&names, "[\"gpu\",\"mps\"]") == 0 && names.n == 2);
	each_holds(s, &names);
	each_holds(s, &none);
	if (nl != NULL) {
		list = exact_string(nl + 1, n - len - 1);
		if (gres_names_set(&names, list) == 0) {
			HOLDS(names.n <= GRES_NAMES_MAX);
			for (i = 0; i < names.n; i++)
				HOLDS(gres_is_gpu(&names,
				    (struct span) { names.name[i],
					strlen(names.name[i]) }));
			each_holds(s, &names);
		}
		free(list);
	}
	free(text);
	return 0;
}
