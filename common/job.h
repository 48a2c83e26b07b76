/* SPDX-License-Identifier: MIT */
/*
 * A run: one execution of one job, identified for ever by cluster, job id and
 * the start time as first sent.  A requeued job is several runs.  The
 * collector fills a struct job from what Slurm says, the submitter stores it
 * and makes cc-backend's bodies of it.  Thread ids stay Slurm's abstract ones
 * here: the map to the operating system's is cc-backend's topology, which is
 * applied at delivery, when cc-backend is there to be asked.
 */
#ifndef COMMON_JOB_H
#define COMMON_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"

#define CLUSTER_MAX	64	/* bytes with the NUL: Slurm keeps it short */
#define HOST_MAX	256	/* bytes with the NUL: a DNS name */
#define HOSTS_MAX	100000	/* hosts of one run */
#define RANGES_MAX	4096	/* ranges of threads on one host */
#define ACCELS_MAX	1024	/* devices of one run on one host */
#define ACCEL_MAX	64	/* bytes with the NUL: "00000000:C1:00.0" */
#define TEXT_MAX	(64 * 1024)	/* bytes: names, slurmInfo */
#define SCRIPT_MAX	(4 * 1024 * 1024)	/* jobScriptMaxBytes goes no higher */

struct run_key {
	char	 cluster[CLUSTER_MAX];
	uint64_t job;
	int64_t	 start;		/* epoch, seconds; > 0 */
};

void wr_run_key(struct writer *w, const struct run_key *key);
void rd_run_key(struct reader *r, struct run_key *key);
int run_key_equal(const struct run_key *a, const struct run_key *b);
/*
 * "job 4711 (alpha, started 2026-11-21T14:00:05+01:00)"; what the key lacks is
 * left out.  Returns static memory of the calling thread, which stays valid
 * until the second later call.
 */
const char *run_key_text(const struct run_key *key);

/* cc-backend's words for the three ways to share nodes. */
enum job_shared {
	SHARED_UNKNOWN,		/* goes as multi_user: never claims a node */
	SHARED_NONE,
	SHARED_SINGLE_USER,
	SHARED_MULTI_USER,
	SHARED__COUNT
};

/* How a run ended; names are cc-backend's. */
enum job_end {
	END_NOT,		/* it runs */
	END_COMPLETED,
	END_FAILED,
	END_CANCELLED,
	END_TIMEOUT,
	END_OUT_OF_MEMORY,
	END_PREEMPTED,
	END_NODE_FAIL,
	END_BOOT_FAIL,
	END_DEADLINE,
	END_REQUEUED,		/* this run is over, another follows */
	END__COUNT
};

/* "completed" and so on as cc-backend 1.5 spells it; requeued is "requeued". */
const char *job_end_name(enum job_end end);
const char *job_shared_name(enum job_shared shared);

/* Bits of job.flags. */
#define JOB_HAS_START	1u	/* who, when, how much: a start can be made of it */
#define JOB_HAS_THREADS	2u	/* hosts[].cpus were seen while Slurm knew them */
#define JOB_HAS_ACCELS	4u	/* GPU indices were seen while it ran (or it has none) */
#define JOB_MORE	8u	/* script or accounting follow: the start may wait for them */
#define JOB_LIVE	16u	/* slurmctld showed it running just now */
#define JOB_OPTED_OUT	32u	/* to be kept from cc-backend and NATS */
#define JOB_PARTIAL	64u	/* an update of a known run: absent text changes nothing */
#define JOB_UNCONFIRMED	128u	/* nobody saw it running: no start before it is seen so, or its end is known */
#define JOB_BACKFILL	256u	/* of a past range: no live work waits for it */
#define JOB_DRY_RUN	512u	/* the same, and it shall not be stored */
#define JOB_NEVER_RAN	1024u	/* requeued before it ran: a prolog failed */

struct cpu_range {
	uint32_t first;
	uint32_t last;		/* included */
};

struct job_host {
	char		*name;		/* owned */
	struct cpu_range *cpus;		/* owned; Slurm's abstract ids, ascending */
	uint32_t	 n_cpus;	/* number of ranges */
	uint16_t	 sockets;	/* the host's shape as Slurm has it; 0 = unknown */
	uint16_t	 cores;		/* per socket */
	uint16_t	 threads;	/* per core */
	char		**accels;	/* owned; addresses as cc-backend wants them */
	uint32_t	 n_accels;
};

struct job {
	struct run_key	 key;
	uint32_t	 flags;
	int64_t		 submit;	/* epoch; 0 = unknown */
	int64_t		 end;		/* epoch; 0 while it runs */
	enum job_end	 state;
	enum job_shared	 shared;
	uint32_t	 restarts;	/* which run of the job, from 0 */
	uint64_t	 array_job;	/* 0 = none */
	uint32_t	 array_task;	/* valid when array_job != 0 */
	uint64_t	 het_job;	/* 0 = none */
	uint32_t	 het_offset;
	uint32_t	 nodes;
	uint32_t	 cpus;		/* hardware threads in all */
	uint32_t	 accels;	/* devices in all, counted by Slurm */
	int64_t		 walltime;	/* seconds; 0 = unlimited */
	uint64_t	 memory;	/* MB requested in all; 0 = not said */
	int32_t		 exit_code;	/* as wait(2) says, -1 = unknown */
	char		*user;		/* strings are owned, UTF-8, may be NULL */
	char		*account;
	char		*partition;
	char		*qos;
	char		*reservation;
	char		*name;
	char		*script;
	char		*slurm_info;
	char		*reason;
	char		*admin_comment;
	char		*message;	/* for people: what could not be known, and why */
	struct job_host	*hosts;		/* owned */
	uint32_t	 n_hosts;
};

void job_init(struct job *job);
void job_clear(struct job *job);

/* Appends a host; takes nothing, copies name.  NULL when memory or HOSTS_MAX is exceeded. */
struct job_host *job_add_host(struct job *job, const char *name);
/* 0, or -1 on memory or RANGES_MAX. */
int job_host_add_cpus(struct job_host *host, uint32_t first, uint32_t last);
/* 0, or -1 on memory or ACCELS_MAX. */
int job_host_add_accel(struct job_host *host, const char *address);

/* Writes all of it.  wr_end() of w tells. */
void job_write(struct writer *w, const struct job *job);
/* Fills job (job_init first); on error the reader has failed; job_clear in any case. */
void job_read(struct reader *r, struct job *job);

/*
 * Adds to `into` what `from` knows better of the same run: an end, a script,
 * threads and devices seen while it ran are never replaced by their absence.
 * Moves strings out of `from`.  Returns 1 when something changed.
 */
int job_merge(struct job *into, struct job *from);

/* State of one node, for MSG_NODES: str cluster, u32 count, then each node. */
struct node_state {
	char	 host[HOST_MAX];
	char	 states[128];	/* cc-backend's words, comma between them */
	uint32_t cpus;		/* allocated */
	uint64_t memory;	/* MB allocated */
	uint32_t gpus;		/* allocated */
	uint32_t jobs;		/* running */
};

void node_write(struct writer *w, const struct node_state *node);
void node_read(struct reader *r, struct node_state *node);

#endif
