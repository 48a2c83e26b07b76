/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: the output of unmunge.  What is read is written again in
 * the form of unmunge and must be read as the same.
 */
#include "config.h"

#include <stdio.h>

#include "collector/parse/parse.h"
#include "tests/fuzz/fuzz.h"

static void
answer_holds(const struct munge_answer *a, const char *text, size_t n)
{
	struct munge_answer again;
	char lines[256], *copy;
	size_t len;

	HOLDS(a->status <= UINT16_MAX && a->encoded >= 0 && a->decoded >= 0);
	HOLDS(a->payload.p >= text && a->payload.p + a->payload.n == text + n);
	/* An empty line ends the lines. */
	HOLDS(a->payload.p[-1] == '\n' && a->payload.p[-2] == '\n');
	len = (size_t)snprintf(lines, sizeof(lines),
	    "STATUS: x (%u)\nENCODE_TIME: y (%lld)\nDECODE_TIME: z (%lld)\n"
	    "TTL: 300\nUID: name (%u)\nLENGTH: %zu\n\n",
	    a->status, (long long)a->encoded, (long long)a->decoded, a->uid,
	    a->payload.n);
	copy = malloc(len + a->payload.n);
	HOLDS(copy != NULL);
	memcpy(copy, lines, len);
	memcpy(copy + len, a->payload.p, a->payload.n);
	HOLDS(unmunge_read((struct span) { copy, len + a->payload.n },
		  &again) == 0);
	HOLDS(again.status == a->status && again.uid == a->uid &&
	    again.encoded == a->encoded && again.decoded == a->decoded &&
	    again.payload.n == a->payload.n);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct munge_answer a;
	char *text = exact(bytes, n);

	if (unmunge_read((struct span) { text, n }, &a) == 0)
		answer_holds(&a, text, n);
	free(text);
	return 0;
}
