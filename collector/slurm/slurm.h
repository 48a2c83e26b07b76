/* SPDX-License-Identifier: MIT */
/*
 * Slurm as one cluster's lanes meet it: its commands and what differs by
 * version and site, whether its daemons are there, one question and the limit on
 * questions, the shapes of its hosts.
 */
#ifndef COLLECTOR_SLURM_SLURM_H
#define COLLECTOR_SLURM_SLURM_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "collector/parse/parse.h"
#include "collector/slurm/runner.h"
#include "common/log.h"

struct cluster;

/* slurm.c: the commands, and what differs by version and site */

enum slurm_command {
	CMD_SQUEUE,
	CMD_SCONTROL,
	CMD_SACCT,
	CMD_SACCTMGR,
	CMD_SDIAG,
	CMD__COUNT
};

struct slurm {
	char		 path[CMD__COUNT][512];
	char		 missing[128];	/* commands that are not there, in words */
	struct timespec	 installed;	/* squeue was, as the file system says */
	char		 version_text[32];
	unsigned	 version;	/* 2205; 0 = not known yet */
	char		 cluster[CLUSTER_MAX];
	char		 slurm_user[64];	/* SlurmUser */
	char		 user[64];	/* who we are; a number without a name */
	int		 private_jobs;	/* PrivateData has jobs */
	int		 accounting;	/* slurmdbd is there to be asked */
	int64_t		 min_job_age;	/* seconds slurmctld remembers an ended job */
	uint32_t	 limit_bucket;	/* of requests by user; 0 = there is no limit */
	uint32_t	 limit_rate;	/* tokens that come back */
	uint32_t	 limit_period;	/* in so many seconds */
	uint32_t	 sacct_lacking;	/* columns that it does not have, see read.h */
	int		 known;		/* the configuration was read */
};

void slurm_find(struct slurm *slurm, const char *bin_dir);
/* The environment of Slurm's commands, built from nothing; 0, or -1. */
int slurm_environment(struct runner *r, const char *slurm_conf,
    const char *bin_dir);
/* One line of `scontrol show config`; in words.c. */
void slurm_config_line(struct slurm *slurm, struct span line);
/* Have the commands been replaced since they were looked at? */
int slurm_replaced(struct slurm *slurm);
/* Does the user see all jobs because of who it is? */
int slurm_permission_inherent(const struct slurm *slurm);
/* squeue's -t: every state in which a run holds its nodes, by version. */
const char *slurm_live_states(const struct slurm *slurm);

/* health.c: one side of Slurm, there or away */

struct health {
	const char	*daemon;	/* "slurmctld" */
	char		 name[2 * CLUSTER_MAX];	/* of several clusters: whose */
	int		 away;
	unsigned	 fails;
	int64_t		 since;		/* wall clock, to be shown */
	int64_t		 since_ms;	/* the same, monotonic */
	int64_t		 next;		/* monotonic ms; not asked before */
	int64_t		 answered;	/* wall clock of the last good answer, to be shown */
	int64_t		 answered_ms;	/* the same, monotonic; 0 = never */
	char		 why[256];
	int		 said;		/* that it is away */
	struct log_limit limit;
	int		 returned;	/* it was away and is back: look at it again */
	uint64_t	 refused;	/* answers: too many requests */
	struct log_limit refusals;
};

void health_good(struct health *h);
void health_bad(struct health *h, const char *why);
/* ms until it may be asked again; 0 = now. */
int64_t health_wait(const struct health *h);

/* ask.c: one command of Slurm's, with its usual bounds */

#define QUERY_DEADLINE_MS		20000	/* slurmctld */
/* slurmdbd over a long range, all jobs' details */
#define QUERY_LONG_MS		120000
#define QUERY_BYTES_MAX		(256ull * 1024 * 1024)
#define QUERY_LONG_BYTES_MAX	(4ull * 1024 * 1024 * 1024)

struct query {
	enum slurm_command cmd;
	const char	*args[RUNNER_ARGS_MAX];	/* without argv[0]; NULL-terminated */
	unsigned	 deadline_ms;
	int		 script;	/* it may wait for all others */
	int	(*on_output)(const char *p, size_t n, void *arg);
	void	(*on_end)(const struct command_end *end, void *arg);
	void	*arg;
};

/*
 * Asks c's cluster, by name when it is not the local one.  NULL on memory
 * only, after which nothing is called.
 */
struct command *query_start(struct cluster *c, const struct query *query);
/*
 * A question failed: status says so, and that side of Slurm, the cluster's ctld or
 * dbd, is taken to be away; NULL = it answered well, but not what we asked for.
 */
void query_failed(struct cluster *c, struct health *side, const char *what,
    const struct command_end *end);

/* limit.c: slurmctld's limit of requests */

struct rate_limit {
	int64_t		 tokens;	/* by the thousand; below 0 = lent */
	int64_t		 at;		/* monotonic ms of that; 0 = never */
	int64_t		 script_at;	/* the next script, no sooner */
};

/* Does it concern us? */
int rate_limit_on(const struct cluster *c);
/* One more command: ms that it has to wait. */
unsigned rate_limit_take(struct cluster *c, enum slurm_command cmd, int script);
/* ms between two polls, at least. */
int64_t rate_limit_poll_ms(const struct cluster *c);

/* hosts.c: shapes of hosts */

struct hosts;

struct hosts *hosts_new(void);
void hosts_free(struct hosts *h);
/* Takes one line of `scontrol show node -o`. */
void hosts_line(struct hosts *h, struct span line);
size_t hosts_count(const struct hosts *h);
/* NULL when it is not known. */
const struct node_shape *hosts_shape(const struct hosts *h, const char *name);
/* Fills the shapes of a run's hosts; returns how many are unknown. */
unsigned hosts_apply(const struct hosts *h, struct job_snapshot *s);

#endif
