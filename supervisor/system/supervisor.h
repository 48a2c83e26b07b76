/* SPDX-License-Identifier: MIT */
/*
 * The state of the supervisor and the functions of its files.  It is one
 * thread on one event loop, starts first and ends last, and knows no secret:
 * of the sealed memfd it holds the descriptor and nothing else.
 */
#ifndef SUPERVISOR_SYSTEM_SUPERVISOR_H
#define SUPERVISOR_SYSTEM_SUPERVISOR_H

#include <sys/types.h>
#include <time.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/conf.h"
#include "common/ctl.h"
#include "common/ipc/channel.h"
#include "common/log.h"
#include "common/worker/inflight.h"
#include "common/worker/sandbox.h"

#define WORKER_FIRST	ROLE_LISTENER
#define WORKER_LAST	ROLE_SUBMITTER
#define WORKERS		3
#define LAYERS_MAX	512	/* bytes of a hello's layers */
#define REASON_MAX	1024	/* bytes with the NUL of a sentence for the log */

struct supervisor;

/* How far a worker has come. */
enum child_state {
	CHILD_DOWN,	/* no process */
	CHILD_STARTED,	/* started, no hello yet */
	CHILD_SANDBOXED,	/* said hello from within its sandbox */
	CHILD_READY	/* said ready */
};

struct child {
	struct supervisor *sup;		/* borrowed */
	enum role	 role;
	enum child_state state;
	pid_t		 pid;		/* 0 when down */
	struct channel	*channel;	/* NULL when down or broken */
	struct inflight	*inflight;		/* of this process; may be NULL */
	struct event	*restart;	/* timer: start it again */
	struct event	*deadline;	/* timer: the grace is over */
	long long	 started_ms;		/* clock_ms() */
	long long	 ping_sent_ms;	/* the oldest unanswered ping, 0 = none */
	uint32_t	 conf_sent;		/* generation last offered, 0 = none */
	uint32_t	 conf_agreed;	/* generation of its last conf-ok */
	unsigned	 failures;	/* deaths in a row */
	unsigned	 restarts;	/* since the service started */
	int		 stop_requested;	/* we asked it to end */
	int		 expected_exit;	/* its end counts as no failure */
	int		 has_descriptors;	/* has its descriptors */
	int		 kill_sent;		/* killed for being deaf */
	const char	*kill_reason;	/* why we killed it, or NULL */
	char		 channel_error[256];	/* how its channel ended, or "" */
	char		 layers[LAYERS_MAX];
	char		 last_exit[REASON_MAX];
};

/* A socketpair between two neighbours, upstream first. */
struct link {
	struct supervisor *sup;		/* borrowed */
	enum role	 up;
	enum role	 down;
	uint64_t	 id;		/* of the pair in use, 0 = none */
	struct event	*broken_timer;		/* timer: both ends live and it is broken */
	char		 why[256];
};
#define LINKS	2

/* Somebody's uid and groups. */
struct identity {
	uid_t		 uid;
	gid_t		 gid;
	gid_t		 groups[SANDBOX_GROUPS_MAX];
	int		 n_groups;
};

/* Users and folders, settled once at the start. */
struct setup {
	enum sandbox_mode mode;
	struct identity	 identity[ROLE__COUNT];
	gid_t		 dir_gid;	/* of folders that the hook must enter */
	int		 has_slurm_user;	/* there is a user "slurm": */
	uid_t		 slurm_uid;
	char		*state_dir;	/* of the last-run file; owned */
	char		*spool_dir;	/* owned */
	char		*empty_dir;	/* the listener's root folder; owned */
	int		 lastrun;	/* descriptor */
};

/* A run on which workers died. */
struct crash_record {
	struct run_key	 key;
	unsigned	 crashes;
};
#define CRASH_RECORDS_MAX	64	/* more are forgotten, oldest first */

/* A reload under way: every worker is asked before one switches. */
struct reload {
	int		 active;
	struct conf	 conf;		/* the new one */
	int		 secrets;	/* its memfd, -1 = none */
	unsigned	 roles_asked;	/* roles that were asked, 1u << role */
	unsigned	 restarts;	/* roles to be restarted after the switch */
	unsigned	 changed;	/* number of values */
	struct event	*deadline;
};

struct parser;
struct control;

struct supervisor {
	struct event_base *base;
	const char	*config_path;	/* borrowed from argv */
	int		 config_explicit;
	char		*worker_dir;	/* owned */
	int		 as_root;
	int		 kmsg;		/* kernel log, -1 = not readable */
	int		 pidfile;	/* descriptor, holds the lock */
	int		 listen_fd;
	int		 listen_tcp;
	int		 ctl_fd;
	char		*listen_path;	/* owned, NULL for TCP */
	struct conf	 conf;		/* in force */
	int		 secrets;	/* sealed memfd, -1 = none */
	uint32_t	 generations;	/* numbers used so far */
	struct setup	 setup;
	struct child	 children[ROLE__COUNT];	/* workers only */
	struct link	 links[LINKS];
	uint64_t	 link_ids;	/* numbers used so far */
	struct crash_record	 crash_records[CRASH_RECORDS_MAX];
	unsigned	 n_crash_records;
	struct parser	*parser;	/* the parser at work, or NULL */
	struct reload	 reload;
	int		 reload_pending;	/* came while another was under way */
	char		 reload_result[REASON_MAX];	/* of the last one */
	time_t		 reload_time;
	struct control	*control;	/* the admin tool's door, or NULL */
	long long	 started;	/* clock_ms() */
	int		 config_test;		/* -test: nobody is to serve */
	int		 conf_committed;	/* all workers took the first configuration */
	int		 ready_sent;	/* READY=1 was said */
	int		 stopping;
	int		 stop_index;	/* the worker whose end is awaited */
	int		 status;	/* exit status */
};

/* main.c */
struct child *child_of(struct supervisor *sup, enum role role);
void workers_start(struct supervisor *sup);
/* A worker serves: when all do for the first time, the service is up. */
void workers_check_ready(struct supervisor *sup);

/* flags.c: the command line, as Go's flag package reads it. */
struct options {
	const char	*config;	/* NULL = not given */
	long		 debug;
	int		 daemon;
	int		 test;
	int		 help;
};
/* 0, or -1 with a text in wrong. */
int options_parse(struct options *options, int argc, char **argv, char *wrong,
    size_t size);
void options_usage(void);

/* load.c: the parser's child. */
/*
 * Starts it.  done is called once, from the loop, with the values and the
 * memfd (both become its own) or with NULL, -1 and the reason.  0, or -1
 * with errno.
 */
int parser_start(struct supervisor *sup, void (*done)(struct supervisor *sup,
    struct conf *conf, int secrets, const char *reason));
/* The child ended: 1 when pid was the parser's. */
int parser_reaped(struct supervisor *sup, pid_t pid, int status);
int parser_has_pid(const struct supervisor *sup, pid_t pid);
void parser_cancel(struct supervisor *sup);

/* reload.c: which configuration is in force, and how it changes. */
/* The first one, before any worker runs.  Takes both. */
void conf_set_first(struct supervisor *sup, struct conf *conf, int secrets);
/* Adds who may always knock, once the users are settled.  0, or -1 on memory. */
int conf_add_own_uids(struct supervisor *sup, struct conf *conf);
/* Reads the file again; one at a time, a second wish is remembered. */
void reload_begin(struct supervisor *sup);
/* What the workers say to it. */
void reload_hello(struct child *c);
void reload_ok(struct child *c, uint32_t generation);
void reload_bad(struct child *c, uint32_t generation, const char *reason);
void reload_child_gone(struct child *c);

/* diff.c */
/*
 * What becomes of next when old is in force: values that take a restart of
 * the service are set back (and logged).  Returns the number of values that
 * change, *restarts gets the roles that must be restarted.
 */
unsigned conf_diff(const struct conf *old, struct conf *next,
    unsigned *restarts);

/* proc.c: a worker's process. */
void child_init(struct supervisor *sup, struct child *c, enum role role);
void child_start(struct child *c);
/* Asks it to end, kills it soon after grace_ms. */
void child_stop(struct child *c, uint32_t grace_ms);
/* The same, to have it started anew.  innocent: at once, and no failure. */
void child_restart(struct child *c, const char *why, int expected_exit);
/* At once; why goes to the log. */
void child_kill(struct child *c, const char *why);
/* Takes every child that has ended. */
void children_reap(struct supervisor *sup);
/* How long to wait after that many deaths in a row, ms. */
unsigned restart_delay(unsigned failures);

/* spawn.c */
/*
 * fork and exec of one of our own programs: descriptor 3 is fd, 0 and 1 are
 * /dev/null, envp is its whole environment.  The pid, or -1 with errno.
 */
pid_t process_spawn(const char *path, char *const argv[], char *const envp[],
    int fd);

/* env.c: environments, built from nothing.  Owned; NULL on memory. */
char **env_worker(const struct supervisor *sup, enum role role);
char **env_parser(void);
void env_free(char **env);

/* autopsy.c: how a process ended, in words. */
/* Opened before the capabilities are trimmed; -1 when it may not be read. */
int exit_reason_kmsg_open(void);
void exit_reason_text(int kmsg, pid_t pid, int status, char *buf, size_t size);

/* poison.c: runs that workers died on. */
/* After a death, status as of waitpid(): reads the slate, tells those who serve. */
void quarantine_note_exit(struct child *c, int status);
/* A new worker learns of all of them. */
void quarantine_send_all(struct child *c);

/* link.c: the channels to the workers. */
/* Takes fd; the sandbox frame goes first.  0, or -1. */
int worker_channel_open(struct child *c, int fd);
void worker_channel_stop(struct child *c, uint32_t grace_ms);
/* Sets our own level, too. */
void workers_set_log_level(struct supervisor *sup, enum log_level level);

/* peers.c: the channels between the workers. */
void neighbours_init(struct supervisor *sup);
/* It serves: it and its neighbours that serve get fresh ones. */
void neighbours_connect(struct child *c);
/* c says that its channel to peer broke. */
void neighbours_broken(struct child *c, enum role peer, uint64_t id, const char *why);

/* pulse.c: pings, watchdog, regular looks. */
void watchdog_init(struct supervisor *sup);

/* serve.c */
/* What c agreed to comes into force; the first time it is equipped. */
void worker_activate(struct child *c);
/* resolv.conf and hosts, as bytes, to the submitter. */
void resolver_files_send(struct child *submitter);
/* Sends what has changed since. */
void resolver_files_check(struct supervisor *sup);

/* offer.c */
/* Sends the part of conf that is for this worker, and conf-end. */
void conf_send(struct child *c, const struct conf *conf, int secrets);

/* sockets.c */
/*
 * Makes the listening socket of the hooks.  0; -1 when it cannot be made or
 * somebody else answers there (logged).
 */
int sockets_open(struct supervisor *sup);
void sockets_close(struct supervisor *sup);
/* Mode of the admin tool's socket: others may connect only if some are named. */
void sockets_ctl_mode(const struct supervisor *sup);

/* pidfile.c */
/*
 * Opens and locks it without changing its content.  The descriptor, or -1
 * (logged) when another instance holds it.
 */
int pidfile_lock(const char *path);
/* 0, or -1 with errno. */
int pidfile_write(int fd, pid_t pid);
/* Only a file that is ours or empty is removed; fd is closed. */
void pidfile_remove(int fd, const char *path);

/* notify.c: systemd's protocol; without NOTIFY_SOCKET nothing happens. */
void notify_init(void);
void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);
void notify_watchdog(void);
/* How often it wants to be fed, in ms; 0 = never. */
unsigned notify_watchdog_ms(void);

/* control.c: the admin tool's door. */
int control_open(struct supervisor *sup);
void control_close(struct supervisor *sup);
/* Rows and ends that workers answered. */
void control_row(struct supervisor *sup, enum role from, uint64_t request,
    const uint8_t *row, size_t len);
void control_result(struct supervisor *sup, enum role from, uint64_t request,
    enum ctl_status status, const char *text);
void control_child_gone(struct supervisor *sup, enum role role);
void control_reload_done(struct supervisor *sup, int ok, const char *text);
/* ctlUsers as they are in force; at the start and at reload. */
void control_users_update(struct supervisor *sup);

/* uids.c: who may knock, by number. */
/*
 * The value of prepAllowedUids as the listener gets it: with root, our own
 * uid, slurmUser and Slurm's usual user "slurm".  Returns owned, or NULL on
 * memory.
 */
char *hook_uids_complete(const char *list, const struct setup *setup);
#define USERS_MAX	64	/* ctlUsers, prepAllowedUids, as the table of keys has it */
struct ctl_users {
	uid_t		 uid[USERS_MAX];
	unsigned	 n;
};
void ctl_users_read(struct ctl_users *users, const char *list);
/* Root and we ourselves may all, the named ones what destroys nothing. */
int ctl_user_allowed(const struct ctl_users *users, uid_t uid, int destroys);

/* report.c: the supervisor's own rows, handed to say. */
typedef void status_row_fn(void *arg, const struct writer *row);
void status_report(const struct supervisor *sup, status_row_fn *say, void *arg);
void metrics_report(const struct supervisor *sup, status_row_fn *say, void *arg);

/* users.c: names to numbers. */
/* Fills places.who and dir_gid.  0, or -1 (logged). */
int users_resolve(struct supervisor *sup);

/* folders.c: state folders and the last-run file. */
/* 0, or -1 (logged). */
int directories_prepare(struct supervisor *sup);
/* The folder of path, made when it is missing (root:group 0750).  0, or -1 (logged). */
int directory_prepare_for(const struct supervisor *sup, const char *path);
void setup_clear(struct setup *setup);

/* access.c: what each worker may open.  0, or -1 on memory. */
int sandbox_paths_fill(const struct supervisor *sup, struct sandbox *sb);

/* slurmconf.c: the little of slurm.conf that access.c must know. */
/* Calls found with each folder or socket named in it; path may not exist. */
void slurm_conf_scan(const char *path, void (*found)(const char *path,
    void *arg), void *arg);

/* privs.c: the supervisor's own rights. */
void capabilities_reduce(const struct supervisor *sup);

/* trial.c: -test. */
/* Returns the exit status. */
int config_test_run(struct supervisor *sup);

/* stop.c */
void shutdown_begin(struct supervisor *sup, const char *why, int status);
void shutdown_child_gone(struct child *c);

#endif
