/* SPDX-License-Identifier: MIT */
/*
 * Breaks Slurm's one-line description of a job into lines; see slurm_info.h.
 * The texts of users contain any bytes, also "\n   JobState=".  So a line never
 * begins because of a newline in the description.  It begins at a key of one of
 * two tables: Slurm's keys count between the end of the job name, which the
 * record has, and Licenses=; behind that key only keys count whose values the
 * user of the job chooses anyway.  The collector has replaced the blanks in the
 * user's texts before Licenses= (MCS_label, QOS, Features), so that no key begins
 * in them.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/codec.h"
#include "common/text/text.h"
#include "common/text/time_text.h"
#include "submitter/payload/slurm_info.h"

/* A byte of the description becomes at most six; the added texts are few. */
#define INFO_MAX (8 * TEXT_MAX)

enum info_value {
	VALUE_TEXT, /* as Slurm prints it */
	VALUE_TIME,
	/* of the record, when the run has ended */
	VALUE_STATE,
	VALUE_REASON,
	VALUE_EXIT_CODE,
	VALUE_RUN_TIME,
	VALUE_END,
	VALUE_STALE, /* of the start; left out when the run has ended */
	/* begins a line only if the record has the same text */
	VALUE_ADMIN_COMMENT
};

struct info_key {
	const char *name;
	const char *indent; /* of the line that begins here; NULL = none does */
	enum info_value value;
};

#define LINE   "\n   "
#define DEEPER "\n     "

/* slurm_sprint_job_info(), Slurm 19.05 to 26.05: before Licenses=. */
static const struct info_key slurm_keys[] = {
	{ "SLUID", LINE, VALUE_TEXT },
	{ "HetJobIdSet", LINE, VALUE_TEXT },
	{ "PackJobIdSet", LINE, VALUE_TEXT },
	{ "UserId", LINE, VALUE_TEXT },
	{ "Priority", LINE, VALUE_TEXT },
	{ "JobState", LINE, VALUE_STATE },
	{ "Reason", NULL, VALUE_REASON },
	{ "Requeue", LINE, VALUE_TEXT },
	{ "ExitCode", NULL, VALUE_EXIT_CODE },
	{ "DerivedExitCode", LINE, VALUE_STALE },
	{ "RunTime", LINE, VALUE_RUN_TIME },
	{ "SubmitTime", LINE, VALUE_TIME },
	{ "EligibleTime", NULL, VALUE_TIME },
	{ "AccrueTime", LINE, VALUE_TIME },
	{ "ResizeTime", LINE, VALUE_TIME },
	{ "StartTime", LINE, VALUE_TIME },
	{ "EndTime", NULL, VALUE_END },
	{ "Deadline", NULL, VALUE_TIME },
	{ "PreemptEligibleTime", LINE, VALUE_TIME },
	{ "PreemptTime", NULL, VALUE_TIME },
	{ "SuspendTime", LINE, VALUE_TIME },
	{ "LastSchedEval", NULL, VALUE_TIME },
	{ "Partition", LINE, VALUE_TEXT },
	{ "ReqNodeList", LINE, VALUE_TEXT },
	{ "NodeList", LINE, VALUE_TEXT },
	{ "SchedNodeList", LINE, VALUE_TEXT },
	{ "BatchHost", LINE, VALUE_TEXT },
	{ "StepMgrEnabled", LINE, VALUE_TEXT },
	{ "FedOrigin", LINE, VALUE_TEXT },
	{ "NumNodes", LINE, VALUE_TEXT },
	{ "TRES", LINE, VALUE_TEXT },
	{ "ReqTRES", LINE, VALUE_TEXT },
	{ "AllocTRES", LINE, VALUE_TEXT },
	{ "Socks/Node", LINE, VALUE_TEXT },
	{ "JOB_GRES", LINE, VALUE_TEXT },
	{ "Nodes", DEEPER, VALUE_TEXT },
	{ "MinCPUsNode", LINE, VALUE_TEXT },
	{ "Features", LINE, VALUE_TEXT },
	{ "Reservation", LINE, VALUE_TEXT },
	{ "OverSubscribe", LINE, VALUE_TEXT },
	{ NULL, NULL, VALUE_TEXT },
};

/* The request of the user; Power= has no value. */
static const struct info_key user_keys[] = {
	{ "Command", LINE, VALUE_TEXT },
	{ "SubmitLine", LINE, VALUE_TEXT },
	{ "WorkDir", LINE, VALUE_TEXT },
	{ "AdminComment", LINE, VALUE_ADMIN_COMMENT },
	{ "Comment", LINE, VALUE_TEXT },
	{ "StdErr", LINE, VALUE_TEXT },
	{ "StdIn", LINE, VALUE_TEXT },
	{ "StdOut", LINE, VALUE_TEXT },
	{ "Power", LINE, VALUE_TEXT },
	{ "CpusPerTres", LINE, VALUE_TEXT },
	{ "MemPerTres", LINE, VALUE_TEXT },
	{ "TresBind", LINE, VALUE_TEXT },
	{ "TresFreq", LINE, VALUE_TEXT },
	{ "TresPerJob", LINE, VALUE_TEXT },
	{ "TresPerNode", LINE, VALUE_TEXT },
	{ "TresPerSocket", LINE, VALUE_TEXT },
	{ "TresPerTask", LINE, VALUE_TEXT },
	{ "MailUser", LINE, VALUE_TEXT },
	{ NULL, NULL, VALUE_TEXT },
};

struct info {
	const struct job *job;
	struct writer w;
};

static void
put_string(struct info *x, const char *s)
{
	wr_mem(&x->w, s, strlen(s));
}

/* Bytes as they are, but nothing that a viewer shows as the end of a line. */
static void
put_text(struct info *x, struct span s)
{
	size_t i, from = 0;
	unsigned last;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '\n') {
			wr_mem(&x->w, s.p + from, i - from);
			put_string(x, "\\n");
			from = i + 1;
		} else if (s.n - i >= 3 &&
		    memcmp(s.p + i, "\xe2\x80", 2) == 0 &&
		    ((last = (unsigned char)s.p[i + 2]) == 0xa8 ||
			last == 0xa9)) {
			wr_mem(&x->w, s.p + from, i - from);
			put_string(x, last == 0xa8 ? "\\u2028" : "\\u2029");
			from = i + 3;
			i += 2;
		}
	}
	wr_mem(&x->w, s.p + from, s.n - from);
}

/* Epoch seconds, or UTC without a zone; 0 = s is no point in time. */
static int64_t
time_of(struct span s)
{
	struct tm tm = { 0 };
	char buf[24], end;

	if (s.n == 0 || s.n >= sizeof(buf))
		return 0;
	memcpy(buf, s.p, s.n);
	buf[s.n] = '\0';
	if (strspn(buf, "0123456789") == s.n)
		return s.n < 12 ? strtoll(buf, NULL, 10) : 0;
	if (sscanf(buf, "%4d-%2d-%2dT%2d:%2d:%2d%c", &tm.tm_year, &tm.tm_mon,
		&tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end) != 6)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

static void
put_time(struct info *x, struct span s)
{
	int64_t when = time_of(s);

	if (when > 0)
		put_string(x, time_text(when));
	else
		put_text(x, s);
}

/* cc-backend's name of an end is Slurm's in lower case. */
static void
put_state(struct info *x)
{
	const char *name = job_end_name(x->job->state);

	for (; *name != '\0'; name++)
		wr_u8(&x->w, (uint8_t)toupper((unsigned char)*name));
}

static void
put_reason(struct info *x)
{
	const char *reason = x->job->reason;

	if (reason == NULL)
		reason = "None";
	put_text(x, (struct span) { reason, strlen(reason) });
}

static void
put_exit_code(struct info *x, struct span s)
{
	unsigned code = (unsigned)x->job->exit_code;
	char buf[32];

	if (x->job->exit_code == -1) {
		put_text(x, s);
		return;
	}
	snprintf(buf, sizeof(buf), "%u:%u", code >> 8 & 0xff, code & 0x7f);
	put_string(x, buf);
}

static void
put_run_time(struct info *x)
{
	int64_t s = x->job->end - x->job->key.start;
	char buf[64];
	int n = 0;

	if (s < 0)
		s = 0;
	if (s >= 86400)
		n = snprintf(buf, sizeof(buf), "%lld-", (long long)s / 86400);
	snprintf(buf + n, sizeof(buf) - (size_t)n, "%02d:%02d:%02d",
	    (int)(s / 3600 % 24), (int)(s / 60 % 60), (int)(s % 60));
	put_string(x, buf);
}

static int
has_ended(const struct job *job)
{
	return job->state != END_NOT && job->end != 0;
}

static void
put_ended_value(struct info *x, enum info_value kind, struct span s)
{
	if (kind == VALUE_STATE)
		put_state(x);
	else if (kind == VALUE_REASON)
		put_reason(x);
	else if (kind == VALUE_EXIT_CODE)
		put_exit_code(x, s);
	else if (kind == VALUE_RUN_TIME)
		put_run_time(x);
	else if (kind == VALUE_END)
		put_string(x, time_text(x->job->end));
	else
		put_text(x, s);
}

static void
put_value(struct info *x, enum info_value kind, struct span s)
{
	int ended = has_ended(x->job);

	if (kind == VALUE_TIME || (kind == VALUE_END && !ended))
		put_time(x, s);
	else if (ended)
		put_ended_value(x, kind, s);
	else
		put_text(x, s);
}

static const struct info_key *
key_find(const struct info_key *keys, struct span name)
{
	for (; keys->name != NULL; keys++)
		if (span_is(name, keys->name))
			return keys;
	return NULL;
}

static const char *
find(struct span s, const char *what)
{
	return s.n > 0 ? memmem(s.p, s.n, what, strlen(what)) : NULL;
}

/* The value at the begin of s; only Slurm's reason can contain blanks. */
static struct span
value_of(struct span s, enum info_value kind)
{
	const char *end = NULL;

	if (kind == VALUE_REASON && (end = find(s, " FailedNode=")) == NULL)
		end = find(s, " Dependency=");
	if (end == NULL && s.n > 0)
		end = memchr(s.p, ' ', s.n);
	if (end != NULL)
		s.n = (size_t)(end - s.p);
	return s;
}

/* Is the admin's comment at the begin of s?  Users can write such a key, too. */
static int
is_admin_comment(const struct job *job, struct span s)
{
	size_t n = job->admin_comment != NULL ? strlen(job->admin_comment) : 0;

	return n > 0 && s.n >= n && memcmp(s.p, job->admin_comment, n) == 0 &&
	    (s.n == n || s.p[n] == ' ');
}

/*
 * Writes the token at the begin of s, and before it the blanks or the new line.
 * Returns its length.
 */
static size_t
put_token(struct info *x, const struct info_key *keys, struct span blanks,
    struct span s)
{
	const struct info_key *key = NULL;
	const char *blank = memchr(s.p, ' ', s.n), *equals;
	struct span token = s, value = { NULL, 0 };

	if (blank != NULL)
		token.n = (size_t)(blank - s.p);
	equals = memchr(token.p, '=', token.n);
	if (equals != NULL) {
		key = key_find(keys,
		    (struct span) { s.p, (size_t)(equals - s.p) });
		value = (struct span) { equals + 1,
			s.n - (size_t)(equals + 1 - s.p) };
	}
	if (key != NULL && key->value == VALUE_ADMIN_COMMENT &&
	    !is_admin_comment(x->job, value))
		key = NULL;
	if (key != NULL && key->value == VALUE_STALE && has_ended(x->job))
		return token.n;
	if (key != NULL && key->indent != NULL)
		put_string(x, key->indent);
	else
		put_text(x, blanks);
	if (key == NULL) {
		put_text(x, token);
		return token.n;
	}
	value = value_of(value, key->value);
	put_text(x, (struct span) { s.p, (size_t)(value.p - s.p) });
	put_value(x, key->value, value);
	return (size_t)(value.p - s.p) + value.n;
}

/* Writes a part of the description without the blanks at its end. */
static void
put_part(struct info *x, const struct info_key *keys, struct span s)
{
	struct span blanks;
	size_t n;

	while (s.n > 0) {
		blanks = (struct span) { s.p, 0 };
		while (blanks.n < s.n && s.p[blanks.n] == ' ')
			blanks.n++;
		s.p += blanks.n;
		s.n -= blanks.n;
		if (s.n == 0)
			return;
		n = put_token(x, keys, blanks, s);
		s.p += n;
		s.n -= n;
	}
}

/* The end of the job name; NULL when the record does not tell it. */
static const char *
name_end(const struct job *job)
{
	static const char *const next[] = { " UserId=", " SLUID=",
		" HetJobIdSet=", " PackJobIdSet=" };
	const char *name = job->name != NULL ? job->name : "(null)";
	const char *p = strstr(job->slurm_info, " JobName=");
	size_t i, n = strlen(name);

	/* The tokens before the name are Slurm's numbers. */
	if (p == NULL || strncmp(job->slurm_info, "JobId=", 6) != 0)
		return NULL;
	p += strlen(" JobName=");
	if (strncmp(p, name, n) == 0)
		p += n;
	else if (job->name != NULL)
		return NULL;
	for (i = 0; i < sizeof(next) / sizeof(next[0]); i++)
		if (strncmp(p, next[i], strlen(next[i])) == 0)
			return p;
	return NULL;
}

/* The first key whose value a user chooses, or the end. */
static const char *
slurm_end(const char *p)
{
	static const char *const keys[] = { " Licenses=", " Network=",
		" Command=" };
	const char *at, *end = p + strlen(p);
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = strstr(p, keys[i]);
		if (at != NULL && at < end)
			end = at;
	}
	return end;
}

char *
slurm_info_text(const struct job *job)
{
	const char *info = job->slurm_info, *name, *user;
	struct info x = { .job = job };
	char *text = NULL;

	if (info == NULL)
		return NULL;
	wr_init(&x.w, INFO_MAX);
	name = name_end(job);
	if (name == NULL) {
		put_text(&x, (struct span) { info, strlen(info) });
	} else {
		user = slurm_end(name);
		put_text(&x, (struct span) { info, (size_t)(name - info) });
		put_part(&x, slurm_keys,
		    (struct span) { name, (size_t)(user - name) });
		put_part(&x, user_keys, (struct span) { user, strlen(user) });
	}
	wr_u8(&x.w, '\0');
	if (wr_end(&x.w) == 0)
		text = strdup((const char *)x.w.buf);
	wr_clear(&x.w);
	return text;
}
