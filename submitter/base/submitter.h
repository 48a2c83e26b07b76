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

struct conflict;
struct backfill;
struct intake;
struct missing_runs;
struct rest_delivery;
struct reconcile;
struct commit_check;
struct failover;
struct sync;
struct node_states;
struct meta_delivery;

#define QUARANTINE_MAX	64	/* runs that workers died on twice; more is no accident */

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
	uint64_t	 meta;		/* late knowledge delivered */
	uint64_t	 meta_dropped;	/* and given up */
	uint64_t	 resources_refused;	/* resources for which there was no room at all */
};

struct submitter {
	struct worker	*w;
	struct spool	*spool;
	struct intake	*intake;	/* records not yet durable */
	struct rest_delivery	*delivery;
	struct commit_check	*commit_check;
	struct conflict	*conflict;
	struct missing_runs	*missing;
	struct reconcile	*reconcile;
	struct sync	*sync;
	struct backfill	*backfill;
	struct failover	*failover;
	struct node_states	*nodes;
	struct meta_delivery	*meta;
	struct event	*age;		/* of tombstones */
	struct resolver	*resolver;
	struct topology	*topology;
	struct payload	*payload;	/* in force */
	struct http_client	*http;
	struct nats	*nats;		/* NULL = not in use */
	enum backend	 backend;
	int		 backend_told;	/* 0: assumed */
	int		 backend_pinned;
	struct counters	 n;
	struct log_limit said_closed;
	struct log_limit said_wrong;
	struct run_key	 early[QUARANTINE_MAX];	/* set aside before the spool was open */
	unsigned	 n_early;
	/* built by conf_check, not in force */
	struct payload	*next_payload;
	struct http_conf *next_http;
	struct nats_conf *next_nats;
};

/* timers.c */

/* A timer of the worker's loop; NULL on memory. */
struct event *timer_new(struct submitter *s, event_callback_fn fn,
    void *arg);
/* (Re)sets a one-shot timer; ms < 0 stops it. */
void timer_after(struct event *timer, int64_t ms);

/* main.c */

/* ms spread over [ms/2, ms], so that many do not come at once. */
int64_t timer_jitter(int64_t ms);

/* backlog.c: records on their way from the collector into the spool */
struct intake *intake_new(struct submitter *s);
void intake_free(struct intake *b);
/* A collector is there (NULL: gone): what came from the old one is not acknowledged any more. */
void intake_peer(struct intake *b, struct channel *c);
/* record, mark, denied. */
void intake_receive(struct intake *b, const struct msg_header *h,
    struct reader *r);
/* A run that must not be read. */
void intake_quarantine(struct intake *b, const struct run_key *key);
/* Something was changed in the spool: commit soon. */
void commit_soon(struct intake *b);
/* Commits now and acknowledges: 0 or -1. */
int commit_now(struct intake *b);
/* 1 while the disk takes nothing. */
int commit_is_stuck(const struct intake *b);
/* 1 when records go into the spool, and are not held. */
int intake_has_room(const struct intake *b);
/* Now and then: the reserve for a full disk. */
void intake_upkeep(struct intake *b);
void intake_status(struct intake *b, uint64_t request);

/* backlog_open.c: cursors and the keys of open runs, to a new collector. */
void snapshot_send(struct spool *sp, struct channel *c);
/* One more run that has no end yet; c may be NULL. */
void snapshot_send_run(struct channel *c, const struct run_key *key);

/* relay.c: what is due goes out */
struct rest_delivery *rest_delivery_new(struct submitter *s);
void rest_delivery_free(struct rest_delivery *r);
/* New configuration: opens or shuts the gate. */
void rest_delivery_conf(struct rest_delivery *r);
/* Something may be due. */
void rest_delivery_kick(struct rest_delivery *r);
/* 1 when requests may go out. */
int breaker_allows(const struct rest_delivery *r);
/* 1 when cc-backend answers, so that it can be listed. */
int breaker_reaches(const struct rest_delivery *r);
/* An answer to someone else's request told that too. */
void breaker_told(struct rest_delivery *r, const struct result *v);
/* The start of this run is known to be taken: the row moves on and is saved. */
void run_start_accepted(struct rest_delivery *r, struct spool_run *run, int seen);
/* Refused for good: logs, keeps the reason, releases what waits behind. */
void run_reject(struct rest_delivery *r, struct spool_run *run, enum dest dest,
    const char *reason);
/* A commit failed: what the rows say is older than what was done. */
void rest_delivery_rolled_back(struct rest_delivery *r);
void rest_delivery_status(struct rest_delivery *r, uint64_t request);

/* 1 when it is open, and nothing is under way or due by REST. */
int rest_delivery_idle(const struct rest_delivery *r);

/* relay_nats.c: the same towards NATS */
void nats_delivery_kick(struct submitter *s);
/* Takes nc; the first one makes the connection. */
void nats_delivery_conf(struct submitter *s, struct nats_conf *nc);

/* seen.c: which starts are committed */
struct commit_check *commit_check_new(struct submitter *s);
void commit_check_free(struct commit_check *n);
/* A run waits to be seen, or for an ask-back. */
void commit_check_kick(struct commit_check *n);
/* A row was shown as running in a listing begun at asked. */
void commit_seen(struct commit_check *n, struct spool_run *run, int64_t asked);

/* ask.c: starts refused as doubles */
struct conflict *conflict_new(struct submitter *s);
void conflict_free(struct conflict *k);
void conflict_kick(struct conflict *k);

/* closed.c: runs that another hand has closed in cc-backend */
/* row shows how: agrees with Slurm and is done, or is kept for an admin. */
void foreign_stop_compare(struct submitter *s, struct spool_run *run,
    const struct backend_job *row);
/* cc-backend holds it, stopped and without its file (why): kept for an admin. */
void foreign_stop_damaged(struct submitter *s, struct spool_run *run,
    const char *why);
/* Nobody can tell how it was closed: it is done. */
void foreign_stop_unknown(struct submitter *s, struct spool_run *run);
/*
 * Tells the tool of those that are kept, and with CTL_REPAIR, unless it is a
 * dry run, begins to mend them.  How many are or would be mended.
 */
unsigned foreign_stop_repair(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

/* late.c: late knowledge */
struct meta_delivery *meta_delivery_new(struct submitter *s);
void meta_delivery_free(struct meta_delivery *l);
/* Nothing more urgent is there. */
void meta_delivery_kick(struct meta_delivery *l);
/* This run's stop is delivered: what its start could not tell is owed. */
void meta_after_stop(struct meta_delivery *l, const struct spool_run *run);
/* If this run was refused for good, the one that is shown gets a message, once. */
void meta_note_sibling(struct meta_delivery *l, struct spool_run *refused);

/* resync.c: cc-backend's running jobs against ours */
struct reconcile *reconcile_new(struct submitter *s);
void reconcile_free(struct reconcile *r);
void reconcile_conf(struct reconcile *r);
/* The gate opened: topology if it is old, first round if there was none. */
void reconcile_backend_up(struct reconcile *r);
/*
 * A round now.  request != 0: rows go to ctl.  dry: nothing is changed.
 * force: denied runs are ended, however many.  repair: runs found open there
 * after their stop are stopped again.
 */
void reconcile_begin(struct reconcile *r, uint64_t request, int dry, int force,
    int repair);
/* A collector is there: what nobody could be asked for is asked now. */
void reconcile_peer(struct reconcile *r);
void reconcile_status(struct reconcile *r, uint64_t request);

/*
 * The same within what sync wants (see sync.h), which is told of each run and
 * of the end.  NULL, or why it cannot be done now: then nothing is told.
 */
const char *reconcile_filtered(struct reconcile *r, struct sync *sync, int dry,
    int force);

/* lookup_send.c: Slurm is asked for the runs in doubt; *number counts the questions. */
void lookup_send(struct submitter *s, uint64_t *number);

/* topology_cache_store.c */
/* cc-backend's clusters: taken and kept for the next start.  0 or -1. */
int topology_cache_store(struct submitter *s, const struct http_answer *a);
/* The topology that the last process left in the spool. */
void topology_cache_load(struct submitter *s);

/* denial.c: runs that Slurm denies */
struct missing_runs *missing_runs_new(struct submitter *s);
void missing_runs_free(struct missing_runs *k);
void missing_report(struct missing_runs *k, const struct run_key *key);
/* An admin says that they are gone, however many. */
void missing_runs_force(struct missing_runs *k);
void missing_runs_status(struct missing_runs *k, uint64_t request);

/* nodes.c: node states */
struct node_states *node_states_new(struct submitter *s);
void node_states_free(struct node_states *n);
void node_states_frame(struct node_states *n, struct channel *c, struct reader *r);
/* Another cc-backend, perhaps: node states are tried again. */
void node_states_kick(struct node_states *n);
void node_states_status(struct node_states *n, uint64_t request);

/* verbs.c: ctl */
void ctl_on_request(struct worker *w, uint64_t request,
    const struct ctl_request *req);
/* All refused runs are due again: how many. */
unsigned ctl_retry_all(struct submitter *s);

/* ctl_spool_step.c: one step of check, export or import */
void ctl_spool_step(struct submitter *s, uint64_t request,
    const struct ctl_request *req);

#endif
