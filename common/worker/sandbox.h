/* SPDX-License-Identifier: MIT */
/*
 * How a worker closes itself in before it reads a byte from anyone but the
 * supervisor: chroot, limits, no capabilities, own uid, no_new_privs,
 * Landlock, seccomp.  What needs root is left out without root, and said.
 */
#ifndef COMMON_WORKER_SANDBOX_H
#define COMMON_WORKER_SANDBOX_H

#include <sys/types.h>

#include "common/codec.h"
#include "common/msg.h"

#define SANDBOX_PATHS_MAX	256
#define SANDBOX_GROUPS_MAX	256

enum sandbox_mode { SANDBOX_ENFORCE, SANDBOX_LOG, SANDBOX_OFF };

/* What a path may be used for; Landlock only ever allows. */
enum sandbox_access {
	SANDBOX_READ = 1,	/* a file, or a folder and all below */
	SANDBOX_EXEC = 2,
	SANDBOX_WRITE = 4	/* create, write, remove below it */
};

struct sandbox_path {
	char		*path;		/* owned */
	unsigned	 access;	/* enum sandbox_access, or-ed */
};

struct sandbox {
	enum role	 role;
	enum sandbox_mode mode;
	int		 as_root;	/* started as root: chroot and change uid */
	uid_t		 uid;
	gid_t		 gid;
	gid_t		 groups[SANDBOX_GROUPS_MAX];
	int		 n_groups;
	char		*root;		/* chroot, owned; NULL = none */
	uint64_t	 nofile;	/* RLIMIT_NOFILE */
	uint64_t	 nproc;		/* RLIMIT_NPROC; UINT64_MAX = as it is */
	uint64_t	 fsize;		/* RLIMIT_FSIZE, bytes; UINT64_MAX = as it is */
	struct sandbox_path paths[SANDBOX_PATHS_MAX];
	int		 n_paths;
};

void sandbox_init(struct sandbox *sb, enum role role);
void sandbox_clear(struct sandbox *sb);
/* 0, or -1 when there are too many or memory is short. A path that does not exist is skipped later. */
int sandbox_allow(struct sandbox *sb, const char *path, unsigned access);
void sandbox_write(struct writer *w, const struct sandbox *sb);
void sandbox_read(struct reader *r, struct sandbox *sb);

/*
 * Applies all layers, in the one order that works; fatal when one that must
 * hold does not.  layers (of size bytes) gets their names, comma between
 * them, and what is missing in words: "chroot,uid,nocaps,nnp,rlimits,
 * landlock-7,seccomp; token not separated".
 */
void sandbox_enter(const struct sandbox *sb, char *layers, size_t size);

#endif
