/* SPDX-License-Identifier: MIT */
/*
 * The submitter's boxes with a simulated clock and simulated answers of
 * cc-backend: delivery and reconcile run, nothing is sent, no time passes.
 */
#ifndef TESTS_UNIT_SUBMITTER_SIMULATION_H
#define TESTS_UNIT_SUBMITTER_SIMULATION_H

#include <stdint.h>

#include "submitter/base/context.h"
#include "submitter/net/http.h"
#include "submitter/spool/spool.h"

#define SIM_MINUTE 60000
#define SIM_HOUR   (60 * SIM_MINUTE)

extern struct submitter sim;
extern int64_t sim_fence;  /* the last one of http_fence() */
extern int sim_fence_over; /* it had passed in that call */
/* Of http_on_quiet(); http_all_answered() is 1 for 25000 ms. */
extern void (*sim_quiet)(void *arg);
extern void *sim_quiet_arg;

/* A new spool and new boxes; cc-backend is not probed yet. */
void sim_begin(void);
void sim_end(void);
/* Probes cc-backend 1.5, which has no clusters: requests may go out. */
void sim_connect(void);
/* Lets ms pass: timers and wake-ups run in their order. */
void sim_run(int64_t ms);
/* Stores a record; end 0 = runs. */
void sim_put(uint64_t job, int64_t start, int64_t end);
/* The state by REST; RUN_STATE__COUNT when there is no row. */
enum run_state sim_state(uint64_t job, int64_t start);
/* Requests of that kind that have no answer. */
int sim_waits(enum request_kind kind);
/* The path and body of the first one; "" when there is none. */
const char *sim_path(enum request_kind kind);
const char *sim_body(enum request_kind kind);
/* http_send() returns -1 for so many requests; each reduces the number. */
extern int sim_unsent;
/* Answers the first one; code 0: the connection fails. */
void sim_answer(enum request_kind kind, int code, const char *body);
/*
 * What commands of the admin tool got since the last call: a line for each row,
 * its fields separated by "|", and a line "ok: TEXT" or "error: TEXT".
 */
const char *sim_told(void);
/* Called for each row in place of that; NULL = not. */
extern void (*sim_on_row)(const struct writer *row);
/* One row of a list of jobs. */
#define SIM_JOB(job, start, state, duration) \
	"{\"jobId\":" #job ",\"cluster\":\"alpha\",\"startTime\":" #start \
	",\"jobState\":\"" state "\",\"duration\":" #duration "}"

#endif
