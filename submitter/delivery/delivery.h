/* SPDX-License-Identifier: MIT */
/*
 * Delivery: sends what is due to cc-backend and NATS.  Each answer changes the
 * row of its run.
 */
#ifndef SUBMITTER_DELIVERY_DELIVERY_H
#define SUBMITTER_DELIVERY_DELIVERY_H

#include <stdint.h>

#include "common/model/ctl.h"
#include "common/ipc/channel.h"
#include "submitter/backend/job_list_parser.h"
#include "submitter/backend/response.h"
#include "submitter/base/reject.h"
#include "submitter/nats/nats.h"
#include "submitter/spool/spool.h"

/*
 * ms that a lane sends before the event loop has its turn: for answers, commits,
 * and the supervisor.  Rows that are rejected do not count as under way.
 */
#define TURN_MS 100
/* ms that a row or a job script waits for a stream that does not accept records */
#define HELD_WAIT 30000

struct commit_check;
struct conflict;
struct diff_rows;
struct meta_delivery;
struct nats_conf;
struct nats_delivery;
struct node_states;
struct rest_delivery;
struct stream_hold;
struct submitter;
struct summary;

/* rest_delivery.c: starts, stops and deletions by REST */

/* The boxes live as long as the process; fatalx() when out of memory. */
struct rest_delivery *rest_delivery_new(struct submitter *s);
/* The lane WAKE_REST: sends what is due. */
void rest_delivery_run(struct rest_delivery *r);
/*
 * Called before a commit: leases what is due in the same commit, and wakes the
 * lane.
 */
void rest_delivery_lease(struct rest_delivery *r);
/* A commit failed: the rows lack the answers since the last commit. */
void rest_delivery_rolled_back(struct rest_delivery *r);
/* 1 when cc-backend answers and no request is under way or due. */
int rest_delivery_idle(const struct rest_delivery *r);
void rest_delivery_status(struct rest_delivery *r, uint64_t request);

/* nats_delivery.c: starts and stops by NATS */

struct nats_delivery *nats_delivery_new(struct submitter *s);
/* The lane WAKE_NATS. */
void nats_delivery_run(struct nats_delivery *d);
void nats_delivery_rolled_back(struct nats_delivery *d);
/* Takes nc. The first call with a server connects. */
void nats_delivery_conf(struct nats_delivery *d, struct nats_conf *nc);
/*
 * deliver "stream": publishes this record once more, whatever was published of
 * the run.  It is not repeated after a failure.  May change the record.
 */
void nats_delivery_again(struct nats_delivery *d, struct job *job);
/*
 * Place n of the streams that do not accept records: until is 0 when it is free.
 * NULL after the last place.
 */
const struct stream_hold *nats_delivery_hold(const struct nats_delivery *d,
    unsigned n);

/* token of a record of nats_delivery_again() */
#define STREAM_AGAIN_TOKEN (UINT64_C(1) << 61)

/* stream_update.c: job scripts that come after the run was published */

/* token of an update: its id and this bit */
#define STREAM_UPDATE_TOKEN (UINT64_C(1) << 62)
/* The end of this run is in the stream: its script may still come. */
void stream_update_expect(struct submitter *s, const struct spool_run *run);
/*
 * Publishes the update that is due first, as a partial record.  Returns 1 when
 * one is under way now.
 */
int stream_update_send(struct submitter *s, const struct stream_hold *holds);
/* spool_now() when an update is due; -1 = none waits. */
int64_t stream_update_due(struct submitter *s);
/* The result of the message with this token. */
void stream_update_result(struct submitter *s, uint64_t token,
    enum nats_result result);

/* stream_hold.c: streams that refuse records, or do not exist */

#define STREAM_HOLDS 16 /* clusters of one suite that publishes */
struct stream_hold {
	char cluster[CLUSTER_MAX];
	int64_t until; /* spool_now() of the next try; 0 = not held */
	unsigned tries;
	int trying;    /* one record is under way; until: when it has failed */
	int64_t since; /* epoch */
	char why[160];
};
/*
 * The stream of the cluster did not accept a record.  wait: ms until the next
 * try; 0 = a second or two.  Returns the due time.
 */
int64_t stream_hold_set(struct submitter *s, struct stream_hold *holds,
    const char *cluster, int64_t wait, const char *why);
/* The stream accepted a record: 1 when it was held. */
int stream_hold_clear(struct stream_hold *holds, const char *cluster);
/* spool_now() of the next try; 0 = now. */
int64_t stream_hold_until(struct submitter *s, const struct stream_hold *holds,
    const char *cluster);
/*
 * As stream_hold_until(), for a record that is about to be sent: with 0 it is
 * the try, and the records behind it wait for its result.
 */
int64_t stream_hold_try(struct submitter *s, struct stream_hold *holds,
    const char *cluster);
/*
 * The try ended, and its result says nothing about the stream: the next record is
 * the try.
 */
void stream_hold_try_end(struct submitter *s, struct stream_hold *holds,
    const char *cluster);
/* The connection is new: the next try of each stream is due. */
void stream_hold_end_waits(struct submitter *s, struct stream_hold *holds);

/* answer.c: applies an answer to a run */

/* first: the answer is of the first stop that was ever tried. */
void run_answered(struct submitter *s, struct spool_run *run, struct result *v,
    const struct http_answer *a, int first);
/*
 * A listing shows the start: changes the state of the row, unless its record is
 * quarantined.
 */
void run_start_listed(struct submitter *s, struct spool_run *run);
/*
 * A listing shows the run, and the row is saved.  before: the row as it was.
 * Releases later runs of the job for NATS when NATS does not get the start.
 */
void run_nats_listed(struct submitter *s, const struct spool_run *before,
    const struct spool_run *run);
/* Rejects the run: logs and stores the reason, releases later runs. */
void run_reject(struct submitter *s, struct spool_run *run, enum dest dest,
    enum reject_class class, const char *reason);
/* delivery_times.c: how long deliveries take, for the metrics */
/* The first start of the run is delivered. */
void delivery_start_note(struct submitter *s, const struct spool_run *run,
    enum dest dest);
/* The stop of the run is delivered. */
void delivery_end_note(struct submitter *s, const struct spool_run *run,
    enum dest dest);
/*
 * Age in s of the oldest run that waits for a destination: since its start, or
 * its end, in Slurm.  Reads the rows that are due first, not all.
 */
int64_t delivery_oldest(struct submitter *s, enum dest dest);

/* Writes the row. An error fails the transaction; the commit handles that. */
void run_save(struct submitter *s, struct spool_run *run);
/* Retries the request later; the row tells why. */
void run_retry(struct submitter *s, struct spool_run *run, const char *why);
/* Makes the request due again for the time when requests may be sent. */
void run_requeue(struct submitter *s, struct spool_run *run);

/* commit_check.c: which starts are committed in cc-backend */

struct commit_check *commit_check_new(struct submitter *s);
/* The lane WAKE_COMMIT_CHECK. */
void commit_check_kick(struct commit_check *n);
/* A listing that was begun at asked shows the run as running. */
void commit_seen(struct commit_check *n, struct spool_run *run, int64_t asked);
/*
 * A start that was accepted before is answered; run is as before the answer.
 * uncommitted: cc-backend has it and has not committed it yet.
 */
void commit_repeat_answered(struct commit_check *n, const struct spool_run *run,
    int uncommitted);

/* conflict.c: starts refused as duplicates, stops of stopped runs */

struct conflict *conflict_new(struct submitter *s);
/* The lane WAKE_CONFLICT. */
void conflict_kick(struct conflict *k);

/* end_compare.c */

/*
 * Compares the end in cc-backend and in Slurm: 1 when they agree.  how gets a
 * text for the admin, both ends.
 */
int end_agrees(struct submitter *s, const struct spool_run *run,
    const struct backend_job *row, char *how, size_t size);

/* foreign_stop.c: runs that another client has stopped in cc-backend */

/* Compares with row: the run is done, or is kept for an admin. */
void foreign_stop_compare(struct submitter *s, struct spool_run *run,
    const struct backend_job *row);
/* cc-backend has the run stopped, without its file (why): kept for an admin. */
void foreign_stop_damaged(struct submitter *s, struct spool_run *run,
    const char *why);
/* cc-backend does not show how it was stopped: the run is done. */
void foreign_stop_unknown(struct submitter *s, struct spool_run *run);
/*
 * Adds the runs that are kept to rows and, with CTL_REPAIR, begins to repair them
 * unless it is a dry run.  Returns how many are or would be repaired.
 */
unsigned foreign_stop_repair(struct submitter *s, struct diff_rows *rows,
    const struct ctl_request *req);

/* meta_delivery.c: metadata updates after the stop */

struct meta_delivery *meta_delivery_new(struct submitter *s);
/* The lane WAKE_META. */
void meta_delivery_kick(struct meta_delivery *l);
/*
 * The stop of this run is delivered: stores the metadata that its start lacked.
 */
void meta_after_stop(struct meta_delivery *l, const struct spool_run *run);
/* The run was rejected: the earlier run in cc-backend gets a message, once. */
void meta_note_sibling(struct meta_delivery *l, struct spool_run *refused);

/* node_states.c: node states */

struct node_states *node_states_new(struct submitter *s);
void node_states_frame(struct node_states *n, struct channel *c,
    struct reader *r);
/* cc-backend may be another one: node states are tried again. */
void node_states_kick(struct node_states *n);
/* token of a message with states of nodes; see STREAM_UPDATE_TOKEN */
#define NODES_TOKEN (UINT64_C(1) << 60)
/* The result of the message under way; why may be NULL. */
void node_states_published(struct node_states *n, enum nats_result result,
    const char *why);
void node_states_status(struct node_states *n, uint64_t request);
/* Adds a problem while states are too long to be published. */
void node_states_summary(const struct node_states *n, struct summary *to);

#endif
