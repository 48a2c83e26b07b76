/* SPDX-License-Identifier: MIT */
/*
 * Standard error of a process of ours: a pipe that the supervisor reads.  The
 * supervisor adds the name of the process to each line, so no process can write
 * a line of another.  The pipe does not wait for its reader, and it keeps the
 * last lines of a process that has ended.
 *
 * The lines of a process are bounded in length and in bytes per second; a line
 * above the bound is counted, and the count is logged.
 */
#ifndef SUPERVISOR_SYSTEM_LOG_PIPE_H
#define SUPERVISOR_SYSTEM_LOG_PIPE_H

#include <event2/event.h>

struct log_pipe;

/*
 * sender is borrowed for ever.  *write_end is close-on-exec and the caller's.
 * NULL with errno.
 */
struct log_pipe *log_pipe_new(struct event_base *base, const char *sender,
    int *write_end);
/*
 * Logs what the pipe holds and frees lp; the process has ended.  lp may be
 * NULL.
 */
void log_pipe_free(struct log_pipe *lp);
/* Logs what the pipe holds now. */
void log_pipe_read(struct log_pipe *lp);

#endif
