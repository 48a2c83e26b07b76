/* SPDX-License-Identifier: MIT */
/*
 * Another program may have filled cc-backend before this suite: nothing of a
 * cluster is sent before a list of cc-backend's running jobs has shown what
 * cc-backend has.  If cc-backend accepts the probe and refuses the list, the
 * delivery begins without it.
 */
#ifndef SUBMITTER_RECONCILE_FIRST_LIST_H
#define SUBMITTER_RECONCILE_FIRST_LIST_H

#include <stdint.h>

struct first_list;
struct submitter;

/* Never fails; the object is permanent. */
struct first_list *first_list_new(struct submitter *s);
/*
 * To be called before anything is sent when the configuration or the spool has
 * changed: a new cluster stops the delivery until it is listed.
 */
void first_list_check(struct first_list *f);
/*
 * Another centre was active, or cc-backend got no runs for some time: each
 * cluster is listed again.
 */
void first_list_again(struct first_list *f);
/*
 * The changes since the last commit are rolled back: lists the clusters again
 * whose list was among them.
 */
void first_list_rolled_back(struct first_list *f);
void first_list_status(struct first_list *f, uint64_t request);

#endif
