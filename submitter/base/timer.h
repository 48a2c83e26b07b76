/* SPDX-License-Identifier: MIT */
/* Timers of the event loop, and waits between repeated requests. */
#ifndef SUBMITTER_BASE_TIMER_H
#define SUBMITTER_BASE_TIMER_H

#include <stdint.h>

#include <event2/event.h>

struct submitter;

/*
 * A one-shot timer that lives as long as the process; not started.  fatalx()
 * when out of memory.
 */
struct event *timer_new(struct submitter *s, event_callback_fn fn, void *arg);
/* Starts the timer anew; ms < 0 stops it. */
void timer_after(struct event *timer, int64_t ms);

/* A random time in [ms/2, ms], so that many clients do not send at once. */
int64_t timer_jitter(int64_t ms);
/*
 * ms to wait after so many failed tries: first, doubled with each try up to
 * max, with jitter.
 */
int64_t timer_backoff(unsigned tries, int64_t first, int64_t max);

/* The same for requests to cc-backend and messages to NATS, ms. */
#define RETRY_FIRST 500
#define RETRY_MAX   60000

#endif
