/* SPDX-License-Identifier: MIT */
/* The faults around the collector, chosen by the seed. */
#ifndef TESTS_SIMULATE_SITE_FAULTS_H
#define TESTS_SIMULATE_SITE_FAULTS_H

#include <stdint.h>

/* Called when the fault happens. */
struct fault_ops {
	void (*collector_crash)(void);
	/* The collector does not run, maybe for hours. */
	void (*collector_away)(int away);
	/* Does the collector report that its user lacks the right? */
	int (*collector_lacks_right)(void);
	void (*store_crash)(void);
	void (*listener_crash)(void);
	void (*reload)(void);
	void (*store_flow)(int pause); /* NULL: it has a disk of its own */
	/* Of a million records: it crashes soon after.  May be NULL. */
	void (*store_fragile)(unsigned chance);
	/* Of a million records that announce a job script.  May be NULL. */
	void (*collector_fragile)(unsigned chance);
};

/* none: none at all. */
void site_faults_begin(const struct fault_ops *ops, int none);
/* All faults end; nothing goes wrong from now on. */
void site_faults_end(void);
/* Faults so far. */
unsigned site_faults_count(void);
/* world_ms() of the last fault that began or ended; 0 = there was none. */
int64_t site_faults_last(void);
/* Does this seed have faults that hide a run for minutes? */
int site_faults_hide_runs(void);

#endif
