/* SPDX-License-Identifier: MIT */
/*
 * Confines one Slurm command when it starts.  The Landlock rules are made from
 * the paths as they are at that moment, so that a file that was replaced a
 * second ago works.  A seccomp filter, built once, denies calls that no Slurm
 * command makes.
 *
 *	struct confine *c = confine_new(&conf);
 *
 *	confine_prepare(c, "/usr/bin/squeue", &rules);
 *	pid = vfork();
 *	if (pid == 0) {
 *		if (confine_apply(&rules) == -1)
 *			_exit(127);
 *		execve("/usr/bin/squeue", ...);
 *	}
 *	confine_release(&rules);
 *
 * The caller may be confined itself: it needs the calls landlock_*, prctl and
 * seccomp, and must be able to open the paths with O_PATH.
 */
#ifndef RUNNER_CONFINE_CONFINE_H
#define RUNNER_CONFINE_CONFINE_H

#include <stdint.h>

#include "common/worker/sandbox.h"

struct confine;
struct confine_filter;

#define CONFINE_RULES_MAX 30 /* more cost more than 0.5 ms a command */

struct confine_conf {
	enum sandbox_mode mode;
	/* File; NULL or "": SLURM_CONF, else Slurm's usual places. */
	const char *slurm_conf;
	/* slurmExtraPaths, a LIST as in common/model/conf.h; NULL = none. */
	const char *extra_paths;
	/* Use at most this version of Landlock; 0 = any, -1 = none. */
	int landlock_max;
};

/* The rules and the filter of one command. */
struct confine_rules {
	int is_confined; /* 0: mode off, nothing is applied */
	int is_script;	 /* the command is no ELF program */
	int ruleset;	 /* descriptor, -1 = no Landlock; owned */
	unsigned n;	 /* rules in it */
	/* NULL = no seccomp in the kernel; borrowed. */
	const struct confine_filter *filter;
};

/*
 * Copies conf and builds the filters.  The caller is the process that starts
 * the commands: its pid is in a filter.  NULL with errno.
 */
struct confine *confine_new(const struct confine_conf *conf);
void confine_free(struct confine *c);

/*
 * Makes the rules for the next start of command, an absolute path.  Nothing is
 * kept for the start after that but the parsed slurm.conf and the kind of the
 * command, each until its inode or ctime changes.  0; -1 with errno when the
 * command does not exist or the kernel refuses, then rules need no release.
 */
int confine_prepare(struct confine *c, const char *command,
    struct confine_rules *rules);

/*
 * How often a slurm.conf or one of its includes, as they were read for earlier
 * starts, has changed.  Looks at 16 files at most; works in each mode.
 */
uint64_t confine_conf_changes(struct confine *c);

/*
 * In the child, also after vfork(), before exec: no_new_privs, Landlock,
 * seccomp.  Async-signal-safe; changes no memory of the parent.  0, or -1 with
 * errno: the child must not exec.  When exec fails with EACCES, the command was
 * replaced after confine_prepare(): prepare again.
 */
int confine_apply(const struct confine_rules *rules);

/* In the parent. */
void confine_release(struct confine_rules *rules);

/*
 * The layers that a command gets, and texts about what is missing, as in the
 * text of sandbox_enter(): "nnp,landlock-7,seccomp", "nnp,seccomp; no landlock
 * in this kernel", "sandbox off".  Valid until the next call with c.
 */
const char *confine_layers(struct confine *c);

#endif
