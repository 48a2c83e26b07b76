/* SPDX-License-Identifier: MIT */
/*
 * Resources of runs from squeue's JSON, in the place of scontrol's text: no
 * text of a user's can pass for structure.  A job that cannot be read in it, or
 * has a host whose shape is not known (cores are counted by socket), is asked
 * for exactly, as text.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/details/details.h"
#include "collector/parse/json_read.h"
#include "common/log.h"

#define ELEMENT_MAX	LINE_BYTES_MAX

static int
on_shape(const char *host, struct node_shape *shape, void *arg)
{
	struct details *d = arg;
	const struct node_shape *known = hosts_shape(d->c->hosts, host);

	if (known == NULL) {
		d->shapeless = 1;
		return -1;
	}
	*shape = *known;
	return 0;
}

static void
on_lacks(uint64_t job, const char *field, void *arg)
{
	struct details *d = arg;

	/* Of a host whose shape is missing it is not the JSON's fault. */
	if (!d->shapeless)
		source_lacks(d->c, job, field);
}

/* Is it a run that ended unseen? */
static int
is_unseen_end(struct details *d, const struct job_snapshot *s)
{
	struct open_run *run;
	size_t at = 0;

	if (!d->all || s->state->phase != PHASE_ENDED || done_has(&d->c->done,
	    s->job.key.job, s->job.key.start))
		return 0;
	while ((run = open_of_job(&d->c->open, s->job.key.job, &at)) != NULL)
		if (!(run->flags & OPEN_LEFT))
			return 0;
	return 1;
}

int
details_json_read(struct details *d, struct span element,
    struct job_snapshot *s)
{
	struct json_reading how = { .how = &d->c->set->how, .shape = on_shape,
		.lacks = on_lacks, .arg = d };
	const char *word = d->c->set->opt_out;

	d->shapeless = 0;
	if (json_job(element, &how, s) != RECORD_GOOD || d->shapeless)
		return -1;
	if (*word != '\0' && s->job.admin_comment != NULL &&
	    strstr(s->job.admin_comment, word) != NULL)
		s->job.flags |= JOB_OPTED_OUT;
	s->job.slurm_info = json_info(element);
	return 0;
}

static void
element_take(struct details *d, struct detail_result *r, struct span element)
{
	struct job_snapshot s;
	int good;

	if (d->record_bytes > RECORD_BYTES_MAX) {
		if (r != NULL)
			r->verdict = DETAIL_LATER;
		return;
	}
	snapshot_init(&s);
	good = details_json_read(d, element, &s) == 0;
	if (r == NULL && good && is_unseen_end(d, &s))
		r = details_result_new(d, s.job.key.job, 0);
	if (r != NULL && good)
		details_line_keep(d, r, element);
	else if (r != NULL)
		r->verdict = DETAIL_AMBIGUOUS;
	snapshot_clear(&s);
}

static int
on_element(struct span element, void *arg)
{
	struct details *d = arg;
	struct detail_result *r;
	struct span id;
	int64_t job;
	int added;

	if (json_get(element, "job_id", &id) == JSON_NONE ||
	    json_get_count(id, &job) == -1 || job == 0)
		return 0;
	r = details_result(d, (uint64_t)job);
	if (idmap_put(&d->seen, (uint64_t)job, &added) == NULL)
		return -1;
	if (!added) {
		if (r != NULL)
			details_result_drop(r, DETAIL_AMBIGUOUS);
		return 0;
	}
	element_take(d, r, element);
	d->shapes_missing |= d->shapeless && r != NULL;
	return 0;
}

int
details_json_output(const char *p, size_t n, void *arg)
{
	struct details *d = arg;

	return json_split_feed(d->split, p, n);
}

int
details_json_begin(struct details *d)
{
	static const struct json_split_ops ops = { .on_element = on_element };

	json_split_free(d->split);
	d->split = source_json(d->c) != NULL ?
	    json_split_new("jobs", ELEMENT_MAX, &ops, d) : NULL;
	d->json = d->split != NULL;
	return d->json;
}

int
details_json_end(struct details *d)
{
	int rc = json_split_end(d->split);

	json_split_free(d->split);
	d->split = NULL;
	return rc;
}
