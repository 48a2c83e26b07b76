/* SPDX-License-Identifier: MIT */
/*
 * The further processes of a fan-in: the submitter at the cluster, with a disk
 * of its own, and the receiver at the centre.  Both crash at their fault points.
 */
#ifndef TESTS_SIMULATE_FANIN_WORKERS_H
#define TESTS_SIMULATE_FANIN_WORKERS_H

#include "tests/simulate/supervisor.h"

/* Borrows ready: the process serves. */
struct supervised *cluster_new(void (*ready)(void));
struct supervised *receiver_new(void (*ready)(void));
/* Starts both; none: no crash. */
void workers_begin(int none);
/* They crash no more. */
void workers_end(void);
/* For process_fault_set(): the centre's submitter has its own faults. */
void workers_fault(const char *where);
unsigned workers_starts(void);
/* After the end: nothing is left at the cluster, all was taken by the centre. */
void workers_check(void);

#endif
