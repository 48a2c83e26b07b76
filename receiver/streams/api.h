/* SPDX-License-Identifier: MIT */
/*
 * JetStream's API as plain messages: the JSON of requests, the answers, and the
 * subject that acknowledges a message.  The format is that of nats-server 2.8
 * and later (NATS ADR-15, io.nats.jetstream.api.v1).
 */
#ifndef RECEIVER_STREAMS_API_H
#define RECEIVER_STREAMS_API_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"

#define API_SUBJECT_MAX 512 /* bytes of a subject with the NUL */
#define API_CONSUMER	"centre"

/* The limits of a stream; durations in s. */
struct api_limits {
	unsigned replicas;
	int64_t max_age;
	int64_t max_bytes;
	/* 1: states of nodes, of which only the last of each subject counts */
	int last_only;
};

/* The answer of a request. */
struct api_answer {
	unsigned code;	   /* of the error; 0 = none */
	char error[200];   /* its description */
	uint64_t created;  /* of stream or consumer, ns since 1970; 0 = none */
	uint64_t first;	   /* sequence of the first message */
	uint64_t last;	   /* 0 = there was none yet */
	uint64_t messages; /* in the stream */
	/* of the stream's configuration */
	unsigned subjects;
	char subject[API_SUBJECT_MAX]; /* the first one */
	char retention[16];
	char discard[16];
	char storage[16];
	int64_t replicas;
	int64_t max_age; /* ns, as the next one */
	int64_t window;	 /* of duplicates */
	int64_t max_bytes;
	int64_t max_message; /* bytes */
	int64_t per_subject; /* messages */
	int sealed;	     /* accepts no message */
	int foreign;	     /* it mirrors or sources another stream */
};

/* Writes the configuration of a stream: create and update use it. */
void api_stream_config(struct writer *w, const char *stream,
    const char *subject, const struct api_limits *limits);
/* 1 when the stream has other limits than api_stream_config() writes. */
int api_stream_differs(const struct api_answer *a, const char *subject,
    const struct api_limits *limits);
/*
 * Writes the request for our consumer, which begins with this sequence.
 * ack_wait in s.
 */
void api_consumer_config(struct writer *w, const char *stream, uint64_t from,
    unsigned ack_pending, int64_t ack_wait);
/* Writes a pull request; expires in ms. */
void api_pull(struct writer *w, unsigned messages, size_t bytes, int expires);
/* Returns 0, or -1 when the text is not the JSON of an answer. */
int api_answer_read(struct api_answer *a, const uint8_t *p, size_t n);

/* A subject that acknowledges a message. */
struct api_ack {
	const char *stream; /* not NUL-terminated */
	size_t stream_len;
	uint64_t delivered; /* times */
	uint64_t sequence;  /* of the stream */
	uint64_t time;	    /* it was stored, ns since 1970 */
	uint64_t pending;   /* messages at the broker behind this one */
};

/* Returns 0, or -1 when the subject is not that of our consumer. */
int api_ack_read(struct api_ack *ack, const char *subject);

#endif
