/* SPDX-License-Identifier: MIT */
/*
 * A question to Slurm: one command, its arguments, its answer.
 *
 * A question lives in the struct of the lane that asks it:
 *
 *	query_begin(&y->query, c, &list_query, y);
 *	query_args(&y->query, "-h", "-o", SQUEUE_FORMAT, NULL);
 *	if (query_start(&y->query) == -1)
 *		...
 */
#ifndef COLLECTOR_SLURM_QUERY_H
#define COLLECTOR_SLURM_QUERY_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"
#include "collector/slurm/runner.h"

#define QUERY_DEADLINE_MS 20000 /* slurmctld */
/* Slurmdbd over a long range, details of all jobs */
#define QUERY_LONG_MS	     120000
#define QUERY_BYTES_MAX	     (256ull * 1024 * 1024)
#define QUERY_LONG_BYTES_MAX (4ull * 1024 * 1024 * 1024)

#define QUERY_LAST_LINE 1u /* the last line may lack its newline */
#define QUERY_SCRIPT	2u /* it gets tokens after all other queries */

struct query_type {
	enum slurm_command cmd;
	unsigned deadline_ms; /* 0 = QUERY_DEADLINE_MS */
	unsigned flags;	      /* QUERY_ bits */
	/* One line of the answer; -1 ends the command. */
	int (*on_line)(struct span line, void *arg);
	/* Or its bytes as they arrive. */
	int (*on_output)(const char *p, size_t n, void *arg);
	/*
	 * The last call; another query may be started in it.  complete: status
	 * 0, and no line is cut.
	 */
	void (*on_end)(const struct command_end *end, int complete, void *arg);
};

#define ID_LIST_BYTES (64u * 1024) /* one argument; the kernel takes 128 KiB */

/* "1,2,3": an argument. */
struct id_list {
	char *text; /* owned; NULL = empty */
	size_t len;
	size_t cap;
	size_t n;
};

/* 0, or -1 when it is full, or on memory. */
int id_list_add(struct id_list *ids, uint64_t job);
void id_list_clear(struct id_list *ids);

struct query {
	struct cluster *c;
	const struct query_type *type;
	void *arg;
	struct command *cmd;		   /* NULL = it is not under way */
	const char *args[RUNNER_ARGS_MAX]; /* without argv[0] */
	unsigned n_args;
	struct lines lines;
	struct id_list ids; /* of an argument, see query_ids() */
};

/* A new question; all pointers are borrowed until it has ended. */
void query_begin(struct query *q, struct cluster *c,
    const struct query_type *type, void *arg);
/* Adds arguments up to a NULL; they are copied by query_start(). */
void query_args(struct query *q, ...) __attribute__((sentinel));
/* Adds the list q->ids as one argument. */
void query_ids(struct query *q);
/*
 * Asks the cluster, by its name when it is not the local one.  0, or -1 on
 * memory, after which nothing is called.
 */
int query_start(struct query *q);
/* Is it under way? */
int query_busy(const struct query *q);
/* Stops and resumes reading of its answer. */
void query_pause(struct query *q, int pause);
/*
 * Notes a failed query: the text for `status`, and that the daemon, the
 * cluster's ctld or dbd, does not answer.  NULL = the daemon answered.
 */
void query_failed(struct cluster *c, struct health *side, const char *what,
    const struct command_end *end);

/* slurmctld's limit of requests */

/* Is there a limit for our user? */
int rate_limit_on(const struct cluster *c);
/* Takes the tokens of one more command; returns the ms that it has to wait. */
unsigned rate_limit_take(struct cluster *c, enum slurm_command cmd, int script);
/* The least ms between two polls. */
int64_t rate_limit_poll_ms(const struct cluster *c);

#endif
