/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the submitter: it stores the records of the collector durably,
 * acknowledges them, looks runs up, and compares each record with the truth of
 * the simulated Slurm.
 */
#ifndef TESTS_SIMULATE_SITE_STORE_H
#define TESTS_SIMULATE_SITE_STORE_H

#include "tests/simulate/link.h"

/* crash: called when the store is to crash by itself (store_fragile()). */
void store_begin(void (*crash)(void));
/* A new collector or a new store: end 0 of the link is the store's. */
void store_connect(struct link *l);
void store_disconnect(void);
/* Loses what is not committed. */
void store_crash(void);
/* The collector has ended: it sends nothing again. */
void store_collector_ended(void);
/* Of a million records: the store crashes within a second. */
void store_fragile(unsigned chance);
/* The durable resume point; 0 = none. */
int64_t store_resume(void);
/* The disk is full, or has room again. */
void store_flow_set(int pause);
/*
 * At the end of the run: each run of the truth is stored, with its end.
 * threads: also each run that lasted long has its hardware threads.
 */
void store_verdict(int threads);
/* Stored runs. */
uint64_t store_runs(void);

#endif
