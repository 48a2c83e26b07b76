/* SPDX-License-Identifier: MIT */
/*
 * Delivery by NATS.  No subscriber answers for a run, so only the order is
 * kept: a stop is sent after the confirmation of its start.  Where cc-backend
 * itself subscribes, more than its commit interval lies between both.  A
 * message is sent again when its arrival is unknown.
 *
 * With deliver "stream", each message is the whole record of a run.  It is
 * published when the run is known to run, after each change, and at the end.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/permanent.h"
#include "submitter/base/context.h"
#include "submitter/base/timer.h"
#include "submitter/delivery/delivery.h"
#include "submitter/nats/nats.h"
#include "submitter/payload/topology.h"
#include "submitter/spool/commit.h"
#include "submitter/spool/transition.h"

#define NATS_PAGE 32 /* rows leased at once */
/* messages under way; the broker confirms in bulk */
#define NATS_WIDTH 128
/* ms; an admin has to grant the permission */
#define PERMISSION_WAIT 60000
/* ms; when all of the room is used by messages that have no result */
#define ROOM_WAIT 10000
/* pages of rows whose streams do not accept records, before other work */
#define HELD_PAGES 16

struct nats_delivery {
	struct submitter *s;
	struct event *due; /* when the next row is due */
	unsigned in_flight;
	int lost;	  /* after a rollback the leases are taken back */
	unsigned updates; /* of in_flight: job scripts of runs that are done */
	struct stream_hold holds[STREAM_HOLDS];
};

static void
row_save(struct submitter *s, struct spool_run *run)
{
	spool_save(s->spool, run);
	commit_soon(s->commit);
}

static void
row_wait(struct submitter *s, struct spool_run *run, int64_t ms,
    const char *why)
{
	run->due[DEST_NATS] = spool_now(s->spool) + ms;
	run->tries[DEST_NATS]++;
	if (why != NULL)
		run_nats_reason_set(run, why);
	row_save(s, run);
}

/* A message of the run was confirmed: what row_wait() told is over. */
static void
confirmed_note(struct submitter *s, struct spool_run *run)
{
	s->n.nats_at = (int64_t)time(NULL);
	run->nats_reason[0] = '\0';
}

static void
row_sent(struct nats_delivery *d, struct spool_run *run)
{
	struct submitter *s = d->s;
	struct spool_run copy = *run;
	int64_t gap = spool_policy(s->spool)->nats_gap;

	confirmed_note(s, run);
	if (run->state[DEST_NATS] == STOP_DUE) {
		s->n.nats_stops++;
		/* backfill --nats came while the stop was under way. */
		if (spool_republish(s->spool, run) != 0) {
			commit_soon(s->commit);
			return;
		}
		delivery_end_note(s, run, DEST_NATS);
		run_move(s->spool, run, DEST_NATS, RUN_EVENT_STOPPED, DUE_KEEP,
		    NULL);
		row_save(s, run);
		return;
	}
	s->n.nats_starts++;
	delivery_start_note(s, run, DEST_NATS);
	run->since[DEST_NATS] = spool_now(s->spool);
	run_move(s->spool, run, DEST_NATS, RUN_EVENT_ACCEPTED,
	    run->end != 0 && gap > 0 ? run->since[DEST_NATS] + gap : DUE_NOW,
	    NULL);
	row_save(s, run);
	spool_release(s->spool, &copy, DEST_NATS);
	commit_soon(s->commit);
}

/* Notes that the first record with the run, or the one with its end, is sent. */
static void
record_note(struct submitter *s, struct spool_run *run, int is_end)
{
	if (is_end) {
		s->n.nats_stops++;
		delivery_end_note(s, run, DEST_NATS);
	} else if (run->since[DEST_NATS] == 0) {
		s->n.nats_starts++;
		delivery_start_note(s, run, DEST_NATS);
	}
}

/*
 * The stream has the record.  A record that has changed since is due again; one
 * that had its end when it was made is done.
 */
static void
record_sent(struct nats_delivery *d, struct spool_run *run)
{
	int changed = (run->flags & RUN_CHANGED) != 0;
	struct spool_run copy = *run;
	struct submitter *s = d->s;

	confirmed_note(s, run);
	run->flags &= ~RUN_CHANGED;
	if (stream_hold_clear(d->holds, run->key.cluster))
		spool_retry_now(s->spool, DEST_NATS);
	if (run->state[DEST_NATS] != STOP_DUE) {
		record_note(s, run, 0);
		run->since[DEST_NATS] = spool_now(s->spool);
		run_move(s->spool, run, DEST_NATS, RUN_EVENT_ACCEPTED, DUE_NOW,
		    NULL);
		spool_release(s->spool, &copy, DEST_NATS);
	}
	run->due[DEST_NATS] = DUE_NOW;
	if (changed && run->state[DEST_NATS] == STARTED)
		run_move(s->spool, run, DEST_NATS, RUN_EVENT_CHANGED, DUE_NOW,
		    NULL);
	if (!changed && run->state[DEST_NATS] == STOP_DUE) {
		/* backfill --nats came while the end was under way. */
		if (spool_republish(s->spool, run) != 0) {
			commit_soon(s->commit);
			return;
		}
		record_note(s, run, 1);
		stream_update_expect(s, run);
		run_move(s->spool, run, DEST_NATS, RUN_EVENT_STOPPED, DUE_KEEP,
		    NULL);
	}
	row_save(s, run);
}

/* The stream of the run's cluster accepts nothing now.  wait: ms or 0. */
static void
record_held(struct nats_delivery *d, struct spool_run *run, int64_t wait,
    const char *why)
{
	char text[sizeof(run->nats_reason)];
	int64_t until;

	if (why == NULL)
		why = "no reason given";
	until = stream_hold_set(d->s, d->holds, run->key.cluster, wait, why);
	/* spool_retry_now() makes rows with a try due. */
	run->tries[DEST_NATS] = 1;
	run->due[DEST_NATS] = until;
	snprintf(text, sizeof(text), "the stream does not accept records: %s",
	    why);
	run_nats_reason_set(run, text);
	row_save(d->s, run);
}

/* The result of the message of a leased row.  why: NULL = not known. */
static void
result_apply(struct nats_delivery *d, struct spool_run *run,
    enum nats_result result, const char *why)
{
	struct submitter *s = d->s;

	if (result == NATS_UNSURE || result == NATS_IN_PROCESS ||
	    result == NATS_TOO_LONG)
		stream_hold_try_end(s, d->holds, run->key.cluster);
	switch (result) {
	case NATS_SENT:
		if (spool_policy(s->spool)->whole)
			record_sent(d, run);
		else
			row_sent(d, run);
		break;
	case NATS_REFUSED:
	case NATS_NO_STREAM:
		record_held(d, run, 0, why);
		break;
	case NATS_UNSURE:
	case NATS_IN_PROCESS:
	case NATS_AWAY:
		s->n.nats_unsure += result == NATS_UNSURE;
		row_wait(s, run,
		    timer_backoff(run->tries[DEST_NATS], RETRY_FIRST,
			RETRY_MAX),
		    why);
		break;
	case NATS_DENIED:
		if (spool_policy(s->spool)->whole)
			record_held(d, run, timer_jitter(PERMISSION_WAIT), why);
		else
			row_wait(s, run, timer_jitter(PERMISSION_WAIT), why);
		break;
	case NATS_TOO_LONG:
		run_reject(s, run, DEST_NATS, REJECT_TOO_LONG,
		    why != NULL ? why : "the message is too long");
		break;
	}
}

static void
on_nats(uint64_t token, enum nats_result result, const char *why, void *arg)
{
	struct submitter *s = arg;
	struct nats_delivery *d = s->nats_delivery;
	struct spool_run run;

	/* Each result can make the room that rows wait for. */
	wake(s, WAKE_NATS);
	if (token == NODES_TOKEN) {
		node_states_published(s->nodes, result, why);
		return;
	}
	if (d->in_flight > 0)
		d->in_flight--;
	if (token & STREAM_AGAIN_TOKEN)
		return;
	if (token & STREAM_UPDATE_TOKEN) {
		d->updates = 0;
		stream_update_result(s, token, result);
	} else if (spool_get(s->spool, (int64_t)token, &run) == 1) {
		if (run.due[DEST_NATS] == DUE_LEASED)
			result_apply(d, &run, result, why);
		else
			stream_hold_try_end(s, d->holds, run.key.cluster);
	}
}

static void
on_up(int up, void *arg)
{
	struct submitter *s = arg;

	if (up) {
		stream_hold_end_waits(s, s->nats_delivery->holds);
		spool_retry_now(s->spool, DEST_NATS);
		commit_soon(s->commit);
		wake(s, WAKE_NATS);
	}
}

/* Sends the start, the stop or the whole record: 0, or -1 as nats_send(). */
static int
job_send(struct submitter *s, const struct spool_run *run, struct job *job,
    const char **why)
{
	enum message kind = run->state[DEST_NATS] == STOP_DUE ? MESSAGE_STOP :
								MESSAGE_START;
	int64_t again = run->flags & RUN_REPUBLISHED ?
	    spool_policy(s->spool)->republish.id :
	    0;
	struct payload_how how;

	if (spool_policy(s->spool)->whole)
		return nats_send_record(s->nats, job, again, (uint64_t)run->id,
		    why);
	payload_how_init(&how, BACKEND_1_5, s->topology);
	return nats_send(s->nats, s->payload, &how, job, kind, again,
	    (uint64_t)run->id, why);
}

static void
row_send(struct nats_delivery *d, struct spool_run *run)
{
	struct submitter *s = d->s;
	const char *why = NULL;
	struct job job;
	int rc = -1;

	job_init(&job);
	inflight_set(s->w->inflight, &run->key);
	if (spool_record(s->spool, run->id, &job) == 0) {
		job.key = run->key;
		rc = job_send(s, run, &job, &why);
	} else
		why = errno == EINVAL ? "the stored record is invalid" :
					"the stored record cannot be read now";
	rc = rc == 0 ? 0 : errno;
	inflight_clear(s->w->inflight);
	job_clear(&job);
	if (rc == 0) {
		d->in_flight++;
		return;
	}
	stream_hold_try_end(s, d->holds, run->key.cluster);
	if (rc == EINVAL || rc == EMSGSIZE)
		run_reject(s, run, DEST_NATS,
		    rc == EMSGSIZE ? REJECT_TOO_LONG : REJECT_RECORD,
		    why != NULL ? why : "the record makes no message");
	else
		row_wait(s, run,
		    timer_backoff(run->tries[DEST_NATS], RETRY_FIRST,
			RETRY_MAX),
		    why);
}

/* The spool may still have rows of a cluster that is not configured any more. */
static int
is_only_cluster(const struct submitter *s, const char *cluster)
{
	return s->clusters.n == 1 && strcmp(s->clusters.names[0], cluster) == 0;
}

/* Postpones a row whose stream does not accept records now. */
static int
row_waits_for_stream(struct nats_delivery *d, struct spool_run *run)
{
	int64_t until = stream_hold_try(d->s, d->holds, run->key.cluster);

	if (until == 0)
		return 0;
	if (is_only_cluster(d->s, run->key.cluster))
		return 1; /* see cluster_waits() */
	/* The end of the hold makes the row due. */
	run->due[DEST_NATS] = spool_now(d->s->spool) + HELD_WAIT;
	if (run->tries[DEST_NATS] == 0)
		run->tries[DEST_NATS] = 1;
	row_save(d->s, run);
	return 1;
}

/* Sends leased rows, the first one in any case; others are due after TURN_MS. */
static void
leased_send(struct nats_delivery *d, const int64_t *ids, int n)
{
	struct submitter *s = d->s;
	int64_t until = spool_now(s->spool) + TURN_MS;
	struct spool_run run;
	int k;

	for (k = 0; k < n; k++) {
		if (spool_get(s->spool, ids[k], &run) != 1 ||
		    run.due[DEST_NATS] != DUE_LEASED)
			continue;
		if (k == 0 || spool_now(s->spool) < until) {
			row_send(d, &run);
			continue;
		}
		stream_hold_try_end(s, d->holds, run.key.cluster);
		run.due[DEST_NATS] = DUE_NOW;
		row_save(s, &run);
	}
}

/* Leases a page of rows, commits, sends: how many. */
static int
page_send(struct nats_delivery *d)
{
	static const enum run_state states[] = { START_DUE, START_DUE_ENDED,
		STOP_DUE };
	struct submitter *s = d->s;
	struct spool_run run;
	int64_t ids[NATS_PAGE];
	size_t i;
	int n = 0, got, k;

	for (i = 0; i < 3 && n < NATS_PAGE; i++) {
		got = spool_pick(s->spool, DEST_NATS, states[i],
		    states[i] == START_DUE ? ORDER_NEWEST : ORDER_DUE, ids + n,
		    NATS_PAGE - n);
		n += got > 0 ? got : 0;
	}
	for (k = 0; k < n; k++) {
		/* A stop waits for its start that is published again. */
		if (spool_get(s->spool, ids[k], &run) != 1 ||
		    (run.state[DEST_NATS] == STOP_DUE &&
			spool_republish(s->spool, &run) != 0) ||
		    row_waits_for_stream(d, &run))
			continue;
		run.due[DEST_NATS] = DUE_LEASED;
		run.flags = (run.flags | RUN_KEY_FIXED) & ~RUN_CHANGED;
		row_save(s, &run);
	}
	if (n == 0 || commit_now(s->commit) == -1)
		return 0;
	leased_send(d, ids, n);
	return n;
}

static void
due_timer(struct nats_delivery *d)
{
	static const enum run_state states[] = { START_DUE, STOP_DUE,
		START_DUE_ENDED };
	int64_t due, next = -1;
	size_t i;

	if (spool_policy(d->s->spool)->whole && d->updates == 0)
		next = stream_update_due(d->s);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		due = spool_next_due(d->s->spool, DEST_NATS, states[i]);
		if (due >= 0 && (next == -1 || due < next))
			next = due;
	}
	if (next == -1) {
		timer_after(d->due, -1);
		return;
	}
	next -= spool_now(d->s->spool);
	timer_after(d->due, next > 0 ? next : 0);
}

/*
 * The suite has one cluster, and its stream accepts nothing now: no row is
 * touched until the next try.
 */
static int
cluster_waits(struct nats_delivery *d)
{
	struct submitter *s = d->s;
	int64_t until;

	if (s->clusters.n != 1)
		return 0;
	until = stream_hold_until(s, d->holds, s->clusters.names[0]);
	if (until == 0)
		return 0;
	timer_after(d->due, until - spool_now(s->spool));
	return 1;
}

static int
has_room(const struct nats_delivery *d)
{
	return d->in_flight < NATS_WIDTH && nats_has_room(d->s->nats);
}

void
nats_delivery_run(struct nats_delivery *d)
{
	struct submitter *s = d->s;
	int pages = HELD_PAGES;
	int64_t until = spool_now(s->spool) + TURN_MS;

	if (d->lost && d->in_flight == 0) {
		if (spool_unlease(s->spool, DEST_NATS) == 0)
			d->lost = 0;
		commit_soon(s->commit);
	}
	if (s->nats == NULL || role_is_passive(s) || !nats_is_up(s->nats) ||
	    d->lost || commit_is_stuck(s->commit))
		return;
	if (cluster_waits(d))
		return;
	while (has_room(d) && pages-- > 0 && page_send(d) > 0) {
		if (cluster_waits(d))
			return;
		if (spool_now(s->spool) >= until) {
			wake(s, WAKE_NATS);
			return;
		}
	}
	if (spool_policy(s->spool)->whole && d->updates == 0 &&
	    stream_update_send(s, d->holds)) {
		d->updates = 1;
		d->in_flight++;
	}
	/*
	 * Without room the rows stay due, and a result wakes this lane.  An
	 * answer to the centre uses room, too, and has no result.
	 */
	if (has_room(d))
		due_timer(d);
	else
		timer_after(d->due, d->in_flight > 0 ? -1 : ROOM_WAIT);
}

void
nats_delivery_again(struct nats_delivery *d, struct job *job)
{
	struct submitter *s = d->s;
	const char *why;

	/* The id differs from that of the same record before. */
	if (s->nats != NULL && nats_is_up(s->nats) && nats_has_room(s->nats) &&
	    nats_send_record(s->nats, job, spool_now(s->spool),
		STREAM_AGAIN_TOKEN, &why) == 0)
		d->in_flight++;
}

const struct stream_hold *
nats_delivery_hold(const struct nats_delivery *d, unsigned n)
{
	return n < STREAM_HOLDS ? &d->holds[n] : NULL;
}

void
nats_delivery_rolled_back(struct nats_delivery *d)
{
	d->lost = 1;
	stream_hold_end_waits(d->s, d->holds);
	wake(d->s, WAKE_NATS);
}

static void
on_due(evutil_socket_t fd, short what, void *arg)
{
	struct nats_delivery *d = arg;

	wake(d->s, WAKE_NATS);
}

void
nats_delivery_conf(struct nats_delivery *d, struct nats_conf *nc)
{
	struct submitter *s = d->s;

	/* Without natsServer no thread is made. */
	if (s->nats == NULL && *conf_str(&s->w->conf, CONF_NATS_SERVER) != '\0')
		s->nats = nats_new(s->w->base, s->resolver, on_nats, on_up, s);
	if (s->nats != NULL)
		nats_use(s->nats, nc);
	else
		nats_conf_free(nc);
}

struct nats_delivery *
nats_delivery_new(struct submitter *s)
{
	struct nats_delivery *d = permanent_new(sizeof(*d));

	d->s = s;
	d->due = timer_new(s, on_due, d);
	return d;
}
