/* SPDX-License-Identifier: MIT */
/*
 * The runner executes Slurm's commands for the collector and reads none of
 * their output.  It accepts questions of the table in common/question and
 * builds the arguments itself.  Each command is confined when it starts, from
 * the paths as they are at that moment.
 */
#ifndef RUNNER_RUNNER_H
#define RUNNER_RUNNER_H

#include <sys/types.h>

#include <stdint.h>
#include <time.h>

#include "common/model/conf.h"
#include "common/question/question.h"
#include "common/worker/worker.h"

struct confine;
struct confine_rules;

/* spawn.c */

/* Descriptors of a command; borrowed. */
struct command_fds {
	int in; /* standard input; -1 = ours, /dev/null */
	int out;
	int err;
};

/* A pipe, close-on-exec, with a non-blocking reading end; 0, or -1 with errno. */
int pipe_new(int fds[2]);
/*
 * Starts argv in a process group of its own, confined, with these descriptors
 * and default signals.  The kernel kills it when the runner ends.  0, or an
 * errno: *pid is 0 when there is no child, else the child has ended and is to be
 * reaped; *what is what has failed.
 */
int command_spawn(pid_t *pid, const char *const *argv, char *const *env,
    const struct confine_rules *rules, const struct command_fds *fds,
    const char **what);

/* commands.c: the processes */

struct commands;

/* How a command ended. */
struct command_result {
	enum answer_how how;
	int status;	 /* of wait(2) */
	uint32_t ms;	 /* without pauses */
	uint64_t peak;	 /* resident bytes */
	const char *err; /* standard error, truncated; borrowed */
};

struct commands_ops {
	/* The command runs; fd is the answer and belongs to the callback. */
	void (*started)(uint64_t id, int fd, void *arg);
	void (*ended)(uint64_t id, const struct command_result *end, void *arg);
};

struct commands *commands_new(struct event_base *base,
    const struct commands_ops *ops, void *arg);
/* The environment and the confinement of commands to come; both borrowed. */
void commands_setup(struct commands *cs, char *const *env, struct confine *c);
/* Kills all commands; ended() is not called for them. */
void commands_kill(struct commands *cs);
/* Not ended yet. */
unsigned commands_running(const struct commands *cs);
/*
 * Starts a command, now, or later when more than COMMANDS_PER_SECOND were
 * started; takes args.  names: NULL, or files with names that the answer
 * contains, up to a NULL, borrowed.  A confined command cannot open a file that
 * replaced one of them after the start and prints "nobody" for its users: the
 * answer is ANSWER_STALE then.  ended() is called later, from the event loop, also when
 * the command cannot be started.  0, or -1: the id is in use, or out of memory.
 */
int command_start(struct commands *cs, uint64_t id, unsigned deadline_ms,
    const char *const *names, struct question_args *args);
/* These ignore an id that is not in use: the command may have ended. */
void command_cancel(struct commands *cs, uint64_t id);
void command_pause(struct commands *cs, uint64_t id, int pause);

#define NAME_FILES_MAX 3 /* files with names */

/*
 * A command that found an include of slurm.conf missing looks for it for 60 s,
 * under the name that slurm.conf had.  If slurm.conf or an include has changed
 * since the start, the command is killed, and its answer is ANSWER_STALE.  The
 * commands that wait at one moment end together, and further ones not before
 * this time, so that files that change all the time cannot stop all queries.
 */
#define COMMANDS_CONF_EVERY_MS 5000

#define COMMANDS_PER_SECOND 100
#define COMMANDS_BURST	    200

/* lastrun.c: the last-run file */

struct lastrun {
	int fd; /* -1 = none */
};

/* Takes fd, which replaces the descriptor that l has. */
void lastrun_take(struct lastrun *l, int fd);
/* Its time, epoch seconds; 0 when there is none. */
int64_t lastrun_time(const struct lastrun *l);
/*
 * Sets its time.  0, or -1 with errno; ERANGE: epoch is more than a day after
 * now.  The next time can be set as well after a failure.
 */
int lastrun_set(struct lastrun *l, int64_t epoch, int64_t now);

/* slurm.c: where Slurm's commands are, and their environment */

#define RUNNER_CLUSTERS_MAX 16 /* the limit of the key `clusters` */

struct slurm_site {
	char bin_dir[1024];
	char cluster[RUNNER_CLUSTERS_MAX][CLUSTER_MAX];
	unsigned clusters;
	char **env; /* owned */
	char user[64];
	int user_is_name; /* 0: the number of the uid */
	char munge_socket[108];
	char missing[128]; /* names of commands that do not exist */
	uint64_t replaced; /* how often a command was replaced, or user */
	struct {
		struct timespec changed;
		ino_t inode;
	} installed[CMD__COUNT];
};

/* Reads the values of the configuration.  0, or -1 when out of memory. */
int slurm_site_conf(struct slurm_site *s, const struct conf *conf);
/* The path of a command in buf; returns buf. */
const char *slurm_site_path(const struct slurm_site *s, enum slurm_command cmd,
    char *buf, size_t size);
/*
 * Looks at the commands, and for the name of the user while it is unknown.  Returns
 * 1 when missing or replaced has changed.
 */
int slurm_site_check(struct slurm_site *s);

#endif
