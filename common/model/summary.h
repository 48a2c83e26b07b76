/* SPDX-License-Identifier: MIT */
/*
 * The summary of a worker for the first line of `status`: a few numbers, and each
 * problem that an admin should know.  The worker sends it to the supervisor, where
 * it replaces the previous one.
 */
#ifndef COMMON_SUMMARY_H
#define COMMON_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"

/*
 * The kinds of problems, the most important one first: this order decides which
 * problem the sentence of `status` names.
 */
enum problem_kind {
	PROBLEM_PROCESS,       /* a process does not serve */
	PROBLEM_SPOOL,	       /* the spool is full or cannot be written */
	PROBLEM_BACKEND,       /* cc-backend is down or refuses the token */
	PROBLEM_EXPIRED,       /* a stream deleted messages that nobody read */
	PROBLEM_RIGHT,	       /* Slurm hides the jobs of other users */
	PROBLEM_SLURMCTLD,     /* slurmctld does not answer */
	PROBLEM_COMMANDS,      /* commands of Slurm do not exist */
	PROBLEM_SLURMDBD,      /* slurmdbd does not answer */
	PROBLEM_NATS,	       /* no connection to the broker */
	PROBLEM_STREAM,	       /* a stream cannot be written or read */
	PROBLEM_NEWER,	       /* records of a newer version wait */
	PROBLEM_UNSAFE,	       /* other users can change a file */
	PROBLEM_UNKNOWN,       /* too many runs are unknown to Slurm */
	PROBLEM_QUARANTINE,    /* workers crashed on a run */
	PROBLEM_SKIPPED,       /* accounting was not read in full */
	PROBLEM_REJECTED,      /* cc-backend rejected runs */
	PROBLEM_FOREIGN,       /* other clients stopped runs in cc-backend */
	PROBLEM_SPACE,	       /* the spool is nearly full */
	PROBLEM_TOKEN,	       /* the token expires soon, or has expired */
	PROBLEM_CONFIGURATION, /* the last reload was refused */
	PROBLEM_HOOKS,	       /* hook messages are lost or refused */
	PROBLEM_RUNAWAYS,      /* slurmdbd shows jobs that have no end */
	PROBLEM__COUNT
};

/* The part of the suite: "slurmctld", "spool"; "?" when kind is invalid. */
const char *problem_stage(unsigned kind);

#define SUMMARY_PROBLEMS_MAX 32	 /* of one worker; `more` counts the others */
#define SUMMARY_TEXT_MAX     320 /* bytes with the NUL */

struct problem {
	uint8_t kind;  /* enum problem_kind */
	uint8_t item;  /* of several clusters: the number, from 0 */
	int64_t since; /* epoch; 0 = not known */
	char text[SUMMARY_TEXT_MAX]; /* subject and verb, one line */
};

/* A worker sets only the members that it knows. */
struct summary {
	uint64_t running;  /* runs without an end, by the collector */
	uint64_t waiting;  /* runs with something to deliver */
	uint64_t rejected; /* runs that cc-backend rejected */
	uint64_t lost;	   /* runs whose threads and GPUs are lost */
	int64_t last_job;  /* epoch of the last record of a run; 0 = none */
	uint8_t standby;   /* 1: the other daemon sends */
	uint32_t more;	   /* problems that did not fit */
	uint32_t n;
	struct problem problems[SUMMARY_PROBLEMS_MAX];
};

/* Adds a problem; the text is cut at SUMMARY_TEXT_MAX. */
void summary_add(struct summary *s, enum problem_kind kind, unsigned item,
    int64_t since, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void summary_write(struct writer *w, const struct summary *s);
/* Fails the reader when a value is not valid. */
void summary_read(struct reader *r, struct summary *s);

#endif
