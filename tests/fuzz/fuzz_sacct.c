/* SPDX-License-Identifier: MIT */
/* A stream of sacct's rows, in one piece and in many. */
#include "config.h"

#include "tests/fuzz/snapshot.h"

#define DATA_DELIMITER "<~!>" /* of the recordings */

struct answer {
	struct sacct_reader reader;
	uint64_t digest;
	unsigned rows;
};

static int
on_row(struct job_snapshot *s, void *arg)
{
	struct answer *a = arg;

	snapshot_holds(s);
	HOLDS((s->job.flags & JOB_HAS_START) != 0);
	HOLDS(s->state->phase != PHASE_UNKNOWN);
	a->digest = snapshot_digest(a->digest, s);
	a->rows++;
	return 0;
}

static int
feed(const char *p, size_t n, void *arg)
{
	struct answer *a = arg;

	return sacct_feed(&a->reader, p, n);
}

static void
answer_init(struct answer *a)
{
	memset(a, 0, sizeof(*a));
	memcpy(a->reader.delimiter, DATA_DELIMITER, sizeof(DATA_DELIMITER));
	a->reader.how = fuzz_reading();
	a->reader.each = on_row;
	a->reader.arg = a;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct answer whole, pieces;
	int rc;

	fuzz_quiet();
	answer_init(&whole);
	answer_init(&pieces);
	rc = feed((const char *)bytes, n, &whole);
	HOLDS(fuzz_pieces(bytes, n, feed, &pieces) == rc);
	HOLDS(whole.digest == pieces.digest);
	HOLDS(whole.reader.rows == pieces.reader.rows);
	HOLDS(whole.reader.bad == pieces.reader.bad);
	HOLDS(whole.rows + whole.reader.bad == whole.reader.rows);
	if (rc == 0)
		HOLDS(sacct_end(&whole.reader) == sacct_end(&pieces.reader));
	sacct_clear(&whole.reader);
	sacct_clear(&pieces.reader);
	return 0;
}
