/* SPDX-License-Identifier: MIT */
/* The channel to the runner; see runner_link.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/slurm/command_times.h"
#include "collector/slurm/runner_link.h"
#include "common/clock.h"
#include "common/ipc/passing.h"
#include "common/log.h"

#define READ_STEP    (64u * 1024) /* one read; a pipe holds as much */
#define READS_A_TURN 16		  /* reads, then other events are handled */
#define LINGER_MS    5000 /* that the pipe may stay open after the end */

enum command_state {
	COMMAND_WAITING, /* not sent: its time has not come, or no room */
	COMMAND_SENT,
	COMMAND_ENDING /* on_end is being called, or will be at once */
};

struct command {
	struct command *next;
	struct runner_link *link;
	struct command_spec spec; /* without the question */
	struct question question; /* owned */
	uint64_t id;		  /* of the question, from 1 */
	enum command_state state;
	int due;	     /* wait_ms is over */
	long long due_ms;    /* clock_ms() at which wait_ms is over */
	int piped;	     /* the pipe has come */
	int ended;	     /* the runner has sent its end */
	struct event *out;   /* the pipe; NULL = not yet, or at its end */
	struct event *timer; /* until it is sent; after its end */
	int paused;
	int killed;
	uint64_t bytes;
	struct command_end end;
	char err_text[RUNNER_ERR_MAX];
};

struct runner_link {
	struct event_base *base;
	struct channel *channel; /* borrowed; NULL = no runner */
	struct runner_info info;
	struct command *commands; /* oldest first */
	unsigned clusters;
	unsigned running; /* sent, or waiting */
	unsigned sent;	  /* under way at the runner */
	uint64_t ids;
	uint64_t total;
	uint64_t peak; /* resident bytes of the biggest command */
	char peak_name[32];
	struct command_times times;
	void (*changed)(void *arg);
	void *arg;
	char buf[READ_STEP];
};

static void
pipe_close(struct command *cmd)
{
	int fd;

	if (cmd->out == NULL)
		return;
	fd = event_get_fd(cmd->out);
	event_free(cmd->out);
	close(fd);
	cmd->out = NULL;
}

static void
timer_set(struct command *cmd, unsigned ms)
{
	const struct timeval tv = clock_timeval(ms);

	if (event_add(cmd->timer, &tv) == -1)
		fatalx("out of memory");
}

static void
control_send(struct command *cmd, enum msg_type type)
{
	if (cmd->link->channel != NULL && cmd->state == COMMAND_SENT &&
	    !cmd->ended)
		(void)channel_send(cmd->link->channel, type, cmd->id, NULL, -1);
}

static void
command_unlink(struct command *cmd)
{
	struct command **p = &cmd->link->commands;

	while (*p != cmd)
		p = &(*p)->next;
	*p = cmd->next;
	cmd->link->running--;
}

static void questions_send(struct runner_link *r);

static void
command_finish(struct command *cmd)
{
	struct runner_link *r = cmd->link;

	command_unlink(cmd);
	if (cmd->state == COMMAND_SENT)
		r->sent--;
	cmd->state = COMMAND_ENDING;
	cmd->end.bytes = cmd->bytes;
	cmd->end.err = cmd->err_text;
	pipe_close(cmd);
	command_times_add(&r->times, cmd->question.kind, cmd->end.outcome,
	    cmd->end.ms);
	cmd->spec.on_end(&cmd->end, cmd->spec.arg);
	event_free(cmd->timer);
	question_clear(&cmd->question);
	free(cmd);
	questions_send(r);
}

/* The answer has ended: on_end() is called from the event loop. */
static void
command_check(struct command *cmd)
{
	if (!cmd->ended || cmd->paused)
		return;
	timer_set(cmd, cmd->out == NULL ? 0 : LINGER_MS);
}

/*
 * Ends the command early; the runner kills the process.  on_output() may have
 * paused the command before it refused the answer.  command_pause() does not
 * resume a killed command, so the pause ends here.
 */
static void
command_kill(struct command *cmd, enum command_outcome outcome)
{
	cmd->killed = 1;
	cmd->paused = 0;
	cmd->end.outcome = outcome;
	pipe_close(cmd);
	control_send(cmd, MSG_CANCEL);
	command_check(cmd);
}

static void
question_send(struct command *cmd)
{
	struct runner_link *r = cmd->link;
	struct writer w;

	wr_init(&w, QUESTION_BYTES_MAX);
	question_write(&w, &cmd->question);
	cmd->state = COMMAND_SENT;
	cmd->id = ++r->ids;
	r->sent++;
	r->total++;
	if (channel_send(r->channel, MSG_QUESTION, cmd->id, &w, -1) == -1) {
		/* The channel is broken: the runner's end follows. */
		cmd->end.outcome = COMMAND_SPAWN;
		cmd->ended = 1;
		command_check(cmd);
	}
	wr_clear(&w);
	log_trace("question %llu to the runner: %s",
	    (unsigned long long)cmd->id,
	    slurm_command_name(question_type(cmd->question.kind)->command));
}

/* Sends what is due, oldest first. */
static void
questions_send(struct runner_link *r)
{
	struct command *cmd;

	if (r->channel == NULL)
		return;
	for (cmd = r->commands; cmd != NULL; cmd = cmd->next) {
		if (r->sent >= questions_max(r->clusters))
			return;
		if (cmd->state == COMMAND_WAITING && cmd->due)
			question_send(cmd);
	}
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;

	(void)fd;
	(void)what;
	if (cmd->state == COMMAND_WAITING && !question_valid(&cmd->question)) {
		cmd->end.outcome = COMMAND_SPAWN;
		snprintf(cmd->err_text, sizeof(cmd->err_text),
		    "a value of the question is not valid");
		command_finish(cmd);
		return;
	}
	if (cmd->state == COMMAND_WAITING) {
		cmd->due = 1;
		questions_send(cmd->link);
		return;
	}
	/* Another process holds the pipe of a command that has ended. */
	if (cmd->out != NULL && !cmd->killed)
		cmd->end.outcome = COMMAND_TIMEOUT;
	command_finish(cmd);
}

static void
on_out(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;
	char *buf = cmd->link->buf;
	ssize_t n;
	int turn;

	(void)what;
	for (turn = 0; turn < READS_A_TURN; turn++) {
		if (cmd->paused || cmd->out == NULL)
			return;
		n = read(fd, buf, READ_STEP);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			pipe_close(cmd);
			command_check(cmd);
			return;
		}
		cmd->bytes += (uint64_t)n;
		if (cmd->bytes > cmd->spec.max_bytes) {
			command_kill(cmd, COMMAND_TOO_LONG);
			return;
		}
		if (cmd->spec.on_output != NULL &&
		    cmd->spec.on_output(buf, (size_t)n, cmd->spec.arg) == -1) {
			command_kill(cmd, COMMAND_REFUSED);
			return;
		}
	}
}

struct runner_link *
runner_new(struct event_base *base, void (*changed)(void *arg), void *arg)
{
	struct runner_link *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->base = base;
	r->clusters = 1;
	r->changed = changed;
	r->arg = arg;
	return r;
}

void
runner_clusters(struct runner_link *r, unsigned clusters)
{
	r->clusters = clusters;
}

struct command *
runner_start(struct runner_link *r, const struct command_spec *spec)
{
	struct command *cmd = calloc(1, sizeof(*cmd)), **p;
	size_t i;
	int rc = 0;

	if (cmd == NULL)
		return NULL;
	cmd->link = r;
	cmd->spec = *spec;
	cmd->spec.question = NULL;
	cmd->question = *spec->question;
	memset(&cmd->question.ids, 0, sizeof(cmd->question.ids));
	for (i = 0; i < spec->question->ids.n && rc == 0; i++)
		rc = id_list_add(&cmd->question.ids,
		    spec->question->ids.ids[i]);
	cmd->timer = evtimer_new(r->base, on_timer, cmd);
	if (rc == -1 || cmd->timer == NULL) {
		question_clear(&cmd->question);
		if (cmd->timer != NULL)
			event_free(cmd->timer);
		free(cmd);
		return NULL;
	}
	for (p = &r->commands; *p != NULL; p = &(*p)->next)
		continue;
	*p = cmd;
	r->running++;
	cmd->due_ms = clock_ms() + spec->wait_ms;
	/* From the event loop: the caller has not stored its command yet. */
	timer_set(cmd, spec->wait_ms);
	return cmd;
}

void
command_pause(struct command *cmd, int pause)
{
	if (cmd->paused == pause || cmd->state != COMMAND_SENT || cmd->killed)
		return;
	cmd->paused = pause;
	control_send(cmd, pause ? MSG_PAUSE : MSG_CONTINUE);
	if (pause) {
		if (cmd->out != NULL)
			event_del(cmd->out);
		event_del(cmd->timer);
		return;
	}
	if (cmd->out != NULL && event_add(cmd->out, NULL) == -1)
		fatalx("out of memory");
	command_check(cmd);
}

/* --- messages of the runner --- */

static struct command *
command_find(struct runner_link *r, uint64_t id)
{
	struct command *cmd;

	for (cmd = r->commands; cmd != NULL; cmd = cmd->next)
		if (cmd->state == COMMAND_SENT && cmd->id == id)
			return cmd;
	return NULL;
}

/*
 * The descriptor must be the reading end of a pipe: any other one could block,
 * or be a way to this process.
 */
static int
is_pipe(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags != -1 && (flags & O_ACCMODE) == O_RDONLY &&
	    fcntl(fd, F_GETPIPE_SZ) > 0 &&
	    fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static void
on_answer_fd(struct runner_link *r, struct channel *c, uint64_t id, int fd)
{
	struct command *cmd = command_find(r, id);

	if (cmd == NULL || cmd->piped || cmd->ended || !is_pipe(fd)) {
		passing_close(fd);
		channel_broken(c, "answer-fd");
		return;
	}
	cmd->piped = 1;
	if (cmd->killed) {
		close(fd);
		return;
	}
	cmd->out = event_new(r->base, fd, EV_READ | EV_PERSIST, on_out, cmd);
	if (cmd->out == NULL)
		fatalx("out of memory");
	if (!cmd->paused && event_add(cmd->out, NULL) == -1)
		fatalx("out of memory");
}

static void
peak_note(struct runner_link *r, const struct command *cmd, uint64_t bytes)
{
	if (bytes <= r->peak)
		return;
	r->peak = bytes;
	snprintf(r->peak_name, sizeof(r->peak_name), "%s",
	    slurm_command_name(question_type(cmd->question.kind)->command));
}

static enum command_outcome
outcome_of(unsigned how, int status)
{
	if (how == ANSWER_TIMEOUT)
		return COMMAND_TIMEOUT;
	if (how == ANSWER_NOT_STARTED)
		return COMMAND_SPAWN;
	if (how == ANSWER_STALE)
		return COMMAND_STALE;
	return status == 0 ? COMMAND_OK : COMMAND_FAILED;
}

static void
on_answer_end(struct runner_link *r, struct channel *c, uint64_t id,
    struct reader *rd)
{
	struct command *cmd = command_find(r, id);
	unsigned how = rd_u8(rd);
	uint32_t status = rd_u32(rd), ms = rd_u32(rd);
	uint64_t peak = rd_u64(rd);
	char err[RUNNER_ERR_MAX];

	rd_name(rd, err, sizeof(err));
	if (rd_end(rd) == -1 || how > ANSWER_STALE || cmd == NULL ||
	    cmd->ended) {
		channel_broken(c, "answer-end");
		return;
	}
	peak_note(r, cmd, peak);
	cmd->ended = 1;
	cmd->end.status = (int)status;
	cmd->end.ms = (long)ms;
	memcpy(cmd->err_text, err, sizeof(err));
	if (!cmd->killed)
		cmd->end.outcome = outcome_of(how, (int)status);
	command_check(cmd);
}

static void
on_runner_info(struct runner_link *r, struct channel *c, struct reader *rd)
{
	struct runner_info info = { .known = 1 };

	rd_name(rd, info.user, sizeof(info.user));
	info.root = rd_u8(rd) != 0;
	rd_name(rd, info.missing, sizeof(info.missing));
	info.replaced = rd_u64(rd);
	info.lastrun = rd_time(rd);
	if (rd_end(rd) == -1) {
		channel_broken(c, "runner-info");
		return;
	}
	r->info = info;
	r->changed(r->arg);
}

void
runner_frame(struct runner_link *r, struct channel *c,
    const struct msg_header *h, struct reader *rd, int fd)
{
	switch (h->type) {
	case MSG_ANSWER_FD:
		on_answer_fd(r, c, h->id, fd);
		break;
	case MSG_ANSWER_END:
		on_answer_end(r, c, h->id, rd);
		break;
	default:
		on_runner_info(r, c, rd);
	}
}

/* A new runner knows nothing of the questions to the one before. */
void
runner_peer(struct runner_link *r, struct channel *c)
{
	struct command *cmd;

	r->channel = c;
	for (cmd = r->commands; cmd != NULL; cmd = cmd->next) {
		if (cmd->state != COMMAND_SENT || cmd->ended)
			continue;
		pipe_close(cmd);
		cmd->ended = 1;
		cmd->paused = 0;
		cmd->end.outcome = COMMAND_SPAWN;
		snprintf(cmd->err_text, sizeof(cmd->err_text),
		    "the runner has ended");
		command_check(cmd);
	}
	questions_send(r);
}

const struct runner_info *
runner_info(const struct runner_link *r)
{
	return &r->info;
}

void
runner_resume_time(struct runner_link *r, int64_t epoch)
{
	struct writer w;

	if (r->channel == NULL)
		return;
	wr_init(&w, sizeof(epoch));
	wr_i64(&w, epoch);
	(void)channel_send(r->channel, MSG_RESUME_TIME, 0, &w, -1);
	wr_clear(&w);
}

struct command_times *
runner_times(struct runner_link *r)
{
	return &r->times;
}

int64_t
runner_oldest_ms(const struct runner_link *r, int daemon)
{
	const struct command *cmd;
	long long now = clock_ms();
	int64_t oldest = 0;

	for (cmd = r->commands; cmd != NULL; cmd = cmd->next)
		if ((int)command_daemon(cmd->question.kind) == daemon &&
		    now - cmd->due_ms > oldest)
			oldest = now - cmd->due_ms;
	return oldest;
}

unsigned
runner_running(const struct runner_link *r)
{
	return r->running;
}

uint64_t
runner_total(const struct runner_link *r)
{
	return r->total;
}

uint64_t
runner_peak(const struct runner_link *r, const char **name)
{
	*name = r->peak > 0 ? r->peak_name : "none";
	return r->peak;
}
