/* SPDX-License-Identifier: MIT */
/* Why runs are rejected; see reject.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "submitter/base/reject.h"

const char *
reject_class_name(enum reject_class reject)
{
	static const char *const names[REJECT__COUNT] = {
		[REJECT_INVALID] = "invalid",
		[REJECT_TOO_LONG] = "too_long",
		[REJECT_DUPLICATE] = "duplicate",
		[REJECT_NO_RUN] = "no_run",
		[REJECT_DATABASE] = "database",
		[REJECT_RECORD] = "record",
		[REJECT_UNKNOWN] = "unknown_to_slurm",
	};

	return names[reject];
}

enum reject_class
reject_class_of(const char *text)
{
	char *end;
	long code = strtol(text, &end, 10);

	if (end != text + 3)
		return REJECT_RECORD;
	if (code == 413)
		return REJECT_TOO_LONG;
	if (code == 404)
		return REJECT_NO_RUN;
	return code >= 500 ? REJECT_DATABASE : REJECT_INVALID;
}
