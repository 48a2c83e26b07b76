/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs from scontrol's text, line by line.  What users wrote stands
 * in it unescaped, so a line may be somebody's job name: a job that occurs twice
 * is in doubt, and so is the one before a line that is nobody's.  What is left
 * is kept, packed, to the end of the answer.
 */
#include "config.h"

#include "collector/details.h"

/*
 * A job that nobody asked for: is it a run that ended unseen?  Accounting knows
 * of those beyond doubt, and then they are asked for: this line may be a part of
 * somebody's job name, with the id of a job that slurmctld has forgotten.
 */
static int
is_worth_reading(struct details *d, uint64_t job, struct span line)
{
	struct open_run *run;
	size_t at = 0;

	if (!d->all || d->c->slurm.accounting || d->held > HELD_MAX / 2 ||
	    token_find(line, " JobState=PENDING ") != NULL)
		return 0;
	while ((run = open_of_job(&d->c->open, job, &at)) != NULL)
		if (!(run->flags & OPEN_LEFT))
			return 0;
	return 1;
}

static void
record_take(struct details *d, uint64_t job, struct span line)
{
	struct result *r = details_result(d, job);
	enum record_verdict verdict;
	struct sighting s;

	if (r == NULL && !is_worth_reading(d, job, line))
		return;
	if (d->held > HELD_MAX) {
		if (r != NULL)
			r->verdict = DETAIL_LATER;
		return;
	}
	sighting_init(&s);
	verdict = scontrol_record(line, (struct span){ NULL, 0 },
	    &d->c->set->how, &s);
	if (r == NULL && verdict == RECORD_GOOD &&
	    s.state->phase == PHASE_ENDED && !done_has(&d->c->done, job,
	    s.job.key.start)) {
		r = details_result_new(d, job, 0);
		d->found = 1;
	}
	if (r != NULL && verdict == RECORD_GOOD && !s.opt_out_seen)
		details_line_keep(d, r, line);
	else if (r != NULL)
		r->verdict = DETAIL_AMBIGUOUS;
	sighting_clear(&s);
}

static void
doubt(struct details *d, uint64_t job)
{
	struct result *r = details_result(d, job);

	if (r != NULL)
		details_result_drop(r, DETAIL_AMBIGUOUS);
}

static int
on_line(struct span line, void *arg)
{
	struct details *d = arg;
	uint64_t job = scontrol_id(line);
	int added;

	if (job == 0) {
		/*
		 * A user's text has a newline in it, and what came before may
		 * be a whole record in a job's name: its real one is here.
		 */
		if (line.n > 0)
			doubt(d, d->last);
		return 0;
	}
	d->last = job;
	if (idmap_put(&d->seen, job, &added) == NULL)
		return -1;
	if (added) {
		record_take(d, job, line);
		return 0;
	}
	/* Twice in one answer: one of them is a user's text. */
	doubt(d, job);
	return 0;
}

int
details_text_output(const char *p, size_t n, void *arg)
{
	struct details *d = arg;

	return lines_feed(&d->lines, p, n, on_line, d);
}
