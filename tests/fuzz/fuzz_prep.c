/* SPDX-License-Identifier: MIT */
/* libFuzzer target: bytes as they come from a hook's socket. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "listener/listener.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prep prep;

	memset(&prep, 0, sizeof(prep));
	if (prep_parse((const char *)data, size, &prep) != NULL)
		return 0;
	/* What was accepted keeps the promises of its header. */
	if (prep.job == 0 || prep.job > UINT32_MAX || prep.kind > EVENT_END ||
	    prep.cluster[0] == '\0' ||
	    memchr(prep.cluster, '\0', sizeof(prep.cluster)) == NULL)
		abort();
	return 0;
}
