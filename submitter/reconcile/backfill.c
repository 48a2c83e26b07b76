/* SPDX-License-Identifier: MIT */
/*
 * A backfill reads a past range in chunks.  The spool stores the range, its
 * progress, which changes in the transaction with the last record of a chunk,
 * and the records.  Their runs are held until a list of cc-backend's jobs shows
 * which of them it has.  After a kill, the next process continues with the held
 * runs, then with the next chunk.  A chunk that is read twice changes nothing.
 * See backfill.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"
#include "submitter/reconcile/backfill_private.h"
#include "submitter/spool/commit.h"

/* s of accounting in one query and in the spool at once */
#define CHUNK_S	     21600
#define PROGRESS_MAX 448 /* bytes of the progress as text */
#define GAP_MS	     200 /* between two chunks */
/* ms for a dry run: the admin tool waits 10 minutes */
#define DRYRUN_MS  570000
#define NO_CLUSTER "Slurm has no cluster of this name any more"

/* --- chunks --- */

/* from and to 0: nothing more is to be read; a watermark of 0 answers. */
static void
range_send(struct backfill *b, int64_t from, int64_t to)
{
	struct channel *c = submitter_feeder(b->s);
	struct writer w;

	if (c == NULL)
		return;
	b->ends += to == 0;
	wr_init(&w, 256);
	wr_str(&w, b->whose.cluster);
	wr_i64(&w, from);
	wr_i64(&w, to);
	wr_u8(&w, b->look != 0);
	channel_send(c, MSG_BACKFILL_RANGE, 0, &w, -1);
	wr_clear(&w);
}

/*
 * Without a collector, backfill_peer() repeats it.  While slurmdbd does not answer,
 * a dry run ends at its time limit: it would keep each other backfill waiting.
 */
static void
chunk_ask(struct backfill *b)
{
	b->step = BACKFILL_ASKED;
	b->chunk_to = b->at + CHUNK_S < b->to ? b->at + CHUNK_S : b->to;
	range_send(b, b->at, b->chunk_to);
	if (b->look)
		dryrun_limit_wait(b);
}

/*
 * The backfill is over.  Late records of a cancelled one by REST were held while
 * this one published by NATS: they are listed and sent.
 */
static void
idle(struct backfill *b)
{
	b->step = BACKFILL_IDLE;
	if (release_waiting(b) > 0)
		backfill_held(b);
}

void
backfill_finish(struct backfill *b)
{
	char text[128];

	if (b->look) {
		snprintf(text, sizeof(text),
		    "%llu ended runs in accounting, %u "
		    "would be sent",
		    (unsigned long long)b->seen, b->told);
		dryrun_end(b, CTL_OK, text);
		return;
	}
	b->active = 0;
	nats_policy(b);
	idle(b);
	state_save(b);
	log_notice("backfill of %s is done: %llu runs, %llu of them new, %llu "
		   "%s",
	    b->whose.cluster, (unsigned long long)b->seen,
	    (unsigned long long)b->added, (unsigned long long)b->restored,
	    b->nats ? "published again" : "restored in cc-backend");
}

/* After the start, when the configuration tells the destinations. */
static void
held_tell(struct backfill *b)
{
	uint64_t held = b->tell_held ? release_waiting(b) : 0;

	b->tell_held = 0;
	if (held > 0)
		log_notice("%llu runs of a backfill that is over are still to "
			   "be sent",
		    (unsigned long long)held);
}

/* Ends a backfill that cannot continue.  The runs that were read are sent. */
static void
give_up(struct backfill *b)
{
	b->active = 0;
	b->cancelled = 1;
	b->waits_until = 0;
	nats_policy(b);
	state_save(b);
}

/* A reload or a restart may have removed natsServer. */
static void
nats_check(struct backfill *b)
{
	if (!b->active || !b->nats || spool_policy(b->s->spool)->to[DEST_NATS])
		return;
	log_warnx("the backfill of %s ends at %s: natsServer is not configured "
		  "any more",
	    b->whose.cluster, time_text(b->at));
	give_up(b);
}

static void
next(struct backfill *b)
{
	held_tell(b);
	nats_check(b);
	window_begin(b);
	if (!b->look && release_waiting(b) > 0) {
		b->step = BACKFILL_LIST;
		release_list(b);
	} else if (!b->active && !b->look) {
		b->step = BACKFILL_IDLE; /* late records are released */
	} else if (b->at >= b->to && b->nats && !b->look) {
		nats_walk_begin(b);
	} else if (b->at >= b->to) {
		backfill_finish(b);
	} else if (b->nats && !b->look && nats_chunk_waits(b))
		window_soon(b, RETRY_MS);
	else if (!b->look || !dryrun_expired(b, ""))
		chunk_ask(b);
}

/* The collector reads a chunk.  It reads no more when the dry run is over. */
static void
dryrun_waits(struct backfill *b)
{
	if (dryrun_expired(b, "; accounting has not answered"))
		range_send(b, 0, 0);
	else
		dryrun_limit_wait(b); /* libevent's timers can be early */
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct backfill *b = arg;

	switch (b->step) {
	case BACKFILL_NEXT:
		next(b);
		break;
	case BACKFILL_ASKED:
		if (b->look)
			dryrun_waits(b);
		break;
	case BACKFILL_LIST:
		if (b->look)
			dryrun_list(b);
		else
			release_list(b);
		break;
	case BACKFILL_RELEASE:
		release_some(b);
		break;
	case BACKFILL_OPEN:
		nats_walk(b);
		break;
	default:
		break;
	}
}

void
backfill_peer(struct backfill *b)
{
	b->ends = 0;
	if (b->step != BACKFILL_ASKED)
		return;
	b->n_dryrun_runs = b->n_aliases = 0;
	b->beyond = 0;
	chunk_ask(b);
}

void
backfill_held(struct backfill *b)
{
	if (b->step != BACKFILL_IDLE)
		return;
	b->step = BACKFILL_NEXT;
	window_soon(b, RETRY_MS);
}

void
backfill_record(struct backfill *b, enum spool_put put)
{
	if (b->look || put == PUT_ERROR || put == PUT_REFUSED)
		return;
	b->seen++;
	if (put == PUT_NEW)
		b->added++;
	/* It was on its way when the backfill was cancelled. */
	backfill_held(b);
}

/* ClusterName or the key clusters has changed.  What was read is sent. */
static void
cluster_is_gone(struct backfill *b)
{
	if (b->look) {
		dryrun_end(b, CTL_ERROR, NO_CLUSTER);
		return;
	}
	log_warnx("the backfill of %s ends at %s: " NO_CLUSTER,
	    b->whose.cluster, time_text(b->at));
	give_up(b);
	b->step = BACKFILL_NEXT;
	window_soon(b, 0);
}

void
backfill_watermark(struct backfill *b, const char *cluster, int64_t until)
{
	/* A new process may get an answer to the old one. */
	if (until == 0) {
		b->ends -= b->ends > 0;
		return;
	}
	if (b->ends > 0 || strcmp(cluster, b->whose.cluster) != 0 ||
	    (!b->look && !b->active))
		return;
	if (until == WATERMARK_NO_CLUSTER && b->step == BACKFILL_ASKED)
		cluster_is_gone(b);
	if (until != b->chunk_to)
		return;
	if (b->look) {
		if (b->step == BACKFILL_ASKED) {
			b->step = BACKFILL_LIST;
			window_soon(b, 0);
		}
		return;
	}
	b->at = until;
	state_save(b);
	CRASH_POINT("backfill-marked");
	if (b->step == BACKFILL_ASKED) {
		b->step = BACKFILL_NEXT;
		window_soon(b, GAP_MS);
	}
}

/* --- the command --- */

/* Takes the named cluster, or the only one there is; 0, or -1. */
static int
cluster_take(struct backfill *b, const char *name)
{
	struct run_key whose, other;
	int64_t cursor;
	unsigned i;

	for (i = 0; spool_cluster(b->s->spool, i, &whose, &cursor); i++)
		if ((*name == '\0' ?
			    !spool_cluster(b->s->spool, 1, &other, &cursor) :
			    strcmp(name, whose.cluster) == 0) &&
		    !cluster_name_excluded(b->s, whose.cluster)) {
			b->whose = whose;
			return 0;
		}
	return -1;
}

/* Why cluster_take() has found none.  Slurm's answers put them in the spool. */
static const char *
cluster_missing(const struct backfill *b, const char *name)
{
	struct run_key second;
	int64_t cursor;

	if (*name != '\0')
		return "unknown cluster, or not in the key clusters";
	return spool_cluster(b->s->spool, 1, &second, &cursor) ?
	    "there are several clusters: use --cluster" :
	    "the cluster is not known yet: Slurm has not answered; run "
	    "cc-slurm-adapterctl status";
}

/* NULL, or why the backfill cannot begin. */
static const char *
begin(struct backfill *b, const struct ctl_request *req)
{
	int64_t now = time(NULL);

	if (b->active || b->look)
		return "a backfill is under way: see --status, --cancel";
	if (req->n_ids != 0 || req->a <= 0 || req->b <= req->a)
		return "the range is empty";
	if (req->a >= now)
		return "the range is in the future";
	if ((req->flags & CTL_FLAG_NATS) &&
	    !spool_policy(b->s->spool)->to[DEST_NATS])
		return "natsServer is not configured";
	if (cluster_take(b, req->text) == -1)
		return cluster_missing(b, req->text);
	b->from = b->at = req->a;
	b->nats_until = req->b < now ? req->b : now;
	b->nats = (req->flags & CTL_FLAG_NATS) != 0;
	/* A run that ended later may have begun before. */
	b->to = b->nats ? now : b->nats_until;
	b->seen = b->added = b->restored = b->there = 0;
	b->asked = spool_now(b->s->spool);
	/* Runs of an earlier command keep its id until there is a new one. */
	if (b->nats && !(req->flags & CTL_FLAG_DRY_RUN))
		b->id = now;
	b->waits_until = 0;
	b->waited = 0;
	/* A list of late records may be under way. */
	b->stale = b->job_list.busy;
	b->walk_state = 0;
	b->walk_rollbacks = b->s->n.commits_failed;
	memset(&b->walk, 0, sizeof(b->walk));
	window_first(b);
	b->step = BACKFILL_NEXT;
	b->began = spool_now(b->s->spool);
	b->began_at = b->at;
	b->cancelled = 0;
	return NULL;
}

/* 0, or -1 when the spool refuses writes. */
static int
begin_now(struct backfill *b)
{
	int rc;

	b->active = 1;
	nats_policy(b);
	state_save(b);
	log_notice("backfill of %s%s, from %s to %s", b->whose.cluster,
	    b->nats ? " by NATS" : "", time_text(b->from), time_text(b->to));
	rc = commit_now(b->s->commit);
	window_soon(b, 0);
	return rc;
}

static const char not_durable[] =
    "begun, but the spool refuses writes: a restart ends the backfill";

static void
begin_real(struct backfill *b, uint64_t request)
{
	if (begin_now(b) == -1)
		worker_ctl_end(b->s->w, request, CTL_ERROR, not_durable);
	else
		worker_ctl_end(b->s->w, request, CTL_OK,
		    "begun; `backfill --status` shows the progress");
}

const char *
backfill_order(struct backfill *b, const char *cluster, int64_t from,
    int64_t to)
{
	struct ctl_request req = { .flags = CTL_FLAG_NATS, .a = from, .b = to };
	const char *wrong;

	if (b->active || b->look)
		return "a backfill is under way";
	snprintf(req.text, sizeof(req.text), "%s", cluster);
	wrong = begin(b, &req);
	if (wrong == NULL && begin_now(b) == -1)
		wrong = not_durable;
	return wrong;
}

static void
begin_look(struct backfill *b, uint64_t request)
{
	b->look = 1;
	nats_policy(b);
	b->request = request;
	b->n_dryrun_runs = b->n_aliases = 0;
	b->beyond = b->told = 0;
	b->until = spool_now(b->s->spool) + DRYRUN_MS;
	window_soon(b, 0);
}

/* Ends the backfill.  text gets the result, for an admin. */
static void
end_early(struct backfill *b, char *text, size_t size)
{
	unsigned n = release_forget(b);

	b->cancelled |= b->active;
	b->active = 0;
	b->waits_until = 0;
	nats_policy(b);
	range_send(b, 0, 0);
	/* Its end may come in the list step of the next command. */
	b->stale = b->job_list.busy;
	idle(b);
	state_save(b);
	commit_now(b->s->commit);
	snprintf(text, size,
	    "cancelled; %u held runs are removed; "
	    "runs being delivered continue",
	    n);
}

static const char none_active[] = "none is under way";

/* Is there nothing to end?  cluster: "" = whichever it is of. */
static int
is_over(const struct backfill *b, const char *cluster)
{
	return (!b->active && !b->look && release_waiting(b) == 0) ||
	    (*cluster != '\0' && strcmp(b->whose.cluster, cluster) != 0);
}

static void
cancel(struct backfill *b, uint64_t request, const char *cluster)
{
	char text[128];

	if (is_over(b, cluster)) {
		worker_ctl_end(b->s->w, request, CTL_OK, none_active);
		return;
	}
	if (b->look)
		dryrun_end(b, CTL_ERROR, "cancelled");
	end_early(b, text, sizeof(text));
	worker_ctl_end(b->s->w, request, CTL_OK, text);
}

const char *
backfill_cancel(struct backfill *b, const char *cluster, char *text,
    size_t size)
{
	if (is_over(b, cluster)) {
		snprintf(text, size, "%s", none_active);
		return NULL;
	}
	if (b->look)
		return "a dry run is under way there";
	end_early(b, text, size);
	log_notice("the centre has cancelled the backfill of %s", cluster);
	return NULL;
}

/* ", about 5 min left", at the speed since this process began to read. */
static void
left_write(const struct backfill *b, char *text, size_t size)
{
	int64_t ms = spool_now(b->s->spool) - b->began;
	int64_t read = b->at - b->began_at;

	*text = '\0';
	if ((b->active || b->look) && read > 0 && b->at < b->to)
		snprintf(text, size, ", about %s left",
		    duration_text((int64_t)((double)ms *
			(double)(b->to - b->at) / (double)read)));
}

static const char *
over_text(const struct backfill *b)
{
	return b->active || b->look	  ? "" :
	    b->cancelled || b->at < b->to ? "ended before its end: " :
					    "done: ";
}

void
backfill_progress(struct backfill *b, char *text, size_t size)
{
	char left[64];

	static const char *const doing[] = {
		[BACKFILL_IDLE] = "idle",
		[BACKFILL_NEXT] = "between two chunks",
		[BACKFILL_ASKED] = "reads accounting",
		[BACKFILL_LIST] = "lists the jobs of cc-backend",
		[BACKFILL_RELEASE] = "sends runs",
		[BACKFILL_OPEN] = "publishes the runs of the spool",
	};
	int64_t whole = b->to - b->from;

	if (b->from == 0) {
		snprintf(text, size, "none");
		return;
	}
	left_write(b, left, sizeof(left));
	snprintf(text, size,
	    "%s%s%s of %s, %s to %s: read up to %s (%lld %%%s), "
	    "%llu runs, %llu new, %llu %s, %llu held; %s",
	    over_text(b), b->look ? "dry run" : "backfill",
	    b->nats ? " by NATS" : "", b->whose.cluster, time_text(b->from),
	    time_text(b->to), time_text(b->at),
	    (long long)(whole > 0 ? (b->at - b->from) * 100 / whole : 100),
	    left, (unsigned long long)b->seen, (unsigned long long)b->added,
	    (unsigned long long)b->restored,
	    b->nats ? "published again" : "restored",
	    (unsigned long long)release_waiting(b),
	    b->waits_until != 0 ?
		"waits until slurmdbd has all runs of the range" :
		doing[b->step]);
}

void
backfill_status(struct backfill *b, uint64_t request)
{
	char text[PROGRESS_MAX];

	backfill_progress(b, text, sizeof(text));
	worker_status(b->s->w, request, "backfill", "%s", text);
}

void
backfill_ctl(struct backfill *b, uint64_t request,
    const struct ctl_request *req)
{
	const char *wrong;
	char text[PROGRESS_MAX];

	if (req->flags & CTL_FLAG_STATUS) {
		backfill_progress(b, text, sizeof(text));
		worker_ctl_end(b->s->w, request, CTL_OK, text);
	} else if (req->flags & CTL_FLAG_CANCEL)
		cancel(b, request, req->text);
	else if ((wrong = begin(b, req)) != NULL)
		worker_ctl_end(b->s->w, request, CTL_ERROR, wrong);
	else if (req->flags & CTL_FLAG_DRY_RUN)
		begin_look(b, request);
	else
		begin_real(b, request);
}

/* Held runs for either destination: the configuration is not in force yet. */
static uint64_t
held_all(const struct spool *sp)
{
	uint64_t rest = spool_count(sp, DEST_REST, BACKFILL_HELD);
	uint64_t nats = spool_count(sp, DEST_NATS, BACKFILL_HELD);

	return rest > nats ? rest : nats;
}

struct backfill *
backfill_new(struct submitter *s)
{
	struct backfill *b = permanent_new(sizeof(*b));
	uint64_t held = held_all(s->spool);

	b->s = s;
	b->timer = timer_new(s, on_timer, b);
	window_first(b);
	state_load(b);
	nats_policy(b);
	if (b->active)
		log_notice("backfill of %s goes on at %s", b->whose.cluster,
		    time_text(b->at));
	b->tell_held = !b->active && held > 0;
	if (b->active || held > 0)
		backfill_held(b);
	return b;
}
