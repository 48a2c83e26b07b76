/* SPDX-License-Identifier: MIT */
/*
 * One job whose texts make its record ambiguous.  squeue shows the texts that
 * precede Slurm's tokens, and the admin's comment, between random delimiters.
 * With the exact texts the beginning of the record is certain, if it occurs once;
 * otherwise the record stays without resources.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/details/details_private.h"
#include "common/log.h"

/*
 * All tasks of an array.  After a longer answer the job stays ambiguous: it must
 * not delay the other jobs.
 */
#define TEXT_BYTES_MAX (16u * 1024 * 1024)

struct disambiguate {
	struct details *d;
	struct detail_result *r;
	void (*done)(struct details *d, int answered);
	struct query query;
	char delimiter[DELIMITER_LEN + 1];
	char *text; /* owned: an answer */
	size_t len;
	size_t cap;
	char *names;		   /* owned: squeue's answer */
	struct record_texts exact; /* in names */
	int opted_out;
};

void
disambiguate_free(struct disambiguate *x)
{
	if (x == NULL)
		return;
	lines_clear(&x->query.lines);
	question_clear(&x->query.question);
	free(x->text);
	free(x->names);
	free(x);
}

static int
on_text(const char *p, size_t n, void *arg)
{
	struct disambiguate *x = arg;
	size_t cap = x->cap != 0 ? x->cap : 4096;
	char *text;

	if (n > TEXT_BYTES_MAX - x->len)
		return -1;
	while (cap < x->len + n)
		cap *= 2;
	if (cap != x->cap) {
		text = realloc(x->text, cap);
		if (text == NULL)
			return -1;
		x->text = text;
		x->cap = cap;
	}
	memcpy(x->text + x->len, p, n);
	x->len += n;
	return 0;
}

/* How many records of the job with exactly these texts there are; the first in s. */
static unsigned
records_find(struct disambiguate *x, struct job_snapshot *s)
{
	struct span all = { x->text, x->len };
	struct job_snapshot found;
	const char *nl;
	unsigned n = 0;

	for (;;) {
		if (scontrol_id(all) == x->r->job) {
			snapshot_init(&found);
			if (scontrol_record(all, &x->exact, &x->d->c->set->how,
				&found) == RECORD_GOOD &&
			    n++ == 0)
				*s = found;
			else
				snapshot_clear(&found);
		}
		nl = all.n > 0 ? memchr(all.p, '\n', all.n) : NULL;
		if (nl == NULL)
			return n;
		all = span_from(all, nl + 1);
	}
}

static void
stay_ambiguous(struct disambiguate *x)
{
	log_warnx("job %llu: the texts of the job make slurmctld's answer "
		  "ambiguous; the record has no threads and devices",
	    (unsigned long long)x->r->job);
	x->done(x->d, 1);
}

static void
on_record(const struct command_end *end, int complete, void *arg)
{
	struct disambiguate *x = arg;
	struct details *d = x->d;
	struct job_snapshot s;
	unsigned n;

	(void)complete;
	if (end->outcome == COMMAND_REFUSED) {
		stay_ambiguous(x);
		return;
	}
	if (end->outcome != COMMAND_OK) {
		x->r->verdict = DETAIL_UNKNOWN;
		x->done(d,
		    end->outcome == COMMAND_FAILED &&
			strstr(end->err, "Invalid job id") != NULL);
		return;
	}
	n = records_find(x, &s);
	if (n != 1) {
		if (n > 1)
			snapshot_clear(&s);
		stay_ambiguous(x);
		return;
	}
	if (x->opted_out)
		s.job.flags |= JOB_OPTED_OUT;
	details_keep(d, x->r, &s);
	x->done(d, 1);
}

/* Of each job: id, name, the admin's comment, MCS label, QOS. */
#define FIELDS 5

static int
texts_find(struct disambiguate *x)
{
	struct span all = { x->text, x->len }, f[FIELDS + 1];
	const char *word = x->d->c->set->opt_out;
	uint64_t id;

	while (
	    delimiter_split(all, x->delimiter, f, FIELDS + 1) >= FIELDS + 1) {
		while (f[0].n > 0 && f[0].p[0] == '\n')
			f[0] = span_from(f[0], f[0].p + 1);
		if (number_u64(f[0], &id) == 0 && id == x->r->job) {
			x->exact = (struct record_texts) { .name = f[1],
				.label = f[3],
				.qos = f[4] };
			x->opted_out = *word != '\0' &&
			    token_find(f[2], word) != NULL;
			x->names = x->text;
			x->text = NULL;
			x->len = x->cap = 0;
			return 0;
		}
		all = span_from(all,
		    f[FIELDS - 1].p + f[FIELDS - 1].n + strlen(x->delimiter));
	}
	return -1;
}

static const struct query_type record_query = {
	.kind = QUESTION_JOB,
	.on_output = on_text,
	.on_end = on_record,
};

static void
on_texts(const struct command_end *end, int complete, void *arg)
{
	struct disambiguate *x = arg;
	struct details *d = x->d;

	(void)complete;
	if (end->outcome == COMMAND_REFUSED) {
		stay_ambiguous(x);
		return;
	}
	if (end->outcome != COMMAND_OK || texts_find(x) == -1) {
		x->r->verdict = DETAIL_UNKNOWN;
		x->done(d,
		    end->outcome == COMMAND_OK ||
			strstr(end->err, "Invalid job id") != NULL);
		return;
	}
	query_begin(&x->query, d->c, &record_query, x);
	if (query_start_job(&x->query, x->r->job) == -1)
		x->done(d, 0);
}

static const struct query_type texts_query = {
	.kind = QUESTION_NAME,
	.on_output = on_text,
	.on_end = on_texts,
};

void
disambiguate_start(struct details *d, struct detail_result *r,
    void (*done)(struct details *d, int answered))
{
	struct disambiguate *x = calloc(1, sizeof(*x));

	d->disambiguate = x;
	if (x == NULL) {
		done(d, 0);
		return;
	}
	x->d = d;
	x->r = r;
	x->done = done;
	delimiter_new(x->delimiter);
	query_begin(&x->query, d->c, &texts_query, x);
	memcpy(x->query.question.delimiter, x->delimiter, sizeof(x->delimiter));
	if (query_start_job(&x->query, r->job) == -1)
		done(d, 0);
}
