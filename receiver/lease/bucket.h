/* SPDX-License-Identifier: MIT */
/*
 * The lease in NATS: passes the requests of lease.h to the link and the answers
 * back, and has the clock.
 */
#ifndef RECEIVER_LEASE_BUCKET_H
#define RECEIVER_LEASE_BUCKET_H

#include <stdint.h>

#include "receiver/link/link.h"

struct bucket;
struct event_base;

/* The state of the lease, for status. */
struct bucket_status {
	int active;
	int64_t since;	    /* epoch: active without a break; 0 = it is not */
	const char *holder; /* host of the last entry; "" = none is known */
	int64_t holder_since;
	int over; /* the last entry is ours, and its time is over */
	/* ms that the last entry is the same; 0 while active */
	int64_t unchanged;
	const char *problem; /* "" = none */
};

/*
 * until: the centre is active until this CLOCK_BOOTTIME in ms, 0 = it is not.
 * Borrows all; lives as long as the process.  fatalx() when out of memory.
 */
struct bucket *bucket_new(struct event_base *base, struct link *link,
    void (*until)(int64_t until, void *arg), void *arg);
/* ms: as of lease_conf(). */
void bucket_conf(struct bucket *b, int on, int64_t ms, unsigned replicas);
/* The link. */
void bucket_link(struct bucket *b, int up);
/* The submitter is there and has told id and until of an earlier lease, or 0. */
void bucket_submitter(struct bucket *b, int there, uint64_t id, int64_t until);
/*
 * As lease_release(); released(done, arg) with the arg of bucket_new().  0 or -1.
 */
int bucket_release(struct bucket *b, void (*released)(int done, void *arg));
/* ms that cc-backend may work on a request without an answer. */
int64_t bucket_margin(const struct bucket *b);
/*
 * 1 once when another centre was active since the last call, and in the last age
 * seconds.
 */
int bucket_elsewhere(struct bucket *b, int64_t age);
/* 1 when the message was an answer to a request of the lease. */
int bucket_message(struct bucket *b, const struct link_message *m);
uint64_t bucket_id(const struct bucket *b);
/* 0 = not active. */
int64_t bucket_until(const struct bucket *b);
void bucket_status(const struct bucket *b, struct bucket_status *st);

#endif
