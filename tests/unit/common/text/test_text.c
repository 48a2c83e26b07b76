/* SPDX-License-Identifier: MIT */
/* Bytes from outside as text. */
#include "config.h"

#include <stdlib.h>

#include "common/text/text.h"
#include "tests/unit/check.h"

static void
check_clean(const char *in, size_t n, size_t max, const char *want)
{
	char *got = text_clean(in, n, max);

	CHECK_STR(got, want);
	CHECK(got != NULL && text_is_clean(got, strlen(got)));
	free(got);
}

static void
test_text(void)
{
	char buf[16];

	check_clean("plain", 5, 100, "plain");
	check_clean("j\xc3\xb6"
		    "b",
	    4, 100,
	    "j\xc3\xb6"
	    "b");
	check_clean("bad\xff\xfe", 5, 100, "bad\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xed\xa0\x80", 3, 100,
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xc0\xaf", 2, 100, "\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("\xf0\x9f\x9a", 3, 100,
	    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_clean("a\x1b[31m\n\tb\0c", 11, 100, "a\\x1b[31m\n\tb\\x00c");
	check_clean("a\xc2\x9b"
		    "31m\xc2\xa0",
	    8, 100, "a\\u009b31m\xc2\xa0");
	check_clean("0123456789abcdef", 16, 12, "0123\xe2\x80\xa6[cut]");
	check_clean("0123456789ab", 12, 12, "0123456789ab");
	check_clean("", 0, 12, "");
	CHECK_STR(text_vis("a\nb", buf, sizeof(buf)), "a\\nb");
	CHECK_STR(text_vis("0123456789abcdefghi", buf, sizeof(buf)),
	    "0123456789ab...");
}

int
main(void)
{
	test_text();
	return check_done();
}
