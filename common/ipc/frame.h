/* SPDX-License-Identifier: MIT */
/*
 * A frame on its socket: header, bytes, and the descriptor that comes with
 * the first of them.  What channel.c does on an event loop is done here in
 * pieces, and whole for those who have no loop yet.
 */
#ifndef COMMON_IPC_FRAME_H
#define COMMON_IPC_FRAME_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/msg.h"

/*
 * Fills the header of a frame that self may say to peer; fd only tells
 * whether there is one.  0, or -1 (logged) when the table or w objects.
 */
int frame_header(struct msg_header *h, enum role self, enum role peer,
    enum msg_type type, uint64_t id, const struct writer *w, int fd);

/* One sendmsg(2) of what there is left; pass goes along unless it is -1. */
ssize_t frame_sendmsg(int fd, const uint8_t *p, size_t len, int pass);
/*
 * One recvmsg(2).  Descriptors are added to fds, of which *n are in use.  More
 * of them than max, or some that the kernel could not hand over, are an error
 * (EPROTO), for then nobody knows any more which belongs to which frame.
 */
ssize_t frame_recvmsg(int fd, void *buf, size_t len, int *fds, int *n,
    int max);

/* Waits for POLLIN or POLLOUT until end (clock.h).  0, or -1 with errno. */
int frame_wait(int fd, short what, long long end);

/*
 * Without an event loop: reads exactly one frame, blocking for at most
 * timeout_ms.  *payload is owned by the caller.  0, or -1 with errno.
 */
int frame_read(int fd, enum role self, enum role peer, struct msg_header *h,
    uint8_t **payload, int *passed_fd, int timeout_ms);
/* The writing twin, blocking for at most 5 s; fd_to_pass stays the caller's. */
int frame_write(int fd, enum role self, enum role peer, enum msg_type type,
    uint64_t id, const struct writer *w, int fd_to_pass);

#endif
