/* SPDX-License-Identifier: MIT */
/*
 * The accounting lane: what ended, by range of time and by id.  A range is
 * asked in slices that fit slurmdbd's limits; each slice that was answered in
 * full, with the right to see all jobs proved, earns a mark.  A mark never
 * passes the moment at which slurmctld had told slurmdbd everything.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/accounting/accounting.h"
#include "common/log.h"

#define SLICE_S		86400	/* the first question of a catch-up spans no more */
#define SLICE_MIN_S	3600	/* nor, after it timed out, less */
#define SLICE_MAX_S	(8 * 86400)	/* nor, where little ended, more */
#define SLICE_ROWS	10000	/* fewer and quick: the next one spans twice as much */
#define SLICE_QUICK_MS	(ASK_LONG_MS / 4)
#define DAY_S		86400
#define LATER_S		86400	/* -E lies ahead, at most: clocks differ, -s needs an end */
#define BACKFILL_WAIT_S	60	/* until a past range is asked again without the right */
#define TRIM_ROWS	1000	/* of one answer: then memory is given back */
#define BAD_TRIES	2	/* then rows that cannot be read are left out */

struct ledger *
ledger_new(struct collector *c)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (l == NULL)
		fatal("no memory");
	l->c = c;
	l->slice = SLICE_S;
	l->slice_most = SLICE_MAX_S;
	return l;
}

static void
range_set(struct range *r, enum range_kind kind, int64_t from, int64_t to)
{
	r->kind = kind;
	r->from = from;
	r->to = to;
	r->at = from;
	r->tries = 0;
}

void
ledger_clock(struct ledger *l, int64_t clock)
{
	struct collector *c = l->c;
	int64_t back = c->cursor - clock;

	if (back <= 0)
		return;
	c->cursor = clock;
	if (c->clock > clock)
		c->clock = clock;
	/* What is being read now was asked for by the clock as it was. */
	if (l->clock > clock)
		l->clock = clock;
	l->mark = 0;
	if (back <= c->set->lag)
		return;
	log_notice("slurmctld's clock%s is %lld s behind what was read of "
	    "accounting: read again from there on, and the last day",
	    site_of(c), (long long)back);
	l->due |= DUE_DAY;
}

/* Since the cursor, but no further back than the site wants. */
static void
range_begin(struct ledger *l)
{
	struct collector *c = l->c;
	int64_t now = slurm_now(c), from = c->cursor, oldest;
	unsigned held;

	oldest = now - c->set->max_span;
	if (from < oldest) {
		if (from > 0 && log_allowed(&l->skipping, &held)) {
			log_errorx("the last %lld s that were read end before "
			    "slurmQueryMaxSpan: %lld s are skipped; "
			    "`cc-slurm-adapterctl backfill` fetches them",
			    (long long)from, (long long)(oldest - from));
		}
		if (from > 0)
			c->skipped_seconds += (uint64_t)(oldest - from);
		from = oldest;
		c->cursor = oldest;
	}
	from -= c->set->lag;
	range_set(&l->range, RANGE_POLL, from > 0 ? from : 1, 0);
}

void
ledger_range(struct ledger *l, int may_prove)
{
	l->may_prove = may_prove;
	l->due |= DUE_POLL;
	ledger_wanted_left(l);
	ledger_kick(l);
}

void
ledger_day(struct ledger *l)
{
	l->due |= DUE_DAY;
	ledger_kick(l);
}

int
ledger_backfill(struct ledger *l, int64_t from, int64_t to, int look)
{
	if (from <= 0 || to <= from)
		return -1;
	l->due |= DUE_BACKFILL;
	l->look = look;
	l->backfill_rows = 0;
	range_set(&l->backfill, RANGE_BACKFILL, from, to);
	ledger_kick(l);
	return 0;
}

/*
 * Between two slices the other questions have their turn.  An answer counts
 * only with the right to see all jobs, as everywhere.
 */
static void
backfill_slice(struct ledger *l, int proved)
{
	int same = l->range.from == l->backfill.from &&
	    l->range.to == l->backfill.to;

	if (!proved)
		l->backfill_next = now_s() + BACKFILL_WAIT_S;
	else if (same)
		l->backfill.at = l->range.at;
	if (proved && same && l->backfill.at >= l->backfill.to) {
		l->due &= ~DUE_BACKFILL;
		out_backfilled(l->c->out, l->c, l->backfill.to);
		log_info("backfill%s: read up to %lld, %llu rows",
		    site_of(l->c), (long long)l->backfill.to,
		    (unsigned long long)l->backfill_rows);
	}
	l->range.kind = RANGE_NONE;
	ledger_kick(l);
}

static void
range_done(struct ledger *l)
{
	if (l->range.kind == RANGE_POLL)
		l->c->caught_up = 1;
	l->range.kind = RANGE_NONE;
	ledger_kick(l);
}

/* As far as the mark may go; 0 = nowhere. */
static int64_t
mark_bound(const struct ledger *l)
{
	const struct collector *c = l->c;

	if (l->clock > 0)
		return l->clock;
	return c->clock_works || !c->clock_tried ? 0 : l->latest;
}

/* Rows that wait for their resources hold the mark back as well. */
void
ledger_mark(struct ledger *l)
{
	struct collector *c = l->c;

	if (l->mark <= c->cursor || l->n_held > 0 || l->n_doubts > 0)
		return;
	c->cursor = l->mark;
	l->mark = 0;
	out_mark(c->out, c, c->cursor);
}

static void
slice_proved(struct ledger *l, int proved)
{
	int64_t until = mark_bound(l);
	int last = l->range.at >= l->range.to && l->range.to != 0;

	if (l->range.kind == RANGE_BACKFILL) {
		backfill_slice(l, proved);
		return;
	}
	/* No later one may earn a mark that passes over this one. */
	if (l->range.kind == RANGE_POLL && !proved && l->slice_to != 0) {
		l->range.kind = RANGE_NONE;
		return;
	}
	if (l->range.kind == RANGE_POLL) {
		if (l->slice_to != 0 && l->slice_to < until)
			until = l->slice_to;
		if (proved && until > l->mark)
			l->mark = until;
		ledger_mark(l);
		last = l->slice_to == 0;
	}
	if (last) {
		range_done(l);
		return;
	}
	ledger_kick(l);
}

static void
on_right(struct collector *c, int proved)
{
	c->ledger->proving = 0;
	slice_proved(c->ledger, proved);
}

/* The answer does not count; is it because our right is gone? */
static void
on_right_missing(struct collector *c, int proved)
{
	(void)proved;
	c->ledger->proving = 0;
	plan_kick(c);
}

/* A long time in which little ended costs few questions. */
static void
slice_grow(struct ledger *l)
{
	if (l->reader.rows >= SLICE_ROWS ||
	    l->slice_ms >= SLICE_QUICK_MS)
		return;
	l->slice *= 2;
	if (l->slice > l->slice_most)
		l->slice = l->slice_most;
}

/*
 * Too much for slurmdbd, or for its MaxQueryTimeRange, which binds operators
 * too.  1: it was refused only for that.
 */
static int
slice_shrink(struct ledger *l, const struct command_end *end)
{
	int refused = end->outcome == COMMAND_FAILED &&
	    strstr(end->err, "Too wide of a date range") != NULL;

	if ((!refused && end->outcome != COMMAND_TIMEOUT) ||
	    l->slice <= SLICE_MIN_S)
		return 0;
	l->slice /= 2;
	if (l->slice < SLICE_MIN_S)
		l->slice = SLICE_MIN_S;
	l->slice_most = l->slice;
	if (refused)
		log_notice("slurmdbd%s refuses so long a range: asked for %lld s "
		    "at a time", site_of(l->c), (long long)l->slice);
	return refused;
}

/*
 * The whole answer is there.  Without the right to see all jobs it would be
 * as whole, but empty: somebody else's row, or slurmdbd itself, must say that
 * the right is still ours.
 */
static void
slice_end(struct ledger *l)
{
	struct collector *c = l->c;

	if (l->range.kind == RANGE_DAY)
		log_info("the last day again: read up to %lld, %llu rows",
		    (long long)l->slice_to,
		    (unsigned long long)l->reader.rows);
	else if (l->range.kind == RANGE_POLL && l->slice_to != 0)
		log_notice("catching up%s: read up to %lld s ago, %llu rows",
		    site_of(c), (long long)(slurm_now(c) - l->slice_to),
		    (unsigned long long)l->reader.rows);
	l->c->trim |= l->reader.rows >= TRIM_ROWS;
	if (l->range.kind != RANGE_POLL) {
		if (l->witness.job == 0)
			witness_adopt(l);
	} else if (witness_missing(l)) {
		l->range.kind = RANGE_NONE;
		if (l->may_prove && !slurm_right_inherent(&c->slurm)) {
			l->proving = 1;
			right_prove(c, on_right_missing);
		}
		return;
	}
	/* Those that slurmctld is asked for make room: then it comes again. */
	if (l->range.kind == RANGE_POLL && l->left_out > 0) {
		l->range.kind = RANGE_NONE;
		return;
	}
	l->range.at = l->slice_to;
	l->range.tries = 0;
	slice_grow(l);
	if (l->range.kind == RANGE_DAY || slurm_right_inherent(&c->slurm) ||
	    (l->witnessed && c->right != RIGHT_NONE))
		slice_proved(l, 1);
	else if (l->may_prove || l->range.kind == RANGE_BACKFILL ||
	    l->slice_to != 0) {
		l->proving = 1;
		right_prove(c, on_right);
	} else
		slice_proved(l, 0);
}

static void
slice_fail(struct ledger *l, const struct command_end *end)
{
	int ours = slice_shrink(l, end) || ledger_lacks(l, end);

	ask_failed(l->c, ours ? NULL : &l->c->dbd, "sacct", end);
	/* The next poll begins anew; the others go on where they were. */
	if (l->range.kind == RANGE_POLL) {
		l->range.kind = RANGE_NONE;
		l->due |= DUE_POLL;
	} else if (l->range.kind == RANGE_BACKFILL)
		l->range.kind = RANGE_NONE;
}

static void
on_range_end(const struct command_end *end, void *arg)
{
	struct ledger *l = arg;

	l->cmd = NULL;
	if (end->outcome != COMMAND_OK || ledger_end(l) == -1) {
		slice_fail(l, end);
		sacct_clear(&l->reader);
		plan_kick(l->c);
		return;
	}
	health_good(&l->c->dbd);
	sacct_clear(&l->reader);
	l->slice_ms = end->ms;
	if (l->reader.bad > 0) {
		log_warnx("%u rows of accounting cannot be read%s",
		    l->reader.bad, l->range.tries < BAD_TRIES ?
		    ", asked again" : " and are left out");
		if (l->range.tries++ < BAD_TRIES) {
			ledger_kick(l);
			return;
		}
	}
	slice_end(l);
	if (l->n_held > 0)
		cycle_want_details(l->c->cycle);
	plan_kick(l->c);
}

static int
on_range_output(const char *p, size_t n, void *arg)
{
	struct ledger *l = arg;
	int rc = ledger_feed(l, p, n);

	if (out_full(l->c->out) && l->cmd != NULL)
		command_hold(l->cmd, 1);
	return rc;
}

static int
on_range_row(struct sighting *s, void *arg)
{
	struct ledger *l = arg;
	struct collector *c = l->c;

	c->rows_read++;
	if (l->range.kind == RANGE_BACKFILL)
		l->backfill_rows++;
	witness_row(l, s);
	if (s->job.end > l->latest)
		l->latest = s->job.end;
	if (s->job.user != NULL && strcmp(s->job.user, c->slurm.user) != 0)
		l->witnessed = 1;
	asks_row(c->asks, s);
	switch (l->range.kind == RANGE_BACKFILL ? run_past(c, s, l->look) :
	    run_accounted(c, s, 1)) {
	case ROW_WANTS_DETAILS:
		return ledger_keep(l, s);
	case ROW_WANTS_STEPS:
		return steps_keep(l, s);
	case ROW_FAILED:
		/* It has to be asked for again, so nothing is marked. */
		return -1;
	default:
		return 0;
	}
}

static void
slice_ask(struct ledger *l)
{
	struct range *r = &l->range;
	int64_t now = slurm_now(l->c), end = r->to != 0 ? r->to : now;
	int64_t later = l->slice < LATER_S ? l->slice : LATER_S;
	int64_t rest = l->slice / 4;

	/* A short rest is no question of its own. */
	if (l->slice + rest > l->slice_most)
		rest = 0;
	l->slice_to = r->at + l->slice + rest < end ? r->at + l->slice : r->to;
	l->clock = l->c->clock;
	l->left_out = 0;
	l->latest = 0;
	l->witnessed = 0;
	witness_begin(l);
	l->asked_to = l->slice_to != 0 ? l->slice_to : now + later;
	snprintf(l->from_text, sizeof(l->from_text), "uts%lld",
	    (long long)r->at);
	snprintf(l->to_text, sizeof(l->to_text), "uts%lld",
	    (long long)l->asked_to);
	ledger_ask(l, on_range_row, on_range_output, on_range_end, NULL);
}

/* What is next: ids first, for hooks wait for them. */
void
ledger_kick(struct ledger *l)
{
	struct collector *c = l->c;

	if (l->cmd != NULL || l->proving || !c->ready || !c->synced ||
	    health_wait(&c->dbd) > 0 || out_full(c->out))
		return;
	if (!c->slurm.accounting) {
		l->due = 0;
		ledger_ids_none(l);
		return;
	}
	if (ledger_ids_ask(l) || steps_ask(l))
		return;
	if (l->range.kind == RANGE_NONE) {
		if (l->due & DUE_POLL) {
			l->due &= ~DUE_POLL;
			range_begin(l);
		} else if (l->due & DUE_DAY) {
			l->due &= ~DUE_DAY;
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
ledger_catching_up(const struct ledger *l)
{
	return l->range.kind == RANGE_POLL && l->slice_to != 0 &&
	    !l->c->dbd.away;
}

int
ledger_busy(const struct ledger *l)
{
	int urgent = l->range.kind == RANGE_POLL || l->range.kind == RANGE_DAY;

	return !l->c->dbd.away && (l->proving || l->wanted.n > 0 ||
	    l->asked.n > 0 || (l->due & (DUE_POLL | DUE_DAY)) != 0 || urgent);
}

void
ledger_hold(struct ledger *l, int hold)
{
	if (l == NULL)
		return;
	if (l->cmd != NULL)
		command_hold(l->cmd, hold);
	if (!hold)
		ledger_kick(l);
}
