/* SPDX-License-Identifier: MIT */
/*
 * The intake decodes the messages of the streams, checks that each record is of
 * the cluster of its stream, and sends it to the submitter.  The submitter
 * acknowledges records and positions by their number.
 */
#ifndef RECEIVER_INTAKE_INTAKE_H
#define RECEIVER_INTAKE_INTAKE_H

#include <stdint.h>

#include "common/ipc/channel.h"
#include "common/model/job.h"
#include "common/worker/inflight.h"
#include "receiver/streams/streams.h"

struct intake;

#define QUARANTINE_MAX 64 /* runs; a worker died twice on each */

struct intake_counts {
	uint64_t records;     /* sent to the submitter */
	uint64_t foreign;     /* of another cluster than their subject's */
	uint64_t invalid;     /* no record */
	uint64_t newer;	      /* schema above ours; they stay at the broker */
	uint64_t quarantined; /* not decoded */
	uint64_t states;      /* messages with states of nodes, sent as well */
};

/* Lives as long as the process; fatalx() when out of memory. */
struct intake *intake_new(void);
/* A new submitter, NULL: lost.  Numbers begin again. */
void intake_peer(struct intake *b, struct channel *submitter);
/* Messages of this run are not decoded from now on. */
void intake_quarantine(struct intake *b, const struct run_key *key);
/*
 * Sends the record to the submitter; *frame is its number.  inflight may be
 * NULL.
 */
enum stream_take intake_message(struct intake *b, struct inflight *inflight,
    const struct stream_message *m, uint64_t *frame);
/* Sends the states of nodes to the submitter, which answers nothing. */
enum stream_take intake_states(struct intake *b,
    const struct stream_message *m);
/* Sends the position of a stream, behind its records. */
void intake_position(struct intake *b, const char *cluster, uint64_t identity,
    uint64_t sequence);
const struct intake_counts *intake_counts(const struct intake *b);
unsigned intake_quarantine_size(const struct intake *b);

#endif
