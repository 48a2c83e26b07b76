/* SPDX-License-Identifier: MIT */
/*
 * Answers of JetStream's API to the receiver, and the subjects that acknowledge
 * messages.  A subject counts only if it is one of our consumer, and its stream
 * is a part of it.
 */
#include "config.h"

#include "receiver/streams/api.h"
#include "tests/fuzz/fuzz.h"

#define ENDS(text) (memchr(text, '\0', sizeof(text)) != NULL)

static void
answer_check(const uint8_t *bytes, size_t n)
{
	static const struct api_limits limits = { 3, 86400, 1 << 20, 0 };
	struct api_answer a;

	if (api_answer_read(&a, bytes, n) == -1)
		return;
	HOLDS(ENDS(a.error) && ENDS(a.subject) && ENDS(a.retention) &&
	    ENDS(a.discard) && ENDS(a.storage));
	/* Without a subject it is not our stream. */
	HOLDS(a.subjects > 0 ||
	    api_stream_differs(&a, "cc.record.alpha", &limits));
}

static void
subject_check(const char *subject)
{
	struct api_ack ack;

	if (api_ack_read(&ack, subject) == -1)
		return;
	HOLDS(strncmp(subject, "$JS.ACK.", 8) == 0);
	HOLDS(ack.stream > subject);
	HOLDS(ack.stream + ack.stream_len < subject + strlen(subject));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = exact(bytes, n), *string = exact_string(bytes, n);

	answer_check((const uint8_t *)text, n);
	subject_check(string);
	free(string);
	free(text);
	return 0;
}
