/* SPDX-License-Identifier: MIT */
/*
 * The lines of `spool export` and `spool import`: a JSON object each, with the
 * run's key and state in words, and its record as it is stored, in base64.
 */
#ifndef SUBMITTER_SPOOL_EXPORT_H
#define SUBMITTER_SPOOL_EXPORT_H

#include <stdint.h>
#include <stdio.h>

#include "common/job.h"
#include "submitter/spool/spool.h"

#define EXPORT_LINE_MAX	(8u << 20)	/* bytes: a record, in base64 */
#define EXPORT_SKIP_MAX	(16u << 20)	/* bytes of a longer line, at a time */

/* Returns owned, without a newline: the run's line, record of n bytes; NULL on memory. */
char *export_line(const struct spool_run *run, const void *record, size_t n);

/* What a line says. */
struct imported {
	struct job	 job;
	int		 refused;	/* by cc-backend, before it was exported */
	char		 reason[512];	/* then: in its words; may be "" */
};

/*
 * Reads a line.  NULL when it is good, else what is wrong with it; what was read
 * is imported_clear()'s either way.
 */
const char *import_line(struct imported *in, const char *line, size_t n);
void imported_clear(struct imported *in);

/* Where lines are cut from a file; zero-initialise. */
struct import_text {
	char		*buf;		/* owned: the line, without its newline */
	size_t		 len;
	size_t		 cap;
	int		 too_long;	/* buf has only its beginning */
};

/*
 * The next line: how many bytes of f it took, 0 at its end, -1 on memory.  Of one
 * that is too long the rest is left to import_text_rest().
 */
int64_t import_text_next(struct import_text *t, FILE *f);
void import_text_clear(struct import_text *t);
/*
 * f stands one byte before a place to go on from.  If that is amid a line it
 * goes on to its end, EXPORT_SKIP_MAX at the most; returns by how many bytes.
 */
int64_t import_text_rest(FILE *f);

#endif
