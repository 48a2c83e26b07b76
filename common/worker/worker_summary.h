/* SPDX-License-Identifier: MIT */
/* Sends the summary of a worker to the supervisor; see summary.h. */
#ifndef COMMON_WORKER_WORKER_SUMMARY_H
#define COMMON_WORKER_WORKER_SUMMARY_H

struct worker;

/*
 * The worker serves: from now on its summary is sent at most once a second when
 * it has changed, and at least once a minute.  Without the callback `summary`
 * of the worker this function does nothing.
 */
void worker_summary_begin(struct worker *w);
/*
 * The worker has handled events: compares the summary with the last one, at
 * once, or a second after the last comparison.
 */
void worker_summary_turn(void);

#endif
