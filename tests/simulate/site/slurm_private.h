/* SPDX-License-Identifier: MIT */
/* Declarations for slurm.c, slurm_accounting.c and slurm_text.c only. */
#ifndef TESTS_SIMULATE_SITE_SLURM_PRIVATE_H
#define TESTS_SIMULATE_SITE_SLURM_PRIVATE_H

#include "tests/simulate/site/slurm.h"

enum job_phase {
	SLURM_PENDING,
	SLURM_CONFIGURING, /* PrologSlurmctld runs */
	SLURM_PROLOG,	   /* the prolog of the nodes runs: RUNNING, Prolog */
	SLURM_RUNNING,
	SLURM_SUSPENDED,
	SLURM_COMPLETING,
	SLURM_REQUEUED, /* its nodes are not free yet */
	SLURM_OVER,	/* slurmctld still has it */
	SLURM_PURGED
};

/* The fate of a job, chosen when it is submitted. */
enum job_fate {
	FATE_END,
	FATE_REQUEUE,	  /* it runs again */
	FATE_PROLOG_CTLD, /* PrologSlurmctld fails, it is requeued */
	FATE_PROLOG_NODE, /* the prolog of a node fails, it is requeued */
	FATE_RESIZE,	  /* it gives back nodes */
	FATE_SUSPEND,
	FATE_CANCEL /* while it is pending */
};

struct slurm_job {
	struct slurm_job *next; /* of all that slurmctld has */
	struct slurm_job *before;
	uint32_t id;
	uint32_t array_job; /* 0 = none */
	uint32_t array_task;
	uint32_t het_job; /* 0 = none */
	uint32_t het_offset;
	const char *name; /* may be hostile */
	int hostile;
	unsigned user;	   /* index */
	unsigned restarts; /* so far */
	int64_t submit;	   /* epoch */
	int64_t begin;	   /* epoch: not before */
	int64_t limit;	   /* minutes */
	int64_t resized;   /* epoch; 0 = never */
	int64_t opts_out;  /* epoch: its admin comment is set; 0 = never */
	int batch;
	enum job_phase phase;
	enum job_fate fate;
	enum job_end end_state;
	int64_t end; /* epoch, of the job */
	int64_t prolog_ms;
	int64_t run_ms;
	struct slurm_run *run; /* of the last start; NULL = none */
	struct slurm_row *row; /* in accounting, of the run */
	uint32_t cancelled_by;
};

/* A row of accounting, without steps. */
struct slurm_row {
	struct slurm_row *next; /* by the time it came */
	struct slurm_row *same; /* next row of the same bucket of ids */
	uint32_t id, array_job, array_task, het_job, het_offset;
	const char *name;
	unsigned user;
	int64_t submit, start, end, limit;
	uint32_t cancelled_by; /* user id of "CANCELLED by" */
	uint32_t node_first, node_count, cpu_count;
	unsigned gpus;
	int steps; /* 0 none, 1 with a status, 2 without */
	/* As slurmdbd has it; times: 0 = none. */
	int64_t shown_start;
	int64_t shown_end;
	const char *shown_state;
	int known;
	struct slurm_run *run; /* NULL: never ran */
	int last;	       /* the last row of the run */
};

struct slurm_user {
	const char *name;
	unsigned uid;
	const char *account;
};

extern const struct slurm_user slurm_users[];
#define SLURM_USERS 3
#define COORDINATED 0 /* the user of the account that has the coordinator */

struct slurm {
	struct slurm_options o;
	slurm_hook_fn *hook;
	struct prng prng;	 /* of the life of jobs */
	struct prng opting;	 /* of their admin comments */
	unsigned opt_out;	 /* of a million jobs */
	struct prng powering;	 /* of their nodes */
	unsigned power_up;	 /* of a million runs */
	struct slurm_job *first; /* that slurmctld has, oldest first */
	struct slurm_job *last;
	struct slurm_run *runs, **runs_tail;
	unsigned busy;
	int closed;
	int node_by_node; /* a job gives back its devices node by node */
	uint32_t id_next;
	int ctld_up, dbd_up, is_operator, coordinates;
	int64_t ctld_began;  /* epoch */
	int64_t dbd_delay;   /* ms */
	unsigned dbd_queued; /* messages */
};

extern struct slurm slurm;

/* epoch, true time */
int64_t slurm_now_s(void);

/* slurm_accounting.c */

void slurm_accounting_begin(void);
/* slurmctld reports that the job is pending. */
void slurm_report_pending(struct slurm_job *job);
/* slurmctld reports the start of the job's run. */
void slurm_report_start(struct slurm_job *job);
/* slurmctld reports that the start of the job's run has moved. */
void slurm_report_moved(struct slurm_job *job);
/* slurmctld reports the end of the row of the job. */
void slurm_report_end(struct slurm_job *job, const char *state, int last);
/* A job that was cancelled while it was pending. */
void slurm_report_never(struct slurm_job *job);
struct slurm_row *slurm_rows(void);
/* Rows that may have this id: a bucket. */
struct slurm_row *slurm_rows_of(uint32_t id);

#endif
