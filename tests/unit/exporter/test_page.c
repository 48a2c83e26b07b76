/* SPDX-License-Identifier: MIT */
/* Rows of a scrape: valid ones, and those of a worker that was taken over. */
#include "config.h"

#include <time.h>

#include "common/model/ctl.h"
#include "exporter/exporter.h"
#include "tests/unit/check.h"

static struct page page;

/* Adds a row; returns the number of rows that it dropped. */
static int
add(const char *name, const char *type, const char *help, const char *labels,
    const char *value)
{
	uint64_t before = page.dropped;
	struct writer w;
	struct reader r;

	wr_init(&w, 65536);
	ctl_row(&w, CTL_T_METRIC, name, type, help, labels, value, NULL);
	rd_init(&r, w.buf, w.len);
	page_add(&page, &r);
	wr_clear(&w);
	return (int)(page.dropped - before);
}

static void
test_valid(void)
{
	char *text;
	size_t len;

	CHECK_INT(add("x_total", "counter", "X.", "a=\"1\",b=\"c-d\"", "3"), 0);
	CHECK_INT(add("y", "gauge", "Y.", "", "-0.5"), 0);
	text = page_text(&page, METRICS_OPEN, &len);
	CHECK_STR(text,
	    "# TYPE x counter\n# HELP x X.\nx_total{a=\"1\",b=\"c-d\"} 3\n"
	    "# TYPE y gauge\n# HELP y Y.\ny -0.5\n# EOF\n");
	CHECK_INT(len, strlen(text));
	free(text);
	page_clear(&page);
	text = page_text(&page, METRICS_OPEN, &len);
	CHECK_STR(text, "# EOF\n");
	free(text);
}

static void
test_hostile(void)
{
	static char longest[5000];
	struct reader r;

	CHECK_INT(add("", "gauge", "H.", "", "1"), 1);
	CHECK_INT(add("x y", "gauge", "H.", "", "1"), 1);
	CHECK_INT(add("x{a=\"1\"}", "gauge", "H.", "", "1"), 1);
	CHECK_INT(add("x", "summary", "H.", "", "1"), 1);
	CHECK_INT(add("x", "gauge", "", "", "1"), 1);
	CHECK_INT(add("x", "gauge", "a\n# TYPE y gauge", "", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "a=\"1\"} 5\ny{b=\"2\"", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "a=\"1\"}", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "a=\"1", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "a=\"1\",", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "a=\"\\\"", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "=\"1\"", "1"), 1);
	CHECK_INT(add("x", "gauge", "H.", "", ""), 1);
	CHECK_INT(add("x", "gauge", "H.", "", "1 2"), 1);
	CHECK_INT(add("x", "gauge", "H.", "", "1-2"), 1);
	CHECK_INT(add("x", "gauge", "H.", "", "nan"), 1);
	CHECK_INT(add("x", "gauge", "\xc3\xa9", "", "1"), 1);
	memset(longest, 'a', sizeof(longest) - 1);
	CHECK_INT(add("x", "gauge", longest, "", "1"), 1);
	rd_init(&r, "\x03", 1);
	page_add(&page, &r);
	rd_init(&r, "\x00\x05\x00\x00\x00\x00", 6);
	page_add(&page, &r);
	CHECK_INT(page.n, 0);
	CHECK_INT(page.dropped, 20);
	page_clear(&page);
}

static void
test_limits(void)
{
	char help[1801];
	int i, n = 0;

	for (i = 0; i < PAGE_ROWS_MAX + 5; i++)
		n += add("x", "gauge", "H.", "", "1");
	CHECK_INT(n, 5);
	CHECK_INT(page.n, PAGE_ROWS_MAX);
	page_clear(&page);
	memset(help, 'h', sizeof(help) - 1);
	help[sizeof(help) - 1] = '\0';
	for (i = 0; page.dropped == 0 && i < PAGE_ROWS_MAX; i++)
		add("x", "gauge", help, "", "1");
	CHECK(page.bytes <= PAGE_BYTES_MAX);
	CHECK_INT(page.dropped, 1);
	page_clear(&page);
}

/* The least processor time of five pages with n families, ns. */
static int64_t
page_time(unsigned n)
{
	struct timespec from, to;
	int64_t ns, least = INT64_MAX;
	char name[32], *text;
	size_t len;
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "x%u", i * 7919 % n);
		add(name, "gauge", "H.", "", "1");
	}
	for (i = 0; i < 5; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		text = page_text(&page, METRICS_OPEN, &len);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		CHECK(text != NULL && len > (size_t)n * 20);
		free(text);
		ns = (to.tv_sec - from.tv_sec) * INT64_C(1000000000) +
		    to.tv_nsec - from.tv_nsec;
		least = ns < least ? ns : least;
	}
	page_clear(&page);
	return least;
}

/* 16 times as many families, each with one row: not 256 times as long. */
static void
test_families(void)
{
	int64_t few = page_time(512), many = page_time(8192);

	if (many > 100 * few)
		fprintf(stderr, "512: %lld ns, 8192: %lld ns\n", (long long)few,
		    (long long)many);
	CHECK(many <= 100 * few);
}

/* The rows of a family that arrive apart stay in their order, together. */
static void
test_order(void)
{
	char *text;
	size_t len;

	add("b", "gauge", "B.", "n=\"1\"", "1");
	add("a_total", "counter", "A.", "", "2");
	add("b", "gauge", "B.", "n=\"0\"", "3");
	add("a", "counter", "A.", "n=\"0\"", "4");
	text = page_text(&page, METRICS_OPEN, &len);
	CHECK_STR(text,
	    "# TYPE b gauge\n# HELP b B.\nb{n=\"1\"} 1\nb{n=\"0\"} 3\n"
	    "# TYPE a counter\n# HELP a A.\na_total 2\na_total{n=\"0\"} 4\n"
	    "# EOF\n");
	free(text);
	page_clear(&page);
}

int
main(void)
{
	test_valid();
	test_order();
	test_families();
	test_hostile();
	test_limits();
	return check_done();
}
