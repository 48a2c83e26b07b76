/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of a worker, entered before the worker reads data from any
 * process but the supervisor: chroot, limits, no capabilities, its own uid,
 * no_new_privs, Landlock, seccomp.  Without root, the layers that need root are
 * left out and reported.
 */
#ifndef COMMON_WORKER_SANDBOX_H
#define COMMON_WORKER_SANDBOX_H

#include <sys/types.h>

#include "common/codec.h"
#include "common/model/msg.h"

#define SANDBOX_PATHS_MAX  256
#define SANDBOX_GROUPS_MAX 256
#define SANDBOX_PORTS_MAX  32 /* name servers, cc-backend, brokers */

enum sandbox_mode {
	SANDBOX_ENFORCE,
	SANDBOX_LOG,
	SANDBOX_OFF
};

/* Rights on a path; Landlock has no rule that denies. */
enum sandbox_access {
	SANDBOX_READ = 1, /* a file, or a directory and all below */
	SANDBOX_EXEC = 2,
	SANDBOX_WRITE = 4 /* create, write, remove below it */
};

struct sandbox_path {
	char *path;	 /* owned */
	unsigned access; /* enum sandbox_access, or-ed */
};

struct sandbox {
	enum role role;
	enum sandbox_mode mode;
	int as_root; /* started as root: chroot and change uid */
	uid_t uid;
	gid_t gid;
	gid_t groups[SANDBOX_GROUPS_MAX];
	int n_groups;
	char *root;	 /* chroot, owned; NULL = none */
	uint64_t nofile; /* RLIMIT_NOFILE */
	uint64_t nproc;	 /* RLIMIT_NPROC; UINT64_MAX = unchanged */
	uint64_t fsize;	 /* RLIMIT_FSIZE, bytes; UINT64_MAX = unchanged */
	struct sandbox_path paths[SANDBOX_PATHS_MAX];
	int n_paths;
	/* TCP ports to which submitter or receiver may connect */
	uint16_t ports[SANDBOX_PORTS_MAX];
	unsigned n_ports;
};

void sandbox_init(struct sandbox *sb, enum role role);
void sandbox_clear(struct sandbox *sb);
/*
 * 0, or -1 with errno when there are too many or out of memory.  A path that
 * does not exist is skipped later.
 */
int sandbox_allow(struct sandbox *sb, const char *path, unsigned access);
/* The same for a TCP port; a port that is already there is no second one. */
int sandbox_allow_port(struct sandbox *sb, uint16_t port);
void sandbox_write(struct writer *w, const struct sandbox *sb);
void sandbox_read(struct reader *r, struct sandbox *sb);

/*
 * Applies all layers; fatal when a required one fails.  layers (of size bytes)
 * gets their names, separated by commas, and texts about missing ones:
 * "chroot,rlimits,uid,nocaps,nnp,landlock-7,seccomp; bounding set kept".
 */
void sandbox_enter(const struct sandbox *sb, char *layers, size_t size);

#endif
