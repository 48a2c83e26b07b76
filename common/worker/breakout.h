/* SPDX-License-Identifier: MIT */
/*
 * The attack code of tests/breakout: it runs in the sandbox of a worker, as the
 * code of an attacker would.  Compiled only with --enable-breakout, which
 * `make install` refuses.
 */
#ifndef COMMON_WORKER_BREAKOUT_H
#define COMMON_WORKER_BREAKOUT_H

#ifdef BREAKOUT
/* A worker that is killed by its filter starts again without a delay. */
#define BREAKOUT_BUILD 1
struct worker;
/* Maps the page of the test; call it before the sandbox closes. */
void breakout_map(void);
/* Waits for requests of the test, in the event loop of the worker. */
void breakout_begin(struct worker *w);
/* Takes the request that waits for a process without an event loop. */
void breakout_once(unsigned role);
/* The socket to a neighbour; borrows fd. */
void breakout_peer(unsigned role, int fd);
#else
#define BREAKOUT_BUILD 0
#define breakout_map() \
	do { \
	} while (0)
#define breakout_once(role) \
	do { \
	} while (0)
#define breakout_begin(w) \
	do { \
	} while (0)
#define breakout_peer(role, fd) \
	do { \
	} while (0)
#endif

#endif
