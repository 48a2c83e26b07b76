/* SPDX-License-Identifier: MIT */
/* The sentence of `status`; see summary.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text/time_text.h"
#include "supervisor/summary.h"

#define DAY 86400

struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < t->size - t->len ? (size_t)n :
							 t->size - t->len - 1;
}

/* "14:02" within the last day, else with the date. */
static void
since_add(struct text *t, int64_t since, int64_t now)
{
	const char *text = time_text(since);

	if (now - since < DAY && now >= since && strlen(text) > 16)
		text_add(t, "%.5s", text + 11);
	else
		text_add(t, "%s", text);
}

static void
waiting_add(struct text *t, const struct attention *a)
{
	if (a->waiting == 0)
		text_add(t, "nothing waits");
	else
		text_add(t, "%s run%s", count_text(a->waiting),
		    a->waiting == 1 ? " waits" : "s wait");
}

static void
ok_write(struct text *t, const struct attention *a, int64_t now)
{
	text_add(t, "OK: %u processes, ", a->processes);
	if (a->clusters > 0)
		text_add(t, "%u cluster%s, ", a->clusters,
		    a->clusters == 1 ? "" : "s");
	if (a->standby)
		text_add(t, "standby: the other daemon sends, ");
	text_add(t, "%s job%s running, ", count_text(a->running),
	    a->running == 1 ? "" : "s");
	waiting_add(t, a);
	if (a->last_job == 0)
		text_add(t, ", no job since the start");
	else if (a->last_job > now) /* the clock was set back */
		text_add(t, ", last job at %s by an earlier clock",
		    time_text(a->last_job));
	else if (a->last_job == now)
		text_add(t, ", last job less than 1 s ago");
	else
		text_add(t, ", last job %s ago",
		    duration_text((now - a->last_job) * 1000));
}

/*
 * The numbers of waiting and lost runs follow a text of limited length, so that
 * they are never cut.
 */
static void
degraded_write(struct text *t, const struct attention *a, int64_t now)
{
	unsigned long long others = (unsigned long long)a->n - 1 + a->more;
	text_add(t, "DEGRADED since ");
	since_add(t, a->since, now);
	text_add(t, ": %s", a->items[0].problem.text);
	if (others > 0)
		text_add(t, ", and %llu more", others);
	text_add(t, "; ");
	waiting_add(t, a);
	if (a->lost > 0)
		text_add(t, ", threads and GPUs of %s runs are lost",
		    count_text(a->lost));
	else if (a->waiting > 0)
		text_add(t, ", none lost");
}

void
sentence_write(const struct attention *a, int64_t now, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	if (a->n == 0)
		ok_write(&t, a, now);
	else
		degraded_write(&t, a, now);
}

static int
item_compare(const void *p, const void *q)
{
	const struct attention_item *a = p, *b = q;

	if (a->problem.kind != b->problem.kind)
		return a->problem.kind < b->problem.kind ? -1 : 1;
	if (a->problem.since != b->problem.since)
		return a->problem.since < b->problem.since ? -1 : 1;
	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	return (a->problem.item > b->problem.item) -
	    (a->problem.item < b->problem.item);
}

void
attention_sort(struct attention *a)
{
	qsort(a->items, a->n, sizeof(a->items[0]), item_compare);
}

/* The time at which the problem was seen first; 0 = it is new. */
static int64_t
since_before(const struct attention *before, const struct attention_item *item)
{
	const struct attention_item *was;

	for (was = before->items; was < before->items + before->n; was++)
		if (was->role == item->role &&
		    was->problem.kind == item->problem.kind &&
		    was->problem.item == item->problem.item)
			return was->problem.since;
	return 0;
}

void
attention_continue(struct attention *a, const struct attention *before,
    int64_t now)
{
	int64_t first = now, was;
	struct problem *p;
	unsigned i;

	for (i = 0; i < a->n; i++) {
		p = &a->items[i].problem;
		was = since_before(before, &a->items[i]);
		if (p->since == 0 || p->since > now)
			p->since = now;
		if (was != 0 && was < p->since)
			p->since = was;
		if (p->since < first)
			first = p->since;
	}
	a->since = 0;
	if (a->n > 0)
		a->since = before->since != 0 && before->since <= now ?
		    before->since :
		    first;
}
