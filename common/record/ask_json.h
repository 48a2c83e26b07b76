/* SPDX-License-Identifier: MIT */
/*
 * Questions and orders of the centre to a cluster, and the answers, as JSON.
 * The format is in cc-slurm-adapter-protocol(7).  Sender and reader do not trust
 * each other: each member is checked, and an answer is read only in whole.
 */
#ifndef COMMON_RECORD_ASK_JSON_H
#define COMMON_RECORD_ASK_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/job.h"

/* A reader of schema N reads no other one: evidence is not guessed. */
#define ASK_SCHEMA 1
/* Runs of one question. */
#define ASK_RUNS_MAX 256
/* Bytes of a question or an answer; its longest form has less. */
#define ASK_BYTES_MAX (32u * 1024)
#define ASK_NONCE_MAX 17  /* bytes with the NUL: 16 hexadecimal digits */
#define ASK_TEXT_MAX  200 /* bytes of a reason with the NUL */
#define ASK_LINE_MAX  512 /* bytes of the line of an answer with the NUL */

/* A run of the cluster that the question is sent to. */
struct ask_run {
	uint64_t job;
	int64_t start; /* epoch */
};

enum ask_kind {
	ASK_LOOKUP,	     /* which of these runs does Slurm know? */
	ASK_BACKFILL,	     /* publish the runs of this range again */
	ASK_BACKFILL_STATUS, /* how far is the backfill? */
	ASK_EXPLAIN,	     /* what does the cluster have of this job? */
	ASK_BACKFILL_CANCEL, /* end the backfill */
	ASK__COUNT
};

struct ask {
	char nonce[ASK_NONCE_MAX];
	enum ask_kind kind;
	unsigned n; /* of a lookup, 1 to ASK_RUNS_MAX; else 0 */
	struct ask_run runs[ASK_RUNS_MAX];
	int64_t from, to; /* of a backfill, epoch; else 0 */
	uint64_t job;	  /* of ASK_EXPLAIN; else 0 */
};

struct ask_answer {
	char nonce[ASK_NONCE_MAX]; /* of the question */
	char cluster[CLUSTER_MAX];
	char error[ASK_TEXT_MAX]; /* "" = none; else there is no evidence */
	/* for an admin, about the backfill or the job; "" = not asked for */
	char text[ASK_LINE_MAX];
	unsigned asked; /* runs of the question */
	unsigned n;	/* of them unknown to Slurm */
	struct ask_run not_found[ASK_RUNS_MAX];
};

/* Append the object to w; wr_end() tells whether it fits. */
void ask_write(struct writer *w, const struct ask *ask);
/* The texts of the answer must be clean; see text_vis(). */
void ask_answer_write(struct writer *w, const struct ask_answer *answer);

/*
 * Read one object of len bytes.  Return 0, or -1 with the reason in why, which
 * quotes nothing.  After -1 the nonce is valid or empty: the answer to an
 * invalid question has it.
 */
int ask_read(struct ask *ask, const char *text, size_t len, char *why,
    size_t size);
int ask_answer_read(struct ask_answer *answer, const char *text, size_t len,
    char *why, size_t size);

#endif
