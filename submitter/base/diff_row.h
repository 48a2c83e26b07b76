/* SPDX-License-Identifier: MIT */
/* Rows of CTL_T_DIFF: runs that differ from Slurm or cc-backend. */
#ifndef SUBMITTER_BASE_DIFF_ROW_H
#define SUBMITTER_BASE_DIFF_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "common/model/job.h"

struct submitter;

/*
 * Bytes of rows in one reply: the supervisor disconnects a client with more than
 * 8 MiB that are not read, and the collector adds rows.
 */
#define DIFF_BYTES_MAX (4u << 20)

/* The rows of one reply. */
struct diff_rows {
	uint64_t request; /* 0 = none */
	size_t bytes;
	unsigned untold; /* further rows are only counted */
};

/* Sends the row as a part of the reply to the request.  Returns its bytes. */
size_t diff_row_send(struct submitter *s, uint64_t request,
    const struct run_key *key, const char *difference, const char *action);
/* Sends the row, or counts it when the reply has no space. */
void diff_rows_add(struct submitter *s, struct diff_rows *to,
    const struct run_key *key, const char *difference, const char *action);
/* Writes "; 5 rows are not shown", or "". */
void diff_rows_untold(const struct diff_rows *rows, char *buf, size_t size);

#endif
