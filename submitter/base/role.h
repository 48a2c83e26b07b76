/* SPDX-License-Identifier: MIT */
/*
 * The role of this suite when two suites run (activeOnly).  The code of the
 * failover and of the first list sets the role; the code that sends requests reads
 * it.
 */
#ifndef SUBMITTER_BASE_ROLE_H
#define SUBMITTER_BASE_ROLE_H

#include <stdint.h>

struct submitter;

struct failover_role {
	int passive;	    /* 1: nothing may be sent */
	int64_t stop_delay; /* ms */
	int standby;	    /* 1: no request at all, no list either */
	int inactive;	    /* 1: what waits here is for the other suite */
	int unlisted;	    /* 1: a first list of cc-backend's jobs is due */
};

void role_set(struct submitter *s, int passive, int64_t stop_delay);
/* 1 while nothing may be sent, because of another suite or a first list. */
int role_is_passive(const struct submitter *s);
/*
 * ms that this suite waits longer than the other one before it lists jobs for
 * stops.
 */
int64_t role_stop_delay(const struct submitter *s);

#endif
