/* SPDX-License-Identifier: MIT */
/*
 * Readers of Slurm's output: pure functions over bytes from outside, without
 * a process, a clock or a configuration.  Every length is explicit; no input
 * needs a NUL, and no reader writes into its input.
 */
#ifndef COLLECTOR_PARSE_PARSE_H
#define COLLECTOR_PARSE_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/parse/snapshot.h"
#include "collector/parse/span.h"
#include "common/model/job.h"
#include "common/question/question.h"

/* time.c */

/*
 * A point in time as epoch seconds: digits (SLURM_TIME_FORMAT=%s) or
 * 2026-11-20T22:05:54 in UTC.  0 for a time that is not set ("Unknown",
 * "None", "N/A", "").  Returns 0, or -1 when s is no time.
 */
int time_point(struct span s, int64_t *epoch);
/*
 * A time limit in seconds: "1-02:03:04", "02:03:04", "05:00".  0 = unlimited,
 * -1 = not set yet ("Partition_Limit", "").  Returns 0, or -1 when s is no
 * limit.
 */
int time_limit(struct span s, int64_t *seconds);
/* The same for sacct's TimelimitRaw, which is in minutes. */
int time_limit_minutes(struct span s, int64_t *seconds);

/* hostlist.c */

/*
 * "n[1-3,08],m[0-1]x[2-3]": calls each() for every name in Slurm's order;
 * each() returns -1 to stop.  Returns the number of names, or -1 when the list
 * is malformed, has more than HOSTS_MAX names, or each() stopped.
 */
int hostlist_each(struct span s, int (*each)(const char *name, void *arg),
    void *arg);

/* gres.c */

#define GRES_NAMES_MAX 16

/* The GRES names that are GPUs (gpuGresNames). */
struct gres_names {
	char name[GRES_NAMES_MAX][64];
	unsigned n;
};

/* list is the JSON text of a LIST value of the configuration.  0 or -1. */
int gres_names_set(struct gres_names *names, const char *list);
int gres_is_gpu(const struct gres_names *names, struct span name);
/* Does the name count parts of devices (shard, mps) instead of devices? */
int gres_is_part(struct span name);
/*
 * Calls each() once for every index of a GPU in one node's GRES=.  *count
 * becomes the number of GPUs, including those without an index.  Returns 0,
 * or -1 when s is malformed or each() stopped.
 */
int gres_each(struct span s, const struct gres_names *names,
    int (*each)(uint32_t index, void *arg), void *arg, uint32_t *count);

/* tres.c */

struct tres {
	uint32_t nodes;
	uint32_t cpus;
	uint32_t gpus;
	uint64_t memory; /* MB */
};

/*
 * "cpu=2,mem=200M,node=1,gres/gpu:a100=1".  Items that are unknown or
 * malformed are skipped; a value that is missing becomes 0.
 */
void tres_parse(struct span s, const struct gres_names *names,
    struct tres *tres);

/* split.c */

/* The line of a job on 100,000 nodes fits, also without ranges. */
#define LINE_BYTES_MAX (8u * 1024 * 1024)

/* Cuts a stream into lines.  A line that is too long is skipped and counted. */
struct lines {
	char *buf; /* owned: the beginning of an incomplete line */
	size_t len;
	size_t cap;
	int skipping;	  /* up to the next newline */
	unsigned skipped; /* lines that were too long */
};

void lines_clear(struct lines *l);
/*
 * Calls each() for every complete line, without its newline; each() returns -1
 * to stop.  Returns 0, or -1 when each() stopped or memory is short.
 */
int lines_feed(struct lines *l, const char *p, size_t n,
    int (*each)(struct span line, void *arg), void *arg);
/* The end of the stream: calls each() for a last line without a newline. */
int lines_end(struct lines *l, int (*each)(struct span line, void *arg),
    void *arg);

/*
 * Cuts text at the delimiters into at most max fields.  Returns the number of
 * fields, or max + 1 when there are more.
 */
unsigned delimiter_split(struct span text, const char *delimiter,
    struct span *fields, unsigned max);

/* How job records are read; borrows from the configuration in force. */
struct read_options {
	const struct gres_names *gpus;
	const char *opt_out_word; /* NULL = none */
	/*
	 * Writes the address of a device of a host.  Returns 0, or -1 when the
	 * device has no address.  May be NULL.
	 */
	int (*device)(const char *host, uint32_t index, char address[ACCEL_MAX],
	    void *arg);
	void *arg;
};

/* squeue.c */

struct squeue_job {
	uint64_t job;
	const struct job_state *state;
	int64_t start; /* 0 = not started */
};

/* Reads one row of SQUEUE_FORMAT.  Returns 0, or -1 when the line is no row. */
int squeue_row(struct span line, struct squeue_job *row);

/* scontrol_job.c */

enum record_verdict {
	RECORD_GOOD,
	RECORD_NONE,	  /* the line is no record of a job */
	RECORD_AMBIGUOUS, /* a user's text can be mistaken for a token */
	RECORD_BAD	  /* a required token is missing, or memory is short */
};

/* The job id at the beginning of a record; 0 when the line is no record. */
uint64_t scontrol_id(struct span line);
/* Texts of a job's user that precede Slurm's tokens, as squeue prints them. */
struct record_texts {
	struct span name;
	struct span label; /* MCS label */
	struct span qos;
};
/*
 * Reads one record of `scontrol show job -d -o` into s, which
 * snapshot_init() has prepared.  exact is NULL, and text is one line: a record in
 * which the end of a text of its user is not certain is RECORD_AMBIGUOUS.  With
 * the exact texts, text is the answer from the beginning of the record on.
 */
enum record_verdict scontrol_record(struct span text,
    const struct record_texts *exact, const struct read_options *how,
    struct job_snapshot *s);

/* scontrol_resources.c */

/* Reads the part of a record from NodeList= to OverSubscribe=. */
enum record_verdict scontrol_resources(struct span s,
    const struct read_options *how, struct job_snapshot *out);

/* sacct.c */

/*
 * Reads a stream of rows.  sacct_begin() prepares the reader; then set how,
 * each and arg.
 */
struct sacct_reader {
	char delimiter[DELIMITER_LEN + 1];
	const struct read_options *how;
	/* May take from s what it keeps; returns -1 to stop. */
	int (*each)(struct job_snapshot *s, void *arg);
	void *arg;
	uint32_t lacking; /* columns this sacct does not have, as bits */
	char *buf;	  /* owned: the beginning of an incomplete row */
	size_t len;
	size_t cap;
	uint64_t rows;
	unsigned bad; /* rows that are malformed */
};

/*
 * Prepares r for one answer without the lacking columns, with a new delimiter.
 */
void sacct_begin(struct sacct_reader *r, uint32_t lacking);
/*
 * Returns 0, or -1 when the stream is no answer to this query, each() stopped
 * or memory is short.
 */
int sacct_feed(struct sacct_reader *r, const char *p, size_t n);
/*
 * The end of the stream.  Returns 0, or -1 when a row is incomplete or when all of
 * many rows are malformed.
 */
int sacct_end(struct sacct_reader *r);
void sacct_clear(struct sacct_reader *r);
/*
 * The name of the column that sacct's error message rejects; its bit in
 * *lacking is set.  NULL when the message rejects no column, or one that every
 * record needs.
 */
const char *sacct_lacks(const char *err, uint32_t *lacking);

/* A row of STEP_FIELDS: of a step, or of a run itself. */
struct job_step {
	uint64_t job;
	int is_run;
	int has_status; /* it has an exit status */
	int64_t start;	/* 0 = not started */
	int64_t end;	/* 0 = not ended */
};
/* Returns 0, or -1 when the row is malformed. */
int step_row(struct span line, struct job_step *step);

/* node.c */

struct node_shape {
	uint16_t sockets; /* each 0 when Slurm does not print it */
	uint16_t cores;	  /* per socket */
	uint16_t threads; /* per core */
};

/*
 * Reads the name and the shape of a node from a line of
 * `scontrol show node -o`.  Returns 0, or -1 when the line is of no node.
 */
int node_record(struct span line, char host[HOST_MAX],
    struct node_shape *shape);
/*
 * The number of GPUs that Slurm has configured for the node of such a line, 0 if
 * its Gres= is malformed.  *gres is this text, in line; p is NULL without it.
 */
uint32_t node_gpus(struct span line, const struct gres_names *names,
    struct span *gres);
/*
 * Reads the state of a node and its resources in use from a line of `scontrol
 * show node -d -o`.  node->states gets one word of cc-backend's, "" for a node
 * that does not exist yet; the number of jobs stays 0.  Returns 0, or -1 when
 * the line is of no node.
 */
int node_use(struct span line, const struct gres_names *names,
    struct node_state *node);

/*
 * admin_output.c: short answers, read line by line.  A line that does not
 * contain a value leaves the value unchanged.
 */

/*
 * Cuts "MinJobAge               = 300 sec" into key and value.  Returns 1, or 0
 * when the line is no setting with a value.
 */
int config_pair(struct span line, struct span *key, struct span *v);

/* sdiag */
struct sdiag {
	int64_t clock; /* slurmctld's time, epoch seconds */
	int64_t queue; /* messages that wait for slurmdbd */
	/* begin of its counters, epoch; 0 = it has just been started */
	int64_t since;
	/* jobs submitted, started, completed, canceled and failed, in sum */
	uint64_t events;
	unsigned counters; /* that were shown: SDIAG_COUNTERS */
};
#define SDIAG_COUNTERS 5
void sdiag_line(struct sdiag *d, struct span line);

/* `sacctmgr -n -P show user ... format=user,adminlevel`: "ccadapter|Operator" */
struct admin {
	int known;    /* accounting has this user */
	int operator; /* it has the rights of an operator */
};
void admin_line(struct admin *a, const char *user, struct span line);

/* `sacctmgr -n -P show configuration`: first slurm.conf, then slurmdbd.conf */
struct dbd_config {
	int reached;	  /* the part of slurmdbd.conf has begun */
	int private_jobs; /* its PrivateData contains jobs */
};
void dbd_config_line(struct dbd_config *d, struct span line);

#define CONTROLLERS_MAX 16 /* Slurm's limit of SlurmctldHost lines */

/* `scontrol ping`; set first_up and ours to -1 before the first line */
struct controllers {
	unsigned n;
	int first_up; /* place of the first one that is up */
	int ours;     /* place of the one on this host */
};
void controllers_line(struct controllers *c, const char *host,
    struct span line);

/* unmunge.c */

/* Status of munge_decode(3). */
enum munge_status {
	MUNGE_STATUS_OK = 0,
	/* The first status that is about the credential, not about munged. */
	MUNGE_STATUS_FORMAT = 8,
	MUNGE_STATUS_INVALID = 14, /* another key, or changed bytes */
	MUNGE_STATUS_EXPIRED = 15,
	MUNGE_STATUS_REWOUND = 16, /* made in the future */
	MUNGE_STATUS_REPLAYED = 17,
	MUNGE_STATUS_LAST = 18
};

struct munge_answer {
	unsigned status;     /* enum munge_status, or another number */
	uint32_t uid;	     /* of the process that asked for the credential */
	int64_t encoded;     /* epoch, of the clock of that host */
	int64_t decoded;     /* epoch, of the clock of this host */
	struct span payload; /* borrowed from the text */
};

/*
 * Reads the output of QUESTION_UNMUNGE.  Returns 0, or -1 when a value is
 * missing, occurs twice or is no number, or the payload has another length.
 */
int unmunge_read(struct span text, struct munge_answer *a);

#endif
