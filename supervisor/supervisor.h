/* SPDX-License-Identifier: MIT */
/*
 * The state of the supervisor.  It is one thread on one event loop, starts
 * first and ends last.  Of the secrets it holds descriptors of sealed memfds,
 * never the content.
 *
 * Out of memory: at the start, the supervisor exits.  Later, the operation
 * under way fails, the log has "out of memory", and the service continues.
 */
#ifndef SUPERVISOR_SUPERVISOR_H
#define SUPERVISOR_SUPERVISOR_H

#include <time.h>

#include "supervisor/system/system.h"
#include "supervisor/config/safe_path.h"
#include "supervisor/workers/workers.h"

struct supervisor;
struct parser;
struct control;
struct overview;
struct attention;

/* The sealed memfds of the processes that get secrets; -1 = none. */
struct secrets {
	int submitter;
	int receiver; /* only with source "stream" */
};
#define NO_SECRETS ((struct secrets) { -1, -1 })
/* Closes both. */
void secrets_close(struct secrets *secrets);

/*
 * Called once with the values and the memfds, or with NULL, NO_SECRETS and why.
 */
typedef void parser_done(struct supervisor *sup, struct conf *conf,
    struct secrets secrets, const char *reason);

/* The callbacks of a reload, set in main.c. */
struct reload_ops {
	/* Starts to read the file.  0, or -1 with errno. */
	int (*parse)(struct supervisor *sup, parser_done *done);
	/* Another configuration is in force. */
	void (*committed)(struct supervisor *sup);
	/* The reload is over; text is its result. */
	void (*finished)(struct supervisor *sup, int ok, const char *text);
	/* -test: all workers have agreed to the first one. */
	void (*tested)(struct supervisor *sup);
	/* The service has to end. */
	void (*stop)(struct supervisor *sup, const char *why, int status);
};

/* bytes of the names of kept keys: sixteen at most, separated by ", " */
#define KEPT_MAX 320

/* A reload under way: all workers must agree before one switches. */
struct reload {
	int active;
	struct conf conf; /* the new one */
	struct secrets secrets;
	unsigned roles_asked; /* 1u << role */
	unsigned restarts;    /* roles to restart after the switch */
	unsigned changed;     /* number of values */
	/* changed keys whose value stays until the service restarts */
	char kept[KEPT_MAX];
	struct event *deadline;
};

#define INHERITED_MAX 64 /* a shell starts few; the marks protect the others */

/* Tells commands of the runner from children of other programs. */
struct orphans {
	/* The last runner that has ended, and the session of its commands. */
	pid_t runner; /* 0 = none has ended */
	/* Children of other programs, or their children, may become ours. */
	int is_mixed;
	int had_no_new_privs; /* before the sandbox */
	/* Our children before we started one; 0 = none, or it has ended. */
	pid_t inherited[INHERITED_MAX];
};

struct supervisor {
	struct event_base *base;
	int config_explicit; /* -config was given */
	int pidfile;	     /* descriptor, holds the lock */
	struct setup setup;
	struct conf conf; /* in force */
	struct secrets secrets;
	uint32_t generations; /* numbers used so far */
	struct workers workers;
	struct orphans orphans;
	struct parser *parser; /* the parser at work, or NULL */
	/* standard error of the last parser, which may still run; or NULL */
	struct log_pipe *parser_log;
	const struct reload_ops *reload_ops;
	struct reload reload;
	int reload_pending;		/* requested during another one */
	char reload_result[REASON_MAX]; /* of the last one */
	time_t reload_time;
	int reload_failed;	      /* the last one was refused */
	char unsafe[UNSAFE_TEXT_MAX]; /* a file that others can change, or "" */
	struct control *control;      /* admin socket, or NULL */
	struct overview *overview;    /* of summary.c, or NULL */
	long long started_ms;	      /* clock_ms() */
	int conf_committed;	      /* all agreed to the first one */
	int ready_sent;		      /* READY=1 was sent */
	int stop_index;		      /* in the order of shutdown.c */
	int status;		      /* exit status */
};

/* options.c: the command line, as Go's flag package reads it. */
struct options {
	const char *config; /* NULL = not given */
	long debug;
	int daemon;
	int test;
	int help;
	int migrate;
	const char *file; /* the first argument after the flags, or NULL */
};
/* 0, or -1 with a text in wrong. */
int options_parse(struct options *options, int argc, char **argv, char *wrong,
    size_t size);
void options_usage(void);

/* parser_process.c: the child that reads config.json. */
/* Starts it; done is called from the loop and owns what it gets. */
int parser_start(struct supervisor *sup, parser_done *done);
/* A child ended: 1 when pid was the parser's. */
int parser_reaped(struct supervisor *sup, pid_t pid, int status);
int parser_has_pid(const struct supervisor *sup, pid_t pid);
void parser_cancel(struct supervisor *sup);

/* reload.c: which configuration is in force, and how it changes. */
/* The first one, before any worker runs.  Takes conf and secrets. */
void conf_set_first(struct supervisor *sup, struct conf *conf,
    struct secrets secrets);
/*
 * Completes prepAllowedUids, once the users are resolved.  0, or -1 when out of
 * memory (logged).
 */
int conf_add_own_uids(struct supervisor *sup, struct conf *conf);
/* Reads the file again; a request during another reload waits for its end. */
void reload_begin(struct supervisor *sup);
/* Messages of a worker. */
void reload_hello(struct child *c);
void reload_ok(struct child *c, uint32_t generation);
void reload_bad(struct child *c, uint32_t generation, const char *reason);
/* The process of a worker ended. */
void reload_child_gone(struct child *c);

/* checklist.c: what -test prints about Slurm, cc-backend and this host. */
/*
 * All workers have agreed to the configuration.  Prints the list within 30 s and
 * ends the supervisor: status 1 when a line is FAIL.
 */
void checklist_begin(struct supervisor *sup);
/* Messages of a worker. */
void checklist_row(struct child *c, uint64_t request, const uint8_t *row,
    size_t len);
void checklist_end(struct child *c, uint64_t request, enum ctl_status status,
    const char *text);
/* The process of a worker ended before the list was complete. */
void checklist_child_gone(struct child *c);
/* 1 once checklist_begin() was called. */
int checklist_began(void);
/* 1 for the process that checks this host. */
int checklist_has_pid(pid_t pid);

/* children.c: the ends of processes. */
extern const struct child_ops child_ops;
/* Waits for every process that has ended. */
void children_reap(struct supervisor *sup);

/* orphans.c: children that the supervisor has not started. */
/* Called before the first process is started. */
void orphans_init(struct orphans *o);
/* A child has ended: its pid may become that of another process. */
void orphans_reaped(struct orphans *o, pid_t pid);
/*
 * Kills the commands of a runner that has ended.  No process reads their output.
 * Their own children become ours when they have ended: see children_reap().
 */
void orphans_kill(struct supervisor *sup);

/* control.c: the admin socket. */
int control_open(struct supervisor *sup);
void control_close(struct supervisor *sup);
/* Rows and ends that workers answered. */
void control_row(struct child *c, uint64_t request, const uint8_t *row,
    size_t len);
void control_result(struct child *c, uint64_t request, enum ctl_status status,
    const char *text);
void control_child_gone(struct child *c);
/* scrape.c: the exporter asks for the metrics. */
void control_scrape(struct child *c, uint64_t id);
void control_reload_done(struct supervisor *sup, int ok, const char *text);
/* Reads ctlUsers of the configuration in force. */
void control_users_update(struct supervisor *sup);

/* status.c: the supervisor's own rows; emit gets each of them. */
typedef void status_row_fn(void *arg, const struct writer *row);
void status_report(struct supervisor *sup, status_row_fn *emit, void *arg);
void metrics_report(const struct supervisor *sup, status_row_fn *emit,
    void *arg);
/* The last warnings and errors of all processes; returns their number. */
unsigned warnings_report(status_row_fn *emit, void *arg);

/*
 * summary.c: what deserves the attention of an admin; systemd gets the
 * sentence when it changes, at most once a second.
 */
void summary_init(struct supervisor *sup);
void summary_clear(struct supervisor *sup);
/* Called after the events of a turn of the loop. */
void summary_turn(struct supervisor *sup);
/* A worker has sent its summary. */
void summary_take(struct child *c, const struct summary *s);
/* The present state; valid until the next call. */
const struct attention *summary_now(struct supervisor *sup);

/*
 * removed_paths.c: ends the service when its sockets or its spool were removed.
 * Called once the sockets are open; shutdown_begin() is called at most once.
 */
void removed_paths_watch(struct supervisor *sup);
void removed_paths_clear(void);

/* shutdown.c */
void shutdown_begin(struct supervisor *sup, const char *why, int status);
void shutdown_child_gone(struct child *c);

#endif
