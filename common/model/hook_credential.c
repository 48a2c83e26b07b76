/* SPDX-License-Identifier: MIT */
/* The munge credential of a hook message; see hook_credential.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/model/hook_credential.h"
#include "common/model/msg.h"

#define PREFIX "MUNGE:"
#define BASE64 \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

int
hook_credential_check(const char *text)
{
	size_t n = strlen(PREFIX), body;

	if (strncmp(text, PREFIX, n) != 0)
		return -1;
	body = strspn(text + n, BASE64);
	if (body == 0 || strcmp(text + n + body, ":") != 0)
		return -1;
	return n + body + 1 < HOOK_CREDENTIAL_MAX ? 0 : -1;
}

uint8_t
hook_kind(const char *context)
{
	if (context == NULL)
		return EVENT_UNKNOWN;
	if (strcmp(context, "prolog_slurmctld") == 0)
		return EVENT_START;
	if (strcmp(context, "epilog_slurmctld") == 0)
		return EVENT_END;
	return EVENT_UNKNOWN;
}

size_t
hook_payload(char *buf, size_t size, const char *cluster, uint64_t job,
    uint8_t kind)
{
	static const char *const kinds[] = {
		[EVENT_UNKNOWN] = "hook",
		[EVENT_START] = "start",
		[EVENT_END] = "end",
	};
	int n;

	if (job == 0 || job > UINT32_MAX || kind > EVENT_END)
		return 0;
	n = snprintf(buf, size, "cc-slurm-adapter-hook %s %llu %s", cluster,
	    (unsigned long long)job, kinds[kind]);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}
