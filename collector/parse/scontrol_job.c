/* SPDX-License-Identifier: MIT */
/*
 * Records of `scontrol show job -d -o`; see parse.h.  They have no delimiters,
 * but their tokens have a fixed order.  Users choose the job name and the tokens
 * behind OverSubscribe= (Command, Comment, WorkDir); Slurm or an admin chooses
 * all tokens between them.  So a forged token is recognized if the end of the
 * job name is certain and each token is searched only behind the one before.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

#define NAME_MAX_BYTES 4096 /* Slurm stores 1024 at most */

uint64_t
scontrol_id(struct span line)
{
	static const char key[] = "JobId=";
	struct span v;
	const char *end;
	uint64_t id;

	if (line.n < sizeof(key) || memcmp(line.p, key, sizeof(key) - 1) != 0)
		return 0;
	v = span_from(line, line.p + sizeof(key) - 1);
	end = memchr(v.p, ' ', v.n);
	if (end != NULL)
		v.n = (size_t)(end - v.p);
	return number_u64(v, &id) == 0 ? id : 0;
}

/*
 * Reads "name(1001)", which must be followed by after.  Returns the end of the
 * parenthesis, or NULL.
 */
static const char *
account_end(struct span s, const char *after, struct span *name,
    struct span *id)
{
	const char *close, *open;
	char tail[32];
	size_t n = strlen(after);

	tail[0] = ')';
	memcpy(tail + 1, after, n + 1);
	close = token_find(s, tail);
	if (close == NULL)
		return NULL;
	open = memrchr(s.p, '(', (size_t)(close - s.p));
	if (open == NULL)
		return NULL;
	*name = (struct span) { s.p, (size_t)(open - s.p) };
	*id = (struct span) { open + 1, (size_t)(close - open) - 1 };
	return close + 1;
}

/* Does s begin with " UserId=x(N) GroupId=y(N) "?  *rest becomes the rest. */
static int
is_owner(struct span s, struct span *user, struct span *uid, struct span *rest)
{
	static const char user_key[] = " UserId=", group_key[] = " GroupId=";
	struct span group, gid;
	const char *p;
	uint64_t v;

	if (s.n < sizeof(user_key) ||
	    memcmp(s.p, user_key, sizeof(user_key) - 1) != 0)
		return 0;
	s = span_from(s, s.p + sizeof(user_key) - 1);
	p = account_end(s, group_key, user, uid);
	if (p == NULL || number_u64(*uid, &v) == -1)
		return 0;
	s = span_from(s, p + sizeof(group_key) - 1);
	p = account_end(s, " ", &group, &gid);
	if (p == NULL || number_u64(gid, &v) == -1)
		return 0;
	*rest = span_from(s, p);
	return 1;
}

/* The place of the owner; NULL when there is none, or more than one. */
static const char *
owner_find(struct span s)
{
	struct span user, uid, rest;
	const char *found = NULL, *at;

	while ((at = token_find(s, " UserId=")) != NULL) {
		s = span_from(s, at);
		if (is_owner(s, &user, &uid, &rest)) {
			if (found != NULL)
				return NULL;
			found = at;
		}
		s = span_from(s, at + 1);
	}
	return found;
}

/* Reads the tokens before JobName=; Slurm chooses their values. 0 or -1. */
static int
head_parse(struct span *s, struct job_snapshot *out)
{
	struct span key, v;
	const char *p;
	uint64_t n;

	for (;;) {
		p = s->n > 0 ? memchr(s->p, '=', s->n) : NULL;
		if (p == NULL)
			return -1;
		key = (struct span) { s->p, (size_t)(p - s->p) };
		*s = span_from(*s, p + 1);
		if (span_is(key, "JobName"))
			return 0;
		p = s->n > 0 ? memchr(s->p, ' ', s->n) : NULL;
		if (p == NULL)
			return -1;
		v = (struct span) { s->p, (size_t)(p - s->p) };
		*s = span_from(*s, p + 1);
		if (number_u64(v, &n) == -1)
			continue; /* "4-9": pending array tasks */
		if (span_is(key, "JobId"))
			out->job.key.job = n;
		else if (span_is(key, "ArrayJobId"))
			out->job.array_job = n;
		else if (span_is(key, "ArrayTaskId"))
			out->job.array_task = (uint32_t)n;
		else if (span_is(key, "HetJobId") || span_is(key, "PackJobId"))
			out->job.het_job = n;
		else if (span_is(key, "HetJobOffset") ||
		    span_is(key, "PackJobOffset"))
			out->job.het_offset = (uint32_t)n;
	}
}

/* Cuts Slurm's token behind the name, " SLUID=…", off the name. */
static void
name_trim(struct span *name, const char *key)
{
	struct span tail;
	const char *at = NULL, *p;

	for (tail = *name; (p = token_find(tail, key)) != NULL;
	     tail = span_from(tail, p + 1))
		at = p;
	if (at == NULL)
		return;
	tail = span_from(*name, at + 1);
	if (memchr(tail.p, ' ', tail.n) == NULL &&
	    memchr(tail.p, '\n', tail.n) == NULL)
		name->n = (size_t)(at - name->p);
}

/*
 * Reads the name and the owner; *rest becomes the rest behind the owner.  If the
 * exact name is known, the owner must follow it on the same line; only Slurm's
 * tokens are between them.
 */
static enum record_verdict
name_parse(struct span s, struct span exact, struct job_snapshot *out,
    struct span *rest)
{
	struct span name, user, uid;
	const char *at;
	size_t i;

	if (exact.p != NULL) {
		if (s.n < exact.n || memcmp(s.p, exact.p, exact.n) != 0)
			return RECORD_AMBIGUOUS;
		name = exact;
		at = token_find(span_from(s, s.p + exact.n), " UserId=");
		if (at == NULL)
			return RECORD_BAD;
		for (i = exact.n; s.p + i < at; i++)
			if (s.p[i] == '\n')
				return RECORD_AMBIGUOUS;
	} else {
		at = owner_find(s);
		if (at == NULL)
			return token_find(s, " UserId=") != NULL ?
			    RECORD_AMBIGUOUS :
			    RECORD_BAD;
		name = (struct span) { s.p, (size_t)(at - s.p) };
		if (out->job.het_job != 0) {
			name_trim(&name, " HetJobIdSet=");
			name_trim(&name, " PackJobIdSet="); /* 19.05 */
		}
		name_trim(&name, " SLUID=");
	}
	if (name.n > NAME_MAX_BYTES ||
	    !is_owner(span_from(s, at), &user, &uid, rest))
		return RECORD_BAD;
	out->job.name = span_text(name, TEXT_MAX);
	/* Slurm prints no name, or that of another user, for an id without a name. */
	if (user.n == 0 || span_is(user, "(null)") ||
	    (span_is(user, "nobody") && !span_is(uid, "65534") &&
		!span_is(uid, "99")))
		user = uid;
	out->job.user = span_text(user, TEXT_MAX);
	return RECORD_GOOD;
}

/* Cuts the record behind the last token that is read. */
static struct span
trusted(struct span s)
{
	static const char *const ends[] = { " Licenses=", " Network=",
		" Command=" };
	const char *p;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		p = token_find(s, ends[i]);
		if (p != NULL)
			s.n = (size_t)(p - s.p);
	}
	return s;
}

/* Reads account, state, times and partition, in the order of the record. */
static int
life_parse(struct span *s, struct job_snapshot *out)
{
	struct job *job = &out->job;
	struct span v;
	const char *p;
	uint32_t batch = 0;
	int64_t end = 0;

	/* The name of an account can contain blanks, but not " QOS=". */
	v = token_value(s, " Account=");
	if (v.p != NULL &&
	    (p = token_find(span_from(*s, v.p), " QOS=")) != NULL && p > v.p)
		v.n = (size_t)(p - v.p);
	job->account = span_text(v, TEXT_MAX);
	job->qos = span_text(token_value(s, " QOS="), TEXT_MAX);
	v = token_value(s, " JobState=");
	if (v.p == NULL)
		return -1;
	out->state = state_word(v);
	v = token_value(s, " Reason=");
	out->state = state_with_reason(out->state, v);
	if (!span_is(v, "None"))
		job->reason = span_text(v, TEXT_MAX);
	number_u32(token_value(s, " Restarts="), &job->restarts);
	/* After a crash of a node slurmctld increments it. */
	number_u32(token_value(s, " BatchFlag="), &batch);
	out->batch = batch > 0;
	v = token_value(s, " ExitCode=");
	if (out->state->phase == PHASE_ENDED)
		job->exit_code = snapshot_exit(out, exit_status(v));
	if (time_limit(token_value(s, " TimeLimit="), &job->walltime) == -1 ||
	    job->walltime < 0)
		job->walltime = 0;
	if (time_point(token_value(s, " SubmitTime="), &job->submit) == -1 ||
	    time_point(token_value(s, " StartTime="), &job->key.start) == -1 ||
	    time_point(token_value(s, " EndTime="), &end) == -1)
		return -1;
	snapshot_end(out, end);
	job->partition = span_text(token_value(s, " Partition="), TEXT_MAX);
	return 0;
}

enum record_verdict
scontrol_record(struct span text, struct span name,
    const struct read_options *how, struct job_snapshot *s)
{
	enum record_verdict verdict;
	struct span rest = text;

	if (scontrol_id(text) == 0)
		return RECORD_NONE;
	if (head_parse(&rest, s) == -1 || s->job.key.job == 0)
		return RECORD_BAD;
	verdict = name_parse(rest, name, s, &rest);
	if (verdict != RECORD_GOOD)
		return verdict;
	rest = trusted(rest);
	if (life_parse(&rest, s) == -1)
		return RECORD_BAD;
	if (s->state->phase == PHASE_PENDING)
		return RECORD_GOOD;
	verdict = scontrol_resources(rest, how, s);
	if (verdict != RECORD_GOOD)
		return verdict;
	s->never = snapshot_never(s);
	s->opt_out_seen = how->opt_out_word != NULL &&
	    token_find(text, how->opt_out_word) != NULL;
	s->job.slurm_info = span_text(text, TEXT_MAX);
	s->job.flags |= JOB_HAS_START;
	if (s->state->phase == PHASE_RUNNING)
		s->job.flags |= JOB_LIVE;
	return RECORD_GOOD;
}
