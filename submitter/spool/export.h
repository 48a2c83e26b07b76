/* SPDX-License-Identifier: MIT */
/*
 * Lines of `spool export` and `spool import`: one JSON object each, with the
 * key and the state of the run and its stored record in base64.
 */
#ifndef SUBMITTER_SPOOL_EXPORT_H
#define SUBMITTER_SPOOL_EXPORT_H

#include <stdint.h>
#include <stdio.h>

#include "common/model/job.h"
#include "submitter/spool/spool.h"

#define EXPORT_LINE_MAX (8u << 20) /* bytes: a record in base64 */
/* bytes of a longer line that are skipped at once */
#define EXPORT_SKIP_MAX (16u << 20)

/*
 * Returns owned, without a newline: the line of the run with a record of n
 * bytes; NULL without memory.
 */
char *export_line(const struct spool_run *run, const void *record, size_t n);

/* The content of a line. */
struct imported {
	struct job job;
	/* cc-backend had rejected it before the export */
	int refused;
	char reason[512]; /* of the rejection; may be "" */
};

/*
 * Reads a line. Returns NULL, or what is wrong with it. imported_clear() is
 * needed in both cases.
 */
const char *import_line(struct imported *in, const char *line, size_t n);
void imported_clear(struct imported *in);

/* Cuts lines from a file; zero-initialise. */
struct import_text {
	char *buf; /* owned: the line, without its newline */
	size_t len;
	size_t cap;
	int too_long; /* buf has only the beginning */
};

/*
 * Reads the next line. Returns the number of bytes, 0 at the end of the file,
 * -1 without memory. import_text_rest() skips the rest of a line that is too
 * long.
 */
int64_t import_text_next(struct import_text *t, FILE *f);
void import_text_clear(struct import_text *t);
/*
 * f stands one byte before a position. If the position is within a line, skips
 * to the end of the line, EXPORT_SKIP_MAX bytes at most; returns the number of
 * bytes.
 */
int64_t import_text_rest(FILE *f);

#endif
