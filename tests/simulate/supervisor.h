/* SPDX-License-Identifier: MIT */
/*
 * The supervisor's part in the simulation: it starts a worker, gives it the
 * configuration in two steps, passes links to neighbours, reloads.
 */
#ifndef TESTS_SIMULATE_SUPERVISOR_H
#define TESTS_SIMULATE_SUPERVISOR_H

#include "common/model/conf.h"
#include "tests/simulate/link.h"

struct supervised;

struct supervisor_ops {
	/* The worker serves: pass its neighbours.  May be NULL. */
	void (*ready)(struct supervised *sv);
	/* A reload ended; reason is NULL when it is in force.  May be NULL. */
	void (*reloaded)(struct supervised *sv, const char *reason);
	/* Another message of the worker.  May be NULL. */
	void (*frame)(struct supervised *sv, const struct msg_header *h,
	    const uint8_t *payload);
};

/* Lives until the end of the program; borrows ops. */
struct supervised *supervised_new(enum process_id id, enum role role,
    const struct supervisor_ops *ops);
/* A value for the next start or reload; copied. */
void supervised_conf(struct supervised *sv, enum conf_key key,
    const char *value);
const struct conf *supervised_conf_get(const struct supervised *sv);
enum process_id supervised_process(const struct supervised *sv);
/* Starts the process with process_start(). */
void supervised_start(struct supervised *sv);
/* For process_main(), in process_ops.start. */
int supervised_fd(const struct supervised *sv);
/* Sends the values again; does nothing when the process does not serve. */
void supervised_reload(struct supervised *sv);
/* 1 after ready, until the process ends. */
int supervised_serves(const struct supervised *sv);
/* Passes an end of a link to a neighbour. */
void supervised_peer(struct supervised *sv, enum role peer, struct link *l,
    int end);
/* Sends MSG_STOP; the process exits. */
void supervised_stop(struct supervised *sv, uint32_t grace_ms);
/* From process_ops.ended. */
void supervised_ended(struct supervised *sv);

#endif
