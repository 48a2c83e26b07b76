/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the submitter: it stores the records of the collector durably,
 * acknowledges them, looks runs up, and compares each record with the truth of
 * the simulated Slurm.
 */
#ifndef TESTS_SIMULATE_SITE_STORE_H
#define TESTS_SIMULATE_SITE_STORE_H

#include "tests/simulate/link.h"

/* Called when the store is to crash by itself, or the collector with it. */
struct store_ops {
	void (*crash)(void);	       /* store_fragile() */
	void (*collector_crash)(void); /* store_script_fragile() */
};

/* Borrows ops. */
void store_begin(const struct store_ops *ops);
/* A new collector or a new store: end 0 of the link is the store's. */
void store_connect(struct link *l);
void store_disconnect(void);
/* Loses what is not committed. */
void store_crash(void);
/* The collector has ended: it sends nothing again. */
void store_collector_ended(void);
/* Of a million records: the store crashes within a second. */
void store_fragile(unsigned chance);
/* Of a million records that announce a job script: the collector crashes at once. */
void store_script_fragile(unsigned chance);
/* The durable resume point; 0 = none. */
int64_t store_resume(void);
/* The disk is full, or has room again. */
void store_flow_set(int pause);
/*
 * At the end of the run: each run of the truth is stored, with its end.
 * details: also each run that lasted long has its hardware threads and its job
 * script.
 */
void store_verdict(int details);
/* Stored runs. */
uint64_t store_runs(void);

#endif
