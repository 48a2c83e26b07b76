/* SPDX-License-Identifier: MIT */
/*
 * Wake-ups: a box marks a lane, and the event loop runs the lane.  So a lower
 * box starts the work of a higher box without a call to it.
 */
#ifndef SUBMITTER_BASE_WAKE_H
#define SUBMITTER_BASE_WAKE_H

struct event;
struct submitter;

/* Lanes, as bits; several may be woken in one call. */
enum {
	WAKE_COMMIT_CHECK = 1, /* a run waits for its commit or a listing */
	WAKE_CONFLICT = 2,     /* a listing has to settle a run */
	WAKE_RECONCILE = 4,    /* cc-backend answers again */
	WAKE_REST = 8,	       /* a request by REST may be due */
	WAKE_NATS = 16,	       /* a message by NATS may be due */
	WAKE_META = 32,	       /* no start and no stop is due */
	WAKE_DELIVERY = WAKE_REST | WAKE_NATS
};

/* The function of a lane; set in main.c. The lanes run in the table's order. */
struct wake_lane {
	unsigned lane;
	/* NULL ends the table */
	void (*run)(struct submitter *s);
};

struct wake {
	struct event *event;	       /* owned */
	unsigned lanes;		       /* that have work */
	const struct wake_lane *table; /* borrowed */
};

void wake_init(struct submitter *s, const struct wake_lane *table);
/* The lanes run from the event loop, each once. */
void wake(struct submitter *s, unsigned lanes);

#endif
