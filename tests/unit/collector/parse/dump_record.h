/* SPDX-License-Identifier: MIT */
/* The record that a reader made of a job, as one line of text. */
#ifndef TESTS_UNIT_COLLECTOR_PARSE_DUMP_RECORD_H
#define TESTS_UNIT_COLLECTOR_PARSE_DUMP_RECORD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

/* A record as text.  Fields end with "|"; hosts are sorted by name. */
struct dump {
	char text[16 * 1024];
	size_t len;
};

static void dump_add(struct dump *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
dump_add(struct dump *d, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(d->text + d->len, sizeof(d->text) - d->len, fmt, ap);
	va_end(ap);
	if (n > 0 && d->len + (size_t)n < sizeof(d->text))
		d->len += (size_t)n;
}

/* Writes a newline in the text as \n. */
static inline void
dump_text(struct dump *d, const char *key, const char *text)
{
	dump_add(d, "%s [", key);
	for (; text != NULL && *text != '\0'; text++) {
		if (*text == '\n')
			dump_add(d, "\\n");
		else
			dump_add(d, "%c", *text);
	}
	dump_add(d, "]|");
}

static inline int
dump_by_name(const void *a, const void *b)
{
	const struct job_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static inline void
dump_hosts(struct dump *d, struct job *j)
{
	const struct job_host *h;
	uint32_t i, k;

	if (j->n_hosts > 1)
		qsort(j->hosts, j->n_hosts, sizeof(*j->hosts), dump_by_name);
	for (i = 0; i < j->n_hosts; i++) {
		h = &j->hosts[i];
		dump_add(d, "host %s", h->name);
		for (k = 0; k < h->n_cpus; k++)
			dump_add(d, " %u-%u", h->cpus[k].first,
			    h->cpus[k].last);
		for (k = 0; k < h->n_accels; k++)
			dump_add(d, " %s", h->accels[k]);
		dump_add(d, "|");
	}
}

static inline void
dump_record(struct dump *d, struct job_snapshot *s)
{
	struct job *j = &s->job;

	d->len = 0;
	d->text[0] = '\0';
	dump_add(d,
	    "job %llu|start %lld|state %s|flags %u|submit %lld|"
	    "end %lld %s|",
	    (unsigned long long)j->key.job, (long long)j->key.start,
	    s->state->word, j->flags, (long long)j->submit, (long long)j->end,
	    job_end_name(j->state));
	dump_add(d, "exit %d|never %d|batch %d|optout %d|", j->exit_code,
	    s->never, s->batch, s->opt_out_seen);
	dump_add(d,
	    "shared %s whole %d|restarts %u|array %llu|task %u|"
	    "het %llu|offset %u|",
	    job_shared_name(j->shared), s->whole_is_none, j->restarts,
	    (unsigned long long)j->array_job, j->array_task,
	    (unsigned long long)j->het_job, j->het_offset);
	dump_add(d, "nodes %u|cpus %u|accels %u|walltime %lld|memory %llu|",
	    j->nodes, j->cpus, j->accels, (long long)j->walltime,
	    (unsigned long long)j->memory);
	dump_text(d, "user", j->user);
	dump_text(d, "account", j->account);
	dump_text(d, "partition", j->partition);
	dump_text(d, "qos", j->qos);
	dump_text(d, "reservation", j->reservation);
	dump_text(d, "name", j->name);
	dump_hosts(d, j);
}

#endif
