/* SPDX-License-Identifier: MIT */
/*
 * Rows of CTL_T_METRIC as text: OpenMetrics 1.0, or Prometheus' older text form
 * 0.0.4.  The rows of one family are together, type and help before them.
 */
#ifndef COMMON_METRICS_TEXT_H
#define COMMON_METRICS_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The fields of a row, in the order of ctl_columns(). */
enum metric_field {
	METRIC_NAME,
	METRIC_TYPE, /* "counter", "gauge" or "histogram" */
	METRIC_HELP,
	METRIC_LABELS, /* without braces, or "" */
	METRIC_VALUE,
	METRIC_FIELDS
};

struct metric_row {
	const char *fields[METRIC_FIELDS]; /* borrowed */
	size_t at;			   /* these two: of metrics_print() */
	size_t family;
};

enum metrics_form {
	METRICS_OPEN,	   /* OpenMetrics */
	METRICS_PROMETHEUS /* the older text form */
};

/*
 * metrics_check.c: 1 when the row breaks no line of the text and adds none to it.  A
 * compromised worker can send any row.  A NULL is not valid.
 */
int metric_is_valid(const char *const fields[METRIC_FIELDS]);
/*
 * Writes n rows and changes their order: families in the order of their first
 * rows.  Control characters in the fields are escaped; a field is cut after 4 KiB.
 */
void metrics_print(FILE *f, struct metric_row *rows, size_t n,
    enum metrics_form form);

#endif
