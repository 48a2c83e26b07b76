/* SPDX-License-Identifier: MIT */
/*
 * Commands: started without a shell, in a process group of their own, with an
 * environment built from nothing, a deadline and a limit of output.  The whole
 * group is killed when it exceeds one of them.
 */
#ifndef COLLECTOR_SLURM_RUNNER_H
#define COLLECTOR_SLURM_RUNNER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct runner;
struct command;

#define RUNNER_ARGS_MAX 24   /* arguments of one command */
#define RUNNER_ERR_MAX	4096 /* bytes of stderr kept for the log */

enum command_outcome {
	COMMAND_OK,	  /* exit status 0 */
	COMMAND_FAILED,	  /* another status, or a signal */
	COMMAND_TIMEOUT,  /* killed at its deadline */
	COMMAND_TOO_LONG, /* killed: more output than max_bytes */
	COMMAND_REFUSED,  /* killed: on_output() returned -1 */
	COMMAND_SPAWN	  /* never started */
};

struct command_end {
	enum command_outcome outcome;
	int status; /* of wait(2) */
	long ms;
	uint64_t bytes;	 /* of standard output */
	const char *err; /* its standard error, truncated; borrowed */
};

struct command_spec {
	const char *const *argv; /* argv[0] a path; copied */
	unsigned wait_ms;	 /* until it is started */
	unsigned deadline_ms;	 /* time in which it is paused does not count */
	uint64_t max_bytes;
	/* Bytes as they arrive; -1 ends the command.  May be NULL. */
	int (*on_output)(const char *p, size_t n, void *arg);
	/* The last call; the command is gone when it returns. */
	void (*on_end)(const struct command_end *end, void *arg);
	void *arg;
};

/* env is NULL-terminated and copied.  NULL with errno. */
struct runner *runner_new(struct event_base *base, const char *const *env);
/* Kills all commands; on_end is not called. */
void runner_free(struct runner *r);
/* Replaces the environment of commands to come; 0, or -1 on memory. */
int runner_environment(struct runner *r, const char *const *env);

/*
 * Starts a command.  on_end is called later, from the event loop, also when
 * the command cannot be started.  NULL on memory: then nothing is called.
 */
struct command *runner_start(struct runner *r, const struct command_spec *spec);
/* Pauses and resumes reading of its output. */
void command_pause(struct command *cmd, int pause);

unsigned runner_running(const struct runner *r);
/* Commands started since the beginning. */
uint64_t runner_total(const struct runner *r);
/*
 * The most resident memory of one command in bytes, and its name ("sacct";
 * "none").  The kernel counts the collector's pages at the fork, so that a
 * smaller value than the collector's own cannot be measured.
 */
uint64_t runner_peak(const struct runner *r, const char **name);
/*
 * Writes why an answer is not valid into buf, for the log; returns buf.  A
 * command with status 0 had an incomplete answer.
 */
const char *command_why(const struct command_end *end, char *buf, size_t size);

/* spawn.c */

/* A NULL-terminated list of strings, owned; NULL on memory. */
char **words_copy(const char *const *words);
void words_free(char **words);
/* A pipe with a non-blocking reading end; 0, or -1 with errno. */
int pipe_new(int fds[2]);
/*
 * Starts argv in a process group of its own with both pipes, default signals
 * and our standard input (/dev/null).  0, or an errno and *pid 0.
 */
int spawn_command(pid_t *pid, const char *const *argv, char *const *env,
    int out, int err);

#endif
