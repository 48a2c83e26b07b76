/* SPDX-License-Identifier: MIT */
/* Fields of frames and rows. */
#include "config.h"

#include <stdlib.h>

#include "common/codec.h"
#include "tests/unit/check.h"

/* The sum or the difference of two times must be defined. */
static void
test_time(void)
{
	static const int64_t bad[] = { -1, INT64_MIN, INT64_MAX,
		TIME_S_MAX + 1 };
	struct writer w;
	struct reader r;
	size_t i;

	wr_init(&w, 64);
	wr_i64(&w, 0);
	wr_i64(&w, TIME_S_MAX);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(rd_time(&r), 0);
	CHECK(rd_time(&r) == TIME_S_MAX);
	CHECK(rd_end(&r) == 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		wr_reset(&w);
		wr_i64(&w, bad[i]);
		rd_init(&r, w.buf, w.len);
		CHECK_INT(rd_time(&r), 0);
		CHECK(rd_end(&r) == -1);
	}
	wr_clear(&w);
}

static void
test_codec(void)
{
	struct writer w;
	struct reader r;
	char name[8], *s;

	wr_init(&w, 64);
	wr_u8(&w, 7);
	wr_u64(&w, UINT64_MAX);
	wr_i64(&w, -5);
	wr_str(&w, "alpha");
	wr_str(&w, NULL);
	CHECK(wr_end(&w) == 0);
	rd_init(&r, w.buf, w.len);
	CHECK_INT(rd_u8(&r), 7);
	CHECK(rd_u64(&r) == UINT64_MAX);
	CHECK_INT(rd_i64(&r), -5);
	rd_name(&r, name, sizeof(name));
	CHECK_STR(name, "alpha");
	s = rd_strdup(&r, 10);
	CHECK_STR(s, "");
	free(s);
	CHECK(rd_end(&r) == 0);
	rd_u8(&r);
	CHECK(rd_end(&r) == -1);

	/* A name that does not fit, a text too long, a NUL inside. */
	rd_init(&r, w.buf + 17, w.len - 17);
	rd_name(&r, name, 5);
	CHECK(r.err && name[0] == '\0');
	rd_init(&r, w.buf + 17, w.len - 17);
	CHECK(rd_strdup(&r, 4) == NULL && r.err);
	rd_init(&r, "\3\0\0\0a\0b", 7);
	rd_name(&r, name, sizeof(name));
	CHECK(r.err);

	wr_mem(&w, "0123456789012345678901234567890123456789", 40);
	CHECK(wr_end(&w) == -1);
	wr_clear(&w);
}

/* A field that is too long, and one for which there is no memory. */
static void
test_no_memory(void)
{
	struct writer w;

	wr_init(&w, 4);
	wr_u64(&w, 1);
	CHECK_INT(wr_end(&w), -1);
	CHECK(!wr_no_memory(&w));
	wr_clear(&w);
#ifndef SANITIZED /* the sanitizer ends the process */
	wr_init(&w, SIZE_MAX);
	wr_mem(&w, "", (size_t)1 << 47);
	CHECK_INT(wr_end(&w), -1);
	CHECK(wr_no_memory(&w));
	wr_reset(&w);
	CHECK_INT(wr_end(&w), 0);
	CHECK(!wr_no_memory(&w));
	wr_clear(&w);
#endif
}

int
main(void)
{
	test_codec();
	test_time();
	test_no_memory();
	return check_done();
}
