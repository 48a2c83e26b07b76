/* SPDX-License-Identifier: MIT */
/* The table from Slurm's abstract thread ids to one kind of host's OS ids. */
#ifndef SUBMITTER_PAYLOAD_THREAD_TABLE_H
#define SUBMITTER_PAYLOAD_THREAD_TABLE_H

#include <stdint.h>

#include <jansson.h>

#include "common/job.h"

struct thread_shape {
	uint32_t	 sockets;
	uint32_t	 cores;		/* per socket */
	uint32_t	 threads;	/* per core */
	uint32_t	 n;		/* all of them */
	uint32_t	*ids;		/* owned; by abstract id; NULL = no table */
};

/*
 * Makes the table of cc-backend's lists of OS ids: groups (sockets or memory
 * domains) and cores.  Without a table when they are not of equal size, an
 * id is missing or comes twice.
 */
void shape_read(struct thread_shape *shape, const json_t *groups,
    const json_t *cores);
void shape_clear(struct thread_shape *shape);
/* 1 when the host has this very shape for Slurm. */
int shape_fits(const struct thread_shape *shape, const struct job_host *host);

#endif
