/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs from scontrol's text, line by line.  Texts of users are
 * not escaped, so that a line may be a part of a job name.  A job that occurs
 * twice is ambiguous, and so is the one before a line that is no record.  The
 * other records are kept, packed, to the end of the answer.
 */
#include "config.h"

#include <string.h>

#include "collector/details/details_private.h"
#include "collector/track/track.h"

/*
 * Jobs; then all wait for one more answer.  One answer must have fewer of them,
 * or the jobs wait for ever: after a failure of many nodes each running job may
 * stand before a job that is pending again.  RECORD_BYTES_MAX limits them to
 * about 25,000.
 */
#define SUSPECTS_MAX 65536

/*
 * Is the line of a job that was not wanted worth reading, because the run may
 * have ended unseen?  Accounting has such runs with certainty, and they are
 * queried then: this line may be part of a job name, with the id of a job that
 * slurmctld has purged.
 */
static int
is_worth_reading(struct details *d, uint64_t job, struct span line)
{
	struct open_run *run;
	size_t at = 0;

	if (!d->all || d->c->slurm.accounting ||
	    token_find(line, " JobState=PENDING ") != NULL)
		return 0;
	while ((run = open_of_job(&d->c->open, job, &at)) != NULL)
		if (!(run->flags & OPEN_LEFT))
			return 0;
	if (d->record_bytes <= RECORD_BYTES_MAX / 2)
		return 1;
	d->skipped = 1;
	return 0;
}

/*
 * Mostly the next line is a job that began after squeue was queried; seldom it
 * is the rest of a record whose first line was forged.  The job waits for the
 * next answer; when that has such a line too the job is queried exactly.
 */
static void
result_wait(struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);
	int added;

	if (r == NULL || r->verdict != DETAIL_GOOD)
		return;
	if (d->suspects.n >= SUSPECTS_MAX)
		idmap_clear(&d->suspects);
	if (idmap_put(&d->suspects, job, &added) != NULL && added)
		details_result_drop(r, DETAIL_LATER);
	else
		details_result_drop(r, DETAIL_AMBIGUOUS);
}

/*
 * slurmctld may have purged a job that squeue showed.  Then a line of this job
 * can be the rest of another job's record: with the other job's start, or
 * behind a line that ends within a name.
 */
static int
is_rest(struct details *d, const struct detail_result *r,
    const struct job_snapshot *s)
{
	struct span cut = { d->cut, d->cut_len };
	struct job_snapshot before;
	int is_record;

	if (r->start != 0 && s->state->phase != PHASE_PENDING &&
	    s->job.key.start != r->start)
		return 1;
	if (cut.n == 0 || d->bytes - d->cut_at > CUT_BYTES)
		return 0;
	snapshot_init(&before);
	is_record = scontrol_record(cut, NULL, &d->c->set->how, &before) ==
	    RECORD_GOOD;
	snapshot_clear(&before);
	return !is_record;
}

/*
 * The result that a line of this job can change.  The answer about one job also
 * has the other tasks of its array, or the other components of a heterogeneous
 * job, and a text of its user may contain a line of any job.  Each job of the
 * batch has a query of its own, so that the answer changes the queried job only.
 */
static struct detail_result *
line_result(const struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	return d->all || r == NULL || r == &d->results[d->at] ? r : NULL;
}

/* The last place of key in s; NULL when there is none. */
static const char *
last_find(struct span s, const char *key)
{
	const char *at = NULL, *p;

	for (; (p = token_find(s, key)) != NULL; s = span_from(s, p + 1))
		at = p;
	return at;
}

/*
 * The bytes up to which the line may go on with a newline in a text of the user,
 * see scontrol_job.c; 0 = the line does not end within such a text.  A text may
 * contain the keys: the last place of each counts, which is the latest.  Before
 * 24.11 the QOS is a name that an admin chose, and many records have few bytes
 * behind it.
 */
static size_t
text_end(const struct details *d, struct span line)
{
	static const char *const keys[] = { " JobName=", " MCS_label=",
		" ClusterFeatures=", " QOS=" };
	unsigned version = d->c->slurm.version;
	struct span tail = line;
	const char *at, *last = NULL;
	size_t i, n, n_keys = sizeof(keys) / sizeof(keys[0]);

	if (version != 0 && version < 2411)
		n_keys--;
	if (tail.n > USER_TEXT_BYTES + 32)
		tail = span_from(line, line.p + line.n - USER_TEXT_BYTES - 32);
	for (i = 0; i < n_keys; i++) {
		at = last_find(tail, keys[i]);
		if (at != NULL && at + strlen(keys[i]) > last)
			last = at + strlen(keys[i]);
	}
	/* A list of features in brackets. */
	at = token_find(line, " MinCPUsNode=");
	if (at != NULL) {
		at = memrchr(at, '[', span_from(line, at).n);
		if (at != NULL && (last == NULL || at > last))
			last = at;
	}
	if (last == NULL)
		return 0;
	n = (size_t)(last - line.p) + USER_TEXT_BYTES;
	return n >= line.n ? n : 0;
}

static void
recent_add(struct details *d, uint64_t job, struct span line)
{
	size_t end = text_end(d, line);

	if (end == 0)
		return;
	end += d->bytes + 1;
	d->recent[d->n_recent++ % RECENT_LINES] = (struct recent_line) { job,
		end };
	if (end > d->recent_until)
		d->recent_until = end;
}

/* The records whose lines a line that begins here may be a part of. */
static unsigned
recent_n(const struct details *d)
{
	if (d->recent_until < d->bytes)
		return 0;
	return d->n_recent < RECENT_LINES ? d->n_recent : RECENT_LINES;
}

/*
 * The nearest of the jobs whose record the line may be a part of that begins at
 * `bytes` of the answer; 0 = none.
 */
static uint64_t
recent_job(const struct details *d)
{
	unsigned i, n = recent_n(d);
	const struct recent_line *at;

	for (i = 1; i <= n; i++) {
		at = &d->recent[(d->n_recent - i) % RECENT_LINES];
		if (at->until >= d->bytes)
			return at->job;
	}
	return 0;
}

/* Calls use() for each job whose record this line may be a part of. */
static void
each_recent(struct details *d, void (*use)(struct details *d, uint64_t job))
{
	unsigned i, n = recent_n(d);
	const struct recent_line *at;

	for (i = 1; i <= n; i++) {
		at = &d->recent[(d->n_recent - i) % RECENT_LINES];
		if (at->until >= d->bytes)
			use(d, at->job);
	}
}

/*
 * The first line of this job in the answer was a text of a user: calls use() for
 * each job whose record that line may be a part of, from the nearest on.
 */
static void
each_before(struct details *d, uint64_t job,
    void (*use)(struct details *d, uint64_t job))
{
	const struct detail_result *r;
	uint64_t from = 0;
	uint32_t *before;

	while ((before = idmap_get(&d->seen, job)) != NULL && *before != 0 &&
	    (r = details_result(d, *before)) != NULL) {
		if (from == 0)
			from = r->at;
		/* This one is too far away to have the line, too. */
		if (from - r->at > CUT_BYTES)
			return;
		job = r->job;
		use(d, job);
	}
}

static void
record_take(struct details *d, uint64_t job, struct span line)
{
	struct detail_result *r = line_result(d, job);
	enum record_verdict verdict;
	struct job_snapshot s;

	if (r == NULL && !is_worth_reading(d, job, line))
		return;
	if (d->record_bytes > RECORD_BYTES_MAX) {
		if (r != NULL)
			r->verdict = DETAIL_LATER;
		return;
	}
	snapshot_init(&s);
	verdict = scontrol_record(line, NULL, &d->c->set->how, &s);
	if (r == NULL && verdict == RECORD_GOOD &&
	    s.state->phase == PHASE_ENDED &&
	    !done_has(&d->c->done, job, s.job.key.start)) {
		r = details_result_new(d, job, 0);
		if (r != NULL)
			r->at = d->bytes;
		d->found = 1;
	}
	/* The next answer has its end. */
	if (r == NULL && verdict == RECORD_GOOD &&
	    s.state->phase == PHASE_COMPLETING &&
	    !done_has(&d->c->done, job, s.job.key.start))
		d->skipped = 1;
	if (r != NULL && verdict == RECORD_GOOD && !s.opt_out_seen) {
		details_line_keep(d, r, line);
		r->phase = s.state->phase;
		r->lacks = details_lacks_host(d, &s) != 0;
		if (is_rest(d, r, &s)) {
			result_wait(d, job);
			each_before(d, job, result_wait);
		}
	} else if (r != NULL)
		r->verdict = DETAIL_AMBIGUOUS;
	snapshot_clear(&s);
}

void
details_text_begin(struct details *d)
{
	d->bytes = 0;
	d->n_recent = 0;
	d->recent_until = 0;
	d->cut_len = 0;
	d->last = 0;
	idmap_clear(&d->seen);
	idmap_random(&d->seen); /* users can choose the ids of forged lines */
}

/* A longer line does not end before JobState=. */
static void
cut_keep(struct details *d, struct span line)
{
	d->cut_len = line.n <= CUT_BYTES ? line.n : 0;
	if (d->cut_len > 0)
		memcpy(d->cut, line.p, line.n);
	d->cut_at = d->bytes;
}

static void
result_ambiguous(struct details *d, uint64_t job)
{
	struct detail_result *r = line_result(d, job);

	if (r != NULL)
		details_result_drop(r, DETAIL_AMBIGUOUS);
}

/* The rest of a record has the start that squeue showed. */
static void
result_wait_same(struct details *d, uint64_t job)
{
	struct detail_result *r = details_result(d, job);

	if (r != NULL && (r->start == 0 || r->start == d->rest_start))
		result_wait(d, job);
}

static int
is_unknown(struct cluster *c, const struct job_snapshot *s)
{
	uint64_t job = s->job.key.job;
	int64_t start = s->job.key.start;

	return open_find(&c->open, job, start) == NULL &&
	    !done_has(&c->done, job, start) &&
	    !track_quarantined(c, job, start);
}

/*
 * Lets the jobs wait whose record this line may be the rest of.  It may be that
 * if it is ambiguous or malformed; if it shows a live run that is neither in
 * squeue's rows nor in the tables; if it shows an unknown run that has ended
 * since squeue was queried; or if it shows a job that is pending again.
 */
static void
suspect(struct details *d, const struct job_snapshot *s,
    enum record_verdict verdict)
{
	if (verdict != RECORD_GOOD) {
		each_recent(d, result_wait);
		return;
	}
	switch (s->state->phase) {
	case PHASE_CONFIGURING:
	case PHASE_RUNNING:
	case PHASE_COMPLETING:
		if (is_unknown(d->c, s))
			each_recent(d, result_wait);
		break;
	case PHASE_ENDED:
		d->rest_start = s->job.key.start;
		if (is_unknown(d->c, s))
			each_recent(d, result_wait_same);
		break;
	default:
		if (s->job.restarts > 0)
			each_recent(d, result_wait);
	}
}

/* The line of a job that was not queried. */
static void
other_line(struct details *d, struct span line)
{
	enum record_verdict verdict;
	struct job_snapshot s;

	/* Above this number squeue's rows were not all read. */
	if (d->n >= NEW_JOBS_MAX || recent_job(d) == 0)
		return;
	snapshot_init(&s);
	verdict = scontrol_record(line, NULL, &d->c->set->how, &s);
	if (verdict != RECORD_NONE)
		suspect(d, &s, verdict);
	snapshot_clear(&s);
}

/*
 * Has the line a token that Slurm prints directly behind a text of the user, see
 * text_end()?  The last line of each text has it.  Otherwise the line is, from 26.05
 * on, one of SubmitLine=, or one within a text whose last line follows.
 */
static int
is_rest_of_record(const struct details *d, struct span line)
{
	static const char *const behind[] = { " UserId=", " Priority=", " QOS=",
		" JobState=", " DelayBoot=", " OverSubscribe=" };
	size_t i;

	for (i = 0; i < sizeof(behind) / sizeof(behind[0]); i++)
		if (token_find(line, behind[i]) != NULL)
			return 1;
	return d->c->slurm.version < 2605;
}

/*
 * A line that is no record belongs to the record before it.  SubmitLine= (26.05) often
 * has several lines, and the admin's comment is in the last of them.
 */
static void
more_line(struct details *d, struct span line)
{
	const char *word = d->c->set->how.opt_out_word;

	if (recent_n(d) > 0 && is_rest_of_record(d, line))
		each_recent(d, result_ambiguous);
	if (d->last != 0 && word != NULL && token_find(line, word) != NULL)
		result_ambiguous(d, d->last);
}

/*
 * A text of a user may contain a newline: the lines before it may look like a
 * whole record, and the real record is here.  This is so after a line that is
 * no record, after a second line of the same job, and after a line of an
 * unknown job.
 */
int
details_text_line(struct span line, void *arg)
{
	struct details *d = arg;
	uint64_t job = scontrol_id(line);
	struct detail_result *r;
	uint32_t *before;
	int added = 0;

	if (job == 0) {
		if (line.n > 0)
			more_line(d, line);
	} else if ((before = idmap_put(&d->seen, job, &added)) == NULL)
		return -1;
	else if (!added) {
		/* One of the two lines is a text of a user. */
		result_ambiguous(d, job);
		each_recent(d, result_ambiguous);
		each_before(d, job, result_ambiguous);
	} else {
		*before = (uint32_t)recent_job(d); /* wanted: 32 bits */
		r = line_result(d, job);
		if (r == NULL)
			other_line(d, line);
		else
			r->at = d->bytes;
		record_take(d, job, line);
		if (line_result(d, job) != NULL)
			recent_add(d, job, line);
	}
	if (job != 0) {
		cut_keep(d, line);
		d->last = line_result(d, job) != NULL ? job : 0;
	}
	d->bytes += line.n + 1;
	return 0;
}
