/* SPDX-License-Identifier: MIT */
/*
 * The collector's end of the channel to the runner.  The test plays the
 * runner: answers that end in each order, answers that do not end, and a
 * runner that breaks the rules.
 */
#include "config.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/slurm/query.h"
#include "collector/slurm/runner_link.h"
#include "common/clock.h"
#include "tests/unit/check.h"
#include "tests/unit/lingering_socket.h"
#include "tests/unit/loop.h"

#define WAIT_MS	 500 /* of a question that waits */
#define CLOCK_MS 20  /* that the clock of libevent may be behind */

static struct event_base *base;
static struct runner_link *link_;
static struct channel *channel;
static int far = -1; /* the runner's end */

static struct {
	char out[64];
	size_t len;
	int refuse;
	struct command *pause; /* paused by on_output() */
	int ended;
	enum command_outcome outcome;
	int status;
	char why[256];
} seen;
static int changes, broken;

static int
on_output(const char *p, size_t n, void *arg)
{
	(void)arg;
	if (n > sizeof(seen.out) - 1 - seen.len)
		n = sizeof(seen.out) - 1 - seen.len;
	memcpy(seen.out + seen.len, p, n);
	seen.len += n;
	seen.out[seen.len] = '\0';
	if (seen.pause != NULL)
		command_pause(seen.pause, 1);
	return seen.refuse ? -1 : 0;
}

static void
on_end(const struct command_end *end, void *arg)
{
	(void)arg;
	seen.ended++;
	seen.outcome = end->outcome;
	seen.status = end->status;
	command_why(end, seen.why, sizeof(seen.why));
}

static void
on_changed(void *arg)
{
	(void)arg;
	changes++;
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	(void)arg;
	runner_frame(link_, c, h, r, fd);
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	(void)why;
	(void)arg;
	broken++;
	runner_peer(link_, NULL);
	channel_free(c);
	channel = NULL;
}

static const struct channel_ops channel_ops = { on_frame, on_broken, NULL };

static void
runner_begin(void)
{
	int fds[2];

	if (far != -1)
		close(far);
	loop_settle(base);
	channel_free(channel);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	channel = channel_new(base, fds[0], ROLE_COLLECTOR, ROLE_RUNNER,
	    &channel_ops, NULL);
	far = fds[1];
	broken = 0;
	runner_peer(link_, channel);
}

/* What the collector has sent: the type, or -1; *id of the question. */
static int
taken(uint64_t *id, struct question *q)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int fd;

	if (frame_read(far, ROLE_RUNNER, ROLE_COLLECTOR, &h, &payload, &fd,
		0) == -1)
		return -1;
	*id = h.id;
	if (h.type == MSG_QUESTION && q != NULL) {
		rd_init(&r, payload, h.length);
		question_read(&r, q);
		CHECK_INT(rd_end(&r), 0);
	}
	free(payload);
	return h.type;
}

static void
say(enum msg_type type, uint64_t id, const struct writer *w, int fd)
{
	CHECK_INT(frame_write(far, ROLE_RUNNER, ROLE_COLLECTOR, type, id, w,
		      fd),
	    0);
}

static void
end_say(uint64_t id, enum answer_how how, int status, const char *err)
{
	struct writer w;

	wr_init(&w, 8192);
	wr_u8(&w, (uint8_t)how);
	wr_u32(&w, (uint32_t)status);
	wr_u32(&w, 10);
	wr_u64(&w, 4096);
	wr_str(&w, err);
	say(MSG_ANSWER_END, id, &w, -1);
	wr_clear(&w);
}

static struct command *
ask(unsigned wait_ms, uint64_t max)
{
	const struct question q = { .kind = QUESTION_CLOCK, .cluster = 3 };
	const struct command_spec spec = { .question = &q,
		.wait_ms = wait_ms,
		.max_bytes = max,
		.on_output = on_output,
		.on_end = on_end };
	struct command *cmd;

	memset(&seen, 0, sizeof(seen));
	cmd = runner_start(link_, &spec);
	CHECK(cmd != NULL);
	return cmd;
}

/* Asks, takes the question as the runner, and passes the pipe. */
static uint64_t
asked(int *write_end, struct command **cmd)
{
	struct question q;
	uint64_t id = 0;
	int fds[2];

	*cmd = ask(0, 20);
	loop_settle(base);
	CHECK_INT(taken(&id, &q), MSG_QUESTION);
	CHECK_INT(q.kind, QUESTION_CLOCK);
	CHECK_INT(q.cluster, 3);
	question_clear(&q);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	say(MSG_ANSWER_FD, id, NULL, fds[0]);
	close(fds[0]);
	*write_end = fds[1];
	return id;
}

static void
test_answer(void)
{
	struct command *cmd;
	uint64_t id;
	int out;

	/* The end of the pipe alone is no answer. */
	id = asked(&out, &cmd);
	CHECK(write(out, "ab\n", 3) == 3);
	close(out);
	loop_settle(base);
	CHECK_STR(seen.out, "ab\n");
	CHECK_INT(seen.ended, 0);
	CHECK_INT(runner_running(link_), 1);
	end_say(id, ANSWER_EXITED, 0, "");
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(seen.outcome, COMMAND_OK);
	CHECK_INT(runner_running(link_), 0);
	/* The end of the process alone is none, either. */
	id = asked(&out, &cmd);
	end_say(id, ANSWER_EXITED, 3 << 8, "no");
	loop_settle(base);
	CHECK_INT(seen.ended, 0);
	CHECK(write(out, "cd", 2) == 2);
	close(out);
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(seen.outcome, COMMAND_FAILED);
	CHECK_STR(seen.out, "cd");
	CHECK_STR(seen.why, "exit status 3: no");
}

static void
test_other_ends(void)
{
	struct command *cmd;
	uint64_t id;
	int out;

	id = asked(&out, &cmd);
	close(out);
	end_say(id, ANSWER_TIMEOUT, 9, "");
	loop_settle(base);
	CHECK_INT(seen.outcome, COMMAND_TIMEOUT);
	id = asked(&out, &cmd);
	close(out);
	end_say(id, ANSWER_STALE, 0, "/etc/passwd was replaced");
	loop_settle(base);
	CHECK_INT(seen.outcome, COMMAND_STALE);
	CHECK_STR(seen.why, "/etc/passwd was replaced");
	/* Without a pipe. */
	ask(0, 20);
	loop_settle(base);
	CHECK_INT(taken(&id, NULL), MSG_QUESTION);
	end_say(id, ANSWER_NOT_STARTED, 0, "/x/sdiag cannot be executed");
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(seen.outcome, COMMAND_SPAWN);
	CHECK_STR(seen.why, "cannot be started: /x/sdiag cannot be executed");
}

/* Too much output, or one that on_output() refuses: cancel, then the end. */
static void
test_cancel(void)
{
	struct command *cmd;
	uint64_t id, other;
	int out, i;

	for (i = 0; i < 2; i++) {
		id = asked(&out, &cmd);
		seen.refuse = i;
		CHECK(write(out, "0123456789012345678901", i ? 2 : 22) > 0);
		loop_settle(base);
		CHECK_INT(taken(&other, NULL), MSG_CANCEL);
		CHECK(other == id);
		CHECK_INT(seen.ended, 0);
		CHECK_INT(write(out, "x", 1), -1);
		close(out);
		end_say(id, ANSWER_EXITED, 9, "");
		loop_settle(base);
		CHECK_INT(seen.ended, 1);
		CHECK_INT(seen.outcome, i ? COMMAND_REFUSED : COMMAND_TOO_LONG);
	}
}

static void
test_pause(void)
{
	struct command *cmd;
	uint64_t id, other;
	int out;

	id = asked(&out, &cmd);
	loop_settle(base);
	command_pause(cmd, 1);
	command_pause(cmd, 1);
	CHECK(write(out, "a", 1) == 1);
	close(out);
	end_say(id, ANSWER_EXITED, 0, "");
	loop_settle(base);
	CHECK_INT(taken(&other, NULL), MSG_PAUSE);
	CHECK(other == id);
	CHECK_INT(taken(&other, NULL), -1);
	CHECK_STR(seen.out, "");
	CHECK_INT(seen.ended, 0);
	command_pause(cmd, 0);
	loop_settle(base);
	CHECK_STR(seen.out, "a");
	CHECK_INT(seen.outcome, COMMAND_OK);
	CHECK_INT(seen.ended, 1);
}

/*
 * on_output() pauses the command and refuses the same bytes.  The command ends,
 * whether it is resumed or not.
 */
static void
test_cancel_paused(void)
{
	struct command *cmd;
	uint64_t id, other;
	int out, i;

	for (i = 0; i < 2; i++) {
		id = asked(&out, &cmd);
		seen.refuse = 1;
		seen.pause = cmd;
		CHECK(write(out, "a", 1) == 1);
		loop_settle(base);
		CHECK_INT(taken(&other, NULL), MSG_PAUSE);
		CHECK_INT(taken(&other, NULL), MSG_CANCEL);
		CHECK(other == id);
		CHECK_INT(seen.ended, 0);
		close(out);
		if (i == 1)
			command_pause(cmd, 0);
		end_say(id, ANSWER_EXITED, 9, "");
		loop_settle(base);
		CHECK_INT(taken(&other, NULL), -1);
		CHECK_INT(seen.ended, 1);
		CHECK_INT(seen.outcome, COMMAND_REFUSED);
		CHECK_INT(runner_running(link_), 0);
	}
}

/* More questions than the runner takes wait for their turn. */
static void
test_many(void)
{
	uint64_t ids[32], id;
	long long began;
	unsigned n, i;

	for (i = 0; i < 10; i++)
		ask(0, 20);
	began = clock_ms();
	ask(WAIT_MS, 20);
	loop_settle(base);
	for (n = 0; n < 32 && taken(&ids[n], NULL) == MSG_QUESTION; n++)
		continue;
	CHECK_INT(n, questions_max(1));
	for (i = 0; i < n; i++)
		end_say(ids[i], ANSWER_EXITED, 0, "");
	/* Two of those, and the one that waits. */
	for (i = 0; i < 3; i++) {
		LOOP_UNTIL(base, taken(&id, NULL) == MSG_QUESTION);
		end_say(id, ANSWER_EXITED, 0, "");
	}
	CHECK(clock_ms() - began >= WAIT_MS - CLOCK_MS);
	loop_settle(base);
	CHECK_INT(taken(&id, NULL), -1);
	CHECK_INT(seen.ended, 11);
	CHECK_INT(runner_running(link_), 0);
}

/* The runner ends: its commands fail, those not sent go to the next one. */
static void
test_lost(void)
{
	struct command *cmd;
	uint64_t id;
	int out;

	(void)asked(&out, &cmd);
	loop_settle(base);
	runner_begin();
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(seen.outcome, COMMAND_SPAWN);
	CHECK_STR(seen.why, "cannot be started: the runner has ended");
	close(out);
	runner_peer(link_, NULL);
	ask(0, 20);
	loop_settle(base);
	CHECK_INT(seen.ended, 0);
	runner_peer(link_, channel);
	CHECK_INT(taken(&id, NULL), MSG_QUESTION);
	end_say(id, ANSWER_EXITED, 0, "");
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
}

/* Descriptors that are no pipe to read, ends that nobody asked for. */
static void
test_rules(void)
{
	struct command *cmd;
	uint64_t id;
	int fds[2], out, i;

	for (i = 0; i < 4; i++) {
		runner_begin();
		ask(0, 20);
		loop_settle(base);
		CHECK_INT(taken(&id, NULL), MSG_QUESTION);
		CHECK(pipe(fds) == 0);
		out = open("/dev/null", O_RDONLY);
		CHECK(out != -1);
		if (i == 0)
			say(MSG_ANSWER_FD, id, NULL, out);
		else if (i == 1)
			say(MSG_ANSWER_FD, id, NULL, fds[1]);
		else if (i == 2)
			say(MSG_ANSWER_FD, id + 1, NULL, fds[0]);
		else
			end_say(id + 1, ANSWER_EXITED, 0, "");
		loop_settle(base);
		CHECK_INT(broken, 1);
		CHECK_INT(seen.outcome, COMMAND_SPAWN);
		close(out);
		close(fds[0]);
		close(fds[1]);
	}
	runner_begin();
	id = asked(&out, &cmd);
	end_say(id, (enum answer_how)9, 0, "");
	loop_settle(base);
	CHECK_INT(broken, 1);
	close(out);
}

/*
 * A runner passes a socket with SO_LINGER and a full buffer: the collector does not
 * wait for the peer of the socket.
 */
static void
test_lingering_socket(void)
{
	int fd = lingering_socket();
	long long begin;
	uint64_t id;

	runner_begin();
	ask(0, 20);
	loop_settle(base);
	CHECK_INT(taken(&id, NULL), MSG_QUESTION);
	say(MSG_ANSWER_FD, id, NULL, fd);
	close(fd); /* the collector's copy is the last one */
	begin = clock_ms();
	loop_settle(base);
	CHECK_INT(broken, 1);
	CHECK(clock_ms() - begin < MOST_MS);
}

/* Slurm's clock can show anything: no such question reaches the runner. */
static void
test_invalid(void)
{
	const struct question q = { .kind = QUESTION_CLOCK, .to = INT64_MAX };
	const struct command_spec spec = { .question = &q,
		.max_bytes = 20,
		.on_output = on_output,
		.on_end = on_end };
	uint64_t id;

	runner_begin();
	memset(&seen, 0, sizeof(seen));
	CHECK(runner_start(link_, &spec) != NULL);
	loop_settle(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(seen.outcome, COMMAND_SPAWN);
	CHECK_STR(seen.why,
	    "cannot be started: a value of the question is not valid");
	CHECK_INT(taken(&id, NULL), -1);
	CHECK_INT(runner_running(link_), 0);
}

static void
test_info(void)
{
	struct writer w;

	runner_begin();
	CHECK(!runner_info(link_)->known);
	wr_init(&w, 512);
	wr_str(&w, "op");
	wr_u8(&w, 0);
	wr_str(&w, "sacct");
	wr_u64(&w, 2);
	wr_i64(&w, 1795212354);
	say(MSG_RUNNER_INFO, 0, &w, -1);
	wr_clear(&w);
	loop_settle(base);
	CHECK_INT(changes, 1);
	CHECK(runner_info(link_)->known);
	CHECK_STR(runner_info(link_)->user, "op");
	CHECK_STR(runner_info(link_)->missing, "sacct");
	CHECK_INT(runner_info(link_)->replaced, 2);
	CHECK_INT(runner_info(link_)->lastrun, 1795212354);
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	signal(SIGPIPE, SIG_IGN);
	base = event_base_new();
	link_ = runner_new(base, on_changed, NULL);
	CHECK(link_ != NULL);
	test_info();
	test_answer();
	test_other_ends();
	test_cancel();
	test_pause();
	test_cancel_paused();
	test_many();
	test_lost();
	test_rules();
	test_lingering_socket();
	test_invalid();
	return check_done();
}
