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
	struct hook_message msg;

	memset(&msg, 0, sizeof(msg));
	if (hook_message_parse((const char *)data, size, &msg) != NULL)
		return 0;
	/* A message that was accepted has valid members. */
	if (msg.job == 0 || msg.job > UINT32_MAX || msg.kind > EVENT_END ||
	    (msg.credential[0] != '\0' &&
		hook_credential_check(msg.credential) == -1) ||
	    msg.cluster[0] == '\0' ||
	    memchr(msg.cluster, '\0', sizeof(msg.cluster)) == NULL)
		abort();
	return 0;
}
