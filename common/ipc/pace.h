/* SPDX-License-Identifier: MIT */
/*
 * Work that follows the events of an event loop: at once when the last time is
 * long ago, otherwise later, so that a busy process does the work once in an
 * interval and an idle one does not wake up for it.
 */
#ifndef COMMON_IPC_PACE_H
#define COMMON_IPC_PACE_H

struct event;
struct event_base;

struct pace {
	struct event *timer; /* owned */
	long long done_ms;   /* clock_ms() of the last time; 0 = never */
	int soon;	     /* the timer is set for work that is due */
};

/* 0, or -1 when out of memory. */
int pace_init(struct pace *p, struct event_base *base);
/*
 * Called after each turn of the loop.  Returns 1 when the caller does the work
 * now.  least_ms: between two times; most_ms: the work is repeated after this
 * time without an event.
 */
int pace_turn(struct pace *p, long long least_ms, long long most_ms);
void pace_clear(struct pace *p);

#endif
