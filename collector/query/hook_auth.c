/* SPDX-License-Identifier: MIT */
/*
 * The munge credentials of hook messages on TCP (prepAuth).  unmunge is asked
 * about one credential at a time, and only so often that a flood of invalid
 * messages delays no question to Slurm.  An event waits for a bounded time;
 * then it is dropped, because the next poll finds its job anyway.
 *
 * munged refuses a credential that it has decoded before.
 */
#include "config.h"

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "collector/query/query_lanes.h"
#include "collector/slurm/query.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/permanent.h"
#include "common/text/time_text.h"

#define CLAIMS_MAX 1024	 /* the listener sends no more */
#define ANSWER_MAX 4096	 /* bytes of unmunge's output: about 300 */
#define WAIT_MS	   30000 /* half of the default poll interval */
#define AWAY_MS	   2000	 /* until munged is asked again */
/*
 * The hooks of a job array come at once.  One command takes about 5 ms of one
 * processor: a flood uses a tenth of it.
 */
#define BURST	   100
#define PER_SECOND 20

/* Why a credential proves nothing; each has its own limit of log lines. */
enum refusal {
	REFUSED_ANSWER,
	REFUSED_USER,
	REFUSED_PAYLOAD,
	REFUSED_FORMAT,
	REFUSED_KEY,
	REFUSED_CLOCK,
	REFUSED_REPLAYED,
	REFUSED__COUNT
};

static const char *const refusals[REFUSED__COUNT] = {
	[REFUSED_ANSWER] = "the answer of unmunge is not valid",
	[REFUSED_USER] =
	    "its munge credential is neither of SlurmUser nor of root; "
	    "slurmctld runs the hook as SlurmUser",
	[REFUSED_PAYLOAD] =
	    "its munge credential is of another job or was made for another "
	    "purpose",
	[REFUSED_FORMAT] =
	    "it has no munge credential that this munged can read",
	[REFUSED_KEY] =
	    "its munge credential is invalid; the munged of prepMungeSocket "
	    "and the munged of the host of the hook need the same key, "
	    "/etc/munge/munge.key",
	[REFUSED_CLOCK] =
	    "its munge credential is too old or of the future; set the clocks "
	    "of both hosts: chronyc tracking, or timedatectl",
	[REFUSED_REPLAYED] =
	    "its munge credential was used before: somebody repeats messages, "
	    "or the collector was restarted",
};

struct waiting_claim {
	struct waiting_claim *next;
	struct hook_claim claim;
	int64_t since; /* monotonic ms */
};

struct hook_auth {
	struct site *site;
	const struct hook_auth_ops *ops;
	void *arg;
	struct waiting_claim *first, **tail;
	struct waiting_claim *asked; /* in no list; NULL = none */
	struct event *timer;
	int64_t tokens; /* thousandths */
	int64_t tokens_at;
	int64_t retry_at; /* monotonic ms: munged is not asked before */
	char answer[ANSWER_MAX];
	size_t answer_len;
	struct hook_auth_counts count;
	struct log_limit limit_refused[REFUSED__COUNT];
	struct log_limit limit_dropped, limit_away;
};

static void
timer_set(struct hook_auth *a, int64_t ms)
{
	const struct timeval tv = clock_timeval(ms);

	if (event_add(a->timer, &tv) == -1)
		fatalx("out of memory");
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	hook_auth_kick(arg);
}

struct hook_auth *
hook_auth_new(struct site *site, const struct hook_auth_ops *ops, void *arg)
{
	struct hook_auth *a = permanent_new(sizeof(*a));

	a->site = site;
	a->ops = ops;
	a->arg = arg;
	a->tail = &a->first;
	a->tokens = BURST * 1000;
	a->tokens_at = now_ms();
	a->timer = evtimer_new(site->w->base, on_timer, a);
	if (a->timer == NULL)
		fatalx("out of memory");
	return a;
}

int
hook_auth_is_on(const struct hook_auth *a)
{
	return strcmp(conf_str(&a->site->w->conf, CONF_PREP_AUTH), "munge") ==
	    0;
}

/* --- the end of a claim --- */

static void
claim_free(struct hook_auth *a, struct waiting_claim *w)
{
	a->count.waiting--;
	free(w);
}

static void
claim_drop(struct hook_auth *a, const struct hook_claim *claim, const char *why)
{
	a->count.dropped++;
	log_limited(&a->limit_dropped, log_warnx,
	    "the hook message of job %llu (%s) is dropped, because %s; the "
	    "next poll finds the job",
	    (unsigned long long)claim->job, claim->cluster, why);
	a->ops->refused(claim, a->arg);
}

/* detail: "" or more about the reason, behind a comma. */
static void
claim_refuse(struct hook_auth *a, const struct hook_claim *claim,
    enum refusal why, const char *detail)
{
	char text[512];

	a->count.refused++;
	snprintf(text, sizeof(text), "%s%s", refusals[why], detail);
	log_limited(&a->limit_refused[why], log_warnx,
	    "the hook message of job %llu (%s) from TCP is refused: %s",
	    (unsigned long long)claim->job, claim->cluster, text);
	a->ops->refused(claim, a->arg);
}

/* --- the answer --- */

/* The payload of exactly this hook, and nothing else. */
static int
payload_is_of(struct span payload, const struct hook_claim *claim)
{
	char expected[HOOK_PAYLOAD_MAX];
	size_t n = hook_payload(expected, sizeof(expected), claim->cluster,
	    claim->job, claim->kind);

	return n > 0 && payload.n == n && memcmp(payload.p, expected, n) == 0;
}

/*
 * REFUSED__COUNT when the answer proves that SlurmUser or root has sent this
 * message.
 */
static enum refusal
claim_check(const struct hook_auth *a, const struct hook_claim *claim)
{
	struct span text = { a->answer, a->answer_len };
	struct munge_answer answer;

	if (unmunge_read(text, &answer) == -1 ||
	    answer.status != MUNGE_STATUS_OK)
		return REFUSED_ANSWER;
	if (answer.uid != 0 && answer.uid != claim->c->slurm.slurm_uid)
		return REFUSED_USER;
	if (!payload_is_of(answer.payload, claim))
		return REFUSED_PAYLOAD;
	return REFUSED__COUNT;
}

/* How much the clocks differ, or how long the message was under way. */
static void
refuse_by_clock(struct hook_auth *a, const struct hook_claim *claim)
{
	struct span text = { a->answer, a->answer_len };
	struct munge_answer answer;
	char detail[128] = "";
	int64_t age;

	if (unmunge_read(text, &answer) == 0 && answer.encoded <= TIME_S_MAX &&
	    answer.decoded <= TIME_S_MAX) {
		age = answer.decoded - answer.encoded;
		snprintf(detail, sizeof(detail), ", it was made %s %s",
		    duration_text((age < 0 ? -age : age) * 1000),
		    age < 0 ? "in the future" : "ago");
	}
	claim_refuse(a, claim, REFUSED_CLOCK, detail);
}

/* munge has refused the credential. */
static void
refuse_by_status(struct hook_auth *a, const struct hook_claim *claim,
    unsigned status)
{
	if (status == MUNGE_STATUS_EXPIRED || status == MUNGE_STATUS_REWOUND)
		refuse_by_clock(a, claim);
	else if (status == MUNGE_STATUS_REPLAYED)
		claim_refuse(a, claim, REFUSED_REPLAYED, "");
	else if (status == MUNGE_STATUS_INVALID)
		claim_refuse(a, claim, REFUSED_KEY, "");
	else
		claim_refuse(a, claim, REFUSED_FORMAT, "");
}

/* munged does not answer: the claim waits. */
static void
munge_away(struct hook_auth *a, struct waiting_claim *w,
    const struct command_end *end)
{
	char why[512];

	if (a->count.away == 0)
		a->count.away = now_wall();
	log_limited(&a->limit_away, log_warnx,
	    "unmunge does not answer: %s; hook messages from TCP wait for %s, "
	    "then the polls find their jobs; run: systemctl status munge",
	    command_why(end, why, sizeof(why)), duration_text(WAIT_MS));
	a->retry_at = now_ms() + AWAY_MS;
	if (a->first == NULL)
		a->tail = &w->next;
	w->next = a->first;
	a->first = w;
}

/* The status of unmunge is that of munge_decode(3). */
static unsigned
status_of(const struct command_end *end)
{
	if (end->outcome == COMMAND_OK)
		return MUNGE_STATUS_OK;
	if (end->outcome != COMMAND_FAILED || !WIFEXITED(end->status))
		return MUNGE_STATUS_LAST + 1;
	return (unsigned)WEXITSTATUS(end->status);
}

/*
 * A credential can contain a compressed payload of 1 MiB.  munged has decoded
 * this one; the payload is none of a hook.
 */
static int
is_too_long(const struct command_end *end)
{
	return end->outcome == COMMAND_TOO_LONG ||
	    end->outcome == COMMAND_REFUSED;
}

int
unmunge_answered(const struct command_end *end)
{
	unsigned status = status_of(end);

	return is_too_long(end) || status == MUNGE_STATUS_OK ||
	    (status >= MUNGE_STATUS_FORMAT && status <= MUNGE_STATUS_LAST);
}

static void
claim_accept(struct hook_auth *a, const struct hook_claim *claim)
{
	enum refusal why = claim_check(a, claim);

	if (why != REFUSED__COUNT) {
		claim_refuse(a, claim, why, "");
		return;
	}
	a->count.accepted++;
	log_debug("the munge credential of job %llu (%s) is valid",
	    (unsigned long long)claim->job, claim->cluster);
	a->ops->accepted(claim, a->arg);
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct hook_auth *a = arg;
	struct waiting_claim *w = a->asked;
	unsigned status = status_of(end);

	a->asked = NULL;
	if (!unmunge_answered(end))
		munge_away(a, w, end);
	else {
		a->count.away = 0;
		if (is_too_long(end))
			claim_refuse(a, &w->claim, REFUSED_PAYLOAD, "");
		else if (status == MUNGE_STATUS_OK)
			claim_accept(a, &w->claim);
		else
			refuse_by_status(a, &w->claim, status);
		claim_free(a, w);
	}
	hook_auth_kick(a);
}

static int
on_output(const char *p, size_t n, void *arg)
{
	struct hook_auth *a = arg;

	if (n > sizeof(a->answer) - a->answer_len)
		return -1;
	memcpy(a->answer + a->answer_len, p, n);
	a->answer_len += n;
	return 0;
}

/* --- the question --- */

/* ms until the next command is allowed; 0 takes a token. */
static int64_t
token_take(struct hook_auth *a)
{
	int64_t now = now_ms();

	a->tokens += (now - a->tokens_at) * PER_SECOND;
	if (a->tokens > BURST * 1000)
		a->tokens = BURST * 1000;
	a->tokens_at = now;
	if (a->tokens < 1000)
		return (1000 - a->tokens) / PER_SECOND + 1;
	a->tokens -= 1000;
	return 0;
}

static const char *
old_reason(const struct hook_auth *a, const struct waiting_claim *w)
{
	if (!w->claim.c->slurm.known)
		return "slurmctld of this cluster has not answered yet, and "
		       "its SlurmUser is unknown";
	return a->count.away != 0 ? "munged does not answer" :
				    "too many messages wait for munged";
}

/* Claims are in the order of their arrival; the first is the oldest. */
static void
old_claims_drop(struct hook_auth *a)
{
	struct waiting_claim *w;

	while ((w = a->first) != NULL && now_ms() - w->since >= WAIT_MS) {
		if ((a->first = w->next) == NULL)
			a->tail = &a->first;
		claim_drop(a, &w->claim, old_reason(a, w));
		claim_free(a, w);
	}
}

/* Finds the first claim of a cluster whose SlurmUser is known; *p may be NULL. */
static struct waiting_claim **
claim_find(struct hook_auth *a)
{
	struct waiting_claim **p = &a->first;

	while (*p != NULL && !(*p)->claim.c->slurm.known)
		p = &(*p)->next;
	return p;
}

static struct waiting_claim *
claim_unlink(struct hook_auth *a, struct waiting_claim **p)
{
	struct waiting_claim *w = *p;

	*p = w->next;
	if (w->next == NULL)
		a->tail = p;
	return w;
}

static void
claim_ask(struct hook_auth *a, struct waiting_claim *w)
{
	struct question q = { .kind = QUESTION_UNMUNGE };
	const struct command_spec spec = {
		.question = &q,
		.max_bytes = ANSWER_MAX,
		.on_output = on_output,
		.on_end = on_end,
		.arg = a,
	};

	memcpy(q.credential, w->claim.credential, sizeof(q.credential));
	a->answer_len = 0;
	a->asked = w;
	if (runner_start(a->site->runner, &spec) != NULL)
		return;
	a->asked = NULL;
	claim_drop(a, &w->claim, "memory is short");
	claim_free(a, w);
}

void
hook_auth_kick(struct hook_auth *a)
{
	struct waiting_claim **next;
	int64_t wait;

	old_claims_drop(a);
	if (a->asked != NULL || a->first == NULL)
		return;
	next = claim_find(a);
	wait = *next == NULL ? AWAY_MS : a->retry_at - now_ms();
	if (wait <= 0)
		wait = token_take(a);
	if (wait > 0) {
		timer_set(a, wait);
		return;
	}
	claim_ask(a, claim_unlink(a, next));
	if (a->asked == NULL)
		timer_set(a, AWAY_MS);
}

void
hook_auth_add(struct hook_auth *a, const struct hook_claim *claim)
{
	struct waiting_claim *w;

	w = a->count.waiting < CLAIMS_MAX ? calloc(1, sizeof(*w)) : NULL;
	if (w == NULL) {
		claim_drop(a, claim, "too many messages wait for munged");
		return;
	}
	w->claim = *claim;
	w->since = now_ms();
	*a->tail = w;
	a->tail = &w->next;
	a->count.waiting++;
	hook_auth_kick(a);
}

void
hook_auth_forget(struct hook_auth *a)
{
	struct waiting_claim *w;

	for (w = a->first; w != NULL; w = w->next)
		w->claim.event = 0;
	if (a->asked != NULL)
		a->asked->claim.event = 0;
}

void
hook_auth_counts(const struct hook_auth *a, struct hook_auth_counts *n)
{
	*n = a->count;
}
