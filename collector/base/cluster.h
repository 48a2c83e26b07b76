/* SPDX-License-Identifier: MIT */
/*
 * The collector: asks Slurm, makes records of the answers, hands them to the
 * submitter.  Three lanes ask at the same time, one command each: the poll
 * cycle and the hooks' lane ask slurmctld, the accounting lane asks slurmdbd;
 * job scripts are fetched beside them, a few at a time.
 *
 * All of that is about one cluster, and is what struct cluster holds: of
 * several clusters each has one, with its own cursor, waits and failures.
 * They meet in struct site alone: one configuration, one process that runs
 * commands, one queue towards the submitter.
 */
#ifndef COLLECTOR_BASE_CLUSTER_H
#define COLLECTOR_BASE_CLUSTER_H

#include <stdint.h>
#include <time.h>

#include "collector/base/settings.h"
#include "collector/base/tables.h"
#include "collector/parse/parse.h"
#include "collector/slurm/runner.h"
#include "collector/slurm/slurm.h"
#include "common/log.h"
#include "common/worker/worker.h"

struct cluster;
struct details;
struct site;
struct startup;

/* now.c */

/* Seconds, milliseconds of the monotonic clock; the wall clock. */
int64_t now_s(void);
int64_t now_ms(void);
int64_t now_wall(void);

/* What slurmctld's clock showed when it was asked last. */
struct slurm_clock {
	int64_t		 said;		/* epoch; 0 = never asked */
	int64_t		 at;		/* monotonic s of that */
};

/* It showed said, at that time of the monotonic clock. */
void slurm_clock_set(struct slurm_clock *k, int64_t said, int64_t at);
/* What it shows at that time; wall = ours, until it was asked. */
int64_t slurm_clock_at(const struct slurm_clock *k, int64_t at, int64_t wall);
/* What it shows now, epoch: no step of our clock is in it. */
int64_t slurm_now(const struct cluster *c);

/* out.c: records on their way to the submitter */

struct outbox;

/* One queue for all clusters: its window is what the submitter can take. */
struct outbox *outbox_new(struct site *site);
/*
 * Each returns the order number of what was queued, 0 on error.  What is
 * queued is kept until the submitter has stored it.
 */
uint64_t outbox_record(struct outbox *o, const struct job *job);
uint64_t outbox_watermark(struct outbox *o, struct cluster *c, int64_t until);
/* The past range that was asked for is answered up to its end. */
uint64_t outbox_backfilled(struct outbox *o, const struct cluster *c,
    int64_t until);
uint64_t outbox_not_found(struct outbox *o, const struct cluster *c,
    uint64_t lookup,
    const struct run_key *keys, uint32_t n);
/* States of nodes, which are not kept: 0, or -1 when it cannot take them now. */
int outbox_nodes(struct outbox *o, const struct writer *w);
/* A new submitter, or none: everything goes again once it is released. */
void outbox_peer(struct outbox *o, struct channel *peer);
void outbox_release(struct outbox *o);
void outbox_acked(struct outbox *o, uint64_t seq);
void outbox_drained(struct outbox *o);
/* The submitter is behind; no more ended runs, for it may hold those back as well. */
int outbox_behind(const struct outbox *o);
int outbox_full(const struct outbox *o);
void outbox_flow(struct outbox *o, int pause);
/* Everything up to this order number is durable. */
uint64_t outbox_durable(const struct outbox *o);
/* Of what was queued last. */
uint64_t outbox_order(const struct outbox *o);
unsigned outbox_waiting(const struct outbox *o);
/* Records since the beginning. */
uint64_t outbox_records(const struct outbox *o);

/* runs.c: what a sighting means */

/* As slurmctld shows it; may take from s.  Returns the order number of what went out, 0 = nothing. */
uint64_t track_snapshot(struct cluster *c, struct job_snapshot *s);
enum row_result { ROW_NOTHING, ROW_SENT, ROW_WANTS_DETAILS, ROW_WANTS_STEPS,
	ROW_FAILED };
/*
 * As accounting has it; may take from s.  may_ask: slurmctld may still know
 * its resources and can be asked first.
 */
enum row_result track_accounting_row(struct cluster *c, struct job_snapshot *s,
    int may_ask);
/* The same of a past range; look: nothing is remembered of it. */
enum row_result track_backfill_row(struct cluster *c, struct job_snapshot *s,
    int dry_run);
/* slurmctld shows it, in words that cannot be trusted: counts from accounting. */
uint64_t track_ambiguous(struct cluster *c, struct job_snapshot *s);
/* squeue shows that a held run runs: its start may go.  0, or -1 = later. */
int track_running(struct cluster *c, struct open_run *run);
/* Was this run set aside by the supervisor? */
int track_quarantined(const struct cluster *c, uint64_t job, int64_t start);

/* held.c: runs that nobody has seen running */

struct confirm;

struct confirm *confirm_new(struct cluster *c);
/* A hook spoke of this job while its prolog was running: squeue is asked soon. */
void confirm_want(struct confirm *h, uint64_t job);
void confirm_kick(struct confirm *h);
/* Is this row of squeue all that the start of a held run waited for? */
void confirm_row(struct cluster *c, const struct squeue_job *row);

/* details.c: resources, from slurmctld */

/* jobs of a poll: about what one answer's memory holds */
#define NEW_JOBS_MAX	32768

enum detail { DETAIL_UNSEEN, DETAIL_GOOD, DETAIL_AMBIGUOUS, DETAIL_LATER,
	DETAIL_UNKNOWN };

/*
 * done: what slurmctld showed has gone through track_snapshot(); when ok, the
 * question was answered, and details_verdict() tells by job.
 */
struct details *details_new(struct cluster *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg);
int details_busy(const struct details *d);
/* The jobs of the next question; 0, or -1 on memory. */
int details_want(struct details *d, uint64_t job);
size_t details_wanted(const struct details *d);
/* Asks: all jobs in one question, or each singly. */
void details_start(struct details *d, int all);
enum detail details_verdict(const struct details *d, uint64_t job);
/* The phase that a job with DETAIL_GOOD was seen in. */
enum slurm_phase details_phase(const struct details *d, uint64_t job);
/* Order number of the record that was made of it; 0 = none. */
uint64_t details_order(const struct details *d, uint64_t job);
void details_forget(struct details *d);
/* The submitter has room again. */
void details_resume(struct details *d);

/* cycle.c: the poll */

struct poll;

struct poll *poll_new(struct cluster *c);
void poll_start(struct poll *y);
/* slurmctld's clock, at start. */
void poll_clock(struct poll *y);
int poll_busy(const struct poll *y);
uint32_t poll_number(const struct poll *y);
/* Slurm's clock when the last question was asked that squeue has answered in full; 0 = never. */
int64_t poll_listed_at(const struct poll *y);
/* Jobs that slurmctld knew when it was asked last. */
size_t poll_jobs(const struct poll *y);
/* Accounting has no end of a job that left squeue: slurmctld is asked in the next cycle. */
void poll_want_left(struct poll *y, uint64_t job);
/* Details are wanted in this cycle or the next. */
void poll_want_details(struct poll *y);
/* This job's, after the listing that is being read. */
void poll_want_job(struct poll *y, uint64_t job);
void poll_resume(struct poll *y);

/* startup.c: who Slurm is, which shapes its nodes have, what we may see */

/* Goes on where it is: config, nodes, right, clock; then c->ready. */
void startup_kick(struct cluster *c);
/* The nodes again (an unknown host was met, or an hour has passed). */
void startup_nodes(struct cluster *c, void (*then)(void *arg), void *arg);
/* Slurm may be another one by now: its version and settings again. */
void startup_again(struct cluster *c);

/* right.c: may we see all jobs? */

enum permission { PERMISSION_UNKNOWN, PERMISSION_NONE, PERMISSION_OPERATOR,
    PERMISSION_INHERENT,
	PERMISSION_OPEN };

/* Asks; then() is called with 1 when the right was proved, maybe at once. */
void permission_check(struct cluster *c, void (*then)(struct cluster *c,
    int proved));
/* Was it proved since the cycle began, or is it beyond question? */
int permission_known(const struct cluster *c);
const char *permission_name(enum permission permission);

/* ledger.c: the accounting lane */

struct accounting;

struct accounting *acct_new(struct cluster *c);
/*
 * The range since the cursor.  may_check: in this cycle a command is left to
 * prove our right with, should the answer have no witness.
 */
void acct_poll(struct accounting *l, int may_check);
/* The last day once more. */
void acct_day(struct accounting *l);
/*
 * What ended in a past range, after all that is more urgent; a mark of its own
 * says that all of it has gone out.  look: it is not to be stored.  Replaces
 * what was asked before.  0, or -1 when the range is none.
 */
int acct_backfill(struct accounting *l, int64_t from, int64_t to, int dry_run);
/* Does a row of this job wait until its steps were asked for? */
int steps_waiting(const struct accounting *l, uint64_t job);
/*
 * slurmctld's clock shows this now.  Where it was set back, ends lie before
 * what was read: that is read anew from there on, and the last day at once.
 */
void acct_clock(struct accounting *l, int64_t clock);
/* A job to be asked for by id. */
void acct_want(struct accounting *l, uint64_t job);
void acct_kick(struct accounting *l);
/* Something urgent is being asked, or is to be; not while slurmdbd is away. */
int acct_busy(const struct accounting *l);
/* 1 while more than one question is needed to reach the present. */
int acct_catching_up(const struct accounting *l);
/* Jobs of rows that wait for slurmctld's word on their resources into d; and what became of them. */
void acct_details_wanted(struct accounting *l, struct details *d);
void acct_details_done(struct accounting *l, const struct details *d);
void acct_pause(struct accounting *l, int pause);

/* events.c: what hooks said */

struct hook_events;

struct hook_events *hook_events_new(struct cluster *c);
void hook_event_add(struct hook_events *e, uint64_t event, uint64_t job);
void hook_events_kick(struct hook_events *e);
void hook_events_resume(struct hook_events *e);
/* Accounting was asked about these jobs: what came of it. */
void hook_events_answered(struct hook_events *e, uint64_t job, int ended,
    int known);
/* Something became durable. */
void hook_events_durable(struct hook_events *e);
/* A new listener, or none: it will repeat what it has. */
void hook_events_forget(struct hook_events *e);
unsigned hook_events_waiting(const struct hook_events *e);

/* asks.c: what the submitter wants to know */

struct lookups;

struct lookups *lookup_new(struct cluster *c);
int lookup_add(struct lookups *a, struct reader *r);
/* Is this run asked for, so that nothing known of it is held back? */
int lookup_has(const struct lookups *a, uint64_t job, int64_t start);
/* squeue shows it in this cycle. */
void lookup_shown(struct lookups *a, uint64_t job, int64_t start);
/* squeue was answered in full, in this cycle; witnessed: with a run that was known before. */
void lookup_listed(struct lookups *a, int trusted);
/* The details of those that run have gone out. */
void lookup_detailed(struct lookups *a);
/* A row of accounting; its start becomes the one asked for, if that has moved. */
void lookup_row(struct lookups *a, struct job_snapshot *s);
/* Accounting was asked by id about job, in full; witnessed: its witness was in the answer. */
void lookup_accounted(struct lookups *a, uint64_t job, int trusted);
/* A new submitter asks anew. */
void lookup_forget(struct lookups *a);

/* active.c: does the controller beside us work? (activeOnly) */

struct controller_role;

struct controller_role *controller_role_new(struct site *site);
void controller_role_kick(struct controller_role *a);
/* A new submitter has to be told. */
void controller_role_peer(struct controller_role *a);
void controller_role_status(struct controller_role *a, uint64_t request);

/* survey.c: what Slurm has now, on request */

struct sync_report;

struct sync_report *sync_report_new(struct site *site);
/* `sync`: tells what differs, cluster by cluster, and, unless it is a dry run, has the lanes ask. */
void sync_report_begin(struct sync_report *v, uint64_t request,
    const struct ctl_request *req);

/* script.c: job scripts */

struct scripts;

struct scripts *scripts_new(struct cluster *c);
void scripts_want(struct scripts *s, const struct run_key *key,
    uint64_t array_job);
unsigned scripts_waiting(const struct scripts *s);

/* nodes.c: what the nodes do */

struct node_states;

struct node_states *node_states_new(struct cluster *c);
void node_states_kick(struct node_states *n);
/* A new submitter knows nothing of them. */
void node_states_peer(struct node_states *n);
size_t node_states_count(const struct node_states *n);
/* States handed over. */
uint64_t node_states_sent(const struct node_states *n);

/* plan.c: what is done when */

void sched_start(struct site *site);
/* Whichever lane may do something, does. */
void wake(struct cluster *c);
void sched_conf(struct cluster *c);
/* A round now, the last day included. */
void sched_poll_now(struct cluster *c);

/* resume.c: where to go on, as the spool knows */

/* A new submitter will say what it knows; it has said it. */
void resume_unsynced(struct site *site);
void resume_synced(struct site *site);
/* The cluster's name is known: which of the spool's cursors is ours. */
void resume_cluster(struct cluster *c);
/* A run that is open in the spool; held: its start waits to be confirmed. */
void resume_open(struct site *site, const struct run_key *key, int unconfirmed);
/* A mark became durable: the last-run file follows. */
void resume_advanced(struct cluster *c, int64_t until);

/* site.c: the clusters */

/* The first one, until the configuration tells of more. */
void site_init(struct site *site, struct worker *w);
/* The clusters of the first configuration. */
void site_clusters(struct site *site);
/*
 * Whose name this is, "" = that of the local one; NULL when none of the
 * clusters is called so.  A cluster that is not known yet may be it.
 */
struct cluster *site_find(struct site *site, const char *cluster);
/* " of NAME" where there are several clusters, else "". */
const char *cluster_suffix(const struct cluster *c);
/* The local cluster's name is known now. */
void site_local(struct site *site, const char *cluster);

/* status.c */

void status_rows(struct site *site, uint64_t request);
void status_metrics(struct site *site, uint64_t request);

#define QUARANTINED_MAX	256	/* runs set aside by the supervisor */
#define RESUME_POINTS_MAX	16	/* clusters in one spool */

struct resume_point {
	char	cluster[CLUSTER_MAX];
	int64_t	until;
};

/* An open run that the spool told before its cluster was known. */
struct unassigned_run {
	struct run_key	key;
	int		unconfirmed;
};

/* What is asked of one cluster, and known of it. */
struct cluster {
	struct site	*site;
	struct worker	*w;		/* the site's, as the next three */
	struct runner	*runner;
	struct settings	*set;
	struct outbox	*outbox;
	char		 name[CLUSTER_MAX];	/* of `clusters`; "" = the local one */
	int		 by_name;	/* commands are told which cluster */
	char		 of_name[CLUSTER_MAX + 8]; /* see cluster_suffix() */
	struct slurm	 slurm;
	struct hosts	*hosts;
	struct health	 ctld;
	struct health	 dbd;
	struct rate_limit rate_limit;
	struct open_runs open;
	struct done_runs done;
	struct poll	*poll;
	struct accounting *accounting;
	struct hook_events *hook_events;
	struct lookups	*lookups;
	struct scripts	*scripts;
	struct confirm	*confirm;
	struct node_states *node_states;
	enum permission	 permission;
	uint32_t	 permission_poll;	/* it was proved in */
	struct permission_check *permission_check; /* the question for it */
	struct startup	*startup;
	int		 ready;		/* Slurm's configuration and nodes are known */
	int		 synced;	/* the submitter has said what it knows */
	int64_t		 resume_point;	/* the spool's; 0 = none */
	/* the last one that is durable; 0 = none */
	int64_t		 resume_durable;
	int64_t		 clock;		/* slurmctld's, when its queue to slurmdbd was empty; 0 */
	struct slurm_clock slurm_clock;	/* what it shows */
	int		 clock_works;	/* sdiag says what it should */
	int		 clock_tried;
	struct idmap	 ambiguous;	/* jobs whose texts are ambiguous */
	struct log_limit contradicted;	/* ends that squeue does not agree with */
	int64_t		 began;		/* monotonic s: this process */
	int		 caught_up;	/* accounting was read once up to now */
	struct idmap	 earlier;	/* jobs whose earlier runs it shall tell first */
	int64_t		 poll_at;	/* monotonic ms: the next one */
	int64_t		 polled;	/* wall clock of the last */
	int64_t		 hosts_at;	/* monotonic s: shapes were read */
	int64_t		 day_at;	/* monotonic s: the day was read again */
	uint64_t	 skipped_seconds;	/* beyond slurmQueryMaxSpan */
	uint64_t	 rows_read;
	uint32_t	 sacct_reported;	/* sacct_lacking, of which the log has an entry */
	int		 trim;		/* much memory was used: give it back when idle */
	char		 last_error[256];
};

#define SITE_CLUSTERS	16	/* the key `clusters` has no more */

struct site {
	struct worker	*w;
	struct runner	*runner;
	struct settings	*set;
	struct settings	*next_set;	/* checked, not yet in force */
	struct settings	*retired;	/* questions may still read with them */
	struct outbox	*outbox;
	struct cluster *clusters[SITE_CLUSTERS];	/* owned */
	unsigned	 n;		/* at least one */
	char		 local[CLUSTER_MAX];	/* slurm.conf's; "" = not known yet */
	int		 synced;
	struct resume_point	 resume_points[RESUME_POINTS_MAX];
	unsigned	 n_resume_points;
	/* owned: open runs said before the cluster is known */
	struct unassigned_run	*unassigned;
	size_t		 n_unassigned;
	size_t		 cap_unassigned;
	int		 lastrun;	/* -1, or the descriptor */
	struct event	*kick_timer;
	struct sync_report *sync_report;
	struct controller_role *controller_role;
	struct run_key	 quarantined[QUARANTINED_MAX];
	unsigned	 n_quarantined;
};

#endif
