/* SPDX-License-Identifier: MIT */
/*
 * The collector: asks Slurm, makes records of the answers, hands them to the
 * submitter.  Three lanes ask at the same time, one command each: the poll
 * cycle and the hooks' lane ask slurmctld, the accounting lane asks slurmdbd;
 * job scripts are fetched beside them, a few at a time.
 *
 * All of that is about one cluster, and is what struct collector holds: of
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

struct collector;
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
int64_t slurm_now(const struct collector *c);

/* out.c: records on their way to the submitter */

struct out;

/* One queue for all clusters: its window is what the submitter can take. */
struct out *out_new(struct site *site);
/*
 * Each returns the order number of what was queued, 0 on error.  What is
 * queued is kept until the submitter has stored it.
 */
uint64_t out_record(struct out *o, const struct job *job);
uint64_t out_mark(struct out *o, struct collector *c, int64_t until);
/* The past range that was asked for is answered up to its end. */
uint64_t out_backfilled(struct out *o, const struct collector *c,
    int64_t until);
uint64_t out_denied(struct out *o, const struct collector *c, uint64_t ask,
    const struct run_key *keys, uint32_t n);
/* States of nodes, which are not kept: 0, or -1 when it cannot take them now. */
int out_nodes(struct out *o, const struct writer *w);
/* A new submitter, or none: everything goes again once it is released. */
void out_peer(struct out *o, struct channel *peer);
void out_release(struct out *o);
void out_stored(struct out *o, uint64_t seq);
void out_drained(struct out *o);
/* The submitter is behind; no more ended runs, for it may hold those back as well. */
int out_behind(const struct out *o);
int out_full(const struct out *o);
void out_flow(struct out *o, int hold);
/* Everything up to this order number is durable. */
uint64_t out_durable(const struct out *o);
/* Of what was queued last. */
uint64_t out_order(const struct out *o);
unsigned out_waiting(const struct out *o);
/* Records since the beginning. */
uint64_t out_records(const struct out *o);

/* runs.c: what a sighting means */

/* As slurmctld shows it; may take from s.  Returns the order number of what went out, 0 = nothing. */
uint64_t run_sighted(struct collector *c, struct sighting *s);
enum accounted { ROW_NOTHING, ROW_SENT, ROW_WANTS_DETAILS, ROW_WANTS_STEPS,
	ROW_FAILED };
/*
 * As accounting has it; may take from s.  may_ask: slurmctld may still know
 * its resources and can be asked first.
 */
enum accounted run_accounted(struct collector *c, struct sighting *s,
    int may_ask);
/* The same of a past range; look: nothing is remembered of it. */
enum accounted run_past(struct collector *c, struct sighting *s, int look);
/* slurmctld shows it, in words that cannot be trusted: counts from accounting. */
uint64_t run_doubtful(struct collector *c, struct sighting *s);
/* squeue shows that a held run runs: its start may go.  0, or -1 = later. */
int run_confirmed(struct collector *c, struct open_run *run);
/* Was this run set aside by the supervisor? */
int run_skipped(const struct collector *c, uint64_t job, int64_t start);

/* held.c: runs that nobody has seen running */

struct held;

struct held *held_new(struct collector *c);
/* A hook spoke of this job while its prolog was running: squeue is asked soon. */
void held_want(struct held *h, uint64_t job);
void held_kick(struct held *h);
/* Is this row of squeue all that the start of a held run waited for? */
void held_row(struct collector *c, const struct listed *row);

/* details.c: resources, from slurmctld */

#define NEWS_MAX	32768	/* jobs of a poll: about what one answer's memory holds */

enum detail { DETAIL_UNSEEN, DETAIL_GOOD, DETAIL_AMBIGUOUS, DETAIL_LATER,
	DETAIL_UNKNOWN };

/*
 * done: what slurmctld showed has gone through run_sighted(); when ok, the
 * question was answered, and details_verdict() tells by job.
 */
struct details *details_new(struct collector *c,
    void (*done)(struct details *d, int ok, void *arg), void *arg);
int details_busy(const struct details *d);
/* The jobs of the next question; 0, or -1 on memory. */
int details_want(struct details *d, uint64_t job);
size_t details_wanted(const struct details *d);
/* Asks: all jobs in one question, or each singly. */
void details_start(struct details *d, int all);
enum detail details_verdict(const struct details *d, uint64_t job);
/* The phase that a job with DETAIL_GOOD was seen in. */
enum phase details_phase(const struct details *d, uint64_t job);
/* Order number of the record that was made of it; 0 = none. */
uint64_t details_order(const struct details *d, uint64_t job);
void details_forget(struct details *d);
/* The submitter has room again. */
void details_resume(struct details *d);

/* cycle.c: the poll */

struct cycle;

struct cycle *cycle_new(struct collector *c);
void cycle_poll(struct cycle *y);
/* slurmctld's clock, at start. */
void cycle_clock(struct cycle *y);
int cycle_busy(const struct cycle *y);
uint32_t cycle_number(const struct cycle *y);
/* Slurm's clock when the last question was asked that squeue has answered in full; 0 = never. */
int64_t cycle_listed_at(const struct cycle *y);
/* Jobs that slurmctld knew when it was asked last. */
size_t cycle_jobs(const struct cycle *y);
/* Accounting has no end of a job that left squeue: slurmctld is asked in the next cycle. */
void cycle_left(struct cycle *y, uint64_t job);
/* Details are wanted in this cycle or the next. */
void cycle_want_details(struct cycle *y);
/* This job's, after the listing that is being read. */
void cycle_want_job(struct cycle *y, uint64_t job);
void cycle_resume(struct cycle *y);

/* startup.c: who Slurm is, which shapes its nodes have, what we may see */

/* Goes on where it is: config, nodes, right, clock; then c->ready. */
void startup_kick(struct collector *c);
/* The nodes again (an unknown host was met, or an hour has passed). */
void startup_nodes(struct collector *c, void (*then)(void *arg), void *arg);
/* Slurm may be another one by now: its version and settings again. */
void startup_again(struct collector *c);

/* right.c: may we see all jobs? */

enum right { RIGHT_UNKNOWN, RIGHT_NONE, RIGHT_OPERATOR, RIGHT_INHERENT,
	RIGHT_OPEN };

/* Asks; then() is called with 1 when the right was proved, maybe at once. */
void right_prove(struct collector *c, void (*then)(struct collector *c,
    int proved));
/* Was it proved since the cycle began, or is it beyond question? */
int right_sure(const struct collector *c);
const char *right_name(enum right right);

/* ledger.c: the accounting lane */

struct ledger;

struct ledger *ledger_new(struct collector *c);
/*
 * The range since the cursor.  may_prove: in this cycle a command is left to
 * prove our right with, should the answer have no witness.
 */
void ledger_range(struct ledger *l, int may_prove);
/* The last day once more. */
void ledger_day(struct ledger *l);
/*
 * What ended in a past range, after all that is more urgent; a mark of its own
 * says that all of it has gone out.  look: it is not to be stored.  Replaces
 * what was asked before.  0, or -1 when the range is none.
 */
int ledger_backfill(struct ledger *l, int64_t from, int64_t to, int look);
/* Does a row of this job wait until its steps were asked for? */
int steps_waiting(const struct ledger *l, uint64_t job);
/*
 * slurmctld's clock shows this now.  Where it was set back, ends lie before
 * what was read: that is read anew from there on, and the last day at once.
 */
void ledger_clock(struct ledger *l, int64_t clock);
/* A job to be asked for by id. */
void ledger_want(struct ledger *l, uint64_t job);
void ledger_kick(struct ledger *l);
/* Something urgent is being asked, or is to be; not while slurmdbd is away. */
int ledger_busy(const struct ledger *l);
/* 1 while more than one question is needed to reach the present. */
int ledger_catching_up(const struct ledger *l);
/* Jobs of rows that wait for slurmctld's word on their resources into d; and what became of them. */
void ledger_details_wanted(struct ledger *l, struct details *d);
void ledger_details_done(struct ledger *l, const struct details *d);
void ledger_hold(struct ledger *l, int hold);

/* events.c: what hooks said */

struct events;

struct events *events_new(struct collector *c);
void events_note(struct events *e, uint64_t event, uint64_t job);
void events_kick(struct events *e);
void events_resume(struct events *e);
/* Accounting was asked about these jobs: what came of it. */
void events_accounted(struct events *e, uint64_t job, int ended, int known);
/* Something became durable. */
void events_stored(struct events *e);
/* A new listener, or none: it will repeat what it has. */
void events_forget(struct events *e);
unsigned events_waiting(const struct events *e);

/* asks.c: what the submitter wants to know */

struct asks;

struct asks *asks_new(struct collector *c);
int asks_note(struct asks *a, struct reader *r);
/* Is this run asked for, so that nothing known of it is held back? */
int asks_has(const struct asks *a, uint64_t job, int64_t start);
/* squeue shows it in this cycle. */
void asks_shown(struct asks *a, uint64_t job, int64_t start);
/* squeue was answered in full, in this cycle; witnessed: with a run that was known before. */
void asks_listed(struct asks *a, int witnessed);
/* The details of those that run have gone out. */
void asks_detailed(struct asks *a);
/* A row of accounting; its start becomes the one asked for, if that has moved. */
void asks_row(struct asks *a, struct sighting *s);
/* Accounting was asked by id about job, in full; witnessed: its witness was in the answer. */
void asks_accounted(struct asks *a, uint64_t job, int witnessed);
/* A new submitter asks anew. */
void asks_forget(struct asks *a);

/* active.c: does the controller beside us work? (activeOnly) */

struct active;

struct active *active_new(struct site *site);
void active_kick(struct active *a);
/* A new submitter has to be told. */
void active_peer(struct active *a);
void active_status(struct active *a, uint64_t request);

/* survey.c: what Slurm has now, on request */

struct survey;

struct survey *survey_new(struct site *site);
/* `sync`: tells what differs, cluster by cluster, and, unless it is a dry run, has the lanes ask. */
void survey_begin(struct survey *v, uint64_t request,
    const struct ctl_request *req);

/* script.c: job scripts */

struct scripts;

struct scripts *scripts_new(struct collector *c);
void scripts_want(struct scripts *s, const struct run_key *key,
    uint64_t array_job);
unsigned scripts_waiting(const struct scripts *s);

/* nodes.c: what the nodes do */

struct nodes;

struct nodes *nodes_new(struct collector *c);
void nodes_kick(struct nodes *n);
/* A new submitter knows nothing of them. */
void nodes_peer(struct nodes *n);
size_t nodes_count(const struct nodes *n);
/* States handed over. */
uint64_t nodes_sent(const struct nodes *n);

/* plan.c: what is done when */

void plan_start(struct site *site);
/* Whichever lane may do something, does. */
void plan_kick(struct collector *c);
void plan_conf(struct collector *c);
/* A round now, the last day included. */
void plan_sync(struct collector *c);

/* resume.c: where to go on, as the spool knows */

/* A new submitter will say what it knows; it has said it. */
void resume_unsynced(struct site *site);
void resume_synced(struct site *site);
/* The cluster's name is known: which of the spool's cursors is ours. */
void resume_cluster(struct collector *c);
/* A run that is open in the spool; held: its start waits to be confirmed. */
void resume_open(struct site *site, const struct run_key *key, int held);
/* A mark became durable: the last-run file follows. */
void resume_cursor(struct collector *c, int64_t until);

/* site.c: the clusters */

/* The first one, until the configuration tells of more. */
void site_init(struct site *site, struct worker *w);
/* The clusters of the first configuration. */
void site_clusters(struct site *site);
/*
 * Whose name this is, "" = that of the local one; NULL when none of the
 * clusters is called so.  A cluster that is not known yet may be it.
 */
struct collector *site_find(struct site *site, const char *cluster);
/* " of NAME" where there are several clusters, else "". */
const char *site_of(const struct collector *c);
/* The local cluster's name is known now. */
void site_local(struct site *site, const char *cluster);

/* status.c */

void status_rows(struct site *site, uint64_t request);
void status_metrics(struct site *site, uint64_t request);

#define SKIPS_MAX	256	/* runs set aside by the supervisor */
#define LACKING_MAX	64	/* fields that are named */
#define CURSORS_MAX	16	/* clusters in one spool */

struct cursor {
	char	cluster[CLUSTER_MAX];
	int64_t	until;
};

/* An open run that the spool told before its cluster was known. */
struct early {
	struct run_key	key;
	int		held;
};

/* What is asked of one cluster, and known of it. */
struct collector {
	struct site	*site;
	struct worker	*w;		/* the site's, as the next three */
	struct runner	*runner;
	struct settings	*set;
	struct out	*out;
	char		 name[CLUSTER_MAX];	/* of `clusters`; "" = the local one */
	int		 by_name;	/* commands are told which cluster */
	char		 of_name[CLUSTER_MAX + 8];	/* see site_of() */
	struct slurm	 slurm;
	struct hosts	*hosts;
	struct health	 ctld;
	struct health	 dbd;
	struct limit	 limit;
	struct open_runs open;
	struct done_runs done;
	struct cycle	*cycle;
	struct ledger	*ledger;
	struct events	*events;
	struct asks	*asks;
	struct scripts	*scripts;
	struct held	*held;
	struct nodes	*nodes;
	enum right	 right;
	uint32_t	 right_cycle;	/* it was proved in */
	struct proof	*proof;		/* the question for it */
	struct startup	*startup;
	int		 ready;		/* Slurm's configuration and nodes are known */
	int		 synced;	/* the submitter has said what it knows */
	int64_t		 cursor;	/* the spool's; 0 = none */
	int64_t		 marked;	/* the last one that is durable; 0 = none */
	int64_t		 clock;		/* slurmctld's, when its queue to slurmdbd was empty; 0 */
	struct slurm_clock slurm_clock;	/* what it shows */
	int		 clock_works;	/* sdiag says what it should */
	int		 clock_tried;
	struct idmap	 doubtful;	/* jobs whose texts are ambiguous */
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
	int		 listing_forms;	/* of JSON */
	const char	*lacking[LACKING_MAX];	/* fields that were named */
	unsigned	 n_lacking;
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
	struct out	*out;
	struct collector *clusters[SITE_CLUSTERS];	/* owned */
	unsigned	 n;		/* at least one */
	char		 local[CLUSTER_MAX];	/* slurm.conf's; "" = not known yet */
	int		 synced;
	struct cursor	 cursors[CURSORS_MAX];
	unsigned	 n_cursors;
	struct early	*early;		/* owned: open runs said before the cluster is known */
	size_t		 n_early;
	size_t		 cap_early;
	int		 lastrun;	/* -1, or the descriptor */
	struct event	*kick_timer;
	struct survey	*survey;
	struct active	*active;
	struct run_key	 skips[SKIPS_MAX];
	unsigned	 n_skips;
};

#endif
