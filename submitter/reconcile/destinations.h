/* SPDX-License-Identifier: MIT */
/*
 * The destinations of jobs (ccRestSubmitJobs, natsServer, deliver) may change
 * while runs are in the spool: a destination that was added gets these runs, too.
 */
#ifndef SUBMITTER_RECONCILE_DESTINATIONS_H
#define SUBMITTER_RECONCILE_DESTINATIONS_H

struct submitter;

/*
 * To be called when the policy of the spool may have changed, before anything is
 * sent.  0, also when nothing differs; -1: the spool has refused a write, and the
 * next call tries again.
 */
int destinations_check(struct submitter *s);

#endif
