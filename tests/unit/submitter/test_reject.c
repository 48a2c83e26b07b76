/* SPDX-License-Identifier: MIT */
/* The class of each reason for a rejection. */
#include "config.h"

#include "submitter/base/reject.h"
#include "tests/unit/check.h"

int
main(void)
{
	int i, k;

	CHECK_INT(reject_class_of("400: unknown state"), REJECT_INVALID);
	CHECK_INT(reject_class_of("422: ..."), REJECT_INVALID);
	CHECK_INT(reject_class_of("404: finding job failed"), REJECT_NO_RUN);
	CHECK_INT(reject_class_of("413"), REJECT_TOO_LONG);
	CHECK_INT(reject_class_of("500: CHECK constraint"), REJECT_DATABASE);
	CHECK_INT(reject_class_of("the record has no user"), REJECT_RECORD);
	CHECK_INT(reject_class_of("4000 bytes"), REJECT_RECORD);
	CHECK_INT(reject_class_of(""), REJECT_RECORD);
	for (i = 0; i < REJECT__COUNT; i++)
		for (k = 0; k < i; k++)
			CHECK(
			    strcmp(reject_class_name((enum reject_class)i),
				reject_class_name((enum reject_class)k)) != 0);
	return check_done();
}
