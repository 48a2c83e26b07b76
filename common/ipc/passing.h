/* SPDX-License-Identifier: MIT */
/*
 * UNIX sockets whose peer may pass descriptors (SCM_RIGHTS) that nobody expects.
 * None of these calls waits for what the peer has passed.
 */
#ifndef COMMON_IPC_PASSING_H
#define COMMON_IPC_PASSING_H

#include <sys/types.h>

#include <stddef.h>

/*
 * The peer must not pass a descriptor through fd: its sendmsg(2) fails.  The
 * connections of a listening socket inherit this.  No effect before Linux 6.16.
 */
void passing_refuse(int fd);
/*
 * An out-of-band byte that the peer sends is read like the others; otherwise the
 * kernel would hide it, and the descriptors with it, from passing_read().  To be
 * called for each connection; accept(2) does not pass it on.
 */
void passing_inline(int fd);
/*
 * read(2) of a stream from a peer that must not pass descriptors.  -1 with EPROTO
 * when it does: then only passing_close() may follow.
 */
ssize_t passing_read(int fd, void *buf, size_t len);
/*
 * close(2) of a socket in which there may be descriptors, or of a descriptor that
 * was passed.  Uses SIGALRM and the interval timer of the process.
 */
void passing_close(int fd);

#endif
