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
 * go out in some RELAY_QUEUE_MS, within these bounds.
 */
#define RELAY_QUEUE_MIN	128
#define RELAY_QUEUE	1024
#define RELAY_QUEUE_MS	100

/* Waits after a failure, ms: doubled each time, spread over the upper half. */
#define RETRY_FIRST	500
#define RETRY_MAX	60000
#define STOPPED_WAIT	30000	/* 401: the token does not mend itself */

enum gate_state {
	GATE_SHUT,	/* nothing to deliver to */
	GATE_PROBE,	/* a probe is under way or due */
	GATE_HALF,	/* it answers again: one request at a time */
	GATE_OPEN,
	GATE_STOPPED,	/* token refused; probed slowly */
	GATE_CONFIG	/* not an address of cc-backend; probed slowly */
};

struct gate {
	struct submitter *s;
	enum gate_state	 state;
	struct event	*timer;
	unsigned	 failures;	/* since the last good answer */
	unsigned	 probes;	/* failed ones in a row */
	int		 asking;	/* a probe or clusters request is out */
	int		 stale;		/* it was made with an older configuration */
	int		 doubt;		/* it may have been exchanged: probe when it answers */
	int64_t		 probed;	/* spool_now() of the last probe */
	enum gate_state	 said;		/* what the log says of this outage */
	int64_t		 down;		/* spool_now(); 0 = up */
	int64_t		 clusters_at;	/* spool_now() of the last good ones */
	unsigned	 no_clusters;	/* failed in a row, behind a good probe */
	char		 why[400];	/* of the last failure */
	char		 last[400];	/* answer, for status */
};

struct relay {
	struct submitter *s;
	struct gate	 gate;
	struct event	*run;		/* soon */
	struct event	*due;		/* when the next row is due */
	int64_t		 queue[RELAY_QUEUE];
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
int gate_init(struct gate *g, struct submitter *s);
void gate_clear(struct gate *g);
/* New configuration: opens anew or shuts. */
void gate_conf(struct gate *g);
/* Requests that may be under way now. */
unsigned gate_width(const struct gate *g);
/* What an answer tells of cc-backend as a whole; tries: of that row. */
void gate_verdict(struct gate *g, const struct verdict *v, unsigned tries);
const char *gate_name(enum gate_state state);

/* relay_answer.c */
void relay_answered(struct relay *r, struct spool_run *run, struct verdict *v,
    const struct answer *a, int first);
/* Writes the row back; an error spoils the transaction, and the backlog sees it. */
void relay_row_save(struct relay *r, struct spool_run *run);
/* The request is to be made again when the line is open again. */
void relay_row_return(struct relay *r, struct spool_run *run);

/* relay_nats.c */
int relay_nats_init(struct relay *r);
void relay_nats_clear(struct relay *r);

/* ms to wait after so many failed tries. */
int64_t retry_wait(unsigned tries);

#endif
