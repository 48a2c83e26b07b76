/* SPDX-License-Identifier: MIT */
/*
 * Short answers, read line by line: slurmctld's clock and queue (sdiag), the
 * rights of a user and PrivateData (sacctmgr), the controllers (scontrol ping)
 * and settings.  Admins can write text into these answers, users cannot.  All
 * values are bounded.  A line that is not understood changes nothing.
 */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "collector/parse/parse.h"

/* "... Sat Nov 21 17:34:11 2026 (1795282451)" */
static void
sdiag_time(struct span line, int64_t *t)
{
	const char *p = memrchr(line.p, '(', line.n);
	struct span v;

	if (p == NULL)
		return;
	v = span_from(line, p + 1);
	if (v.n > 0 && v.p[v.n - 1] == ')')
		v.n--;
	time_point(v, t);
}

static int
sdiag_number(struct span v, uint64_t *n)
{
	while (v.n > 0 && *v.p == ' ')
		v = span_from(v, v.p + 1);
	return number_u64(v, n) == 0 && *n <= INT64_MAX ? 0 : -1;
}

/* "Jobs started:   1"; "Jobs pending" and "Jobs running" are no counters. */
static void
sdiag_counter(struct sdiag *d, struct span line)
{
	static const char *const keys[SDIAG_COUNTERS] = { "Jobs submitted:",
		"Jobs started:", "Jobs completed:", "Jobs canceled:",
		"Jobs failed:" };
	uint64_t n;
	size_t i, len;

	for (i = 0; i < SDIAG_COUNTERS; i++) {
		len = strlen(keys[i]);
		if (line.n <= len || memcmp(line.p, keys[i], len) != 0 ||
		    sdiag_number(span_from(line, line.p + len), &n) == -1)
			continue;
		d->events += n;
		d->counters++;
	}
}

void
sdiag_line(struct sdiag *d, struct span line)
{
	static const char queue_key[] = "DBD Agent queue size:";
	const char *p;
	uint64_t n;

	if (token_find(line, "sdiag output at ") != NULL)
		sdiag_time(line, &d->clock);
	else if (token_find(line, "Data since ") != NULL)
		sdiag_time(line, &d->since);
	else if ((p = token_find(line, queue_key)) != NULL) {
		if (sdiag_number(span_from(line, p + sizeof(queue_key) - 1),
			&n) == 0)
			d->queue = (int64_t)n;
	} else
		sdiag_counter(d, line);
}

void
admin_line(struct admin *a, const char *user, struct span line)
{
	size_t n = strlen(user);
	const char *bar;

	/* slurmdbd stores names in lower case by default. */
	if (n == 0 || line.n <= n || strncasecmp(line.p, user, n) != 0 ||
	    line.p[n] != '|')
		return;
	a->known = 1;
	line = span_from(line, line.p + n + 1);
	bar = line.n > 0 ? memchr(line.p, '|', line.n) : NULL;
	if (bar != NULL)
		line.n = (size_t)(bar - line.p);
	if (span_is(line, "Operator") || span_is(line, "Administrator"))
		a->operator= 1;
}

/* Compares host names up to the first dot, as Slurm does. */
static int
same_host(struct span a, const char *b)
{
	size_t n = strcspn(b, ".");
	const char *dot = a.n > 0 ? memchr(a.p, '.', a.n) : NULL;

	if (dot != NULL)
		a.n = (size_t)(dot - a.p);
	return n > 0 && a.n == n && strncasecmp(a.p, b, n) == 0;
}

/* "Slurmctld(backup1) at HOST is UP" */
void
controllers_line(struct controllers *c, const char *host, struct span line)
{
	static const char at_key[] = " at ", is_key[] = " is ";
	struct span name, word;
	const char *at, *is;

	if (token_find(line, "Slurmctld(") != line.p || line.n == 0 ||
	    (at = token_find(line, at_key)) == NULL)
		return;
	name = span_from(line, at + sizeof(at_key) - 1);
	if ((is = token_find(name, is_key)) == NULL || is == name.p ||
	    c->n == CONTROLLERS_MAX)
		return;
	word = span_from(name, is + sizeof(is_key) - 1);
	name.n = (size_t)(is - name.p);
	if (same_host(name, host))
		c->ours = (int)c->n;
	if (c->first_up == -1 && span_is(word, "UP"))
		c->first_up = (int)c->n;
	c->n++;
}

static struct span
trim(struct span s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

int
config_pair(struct span line, struct span *key, struct span *v)
{
	const char *equals = line.n > 0 ? memchr(line.p, '=', line.n) : NULL;

	if (equals == NULL)
		return 0;
	*v = trim(span_from(line, equals + 1));
	*key = trim((struct span) { line.p, (size_t)(equals - line.p) });
	return v->n > 0;
}

void
dbd_config_line(struct dbd_config *d, struct span line)
{
	struct span key, v;

	if (span_is(trim(line), "SlurmDBD configuration:"))
		d->reached = 1;
	else if (d->reached && config_pair(line, &key, &v) &&
	    span_is(key, "PrivateData"))
		d->private_jobs = token_find(v, "jobs") != NULL;
}
