/* SPDX-License-Identifier: MIT */
/*
 * A frame on its socket: header, payload, and the descriptor that is sent with
 * the first byte.  channel.c uses the single steps on an event loop; processes
 * without an event loop read and write whole frames.
 */
#ifndef COMMON_IPC_FRAME_H
#define COMMON_IPC_FRAME_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/msg.h"

/*
 * Fills the header of a frame from self to peer; fd != -1 means that a
 * descriptor comes with the frame.  0, or -1 (logged) when the table does not
 * allow the frame or w has an error.
 */
int frame_header(struct msg_header *h, enum role self, enum role peer,
    enum msg_type type, uint64_t id, const struct writer *w, int fd);

/*
 * One send(2), or one sendmsg(2) with the descriptor pass.  The filters of
 * listener and submitter, which send no descriptor, deny sendmsg(2).
 */
ssize_t frame_sendmsg(int fd, const uint8_t *p, size_t len, int pass);
/*
 * One recvmsg(2).  Descriptors are added to fds, of which *n are in use.  More
 * than max, or descriptors that the kernel could not pass, are an error
 * (EPROTO), because the frame of a descriptor would be unknown.
 */
ssize_t frame_recvmsg(int fd, void *buf, size_t len, int *fds, int *n, int max);

/* Waits for POLLIN or POLLOUT until end (clock.h).  0, or -1 with errno. */
int frame_wait(int fd, short what, long long end);

/*
 * Without an event loop: reads exactly one frame, blocking for at most
 * timeout_ms.  The caller owns *payload and *passed_fd (-1 = none).  0, or -1 with
 * errno.
 */
int frame_read(int fd, enum role self, enum role peer, struct msg_header *h,
    uint8_t **payload, int *passed_fd, int timeout_ms);
/*
 * Writes one frame, blocking for at most 5 s; borrows fd_to_pass (-1 = none).  0,
 * or -1 (errno is set when the socket failed).
 */
int frame_write(int fd, enum role self, enum role peer, enum msg_type type,
    uint64_t id, const struct writer *w, int fd_to_pass);

#endif
