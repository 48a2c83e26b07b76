/* SPDX-License-Identifier: MIT */
/*
 * The faults of a seed.  Each seed has some kinds of faults and not others, so
 * that frequent kinds do not hide rare ones.
 */
#ifndef TESTS_SIMULATE_FAULTS_H
#define TESTS_SIMULATE_FAULTS_H

#include <stdint.h>

/* Chances are per million; 0 = this seed does not have the kind. */
struct faults {
	unsigned crash_every;	 /* fault points between crashes, mean */
	unsigned power_share;	 /* of the crashes: a power cut */
	unsigned request_lost;	 /* of the requests */
	unsigned answer_lost;	 /* it took effect */
	unsigned answer_late;	 /* it waits for a lock, up to a minute */
	unsigned listing_late;	 /* of the listings: it takes seconds */
	unsigned repeated;	 /* the request arrives twice */
	unsigned proxied;	 /* a proxy answers during an outage */
	int64_t outage_every;	 /* ms, mean: cc-backend is away */
	int64_t outage_max;	 /* ms */
	unsigned cache_lost;	 /* of the outages: job_cache is lost */
	unsigned upgraded;	 /* of the outages: the next version */
	unsigned restored;	 /* of the outages: an older database */
	int64_t collector_every; /* ms, mean between crashes of the collector */
	int64_t reload_every;
	int64_t step_every; /* of the wall clock */
	int64_t full_every; /* of the disk */
	int64_t broken_every;
	int64_t stopped_every; /* another client stops a run */
};

/* Chooses the faults of the seed; none: none at all. */
void faults_begin(int none);
const struct faults *faults(void);
/* From now on there is none. */
void faults_end(void);
/* 1 after faults_end(). */
int faults_ended(void);
/*
 * A place at which the process may crash.  Called in the process; in the world
 * it does nothing.
 */
void fault_point(const char *where);
/* ms that cc-backend needs for a listing, beyond the usual time. */
int64_t fault_listing_ms(int64_t most);
/* 1 once after a crash that is a power cut. */
int fault_power_cut(void);
/*
 * An exponential random time with the mean, at most 20 times the mean.  kind, a
 * constant, has random numbers of its own.
 */
int64_t fault_wait(const char *kind, int64_t mean);

#endif
