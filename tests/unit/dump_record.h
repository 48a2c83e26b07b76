/* SPDX-License-Identifier: MIT */
/* What a reader made of a job, as text, one field a line; for the tests of readers. */
#ifndef TESTS_UNIT_DUMP_RECORD_H
#define TESTS_UNIT_DUMP_RECORD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

#define DUMP_MEMORY	1u	/* leave out the memory */
#define DUMP_USER	2u
#define DUMP_EXIT	4u
#define DUMP_REASON	8u	/* and what only a part of the readers has */

/* A record as text, hosts in the order of their names. */
struct dump {
	char	text[16 * 1024];
	size_t	len;
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

static inline void
dump_text(struct dump *d, const char *key, const char *text)
{
	dump_add(d, "%s [%s]\n", key, text != NULL ? text : "");
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
		dump_add(d, "\n");
	}
}

static inline void
dump_record(struct dump *d, struct job_snapshot *s, unsigned skip)
{
	struct job *j = &s->job;

	d->len = 0;
	d->text[0] = '\0';
	dump_add(d, "job %llu\nstate %s\nflags %u\nsubmit %lld\nstart %lld\n"
	    "end %lld %s\n", (unsigned long long)j->key.job, s->state->word,
	    j->flags, (long long)j->submit, (long long)j->key.start,
	    (long long)j->end, job_end_name(j->state));
	dump_add(d, "exit %d\nnever %d\nbatch %d\noptout %d\n",
	    skip & DUMP_EXIT ? 0 : j->exit_code, s->never, s->batch,
	    s->opt_out_seen);
	dump_add(d, "shared %s whole %d\nrestarts %u\narray %llu\ntask %u\n"
	    "het %llu\noffset %u\n", job_shared_name(j->shared),
	    s->whole_is_none, j->restarts, (unsigned long long)j->array_job,
	    j->array_task, (unsigned long long)j->het_job, j->het_offset);
	dump_add(d, "nodes %u\ncpus %u\naccels %u\nwalltime %lld\n"
	    "memory %llu\n", j->nodes, j->cpus, j->accels,
	    (long long)j->walltime,
	    skip & DUMP_MEMORY ? 0 : (unsigned long long)j->memory);
	dump_text(d, "user", skip & DUMP_USER ? "" : j->user);
	dump_text(d, "account", j->account);
	dump_text(d, "partition", j->partition);
	dump_text(d, "qos", j->qos);
	dump_text(d, "reservation", j->reservation);
	dump_text(d, "reason", skip & DUMP_REASON ? "" : j->reason);
	dump_text(d, "admin", skip & DUMP_REASON ? "" : j->admin_comment);
	dump_text(d, "name", j->name);
	dump_hosts(d, j);
}

#endif
