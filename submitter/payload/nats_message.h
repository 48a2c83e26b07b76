/* SPDX-License-Identifier: MIT */
/*
 * One event as NATS carries it: a line of InfluxDB's protocol, as cc-backend
 * and the Go adapter have it, or one JSON object:
 *
 *	{"event":"start","body":{...as start_job takes it...}}
 */
#ifndef SUBMITTER_PAYLOAD_NATS_MESSAGE_H
#define SUBMITTER_PAYLOAD_NATS_MESSAGE_H

#include <stddef.h>

#include "common/codec.h"
#include "common/job.h"
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
	enum message_format	 format;
	const char		*hostname;	/* tag of the line; borrowed */
	size_t			 max;		/* bytes the broker takes */
};

/* Run and event, the same at each repetition: what a stream drops doubles by. */
#define MESSAGE_ID_MAX	(CLUSTER_MAX * 3 + 64)
void message_id(const struct run_key *key, enum message kind, char *buf,
    size_t size);

/*
 * The message, appended to w (empty before).  What is too long goes without
 * jobScript, cut or whole, then without slurmInfo, then without metaData.
 * 0, 1 when texts were shortened, or -1 with *why (E2BIG in errno when even
 * the bare one is too long, else EINVAL).
 */
int message_make(const struct payload *p, const struct payload_how *how,
    const struct message_how *mh, const struct job *job, enum message kind,
    struct writer *w, const char **why);

#endif
