/* SPDX-License-Identifier: MIT */
/*
 * Collects what deserves the attention of an admin: the summaries of the
 * workers, and the problems that the supervisor itself sees.  A worker that
 * does not serve keeps its last summary, because the state of Slurm and
 * cc-backend did not change with the worker.  All of this changes with events
 * of this process only.
 */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/ipc/pace.h"
#include "common/text/time_text.h"
#include "supervisor/summary.h"
#include "supervisor/supervisor.h"

#define CHECK_MS   1000	 /* between two checks */
#define REFRESH_MS 60000 /* systemd gets the numbers again */
#define SILENT_MS  3000	 /* without an answer to a ping */

struct overview {
	struct summary of[ROLE__COUNT]; /* the last one of each worker */
	int64_t last_job;		/* also of workers that have ended */
	struct attention now;
	struct attention before;
	struct pace pace;
	long long told_ms; /* clock_ms() of the sentence for systemd */
	/* what that sentence was made of */
	int64_t told_since;
	unsigned told_n;
	char told_first[SUMMARY_TEXT_MAX];
};

static void __attribute__((format(printf, 6, 7)))
own_add(struct attention *a, enum problem_kind kind, enum role role,
    unsigned item, int64_t since, const char *fmt, ...)
{
	struct attention_item *to;
	va_list ap;

	if (a->n == ATTENTION_MAX) {
		a->more++;
		return;
	}
	to = &a->items[a->n++];
	memset(to, 0, sizeof(*to));
	to->role = role;
	to->problem.kind = (uint8_t)kind;
	to->problem.item = (uint8_t)item;
	to->problem.since = since;
	va_start(ap, fmt);
	vsnprintf(to->problem.text, sizeof(to->problem.text), fmt, ap);
	va_end(ap);
}

static void
processes_add(const struct supervisor *sup, struct attention *a)
{
	const struct child *c;
	int role;

	a->processes = 1;
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->workers.children[role];
		if (!child_is_used(c))
			continue;
		if (c->state == CHILD_READY && c->ping_sent_ms != 0 &&
		    clock_ms() - c->ping_sent_ms >= SILENT_MS)
			own_add(a, PROBLEM_PROCESS, c->role, 0, 0,
			    "the %s does not answer", role_name(c->role));
		else if (c->state == CHILD_READY)
			a->processes++;
		else
			own_add(a, PROBLEM_PROCESS, c->role, 0, 0,
			    "the %s %s%s%.200s", role_name(c->role),
			    c->restarts == 0 && c->last_exit[0] == '\0' ?
				"is starting" :
				"is being restarted",
			    c->last_exit[0] != '\0' ? ": " : "", c->last_exit);
	}
}

static void
own_problems_add(const struct supervisor *sup, struct attention *a)
{
	const struct crash_record *s = sup->workers.crash_records;
	unsigned i, n = 0;

	processes_add(sup, a);
	if (*sup->unsafe != '\0')
		own_add(a, PROBLEM_UNSAFE, ROLE_SUPERVISOR, 0, 0, "%.300s",
		    sup->unsafe);
	for (i = 0; i < sup->workers.n_crash_records; i++)
		n += s[i].crashes >= QUARANTINE_CRASHES;
	if (n > 0)
		own_add(a, PROBLEM_QUARANTINE, ROLE_SUPERVISOR, 0, 0,
		    "workers crashed on %u run%s, which %s in quarantine: "
		    "report the fault with the log",
		    n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
	if (sup->reload_failed)
		own_add(a, PROBLEM_CONFIGURATION, ROLE_SUPERVISOR, 0,
		    sup->reload_time, "the last reload failed: %.280s",
		    sup->reload_result);
}

static void
workers_problems_add(const struct overview *o, struct attention *a)
{
	const struct summary *s;
	uint32_t i;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		s = &o->of[role];
		a->more += s->more;
		a->running += s->running;
		a->waiting += s->waiting;
		a->lost += s->lost;
		a->standby |= s->standby;
		for (i = 0; i < s->n; i++)
			own_add(a, s->problems[i].kind, (enum role)role,
			    s->problems[i].item, s->problems[i].since, "%s",
			    s->problems[i].text);
	}
	a->last_job = o->last_job;
}

/* Without Slurm, the configuration names the clusters. */
static unsigned
clusters_count(const struct conf *conf)
{
	const char *list = conf_str(conf, CONF_CLUSTERS);
	char name[CLUSTER_MAX];
	unsigned n = 0;

	if (!conf_reads_stream(conf))
		return 0;
	while (conf_list_item(list, n, name, sizeof(name)) == 1)
		n++;
	return n;
}

const struct attention *
summary_now(struct supervisor *sup)
{
	struct overview *o = sup->overview;

	/*
	 * Copies only the items in use: the kernel gives no memory for the
	 * others.
	 */
	memcpy(&o->before, &o->now,
	    offsetof(struct attention, items) +
		o->now.n * sizeof(o->now.items[0]));
	memset(&o->now, 0, offsetof(struct attention, items));
	own_problems_add(sup, &o->now);
	o->now.clusters = clusters_count(&sup->conf);
	workers_problems_add(o, &o->now);
	attention_continue(&o->now, &o->before, time(NULL));
	attention_sort(&o->now);
	return &o->now;
}

/* 1 when systemd has another state than the suite. */
static int
is_changed(const struct overview *o)
{
	const char *first = o->now.n > 0 ? o->now.items[0].problem.text : "";

	return o->told_since != o->now.since || o->told_n != o->now.n ||
	    strcmp(o->told_first, first) != 0;
}

void
summary_turn(struct supervisor *sup)
{
	struct overview *o = sup->overview;
	char text[SENTENCE_MAX];

	if (!pace_turn(&o->pace, CHECK_MS, REFRESH_MS))
		return;
	summary_now(sup);
	if (!sup->ready_sent || sup->reload.active || sup->workers.stopping ||
	    (!is_changed(o) && clock_ms() - o->told_ms < REFRESH_MS))
		return;
	o->told_ms = clock_ms();
	o->told_since = o->now.since;
	o->told_n = o->now.n;
	snprintf(o->told_first, sizeof(o->told_first), "%s",
	    o->now.n > 0 ? o->now.items[0].problem.text : "");
	sentence_write(&o->now, time(NULL), text, sizeof(text));
	notify_status(text);
}

void
summary_take(struct child *c, const struct summary *s)
{
	struct supervisor *sup = c->workers->arg;
	struct overview *o = sup->overview;

	if (o == NULL)
		return;
	memcpy(&o->of[c->role], s,
	    offsetof(struct summary, problems) + s->n * sizeof(s->problems[0]));
	if (s->last_job > o->last_job)
		o->last_job = s->last_job;
}

void
summary_init(struct supervisor *sup)
{
	struct overview *o = calloc(1, sizeof(*o));

	if (o == NULL)
		fatalx("out of memory");
	sup->overview = o;
	if (pace_init(&o->pace, sup->base) == -1)
		fatalx("out of memory");
}

void
summary_clear(struct supervisor *sup)
{
	if (sup->overview == NULL)
		return;
	pace_clear(&sup->overview->pace);
	free(sup->overview);
	sup->overview = NULL;
}
