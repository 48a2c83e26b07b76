/* SPDX-License-Identifier: MIT */
/*
 * Records of `scontrol show job -d -o`; see parse.h.  They have no delimiters,
 * but their tokens have a fixed order.  A forged token is recognized if the end
 * of each text of the user is certain and each token is searched only behind
 * the one before.  Seen with 20.11, 22.05, 24.11 and 26.05: slurmctld accepts any
 * bytes, also newlines, and at most 1,024 of them, as
 *
 *   JobName=
 *   MCS_label=        with MCSPlugin=mcs/none, which is the default
 *   Account=, WCKey=  if they are not enforced; in lower case, as no key is
 *   QOS=              from 24.11 on, if it is not enforced
 *   Features=, Prefer=   up to 22.05, behind a list in brackets
 *   ClusterFeatures=
 *
 * and the tokens behind OverSubscribe= (Licenses, Command, Comment, SubmitLine).
 * Slurm or an admin chooses all other tokens; AllocNode= is the name that
 * slurmctld has for the host.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector/parse/parse.h"

#define NAME_MAX_BYTES 4096 /* Slurm stores 1024 at most */
/*
 * Name and id of a user or a group; a name has at most 256 bytes.  The limit also
 * bounds the search in a text that has very many owners.
 */
#define ACCOUNT_BYTES 1024

/* A record while it is read. */
struct record {
	struct span text;
	struct span rest;		  /* behind the tokens that were read */
	const struct record_texts *exact; /* NULL = not known */
	/* Texts of the user between Slurm's tokens; p is NULL without one. */
	struct span label;
	struct span qos;
	struct span features; /* also with ClusterFeatures= */
	/* A text of the user may contain the token. */
	int no_sharing;
	int no_reservation;
};

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
	return number_u64(v, &id) == 0 && id <= UINT32_MAX ? id : 0;
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
	if (s.n > ACCOUNT_BYTES)
		s.n = ACCOUNT_BYTES;
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

static int
is_any_owner(struct span s)
{
	struct span user, uid, rest;

	return is_owner(s, &user, &uid, &rest);
}

/* Does s begin with " Priority=N Nice=N Account="? */
static int
is_priority(struct span s)
{
	struct span priority = token_next(&s, " Priority=");
	struct span nice = token_next(&s, " Nice=");
	uint64_t v;

	if (nice.n > 0 && *nice.p == '-')
		nice = span_from(nice, nice.p + 1);
	return number_u64(priority, &v) == 0 && number_u64(nice, &v) == 0 &&
	    span_begins(s, " Account=");
}

/* Does s begin with " JobState=WORD Reason="? */
static int
is_state(struct span s)
{
	return token_next(&s, " JobState=").n > 0 && span_begins(s, " Reason=");
}

/* The place where is() holds; *n becomes 0, 1, or 2 for more than one. */
static const char *
place_find(struct span s, const char *key, int (*is)(struct span s), int *n)
{
	const char *found = NULL, *at;

	for (*n = 0; *n < 2 && (at = token_find(s, key)) != NULL;
	     s = span_from(s, at + 1)) {
		if (!is(span_from(s, at)))
			continue;
		if ((*n)++ == 0)
			found = at;
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
 * The end of the name is the owner's place.  If the exact name is known, the owner
 * must follow it on the same line; only Slurm's tokens are between them.
 */
static enum record_verdict
name_find(const struct record *r, const struct job *job, struct span *name,
    const char **owner)
{
	struct span s = r->rest;
	const char *at;
	int n;

	if (r->exact != NULL) {
		*name = r->exact->name;
		if (s.n < name->n || memcmp(s.p, name->p, name->n) != 0)
			return RECORD_AMBIGUOUS;
		s = span_from(s, s.p + name->n);
		at = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;
		if (at != NULL) /* the answer can be 16 MiB */
			s.n = (size_t)(at - s.p);
		*owner = token_find(s, " UserId=");
		return *owner != NULL ? RECORD_GOOD : RECORD_AMBIGUOUS;
	}
	at = place_find(s, " UserId=", is_any_owner, &n);
	if (n != 1)
		return token_find(s, " UserId=") != NULL ? RECORD_AMBIGUOUS :
							   RECORD_BAD;
	*owner = at;
	*name = (struct span) { s.p, (size_t)(at - s.p) };
	if (job->het_job != 0) {
		name_trim(name, " HetJobIdSet=");
		name_trim(name, " PackJobIdSet="); /* 19.05 */
	}
	name_trim(name, " SLUID=");
	return RECORD_GOOD;
}

/* Reads the name and the owner. */
static enum record_verdict
name_parse(struct record *r, struct job_snapshot *out)
{
	enum record_verdict verdict;
	struct span name, user, uid;
	const char *at;

	verdict = name_find(r, &out->job, &name, &at);
	if (verdict != RECORD_GOOD)
		return verdict;
	if (name.n > NAME_MAX_BYTES ||
	    !is_owner(span_from(r->rest, at), &user, &uid, &r->rest))
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

/*
 * Reads the text at the beginning of r->rest, which ends where is() holds.  If the
 * exact text is not known, there must be only one such place: the text, or one
 * behind it, may contain another one.
 */
static enum record_verdict
text_parse(struct record *r, const struct span *exact, const char *key,
    int (*is)(struct span s), struct span *text)
{
	struct span s = r->rest;
	const char *at;
	int n;

	if (exact != NULL) {
		if (s.n < exact->n ||
		    (exact->n > 0 && memcmp(s.p, exact->p, exact->n) != 0))
			return RECORD_AMBIGUOUS;
		at = s.p + exact->n;
		if (!is(span_from(s, at)))
			return RECORD_AMBIGUOUS;
	} else {
		at = place_find(s, key, is, &n);
		if (n != 1)
			return n == 0 ? RECORD_BAD : RECORD_AMBIGUOUS;
	}
	*text = (struct span) { s.p, (size_t)(at - s.p) };
	r->rest = span_from(s, at);
	return RECORD_GOOD;
}

/* scontrol prints N/A for a job without a label, squeue "(null)". */
static enum record_verdict
label_parse(struct record *r)
{
	static const struct span none = { "N/A", 3 };
	const struct span *exact = r->exact != NULL ? &r->exact->label : NULL;
	struct span s = r->rest;

	if (!span_begins(s, " MCS_label="))
		return RECORD_BAD;
	r->rest = span_from(s, s.p + strlen(" MCS_label="));
	if (exact != NULL && span_is(*exact, "(null)") &&
	    span_begins(r->rest, none.p))
		exact = &none;
	return text_parse(r, exact, " Priority=", is_priority, &r->label);
}

/* The end of QOS=: with TrackWCKey=yes Slurm prints WCKey= behind it. */
static int
is_qos_end(struct span s)
{
	return span_begins(s, " WCKey=") || is_state(s);
}

/* Reads the account and the QOS.  r->rest becomes the rest from JobState= on. */
static enum record_verdict
account_parse(struct record *r, struct job *job)
{
	const struct span *exact = r->exact != NULL ? &r->exact->qos : NULL;
	struct span v, s = r->rest, head = s;
	enum record_verdict verdict;
	const char *at, *end;

	/* An account can contain blanks and newlines, but no capital letter. */
	if (head.n > 2 * ACCOUNT_BYTES)
		head.n = 2 * ACCOUNT_BYTES; /* the answer can be 16 MiB */
	at = token_find(head, " Account=");
	end = at != NULL ? token_find(head, " QOS=") : NULL;
	if (end == NULL || end < at)
		return RECORD_BAD;
	at += strlen(" Account=");
	job->account = span_text((struct span) { at, (size_t)(end - at) },
	    TEXT_MAX);
	v = r->rest = span_from(s, end + strlen(" QOS="));
	verdict = text_parse(r, exact,
	    " JobState=", exact != NULL ? is_qos_end : is_state, &r->qos);
	if (verdict != RECORD_GOOD)
		return verdict;
	v.n = r->qos.n;
	for (end = NULL; (at = token_find(v, " WCKey=")) != NULL;
	     v = span_from(v, at + 1))
		end = at;
	if (end != NULL)
		r->qos.n = (size_t)(end - r->qos.p);
	v = r->qos;
	at = v.n > 0 ? memchr(v.p, ' ', v.n) : NULL;
	if (at != NULL)
		v.n = (size_t)(at - v.p);
	job->qos = span_text(v, TEXT_MAX);
	at = token_find(r->rest, " JobState=");
	if (at == NULL)
		return RECORD_BAD;
	r->rest = span_from(r->rest, at);
	return RECORD_GOOD;
}

/*
 * Cuts the record where the next one of the answer may begin.  A text of the user
 * behind the exact ones may have such a line: the record is cut there, too.
 */
static void
record_cut(struct record *r)
{
	const char *next = token_find(r->rest, "\nJobId=");
	size_t n = (size_t)(r->rest.p - r->text.p);

	if (next != NULL)
		r->rest.n = (size_t)(next - r->rest.p);
	else if (r->rest.n > 0 && r->rest.p[r->rest.n - 1] == '\n')
		r->rest.n--;
	r->text.n = n + r->rest.n;
}

/*
 * A list of features in brackets, and ClusterFeatures=, may contain forged tokens.
 * Slurm prints: Features= DelayBoot= [Prefer=] [ClusterFeatures=] [Reservation=]
 * OverSubscribe=.  The place of OverSubscribe= is certain if there is only one;
 * squeue could show these texts too, but such jobs are few: an exact query does
 * without the two tokens.
 */
static enum record_verdict
features_check(struct record *r)
{
	const char *at = token_find(r->rest, " Features="), *delay, *over;
	struct span s, list, behind;

	if (at == NULL)
		return RECORD_GOOD;
	s = list = span_from(r->rest, at + strlen(" Features="));
	over = token_find(s, " OverSubscribe=");
	if (over != NULL)
		list.n = (size_t)(over - list.p);
	if (list.n == 0 ||
	    (memchr(list.p, '[', list.n) == NULL &&
		token_find(list, " ClusterFeatures=") == NULL))
		return RECORD_GOOD;
	r->features = list;
	r->no_sharing = r->no_reservation = 1;
	if (r->exact != NULL)
		return RECORD_GOOD;
	delay = token_find(list, " DelayBoot=");
	if (over == NULL || delay == NULL ||
	    token_find(span_from(list, delay + 1), " DelayBoot=") != NULL ||
	    token_find(span_from(s, over + 1), " OverSubscribe=") != NULL)
		return RECORD_AMBIGUOUS;
	r->no_sharing = 0;
	behind = span_from(list, delay);
	token_next(&behind, " DelayBoot=");
	token_next(&behind, " Reservation=");
	if (behind.n == 0) {
		r->no_reservation = 0;
		r->features.n = (size_t)(delay - list.p);
	}
	return RECORD_GOOD;
}

/* The record up to the last token that is read, OverSubscribe= or Exclusive=. */
static struct span
trusted(struct span s)
{
	static const char *const ends[] = { " Licenses=", " Network=",
		" Command=" };
	const char *p = token_find(s, " OverSubscribe=");
	struct span behind = p != NULL ? span_from(s, p) : s;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		p = token_find(behind, ends[i]);
		if (p != NULL)
			behind.n = (size_t)(p - behind.p);
	}
	s.n = (size_t)(behind.p - s.p) + behind.n;
	return s;
}

/* Reads state, times and partition, in the order of the record. */
static int
life_parse(struct span *s, struct job_snapshot *out)
{
	struct job *job = &out->job;
	struct span v;
	uint32_t batch = 0;
	int64_t end = 0;

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

/*
 * The record for slurmInfo, which is broken into lines at blanks before keys:
 * no text of the user before OverSubscribe= has a blank.
 */
static char *
info_text(const struct record *r)
{
	const struct span texts[] = { r->label, r->qos, r->features };
	char *copy = NULL, *text;
	size_t i, k, at;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].n == 0 ||
		    memchr(texts[i].p, ' ', texts[i].n) == NULL)
			continue;
		if (copy == NULL) {
			copy = malloc(r->text.n);
			if (copy == NULL)
				return NULL;
			memcpy(copy, r->text.p, r->text.n);
		}
		at = (size_t)(texts[i].p - r->text.p);
		for (k = at; k < at + texts[i].n; k++)
			if (copy[k] == ' ')
				copy[k] = '_';
	}
	text = span_text((struct span) { copy != NULL ? copy : r->text.p,
			     r->text.n },
	    TEXT_MAX);
	free(copy);
	return text;
}

/*
 * Reads what precedes NodeList=.  A token that is missing must not be found in a
 * list of features, behind MinCPUsNode=.
 */
static enum record_verdict
begin_parse(struct record *r, struct job_snapshot *s)
{
	enum record_verdict verdict;
	struct span life;
	const char *end;

	if (head_parse(&r->rest, s) == -1 || s->job.key.job == 0)
		return RECORD_BAD;
	verdict = name_parse(r, s);
	if (verdict == RECORD_GOOD)
		verdict = label_parse(r);
	if (verdict == RECORD_GOOD)
		verdict = account_parse(r, &s->job);
	if (verdict != RECORD_GOOD)
		return verdict;
	if (r->exact != NULL)
		record_cut(r);
	verdict = features_check(r);
	if (verdict != RECORD_GOOD)
		return verdict;
	life = r->rest = trusted(r->rest);
	end = token_find(life, " MinCPUsNode=");
	if (end != NULL)
		life.n = (size_t)(end - life.p);
	if (life_parse(&life, s) == -1)
		return RECORD_BAD;
	r->rest = span_from(r->rest, life.p);
	return RECORD_GOOD;
}

enum record_verdict
scontrol_record(struct span text, const struct record_texts *exact,
    const struct read_options *how, struct job_snapshot *s)
{
	struct record r = { .text = text, .rest = text, .exact = exact };
	enum record_verdict verdict;

	if (scontrol_id(text) == 0)
		return RECORD_NONE;
	verdict = begin_parse(&r, s);
	if (verdict != RECORD_GOOD || s->state->phase == PHASE_PENDING)
		return verdict;
	verdict = scontrol_resources(r.rest, how, s);
	if (verdict != RECORD_GOOD)
		return verdict;
	if (r.no_sharing) {
		s->job.shared = SHARED_UNKNOWN;
		s->whole_is_none = 0;
	}
	if (r.no_reservation) {
		free(s->job.reservation);
		s->job.reservation = NULL;
	}
	s->never = snapshot_never(s);
	s->opt_out_seen = how->opt_out_word != NULL &&
	    token_find(r.text, how->opt_out_word) != NULL;
	s->job.slurm_info = info_text(&r);
	s->job.flags |= JOB_HAS_START;
	if (s->state->phase == PHASE_RUNNING)
		s->job.flags |= JOB_LIVE;
	return RECORD_GOOD;
}
