/* SPDX-License-Identifier: MIT */
/*
 * What reads Slurm's words: pure functions over bytes that may be hostile,
 * without a process, a clock or a configuration.  Lengths are explicit; no
 * input needs a NUL and none is written to.
 */
#ifndef COLLECTOR_PARSE_PARSE_H
#define COLLECTOR_PARSE_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/parse/snapshot.h"
#include "collector/parse/span.h"
#include "common/job.h"

/* times.c */

/*
 * A point in time as epoch seconds: digits (SLURM_TIME_FORMAT=%s), or
 * 2026-11-20T22:05:54 in UTC; 0 for what is not set ("Unknown", "None",
 * "N/A", "").  0, or -1 when it is no time.
 */
int time_point(struct span s, int64_t *epoch);
/*
 * A limit in seconds: "1-02:03:04", "02:03:04", "05:00"; 0 = UNLIMITED, -1 =
 * not known yet ("Partition_Limit", "").  0, or -1 when it is no limit.
 */
int time_limit(struct span s, int64_t *seconds);
/* The same of sacct's TimelimitRaw, in minutes. */
int time_limit_minutes(struct span s, int64_t *seconds);

/* hostlist.c */

/*
 * "n[1-3,08],m[0-1]x[2-3]": each() gets every name in Slurm's order; it
 * returns -1 to stop.  Returns how many there were, or -1 when the text is
 * malformed, has more than HOSTS_MAX names, or each() stopped.
 */
int hostlist_each(struct span s, int (*each)(const char *name, void *arg),
    void *arg);

/* gres.c */

#define GRES_NAMES_MAX	16

/* The GRES names that are GPUs (gpuGresNames). */
struct gres_names {
	char		name[GRES_NAMES_MAX][64];
	unsigned	n;
};

struct gres_item {
	struct span	name;
	struct span	type;		/* may be empty */
	uint64_t	count;
	struct span	idx;		/* what stands behind IDX:, may be empty */
	int		has_idx;
	struct span	shares;		/* "0/100,30/100", by device; may be empty */
};

/* list is a LIST value of the configuration (its JSON text); 0, or -1. */
int gres_names_set(struct gres_names *names, const char *list);
int gres_is_gpu(const struct gres_names *names, struct span name);
/* Is it a part of a device?  Their number says nothing of that of the devices. */
int gres_is_part(struct span name);
/*
 * Takes the next item off *s, "gpu:a100:2(IDX:0,2)"; 1, 0 at the end, -1 when
 * it is none.
 */
int gres_next(struct span *s, struct gres_item *item);
/*
 * Each index of each GPU of one node's GRES=, once; *count gets their number,
 * that of items without indices included.  0, or -1 when it cannot be read or each()
 * stopped.
 */
int gres_each(struct span s, const struct gres_names *names,
    int (*each)(uint32_t index, void *arg), void *arg, uint32_t *count);

/* tres.c */

struct tres {
	uint32_t	nodes;
	uint32_t	cpus;
	uint32_t	gpus;
	uint64_t	memory;		/* MB */
};

/* "cpu=2,mem=200M,node=1,gres/gpu:a100=1"; what it cannot read is skipped. */
void tres_parse(struct span s, const struct gres_names *names,
    struct tres *tres);

/* How sightings are read; borrowed from the configuration in force. */
struct read_options {
	const struct gres_names *gpus;
	const char	*opt_out_word;
	/* The address of a device into address, 0; -1 when there is none. May be NULL. */
	int	(*device)(const char *host, uint32_t index,
		    char address[ACCEL_MAX], void *arg);
	void	*arg;
};

/* lines.c */

#define LINE_BYTES_MAX	(8u * 1024 * 1024)	/* one job on 100,000 unlike nodes */

/* Cuts a stream into lines; one that is too long is left out and counted. */
struct lines {
	char		*buf;		/* owned */
	size_t		 len;
	size_t		 cap;
	int		 skipping;
	unsigned	 skipped;
};

void lines_clear(struct lines *l);
/* each() gets a line without its newline, -1 stops.  0, or -1, also on memory. */
int lines_feed(struct lines *l, const char *p, size_t n,
    int (*each)(struct span line, void *arg), void *arg);
/* What is left without a newline at the end. */
int lines_end(struct lines *l, int (*each)(struct span line, void *arg),
    void *arg);

/* delimiter.c */

#define DELIMITER_LEN	4

/*
 * Four bytes that no text holds by accident and nobody can foresee; two
 * million and more of them.
 */
void delimiter_new(char delimiter[DELIMITER_LEN + 1]);
/*
 * Cuts text at the delimiters into at most max fields; returns how many there
 * are, max + 1 when there are more.
 */
unsigned delimiter_split(struct span text, const char *delimiter,
    struct span *fields, unsigned max);

/* squeue.c: the frequent question */

/* Two letters of the reason are enough to know "Prolog" by. */
#define SQUEUE_FORMAT	"%A %t %2r %S"

struct squeue_job {
	uint64_t	 job;
	const struct job_state *state;
	int64_t		 start;		/* 0 = none yet */
};

/* One row of SQUEUE_FORMAT; 0, or -1 when it is none. */
int squeue_row(struct span line, struct squeue_job *row);

/* scontrol.c: all of a job that slurmctld knows */

enum record_verdict {
	RECORD_GOOD,
	RECORD_NONE,		/* no job's record */
	RECORD_AMBIGUOUS,	/* a user's text might be taken for structure */
	RECORD_BAD		/* it lacks what every record has, or memory */
};

/* The job id that a line claims to be of; 0 when it is no job's. */
uint64_t scontrol_id(struct span line);
/*
 * One record of `scontrol show job -d -o`; s was initialised.  name is the
 * job's exact name when that is known from elsewhere, else name.p is NULL and
 * a record that leaves a doubt is ambiguous.
 */
enum record_verdict scontrol_record(struct span text, struct span name,
    const struct read_options *how, struct job_snapshot *s);

/* resources.c: its part from NodeList= up to OverSubscribe= */
enum record_verdict scontrol_resources(struct span s,
    const struct read_options *how, struct job_snapshot *out);

/* words.c: short answers, a line at a time; what a line does not say stays as it was */

/* sdiag's. */
struct sdiag {
	int64_t		 clock;		/* slurmctld's */
	int64_t		 queue;		/* its messages left for slurmdbd */
};
void sdiag_line(struct sdiag *d, struct span line);

/*
 * One setting, "MinJobAge               = 300 sec": 1; 0 = the line is none.
 */
int config_pair(struct span line, struct span *key, struct span *v);

/* `sacctmgr -n -P show user ... format=user,adminlevel`: "ccadapter|Operator". */
struct admin {
	int		 known;		/* accounting has that user */
	int		 operator;	/* and it may see all jobs */
};
void admin_line(struct admin *a, const char *user, struct span line);

/* `sacctmgr -n -P show configuration`: slurm.conf's part, then slurmdbd's own. */
struct dbd_config {
	int		 reached;	/* slurmdbd's part */
	int		 private_jobs;	/* its PrivateData has jobs */
};
void dbd_config_line(struct dbd_config *d, struct span line);

#define CONTROLLERS_MAX	16	/* SlurmctldHost lines; Slurm has no more */

/* `scontrol ping`: begins with none of them (first_up and ours -1). */
struct controllers {
	unsigned	 n;
	int		 first_up;	/* of those that work */
	int		 ours;		/* on this host */
};
void controllers_line(struct controllers *c, const char *host,
    struct span line);

/* sacct's rows of steps, in which no byte is a user's. */
#define STEP_FIELDS	"JobIDRaw,Start,End,ExitCode"
#define STEP_DELIMITER	"||||"

struct job_step {
	uint64_t	 job;
	int64_t		 start;
	int64_t		 end;
};
/* 0; -1 when the row is no step's, or of one that has no exit status. */
int step_row(struct span line, struct job_step *step);

/* sacct.c: what accounting has */

#define SACCT_FIELDS	"JobIDRaw,JobID,User,UID,Account,Partition,QOS," \
	"Reservation,State,ExitCode,Submit,Start,End,TimelimitRaw,AllocTRES," \
	"ReqMem,ReqCPUS,AdminComment,JobName,NodeList"

/*
 * The columns to ask for when some are not known to this sacct (a bit each):
 * another one stands in for those, and they are not read.
 */
#define SACCT_COLUMNS_MAX	256	/* bytes */
void sacct_columns(uint32_t lacking, char columns[SACCT_COLUMNS_MAX]);
/*
 * The column that sacct's error says it does not have; NULL when it says no
 * such thing, or of one that nothing can be read without.  Its bit is set.
 */
const char *sacct_lacks(const char *err, uint32_t *lacking);

/* A stream of rows; sacct_begin(), or zeroes and a delimiter, then how, each and arg. */
struct sacct_reader {
	char		 delimiter[DELIMITER_LEN + 1];
	const struct read_options *how;
	/* s may be taken from; -1 stops. */
	int		(*each)(struct job_snapshot *s, void *arg);
	void		*arg;
	uint32_t	 lacking;	/* columns that were not asked for */
	char		*buf;		/* owned */
	size_t		 len;
	size_t		 cap;
	uint64_t	 rows;
	unsigned	 bad;		/* rows that could not be read */
};

#define SACCT_DELIMITER_MAX	32	/* bytes */
/*
 * Readies r for one answer, in which columns are lacking, and writes what asks
 * for it: -o's value and "--delimiter=...".
 */
void sacct_begin(struct sacct_reader *r, uint32_t lacking,
    char columns[SACCT_COLUMNS_MAX], char delimiter[SACCT_DELIMITER_MAX]);
/* 0, or -1 when the stream is no answer to the question, each() stopped, or memory is short. */
int sacct_feed(struct sacct_reader *r, const char *p, size_t n);
/* At its end: 0 when nothing is left over. */
int sacct_end(struct sacct_reader *r);
void sacct_clear(struct sacct_reader *r);
/* The name of column i into *name, 1; 0 when there is none. */
int sacct_field(unsigned i, const char **name);

/* shape.c: the shape of hosts */

/* The name that a line of `scontrol show node -o` is about; 0, or -1. */
int node_name(struct span line, char host[HOST_MAX]);

struct node_shape {
	uint16_t	sockets;
	uint16_t	cores;		/* per socket */
	uint16_t	threads;	/* per core */
};

/* One line of `scontrol show node -o`; host gets its name. 0, or -1. */
int node_record(struct span line, char host[HOST_MAX],
    struct node_shape *shape);

/* node_state.c: what nodes do */

/* cc-backend's word for Slurm's "MIXED+DRAIN"; "" for a node that is none yet. */
const char *node_word(struct span state);
/*
 * One line of `scontrol show node -d -o`; states gets that one word, jobs are
 * counted elsewhere.  0, or -1 when it is no node's.
 */
int node_use(struct span line, const struct gres_names *names,
    struct node_state *node);

#endif
