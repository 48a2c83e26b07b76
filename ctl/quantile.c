/* SPDX-License-Identifier: MIT */
/*
 * Quantiles of a histogram in the metrics.  Several rows with the same bound
 * are added.  Within a bucket the values count as evenly spread, as
 * Prometheus' histogram_quantile() does it.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/watch.h"

#define BUCKETS_MAX 64

/* The fields of a row of CTL_T_METRIC. */
enum {
	NAME,
	TYPE,
	HELP,
	LABELS,
	VALUE,
	FIELDS
};

struct bucket {
	double bound; /* seconds; infinity for the last one */
	double count; /* of values up to the bound */
};

static int
bucket_compare(const void *p, const void *q)
{
	const struct bucket *a = p, *b = q;

	return (a->bound > b->bound) - (a->bound < b->bound);
}

/* The bound in the labels: le="2.5".  -1: there is none. */
static double
bound_read(const char *labels)
{
	const char *p = strstr(labels, "le=\"");

	if (p == NULL)
		return -1;
	p += 4;
	return strncmp(p, "+Inf", 4) == 0 ? INFINITY : strtod(p, NULL);
}

static int
is_bucket_of(const char *row_name, const char *name)
{
	size_t n = strlen(name);

	return strncmp(row_name, name, n) == 0 &&
	    strcmp(row_name + n, "_bucket") == 0;
}

static unsigned
buckets_read(const struct ctl_reply *a, const char *name, const char *label,
    struct bucket *buckets)
{
	const struct ctl_row *row;
	double bound;
	unsigned n = 0, k;
	size_t i;

	for (i = 0; i < a->n; i++) {
		row = &a->rows[i];
		if (row->table != CTL_T_METRIC || row->n != FIELDS ||
		    !is_bucket_of(row->fields[NAME], name) ||
		    strstr(row->fields[LABELS], label) == NULL ||
		    (bound = bound_read(row->fields[LABELS])) < 0)
			continue;
		for (k = 0; k < n && buckets[k].bound != bound; k++)
			continue;
		if (k == n && n < BUCKETS_MAX)
			buckets[n++] = (struct bucket) { .bound = bound };
		if (k < BUCKETS_MAX)
			buckets[k].count += strtod(row->fields[VALUE], NULL);
	}
	qsort(buckets, n, sizeof(buckets[0]), bucket_compare);
	return n;
}

double
quantile_ms(const struct ctl_reply *metrics, const char *name,
    const char *label, double q)
{
	struct bucket b[BUCKETS_MAX] = { { 0, 0 } };
	unsigned n = buckets_read(metrics, name, label, b), k = 0;
	double rank, low, below;

	if (n == 0 || b[n - 1].count <= 0)
		return -1;
	rank = q * b[n - 1].count;
	while (k + 1 < n && b[k].count < rank)
		k++;
	low = k > 0 ? b[k - 1].bound : 0;
	below = k > 0 ? b[k - 1].count : 0;
	if (isinf(b[k].bound) || b[k].count <= below)
		return low * 1000;
	return (low +
		   (b[k].bound - low) * (rank - below) / (b[k].count - below)) *
	    1000;
}
