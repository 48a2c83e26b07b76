/* SPDX-License-Identifier: MIT */
/*
 * The truth: what ran in Slurm.  Made by the seed; the checks compare with it
 * what the product sends and what cc-backend has at the end.
 */
#ifndef TESTS_SIMULATE_TRUTH_H
#define TESTS_SIMULATE_TRUTH_H

#include <stdint.h>

#include "common/model/job.h"

#define TRUTH_CLUSTER "alpha"
#define TRUTH_NODES   "n[01-16]"

struct truth_run {
	uint64_t job;
	int64_t start; /* epoch, s */
	int64_t end;   /* planned; it has ended when the time has come */
	enum job_end state;
	uint32_t restarts;
	int64_t submit;
	uint64_t array; /* 0 = none */
	uint32_t task;
	unsigned nodes;
	unsigned nodes_left; /* after a resize */
	unsigned first_node; /* from 1 */
	unsigned user;
	int has_script;
	struct truth_run *older; /* of the same job; NULL = none */
	struct truth_run *newer;
	/* what the checks know */
	uint64_t stored; /* number of the ack of its first record; 0 = none */
	unsigned starts; /* requests of the submitter */
	/* a listing that was requested after accepted shows it */
	int listed;
	int64_t accepted;  /* world_ms() of the last 201; 0 = none */
	int lost;	   /* cc-backend lost it after its stop */
	int foreign;	   /* another client has stopped it */
	int differs;	   /* with another end, at the end */
	unsigned stops;	   /* requests of the submitter */
	unsigned handled;  /* stops that cc-backend has handled */
	int was_there;	   /* in cc-backend, before a database is restored */
	unsigned vanished; /* so often, after that */
	int is_back;	   /* it was deleted, and the database restored */
	int ran;	   /* its prolog did not fail */
	int may_lack;	   /* it was requeued in the second of its start */
	int64_t opts_out;  /* epoch, s: its user opts out; 0 = never */
	int64_t
	    fails_until;  /* ms: cc-backend fails; 1 = never, 0 = not chosen */
	int fails_stop;	  /* at its stop, not at its start */
	int rejected;	  /* a start was answered with 400 */
	int retry;	  /* a reload retries the rejected start */
	int twin_row;	  /* of the other suite: its row in cc-backend */
	int twin_refused; /* the other suite got no 201 */
	unsigned in_cc;	  /* rows at the end */
	int in_spool;	  /* at the end */
	/* of the collector under way: what it has told */
	unsigned told_by; /* incarnation of the collector; 0 = none */
	int told_end;
	int told_script;
};

/* Runs begin to start, per_hour on average, until truth_end(). */
void truth_begin(unsigned per_hour);
/* No new run. */
void truth_end(void);
/* By the number, in the order of their start; NULL = there is no more. */
struct truth_run *truth_run(unsigned i);
struct truth_run *truth_find(uint64_t job, int64_t start);
/* 1 when the run has ended at the true time. */
int truth_has_ended(const struct truth_run *t);
/* s since 1970, true time. */
int64_t truth_now(void);
/* "u7" */
void truth_user(const struct truth_run *t, char *buf, size_t size);
/* Fills an initialised job as the collector would. */
void truth_job(const struct truth_run *t, struct job *job, int with_script);

#endif
