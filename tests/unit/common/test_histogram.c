/* SPDX-License-Identifier: MIT */
/* Histograms: bounds, sums, and their rows as text. */
#include "config.h"

#include "common/histogram.h"
#include "common/text/metrics_text.h"
#include "tests/unit/check.h"

static char text[4096];

static void
on_row(const char *suffix, const char *le, const char *value, void *arg)
{
	size_t n = strlen(text);

	snprintf(text + n, sizeof(text) - n, "%s %s %s\n", suffix,
	    le != NULL ? le : "-", value);
}

static void
test_bounds(void)
{
	struct histogram h = { .total = 0 };

	histogram_add(&h, HISTOGRAM_COMMAND, -5);
	histogram_add(&h, HISTOGRAM_COMMAND, 10);
	histogram_add(&h, HISTOGRAM_COMMAND, 11);
	histogram_add(&h, HISTOGRAM_COMMAND, 120000);
	histogram_add(&h, HISTOGRAM_COMMAND, 120001);
	CHECK_INT(h.count[0], 2);
	CHECK_INT(h.count[1], 1);
	CHECK_INT(h.count[HISTOGRAM_BUCKETS - 1], 1);
	CHECK_INT(h.count[HISTOGRAM_BUCKETS], 1);
	CHECK_INT(h.total, 5);
	text[0] = '\0';
	histogram_rows(&h, HISTOGRAM_COMMAND, on_row, NULL);
	CHECK_STR(text,
	    "_bucket 0.01 2\n_bucket 0.025 3\n_bucket 0.05 3\n_bucket 0.1 3\n"
	    "_bucket 0.25 3\n_bucket 0.5 3\n_bucket 1.0 3\n_bucket 2.5 3\n"
	    "_bucket 5.0 3\n_bucket 10.0 3\n_bucket 20.0 3\n_bucket 30.0 3\n"
	    "_bucket 60.0 3\n_bucket 120.0 4\n_bucket +Inf 5\n_count - 5\n"
	    "_sum - 240.022\n");
}

/* The labels and the constants that they stand for agree and ascend. */
static void
test_scales(void)
{
	int scale, i;
	double last, le;
	const char *p;

	for (scale = 0; scale < HISTOGRAM_SCALE__COUNT; scale++) {
		struct histogram h = { .total = 0 };

		text[0] = '\0';
		histogram_rows(&h, (enum histogram_scale)scale, on_row, NULL);
		for (i = 0, last = 0, p = text; i < HISTOGRAM_BUCKETS; i++) {
			le = strtod(p + strlen("_bucket "), NULL);
			CHECK(le > last);
			last = le;
			p = strchr(p, '\n') + 1;
			memset(&h, 0, sizeof(h));
			histogram_add(&h, (enum histogram_scale)scale,
			    (int64_t)(le * 1000 + 0.5));
			CHECK_INT(h.count[i], 1);
			histogram_add(&h, (enum histogram_scale)scale,
			    (int64_t)(le * 1000 + 0.5) + 1);
			CHECK_INT(h.count[i + 1], 1);
		}
	}
}

/* Rows of one family from two processes are together; suffixes are kept. */
static void
test_text(void)
{
	struct metric_row rows[] = {
		{ .fields = { "t_seconds_bucket", "histogram", "T.",
		      "a=\"1\",le=\"+Inf\"", "2" } },
		{ .fields = { "t_seconds_count", "histogram", "T.", "a=\"1\"",
		      "2" } },
		{ .fields = { "x_count", "gauge", "A gauge.", "", "3" } },
		{ .fields = { "e_total", "counter", "E.", "k=\"a\"", "1" } },
		{ .fields = { "t_seconds_sum", "histogram", "T.", "a=\"1\"",
		      "0.5" } },
		{ .fields = { "e", "counter", "E.", "k=\"\x1b\"", "2" } },
	};
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	metrics_print(f, rows, 6, METRICS_OPEN);
	fclose(f);
	CHECK_STR(out,
	    "# TYPE t_seconds histogram\n# HELP t_seconds T.\n"
	    "t_seconds_bucket{a=\"1\",le=\"+Inf\"} 2\n"
	    "t_seconds_count{a=\"1\"} 2\nt_seconds_sum{a=\"1\"} 0.5\n"
	    "# TYPE x_count gauge\n# HELP x_count A gauge.\nx_count 3\n"
	    "# TYPE e counter\n# HELP e E.\ne_total{k=\"a\"} 1\n"
	    "e_total{k=\"\\x1b\"} 2\n# EOF\n");
	free(out);
	f = open_memstream(&out, &n);
	metrics_print(f, rows + 4, 1, METRICS_PROMETHEUS);
	fclose(f);
	CHECK_STR(out,
	    "# TYPE e_total counter\n# HELP e_total E.\n"
	    "e_total{k=\"a\"} 1\n");
	free(out);
}

int
main(void)
{
	test_bounds();
	test_scales();
	test_text();
	return check_done();
}
