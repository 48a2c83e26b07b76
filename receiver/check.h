/* SPDX-License-Identifier: MIT */
/*
 * The receiver's part of -test: the connection to NATS, the stream of each
 * cluster, and the lease of two centres.  Nothing is made or changed: a running daemon is not disturbed.
 */
#ifndef RECEIVER_CHECK_H
#define RECEIVER_CHECK_H

#include "receiver/receiver.h"

/* Begins; ends the reply within 15 s.  Takes v->checked. */
void check_begin(struct receiver *v, uint64_t request);
/* 1 once check_begin() was called: the events of the link go to the check. */
int check_is_on(void);
/* For struct link_ops. */
void check_link(int up);
void check_message(const struct link_message *m);

#endif
