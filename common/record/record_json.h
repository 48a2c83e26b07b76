/* SPDX-License-Identifier: MIT */
/*
 * The whole state of a run as one JSON object: what the submitter of a cluster
 * publishes to its stream and what the receiver at the centre reads.  The format
 * is in cc-slurm-adapter-protocol(7).  Reading needs no tree: the memory is that
 * of the record and of its longest text.
 */
#ifndef COMMON_RECORD_RECORD_JSON_H
#define COMMON_RECORD_RECORD_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/job.h"

/*
 * A reader of schema N reads N and N - 1.  A new member does not change the
 * number: a reader ignores members that it does not know.
 */
#define RECORD_SCHEMA 1

/* bytes of a reason with the NUL; longer ones are cut */
#define RECORD_WHY_MAX 200

/*
 * Appends the object to w; wr_end() tells whether it fits.  revision replaces
 * job->revision.  Texts that are not UTF-8 or have control characters are
 * written as text_clean() returns them; a text is never cut otherwise.
 */
void record_json_write(struct writer *w, const struct job *job,
    uint64_t revision);

enum record_json {
	RECORD_JSON_OK,
	RECORD_JSON_INVALID, /* no record; why names the member */
	RECORD_JSON_NEWER,   /* its schema is above RECORD_SCHEMA */
	RECORD_JSON_NO_MEMORY
};

/*
 * Reads one object of len bytes; job_init() first, and job_clear() in each case.
 * Sets *revision and job->revision.  why gets the reason of any result but
 * RECORD_JSON_OK; it may quote no more than names of members of this format.
 */
enum record_json record_json_read(struct job *job, uint64_t *revision,
    const char *text, size_t len, char *why, size_t size);

#endif
