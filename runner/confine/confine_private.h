/* SPDX-License-Identifier: MIT */
/* Private declarations of runner/confine. */
#ifndef RUNNER_CONFINE_CONFINE_PRIVATE_H
#define RUNNER_CONFINE_CONFINE_PRIVATE_H

#include <sys/types.h>

#include <linux/filter.h>

#include <limits.h>
#include <stdint.h>
#include <time.h>

#include "runner/confine/confine.h"

/* stamp.c: a file as it was when it was read. */
struct file_stamp {
	dev_t dev;
	ino_t ino;
	struct timespec ctime;
	int is_fresh; /* it may still change without a new ctime */
};

/* 0, or -1 with errno. */
int file_stamp(const char *path, struct file_stamp *stamp);
/* a is the older one. */
int file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* command.c: what kind of program a command is. */

#define LOADER_MAX   256 /* bytes with the NUL of the loader's path */
#define COMMANDS_MAX 8	 /* kept; Slurm's commands that the suite uses: 6 */

struct command_kind {
	char path[PATH_MAX];
	struct file_stamp stamp;
	int is_script;		 /* it is no ELF program */
	char loader[LOADER_MAX]; /* of an ELF program; "" = not known */
};

struct command_kinds {
	struct command_kind kinds[COMMANDS_MAX];
	unsigned n, next;
	char loader[LOADER_MAX]; /* of the system, as our own */
};

void command_kinds_init(struct command_kinds *k);
/* NULL with errno when the file does not exist. */
const struct command_kind *command_kind(struct command_kinds *k,
    const char *path);

/* ruleset.c: one Landlock ruleset. */

#define RULESET_COVERED_MAX CONFINE_RULES_MAX /* directories */

struct ruleset {
	int fd;
	uint64_t rights;   /* that the ruleset denies */
	unsigned n;	   /* rules */
	unsigned left_out; /* paths beyond CONFINE_RULES_MAX */
	int error;	   /* errno of a rule that the kernel refused */
	/* Directories that are readable, to save rules below them. */
	char *covered[RULESET_COVERED_MAX];
	unsigned n_covered;
};

/* 0, or -1 with errno. */
int ruleset_open(struct ruleset *rs, int abi);
/* Closes the descriptor too, unless it was taken (-1). */
void ruleset_close(struct ruleset *rs);
/* A path that does not exist or cannot be reached is skipped. */
void ruleset_allow(struct ruleset *rs, const char *path, unsigned access);
/*
 * A path that the site has named, to read: no rule when it is in a directory
 * that is already readable.
 */
void ruleset_allow_named(struct ruleset *rs, const char *path);
/*
 * A path of slurmExtraPaths, to read and to execute.  directories 1: only if it is a
 * directory; 0: only if it is not.
 */
void ruleset_allow_extra(struct ruleset *rs, const char *path, int directories);
/* In the child. 0, or -1 with errno. */
int ruleset_restrict(int fd);

/* includes.c: slurm.conf and the files that it includes. */

struct includes;

/* file may be NULL: Slurm's usual places.  NULL when out of memory. */
struct includes *includes_new(const char *file);
void includes_free(struct includes *in);
/* How often a file that was read has changed since; looks at each file. */
uint64_t includes_changes(struct includes *in);
/*
 * Allows what they name; reads again what has changed.  rs may be NULL: the
 * files are only read.
 */
void includes_allow(struct includes *in, struct ruleset *rs);
/* The same for a slurm.conf that is no configured one. */
void includes_allow_file(struct includes *in, const char *file,
    struct ruleset *rs);

/* paths.c: the paths that a command needs. */

/* extra_paths is a LIST or NULL. */
void paths_allow(struct ruleset *rs, const char *command,
    const struct command_kind *kind, struct includes *in,
    const char *extra_paths);
/* Without Landlock: only reads the slurm.conf of the command. */
void paths_read(const char *command, struct includes *in);

/* filter.c: the seccomp programs. */

#define FILTER_MAX  512 /* instructions; 4 KiB of the child's stack */
#define FILTER_PIDS 16	/* instructions that compare with the child's pid */

struct confine_filter {
	unsigned short len;
	unsigned short n_pids;
	unsigned short pids[FILTER_PIDS];
	struct sock_filter program[FILTER_MAX];
};

struct filter_conf {
	enum sandbox_mode mode;
	int is_script;
	int has_landlock;
};

/* 0, or -1 with errno. */
int filter_build(struct confine_filter *filter, const struct filter_conf *conf);
/* In the child.  0, or -1 with errno. */
int filter_load(const struct confine_filter *filter);

#endif
