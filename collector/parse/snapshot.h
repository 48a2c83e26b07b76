/* SPDX-License-Identifier: MIT */
/* A job as Slurm reports it at one moment, and the meanings of its state. */
#ifndef COLLECTOR_PARSE_SNAPSHOT_H
#define COLLECTOR_PARSE_SNAPSHOT_H

#include <stdint.h>

#include "common/model/job.h"
#include "common/text/text.h"

/* The phase of a run, derived from Slurm's state of the job. */
enum slurm_phase {
	PHASE_PENDING,	   /* the job has no run */
	PHASE_CONFIGURING, /* it has nodes; a failed prolog can requeue it */
	PHASE_RUNNING,	   /* also suspended or stopped */
	PHASE_COMPLETING,  /* the run has ended, its nodes are not free yet */
	PHASE_ENDED,
	PHASE_RESIZED, /* an accounting record ended, the run continues */
	PHASE_NEVER,   /* revoked: another cluster runs the job */
	PHASE_UNKNOWN  /* a state that is in no table */
};

struct job_state {
	const char *word; /* as Slurm prints it; "" = unknown */
	enum slurm_phase phase;
	enum job_end end; /* END_NOT while the run has not ended */
};

/* job_state.c */

/*
 * The state that squeue's %t prints, and the one that scontrol (JobState=)
 * and sacct (the first word of State) print.  Never NULL.
 */
const struct job_state *state_compact(struct span s);
const struct job_state *state_word(struct span s);
/*
 * The state of a job with this reason.  Slurm reports RUNNING with reason
 * Prolog while a node's prolog runs; that is CONFIGURING.
 */
const struct job_state *state_with_reason(const struct job_state *state,
    struct span reason);
/* Does Slurm show the device indices of a job in this phase? */
int phase_has_devices(enum slurm_phase phase);

/*
 * Tells whether a run that was requeued shortly after its start, or that squeue
 * never showed running, has run.  A run has run if accounting has a step of it.
 */
enum ran {
	RAN_UNKNOWN, /* its steps were not read */
	RAN_YES,     /* it has a step */
	RAN_NEVER    /* it has no step */
};

/* One job as squeue, scontrol or sacct shows it. */
struct job_snapshot {
	struct job job; /* the caller sets key.cluster */
	const struct job_state *state;
	int batch;	   /* it has a batch script */
	int whole_is_none; /* SHARED_NONE if it has its nodes whole */
	int never;	   /* it ended and never had a node */
	int no_nodes;	   /* NodeList= is empty; CPU_IDs= may remain */
	int opt_out_seen;  /* the record contains the opt-out word */
	uint32_t groups;   /* "Nodes= CPU_IDs=" groups in the record */
	enum ran ran;
	int followed; /* the rows of its steps have a later run of the job */
	int steps_stored; /* they have a step of the job of about that time */
};

/* snapshot.c */

void snapshot_init(struct job_snapshot *s);
void snapshot_clear(struct job_snapshot *s);
/*
 * Sets the end from EndTime=, which is a forecast while the job runs.  State,
 * start, limit and restarts must be set.  Slurm reports a requeued job as
 * COMPLETING until its nodes are free, with the current time as start and the
 * forecast of its next run as end: the state becomes PENDING.
 */
void snapshot_end(struct job_snapshot *s, int64_t end);
/*
 * The exit status of a job that has ended; -1 = not known.  0 is not known
 * either unless the job completed: Slurm shows 0 until it has a status.
 */
int32_t snapshot_exit(const struct job_snapshot *s, int32_t code);
/*
 * Did the job end without a run?  Its hosts must be set. 20.11 keeps the
 * CPU_IDs= of a failed prolog in the record of a job that was cancelled while
 * it was pending again; its NodeList= is empty, and its end equals its start.
 */
int snapshot_never(const struct job_snapshot *s);

#endif
