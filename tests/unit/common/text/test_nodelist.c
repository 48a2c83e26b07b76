/* SPDX-License-Identifier: MIT */
/* Hosts in node lists of cc-backend. */
#include "config.h"

#include "common/text/nodelist.h"
#include "tests/unit/check.h"

static void
check_lists(void)
{
	CHECK(nodelist_has("n[1-4]", "n1"));
	CHECK(nodelist_has("n[1-4]", "n4"));
	CHECK(!nodelist_has("n[1-4]", "n5"));
	CHECK(!nodelist_has("n[1-4]", "n11"));
	CHECK(!nodelist_has("n[1-4]", "n"));
	CHECK(nodelist_has("b[01-16]", "b09"));
	CHECK(!nodelist_has("b[01-16]", "b9"));
	CHECK(!nodelist_has("b[01-16]", "b17"));
	CHECK(nodelist_has("n[1-10]", "n10"));
	CHECK(nodelist_has("n[1-10]", "n2"));
	CHECK(!nodelist_has("n[1-10]", "n02"));
	CHECK(nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "login"));
	CHECK(nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "a064"));
	CHECK(nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "a100"));
	CHECK(!nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "a065"));
	CHECK(nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "b3-ib1"));
	CHECK(!nodelist_has("login,a[001-064,100],b[1,3]-ib[0-1]", "b2-ib1"));
	CHECK(nodelist_has("a[1-2]x", "a1x"));
	CHECK(!nodelist_has("a[1-2]x", "a1"));
	CHECK(nodelist_has("*", "anything"));
	CHECK(!nodelist_has("*", ""));
	CHECK(!nodelist_has("", "n1"));
	CHECK(!nodelist_has("n[", "n1"));
	CHECK(!nodelist_has("n[]", "n"));
	CHECK(!nodelist_has("n]1", "n1"));
	CHECK(nodelist_has("n]],m1", "m1"));
	CHECK(nodelist_has("[1,[2],m1", "m1"));
	CHECK(!nodelist_has("n[1-]", "n1"));
	CHECK(!nodelist_has("n[-4]", "n4"));
	CHECK(!nodelist_has("n[1-99999999999999999999999]", "n1"));
}

int
main(void)
{
	check_lists();
	return check_done();
}
