/* SPDX-License-Identifier: MIT */
/*
 * The state of one cluster, and of the site: one configuration, one
 * runner of commands and one queue to the submitter for all clusters.
 *
 * A lane is a part of the program that queries Slurm.  A lane has its own
 * struct and a pointer to its cluster; a cluster has no pointer to a lane.
 */
#ifndef COLLECTOR_BASE_CLUSTER_H
#define COLLECTOR_BASE_CLUSTER_H

#include <stdint.h>
#include <time.h>

#include "collector/base/settings.h"
#include "collector/base/tables.h"
#include "collector/base/worklist.h"
#include "common/log.h"
#include "common/worker/worker.h"

struct cluster;
struct event;
struct hosts;
struct lookups;
struct outbox;
struct permission_check;
struct runner_link;
struct shapes_query;

/* clock.c */

/* Seconds, milliseconds of the monotonic clock; the wall clock. */
int64_t now_s(void);
int64_t now_ms(void);
int64_t now_wall(void);
int64_t now_wall_ms(void);

/* slurm_clock.c */

/* Slurm's clock, as sdiag showed it. */
struct slurm_clock {
	int64_t shown;	 /* epoch; 0 = sdiag was never run */
	int64_t at;	 /* monotonic s of that time */
	int64_t drained; /* epoch: queue to slurmdbd empty */
	int64_t since;	 /* epoch: begin of slurmctld's counters; 0 = unknown */
	int64_t settles; /* monotonic s: slurmctld has just started; 0 = not */
	int works;	 /* sdiag shows clock and queue */
	int tried;	 /* sdiag was run */
};

/* Sets the time that the clock showed at a time of the monotonic clock. */
void slurm_clock_set(struct slurm_clock *k, int64_t shown, int64_t at);
/*
 * Slurm's clock at a time of the monotonic clock; `wall` if the clock was
 * never read.
 */
int64_t slurm_clock_at(const struct slurm_clock *k, int64_t at, int64_t wall);
/* Slurm's clock now, epoch.  A step of our wall clock does not change it. */
int64_t slurm_now(const struct cluster *c);

/* health.c: whether a daemon of Slurm answers */

struct health {
	const char *daemon; /* "slurmctld" */
	char name[2 *
	    CLUSTER_MAX]; /* for log lines; with several clusters it has the name */
	int away;
	unsigned fails;
	int64_t since;	  /* wall clock, for status */
	int64_t since_ms; /* the same, monotonic */
	int64_t next;	  /* monotonic ms: no query before */
	int64_t
	    wait_max_ms;  /* after a failure: one poll interval, 60 s at most */
	int64_t answered; /* wall clock of the last good answer */
	int64_t answered_ms; /* the same, monotonic; 0 = never */
	char why[256];
	int logged; /* the outage was logged */
	struct log_limit limit;
	int returned;	  /* it answers again: read its configuration again */
	uint64_t refused; /* answers "too many requests" */
	struct log_limit refusals;
};

void health_good(struct health *h);
void health_bad(struct health *h, const char *why);
/* The daemon is up and denies a query: the next one waits for wait_max_ms. */
void health_denies(struct health *h);
/* ms until the next query is allowed; 0 = now. */
int64_t health_wait(const struct health *h);

/* Slurm's commands and configuration; slurm/slurm.h fills it in. */

struct slurm {
	uint64_t installed; /* runner_info.replaced of these commands */
	char version_text[32];
	unsigned version; /* 2205; 0 = not known yet */
	char cluster[CLUSTER_MAX];
	char slurm_user[64];	/* SlurmUser */
	uint32_t slurm_uid;	/* its uid; 0 = not known, or root */
	char user[64];		/* of the commands: name, or number */
	int root;		/* this user is root */
	int private_jobs;	/* PrivateData has jobs */
	int private_nodes;	/* PrivateData has nodes */
	int accounting;		/* Slurm has slurmdbd */
	int no_steps;		/* slurmdbd gets no steps */
	int64_t min_job_age;	/* seconds that slurmctld keeps an ended job */
	uint32_t limit_bucket;	/* of requests by user; 0 = there is no limit */
	uint32_t limit_rate;	/* tokens that are refilled */
	uint32_t limit_period;	/* seconds in which they are refilled */
	char prolog[512];	/* PrologSlurmctld, scripts with commas */
	char epilog[512];	/* EpilogSlurmctld */
	char prep[128];		/* PrEpPlugins */
	uint32_t sacct_lacking; /* missing columns, see parse.h */
	/* missing columns that were logged */
	uint32_t sacct_reported;
	int known; /* the configuration was read */
};

/* Tokens of slurmctld's limit of requests. */
struct rate_limit {
	int64_t tokens;	   /* thousandths; may be negative */
	int64_t at;	   /* monotonic ms of tokens; 0 = never */
	int64_t script_at; /* monotonic ms: no script before */
};

enum permission {
	PERMISSION_UNKNOWN,
	PERMISSION_NONE,
	PERMISSION_OPERATOR,
	PERMISSION_INHERENT,
	PERMISSION_OPEN
};

/* The last answers of squeue to the poll. */
struct squeue_listing {
	uint32_t number;  /* number of the poll, from 1 */
	int busy;	  /* a poll is under way */
	size_t jobs;	  /* rows of the last complete answer */
	size_t records;	  /* of slurmctld's last answer about all jobs */
	int64_t asked_at; /* Slurm's clock when that poll began; 0 = never */
};

/* How far accounting was read. */
struct resume {
	int64_t point;		  /* epoch; 0 = none yet */
	int64_t durable;	  /* the last one in the spool; 0 = none */
	int stored;		  /* an earlier spool had one */
	uint64_t skipped_seconds; /* beyond slurmQueryMaxSpan */
	int64_t skipped_at;	  /* wall clock of the last time; 0 = never */
	int64_t
	    oldest; /* epoch: this process has read from here; 0 = not yet */
};

/* The state of one cluster.  `work` lists the queries to make. */
struct cluster {
	struct site *site;
	struct settings *set;	      /* the site's, in force */
	char name[CLUSTER_MAX];	      /* of `clusters`; "" = the local one */
	int by_name;		      /* commands get -M and the name */
	uint8_t number;		      /* in `clusters`, from 1; 0 = not there */
	char suffix[CLUSTER_MAX + 8]; /* see cluster_suffix() */
	struct outbox *outbox;	      /* the site's */
	struct lookups *lookups;      /* owned */
	struct slurm slurm;
	struct hosts *hosts; /* owned: shapes of nodes; NULL = not read yet */
	int64_t hosts_at;    /* monotonic s of hosts */
	int64_t
	    host_absent_at; /* of an answer without a wanted host; 0 = none */
	int64_t host_hidden_at;	     /* the same, of CONFIGURING jobs */
	struct shapes_query *shapes; /* owned: the query for the shapes */
	struct health ctld;
	struct health dbd;
	struct rate_limit rate_limit;
	enum permission permission;
	uint32_t permission_poll;		   /* poll that proved it */
	struct permission_check *permission_check; /* owned: its query */
	struct open_runs open;
	struct done_runs done;
	struct worklist work;
	struct squeue_listing listing;
	struct slurm_clock clock;
	struct resume resume;
	int ready;		/* Slurm's configuration and nodes are known */
	int synced;		/* the submitter has sent its open runs */
	int caught_up;		/* accounting was read up to the present once */
	int64_t began;		/* monotonic s: start of this process */
	struct idmap ambiguous; /* jobs whose texts are ambiguous */
	struct idmap
	    earlier; /* jobs whose earlier runs must be read from accounting first */
	/* unconfirmed runs whose job slurmctld has shown pending again */
	struct idmap requeued;
	/* resized runs, by job and end of a part: start and submission */
	struct idmap resized;
	struct idmap resized_submit;
	struct log_limit contradicted; /* ends that squeue contradicts */
	struct log_limit twice;	       /* nodes that scontrol shows twice */
	int trim; /* much memory was used: give it back when idle */
	char last_error[256];
};

/* cluster.c */

/* " of NAME" if there are several clusters, else "". */
const char *cluster_suffix(const struct cluster *c);
/* A run of this cluster for a log line; see run_key_text(). */
const char *cluster_run_text(const struct cluster *c, uint64_t job,
    int64_t start);

#define SITE_CLUSTERS	  16  /* the limit of the key `clusters` */
#define QUARANTINED_MAX	  256 /* runs set aside by the supervisor */
#define RESUME_POINTS_MAX 16  /* clusters in one spool */

struct resume_point {
	char cluster[CLUSTER_MAX];
	int64_t until;
};

/* An open run of the spool whose cluster is not known yet. */
struct unassigned_run {
	struct open_key open;
	unsigned bits; /* OPEN_RUNS_ */
};

struct site {
	struct worker *w;
	struct runner_link *runner;
	struct cluster *clusters[SITE_CLUSTERS]; /* owned */
	unsigned n;				 /* at least one */
	char local[CLUSTER_MAX]; /* slurm.conf's; "" = not known yet */
	int synced;
	struct resume_point resume_points[RESUME_POINTS_MAX];
	unsigned n_resume_points;
	struct unassigned_run *unassigned; /* owned */
	size_t n_unassigned;
	size_t cap_unassigned;
	struct event *timer; /* of the scheduler; see wake.h */
	int64_t wake_at;     /* monotonic ms of the timer; 0 = not set */
	struct run_key quarantined[QUARANTINED_MAX];
	unsigned n_quarantined;
};

/*
 * Returns the cluster of this name, "" = the local one; NULL when no cluster
 * has the name.  A cluster whose name is not known yet may have this name.
 */
struct cluster *site_find(struct site *site, const char *cluster);
/* Sets the name of the local cluster. */
void site_local(struct site *site, const char *cluster);

#endif
