/* SPDX-License-Identifier: MIT */
/* Any bytes, made fit to be passed on; jansson is the judge of UTF-8. */
#include "config.h"

#include "common/text/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/twin.h"

#define MARK 8 /* bytes of "…[cut]" */

static void
clean_holds(const char *p, size_t n, size_t max)
{
	char *once = text_clean(p, n, max), *twice;
	size_t len;

	if (max < MARK) {
		HOLDS(once == NULL);
		return;
	}
	HOLDS(once != NULL);
	len = strlen(once);
	HOLDS(len <= max);
	HOLDS(text_is_clean(once, len));
	if (text_is_clean(p, n) && n <= max)
		HOLDS(len == n && memcmp(p, once, n) == 0);
	twice = text_clean(once, len, max);
	HOLDS(twice != NULL && strcmp(once, twice) == 0);
	free(once);
	free(twice);
}

/* jansson takes a text as a string exactly when it is UTF-8. */
static void
judge(const char *p, size_t n)
{
	struct twin *twin;
	char *quoted;
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)p[i] < ' ' || p[i] == 0x7f || p[i] == '"' ||
		    p[i] == '\\')
			return;
	quoted = malloc(n + 4);
	HOLDS(quoted != NULL);
	memcpy(quoted, "[\"", 2);
	if (n != 0)
		memcpy(quoted + 2, p, n);
	memcpy(quoted + 2 + n, "\"]", 2);
	twin = twin_load(quoted, n + 4);
	/* C1 control characters are UTF-8, but not clean. */
	HOLDS(twin != NULL || !text_is_clean(p, n));
	twin_free(twin);
	free(quoted);
}

static void
vis_holds(const char *p, size_t n, size_t size)
{
	char *text = exact_string(p, n), *line = malloc(size);

	HOLDS(line != NULL);
	HOLDS(text_vis(text, line, size) == line);
	HOLDS(memchr(line, '\0', size) != NULL);
	HOLDS(strpbrk(line, "\n\t") == NULL);
	HOLDS(text_is_clean(line, strlen(line)));
	free(text);
	free(line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t state = digest(DIGEST_START, bytes, n);
	const char *p = (const char *)bytes;

	fuzz_quiet();
	clean_holds(p, n, 64 * 1024);
	clean_holds(p, n, n);
	clean_holds(p, n, dice(&state, 4 * n + 16));
	clean_holds(p, n, MARK + dice(&state, 16));
	judge(p, n);
	vis_holds(p, n, 1 + dice(&state, 4 * n + 16));
	vis_holds(p, n, 1 + dice(&state, 8));
	vis_holds(p, n, 2048);
	return 0;
}
