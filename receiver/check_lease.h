/* SPDX-License-Identifier: MIT */
/*
 * The lease's part of -test: whether the bucket exists, whether it can be read,
 * and which centre is active.  Nothing is made or written.
 */
#ifndef RECEIVER_CHECK_LEASE_H
#define RECEIVER_CHECK_LEASE_H

#include "receiver/link/link.h"

#define CHECK_LEASE_MAX 512 /* bytes of a line */

struct check_lease_line {
	const char *kind; /* "ok" or "warn" */
	char text[CHECK_LEASE_MAX];
};

/* Asks for the bucket.  0, or -1: the question cannot be sent. */
int check_lease_ask(struct link *link);
/* 1 when the message has ended the check; line is set. */
int check_lease_message(struct link *link, const struct link_message *m,
    struct check_lease_line *line);

#endif
