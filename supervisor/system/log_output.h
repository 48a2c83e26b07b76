/* SPDX-License-Identifier: MIT */
/*
 * Where the lines of all processes are written: standard error, or the journal.
 * A reader of standard error that hangs delays the supervisor by at most 50 ms
 * in ten seconds; lines that cannot be written are counted, and the count is
 * logged when the reader reads again.
 */
#ifndef SUPERVISOR_SYSTEM_LOG_OUTPUT_H
#define SUPERVISOR_SYSTEM_LOG_OUTPUT_H

#include "common/log_line.h"

/* Becomes the sink of the supervisor's own lines.  Reads JOURNAL_STREAM. */
void log_output_init(void);
/*
 * From now on each line is a datagram with fields to the socket of journald,
 * if standard error is the journal.  Not before the service is up: journald
 * may not find the unit of a process that has ended.
 */
void log_output_fields(void);
/* The supervisor's warning that lines are lost; borrows text. */
struct log_line log_output_loss(const char *text);
/* Writes a line of any process; keeps a warning, see recent_warnings.h. */
void log_output_write(const struct log_line *line);
/* 0 when the reader of standard error does not read; does not wait. */
int log_output_writable(void);

/* For tests: another path of journald's socket; borrowed. */
void log_output_journal_path(const char *path);

#endif
