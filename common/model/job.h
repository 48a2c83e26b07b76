/* SPDX-License-Identifier: MIT */
/*
 * A run is one execution of a job.  Its key, cluster, job id and start time as
 * first sent, never changes.  A requeued job has several runs.  The collector
 * fills a struct job from Slurm's output, the submitter stores it and writes
 * the requests to cc-backend from it.  Hardware thread ids are Slurm's abstract
 * ids; the submitter maps them to those of the operating system at delivery.
 */
#ifndef COMMON_JOB_H
#define COMMON_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"

#define CLUSTER_MAX 64		/* bytes with the NUL */
#define HOST_MAX    256		/* bytes with the NUL: a DNS name */
#define HOSTS_MAX   100000	/* hosts of one run */
#define RANGES_MAX  4096	/* ranges of threads on one host */
#define THREADS_MAX 16384	/* of one host; more than any machine has */
#define ACCELS_MAX  1024	/* devices of one run on one host */
#define ACCEL_MAX   64		/* bytes with the NUL: "00000000:C1:00.0" */
#define TEXT_MAX    (64 * 1024) /* bytes: names, slurmInfo */
#define SCRIPT_MAX  (4 * 1024 * 1024) /* bytes of a job script */

struct run_key {
	char cluster[CLUSTER_MAX];
	uint64_t job;
	int64_t start; /* epoch, seconds; > 0 */
};

void wr_run_key(struct writer *w, const struct run_key *key);
void rd_run_key(struct reader *r, struct run_key *key);
int run_key_equal(const struct run_key *a, const struct run_key *b);

/* A run without an end, as open-runs names it. */
struct open_key {
	struct run_key key;
	int64_t submit; /* epoch; 0 = unknown */
};

void wr_open_key(struct writer *w, const struct open_key *open);
void rd_open_key(struct reader *r, struct open_key *open);
/*
 * "job 4711 (alpha, started 2026-11-21T14:00:05+01:00)"; an empty cluster or a
 * start of 0 is left out.  Returns static memory of the calling thread; the text
 * stays valid until the second later call.
 */
const char *run_key_text(const struct run_key *key);

/* How a run shares its nodes; the names are cc-backend's. */
enum job_shared {
	SHARED_UNKNOWN, /* sent as multi_user */
	SHARED_NONE,
	SHARED_SINGLE_USER,
	SHARED_MULTI_USER,
	SHARED__COUNT
};

/* How a run ended; the names are cc-backend's. */
enum job_end {
	END_NOT, /* the run has not ended */
	END_COMPLETED,
	END_FAILED,
	END_CANCELLED,
	END_TIMEOUT,
	END_OUT_OF_MEMORY,
	END_PREEMPTED,
	END_NODE_FAIL,
	END_BOOT_FAIL,
	END_DEADLINE,
	END_REQUEUED, /* another run of the job follows */
	END__COUNT
};

/* "completed" and so on, as in cc-backend 1.5; END_REQUEUED is "requeued". */
const char *job_end_name(enum job_end end);
const char *job_shared_name(enum job_shared shared);

/* Bits of job.flags. */
#define JOB_HAS_START	1u  /* has all that a start needs */
#define JOB_HAS_THREADS 2u  /* hosts[].cpus were read while the run ran */
#define JOB_HAS_ACCELS	4u  /* GPU indices were read, or it has no GPU */
#define JOB_MORE	8u  /* the job script follows; the start may wait */
#define JOB_LIVE	16u /* slurmctld shows the run as running */
#define JOB_OPTED_OUT	32u /* not sent to cc-backend and NATS */
#define JOB_PARTIAL	64u /* an update: missing texts change nothing */
/* Slurm has not shown the run as running; its start waits for that. */
#define JOB_UNCONFIRMED 128u
#define JOB_BACKFILL	256u  /* of a past range; delivered after live runs */
#define JOB_DRY_RUN	512u  /* of a past range; not stored */
#define JOB_NEVER_RAN	1024u /* requeued before it ran */

struct cpu_range {
	uint32_t first;
	uint32_t last; /* included */
};

struct job_host {
	char *name;		/* owned */
	struct cpu_range *cpus; /* owned; abstract ids, ascending */
	uint32_t n_cpus;	/* number of ranges */
	uint16_t sockets;	/* of the host in Slurm; 0 = unknown */
	uint16_t cores;		/* per socket */
	uint16_t threads;	/* per core */
	char **accels;		/* owned; addresses as in cc-backend */
	uint32_t n_accels;
};

struct job {
	struct run_key key;
	uint32_t flags;
	int64_t submit; /* epoch; 0 = unknown */
	int64_t end;	/* epoch; 0 while it runs */
	enum job_end state;
	enum job_shared shared;
	uint32_t restarts;   /* earlier runs, from Slurm's Restarts */
	uint64_t array_job;  /* 0 = none */
	uint32_t array_task; /* valid when array_job != 0 */
	uint64_t het_job;    /* 0 = none */
	uint32_t het_offset;
	uint32_t nodes;
	uint32_t cpus;	   /* hardware threads in all */
	uint32_t accels;   /* devices in all, from Slurm's TRES */
	int64_t walltime;  /* seconds; 0 = unlimited */
	uint64_t memory;   /* MB requested in all; 0 = unknown */
	int32_t exit_code; /* status of wait(2), -1 = unknown */
	char *user;	   /* strings: owned, UTF-8, may be NULL */
	char *account;
	char *partition;
	char *qos;
	char *reservation;
	char *name;
	char *script;
	char *slurm_info;
	char *reason;
	char *admin_comment;
	char *message;		/* names the unknown values and the reason */
	struct job_host *hosts; /* owned */
	uint32_t n_hosts;
	/*
	 * Increases with each change at the cluster that publishes the run to a
	 * stream; 0 = not known: the record comes from Slurm itself.
	 */
	uint64_t revision;
};

void job_init(struct job *job);
void job_clear(struct job *job);

/* Appends a host, copies name.  NULL: out of memory, or HOSTS_MAX reached. */
struct job_host *job_add_host(struct job *job, const char *name);
/* 0, or -1: out of memory, RANGES_MAX reached, or last is below first. */
int job_host_add_cpus(struct job_host *host, uint32_t first, uint32_t last);
/* 0, or -1: out of memory, ACCELS_MAX reached, or ACCEL_MAX bytes or more. */
int job_host_add_accel(struct job_host *host, const char *address);

/* Writes the record; wr_end() tells whether it fits. */
void job_write(struct writer *w, const struct job *job);
/*
 * Reads a record into job, which job_init() has prepared.  On error the reader
 * fails.  The caller calls job_clear() in either case.
 */
void job_read(struct reader *r, struct job *job);

/*
 * Merges a later record of the same run into `into`.  A missing value of `from`
 * never replaces an end, a script, threads or devices of `into`.  Where both
 * have a revision, texts of the higher one win, whichever record comes first.
 * Moves strings out of `from`.  Returns 1 when `into` has changed.
 */
int job_merge(struct job *into, struct job *from);
/*
 * start, epoch s: of a known run of the same submission.  1 when job is this run
 * with a wrong start, because the clock was set back to before the start while the
 * run ran: slurmdbd then shows the end as the start.  Else 0.
 */
int job_is_set_back(const struct job *job, int64_t start);

/* State of a node in MSG_NODES: str cluster, u32 count, then each node. */
struct node_state {
	char host[HOST_MAX];
	char states[128]; /* cc-backend's states, separated by commas */
	uint32_t cpus;	  /* allocated */
	uint64_t memory;  /* MB allocated */
	uint32_t gpus;	  /* allocated */
	uint32_t jobs;	  /* running */
};

void node_write(struct writer *w, const struct node_state *node);
void node_read(struct reader *r, struct node_state *node);

#endif
