/* SPDX-License-Identifier: MIT */
/*
 * Group commit: all changes of a few milliseconds share one transaction.  When
 * the disk refuses the transaction, it is rolled back and tried again every
 * second.
 */
#ifndef SUBMITTER_SPOOL_COMMIT_H
#define SUBMITTER_SPOOL_COMMIT_H

struct commit;
struct submitter;

/* Functions of the boxes above; set in main.c. All are required. */
struct commit_ops {
	/* A commit follows: the last changes for it.  NULL = none. */
	void (*before)(struct submitter *s);
	/* All changes are durable. */
	void (*committed)(struct submitter *s);
	/*
	 * The disk refused the changes since the last commit, and they are
	 * rolled back.  Returns 1 when space was released and a second try
	 * may succeed.
	 */
	int (*failed)(struct submitter *s);
	/*
	 * Called before a new try: makes the changes again that were rolled
	 * back.  0, or -1 when a change failed or a message is invalid: nothing is
	 * committed.
	 */
	int (*retry)(struct submitter *s);
	/* commit_is_stuck() has changed. */
	void (*stuck)(struct submitter *s);
};

/*
 * Borrows ops.  Lives as long as the process; fatalx() when out of memory.
 */
struct commit *commit_new(struct submitter *s, const struct commit_ops *ops);
/* The spool was changed: commits within 50 ms. */
void commit_soon(struct commit *c);
/* Commits now: 0, or -1 and nothing is durable. */
int commit_now(struct commit *c);
/* A write in the transaction failed: rolls it back and tries again later. */
void commit_fail(struct commit *c);
/* 1 while the disk refuses writes. */
int commit_is_stuck(const struct commit *c);

#endif
