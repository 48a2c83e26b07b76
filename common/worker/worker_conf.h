/* SPDX-License-Identifier: MIT */
/* The messages about the configuration; only worker.c calls it. */
#ifndef COMMON_WORKER_WORKER_CONF_H
#define COMMON_WORKER_WORKER_CONF_H

#include "common/worker/worker.h"

/* One of conf, secrets, conf-end, conf-commit; owns fd of secrets. */
void worker_conf_frame(struct worker *w, unsigned type, struct reader *r,
    int fd);

#endif
