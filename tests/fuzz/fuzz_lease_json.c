/* SPDX-License-Identifier: MIT */
/*
 * The answers of JetStream about the lease of two centres.  The entry in them was
 * written by another host: a value that is read must be the same after it was
 * written and read again.
 */
#include "config.h"

#include "common/text/base64.h"
#include "receiver/lease/lease_json.h"
#include "tests/fuzz/fuzz.h"

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

/* JetStream's answer with this value. */
static void
again(struct lease_answer *a, const struct lease_value *value)
{
	char *data, *text;
	struct writer w;
	int n;

	wr_init(&w, 4096);
	lease_json_value(&w, value);
	HOLDS(wr_end(&w) == 0);
	data = base64_text(w.buf, w.len);
	HOLDS(data != NULL);
	n = asprintf(&text, "{\"message\":{\"seq\":1,\"data\":\"%s\"}}", data);
	HOLDS(n > 0);
	HOLDS(lease_json_answer(a, (const uint8_t *)text, (size_t)n) == 0);
	free(text);
	free(data);
	wr_clear(&w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = exact(bytes, n);
	const struct lease_value *v;
	struct lease_answer a, b;

	if (lease_json_answer(&a, (const uint8_t *)text, n) == 0) {
		v = &a.entry.value;
		HOLDS(ENDS(a.why) && ENDS(v->holder));
		HOLDS((a.why[0] == '\0') || a.error != LEASE_OK);
		again(&b, v);
		HOLDS(b.entry.seq == 1);
		HOLDS(b.entry.value.id == v->id &&
		    b.entry.value.count == v->count &&
		    b.entry.value.ms == v->ms &&
		    b.entry.value.state == v->state &&
		    b.entry.value.since == v->since);
	}
	free(text);
	return 0;
}
