/* SPDX-License-Identifier: MIT */
/*
 * The record of a run as a message for the stream of its cluster: the JSON of
 * common/record, made short enough for the broker.
 */
#ifndef SUBMITTER_PAYLOAD_RECORD_MESSAGE_H
#define SUBMITTER_PAYLOAD_RECORD_MESSAGE_H

#include <stddef.h>

#include "common/codec.h"
#include "common/model/job.h"

/*
 * Writes the record with its revision (0 becomes 1) to w, which is empty, in at
 * most max bytes: a longer one loses its job script, then slurmInfo, and its
 * message says so.  Changes job.  Returns 0, 1 when something was left out, or
 * -1 with *why and errno EMSGSIZE when the rest is too long, too, or ENOMEM.
 */
int record_message_make(struct job *job, size_t max, struct writer *w,
    const char **why);

/*
 * The id of the message: CLUSTER:JOB:START:record:REVISION.  again: as for
 * message_id().
 */
#define RECORD_ID_MAX (CLUSTER_MAX + 128)
void record_message_id(const struct job *job, int64_t again, char *buf,
    size_t size);

#endif
