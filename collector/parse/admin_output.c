/* SPDX-License-Identifier: MIT */
/*
 * Short answers, read line by line: slurmctld's clock and queue (sdiag), the
 * rights of a user and PrivateData (sacctmgr), the controllers (scontrol ping)
 * and settings.  Admins can write into them, users cannot.  All values are
 * bounded; a line that is not understood changes nothing.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collector/slurm/slurm.h"

void
sdiag_line(struct sdiag *d, struct span line)
{
	static const char queue_key[] = "DBD Agent queue size:";
	struct span v;
	const char *p;
	uint64_t n;

	if (token_find(line, "sdiag output at ") != NULL &&
	    (p = memrchr(line.p, '(', line.n)) != NULL) {
		v = span_from(line, p + 1);
		if (v.n > 0 && v.p[v.n - 1] == ')')
			v.n--;
		time_point(v, &d->clock);
	} else if ((p = token_find(line, queue_key)) != NULL) {
		v = span_from(line, p + sizeof(queue_key) - 1);
		while (v.n > 0 && *v.p == ' ')
			v = span_from(v, v.p + 1);
		if (number_u64(v, &n) == 0 && n <= INT64_MAX)
			d->queue = (int64_t)n;
	}
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
		a->operator = 1;
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

static void
copy(char *to, size_t size, struct span s)
{
	if (s.n >= size)
		s.n = size - 1;
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
}

/* "22.05.8" */
static unsigned
version_number(const char *text)
{
	unsigned year, month;

	if (sscanf(text, "%u.%u", &year, &month) != 2 || year > 99 ||
	    month > 12)
		return 0;
	return year * 100 + month;
}

/* "300 sec" */
static int64_t
seconds(struct span s)
{
	const char *space = memchr(s.p, ' ', s.n);
	uint32_t v;

	if (space != NULL)
		s.n = (size_t)(space - s.p);
	return number_u32(s, &v) == 0 ? v : 0;
}

/* "rl_bucket_size=30"; what is far beyond our needs counts as that. */
#define PARAMETER_MAX	1000000

static void
parameter(struct span v, const char *key, uint32_t *number)
{
	const char *at = token_find(v, key);
	struct span rest;
	size_t n = 0;

	if (at == NULL)
		return;
	rest = span_from(v, at + strlen(key));
	while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
		n++;
	if (number_u32((struct span){ rest.p, n }, number) == 0 &&
	    *number > PARAMETER_MAX)
		*number = PARAMETER_MAX;
}

/* The defaults are Slurm's. */
static void
limit_read(struct slurm *slurm, struct span v)
{
	if (token_find(v, "rl_enable") == NULL)
		return;
	slurm->limit_bucket = 30;
	slurm->limit_rate = 2;
	slurm->limit_period = 1;
	parameter(v, "rl_bucket_size=", &slurm->limit_bucket);
	parameter(v, "rl_refill_rate=", &slurm->limit_rate);
	parameter(v, "rl_refill_period=", &slurm->limit_period);
}

/* "MinJobAge               = 300 sec"; 0 = no such line. */
static int
config_pair(struct span line, struct span *key, struct span *v)
{
	const char *equals = line.n > 0 ? memchr(line.p, '=', line.n) : NULL;

	if (equals == NULL)
		return 0;
	*v = trim(span_from(line, equals + 1));
	*key = trim((struct span){ line.p, (size_t)(equals - line.p) });
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

void
slurm_config_line(struct slurm *slurm, struct span line)
{
	struct span key, v;

	if (!config_pair(line, &key, &v))
		return;
	if (span_is(key, "ClusterName"))
		copy(slurm->cluster, sizeof(slurm->cluster), v);
	else if (span_is(key, "SLURM_VERSION")) {
		copy(slurm->version_text, sizeof(slurm->version_text), v);
		slurm->version = version_number(slurm->version_text);
	} else if (span_is(key, "SlurmUser")) {
		copy(slurm->slurm_user, sizeof(slurm->slurm_user), v);
		slurm->slurm_user[strcspn(slurm->slurm_user, "(")] = '\0';
	} else if (span_is(key, "PrivateData"))
		slurm->private_jobs = token_find(v, "jobs") != NULL;
	else if (span_is(key, "SlurmctldParameters"))
		limit_read(slurm, v);
	else if (span_is(key, "MinJobAge"))
		slurm->min_job_age = seconds(v);
	else if (span_is(key, "AccountingStorageType"))
		slurm->accounting = token_find(v, "slurmdbd") != NULL;
}
