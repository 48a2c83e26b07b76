/* SPDX-License-Identifier: MIT */
/* What relay.c, gate.c and relay_nats.c share. */
#ifndef SUBMITTER_DELIVERY_DELIVERY_H
#define SUBMITTER_DELIVERY_DELIVERY_H

#include <time.h>

#include "common/log.h"
#include "submitter/base/submitter.h"

/*
 * Rows taken from the spool in one go: one commit for all of them.  The more
 * the cheaper, but what is due meanwhile waits until they are sent: so many as
 * go out in some QUEUE_MS, within these bounds.
 */
#define QUEUE_MIN	128
#define QUEUE_MAX	1024
#define QUEUE_MS	100

/* Waits after a failure, ms: doubled each time, spread over the upper half. */
#define RETRY_FIRST	500
#define RETRY_MAX	60000
#define STOPPED_WAIT	30000	/* 401: the token does not mend itself */

enum breaker_state {
	BREAKER_UNUSED,	/* nothing to deliver to */
	BREAKER_DOWN,	/* a probe is under way or due */
	BREAKER_HALF_OPEN,	/* it answers again: one request at a time */
	BREAKER_UP,
	BREAKER_UNAUTHORIZED,	/* token refused; probed slowly */
	BREAKER_WRONG_ADDRESS	/* not an address of cc-backend; probed slowly */
};

struct breaker {
	struct submitter *s;
	enum breaker_state	 state;
	struct event	*timer;
	unsigned	 failures;	/* since the last good answer */
	unsigned	 probes;	/* failed ones in a row */
	int		 asking;	/* a probe or clusters request is out */
	int		 stale;		/* it was made with an older configuration */
	int		 doubt;		/* it may have been exchanged: probe when it answers */
	int64_t		 probed;	/* spool_now() of the last probe */
	enum breaker_state	 said;		/* what the log says of this outage */
	int64_t		 down;		/* spool_now(); 0 = up */
	int64_t		 clusters_at;	/* spool_now() of the last good ones */
	unsigned	 no_clusters;	/* failed in a row, behind a good probe */
	char		 why[400];	/* of the last failure */
	char		 last[400];	/* answer, for status */
};

struct rest_delivery {
	struct submitter *s;
	struct breaker	 breaker;
	struct event	*run;		/* soon */
	struct event	*due;		/* when the next row is due */
	int64_t		 queue[QUEUE_MAX];
	unsigned	 n_queue;
	unsigned	 want;		/* of them, the next time */
	int64_t		 filled;	/* spool_now() of the last time */
	unsigned	 at;		/* next in the queue */
	unsigned	 in_flight;
	int		 lost;		/* a rollback: leases are to be taken back */
	struct log_limit said_refused;
	struct log_limit said_tags;
	/* NATS */
	struct event	*nats_run;
	struct event	*nats_due;
	unsigned	 nats_in_flight;
	int		 nats_lost;
};

/* gate.c */
int breaker_init(struct breaker *g, struct submitter *s);
void breaker_clear(struct breaker *g);
/* New configuration: opens anew or shuts. */
void breaker_conf(struct breaker *g);
/* Requests that may be under way now. */
unsigned breaker_width(const struct breaker *g);
/* What an answer tells of cc-backend as a whole; tries: of that row. */
void breaker_result(struct breaker *g, const struct result *v, unsigned tries);
const char *breaker_name(enum breaker_state state);

/* relay_answer.c */
void run_answered(struct rest_delivery *r, struct spool_run *run, struct result *v,
    const struct http_answer *a, int first);
/* Writes the row back; an error spoils the transaction, and the backlog sees it. */
void run_save(struct rest_delivery *r, struct spool_run *run);
/* The request is to be made again when the line is open again. */
void run_return(struct rest_delivery *r, struct spool_run *run);

/* relay_nats.c */
int nats_delivery_init(struct rest_delivery *r);
void nats_delivery_clear(struct rest_delivery *r);

/* ms to wait after so many failed tries. */
int64_t timer_backoff(unsigned tries);

#endif
