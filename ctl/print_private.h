/* SPDX-License-Identifier: MIT */
/* Functions of several files that print a reply as text. */
#ifndef CTL_PRINT_PRIVATE_H
#define CTL_PRINT_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

#define CELL_MAX 4096 /* bytes printed of one field */

/* cell.c */

/* Characters of a UTF-8 text. */
int text_width(const char *s);
/*
 * Prints s in width columns and two blanks; a longer text exceeds them, or with
 * cut is cut and ends with "~".
 */
void cell_print(const char *s, int width, int cut);
/* Prints at most width characters of s and a newline; 0: all of it. */
void line_print(const char *s, int width);
/* "12.3 MiB" in buf; s is returned when s is no number. */
const char *bytes_text(const char *s, char buf[CELL_MAX]);
/*
 * Replaces each ISO 8601 time in s by its age at now, in buf: "last answer 3 s
 * ago".
 */
const char *ages_text(const char *s, int64_t now, char buf[CELL_MAX]);

/* print_status.c */

/* verbose: all rows by process; else the groups for people. */
void print_status(const struct ctl_reply *a, const struct style *style,
    int verbose);

/* print_queue.c */
void print_queue(const struct ctl_reply *a, const struct style *style);

/* print_streams.c: the clusters, at the centre of a fan-in. */
void print_streams(const struct ctl_reply *a, const struct style *style);

#endif
