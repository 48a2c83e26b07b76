/* SPDX-License-Identifier: MIT */
/*
 * A question to Slurm: its kind, its values, its answer.
 *
 * A question lives in the struct of the lane that asks it:
 *
 *	query_begin(&y->query, c, &list_query, y);
 *	if (query_start(&y->query) == -1)
 *		...
 */
#ifndef COLLECTOR_SLURM_QUERY_H
#define COLLECTOR_SLURM_QUERY_H

#include "collector/base/cluster.h"
#include "collector/parse/parse.h"
#include "collector/slurm/runner_link.h"

/* A question with a longer deadline has an answer that grows with the site. */
#define QUERY_SHORT_MS	     20000
#define QUERY_BYTES_MAX	     (256ull * 1024 * 1024)
#define QUERY_LONG_BYTES_MAX (4ull * 1024 * 1024 * 1024)

#define QUERY_LAST_LINE 1u /* the last line may lack its newline */

struct query_type {
	enum question_kind kind;
	unsigned flags; /* QUERY_ bits */
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

struct query {
	struct cluster *c;
	const struct query_type *type;
	void *arg;
	struct command *cmd; /* NULL = it is not under way */
	struct question question;
	struct lines lines;
};

/*
 * A new question without values; the caller sets those of its kind.  All
 * pointers are borrowed until it has ended.
 */
void query_begin(struct query *q, struct cluster *c,
    const struct query_type *type, void *arg);
/*
 * Asks the cluster, by its name when it is not the local one.  0, or -1 on
 * memory, after which nothing is called.
 */
int query_start(struct query *q);
/*
 * The same of a question to sacct: row() gets arg and each row that
 * sacct_feed() reads.  The caller adds the ids or the times.
 */
void sacct_query_begin(struct query *q, struct sacct_reader *reader,
    struct cluster *c, const struct query_type *type,
    int (*row)(struct job_snapshot *s, void *arg), void *arg);
/* Asks about one job.  0, or -1 on memory, after which nothing is called. */
int query_start_job(struct query *q, uint64_t job);
/* Is it under way? */
int query_busy(const struct query *q);
/* Stops and resumes reading of its answer. */
void query_pause(struct query *q, int pause);
/*
 * Writes why an answer is not valid into buf, for the log; returns buf.  A
 * command with status 0 had an incomplete answer.
 */
const char *command_why(const struct command_end *end, char *buf, size_t size);
/*
 * Notes a failed query: the text for `status`, and that the daemon, the
 * cluster's ctld or dbd, does not answer.  NULL = the daemon answered.
 */
void query_failed(struct cluster *c, struct health *side, const char *what,
    const struct command_end *end);

/* slurmctld's limit of requests */

/* Is there a limit for our user? */
int rate_limit_on(const struct cluster *c);
/* The least ms between two polls. */
int64_t rate_limit_poll_ms(const struct cluster *c);

#endif
