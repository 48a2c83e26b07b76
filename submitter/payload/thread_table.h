/* SPDX-License-Identifier: MIT */
/* Maps Slurm's abstract thread ids to the OS ids of one kind of host. */
#ifndef SUBMITTER_PAYLOAD_THREAD_TABLE_H
#define SUBMITTER_PAYLOAD_THREAD_TABLE_H

#include <stdint.h>

#include <jansson.h>

#include "common/model/job.h"

struct thread_shape {
	uint32_t sockets;
	uint32_t cores;	  /* per socket */
	uint32_t threads; /* per core */
	uint32_t n;	  /* per host */
	uint32_t *ids;	  /* owned; OS id by abstract id; NULL = no table */
};

/*
 * Makes the table from cc-backend's lists of OS ids per group (socket or memory
 * domain) and per core.  There is no table when the groups or cores differ in
 * size, or an id is missing or listed twice.
 */
void shape_read(struct thread_shape *shape, const json_t *groups,
    const json_t *cores);
void shape_clear(struct thread_shape *shape);
/* 1 when the host has the same shape in Slurm. */
int shape_fits(const struct thread_shape *shape, const struct job_host *host);

#endif
