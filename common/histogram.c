/* SPDX-License-Identifier: MIT */
/* Durations in fixed buckets; see histogram.h. */
#include "config.h"

#include <stdio.h>

#include "common/histogram.h"

/* Upper bounds in ms, and as OpenMetrics writes them in seconds. */
static const struct bound {
	int64_t ms;
	const char *le;
} bounds[HISTOGRAM_SCALE__COUNT][HISTOGRAM_BUCKETS] = {
	[HISTOGRAM_COMMAND] = { { 10, "0.01" }, { 25, "0.025" }, { 50, "0.05" },
	    { 100, "0.1" }, { 250, "0.25" }, { 500, "0.5" }, { 1000, "1.0" },
	    { 2500, "2.5" }, { 5000, "5.0" }, { 10000, "10.0" },
	    { 20000, "20.0" }, { 30000, "30.0" }, { 60000, "60.0" },
	    { 120000, "120.0" } },
	[HISTOGRAM_DELIVERY] = { { 1000, "1.0" }, { 2000, "2.0" },
	    { 5000, "5.0" }, { 10000, "10.0" }, { 20000, "20.0" },
	    { 30000, "30.0" }, { 60000, "60.0" }, { 120000, "120.0" },
	    { 300000, "300.0" }, { 600000, "600.0" }, { 1800000, "1800.0" },
	    { 3600000, "3600.0" }, { 14400000, "14400.0" },
	    { 86400000, "86400.0" } },
};

void
histogram_add(struct histogram *h, enum histogram_scale scale, int64_t ms)
{
	int i = 0;

	if (ms < 0)
		ms = 0;
	while (i < HISTOGRAM_BUCKETS && ms > bounds[scale][i].ms)
		i++;
	h->count[i]++;
	h->total++;
	h->sum_ms += (uint64_t)ms;
}

void
histogram_rows(const struct histogram *h, enum histogram_scale scale,
    histogram_row_fn *emit, void *arg)
{
	char value[40];
	uint64_t n = 0;
	int i;

	for (i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		n += h->count[i];
		snprintf(value, sizeof(value), "%llu", (unsigned long long)n);
		emit("_bucket",
		    i < HISTOGRAM_BUCKETS ? bounds[scale][i].le : "+Inf", value,
		    arg);
	}
	snprintf(value, sizeof(value), "%llu", (unsigned long long)h->total);
	emit("_count", NULL, value, arg);
	snprintf(value, sizeof(value), "%llu.%03llu",
	    (unsigned long long)h->sum_ms / 1000,
	    (unsigned long long)h->sum_ms % 1000);
	emit("_sum", NULL, value, arg);
}
