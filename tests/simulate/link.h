/* SPDX-License-Identifier: MIT */
/*
 * A simulated socketpair between two processes: frames arrive in order, a few
 * milliseconds after they were sent.  When a process ends, the frames that it
 * sent still arrive (the last ones may be lost), then the other end breaks; the
 * frames on the way to it are lost.
 */
#ifndef TESTS_SIMULATE_LINK_H
#define TESTS_SIMULATE_LINK_H

#include "common/model/msg.h"
#include "tests/simulate/world.h"

struct link;

struct link_ops {
	/*
	 * Called in the process of the end.  fd: as in link_send().  The
	 * payload is freed after the call.
	 */
	void (*frame)(void *arg, const struct msg_header *h,
	    const uint8_t *payload, int fd);
	/* The other end is closed; called once. */
	void (*broken)(void *arg, const char *why);
	/* Bytes on the way from this end arrived; may be NULL. */
	void (*sent)(void *arg);
};

/* Ends 0 and 1. */
struct link *link_new(enum process_id end0, enum process_id end1);
/* Frames that arrived before wait. */
void link_attach(struct link *l, int end, const struct link_ops *ops,
    void *arg);
/*
 * Sends from an end; copies the payload.  fd is a number that the world has
 * given a meaning to (link_fd(), a simulated pipe), or -1.
 */
void link_send(struct link *l, int end, const struct msg_header *h,
    const void *payload, int fd);
/* Bytes that were sent from the end and have not arrived. */
size_t link_waiting(const struct link *l, int end);
/* Closes one end: what it sent arrives, then the other end breaks. */
void link_close(struct link *l, int end);
/* From process_ops.ended: closes the ends of the process. */
void link_process_ended(enum process_id id);

/*
 * A number that stands for the descriptor of an end, as MSG_PEER passes it; and
 * back: NULL when fd is no such number.
 */
int link_fd(struct link *l, int end);
struct link *link_of_fd(int fd, int *end);

#endif
