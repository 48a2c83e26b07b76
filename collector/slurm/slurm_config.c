/* SPDX-License-Identifier: MIT */
/* Slurm's configuration, as `scontrol show config` prints it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "collector/slurm/slurm.h"

static void
copy(char *to, size_t size, struct span s)
{
	if (s.n >= size)
		s.n = size - 1;
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
}

/* "slurm(64030)"; 0 when there is no number. */
static uint32_t
uid_of(const char *user)
{
	size_t name = strcspn(user, "("), n;
	uint32_t uid = 0;

	if (user[name] == '\0')
		return 0;
	n = strcspn(user + name + 1, ")");
	if (user[name + 1 + n] == '\0' ||
	    number_u32((struct span) { user + name + 1, n }, &uid) == -1)
		return 0;
	return uid;
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

/*
 * With MinJobAge=0 slurmctld purges no ended job.  A job counts as kept for this
 * time, seconds: a restart of slurmctld may have purged an older one.
 */
#define JOB_AGE_UNLIMITED 86400

/* "300 sec"; 0 when the value is not valid. */
static int64_t
job_age(struct span s)
{
	const char *space = memchr(s.p, ' ', s.n);
	uint32_t v;

	if (space != NULL)
		s.n = (size_t)(space - s.p);
	if (number_u32(s, &v) == -1)
		return 0;
	return v != 0 ? v : JOB_AGE_UNLIMITED;
}

/* "rl_bucket_size=30"; larger numbers than PARAMETER_MAX count as that. */
#define PARAMETER_MAX 1000000

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
	if (number_u32((struct span) { rest.p, n }, number) == 0 &&
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

/*
 * "PrologSlurmctld", or "PrologSlurmctld[0]" of newer versions, which print a
 * line for each script.
 */
static int
is_hook_key(struct span key, const char *name)
{
	size_t n = strlen(name);

	return key.n >= n && memcmp(key.p, name, n) == 0 &&
	    (key.n == n || key.p[n] == '[');
}

/* Appends a path of scripts; buf separates them with commas. */
static void
hook_add(char *buf, size_t size, struct span v)
{
	size_t used = strlen(buf);

	if (v.n == 0 || span_is(v, "(null)") || used + v.n + 2 > size)
		return;
	if (used > 0)
		buf[used++] = ',';
	copy(buf + used, size - used, v);
}

/* 1 when the line is about hooks. */
static int
hook_line(struct slurm *slurm, struct span key, struct span v)
{
	if (is_hook_key(key, "PrologSlurmctld"))
		hook_add(slurm->prolog, sizeof(slurm->prolog), v);
	else if (is_hook_key(key, "EpilogSlurmctld"))
		hook_add(slurm->epilog, sizeof(slurm->epilog), v);
	else if (span_is(key, "PrEpPlugins"))
		copy(slurm->prep, sizeof(slurm->prep), v);
	else
		return 0;
	return 1;
}

void
slurm_config_line(struct slurm *slurm, struct span line)
{
	struct span key, v;

	if (!config_pair(line, &key, &v) || hook_line(slurm, key, v))
		return;
	if (span_is(key, "ClusterName"))
		copy(slurm->cluster, sizeof(slurm->cluster), v);
	else if (span_is(key, "SLURM_VERSION")) {
		copy(slurm->version_text, sizeof(slurm->version_text), v);
		slurm->version = version_number(slurm->version_text);
	} else if (span_is(key, "SlurmUser")) {
		copy(slurm->slurm_user, sizeof(slurm->slurm_user), v);
		slurm->slurm_uid = uid_of(slurm->slurm_user);
		slurm->slurm_user[strcspn(slurm->slurm_user, "(")] = '\0';
	} else if (span_is(key, "PrivateData")) {
		slurm->private_jobs = token_find(v, "jobs") != NULL;
		slurm->private_nodes = token_find(v, "nodes") != NULL;
	} else if (span_is(key, "SlurmctldParameters"))
		limit_read(slurm, v);
	else if (span_is(key, "MinJobAge"))
		slurm->min_job_age = job_age(v);
	else if (span_is(key, "AccountingStorageEnforce"))
		slurm->no_steps = token_find(v, "nosteps") != NULL ||
		    token_find(v, "nojobs") != NULL;
	else if (span_is(key, "AccountingStorageType"))
		slurm->accounting = token_find(v, "slurmdbd") != NULL;
}
