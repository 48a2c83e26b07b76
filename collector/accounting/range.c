/* SPDX-License-Identifier: MIT */
/*
 * The accounting lane: runs that ended, by range of time and by id.  A range
 * is read in slices that fit slurmdbd's limits.  A slice earns a watermark
 * when its answer was complete and our permission to see all jobs was proved. 
 * A watermark is never later than the last moment at which slurmctld had sent
 * all its messages to slurmdbd or, if sdiag does not show its queue, than the
 * latest end in the answer.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting_private.h"
#include "collector/base/wake.h"
#include "collector/slurm/slurm.h"
#include "collector/track/outbox.h"
#include "collector/track/track.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"

#define SLICE_S	       86400	   /* longest first query of a catch-up */
#define SLICE_MIN_S    3600	   /* shortest slice after a timeout */
#define SLICE_MAX_S    (8 * 86400) /* longest slice when few runs ended */
#define SLICE_ROWS     10000	   /* after fewer rows the slice is doubled */
#define SLICE_QUICK_MS 30000	   /* a quarter of the deadline */
#define DAY_S	       86400
/* -E is at most this far ahead: clocks differ, and -s needs an end. */
#define LATER_S 86400
/* Until a past range is read again without the permission */
#define BACKFILL_WAIT_S 60
/* rows; after more, unused memory is returned to the kernel */
#define TRIM_ROWS 1000
#define BAD_TRIES 2 /* queries; then malformed rows are skipped */

struct accounting *
acct_new(struct cluster *c, const struct accounting_ops *ops, void *arg)
{
	struct accounting *l = permanent_new(sizeof(*l));

	l->c = c;
	l->ops = ops;
	l->ops_arg = arg;
	l->slice = SLICE_S;
	l->slice_most = SLICE_MAX_S;
	return l;
}

static int
range_is_due(const struct accounting *l)
{
	return l->range.kind != RANGE_NONE ||
	    (l->due & (DUE_POLL | DUE_DAY)) != 0 ||
	    ((l->due & DUE_BACKFILL) && now_s() >= l->backfill_next);
}

/* Makes a range due; bit is DUE_. */
static void
range_want(struct accounting *l, unsigned bit)
{
	if (!range_is_due(l))
		l->range_at = now_s();
	l->due |= bit;
}

/*
 * Hook events of a big cluster may come so fast that a query by id waits
 * whenever another one has ended.  A range that waits for two polls is read
 * before them, and each range after a query by id that failed: sacct may be unable to
 * read that job.
 */
static int
range_is_overdue(const struct accounting *l)
{
	return range_is_due(l) && !steps_block(l, QUESTION_RANGE) &&
	    (l->ids_failed || now_s() - l->range_at >= 2 * l->c->set->poll);
}

static void
range_set(struct acct_range *r, enum range_kind kind, int64_t from, int64_t to)
{
	r->kind = kind;
	r->from = from;
	r->to = to;
	r->at = from;
	r->tries = 0;
	r->number = 0;
}

void
acct_clock(struct accounting *l, int64_t clock)
{
	struct cluster *c = l->c;
	int64_t back = c->resume.point - clock;

	if (c->clock.drained > clock)
		c->clock.drained = clock;
	if (back <= 0)
		return;
	c->resume.point = clock;
	/* The clock was set back while the query ran. */
	if (l->clock > clock)
		l->clock = clock;
	l->mark = 0;
	if (back <= c->set->lag)
		return;
	log_notice(
	    "slurmctld's clock%s is %s behind the resume point: accounting is "
	    "read again from the clock's time on, and the last day",
	    cluster_suffix(c), duration_text(back * 1000));
	range_want(l, DUE_DAY);
}

/* Notes the oldest time from which this process reads accounting. */
static void
read_from(struct cluster *c, int64_t from)
{
	if (c->resume.oldest == 0 || from < c->resume.oldest)
		c->resume.oldest = from;
}

/* The range begins at the resume point, but not before slurmQueryMaxSpan. */
static void
range_begin(struct accounting *l)
{
	struct cluster *c = l->c;
	int64_t now = slurm_now(c), from = c->resume.point, oldest;
	unsigned suppressed;

	oldest = now - c->set->max_span;
	if (from < oldest) {
		if (from > 0 && log_allowed(&l->skipping, &suppressed)) {
			log_about(LOG_ID_ACCOUNTING_SKIPPED, NULL, 0);
			log_errorx(
			    "accounting%s was read up to %s; %s before "
			    "slurmQueryMaxSpan are skipped; run "
			    "`cc-slurm-adapterctl backfill` to read them",
			    cluster_suffix(c), time_text(from),
			    duration_text((oldest - from) * 1000));
		}
		if (from > 0) {
			c->resume.skipped_seconds += (uint64_t)(oldest - from);
			c->resume.skipped_at = now_wall();
		}
		from = oldest;
		c->resume.point = oldest;
		l->gapless = 0;
	}
	from -= c->set->lag;
	if (l->gapless == 0 || from < l->gapless)
		l->gapless = from;
	read_from(c, from);
	range_set(&l->range, RANGE_POLL, from > 0 ? from : 1, 0);
}

void
acct_poll(struct accounting *l, int may_check)
{
	l->may_check = may_check;
	range_want(l, DUE_POLL);
	acct_want_left(l);
	acct_kick(l);
}

void
acct_day(struct accounting *l)
{
	range_want(l, DUE_DAY);
	acct_kick(l);
}

int
acct_backfill(struct accounting *l, int64_t from, int64_t to, int dry_run)
{
	if (from == 0 && to == 0) {
		l->due &= ~DUE_BACKFILL;
		l->backfilled = 0;
		l->ended++;
		acct_backfill_answer(l);
		return 0;
	}
	if (from <= 0 || to <= from)
		return -1;
	if (l->c->slurm.known && !l->c->slurm.accounting)
		log_warnx("backfill%s: Slurm has no slurmdbd to read: the "
			  "backfill waits until it has, or is cancelled",
		    cluster_suffix(l->c));
	range_want(l, DUE_BACKFILL);
	l->dry_run = dry_run;
	l->backfill_rows = 0;
	l->backfilled = 0;
	idmap_clear(&l->steps_sent[1]);
	range_set(&l->backfill, RANGE_BACKFILL, from, to);
	l->backfill.number = ++l->backfills;
	acct_kick(l);
	return 0;
}

/* Is the slice one of a backfill that has ended since? */
static int
backfill_is_over(const struct accounting *l)
{
	return l->range.kind == RANGE_BACKFILL &&
	    (!(l->due & DUE_BACKFILL) || l->range.number != l->backfill.number);
}

/*
 * Other queries run between two slices.  An answer counts only when our
 * permission is proved.
 */
static void
backfill_slice(struct accounting *l, int proved)
{
	int over = backfill_is_over(l);

	if (!proved)
		l->backfill_next = now_s() + BACKFILL_WAIT_S;
	else if (!over)
		l->backfill.at = l->range.at;
	if (proved && !over && l->backfill.at >= l->backfill.to) {
		l->due &= ~DUE_BACKFILL;
		l->backfilled = l->backfill.to;
		acct_watermark(l);
		log_info("backfill%s: read up to %s, %llu rows",
		    cluster_suffix(l->c), time_text(l->backfill.to),
		    (unsigned long long)l->backfill_rows);
	}
	l->range.kind = RANGE_NONE;
	acct_kick(l);
}

static void
range_done(struct accounting *l)
{
	if (l->range.kind == RANGE_POLL)
		l->c->caught_up = 1;
	l->range.kind = RANGE_NONE;
	acct_kick(l);
}

/* The latest time of a watermark; 0 = none. */
static int64_t
mark_bound(const struct accounting *l)
{
	const struct cluster *c = l->c;

	if (l->clock > 0)
		return l->clock;
	return c->clock.works || !c->clock.tried ? 0 : l->latest;
}

static void
slice_proved(struct accounting *l, int proved)
{
	int64_t until = mark_bound(l);
	int last = l->range.at >= l->range.to && l->range.to != 0;

	if (l->range.kind == RANGE_BACKFILL) {
		backfill_slice(l, proved);
		return;
	}
	/* No later slice may earn a watermark that skips this one. */
	if (l->range.kind == RANGE_POLL && !proved && l->slice_to != 0) {
		l->range.kind = RANGE_NONE;
		return;
	}
	if (l->range.kind == RANGE_POLL) {
		if (l->slice_to != 0 && l->slice_to < until)
			until = l->slice_to;
		if (proved && until > l->mark) {
			l->mark = until;
			l->mark_from = l->range.from;
		}
		acct_watermark(l);
		last = l->slice_to == 0;
	}
	if (last) {
		range_done(l);
		return;
	}
	acct_kick(l);
}

/*
 * Was the permission proved before the answer that was just read, and did no
 * answer since then lack a run that it must have?  A permission that was granted
 * after the answer says nothing about the answer.
 */
static int
had_permission(const struct accounting *l)
{
	return l->c->permission > PERMISSION_NONE && !l->doubt;
}

/* The permission was queried after an answer that is complete. */
static void
on_permission(void *arg, int proved)
{
	struct accounting *l = arg;

	l->checking = 0;
	if (proved)
		l->doubt = 0;
	slice_proved(l, proved && l->had_permission);
}

/* Called when the permission was checked because an answer was ignored. */
static void
on_permission_lost(void *arg, int proved)
{
	struct accounting *l = arg;

	l->checking = 0;
	if (proved)
		l->doubt = 0;
	wake(l->c);
}

/* If few runs ended in a long time, the next slice is longer. */
static void
slice_grow(struct accounting *l)
{
	if (l->reader.rows >= SLICE_ROWS || l->slice_ms >= SLICE_QUICK_MS)
		return;
	l->slice *= 2;
	if (l->slice > l->slice_most)
		l->slice = l->slice_most;
}

/*
 * The slice is too long for slurmdbd, or exceeds its MaxQueryTimeRange, which
 * limits operators too.  After a timeout the slices can grow again: slurmdbd may
 * only have been busy.  Returns 1 when slurmdbd refused the query only because of
 * its length.
 */
static int
slice_shrink(struct accounting *l, const struct command_end *end)
{
	int refused = end->outcome == COMMAND_FAILED &&
	    strstr(end->err, "Too wide of a date range") != NULL;
	int64_t to = l->slice_to != 0 ? l->slice_to : slurm_now(l->c);

	if ((!refused && end->outcome != COMMAND_TIMEOUT) ||
	    l->slice <= SLICE_MIN_S)
		return 0;
	/* The length is not the reason. */
	if (!refused && to - l->range.at <= SLICE_MIN_S)
		return 0;
	/* A part of a backfill may be shorter than a slice. */
	if (to - l->range.at < l->slice)
		l->slice = to - l->range.at;
	l->slice /= 2;
	if (l->slice < SLICE_MIN_S)
		l->slice = SLICE_MIN_S;
	if (!refused)
		return 0;
	l->slice_most = l->slice;
	log_notice("slurmdbd%s refuses such a long range: the next queries "
		   "cover %s each",
	    cluster_suffix(l->c), duration_text(l->slice * 1000));
	return 1;
}

/*
 * Decides whether a missing row of this answer proves anything.  Without our
 * permission the answer has no row of another user, except in accounts of which
 * our user is a coordinator.  Such a row is therefore a proof only if the
 * permission was proved before; otherwise the permission is queried.
 */
static void
slice_prove(struct accounting *l)
{
	struct cluster *c = l->c;

	if (l->range.kind == RANGE_DAY ||
	    slurm_permission_inherent(&c->slurm) ||
	    (l->others_seen && had_permission(l)))
		slice_proved(l, 1);
	else if (l->may_check || l->others_seen ||
	    l->range.kind == RANGE_BACKFILL || l->slice_to != 0) {
		l->checking = 1;
		l->had_permission = had_permission(l);
		permission_check(c, on_permission, l);
	} else
		slice_proved(l, 0);
}

/* The answer is complete. */
static void
slice_end(struct accounting *l)
{
	struct cluster *c = l->c;

	if (l->range.kind == RANGE_DAY)
		log_info("runs of the last day: read again up to %s, %llu rows",
		    time_text(l->slice_to), (unsigned long long)l->reader.rows);
	else if (l->range.kind == RANGE_POLL && l->slice_to != 0)
		log_notice("catching up%s: read up to %s, %llu rows",
		    cluster_suffix(c), time_text(l->slice_to),
		    (unsigned long long)l->reader.rows);
	l->c->trim |= l->reader.rows >= TRIM_ROWS;
	if (backfill_is_over(l)) {
		range_done(l);
		return;
	}
	if (l->range.kind != RANGE_POLL) {
		if (l->sentinel.job == 0)
			sentinel_adopt(l);
	} else if (sentinel_missing(l)) {
		l->range.kind = RANGE_NONE;
		l->doubt = 1;
		if (l->may_check && !slurm_permission_inherent(&c->slurm)) {
			l->checking = 1;
			permission_check(c, on_permission_lost, l);
		}
		return;
	}
	/*
	 * The slice is read again when slurmctld was queried about the kept
	 * rows, and accounting by id about parts of resized runs.  The last day
	 * is not: the query by id sends its rows.
	 */
	if (l->range.kind != RANGE_DAY && l->left_out > 0) {
		l->range.kind = RANGE_NONE;
		return;
	}
	parts_read(l);
	/*
	 * A short poll says nothing about the length that slurmdbd can answer, and
	 * the last day, which comes between the slices of a backfill, too little.
	 */
	if (l->range.kind != RANGE_DAY && l->slice_to - l->range.at >= l->slice)
		slice_grow(l);
	l->range.at = l->slice_to;
	l->range.tries = 0;
	slice_prove(l);
}

static void
slice_fail(struct accounting *l, const struct command_end *end)
{
	int ours = slice_shrink(l, end) || acct_column_missing(l, end);

	if (!steps_ended_query(l, end))
		query_failed(l->c, ours ? NULL : &l->c->dbd, "sacct", end);
	/* The range is read again after health_wait(); other ranges continue. */
	if (l->range.kind == RANGE_POLL) {
		l->range.kind = RANGE_NONE;
		l->due |= DUE_POLL;
	} else if (l->range.kind == RANGE_BACKFILL)
		l->range.kind = RANGE_NONE;
}

static void
on_range_end(const struct command_end *end, int complete, void *arg)
{
	struct accounting *l = arg;

	if (!complete || sacct_end(&l->reader) == -1) {
		slice_fail(l, end);
		sacct_clear(&l->reader);
		wake(l->c);
		return;
	}
	health_good(&l->c->dbd);
	sacct_clear(&l->reader);
	l->slice_ms = end->ms;
	if (l->reader.bad > 0 && !backfill_is_over(l)) {
		log_warnx("%u rows of sacct are malformed and %s",
		    l->reader.bad,
		    l->range.tries < BAD_TRIES ? "are queried again" :
						 "are skipped");
		if (l->range.tries++ < BAD_TRIES) {
			acct_kick(l);
			return;
		}
	}
	idmap_clear(&l->steps_sent[l->range.kind == RANGE_BACKFILL]);
	slice_end(l);
	if (l->n_kept > 0)
		l->c->work.rows_wait = 1;
	wake(l->c);
}

static int
on_range_row(struct job_snapshot *s, void *arg)
{
	struct accounting *l = arg;
	struct cluster *c = l->c;
	unsigned may;

	l->rows_read++;
	if (backfill_is_over(l))
		return 0;
	if (l->range.kind == RANGE_BACKFILL)
		l->backfill_rows++;
	sentinel_row(l, s);
	if (s->job.end > l->latest)
		l->latest = s->job.end;
	if (s->job.user != NULL && strcmp(s->job.user, c->slurm.user) != 0)
		l->others_seen = 1;
	lookup_row(c->lookups, s);
	if (l->range.kind != RANGE_BACKFILL && acct_row_overtakes(l, s))
		return acct_row_keep(l, s);
	may = parts_may(l, s);
	switch (l->range.kind == RANGE_BACKFILL ?
		track_backfill_row(c, s, may, l->dry_run) :
		track_accounting_row(c, s,
		    may | ROW_MAY_DETAILS | ROW_MAY_OPEN_DETAILS)) {
	case ROW_WANTS_DETAILS:
		return acct_row_keep(l, s);
	case ROW_WANTS_PARTS:
		return parts_want(l, s->job.key.job);
	case ROW_WANTS_STEPS:
		return steps_keep(l, s);
	case ROW_FAILED:
		/* The row must be read again, so no watermark is sent. */
		return -1;
	default:
		return 0;
	}
}

static const struct query_type range_query = {
	.kind = QUESTION_RANGE,
	.on_output = acct_question_feed,
	.on_end = on_range_end,
};

static void
slice_ask(struct accounting *l)
{
	struct acct_range *r = &l->range;
	int64_t now = slurm_now(l->c), end = r->to != 0 ? r->to : now;
	int64_t later = l->slice < LATER_S ? l->slice : LATER_S;
	int64_t rest = l->slice / 4;

	l->range_at = now_s();
	l->ids_failed = 0;
	/* A short rest is added to this slice. */
	if (l->slice + rest > l->slice_most)
		rest = 0;
	l->slice_to = r->at + l->slice + rest < end ? r->at + l->slice : r->to;
	l->clock = l->c->clock.drained;
	l->left_out = 0;
	l->latest = 0;
	l->others_seen = 0;
	sentinel_begin(l);
	l->asked_to = l->slice_to != 0 ? l->slice_to : now + later;
	acct_question(l, &range_query, on_range_row);
	l->query.question.from = r->at;
	l->query.question.to = l->asked_to;
	/* When out of memory, the next acct_kick() starts the query again. */
	(void)query_start(&l->query);
}

/*
 * The next query: ids first, because hook events wait for them, unless a range
 * is overdue.
 */
void
acct_kick(struct accounting *l)
{
	struct cluster *c = l->c;

	acct_outage_note(l);
	if (query_busy(&l->query) || l->checking || !c->ready || !c->synced ||
	    health_wait(&c->dbd) > 0 || outbox_full(c->outbox))
		return;
	if (!c->slurm.accounting) {
		/* The submitter asks for the range only once. */
		l->due &= DUE_BACKFILL;
		l->range.kind = RANGE_NONE;
		acct_ids_none(l);
		steps_none(l);
		return;
	}
	/* Without room for their rows, no query by id makes progress. */
	if ((l->steps_full && steps_query(l)) ||
	    (!range_is_overdue(l) && !steps_block(l, QUESTION_RUNS) &&
		acct_ids_query(l)) ||
	    steps_query(l) || steps_block(l, QUESTION_RANGE))
		return;
	if (l->range.kind == RANGE_NONE) {
		if (l->due & DUE_POLL) {
			l->due &= ~DUE_POLL;
			range_begin(l);
		} else if (l->due & DUE_DAY) {
			l->due &= ~DUE_DAY;
			read_from(c, slurm_now(c) - DAY_S);
			range_set(&l->range, RANGE_DAY, slurm_now(c) - DAY_S,
			    slurm_now(c));
		} else if ((l->due & DUE_BACKFILL) &&
		    now_s() >= l->backfill_next)
			l->range = l->backfill;
		else
			return;
	}
	slice_ask(l);
}

int
acct_catching_up(const struct accounting *l)
{
	return l->range.kind == RANGE_POLL && l->slice_to != 0 &&
	    !l->c->dbd.away;
}

int
acct_waits(const struct accounting *l)
{
	return l->due != 0 || l->c->work.accounting.n > 0 ||
	    l->n_step_rows > 0 ||
	    (l->range.kind != RANGE_NONE && !query_busy(&l->query) &&
		!l->checking);
}

int
acct_busy(const struct accounting *l)
{
	int urgent = l->range.kind == RANGE_POLL || l->range.kind == RANGE_DAY;

	return !l->c->dbd.away &&
	    (l->checking || l->c->work.accounting.n > 0 || l->asked.n > 0 ||
		(l->due & (DUE_POLL | DUE_DAY)) != 0 || urgent);
}

void
acct_pause(struct accounting *l, int pause)
{
	query_pause(&l->query, pause);
	if (!pause)
		acct_kick(l);
}

uint64_t
acct_rows_read(const struct accounting *l)
{
	return l->rows_read;
}
