/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised runner to the collector, which parses its answers:
 * pipes and other descriptors, ends and facts in any order, for questions that exist
 * or not, also paused ones.  Each question ends once, with bounded texts and no more
 * output than its limit, and no descriptor stays open.
 */
#include "config.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/slurm/runner_link.h"
#include "tests/fuzz/frames.h"

#define FRAMES_MAX 32
#define ASKED_MAX  FRAMES_MAX
#define TURNS	   20  /* of the loop; they end everything */
#define OUTPUT_MAX 64  /* bytes of an answer */
#define STOP_BYTE  '!' /* an answer with it is refused */

static struct event_base *base;
static struct runner_link *runner;
static struct channel *channel;
static int far; /* the runner's end */
static uint64_t last_id;

static struct asked {
	struct command *cmd; /* NULL: it has ended */
	size_t bytes;
	int paused;
} asked[ASKED_MAX];
static unsigned n_asked;

static int
on_output(const char *p, size_t n, void *arg)
{
	struct asked *a = arg;

	HOLDS(a->cmd != NULL);
	a->bytes += n;
	HOLDS(a->bytes <= OUTPUT_MAX);
	return memchr(p, STOP_BYTE, n) != NULL ? -1 : 0;
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct asked *a = arg;

	HOLDS(a->cmd != NULL);
	a->cmd = NULL;
	HOLDS((unsigned)end->outcome < COMMAND_OUTCOMES);
	HOLDS(end->err == NULL || strlen(end->err) < MSG_PAYLOAD_MAX);
}

static void
on_changed(void *arg)
{
	const struct runner_info *info = runner_info(runner);

	HOLDS(info->known && (info->root == 0 || info->root == 1));
	HOLDS(memchr(info->user, '\0', sizeof(info->user)) != NULL);
	HOLDS(memchr(info->missing, '\0', sizeof(info->missing)) != NULL);
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	runner_frame(runner, c, h, r, fd);
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	runner_peer(runner, NULL);
	channel_free(c);
	channel = NULL;
}

static const struct channel_ops channel_ops = { on_frame, on_broken, NULL };

static void
turns(int n)
{
	for (; n > 0; n--)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

static void
question_ask(void)
{
	const struct question q = { .kind = QUESTION_CLOCK };
	struct command_spec spec = { .question = &q,
		.max_bytes = OUTPUT_MAX,
		.on_output = on_output,
		.on_end = on_end };
	struct msg_header h;
	uint8_t *payload;
	int fd;

	if (n_asked == ASKED_MAX)
		return;
	spec.arg = &asked[n_asked];
	memset(&asked[n_asked], 0, sizeof(asked[n_asked]));
	asked[n_asked].cmd = runner_start(runner, &spec);
	HOLDS(asked[n_asked++].cmd != NULL);
	turns(2);
	while (frame_read(far, ROLE_RUNNER, ROLE_COLLECTOR, &h, &payload, &fd,
		   0) == 0) {
		if (h.type == MSG_QUESTION)
			last_id = h.id;
		free(payload);
	}
}

/* A pipe with the payload; sometimes its writing end, or no pipe. */
static int
answer_open(const char *payload, size_t n)
{
	int fds[2], fd;

	if (n > 0 && payload[0] == 0)
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	HOLDS(pipe2(fds, O_CLOEXEC) == 0);
	HOLDS(n == 0 || write(fds[1], payload, n) == (ssize_t)n);
	if (n > 0 && payload[0] == 1) {
		fd = fds[1];
		close(fds[0]);
	} else {
		fd = fds[0];
		close(fds[1]);
	}
	return fd;
}

static void
message_send(const struct msg_header *h, const char *payload)
{
	struct writer w;
	int fd = -1;

	wr_init(&w, MSG_PAYLOAD_MAX);
	if (h->type == MSG_ANSWER_FD)
		fd = answer_open(payload, h->length % 4096);
	else
		wr_mem(&w, payload, h->length);
	/* A message that the table does not allow is not sent. */
	(void)frame_write(far, ROLE_RUNNER, ROLE_COLLECTOR,
	    (enum msg_type)h->type, last_id - h->id, &w, fd);
	if (fd != -1)
		close(fd);
	wr_clear(&w);
}

static void
pause_change(uint64_t which)
{
	struct asked *a;

	if (n_asked == 0)
		return;
	a = &asked[which % n_asked];
	if (a->cmd == NULL)
		return;
	a->paused = !a->paused;
	command_pause(a->cmd, a->paused);
}

static void
runner_begin(void)
{
	int fds[2];

	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	channel = channel_new(base, fds[0], ROLE_COLLECTOR, ROLE_RUNNER,
	    &channel_ops, NULL);
	HOLDS(channel != NULL);
	far = fds[1];
	runner_peer(runner, channel);
}

static void
runner_end(void)
{
	close(far);
	turns(TURNS);
	HOLDS(channel == NULL);
}

/*
 * The end of a runner ends the questions that were sent to it, the paused ones also.
 * The others are sent to the next runner.
 */
static void
questions_end(void)
{
	unsigned i, rounds = 0;

	runner_end();
	while (runner_running(runner) > 0) {
		HOLDS(++rounds <= ASKED_MAX);
		runner_begin();
		turns(TURNS);
		runner_end();
	}
	for (i = 0; i < n_asked; i++)
		HOLDS(asked[i].cmd == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/* MSG_QUESTION: the collector asks; MSG_PAUSE: it pauses or goes on. */
	static const enum msg_type types[] = { MSG_QUESTION, MSG_ANSWER_FD,
		MSG_ANSWER_END, MSG_RUNNER_INFO, MSG_PAUSE };
	struct frames f = { bytes, n, types, sizeof(types) / sizeof(types[0]) };
	struct msg_header h;
	char *payload;
	int i, lowest;

	fuzz_quiet();
	if (base == NULL) {
		base = event_base_new();
		HOLDS(base != NULL);
		runner = runner_new(base, on_changed, NULL);
		HOLDS(runner != NULL);
	}
	lowest = dup(0);
	close(lowest);
	runner_begin();
	for (i = 0;
	     i < FRAMES_MAX && channel != NULL && frames_next(&f, &h, &payload);
	     i++) {
		if (h.type == MSG_QUESTION)
			question_ask();
		else if (h.type == MSG_PAUSE)
			pause_change(h.id);
		else
			message_send(&h, payload);
		free(payload);
		turns(2);
	}
	questions_end();
	HOLDS(dup(0) == lowest && close(lowest) == 0);
	return 0;
}
