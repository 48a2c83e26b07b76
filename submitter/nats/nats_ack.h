/* SPDX-License-Identifier: MIT */
/* The answer of a stream to a message. */
#ifndef SUBMITTER_NATS_NATS_ACK_H
#define SUBMITTER_NATS_NATS_ACK_H

#include <stddef.h>

/* Codes of JetStream in err_code. */
#define ACK_TOO_LONG   10054 /* longer than max_msg_size of the stream */
#define ACK_IN_PROCESS 10158 /* nats-server 2.11: as nats_ack.in_process */

#define ACK_STREAM_MAX 256 /* nats-server's longest name, with the NUL */

struct nats_ack {
	int stored; /* in the stream, durable */
	int duplicate;
	/*
	 * The stream has noted the id, and not stored the message: it may do so,
	 * or not.  nats-server 2.10 calls this a duplicate with the number 0.
	 */
	int in_process;
	char stream[ACK_STREAM_MAX]; /* its name, without control bytes */
	unsigned code;		     /* err_code; 0 = none */
	char text[120]; /* description of the error, without control bytes */
};

/*
 * Reads {"stream":S,"seq":N,"duplicate":B} or {"error":{"code":N,"err_code":N,
 * "description":S},...}.  Returns 0, or -1 when it is neither.
 */
int nats_ack_read(const char *p, size_t n, struct nats_ack *ack);

#endif
