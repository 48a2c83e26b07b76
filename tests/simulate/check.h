/* SPDX-License-Identifier: MIT */
/* The invariants: what the submitter sends, and what cc-backend has. */
#ifndef TESTS_SIMULATE_CHECK_H
#define TESTS_SIMULATE_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct truth_run;

/* The run that a start or a stop names; NULL = none, as in a probe. */
struct truth_run *check_named(const char *body, size_t n);
/* The submitter sends a request: its content is the truth. */
void check_request(const char *path, const char *body, size_t n);
/* cc-backend has handled a request. */
void check_handled(const char *path, const char *body, size_t n, int status);
/* An answer reaches the submitter; code 0: there is none. */
void check_answer(const char *path, const char *body, size_t n, int code);
/* The configuration is loaded again: starts that were rejected are due. */
void check_retried(void);
/*
 * An answer reaches the submitter, which asked at this time (world_ms()): notes
 * which runs it shows.
 */
void check_listing(const char *body, size_t n, int64_t asked);
/* Before and after cc-backend lost a part of its database. */
void check_before_loss(void);
void check_after_loss(void);
/* At the end: each run once, right, or absent for a reason of the truth. */
void check_end(void);
/* requeuedRuns is "last". */
void check_last_requeued(void);
/* A later run of the job may replace it (requeuedRuns). */
int check_may_be_replaced(const struct truth_run *t);
/* One has replaced it. */
int check_is_replaced(const struct truth_run *t);
/* cc-backend refuses the run because of another run of the job. */
int check_is_refused(const struct truth_run *t);
/* Runs of the truth that are not in cc-backend for such a reason. */
unsigned check_absent(void);

#endif
