/* SPDX-License-Identifier: MIT */
/*
 * The messages of the supervisor to a worker.  The worker is a child process
 * with the sandbox off.  After each message the test sends a ping: a worker
 * that has accepted the message answers, a worker that has refused the message
 * exits.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/frame.h"
#include "common/log.h"
#include "common/worker/sandbox.h"
#include "common/worker/worker.h"
#include "tests/unit/check.h"

#define CHANNEL_FD    3
#define WAIT_MS	      60000 /* only a failure reaches it */
#define TOKEN	      4711
#define PAYLOAD_BYTES (sizeof(struct ctl_request) + 16)

/* A message with a valid payload of len bytes. */
struct message {
	enum msg_type type;
	const uint8_t *payload;
	size_t len;
	int has_fd;
	int checked; /* a configuration was checked before */
};

static int
conf_check(struct worker *w, const struct conf *next, const uint8_t *secrets,
    size_t len, char *reason, size_t size)
{
	return 0;
}

static void
no_op(struct worker *w)
{
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *r,
    int fd)
{
	channel_broken(w->supervisor, "unexpected message");
}

static void
on_peer(struct worker *w, enum role peer, struct channel *c)
{
}

static void
on_neighbour(struct worker *w, struct channel *c, const struct msg_header *h,
    struct reader *r, int fd)
{
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	worker_ctl_end(w, request, CTL_OK, "");
}

static void
on_stop(struct worker *w, uint32_t grace_ms)
{
}

static const struct worker_ops ops = {
	.role = ROLE_SUBMITTER,
	.conf_check = conf_check,
	.conf_commit = no_op,
	.start = no_op,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
};

static void
worker_run(int fd)
{
	char name[] = "worker", flag[] = "-d", level[] = "0";
	char *argv[] = { name, flag, level, NULL };

	if (dup2(fd, CHANNEL_FD) == -1)
		_exit(2);
	worker_main(&ops, NULL, 3, argv);
}

static void
say(int fd, enum msg_type type, const struct writer *w)
{
	CHECK_INT(frame_write(fd, ROLE_SUPERVISOR, ROLE_SUBMITTER, type, 0, w,
		      -1),
	    0);
}

/* Reads until a message of this type comes: 1, or 0 when the worker exited. */
static int
wait_for(int fd, enum msg_type type)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	uint64_t token = 0;
	int passed;

	while (frame_read(fd, ROLE_SUPERVISOR, ROLE_SUBMITTER, &h, &payload,
		   &passed, WAIT_MS) == 0) {
		rd_init(&r, payload, h.length);
		if (h.type == MSG_PONG)
			token = rd_u64(&r);
		free(payload);
		/* Not the pong of a ping that is tested. */
		if (h.type == type && (type != MSG_PONG || token == TOKEN))
			return 1;
	}
	return 0;
}

/* Starts a worker up to its hello. */
static pid_t
worker_start(int *fd)
{
	struct sandbox sb;
	struct writer w;
	int fds[2];
	pid_t pid;

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		worker_run(fds[1]);
	}
	close(fds[1]);
	*fd = fds[0];
	sandbox_init(&sb, ROLE_SUBMITTER);
	sb.mode = SANDBOX_OFF;
	wr_init(&w, PAYLOAD_BYTES);
	sandbox_write(&w, &sb);
	say(*fd, MSG_SANDBOX, &w);
	CHECK(wait_for(*fd, MSG_HELLO));
	wr_clear(&w);
	return pid;
}

static void
conf_end(int fd)
{
	struct writer w;

	wr_init(&w, 4);
	wr_u32(&w, 1);
	say(fd, MSG_CONF_END, &w);
	wr_clear(&w);
	CHECK(wait_for(fd, MSG_CONF_OK));
}

/* Sends the bytes without a check by the table of messages. */
static void
raw_send(int fd, const struct message *m, const uint8_t *payload, size_t len)
{
	uint8_t bytes[sizeof(struct msg_header) + PAYLOAD_BYTES];
	struct msg_header h = { .type = (uint16_t)m->type,
		.flags = m->has_fd ? MSG_FLAG_FD : 0,
		.length = (uint32_t)len };
	int pass = -1;

	if (m->type == MSG_PEER)
		pass = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	else if (m->has_fd) {
		pass = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		CHECK_INT(ftruncate(pass, 4096), 0);
	}
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), payload, len);
	CHECK_INT(frame_sendmsg(fd, bytes, sizeof(h) + len, pass),
	    (long long)(sizeof(h) + len));
	if (pass != -1)
		close(pass);
}

/* 1 when the worker accepts these bytes. */
static int
accepts(const struct message *m, const uint8_t *payload, size_t len)
{
	struct writer w;
	int fd, status, answered;
	pid_t pid = worker_start(&fd);

	if (m->checked)
		conf_end(fd);
	raw_send(fd, m, payload, len);
	wr_init(&w, 8);
	wr_u64(&w, TOKEN);
	/* The worker may have exited already. */
	frame_write(fd, ROLE_SUPERVISOR, ROLE_SUBMITTER, MSG_PING, 0, &w, -1);
	wr_clear(&w);
	answered = wait_for(fd, MSG_PONG);
	close(fd);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return answered;
}

/* The message, and the same with a byte less and with a byte more. */
static void
lengths_check(const struct message *m)
{
	uint8_t payload[PAYLOAD_BYTES] = { 0 };
	int failed = check_failed;

	memcpy(payload, m->payload, m->len);
	CHECK_INT(accepts(m, payload, m->len), 1);
	if (m->len > 0)
		CHECK_INT(accepts(m, payload, m->len - 1), 0);
	CHECK_INT(accepts(m, payload, m->len + 1), 0);
	if (check_failed > failed)
		fprintf(stderr, "    in %s\n", msg_name(m->type));
}

static void
test_lengths(void)
{
	static const uint8_t token[8] = { 1 }, grace[4] = { 1 };
	static const uint8_t level[1] = { LOG_LEVEL_FATAL };
	static const uint8_t peer[1] = { ROLE_COLLECTOR };
	static const uint8_t generation[4] = { 1 };
	static const uint8_t value[] = { CONF_POLL_INTERVAL, 0, 1, 0, 0, 0,
		'5' };
	struct ctl_request req = { .verb = CTL__COUNT };
	uint8_t request[sizeof(req)];
	const struct message messages[] = {
		{ MSG_PING, token, sizeof(token), 0, 0 },
		{ MSG_STOP, grace, sizeof(grace), 0, 0 },
		{ MSG_VERBOSE, level, sizeof(level), 0, 0 },
		{ MSG_PEER, peer, sizeof(peer), 1, 0 },
		{ MSG_INFLIGHT, token, 0, 1, 0 },
		{ MSG_SECRETS, token, 0, 1, 0 },
		{ MSG_CONF, value, sizeof(value), 0, 0 },
		{ MSG_CONF_END, generation, sizeof(generation), 0, 0 },
		{ MSG_CONF_COMMIT, generation, sizeof(generation), 0, 1 },
		{ MSG_CTL, request, sizeof(request), 0, 0 },
	};
	size_t i;

	memcpy(request, &req, sizeof(req));
	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		lengths_check(&messages[i]);
}

static void
test_values(void)
{
	const uint8_t level[1] = { LOG_LEVEL__COUNT };
	const uint8_t none[1] = { ROLE__COUNT }, self[1] = { ROLE_SUBMITTER };
	const uint8_t generation[4] = { 2 };
	const uint8_t key[] = { 0xff, 0xff, 1, 0, 0, 0, '5' };
	const struct message verbose = { .type = MSG_VERBOSE };
	const struct message peer = { .type = MSG_PEER, .has_fd = 1 };
	const struct message commit = { .type = MSG_CONF_COMMIT, .checked = 1 };
	const struct message early = { .type = MSG_CONF_COMMIT };
	const struct message conf = { .type = MSG_CONF };

	CHECK_INT(accepts(&verbose, level, sizeof(level)), 0);
	CHECK_INT(accepts(&peer, none, sizeof(none)), 0);
	CHECK_INT(accepts(&peer, self, sizeof(self)), 0);
	CHECK_INT(accepts(&commit, generation, sizeof(generation)), 0);
	CHECK_INT(accepts(&early, generation, sizeof(generation)), 0);
	CHECK_INT(accepts(&conf, key, sizeof(key)), 0);
}

int
main(void)
{
	if (check_on_valgrind()) {
		printf("skipped: valgrind cannot enter a sandbox\n");
		return 77;
	}
	log_init("test", LOG_LEVEL_FATAL);
	test_lengths();
	test_values();
	return check_done();
}
