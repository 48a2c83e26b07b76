/* SPDX-License-Identifier: MIT */
/*
 * The questions to Slurm.  The collector sends a question as typed values; the
 * runner builds the arguments of the command from the table in question.c.  No
 * argument is ever a text of the collector: a collector that was taken over
 * can only ask these questions.
 */
#ifndef COMMON_QUESTION_QUESTION_H
#define COMMON_QUESTION_QUESTION_H

#include <stddef.h>
#include <stdint.h>

#include "common/codec.h"
#include "common/model/hook_credential.h"

enum slurm_command {
	CMD_SQUEUE,
	CMD_SCONTROL,
	CMD_SACCT,
	CMD_SACCTMGR,
	CMD_SDIAG,
	CMD_UNMUNGE,
	CMD__COUNT
};

enum question_kind {
	QUESTION_CONFIG,     /* scontrol: Slurm's configuration */
	QUESTION_PING,	     /* scontrol: the controllers */
	QUESTION_SHAPES,     /* scontrol: sockets, cores, threads of nodes */
	QUESTION_NODES,	     /* scontrol: the use of nodes */
	QUESTION_JOBS,	     /* scontrol: records of all jobs */
	QUESTION_JOB,	     /* scontrol: records of one job */
	QUESTION_SCRIPT,     /* scontrol: the script of one job */
	QUESTION_LIST,	     /* squeue: runs that hold nodes */
	QUESTION_LIST_JOBS,  /* squeue: the same, of some jobs */
	QUESTION_LIST_ALL,   /* squeue: all jobs in each state */
	QUESTION_NAME,	     /* squeue: user's texts of one job */
	QUESTION_BUSY_NODES, /* squeue: nodes of running jobs */
	QUESTION_CLOCK,	     /* sdiag: clock, queue to slurmdbd */
	QUESTION_RANGE,	     /* sacct: runs that ended in a range of time */
	QUESTION_RUNS,	     /* sacct: all runs of some jobs */
	QUESTION_STEPS,	     /* sacct: steps of some jobs */
	QUESTION_ADMIN,	     /* sacctmgr: admin level of the runner's user */
	QUESTION_DBD_CONFIG, /* sacctmgr: slurmdbd's configuration */
	QUESTION_UNMUNGE,    /* unmunge: who has sent a hook message */
	QUESTION__COUNT
};

/*
 * squeue: two letters of the reason are enough to recognize "Prolog".  No
 * column contains text that a user wrote.
 */
#define SQUEUE_FORMAT "%A %t %2r %S"

/* sacct's rows of steps.  No column contains text that a user wrote. */
#define STEP_FIELDS    "JobIDRaw,Start,End,ExitCode"
#define STEP_DELIMITER "||||"

/* sacct's columns of runs, in the order in which they are printed. */
enum sacct_column {
	SACCT_JOB_ID_RAW,
	SACCT_JOB_ID,
	SACCT_USER,
	SACCT_UID,
	SACCT_ACCOUNT,
	SACCT_PARTITION,
	SACCT_QOS,
	SACCT_RESERVATION,
	SACCT_STATE,
	SACCT_EXIT_CODE,
	SACCT_SUBMIT,
	SACCT_START,
	SACCT_END,
	SACCT_TIME_LIMIT,
	SACCT_ALLOC_TRES,
	SACCT_REQ_MEM,
	SACCT_REQ_CPUS,
	SACCT_ADMIN_COMMENT,
	SACCT_JOB_NAME,
	SACCT_NODE_LIST,
	SACCT__COUNT
};

/* The name that sacct knows the column by. */
const char *sacct_column_name(enum sacct_column column);

/*
 * 36 bytes at 12 places are 4.7 * 10^18 delimiters; the likeliest comes once in
 * 1.1 * 10^18 commands.  A job name (1,024 bytes) has room for a few guesses, and the
 * record of a job is read some twenty times, each time with another delimiter.  A
 * million such jobs a day make 10^12 guesses in ten years, and one in a million that
 * one of them is right.  With four places, some 10,000 jobs forged a row.
 */
#define DELIMITER_LEN 12

/*
 * A random delimiter, made of bytes that do not occur in names.  No user can predict
 * it and write it into a field.
 */
void delimiter_new(char delimiter[DELIMITER_LEN + 1]);
/* 0 when delimiter_new() can have made it, else -1. */
int delimiter_check(const char *delimiter);

/*
 * Job ids of one question.  Slurm's ids have 32 bits, so that all of them in
 * decimal fit into one argument (128 KiB).
 */
#define ID_LIST_MAX 8192

struct id_list {
	uint32_t *ids; /* owned; NULL = empty */
	size_t n;
	size_t cap;
};

/*
 * 0, or -1: the list is full, memory is short, or the id is none of Slurm's
 * (0, or more than 32 bits).
 */
int id_list_add(struct id_list *list, uint64_t job);
void id_list_clear(struct id_list *list);

struct question {
	enum question_kind kind;
	uint8_t cluster; /* 0 = the local one, n = n-th of `clusters` */
	/* Parameters; those that the kind does not have are 0. */
	int64_t from; /* epoch seconds */
	int64_t to;
	uint32_t lacking; /* columns that this sacct does not have, as bits */
	char delimiter[DELIMITER_LEN + 1]; /* of delimiter_new(), or "" */
	struct id_list ids;
	char credential[HOOK_CREDENTIAL_MAX]; /* the command's standard input */
};

/* The command, the deadline and the arguments of a kind. */
struct question_type {
	enum slurm_command command;
	unsigned deadline_ms;
	const char *const *words; /* the arguments, see question.c */
};

const struct question_type *question_type(enum question_kind kind);
/* Does the answer have names of users that the command looks up? */
int question_has_users(enum question_kind kind);
/* "squeue" and so on. */
const char *slurm_command_name(enum slurm_command command);

/* The most commands at a time with so many names in `clusters`. */
unsigned questions_max(unsigned clusters);

void question_clear(struct question *q);
/* Has each value of this kind, and no other one, a value that is allowed? */
int question_valid(const struct question *q);
void question_write(struct writer *w, const struct question *q);
/*
 * Reads a question and checks each value against its kind; the reader fails
 * when one is not valid.  q is owned in any case.
 */
void question_read(struct reader *r, struct question *q);

#define QUESTION_BYTES_MAX (ID_LIST_MAX * 4 + 64 + HOOK_CREDENTIAL_MAX)
#define QUESTION_ARGS_MAX  24

/* The arguments of a command, NULL-terminated; they point into text. */
struct question_args {
	const char *argv[QUESTION_ARGS_MAX + 1];
	struct writer text;		 /* owned */
	char input[HOOK_CREDENTIAL_MAX]; /* standard input; "" = none */
};

/* Values of the runner, borrowed. */
struct question_site {
	const char *program; /* argv[0] */
	const char *cluster; /* of -M; NULL = none */
	const char *user;    /* name of the runner's user */
	const char *socket;  /* of munged */
};

/*
 * The arguments that ask q.  0, or -1 when out of memory.  Free with
 * question_args_clear() in any case.
 */
int question_args(const struct question *q, const struct question_site *site,
    struct question_args *args);
void question_args_clear(struct question_args *args);

#endif
