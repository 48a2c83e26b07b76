/* SPDX-License-Identifier: MIT */
/*
 * Commands: started without a shell, in a process group of their own, with an
 * environment built from nothing, a deadline and a bound on what they may
 * say, and killed whole when they break one of them.
 */
#ifndef COLLECTOR_SLURM_RUNNER_H
#define COLLECTOR_SLURM_RUNNER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct runner;
struct command;

#define RUNNER_ARGS_MAX	24		/* words of one command */
#define RUNNER_ERR_MAX	4096		/* bytes of stderr kept for the log */

enum command_outcome {
	COMMAND_OK,		/* exit status 0 */
	COMMAND_FAILED,		/* another status, or a signal */
	COMMAND_TIMEOUT,	/* killed at its deadline */
	COMMAND_TOO_LONG,	/* killed, it said more than max_bytes */
	COMMAND_REFUSED,	/* killed, its reader wanted no more */
	COMMAND_SPAWN		/* never started */
};

struct command_end {
	enum command_outcome outcome;
	int		 status;	/* as wait(2) says */
	long		 ms;
	uint64_t	 bytes;		/* of standard output */
	const char	*err;		/* its standard error, cut; borrowed */
};

struct command_spec {
	const char *const *argv;	/* argv[0] a path; copied */
	unsigned	 wait_ms;	/* it is started only then */
	unsigned	 deadline_ms;	/* the time it is held does not count */
	uint64_t	 max_bytes;
	/* Bytes as they arrive; -1 ends the command.  May be NULL. */
	int	(*on_output)(const char *p, size_t n, void *arg);
	/* The last call; the command is gone when it returns. */
	void	(*on_end)(const struct command_end *end, void *arg);
	void	*arg;
};

/* env is NULL-terminated and copied.  NULL with errno. */
struct runner *runner_new(struct event_base *base, const char *const *env);
/* Kills what runs, without on_end. */
void runner_free(struct runner *r);
/* Replaces the environment of commands to come; 0, or -1 on memory. */
int runner_environment(struct runner *r, const char *const *env);

/*
 * Starts one.  on_end comes later, from the loop, also when it cannot be
 * started.  NULL on memory only: then nothing will be called.
 */
struct command *runner_start(struct runner *r, const struct command_spec *spec);
/* Stops and resumes reading its output (back-pressure). */
void command_pause(struct command *cmd, int pause);
/* Kills it without on_end. */
void command_cancel(struct command *cmd);

unsigned runner_running(const struct runner *r);
/* Commands started since the beginning. */
uint64_t runner_total(const struct runner *r);
/*
 * The most memory that one command had resident, in bytes, and which one it
 * was ("sacct"; "none").  The kernel counts ours among it, so that less than
 * the collector itself has cannot be told.
 */
uint64_t runner_peak(const struct runner *r, const char **name);
/*
 * Why an answer does not count, for a line in the log, into buf; returns buf.
 * Of a command that ended well: it must have been incomplete.
 */
const char *command_why(const struct command_end *end, char *buf, size_t size);

/* spawn.c */

/* A NULL-terminated list of texts, owned; NULL on memory. */
char **words_copy(const char *const *words);
void words_free(char **words);
/* A pipe whose reading end is ours and never blocks; 0, or -1 with errno. */
int pipe_new(int fds[2]);
/*
 * Starts argv in a process group of its own with both pipes, default signals
 * and standard input as ours is (/dev/null).  0, or an errno and *pid 0.
 */
int spawn_command(pid_t *pid, const char *const *argv, char *const *env,
    int out, int err);

#endif
