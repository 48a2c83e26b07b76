/* SPDX-License-Identifier: MIT */
/*
 * The worker processes and the supervisor's channels to them: start, ready,
 * neighbours, watchdog, quarantine, end.  This box knows no reload, no control
 * socket and no shutdown; their events go through channel_events and child_ops,
 * which main.c sets.
 */
#ifndef SUPERVISOR_WORKERS_WORKERS_H
#define SUPERVISOR_WORKERS_WORKERS_H

#include <sys/types.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/model/ctl.h"
#include "common/ipc/channel.h"
#include "common/model/summary.h"
#include "common/worker/inflight.h"
#include "supervisor/system/log_pipe.h"
#include "supervisor/system/system.h"

#define WORKERS	   6
#define LAYERS_MAX 512 /* bytes of a hello's layers */

struct path_watch;
struct workers;

enum child_state {
	CHILD_DOWN,	 /* no process */
	CHILD_STARTED,	 /* no hello yet */
	CHILD_SANDBOXED, /* sent hello, its sandbox is in force */
	CHILD_READY	 /* sent ready */
};

/* A worker process. */
struct child {
	struct workers *workers; /* borrowed; NULL = not used */
	enum role role;
	enum child_state state;
	pid_t pid;		   /* 0 when down */
	struct channel *channel;   /* NULL when down or broken */
	struct log_pipe *log;	   /* its standard error; NULL when down */
	struct inflight *inflight; /* of this process; may be NULL */
	struct event *restart;	   /* timer: start it again */
	struct event *deadline;	   /* timer: the grace is over */
	long long started_ms;	   /* clock_ms() */
	long long ping_sent_ms;	   /* oldest unanswered ping, 0 = none */
	uint32_t conf_sent;	   /* generation sent last, 0 = none */
	uint32_t conf_agreed;	   /* generation of its last conf-ok */
	uint32_t conf_used;	   /* generation that it has in force */
	unsigned failures;	   /* failed processes in a row */
	unsigned restarts;	   /* since the service started */
	int stop_requested;
	int expected_exit; /* its end counts as no failure */
	int has_descriptors;
	int kill_sent;		 /* killed because pings had no answer */
	const char *kill_reason; /* why we killed it, or NULL */
	char channel_error[256]; /* how its channel ended, or "" */
	char layers[LAYERS_MAX]; /* of its sandbox */
	char last_exit[REASON_MAX];
};

/* The socketpair between two neighbours. */
struct link {
	struct workers *workers;    /* borrowed */
	enum role up;		    /* upstream */
	enum role down;		    /* downstream */
	uint64_t id;		    /* of the pair in use, 0 = none */
	struct event *broken_timer; /* the pair broke: do both ends run? */
	char error[256];
};
#define LINKS 4

/* A run during which workers crashed. */
struct crash_record {
	struct run_key key;
	unsigned crashes;
	long long at; /* clock_ms() of the last one */
};
#define CRASH_RECORDS_MAX  64 /* then the oldest is dropped */
#define QUARANTINE_CRASHES 2  /* after these the run is in quarantine */
/* ms; an earlier crash had another cause */
#define QUARANTINE_WITHIN 86400000LL

/* Messages of a worker, after their payload was checked. */
struct channel_events {
	void (*hello)(struct child *c);
	void (*conf_ok)(struct child *c, uint32_t generation);
	void (*conf_bad)(struct child *c, uint32_t generation,
	    const char *reason);
	/* The state is CHILD_READY. */
	void (*ready)(struct child *c);
	void (*ctl_row)(struct child *c, uint64_t request, const uint8_t *row,
	    size_t len);
	void (*ctl_end)(struct child *c, uint64_t request,
	    enum ctl_status status, const char *text);
	/* The worker reports that its channel number id to peer broke. */
	void (*peer_lost)(struct child *c, enum role peer, uint64_t id,
	    const char *why);
	/* The worker has another version of the protocol. */
	void (*wrong_version)(struct child *c, const char *why);
	/* The exporter asks for the metrics. */
	void (*scrape)(struct child *c, uint64_t id);
	void (*summary)(struct child *c, const struct summary *s);
};

struct child_ops {
	/*
	 * The process has ended; c->state is CHILD_DOWN.  When the callback
	 * leaves workers->stopping at 0, the worker is started again.
	 */
	void (*gone)(struct child *c);
};

struct workers {
	struct event_base *base; /* borrowed, as are the next two */
	struct setup *setup;
	const struct conf *conf; /* in force */
	const struct channel_events *events;
	const struct child_ops *ops;
	void *arg; /* of the owner, for its callbacks */
	struct child children[ROLE__COUNT]; /* workers only */
	struct link links[LINKS];
	uint64_t link_ids; /* numbers used so far */
	struct crash_record crash_records[CRASH_RECORDS_MAX];
	unsigned n_crash_records;
	struct event *unanswered; /* timer: a hello or a pong is missing */
	/* reports changes of resolv.conf and hosts; NULL = a timer only */
	struct path_watch *files;
	int config_test; /* -test: only collector and runner become ready */
	int stopping;	 /* no worker is started again */
};

/* start.c */
/* Starts all of them; base, setup, conf, events and ops are set. */
void workers_start(struct workers *w);

/* 1 when this configuration has the worker. */
int child_is_used(const struct child *c);

/* process.c: the process of a worker. */
void child_init(struct workers *w, enum role role);
void child_start(struct child *c);
/* Sends stop; kills the process shortly after grace_ms. */
void child_stop(struct child *c, uint32_t grace_ms);
/*
 * Ends the process so that it is started again.  expected_exit: at once, and
 * not counted as a failure.
 */
void child_restart(struct child *c, const char *why, int expected_exit);
/* At once; why goes to the log. */
void child_kill(struct child *c, const char *why);
/* waitpid() has returned the process of c with this status. */
void child_exited(struct child *c, int status);
/* The worker with this pid, or NULL. */
struct child *child_find(struct workers *w, pid_t pid);
/*
 * The workers that run, for a line of the log: "collector (4711), runner (4712)".
 * unanswered: only those that have not accepted a configuration.  "the workers" if
 * there is none.  Valid until the next call.
 */
const char *children_text(const struct workers *w, int unanswered);

/* quarantine.c: runs during which workers crashed. */
/*
 * After the end of a process, status as of waitpid(): reads the inflight page
 * and sends a new quarantine to each ready worker.
 */
void quarantine_note_exit(struct child *c, int status);
/* 1 when c gets an inflight page and quarantines. */
int child_reads_records(const struct child *c);
/* Sends all quarantined runs to a new worker. */
void quarantine_send_all(struct child *c);

/* worker_channel.c: the channels to the workers. */
/* Takes fd; the sandbox frame goes first.  0, or -1. */
int worker_channel_open(struct child *c, int fd);
void worker_channel_stop(struct child *c, uint32_t grace_ms);
/* To the receiver, before its stop: the daemon ends. */
void worker_channel_ending(struct child *c);
/* Sets the supervisor's own level, too. */
void workers_set_log_level(struct workers *w, enum log_level level);

/* neighbours.c: the channels between the workers. */
void neighbours_init(struct workers *w);
/*
 * Called when worker c is ready.  Creates a new socketpair to each ready
 * neighbour.
 */
void neighbours_connect(struct child *c);
/* Worker c reports that its channel number id to peer broke. */
void neighbours_broken(struct child *c, enum role peer, uint64_t id,
    const char *why);

/* watchdog.c: pings, systemd's watchdog, regular checks. */
void watchdog_init(struct workers *w);
/* A pong of c has come. */
void watchdog_answered(struct child *c);
/* A worker was started: its hello has a time limit. */
void watchdog_started(struct workers *w);

/* activate.c */
/*
 * Puts the configuration that c agreed to into force; the first time, c also
 * gets its descriptors.
 */
void worker_activate(struct child *c);
/* Sends resolv.conf and hosts to the submitter or to the receiver. */
void resolver_files_send(struct child *c);
/* The same for those that are ready, if they have changed. */
void resolver_files_check(struct workers *w);
/* 0, or -1 when one of them cannot be watched (errno). */
int resolver_files_watch(struct path_watch *pw);

#endif
