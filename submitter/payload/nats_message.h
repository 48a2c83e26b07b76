/* SPDX-License-Identifier: MIT */
/*
 * One event as a NATS message: a line of InfluxDB's line protocol, as used by
 * cc-backend and the Go adapter, or one JSON object:
 *
 *	{"event":"start","body":{...body of start_job...}}
 */
#ifndef SUBMITTER_PAYLOAD_NATS_MESSAGE_H
#define SUBMITTER_PAYLOAD_NATS_MESSAGE_H

#include <stddef.h>

#include "common/codec.h"
#include "common/model/job.h"
#include "submitter/payload/payload.h"

enum message {
	MESSAGE_START,
	MESSAGE_STOP
};

enum message_format {
	MESSAGE_LINE,
	MESSAGE_JSON
};

struct message_how {
	enum message_format format;
	const char *hostname; /* tag of line protocol; borrowed */
	size_t max;	      /* bytes that the broker accepts */
};

/*
 * Id of run and event; JetStream detects duplicates by it.  again: epoch of the
 * command that publishes the run again, 0 = the first time.  The stream may
 * still remember the first id.
 */
#define MESSAGE_ID_MAX (CLUSTER_MAX * 3 + 96)
void message_id(const struct run_key *key, enum message kind, int64_t again,
    char *buf, size_t size);

/*
 * Writes the message to w, which is empty.  A message longer than max gets a
 * shorter or no jobScript, then a shorter or no slurmInfo, then no metaData.
 * Returns 0, 1 when texts were shortened, or -1 with *why and errno: E2BIG when
 * the shortest message is too long, ENOMEM, else EINVAL.
 */
int message_make(const struct payload *p, const struct payload_how *how,
    const struct message_how *mh, const struct job *job, enum message kind,
    struct writer *w, const char **why);

#endif
