/* SPDX-License-Identifier: MIT */
/*
 * The simulated cc-backend: the handlers of the stand-in (tests/fake), which
 * tests/fake/replay.sh holds against recorded answers of the real versions,
 * without network and with the virtual clock.  The code is linked as a process
 * (isolate), so that a restart resets its memory.
 */
#ifndef TESTS_SIMULATE_CC_BOX_H
#define TESTS_SIMULATE_CC_BOX_H

#include <stddef.h>
#include <stdint.h>

/* In the order of the stand-in's enum version. */
enum cc_version {
	CC_1_3_1,
	CC_1_4_1,
	CC_1_4_4,
	CC_1_5_4
};

struct cc_answer {
	int status;
	char *body; /* owned by the caller, or NULL */
	size_t len;
};

struct cc_row {
	const char *cluster;
	const char *user;
	const char *state;
	int64_t job;
	int64_t start; /* epoch, s */
	int64_t nodes;
	int32_t duration; /* s; of a stopped run */
	int cached;	  /* in job_cache */
};

/*
 * Begins with the database that the lines of the ledger make (n bytes; may be
 * empty).  clusters: "alpha=n[01-16]"; commit: interval, s.
 */
void cc_box_begin(enum cc_version version, const char *clusters, double commit,
    char *ledger, size_t n);
/* One request; path with its query string. */
void cc_box_request(const char *method, const char *path, const char *body,
    size_t n, struct cc_answer *answer);
/* The commit worker. */
void cc_box_commit(void);
/* A commit comes into the next stop of a cached run. */
void cc_box_race(void);
/* Calls fn for each row of both tables. */
void cc_box_rows(void (*fn)(const struct cc_row *row, void *arg), void *arg);

/* Of the world: bytes of the ledger, whole lines at the end of each request. */
void backend_ledger(const char *p, size_t n);

#endif
