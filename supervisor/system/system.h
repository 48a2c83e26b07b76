/* SPDX-License-Identifier: MIT */
/*
 * The preparation of the host by the supervisor: users, directories, sockets, the
 * pid file, its own capabilities, the sandbox of each worker, the start of a
 * program and systemd's notification protocol.  The functions know no worker
 * process and no reload.
 */
#ifndef SUPERVISOR_SYSTEM_SYSTEM_H
#define SUPERVISOR_SYSTEM_SYSTEM_H

#include <sys/stat.h>
#include <sys/types.h>

#include <stdio.h>

#include "common/model/conf.h"
#include "common/log.h"
#include "common/worker/sandbox.h"

#define REASON_MAX 1024 /* bytes with the NUL of a sentence for the log */

#define WORKER_FIRST ROLE_LISTENER
#define WORKER_LAST  ROLE_RECEIVER

/* Addresses of the host name in prepSockListenPath; as in the listener. */
#define HOOK_SOCKETS_MAX 8

#define SLURM_USER_MAX 64 /* bytes of SlurmUser with the NUL */

/* uid and groups of a process. */
struct identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[SANDBOX_GROUPS_MAX];
	int n_groups;
};

/* Users, directories and sockets, prepared once at the start. */
struct setup {
	const char *config_path; /* borrowed from argv */
	char *program_dir;	 /* of the workers' programs; owned */
	int as_root;		 /* the service was started by root */
	enum sandbox_mode mode;
	struct identity identity[ROLE__COUNT];
	gid_t dir_gid;	     /* of directories that the hook enters */
	const char *run_dir; /* the usual one, which is the suite's */
	int has_slurm_user;  /* the user of slurmctld exists: */
	struct identity slurm_user;
	/* SlurmUser of slurm.conf that did not exist at the start, or "" */
	char missing_user[SLURM_USER_MAX];
	char *state_dir; /* of the last-run file; owned */
	char *spool_dir; /* owned */
	int spool_lock;	 /* its descriptor, locked; -1 = none */
	char *empty_dir; /* root directory of workers without files; owned */
	int lastrun;	 /* descriptor */
	int listen_fds[HOOK_SOCKETS_MAX]; /* sockets of the hooks */
	unsigned n_listen;
	int listen_tcp;		 /* it is a TCP socket */
	char *listen_path;	 /* owned, NULL for TCP */
	unsigned listen_repairs; /* times that the sockets were made again */
	int ctl_fd;		 /* admin socket, -1 = none */
	dev_t ctl_dev;		 /* its file */
	ino_t ctl_ino;
	int metrics_fd;	    /* socket of the exporter, -1 = none */
	char *metrics_path; /* owned, NULL for TCP */
	int kmsg;	    /* kernel log, -1 = not readable */
};

/* directories.c: state directories and the last-run file. */
/* Sets all descriptors to -1. */
void setup_init(struct setup *setup);
/* Frees and closes all but the sockets. */
void setup_clear(struct setup *setup);
/* 0, or -1 (logged). */
int directories_prepare(struct setup *setup, const struct conf *conf);
/*
 * The directory of path; a missing one is made (root:group 0750).
 * 0, or -1 (logged).
 */
int directory_prepare_for(const struct setup *setup, const char *path);
/* 1 when the user of slurmctld, as far as it is known, can enter it. */
int directory_admits_hook(const struct setup *setup, const struct stat *st);
/*
 * 1 when directory_prepare_for() gives this directory the group of slurmctld's
 * user: the suite's own, of root, which that user cannot enter.
 */
int directory_gets_group(const struct setup *setup, const char *path,
    const struct stat *st);
/* 1 when path is a symbolic link, with the reason and the repair; else 0. */
int directory_is_link(const char *path, char *why, size_t size);

/* spool_path.c */
#define SPOOL_USUAL "spool"	  /* beside lastrun and last_run */
#define SPOOL_OWNER "spool.owner" /* has the name of a last-run file */
/*
 * The spool's directory when spoolDir is empty.  The state directory exists.
 * is_first_start: the last-run file did not exist before this start.  Returns
 * owned, or NULL (logged unless it is for memory).
 */
char *spool_path_choose(const char *last_run, int is_first_start);
/*
 * The same for -test: nothing is written or logged, and the state directory may
 * be missing.  When the start would find no directory, returns NULL with the
 * reason and the repair in why, which is "" when memory is missing.
 */
char *spool_path_look(const char *last_run, char *why, size_t size);

/* wanted_workers.c */
/*
 * 1 when this configuration has the worker: the exporter needs metricsListen;
 * with source "stream" the receiver replaces listener, collector and runner.
 */
int worker_is_wanted(const struct conf *conf, enum role role);

/* users.c: names to numbers. */
/* Fills mode, identity, dir_gid and slurm_user.  0, or -1 (logged). */
int users_resolve(struct setup *setup, const struct conf *conf);

/* slurm_user.c: the user of slurmctld, who runs the hooks. */
/* 1 with SlurmUser of slurm.conf in name, 0 when slurm.conf does not set it. */
int slurm_user_name(const struct conf *conf, char *name, size_t size);
/* The same for one slurm.conf and the files that it includes. */
int slurm_conf_user(const char *path, char *name, size_t size);

/* sockets.c */
/*
 * Makes the listening sockets of the hooks and of the admin tool.  0; -1 when
 * one cannot be made or another process answers there (logged).
 */
int sockets_open(struct setup *setup, const struct conf *conf);
void sockets_close(struct setup *setup, const struct conf *conf);
/* Before a worker gets a socket that the worker before it could change. */
void socket_linger_clear(int fd);
/*
 * Before a new listener gets the socket of the hooks: clears SO_LINGER, and makes
 * the socket again if an earlier listener has shut it down.  0, or -1 when there
 * is none (logged).
 */
int sockets_hook_repair(struct setup *setup, const struct conf *conf);
/*
 * 1 when the user of slurmctld cannot reach the socket at this path, with a
 * sentence in why that contains the command to repair it.
 */
int hook_directory_is_closed(const struct setup *setup, const char *path,
    char *why, size_t size);
/* Mode of the admin tool's socket: 0666 only if ctlUsers names a user. */
void sockets_ctl_mode(const struct setup *setup, const struct conf *conf);

/*
 * A listening UNIX socket with this mode, in a directory that is made if it is
 * missing.  -1 (logged): also when another process listens there.
 */
int socket_unix_listen(const struct setup *setup, const char *path,
    mode_t mode);

/* metrics_socket.c */
/* Makes the socket of metricsListen, if there is one.  0, or -1 (logged). */
int metrics_socket_open(struct setup *setup, const struct conf *conf);
void metrics_socket_close(struct setup *setup);

/* pidfile.c */
/*
 * Opens and locks the file without changing its content.  The descriptor, or
 * -1 (logged) when another instance holds the lock.
 */
int pidfile_lock(const char *path);
/* 0, or -1 with errno. */
int pidfile_write(int fd, pid_t pid);
/* Removes the file only if it has our pid or is empty; closes fd. */
void pidfile_remove(int fd, const char *path);

/* The pid of the instance that holds the lock, -1 if not readable; 0 = none. */
long pidfile_holder(const char *path);

/* host_check.c: the host's part of the checklist of -test */
/*
 * Writes one line "ok TEXT", "warn TEXT" or "FAIL TEXT" for each check: the
 * spool, the socket of the hooks and the scripts of slurmctld.  hooks: n values
 * of Slurm, as "PrologSlurmctld=/path".  A file system may not answer: the
 * caller runs this in a child process.
 */
void host_check(const struct setup *setup, const struct conf *conf,
    char *const *hooks, size_t n, FILE *out);
/* script_check.c: the line about one of the hooks. */
void scripts_check(const struct setup *setup, const char *hook, FILE *out);

/* capabilities.c: the supervisor's own rights, for the daemon or for -test. */
void capabilities_reduce(const struct setup *setup, int is_test);

/* sandbox_paths.c: what each worker may open. */
/* Fills sb for its role.  0, or -1 when out of memory. */
int sandbox_paths_fill(const struct setup *setup, const struct conf *conf,
    struct sandbox *sb);
/*
 * Warns about secrets that Slurm's commands may read: only owner and mode protect
 * them.  Waits for the file systems of the files.
 */
void secrets_warn(const struct setup *setup, const struct conf *conf);

/* spawn.c */
/*
 * fork and exec of one of our own programs in a session of its own:
 * descriptor 3 is fd, 2 is log, 0 and 1 are /dev/null, envp is its whole
 * environment.  The pid, or -1 with errno.
 */
pid_t process_spawn(const char *path, char *const argv[], char *const envp[],
    int fd, int log);

/* Closes first and all above. */
void descriptors_close_from(int first);

/* env.c: environments, built from nothing.  Owned; NULL when out of memory. */
char **env_worker(enum role role);
char **env_parser(void);
void env_free(char **env);

/*
 * sandbox_paths.c: 1 when the worker of this role, submitter or receiver, may
 * connect to other TCP ports with b than with a.
 */
int sandbox_ports_differ(const struct conf *a, const struct conf *b,
    enum role role);

/* exit_reason.c: how a process ended, as text. */
/*
 * Opens the kernel log at its end.  Call it before the capabilities are
 * reduced.  -1 when the log is not readable.
 */
int exit_reason_kmsg_open(void);
/* status as of waitpid(); kmsg may be -1. */
void exit_reason_text(int kmsg, pid_t pid, int status, char *buf, size_t size);

/* sd_notify.c: systemd's protocol; without NOTIFY_SOCKET nothing happens. */
void notify_init(void);
void notify_ready(const char *status);
/*
 * The start takes long and goes on: extends systemd's time limit (TimeoutStartSec=),
 * for two hours at most.  No effect after notify_ready().
 */
void notify_starting(void);
void notify_reloading(void);
void notify_stopping(void);
/* Shows the text in `systemctl status`. */
void notify_status(const char *status);
void notify_watchdog(void);
/* Interval in which systemd wants WATCHDOG=1, in ms; 0 = never. */
unsigned notify_watchdog_ms(void);

/* not_protected.c: what the sandbox leaves open, for the log and `status`. */
#define RUN_USER	   "/run/user"
#define NOT_PROTECTED_MAX  6   /* texts */
#define NOT_PROTECTED_TEXT 320 /* bytes of one, with the NUL */
struct not_protected {
	char text[NOT_PROTECTED_MAX][NOT_PROTECTED_TEXT];
	unsigned n;
};
/*
 * For the rights in setup and a kernel with this version of Landlock, 0 = none.
 * Looks for the socket of the user's systemd below run_dir ("/run/user").
 */
void not_protected_find(struct not_protected *np, const struct setup *setup,
    int landlock, const char *run_dir);

/* allowed_uids.c: users that may connect, by number. */
/*
 * The value of prepAllowedUids as the listener gets it: with root, our own
 * uid, slurmUser and the user of slurmctld.  Returns owned, or NULL on memory.
 */
char *hook_uids_complete(const char *list, const struct setup *setup);
#define USERS_MAX 64 /* ctlUsers, prepAllowedUids, as in conf_keys.h */
struct ctl_users {
	uid_t uid[USERS_MAX];
	unsigned n;
};
void ctl_users_read(struct ctl_users *users, const char *list);
/*
 * 1 when uid may send a request: root any, our own uid and the users of
 * ctlUsers only one that is not destructive.
 */
int ctl_user_allowed(const struct ctl_users *users, uid_t uid,
    int is_destructive);

#endif
