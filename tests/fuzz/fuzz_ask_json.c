/* SPDX-License-Identifier: MIT */
/*
 * Questions to a cluster and answers: what is read stays within its bounds, and
 * is the same after it was written and read again.
 */
#include "config.h"

#include "common/record/ask_json.h"
#include "common/text/text.h"
#include "tests/fuzz/fuzz.h"

static void
runs_hold(const struct ask_run *runs, unsigned n)
{
	unsigned i;

	HOLDS(n <= ASK_RUNS_MAX);
	for (i = 0; i < n; i++)
		HOLDS(runs[i].job != 0 && runs[i].job <= INT64_MAX &&
		    runs[i].start > 0);
}

static void
question_check(const char *text, size_t n)
{
	struct ask ask = { .n = 0 }, again = { .n = 0 };
	char why[ASK_TEXT_MAX];
	struct writer w;

	if (ask_read(&ask, text, n, why, sizeof(why)) == -1) {
		HOLDS(*why != '\0' && memchr(why, '\0', sizeof(why)) != NULL);
		HOLDS(strlen(ask.nonce) < ASK_NONCE_MAX);
		return;
	}
	HOLDS(ask.kind < ASK__COUNT && (ask.n > 0) == (ask.kind == ASK_LOOKUP));
	HOLDS(ask.kind != ASK_BACKFILL || (ask.from > 0 && ask.from < ask.to));
	HOLDS(strlen(ask.nonce) == ASK_NONCE_MAX - 1);
	runs_hold(ask.runs, ask.n);
	wr_init(&w, ASK_BYTES_MAX);
	ask_write(&w, &ask);
	HOLDS(wr_end(&w) == 0);
	HOLDS(ask_read(&again, (const char *)w.buf, w.len, why, sizeof(why)) ==
	    0);
	HOLDS(again.n == ask.n && strcmp(again.nonce, ask.nonce) == 0);
	HOLDS(again.kind == ask.kind &&
	    (ask.kind != ASK_BACKFILL ||
		(again.from == ask.from && again.to == ask.to)));
	HOLDS(memcmp(again.runs, ask.runs, ask.n * sizeof(ask.runs[0])) == 0);
	wr_clear(&w);
}

static void
answer_check(const char *text, size_t n)
{
	struct ask_answer answer = { .n = 0 };
	char why[ASK_TEXT_MAX];

	if (ask_answer_read(&answer, text, n, why, sizeof(why)) == -1) {
		HOLDS(*why != '\0' && memchr(why, '\0', sizeof(why)) != NULL);
		return;
	}
	HOLDS(strlen(answer.nonce) == ASK_NONCE_MAX - 1);
	HOLDS(strlen(answer.cluster) < CLUSTER_MAX);
	HOLDS(text_is_clean(answer.error, strlen(answer.error)));
	HOLDS(strlen(answer.progress) < ASK_PROGRESS_MAX);
	HOLDS(text_is_clean(answer.progress, strlen(answer.progress)));
	HOLDS(answer.asked <= ASK_RUNS_MAX);
	runs_hold(answer.not_found, answer.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = exact(bytes, n);

	question_check(text, n);
	answer_check(text, n);
	free(text);
	return 0;
}
