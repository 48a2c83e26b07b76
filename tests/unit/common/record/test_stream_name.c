/* SPDX-License-Identifier: MIT */
/* Names of streams and subjects. */
#include "config.h"

#include "common/record/stream_name.h"
#include "tests/unit/check.h"

static void
test_names(void)
{
	char buf[STREAM_NAME_MAX];

	CHECK_INT(stream_name(STREAM_OF_RECORDS, "alpha", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "CC_RECORD_alpha");
	CHECK_INT(stream_name(SUBJECT_OF_RECORDS, "A-1_b", buf, sizeof(buf)),
	    0);
	CHECK_STR(buf, "cc.record.A-1_b");
	/* bytes with a meaning in a subject */
	CHECK_INT(stream_name("", "a.b*c>d e=/", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "a=2Eb=2Ac=3Ed=20e=3D=2F");
	CHECK_INT(stream_name("", "\xc3\xa4", buf, sizeof(buf)), 0);
	CHECK_STR(buf, "=C3=A4");
}

static void
test_limits(void)
{
	char buf[STREAM_NAME_MAX], longest[CLUSTER_MAX], small[8];

	CHECK_INT(stream_name("", "", buf, sizeof(buf)), -1);
	memset(longest, '.', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK_INT(stream_name(STREAM_OF_RECORDS, longest, buf, sizeof(buf)), 0);
	CHECK_INT(strlen(buf), 10 + 3 * (CLUSTER_MAX - 1));
	CHECK_INT(stream_name("prefix..", "a", small, sizeof(small)), -1);
	CHECK_INT(stream_name("ab", "cdefgh", small, sizeof(small)), -1);
	CHECK_INT(stream_name("ab", "c", small, sizeof(small)), 0);
	CHECK_STR(small, "abc");
}

int
main(void)
{
	test_names();
	test_limits();
	return check_done();
}
