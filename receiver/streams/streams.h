/* SPDX-License-Identifier: MIT */
/*
 * The streams of the clusters.  Creates and checks each cluster's stream and
 * our consumer, fetches messages within the budget and passes them up in the
 * order of the stream.  A message is acknowledged to the broker when the
 * submitter has acknowledged its record.
 */
#ifndef RECEIVER_STREAMS_STREAMS_H
#define RECEIVER_STREAMS_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "receiver/link/link.h"
#include "receiver/streams/api.h"

struct event_base;
struct streams;

#define STREAMS_MAX 256 /* clusters of a centre */

/* A message of a stream; all is borrowed for the call. */
struct stream_message {
	const char *cluster; /* whose stream it is */
	const char *subject;
	const char *id;	   /* header Nats-Msg-Id; "" = none */
	uint64_t sequence; /* of the stream */
	uint64_t times;	   /* it was delivered, with this one */
	const uint8_t *data;
	size_t len;
};

/* Result of the owner for a message. */
enum stream_take {
	STREAM_SENT, /* a record was sent to the submitter */
	STREAM_DONE, /* it needs no record: acknowledge it */
	STREAM_HELD  /* it stays with the broker, unacknowledged */
};

/* The kind of the messages in a stream. */
enum stream_kind {
	STREAM_OF_RUNS,	 /* records, from the position in the spool */
	STREAM_OF_STATES /* states of nodes; the last of each group counts */
};

struct streams_ops {
	/* *frame: the number of the record that was sent (STREAM_SENT). */
	enum stream_take (*message)(const struct stream_message *m,
	    uint64_t *frame, void *arg);
	/*
	 * All messages up to this one were taken; after the message() calls of
	 * one turn.
	 */
	void (*position)(const char *cluster, uint64_t identity,
	    uint64_t sequence, void *arg);
};

/* One cluster for status; texts are borrowed until the next call of the box. */
struct stream_status {
	const char *cluster;
	const char *stream;
	const char *problem; /* "" = none; it may be read nevertheless */
	const char *loss;    /* messages were lost; "" = none */
	int ready;	     /* messages are fetched */
	uint64_t taken;	     /* sequence */
	uint64_t waiting;    /* messages at the broker, as far as known */
	unsigned unacked;    /* at the submitter */
	unsigned held;	     /* have a newer schema */
	uint64_t received;
	uint64_t
	    expired;	 /* messages that expired or were deleted undelivered */
	int64_t renewed; /* epoch: another stream was found last; 0 = never */
	int64_t last;	 /* epoch of the last message; 0 = none yet */
};

/*
 * Borrows all; lives as long as the process, at most one of each kind.  A stream
 * of states has no position: ops->position is not called.  fatalx() when out of
 * memory.
 */
struct streams *streams_new(struct event_base *base, struct link *link,
    enum stream_kind kind, const struct streams_ops *ops, void *arg);
/*
 * Sets the clusters, a list as conf_list_item() reads it, and the limits of
 * their streams.  Streams of other clusters are not read any more.
 */
void streams_conf(struct streams *t, const char *clusters,
    const struct api_limits *limits);
/* For struct link_ops. */
void streams_link(struct streams *t, int up);
/*
 * Before streams_link(): another centre has read the streams.  What has expired
 * meanwhile is not lost.
 */
void streams_read_elsewhere(struct streams *t);
void streams_receive(struct streams *t, const struct link_message *m);
void streams_turn(struct streams *t);
/*
 * The submitter is connected or lost: forgets what it had not
 * acknowledged.  streams_position() for each cluster that it knows and then
 * streams_begin() follow.
 */
void streams_reset(struct streams *t);
void streams_position(struct streams *t, const char *cluster, uint64_t identity,
    uint64_t sequence);
void streams_begin(struct streams *t);
/* Records up to this frame are durable. */
void streams_acked(struct streams *t, uint64_t frame);
/* 1: nothing is fetched; a message that was asked for may still come. */
void streams_pause(struct streams *t, int pause);
/* 1: nothing is fetched of this cluster; streams_reset() ends it. */
void streams_hold(struct streams *t, const char *cluster, int hold);
/* 1 when each message of the cluster's stream that is known was passed up. */
int streams_is_current(const struct streams *t, const char *cluster);
/* 1 and *st for i from 0, else 0. */
int streams_status(const struct streams *t, unsigned i,
    struct stream_status *st);

#endif
