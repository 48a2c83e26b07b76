/* SPDX-License-Identifier: MIT */
/* Rows of the receiver for `status` and `metrics`, and its summary. */
#ifndef RECEIVER_REPORT_H
#define RECEIVER_REPORT_H

#include "receiver/receiver.h"

/* The rows of the receiver and one for each cluster; no end of the reply. */
void report_status(struct receiver *v, uint64_t request);
void report_metrics(struct receiver *v, uint64_t request);
/* For struct worker_ops. */
void report_summary(struct worker *w, struct summary *to);

#endif
