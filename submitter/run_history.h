/* SPDX-License-Identifier: MIT */
/* The events and counters that the history gets from the rest of the submitter. */
#ifndef SUBMITTER_RUN_HISTORY_H
#define SUBMITTER_RUN_HISTORY_H

struct submitter;

/* The spool is open: its events go to the history from now on. */
void run_history_begin(struct submitter *s);
/* Every 10 to 30 s: the numbers of runs, and what does not answer. */
void run_history_tick(struct submitter *s);

#endif
