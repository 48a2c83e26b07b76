/* SPDX-License-Identifier: MIT */
/*
 * Counts of durations in fixed buckets, as OpenMetrics defines a histogram.
 * The bounds are constants, so that the histograms of several daemons can be
 * added.
 */
#ifndef COMMON_HISTOGRAM_H
#define COMMON_HISTOGRAM_H

#include <stdint.h>

/* The bounds of the buckets. */
enum histogram_scale {
	HISTOGRAM_COMMAND,  /* 10 ms to 2 min: commands, hooks to the spool */
	HISTOGRAM_DELIVERY, /* 1 s to 1 d: Slurm's times have whole seconds */
	HISTOGRAM_SCALE__COUNT
};

#define HISTOGRAM_BUCKETS 14 /* of each scale, without that to infinity */

/* Zero-initialise; always used with the same scale. */
struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS + 1]; /* the last: above all bounds */
	uint64_t total;
	uint64_t sum_ms;
};

/* A negative duration (a clock was set back) counts as 0. */
void histogram_add(struct histogram *h, enum histogram_scale scale, int64_t ms);

/* suffix: "_bucket", "_sum" or "_count"; le: the bound, or NULL. */
typedef void histogram_row_fn(const char *suffix, const char *le,
    const char *value, void *arg);
/* Calls emit for each sample, in the order that OpenMetrics requires. */
void histogram_rows(const struct histogram *h, enum histogram_scale scale,
    histogram_row_fn *emit, void *arg);

#endif
