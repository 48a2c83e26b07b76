/* SPDX-License-Identifier: MIT */
/*
 * Answers of a stream to a message: a record counts as stored only when the
 * answer names a stream and no error, whatever else it has.
 */
#include "config.h"

#include "common/text/text.h"
#include "submitter/nats/nats_ack.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = exact(bytes, n), *string = exact_string(bytes, n);
	struct nats_ack ack;
	int rc = nats_ack_read(text, n, &ack);

	HOLDS(memchr(ack.text, '\0', sizeof(ack.text)) != NULL);
	HOLDS(text_is_clean(ack.text, strlen(ack.text)));
	HOLDS(memchr(ack.stream, '\0', sizeof(ack.stream)) != NULL);
	HOLDS(text_is_clean(ack.stream, strlen(ack.stream)));
	HOLDS(!ack.stored || (rc == 0 && ack.stream[0] != '\0'));
	/* An error has a code, an object and a stream a bracket. */
	HOLDS(!ack.stored || (ack.code == 0 && !ack.in_process));
	HOLDS(rc == -1 || strchr(string, '{') != NULL);
	free(string);
	free(text);
	return 0;
}
