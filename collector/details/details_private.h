/* SPDX-License-Identifier: MIT */
/* Private declarations of collector/details. */
#ifndef COLLECTOR_DETAILS_DETAILS_PRIVATE_H
#define COLLECTOR_DETAILS_DETAILS_PRIVATE_H

#include "collector/details/details.h"
#include "collector/slurm/query.h"

/*
 * Limit of the bytes of kept records of one answer.  Records are packed, so
 * that these are about 25,000 jobs.
 */
#define RECORD_BYTES_MAX (6u * 1024 * 1024)

struct detail_result {
	uint64_t job;
	uint64_t order; /* of its record */
	char *line;	/* owned: its record, packed, to be read again */
	uint32_t size;	/* of that */
	uint32_t len;	/* of the record */
	uint32_t start; /* epoch, of squeue's row; 0 = unknown */
	uint64_t at;	/* bytes of the answer before its line */
	struct job_snapshot *s; /* owned: of an exact query */
	enum detail verdict;
	enum slurm_phase phase;
	unsigned wanted : 1; /* 0 = it was found in the answer */
	unsigned shown : 1;  /* squeue shows that it has ended */
	unsigned lacks : 1;  /* the shape of a host was unknown */
};

/*
 * A line of a wanted job that may end within a text of the job's user: records with
 * short paths have so few bytes behind such a text.
 */
struct recent_line {
	uint64_t job;
	uint64_t until; /* the rest of the record begins here at the latest */
};
#define USER_TEXT_BYTES 1024 /* slurmctld's limit for each of them */
#define RECENT_LINES	256  /* of "JobId=1" */
/*
 * A line that ends before JobState=: name, MCS label, account, QOS, WCKey, and
 * Slurm's tokens.
 */
#define CUT_BYTES (5 * USER_TEXT_BYTES + 1024)

struct disambiguate;
struct pack;

struct details {
	struct cluster *c;
	void (*done)(struct details *d, int ok, void *arg);
	void *arg;
	struct query query; /* about all jobs, one job, or squeue's rows */
	struct idmap index; /* job -> place in results, plus one */
	/* every job of the answer -> job whose record may have this line, or 0 */
	struct idmap seen;
	uint64_t bytes; /* of the answer, before the line being read */
	struct recent_line recent[RECENT_LINES]; /* a ring */
	unsigned n_recent;     /* since the beginning of the answer */
	uint64_t recent_until; /* the latest of them */
	struct idmap suspects; /* jobs before a line of an unknown job */
	int64_t rest_start;    /* of the line that may be a rest of a record */
	char cut[CUT_BYTES];   /* the last line of a job, if it is as short */
	size_t cut_len;	       /* 0 = it was longer */
	uint64_t cut_at;       /* bytes of the answer before it */
	uint64_t last;	       /* the job of the last record; 0 = not wanted */
	struct detail_result *results; /* owned */
	size_t n;
	size_t cap;
	size_t at;	/* of the job that is queried singly, or exactly */
	unsigned exact; /* exact queries of this answer */
	int all;
	int busy;
	/* monotonic ms: begin of the work with the last query for all jobs */
	int64_t all_at;
	int64_t all_ms;	      /* duration of that query */
	struct pack *pack;    /* owned; NULL = no line is kept */
	size_t record_bytes;  /* bytes of records */
	int found;	      /* an ended run was found in the answer */
	int skipped;	      /* a run that may have ended was not read */
	int hosts_failed;     /* the answer has to do without shapes of nodes */
	unsigned hosts_fails; /* failed queries for them, one after the other */
	int delivering; /* the submitter's window is full: continue at `at` */
	/* owned; NULL = no exact query is under way */
	struct disambiguate *disambiguate;
};

/* results.c */

struct detail_result *details_result(const struct details *d, uint64_t job);
/* NULL when out of memory. */
struct detail_result *details_result_new(struct details *d, uint64_t job,
    int wanted);
/* Forgets what is kept of it. */
void details_result_drop(struct detail_result *r, enum detail verdict);
/* Keeps s for the job; takes it. */
void details_keep(struct details *d, struct detail_result *r,
    struct job_snapshot *s);
/* Is the shape of a host of s unknown? */
int details_lacks_host(const struct details *d, const struct job_snapshot *s);
/* Keeps line for r; the verdict is DETAIL_LATER when there is no memory. */
void details_line_keep(struct details *d, struct detail_result *r,
    struct span line);
/* Valid until the next one is kept or read; empty when there is none. */
struct span details_line(const struct details *d,
    const struct detail_result *r);

/* details_text.c */

/* Called before each answer. */
void details_text_begin(struct details *d);
int details_text_line(struct span line, void *arg);

/* details_ambiguous.c: one job whose texts make its record ambiguous */

/* Queries the job; then done() is called.  answered: r has a verdict. */
void disambiguate_start(struct details *d, struct detail_result *r,
    void (*done)(struct details *d, int answered));
void disambiguate_free(struct disambiguate *x);

#endif
