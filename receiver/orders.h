/* SPDX-License-Identifier: MIT */
/* The requests of the admin tool that a cluster answers. */
#ifndef RECEIVER_ORDERS_H
#define RECEIVER_ORDERS_H

#include "receiver/receiver.h"

/* CTL_BACKFILL: the cluster publishes the runs of a range again. */
void orders_backfill(struct receiver *v, uint64_t request,
    const struct ctl_request *req);
/* CTL_EXPLAIN_SLURM: what the cluster has of the first job. */
void orders_explain(struct receiver *v, uint64_t request,
    const struct ctl_request *req);
/* For struct asks_ops: ends the request. */
void orders_answer(struct receiver *v, const struct asks_order *order, int ok,
    const char *text);

#endif
