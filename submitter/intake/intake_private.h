/* SPDX-License-Identifier: MIT */
/* Private state of the intake. */
#ifndef SUBMITTER_INTAKE_INTAKE_PRIVATE_H
#define SUBMITTER_INTAKE_INTAKE_PRIVATE_H

#include <stddef.h>

#include "common/log.h"
#include "submitter/base/context.h"
#include "submitter/intake/intake.h"

#define RECORD_SHARE 32 /* of spoolMaxBytes: limit of one record */

/* A message that is not durable yet. */
struct intake_frame {
	struct intake_frame *next;
	uint16_t type;
	size_t len;
	uint8_t bytes[];
};

/* Whether there is space for records in the spool. */
enum space_state {
	SPACE_OK,
	SPACE_FULL,	/* spoolMaxBytes is reached */
	SPACE_DISK_FULL /* the disk is full: only the reserve is left */
};

struct intake {
	struct submitter *s;
	const struct intake_ops *ops;
	struct channel *collector;
	struct event *timer;
	/* since the last commit, and those that wait for space */
	struct intake_frame *first, **last;
	struct intake_frame *next; /* the first one that is not applied */
	unsigned n_applied;	   /* before next */
	size_t bytes;		   /* of all messages */
	uint64_t seq;		   /* of the last message that was applied */
	uint64_t acked;		   /* acknowledged */
	/* ms the timer was set to, plus one; 0 = not set */
	int armed;
	/* space.c */
	enum space_state space;
	/* bytes until the spool is full, as last measured and used since */
	int64_t room;
	size_t needs; /* bytes that the first waiting record needs */
	/* the warning before the spool is full was logged */
	int logged_large;
	int reserve; /* the reserve exists */
	/* the reserve was released: only space within the file is left */
	int no_disk;
	/* spool_now() of the last failure to make the reserve; 0 = none */
	int64_t scarce;
	int evicting; /* there may be more to remove */
	/* spool_started() when the last search for that began */
	uint64_t searched;
	/* share.c: clusters that have used their share */
	char held[CONF_CLUSTERS_MAX][CLUSTER_MAX];
	unsigned n_held;
	uint16_t next_held[CONF_CLUSTERS_MAX]; /* while they are searched */
	int shedding;	 /* a cluster is at its limit: scripts are removed */
	int64_t shed_at; /* spool_now() when that began; 0 = never */
	struct log_limit share_used;
	struct log_limit share_free;
	struct run_key quarantined[QUARANTINE_MAX];
	unsigned n_quarantined;
	struct log_limit refused;
	struct log_limit late;
	struct log_limit no_resources;
};

/* apply.c */

/*
 * Applies one message; the reader is at its payload.  0, or -1 when the spool
 * refuses the write; *bad: the message is invalid.
 */
int frame_apply(struct intake *b, uint16_t type, struct reader *r, int *bad);
/*
 * Stores the resources in a record that waits for space, unless a stream keeps
 * it. 0, or -1 when the spool refuses the write.
 */
int frame_resources(struct intake *b, const struct intake_frame *f);

/* space.c */

/*
 * Returns 1 when there is space for this message.  Otherwise this message and
 * all later ones wait.
 */
int space_admit(struct intake *b, const struct intake_frame *f);
/*
 * Called after each commit: logs, and applies waiting messages when there is
 * space again.
 */
void space_check(struct intake *b);
/*
 * Called while the spool is full: removes some rows.  Returns the ms until the
 * next step.
 */
int space_free_some(struct intake *b);
/*
 * The disk is full: releases the reserve, once. Returns 1 when a write may
 * succeed now; then all messages wait.
 */
int space_release_reserve(struct intake *b);
/* Makes the reserve when it does not exist. */
void space_make_reserve(struct intake *b);

/* share.c: at the centre of a fan-in */

/*
 * Called after each commit and from time to time: tells the receiver which
 * clusters wait.
 */
void share_check(struct intake *b);
/* Tells a new receiver. */
void share_tell(struct intake *b);

#endif
