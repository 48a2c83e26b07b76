/* SPDX-License-Identifier: MIT */
/*
 * Job scripts, a few at a time and one for each group: the tasks of an array,
 * or the components of a heterogeneous job.  The start of a run
 * waits some seconds for its script; the submitter gets a message in any case,
 * so that it stops waiting.
 *
 * A command that failed is repeated, one at a time, while slurmctld answers
 * other commands: a script that comes after the start is still delivered.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "collector/track/outbox.h"
#include "common/log.h"
#include "common/text/text.h"

#define AT_ONCE 4
/* Scripts of groups whose runs start one after the other */
#define GROUPS_KEPT 4
/*
 * Tries of one script.  Their waits are 1, 2, 4 ... 256 s: 8 minutes, longer
 * than slurmctld keeps an ended job by default (MinJobAge).
 */
#define TRIES_MAX     10
#define RETRY_WAIT_MS 1000

struct script_fetch {
	struct scripts *scripts;
	struct script_request *want; /* owned; NULL = free */
	struct query query;
	char *text; /* owned */
	size_t len;
	size_t cap;
};

struct group_script {
	uint64_t job;
	int64_t submit; /* Slurm may use the job id again */
	char *text;	/* owned; NULL = it has none */
};

struct scripts {
	struct cluster *c;
	struct script_fetch fetches[AT_ONCE];
	struct group_script groups[GROUPS_KEPT];
	unsigned turn;
	struct script_request *retries; /* owned, by their due time */
	unsigned n_retries;
};

static void new_fetches(struct scripts *s);

struct scripts *
scripts_new(struct cluster *c)
{
	struct scripts *s = calloc(1, sizeof(*s));
	unsigned i;

	if (s == NULL)
		fatalx("out of memory");
	s->c = c;
	for (i = 0; i < AT_ONCE; i++)
		s->fetches[i].scripts = s;
	return s;
}

unsigned
scripts_waiting(const struct scripts *s)
{
	unsigned i, n = s->c->work.n_scripts + s->n_retries;

	for (i = 0; i < AT_ONCE; i++)
		n += s->fetches[i].want != NULL;
	return n;
}

/* Sends the script; text may be NULL and stays the caller's. */
static void
send_script(struct scripts *s, const struct run_key *key, const char *text)
{
	struct job job;

	job_init(&job);
	job.key = *key;
	job.exit_code = -1;
	job.flags = JOB_PARTIAL;
	job.script = text != NULL ? strdup(text) : NULL;
	outbox_record(s->c->outbox, &job);
	job_clear(&job);
}

static const struct group_script *
group_find(const struct scripts *s, const struct script_request *want)
{
	unsigned i;

	for (i = 0; i < GROUPS_KEPT; i++)
		if (want->group != 0 && s->groups[i].job == want->group &&
		    s->groups[i].submit == want->submit)
			return &s->groups[i];
	return NULL;
}

static void
group_keep(struct scripts *s, const struct script_request *want,
    const char *text)
{
	struct group_script *a = &s->groups[s->turn];

	if (want->group == 0 || text == NULL || group_find(s, want) != NULL)
		return;
	free(a->text);
	a->text = strdup(text);
	a->job = a->text != NULL ? want->group : 0;
	a->submit = want->submit;
	s->turn = (s->turn + 1) % GROUPS_KEPT;
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct script_fetch *f = arg;
	size_t max = f->scripts->c->set->script_max + 1;
	size_t cap = f->cap != 0 ? f->cap : 4096;
	char *text;

	if (f->len >= max)
		return -1;
	/* One byte more than the limit shows that the script is cut. */
	if (n > max - f->len)
		n = max - f->len;
	while (cap < f->len + n)
		cap *= 2;
	if (cap != f->cap) {
		text = realloc(f->text, cap);
		if (text == NULL)
			return -1;
		f->text = text;
		f->cap = cap;
	}
	memcpy(f->text + f->len, p, n);
	f->len += n;
	return f->len == max ? -1 : 0;
}

static void
fetch_done(struct script_fetch *f)
{
	free(f->text);
	free(f->want);
	f->text = NULL;
	f->len = f->cap = 0;
	f->want = NULL;
}

/*
 * slurmctld has answered that there is no script.  Its errors have status 0 and
 * no output, also those that go away (a timeout, a right that is missing).
 */
static int
has_no_script(const struct command_end *end)
{
	return end->outcome == COMMAND_OK &&
	    (end->err[0] == '\0' || strstr(end->err, "not specified") != NULL ||
		strstr(end->err, "Invalid job id") != NULL);
}

static int
has_retry(const struct scripts *s, const struct run_key *key)
{
	const struct script_request *r = s->retries;

	while (
	    r != NULL && (r->key.job != key->job || r->key.start != key->start))
		r = r->next;
	return r != NULL;
}

/*
 * Returns 0 when there is no further try; otherwise takes the request.  A run
 * whose start was confirmed late has two requests.
 */
static int
retry_later(struct scripts *s, struct script_request *want)
{
	struct script_request **at = &s->retries;

	if (has_retry(s, &want->key)) {
		free(want);
		return 1;
	}

	if (++want->tries >= TRIES_MAX ||
	    s->n_retries + s->c->work.n_scripts >= SCRIPTS_MAX)
		return 0;
	want->due = now_ms() + ((int64_t)RETRY_WAIT_MS << (want->tries - 1));
	while (*at != NULL && (*at)->due <= want->due)
		at = &(*at)->next;
	want->next = *at;
	*at = want;
	s->n_retries++;
	return 1;
}

static void
on_end(const struct command_end *end, int complete, void *arg)
{
	struct script_fetch *f = arg;
	struct scripts *s = f->scripts;
	size_t max = s->c->set->script_max;
	char *text = NULL, why[256];
	int last = 1;

	(void)complete;
	if (f->len > 0 && max > 0 &&
	    (end->outcome == COMMAND_OK || end->outcome == COMMAND_REFUSED))
		text = text_clean(f->text, f->len, max);
	else {
		log_debug("job %llu: no script: %s",
		    (unsigned long long)f->want->job,
		    command_why(end, why, sizeof(why)));
		last = max == 0 || has_no_script(end) ||
		    !retry_later(s, f->want);
	}
	if (last) {
		send_script(s, &f->want->key, text);
		group_keep(s, f->want, text);
	} else
		f->want = NULL;
	free(text);
	fetch_done(f);
	new_fetches(s);
}

static const struct query_type script_query = {
	.kind = QUESTION_SCRIPT,
	.on_output = on_output,
	.on_end = on_end,
};

static int
fetch_start(struct script_fetch *f, struct script_request *want)
{
	query_begin(&f->query, f->scripts->c, &script_query, f);
	if (query_start_job(&f->query, want->job) == -1)
		return -1;
	f->want = want;
	return 0;
}

/* Is the script of this group being fetched? */
static int
is_coming(const struct scripts *s, uint64_t group)
{
	unsigned i;

	for (i = 0; i < AT_ONCE && group != 0; i++)
		if (s->fetches[i].want != NULL &&
		    s->fetches[i].want->group == group)
			return 1;
	return 0;
}

static struct script_fetch *
fetch_free(struct scripts *s)
{
	unsigned i, most = rate_limit_on(s->c) ? 1 : AT_ONCE;

	for (i = 0; i < most; i++)
		if (s->fetches[i].want == NULL)
			return &s->fetches[i];
	return NULL;
}

static void
new_fetches(struct scripts *s)
{
	struct worklist *work = &s->c->work;
	const struct group_script *a;
	struct script_request **p = &work->scripts, *want;
	struct script_fetch *f;

	/* The starts of all new runs come first. */
	if (work->more_runs || outbox_scarce(s->c->outbox))
		return;
	while ((want = *p) != NULL && (f = fetch_free(s)) != NULL) {
		a = group_find(s, want);
		if (a == NULL && is_coming(s, want->group)) {
			p = &want->next;
			continue;
		}
		*p = want->next;
		if (want->next == NULL)
			work->scripts_tail = p;
		work->n_scripts--;
		want->next = NULL;
		if (a == NULL && fetch_start(f, want) == 0)
			continue;
		send_script(s, &want->key, a != NULL ? a->text : NULL);
		free(want);
	}
}

/* Is a script fetched again? */
static int
is_retrying(const struct scripts *s)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (s->fetches[i].want != NULL && s->fetches[i].want->tries > 0)
			return 1;
	return 0;
}

/* One at a time, and at most one for each run of the lanes. */
static void
retry_due(struct scripts *s)
{
	const struct group_script *a;
	struct script_request *want = s->retries;
	struct script_fetch *f = fetch_free(s);

	if (want == NULL || f == NULL || want->due > now_ms() ||
	    s->c->ctld.away || is_retrying(s) || outbox_scarce(s->c->outbox))
		return;
	s->retries = want->next;
	s->n_retries--;
	want->next = NULL;
	a = group_find(s, want);
	if (a == NULL && fetch_start(f, want) == 0)
		return;
	send_script(s, &want->key, a != NULL ? a->text : NULL);
	free(want);
}

void
scripts_kick(struct scripts *s)
{
	new_fetches(s);
	retry_due(s);
}
