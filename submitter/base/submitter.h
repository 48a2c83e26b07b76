/* SPDX-License-Identifier: MIT */
/*
 * The submitter: keeps every run until cc-backend, and NATS where asked for,
 * has it.  Its one state, and what its files do for each other.
 */
#ifndef SUBMITTER_BASE_SUBMITTER_H
#define SUBMITTER_BASE_SUBMITTER_H

#include <event2/event.h>

#include "common/log.h"
#include "common/worker/worker.h"
#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"
#include "submitter/nats/nats.h"
#include "submitter/net/http.h"
#include "submitter/net/resolver.h"
#include "submitter/payload/payload.h"
#include "submitter/payload/topology.h"
#include "submitter/spool/spool.h"

struct ask;
struct backfill;
struct backlog;
struct denial;
struct relay;
struct resync;
struct seen;
struct standby;
struct sync;
struct nodes;
struct late;

#define SKIPS_MAX	64	/* runs that workers died on twice; more is no accident */

/* What is counted since the start of the process, for status and metrics. */
struct counters {
	uint64_t	 records;	/* taken from the collector */
	uint64_t	 records_new;
	uint64_t	 records_refused;	/* no run can be made of them */
	uint64_t	 starts;	/* delivered by REST */
	uint64_t	 stops;
	uint64_t	 requests;	/* of REST */
	uint64_t	 retries;
	uint64_t	 rejected;
	uint64_t	 repeated;	/* starts not seen committed in time */
	uint64_t	 closed;	/* found stopped by another hand */
	uint64_t	 victims;	/* open there, stopped here: hit by its stop race */
	uint64_t	 nats_starts;
	uint64_t	 nats_stops;
	uint64_t	 nats_unsure;
	uint64_t	 commits;
	uint64_t	 late;		/* late knowledge delivered */
	uint64_t	 late_lost;	/* and given up */
	uint64_t	 stubs_refused;	/* resources for which there was no room at all */
};

struct submitter {
	struct worker	*w;
	struct spool	*spool;
	struct backlog	*backlog;	/* records not yet durable */
	struct relay	*relay;
	struct seen	*seen;
	struct ask	*ask;
	struct denial	*denial;
	struct resync	*resync;
	struct sync	*sync;
	struct backfill	*backfill;
	struct standby	*standby;
	struct nodes	*nodes;
	struct late	*late;
	struct event	*age;		/* of tombstones */
	struct names	*names;
	struct topology	*topology;
	struct payload	*payload;	/* in force */
	struct rest	*rest;
	struct nats	*nats;		/* NULL = not in use */
	enum backend	 backend;
	int		 backend_told;	/* 0: assumed */
	int		 backend_pinned;
	struct counters	 n;
	struct log_limit said_closed;
	struct log_limit said_wrong;
	struct run_key	 early[SKIPS_MAX];	/* set aside before the spool was open */
	unsigned	 n_early;
	/* built by conf_check, not in force */
	struct payload	*next_payload;
	struct rest_conf *next_rest;
	struct nats_conf *next_nats;
};

/* timers.c */

/* A timer of the worker's loop; NULL on memory. */
struct event *submitter_timer(struct submitter *s, event_callback_fn fn,
    void *arg);
/* (Re)sets a one-shot timer; ms < 0 stops it. */
void submitter_after(struct event *timer, int64_t ms);

/* main.c */

/* ms spread over [ms/2, ms], so that many do not come at once. */
int64_t submitter_jitter(int64_t ms);

/* backlog.c: records on their way from the collector into the spool */
struct backlog *backlog_new(struct submitter *s);
void backlog_free(struct backlog *b);
/* A collector is there (NULL: gone): what came from the old one is not acknowledged any more. */
void backlog_peer(struct backlog *b, struct channel *c);
/* record, mark, denied. */
void backlog_frame(struct backlog *b, const struct msg_header *h,
    struct reader *r);
/* A run that must not be read. */
void backlog_skip(struct backlog *b, const struct run_key *key);
/* Something was changed in the spool: commit soon. */
void backlog_touch(struct backlog *b);
/* Commits now and acknowledges: 0 or -1. */
int backlog_flush(struct backlog *b);
/* 1 while the disk takes nothing. */
int backlog_stuck(const struct backlog *b);
/* 1 when records go into the spool, and are not held. */
int backlog_has_room(const struct backlog *b);
/* Now and then: the reserve for a full disk. */
void backlog_upkeep(struct backlog *b);
void backlog_status(struct backlog *b, uint64_t request);

/* backlog_open.c: cursors and the keys of open runs, to a new collector. */
void backlog_tell(struct spool *sp, struct channel *c);
/* One more run that has no end yet; c may be NULL. */
void backlog_tell_run(struct channel *c, const struct run_key *key);

/* relay.c: what is due goes out */
struct relay *relay_new(struct submitter *s);
void relay_free(struct relay *r);
/* New configuration: opens or shuts the gate. */
void relay_conf(struct relay *r);
/* Something may be due. */
void relay_kick(struct relay *r);
/* 1 when requests may go out. */
int relay_open(const struct relay *r);
/* 1 when cc-backend answers, so that it can be listed. */
int relay_reaches(const struct relay *r);
/* An answer to someone else's request told that too. */
void relay_told(struct relay *r, const struct verdict *v);
/* The start of this run is known to be taken: the row moves on and is saved. */
void relay_taken(struct relay *r, struct spool_run *run, int seen);
/* Refused for good: logs, keeps the reason, releases what waits behind. */
void relay_refuse(struct relay *r, struct spool_run *run, enum dest dest,
    const char *reason);
/* A commit failed: what the rows say is older than what was done. */
void relay_rolled_back(struct relay *r);
void relay_status(struct relay *r, uint64_t request);

/* 1 when it is open, and nothing is under way or due by REST. */
int relay_idle(const struct relay *r);

/* relay_nats.c: the same towards NATS */
void relay_nats_kick(struct submitter *s);
/* Takes nc; the first one makes the connection. */
void relay_nats_use(struct submitter *s, struct nats_conf *nc);

/* seen.c: which starts are committed */
struct seen *seen_new(struct submitter *s);
void seen_free(struct seen *n);
/* A run waits to be seen, or for an ask-back. */
void seen_kick(struct seen *n);
/* A row was shown as running in a listing begun at asked. */
void seen_row(struct seen *n, struct spool_run *run, int64_t asked);

/* ask.c: starts refused as doubles */
struct ask *ask_new(struct submitter *s);
void ask_free(struct ask *k);
void ask_kick(struct ask *k);

/* closed.c: runs that another hand has closed in cc-backend */
/* row shows how: agrees with Slurm and is done, or is kept for an admin. */
void closed_judge(struct submitter *s, struct spool_run *run,
    const struct listed *row);
/* cc-backend holds it, stopped and without its file (why): kept for an admin. */
void closed_damaged(struct submitter *s, struct spool_run *run,
    const char *why);
/* Nobody can tell how it was closed: it is done. */
void closed_unknown(struct submitter *s, struct spool_run *run);
/*
 * Tells the tool of those that are kept, and with CTL_REPAIR, unless it is a
 * dry run, begins to mend them.  How many are or would be mended.
 */
unsigned closed_mend(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

/* late.c: late knowledge */
struct late *late_new(struct submitter *s);
void late_free(struct late *l);
/* Nothing more urgent is there. */
void late_kick(struct late *l);
/* This run's stop is delivered: what its start could not tell is owed. */
void late_end(struct late *l, const struct spool_run *run);
/* If this run was refused for good, the one that is shown gets a message, once. */
void late_sister(struct late *l, struct spool_run *refused);

/* resync.c: cc-backend's running jobs against ours */
struct resync *resync_new(struct submitter *s);
void resync_free(struct resync *r);
void resync_conf(struct resync *r);
/* The gate opened: topology if it is old, first round if there was none. */
void resync_open(struct resync *r);
/*
 * A round now.  request != 0: rows go to ctl.  dry: nothing is changed.
 * force: denied runs are ended, however many.  repair: runs found open there
 * after their stop are stopped again.
 */
void resync_now(struct resync *r, uint64_t request, int dry, int force,
    int repair);
/* A collector is there: what nobody could be asked for is asked now. */
void resync_peer(struct resync *r);
void resync_status(struct resync *r, uint64_t request);

/*
 * The same within what sync wants (see sync.h), which is told of each run and
 * of the end.  NULL, or why it cannot be done now: then nothing is told.
 */
const char *resync_confined(struct resync *r, struct sync *sync, int dry,
    int force);

/* resync_ask.c: Slurm is asked for the runs in doubt; *number counts the questions. */
void resync_ask(struct submitter *s, uint64_t *number);

/* resync_topology.c */
/* cc-backend's clusters: taken and kept for the next start.  0 or -1. */
int resync_topology(struct submitter *s, const struct answer *a);
/* The topology that the last process left in the spool. */
void resync_topology_load(struct submitter *s);

/* denial.c: runs that Slurm denies */
struct denial *denial_new(struct submitter *s);
void denial_free(struct denial *k);
void denial_take(struct denial *k, const struct run_key *key);
/* An admin says that they are gone, however many. */
void denial_force(struct denial *k);
void denial_status(struct denial *k, uint64_t request);

/* nodes.c: node states */
struct nodes *nodes_new(struct submitter *s);
void nodes_free(struct nodes *n);
void nodes_frame(struct nodes *n, struct channel *c, struct reader *r);
/* Another cc-backend, perhaps: node states are tried again. */
void nodes_kick(struct nodes *n);
void nodes_status(struct nodes *n, uint64_t request);

/* verbs.c: ctl */
void verbs_on_ctl(struct worker *w, uint64_t request,
    const struct ctl_request *req);
/* All refused runs are due again: how many. */
unsigned verbs_retry_all(struct submitter *s);

/* verbs_spool.c: one step of check, export or import */
void verbs_spool(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

#endif
