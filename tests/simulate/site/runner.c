/* SPDX-License-Identifier: MIT */
/* See runner.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "tests/simulate/site/runner.h"
#include "tests/simulate/site/slurm.h"

#define PIPE_FIRST 500000 /* of the numbers of pipes */
#define AGAIN_MS   50	  /* until unread bytes are shown again */
#define PIECES_MAX 3	  /* of one answer */
#define CANCEL_MS  20	  /* at most, until a command has ended */
/*
 * Questions in one minute.  The poll has 3 commands, the states of nodes 2; the
 * rest is questions for hook events, confirmations and the start.  Scripts are
 * limited by the number of jobs.
 */
#define MINUTE_MAX 400
#define SKIP_SLACK 60 /* s */

struct asked {
	struct asked *next;
	uint64_t id;
	int fd;
	struct question question;
	struct slurm_answer answer;
	size_t available;
	size_t read;
	int64_t began; /* world_ms() */
	int at_end;    /* of the pipe */
	int ended;     /* answer-end was sent */
	int closed;    /* by the collector, or not opened yet and cancelled */
	int cut;       /* it is cut at the deadline */
	int killed;
	void (*ready)(int fd, short what);
	unsigned incarnation;
};

static struct {
	struct link *link;
	struct asked *asked;
	int fds;
	unsigned cut, killed;
	int64_t resume_time;
	uint64_t counts[QUESTION__COUNT];
	int64_t minute;
	unsigned in_minute;
	struct prng prng;
	int64_t (*resume)(void);
	int64_t span; /* slurmQueryMaxSpan, s */
	struct skip {
		int64_t from, to; /* epoch; accounting was not read */
	} * skips;
	size_t n_skips;
} runner;

static void
frame_send(enum msg_type type, uint64_t id, struct writer *w, int fd)
{
	struct msg_header h = { .type = (uint16_t)type,
		.flags = fd != -1 ? MSG_FLAG_FD : 0,
		.length = w != NULL ? (uint32_t)w->len : 0,
		.id = id };
	const char *wrong = msg_check(&h, ROLE_RUNNER, ROLE_COLLECTOR);

	invariant(wrong == NULL, "%s of the runner: %s", msg_name(type), wrong);
	if (runner.link != NULL)
		link_send(runner.link, 0, &h, w != NULL ? w->buf : NULL, fd);
	if (w != NULL)
		wr_clear(w);
}

static struct asked *
asked_of_fd(int fd)
{
	struct asked *q = runner.asked;

	while (q != NULL && q->fd != fd)
		q = q->next;
	return q;
}

static struct asked *
asked_find(uint64_t id)
{
	struct asked *q = runner.asked;

	while (q != NULL && q->id != id)
		q = q->next;
	return q;
}

static void
asked_free(struct asked *gone)
{
	struct asked **at = &runner.asked;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	slurm_answer_clear(&gone->answer);
	question_clear(&gone->question);
	free(gone);
}

/* --- the pipe --- */

static int
is_readable(const struct asked *q)
{
	return !q->closed && (q->read < q->available || q->at_end);
}

static void
pipe_show(void *arg)
{
	struct asked *q = asked_of_fd((int)(intptr_t)arg);

	if (q == NULL || q->ready == NULL || !is_readable(q))
		return;
	world_after(PROCESS_COLLECTOR, AGAIN_MS, pipe_show, arg);
	q->ready(q->fd, EV_READ);
}

static void
pipe_poke(const struct asked *q)
{
	world_after(PROCESS_COLLECTOR, 0, pipe_show, (void *)(intptr_t)q->fd);
}

void
runner_pipe_opened(int fd, void (*ready)(int fd, short what))
{
	struct asked *q = asked_of_fd(fd);

	if (q == NULL)
		return;
	q->ready = ready;
	pipe_poke(q);
}

ssize_t
runner_pipe_read(int fd, void *buf, size_t n)
{
	struct asked *q = asked_of_fd(fd);
	size_t left;

	invariant(q != NULL && !q->closed, "read() of descriptor %d", fd);
	left = q->available - q->read;
	if (left == 0 && q->at_end)
		return 0;
	if (left == 0) {
		errno = EAGAIN;
		return -1;
	}
	if (n > left)
		n = left;
	memcpy(buf, q->answer.text + q->read, n);
	q->read += n;
	return (ssize_t)n;
}

void
runner_pipe_close(int fd)
{
	struct asked *q = asked_of_fd(fd);

	if (q == NULL)
		return;
	q->closed = 1;
	if (q->ended)
		asked_free(q);
}

/* --- the command --- */

static void
end_send(struct asked *q, enum answer_how how, int status)
{
	struct writer w;

	if (q->ended)
		return;
	q->at_end = q->ended = 1;
	pipe_poke(q);
	wr_init(&w, 2 * RUNNER_ERR_MAX);
	wr_u8(&w, (uint8_t)how);
	wr_u32(&w, (uint32_t)status);
	wr_u32(&w, (uint32_t)(world_ms() - q->began));
	wr_u64(&w, 4u << 20);
	wr_str(&w, how == ANSWER_EXITED ? q->answer.err : "");
	frame_send(MSG_ANSWER_END, q->id, &w, -1);
	if (q->closed)
		asked_free(q);
}

static void
on_deadline(void *arg)
{
	struct asked *q = asked_find((uint64_t)(uintptr_t)arg);

	if (q != NULL)
		end_send(q, ANSWER_TIMEOUT, 9);
}

static void
on_piece(void *arg)
{
	struct asked *q = asked_find((uint64_t)(uintptr_t)arg);
	size_t left, n;

	if (q == NULL || q->ended)
		return;
	left = q->answer.len - q->available;
	n = 1 + (size_t)prng_below(&runner.prng, left);
	if (prng_below(&runner.prng, PIECES_MAX) == 0 || left == 0)
		n = left;
	q->available += n;
	pipe_poke(q);
	if (q->cut && n == left && left > 0) {
		/* Not all of it: the command hangs. */
		q->available -= (size_t)prng_below(&runner.prng, n);
		trace("the answer %llu is cut", (unsigned long long)q->id);
		world_after(PROCESS_NONE,
		    question_type(q->question.kind)->deadline_ms, on_deadline,
		    arg);
	} else if (q->killed)
		/* By a signal, or because a file of names was replaced. */
		end_send(q,
		    prng_chance(&runner.prng, 500000) ? ANSWER_EXITED :
							ANSWER_STALE,
		    9);
	else if (n == left)
		end_send(q, ANSWER_EXITED, q->answer.status << 8);
	else
		world_after(PROCESS_NONE, (int64_t)prng_below(&runner.prng, 20),
		    on_piece, arg);
}

/* Slurm's daemon has answered the command. */
static void
on_answer(void *arg)
{
	struct asked *q = asked_find((uint64_t)(uintptr_t)arg);

	if (q == NULL || q->ended)
		return;
	slurm_answer(&q->question, &q->answer);
	world_after(PROCESS_NONE, q->answer.ms, on_piece, arg);
}

static void
question_count(const struct question *q)
{
	int64_t minute = world_ms() / MINUTE_MS;

	runner.counts[q->kind]++;
	if (q->kind == QUESTION_SCRIPT)
		return;
	if (minute != runner.minute)
		runner.in_minute = 0;
	runner.minute = minute;
	runner.in_minute++;
	invariant(runner.in_minute <= MINUTE_MAX,
	    "more than %d questions in one minute", MINUTE_MAX);
}

/*
 * The range begins at slurmQueryMaxSpan, after the resume point: what lies
 * between them is not read.
 */
static void
skip_note(const struct question *q)
{
	int64_t resume = runner.resume(), now = world_true_ms() / 1000;

	if (q->kind != QUESTION_RANGE || q->from <= resume ||
	    q->from > now - runner.span + SKIP_SLACK)
		return;
	runner.skips = world_realloc(runner.skips,
	    (runner.n_skips + 1) * sizeof(runner.skips[0]));
	runner.skips[runner.n_skips++] = (struct skip) { resume, q->from };
}

int
runner_skipped(int64_t end)
{
	size_t i;

	for (i = 0; i < runner.n_skips; i++)
		if (runner.skips[i].from <= end && end <= runner.skips[i].to)
			return 1;
	return 0;
}

static void
on_question(uint64_t id, struct reader *r)
{
	struct asked *q = world_alloc(sizeof(*q));

	question_read(r, &q->question);
	invariant(rd_end(r) == 0, "a malformed question");
	question_count(&q->question);
	skip_note(&q->question);
	q->id = id;
	q->fd = PIPE_FIRST + runner.fds++;
	q->began = world_ms();
	q->cut = prng_chance(&runner.prng, runner.cut);
	q->killed = prng_chance(&runner.prng, runner.killed);
	q->next = runner.asked;
	runner.asked = q;
	trace("asks %s, question %llu",
	    slurm_command_name(question_type(q->question.kind)->command),
	    (unsigned long long)id);
	frame_send(MSG_ANSWER_FD, id, NULL, q->fd);
	world_after(PROCESS_NONE, (int64_t)prng_below(&runner.prng, 30),
	    on_answer, (void *)(uintptr_t)id);
}

static void
on_cancelled(void *arg)
{
	struct asked *q = asked_find((uint64_t)(uintptr_t)arg);

	if (q != NULL)
		end_send(q, ANSWER_EXITED, 9);
}

static void
on_frame(void *arg, const struct msg_header *h, const uint8_t *payload, int fd)
{
	struct reader r;

	(void)arg;
	(void)fd;
	rd_init(&r, payload, h->length);
	switch (h->type) {
	case MSG_QUESTION:
		on_question(h->id, &r);
		break;
	case MSG_CANCEL:
		world_after(PROCESS_NONE,
		    (int64_t)prng_below(&runner.prng, CANCEL_MS), on_cancelled,
		    (void *)(uintptr_t)h->id);
		break;
	case MSG_RESUME_TIME:
		runner.resume_time = rd_i64(&r);
		break;
	default:
		break; /* pause, continue: the pipe stays as it is */
	}
}

static void
on_broken(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static const struct link_ops ops = {
	.frame = on_frame,
	.broken = on_broken,
};

static void
info_send(void)
{
	struct writer w;

	wr_init(&w, 1024);
	wr_str(&w, SLURM_USER);
	wr_u8(&w, 0);
	wr_str(&w, "");
	wr_u64(&w, 1);
	wr_i64(&w, runner.resume_time);
	frame_send(MSG_RUNNER_INFO, 0, &w, -1);
}

void
runner_begin(int64_t span, int64_t (*resume)(void))
{
	runner.span = span;
	runner.resume = resume;
	prng_init(&runner.prng, world_seed(), "runner");
}

void
runner_connect(struct link *l)
{
	runner.link = l;
	link_attach(l, 0, &ops, NULL);
	info_send();
}

void
runner_ended(void)
{
	while (runner.asked != NULL)
		asked_free(runner.asked);
	if (runner.link != NULL)
		link_close(runner.link, 0);
	runner.link = NULL;
}

void
runner_faults_set(unsigned cut, unsigned killed)
{
	runner.cut = cut;
	runner.killed = killed;
}

uint64_t
runner_asked(enum question_kind kind)
{
	return runner.counts[kind];
}
