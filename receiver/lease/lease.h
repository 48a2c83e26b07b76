/* SPDX-License-Identifier: MIT */
/*
 * The lease of two centres (activeOnly with source "stream"): which of them may
 * send requests to cc-backend.  This file decides; it has no clock and no
 * connection.  All times are CLOCK_BOOTTIME in ms, so that a stopped process
 * and a suspended host see that their time is over.  bucket.h connects it with
 * NATS; the reasons are in lease.c.
 */
#ifndef RECEIVER_LEASE_LEASE_H
#define RECEIVER_LEASE_LEASE_H

#include <stdint.h>

#define LEASE_HOLDER_MAX 128	/* bytes of a host's name with the NUL */
#define LEASE_MS_MIN	 1000	/* of the time of a lease */
#define LEASE_MS_MAX	 300000 /* the same; also of an entry that is invalid */
#define LEASE_WHY_MAX	 200

/*
 * The meaning of an entry.  An entry with a state that a centre does not know
 * counts as held.
 */
enum lease_state {
	LEASE_HELD,	/* its writer is active */
	LEASE_CLAIMED,	/* the first of a bucket: nobody is active yet */
	LEASE_RELEASED, /* its writer has ended in order: nobody is active */
	LEASE__STATES
};

/* The value of the entry, written by the holder. */
struct lease_value {
	enum lease_state state;
	uint64_t id;	/* of the centre, random; 0 = not known */
	uint64_t count; /* of its writes */
	int64_t ms;	/* the lease lasts, from the time it was sent */
	/* epoch: it is the holder, or it has released the lease; 0 = neither */
	int64_t since;
	char holder[LEASE_HOLDER_MAX];
};

/* The entry in the bucket. */
struct lease_entry {
	uint64_t seq; /* of the stream; 0 = there is no entry */
	struct lease_value value;
};

/* Each request has one answer, or none until its deadline. */
struct lease_ops {
	/* Makes the bucket if it does not exist: opened or failed. */
	int (*open)(void *arg);
	/* Reads the entry: lease_read() or failed. */
	int (*read)(void *arg);
	/*
	 * Writes if the entry has this sequence: written, refused or failed.
	 * The value is borrowed.
	 */
	int (*write)(const struct lease_value *value, uint64_t expect,
	    void *arg);
	/* The centre is active until then; 0 = it is not. */
	void (*until)(int64_t until, void *arg);
	int64_t (*epoch)(void *arg);
	/* The end of lease_release(); 1 = the entry says so. */
	void (*released)(int done, void *arg);
};

enum lease_step {
	LEASE_IDLE, /* no connection, or no submitter */
	LEASE_OPENS,
	LEASE_READS,
	LEASE_WRITES,
	LEASE_WAITS
};

struct lease {
	const struct lease_ops *ops;
	void *arg;
	int64_t ms;
	char holder[LEASE_HOLDER_MAX]; /* this host */
	uint64_t id;		       /* of this centre */
	uint64_t adopts; /* the id of an earlier process, until a read; or 0 */
	enum lease_step step;
	int64_t next;	 /* the time of the step; 0 = none */
	int opened;	 /* the bucket exists */
	int doubt;	 /* a write has no answer: read first */
	int held;	 /* seen is an entry of ours */
	int known;	 /* seen is valid */
	int64_t seen_at; /* when seen was read for the first time */
	struct lease_entry seen;
	uint64_t count;	 /* of the last write */
	uint64_t expect; /* of the last write */
	int64_t sent;	 /* of the last write */
	struct lease_value sent_value;
	/*
	 * epoch: when another centre was active, as far as the entries show;
	 * 0 = none was; bucket_elsewhere() ends it
	 */
	int64_t elsewhere;
	int refused;   /* the last write was refused */
	int releases;  /* lease_release() was called */
	int64_t until; /* 0 = not active */
	int64_t since; /* epoch: holder without a break; 0 = it is not */
	char problem[LEASE_WHY_MAX]; /* "" = none */
};

/* id: random and not 0.  Borrows ops. */
void lease_init(struct lease *l, uint64_t id, const struct lease_ops *ops,
    void *arg);
/* The id that identifies the lease to a later process of this centre. */
uint64_t lease_id(const struct lease *l);
/* ms: LEASE_MS_MIN to LEASE_MS_MAX; holder is cut at LEASE_HOLDER_MAX. */
void lease_conf(struct lease *l, int64_t ms, const char *holder);
/*
 * The submitter has a lease of an earlier process of this centre: its entry is
 * ours.  Without an effect when this process has written, or when until is 0:
 * the earlier process was not active.
 */
void lease_adopt(struct lease *l, uint64_t id, int64_t until, int64_t now);
/* 1: connection and submitter are there.  0: answers do not arrive any more. */
void lease_link(struct lease *l, int up, int64_t now);
void lease_opened(struct lease *l, int64_t now);
void lease_read(struct lease *l, const struct lease_entry *e, int64_t now);
/* seq: that of the entry. */
void lease_written(struct lease *l, uint64_t seq, int64_t now);
/* The entry has another sequence. */
void lease_refused(struct lease *l, int64_t now);
void lease_failed(struct lease *l, const char *why, int64_t now);
void lease_timer(struct lease *l, int64_t now);
/* When lease_timer() is due; 0 = never. */
int64_t lease_next(const struct lease *l);
/*
 * The process ends in order, and the submitter has no request under way whose
 * answer was not seen, now and in the lease_margin() before: ends the right and
 * writes that the lease is free.  Returns 0 and calls released() later, or -1:
 * there is nothing to release.
 */
int lease_release(struct lease *l, int64_t now);
/* ms that cc-backend may work on a request without an answer. */
int64_t lease_margin(const struct lease *l);
/* ms that a centre waits with an unchanged entry before it takes the lease. */
int64_t lease_wait(const struct lease *l);

#endif
