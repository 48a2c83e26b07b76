/* SPDX-License-Identifier: MIT */
/*
 * The collector's end of the channel to the runner, which executes Slurm's
 * commands.  A question goes to the runner; the answer comes through a pipe
 * whose reading end the runner sends.  An answer has ended when the pipe is at
 * its end and the runner has sent how the command ended.
 */
#ifndef COLLECTOR_SLURM_RUNNER_LINK_H
#define COLLECTOR_SLURM_RUNNER_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "common/ipc/channel.h"
#include "common/question/question.h"

struct command;
struct command_times;
struct event_base;
struct runner_link;

enum command_outcome {
	COMMAND_OK,	  /* exit status 0 */
	COMMAND_FAILED,	  /* another status, or a signal */
	COMMAND_TIMEOUT,  /* killed at its deadline */
	COMMAND_TOO_LONG, /* killed: more output than max_bytes */
	COMMAND_REFUSED,  /* killed: on_output() returned -1 */
	COMMAND_SPAWN,	  /* never started, or the runner has ended */
	COMMAND_STALE	  /* a file was replaced while it ran */
};
#define COMMAND_OUTCOMES (COMMAND_STALE + 1)

struct command_end {
	enum command_outcome outcome;
	int status; /* of wait(2) */
	long ms;
	uint64_t bytes;	 /* of standard output */
	const char *err; /* its standard error, truncated; borrowed */
};

struct command_spec {
	const struct question *question; /* copied */
	unsigned wait_ms;		 /* until it is sent */
	uint64_t max_bytes;
	/* Bytes as they arrive; -1 ends the command.  May be NULL. */
	int (*on_output)(const char *p, size_t n, void *arg);
	/* The last call; the command is gone when it returns. */
	void (*on_end)(const struct command_end *end, void *arg);
	void *arg;
};

/* Facts about the host that the runner has reported. */
struct runner_info {
	int known;
	char user[64];	   /* of the commands: name, or number */
	int root;	   /* the user is root */
	char missing[128]; /* names of commands that do not exist */
	uint64_t replaced; /* a number that grows when they are replaced */
	int64_t lastrun;   /* time of the last-run file, epoch; 0 = none */
};

/* changed(): runner_info() is another one.  NULL when out of memory. */
struct runner_link *runner_new(struct event_base *base,
    void (*changed)(void *arg), void *arg);
/* Sets the number of clusters, for questions_max(). */
void runner_clusters(struct runner_link *r, unsigned clusters);
/*
 * A channel to another runner, or NULL.  Ends all commands of the runner before
 * with COMMAND_SPAWN.
 */
void runner_peer(struct runner_link *r, struct channel *c);
/* A message of the runner; takes fd. */
void runner_frame(struct runner_link *r, struct channel *c,
    const struct msg_header *h, struct reader *rd, int fd);
const struct runner_info *runner_info(const struct runner_link *r);
/* The runner sets the time of the last-run file. */
void runner_resume_time(struct runner_link *r, int64_t epoch);

/*
 * Asks a question.  on_end is called later, from the event loop, also when a
 * value of the question is not valid: times are Slurm's and may be anything.  The
 * question waits while there is no runner, and while as many as questions_max()
 * are under way.  NULL on memory: then nothing is called.
 */
struct command *runner_start(struct runner_link *r,
    const struct command_spec *spec);
/* Pauses and resumes reading of its output. */
void command_pause(struct command *cmd, int pause);

/*
 * Times and failures of all commands; borrowed.  Not const for
 * command_span_take().
 */
struct command_times *runner_times(struct runner_link *r);
/*
 * Age of the oldest question to a daemon (enum slurm_daemon) without an answer,
 * from the time it is due; 0 = none.
 */
int64_t runner_oldest_ms(const struct runner_link *r, int daemon);

unsigned runner_running(const struct runner_link *r);
/* Questions sent since the beginning. */
uint64_t runner_total(const struct runner_link *r);
/*
 * The most resident memory of one command in bytes, and its name ("sacct";
 * "none").  The kernel counts the runner's pages at the fork, so that a
 * smaller value than the runner's own cannot be measured.
 */
uint64_t runner_peak(const struct runner_link *r, const char **name);

#endif
