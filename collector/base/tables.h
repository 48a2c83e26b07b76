/* SPDX-License-Identifier: MIT */
/*
 * Compact tables of runs; there may be 100,000 runs.  In every version of
 * Slurm a job id and a start time fit 32 bits each, so one 64 bit number
 * contains both.
 */
#ifndef COLLECTOR_BASE_TABLES_H
#define COLLECTOR_BASE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* a map of numbers other than 0 to numbers */

struct idmap {
	uint64_t *keys;	  /* owned; 0 = free */
	uint32_t *values; /* owned */
	size_t cap;	  /* a power of two, or 0 */
	size_t n;
	uint64_t factor; /* see idmap_random(); 0 = the usual one */
};

void idmap_clear(struct idmap *m);
/*
 * For an empty map whose keys users can choose, until it is cleared: without a random
 * factor, some 100,000 chosen keys would need seconds, because all have one slot.
 */
void idmap_random(struct idmap *m);
/*
 * Returns the place of the value.  *added is 1 when the key is new; added may
 * be NULL.  Returns NULL when out of memory.
 */
uint32_t *idmap_put(struct idmap *m, uint64_t key, int *added);
/* Returns NULL when the key is not in the map. */
uint32_t *idmap_get(const struct idmap *m, uint64_t key);
void idmap_remove(struct idmap *m, uint64_t key);
/*
 * Returns each key in turn, 0 at the end; *at is 0 at first.  The caller must
 * not change the map between the calls.
 */
uint64_t idmap_next(const struct idmap *m, size_t *at, uint32_t *value);

/* Job and start in one number; 0 when one of them does not fit. */
uint64_t run_number(uint64_t job, int64_t start);

/* open runs: runs that have no end yet */

#define OPEN_RESOURCES_SENT 1u /* the details of the run were sent */
#define OPEN_LEFT	    2u /* squeue does not show the run now */
#define OPEN_IGNORED	    4u /* it has only ignored hosts and is not sent */
#define OPEN_SPOOLED	    8u /* known from the spool, not seen by this process */
#define OPEN_RUNNING	    16u /* slurmctld's last answer shows it running */
#define OPEN_UNLISTED	    32u /* the new submitter has not sent it (yet) */
/* the start waits until squeue shows the run running */
#define OPEN_UNCONFIRMED 64u
/* accounting reports an end, but squeue showed the run as running later */
#define OPEN_DISPUTED 128u

struct open_run {
	uint64_t job;	    /* 0 = the slot is free */
	int64_t start;	    /* as first sent */
	uint32_t start_now; /* as Slurm shows it now */
	uint32_t submit;    /* 0 = unknown */
	/*
	 * number of the last poll that showed the run; after the run left
	 * squeue: monotonic s of the next query
	 */
	uint32_t seen;
	uint16_t restarts; /* not known of an OPEN_SPOOLED run */
	uint8_t tries;	   /* queries for its end or details */
	uint8_t flags;
};

struct open_runs {
	struct open_run *slots; /* owned */
	size_t cap;		/* a power of two, or 0 */
	size_t n;
};

/*
 * Returns NULL when out of memory.  Pointers into the table are invalid after
 * the next put or remove.
 */
struct open_run *open_put(struct open_runs *o, uint64_t job, int64_t start);
/*
 * The run that has this start, as first sent or now; NULL when there is no
 * such run.
 */
struct open_run *open_find(struct open_runs *o, uint64_t job, int64_t start);
/*
 * The run of a record, also when the start of the run has moved.  Such a run
 * has the same submission (0 = unknown) and no further restart.
 */
struct open_run *open_match(struct open_runs *o, uint64_t job, int64_t start,
    int64_t submit, uint32_t restarts);
/* Returns each run of one job in turn, NULL at the end; *at is 0 at first. */
struct open_run *open_of_job(struct open_runs *o, uint64_t job, size_t *at);
/* As open_of_job(), for all runs. */
struct open_run *open_next(struct open_runs *o, size_t *at);
void open_remove(struct open_runs *o, struct open_run *run);

/* done runs: their end was sent to the submitter; they are not sent again */

#define DONE_GENERATION 32768 /* runs; two generations are kept */

struct done_runs {
	struct idmap now;
	struct idmap before;
};

void done_clear(struct done_runs *d);
void done_put(struct done_runs *d, uint64_t job, int64_t start);
/* The run was requeued before it ran; Slurm may still run it. */
void done_put_false_start(struct done_runs *d, uint64_t job, int64_t start);
int done_has(const struct done_runs *d, uint64_t job, int64_t start);
/* 1 when the run is done and was no false start. */
int done_ran(const struct done_runs *d, uint64_t job, int64_t start);

#endif
