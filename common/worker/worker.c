/* SPDX-License-Identifier: MIT */
/*
 * The life of a worker; see worker.h.  Messages of the supervisor and of the
 * neighbours are checked by the table and by their handlers.  When the channel
 * to the supervisor breaks, the worker exits: no process could restart it or
 * inform its neighbours.
 */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/crash_point.h"
#include "common/log_line.h"
#include "common/text/time_text.h"
#include "common/worker/breakout.h"
#include "common/worker/sandbox.h"
#include "common/worker/worker.h"
#include "common/worker/worker_conf.h"
#include "common/worker/worker_summary.h"

#define CHANNEL_FD	3
#define SANDBOX_WAIT_MS 10000 /* for the first message */
#define EXIT_FLUSH_MS	1000  /* for the output of all channels */
#define STATUS_MAX	2048  /* bytes of one value in `status` */

/* The supervisor's number of the channel to each neighbour. */
static uint64_t peer_ids[ROLE__COUNT];

static void
on_signal(int sig)
{
	(void)sig;
}

/*
 * The supervisor decides when a worker ends, also when a terminal or systemd
 * sends a signal to all processes.  Handlers, not SIG_IGN: an ignored signal
 * would stay ignored in the commands that the runner executes.
 */
static void
signals_ignore(void)
{
	static const int quiet[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE,
		SIGXFSZ };
	struct sigaction sa = { .sa_handler = on_signal,
		.sa_flags = SA_RESTART };
	size_t i;

	for (i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		sigaction(quiet[i], &sa, NULL);
}

/* -d: the level; -p: standard error is the supervisor's pipe. */
static void
log_open(enum role role, int argc, char **argv)
{
	long level = LOG_LEVEL_WARN;
	int opt;

	while ((opt = getopt(argc, argv, "d:p")) != -1) {
		if (opt == 'd')
			level = strtol(optarg, NULL, 10);
		else if (opt == 'p')
			log_sink_set(log_record_send);
	}
	if (level < 0 || level >= LOG_LEVEL__COUNT)
		level = LOG_LEVEL_WARN;
	log_init(role_name(role), (enum log_level)level);
}

/* _exit(): the exit handlers of libnats and OpenSSL conflict. */
void
worker_exit(struct worker *w)
{
	long long end = clock_ms() + EXIT_FLUSH_MS;
	int i;

	for (i = 0; i < ROLE__COUNT; i++) {
		if (w->peers[i] != NULL)
			channel_flush(w->peers[i], clock_left(end));
	}
	if (w->supervisor != NULL)
		channel_flush(w->supervisor, clock_left(end));
	_exit(0);
}

static void
hello_send(struct worker *w)
{
	struct writer out;

	wr_init(&out, sizeof(w->layers) + 64);
	wr_u32(&out, MSG_VERSION);
	wr_u8(&out, (uint8_t)w->ops->role);
	wr_str(&out, w->layers);
	channel_send(w->supervisor, MSG_HELLO, 0, &out, -1);
	wr_clear(&out);
}

static void
on_inflight(struct worker *w, struct reader *r, int fd)
{
	if (rd_end(r) == -1) {
		close(fd);
		channel_broken(w->supervisor, "inflight");
		return;
	}
	inflight_free(w->inflight);
	w->inflight = inflight_map(fd);
	if (w->inflight == NULL)
		log_warn("the page for crashes cannot be mapped: a run that "
			 "crashes this process is not put in quarantine");
}

static void
pong_send(struct worker *w, uint64_t token)
{
	struct writer out;

	wr_init(&out, sizeof(token));
	wr_u64(&out, token);
	channel_send(w->supervisor, MSG_PONG, 0, &out, -1);
	wr_clear(&out);
}

static void
on_ping(struct worker *w, struct reader *r)
{
	uint64_t token = rd_u64(r);

	if (rd_end(r) == -1)
		channel_broken(w->supervisor, "ping");
	else
		pong_send(w, token);
}

void
worker_alive(struct worker *w)
{
	pong_send(w, 0);
	channel_flush(w->supervisor, 0);
}

static void
on_stop(struct worker *w, struct reader *r)
{
	uint32_t grace = rd_u32(r);

	if (rd_end(r) == -1) {
		channel_broken(w->supervisor, "stop");
		return;
	}
	if (w->stopping)
		return;
	w->stopping = 1;
	w->ops->on_stop(w, grace);
}

static void
on_ctl(struct worker *w, uint64_t request, struct reader *r)
{
	struct ctl_request req;
	const char *wrong;

	rd_mem(r, &req, sizeof(req));
	if (rd_end(r) == -1) {
		channel_broken(w->supervisor, "ctl");
		return;
	}
	wrong = ctl_request_check(&req);
	if (wrong != NULL)
		worker_ctl_end(w, request, CTL_ERROR, wrong);
	else
		w->ops->on_ctl(w, request, &req);
}

static void
on_peer_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct worker *w = arg;

	w->ops->on_neighbour(w, c, h, r, fd);
}

/*
 * Reports the break to the supervisor, which restarts a worker when both ends
 * still run.
 */
static void
on_peer_broken(struct channel *c, const char *why, void *arg)
{
	struct worker *w = arg;
	enum role peer = channel_peer(c);
	struct writer out;

	log_info("channel to the %s: %s", role_name(peer), why);
	if (w->peers[peer] == c) {
		w->peers[peer] = NULL;
		wr_init(&out, 512);
		wr_u8(&out, (uint8_t)peer);
		wr_str(&out, why);
		channel_send(w->supervisor, MSG_PEER_LOST, peer_ids[peer], &out,
		    -1);
		wr_clear(&out);
		w->ops->on_peer(w, peer, NULL);
	}
	channel_free(c);
}

static void
on_peer_drained(struct channel *c, void *arg)
{
	struct worker *w = arg;

	if (w->ops->on_drained != NULL)
		w->ops->on_drained(w, c);
}

static const struct channel_ops peer_ops = {
	.on_frame = on_peer_frame,
	.on_broken = on_peer_broken,
	.on_drained = on_peer_drained,
};

static void
on_peer(struct worker *w, uint64_t id, struct reader *r, int fd)
{
	unsigned role = rd_u8(r);
	struct channel *old, *c;

	if (rd_end(r) == -1 || role >= ROLE__COUNT || role == ROLE_SUPERVISOR ||
	    role == (unsigned)w->ops->role) {
		close(fd);
		channel_broken(w->supervisor, "peer");
		return;
	}
	c = channel_new(w->base, fd, w->ops->role, (enum role)role, &peer_ops,
	    w);
	if (c == NULL) {
		log_warn("cannot open the channel to the %s",
		    role_name((enum role)role));
		return;
	}
	old = w->peers[role];
	w->peers[role] = c;
	peer_ids[role] = id;
	breakout_peer(role, fd);
	w->ops->on_peer(w, (enum role)role, c);
	channel_free(old);
}

static void
on_verbose(struct worker *w, struct reader *r)
{
	unsigned level = rd_u8(r);

	if (rd_end(r) == -1 || level >= LOG_LEVEL__COUNT)
		channel_broken(w->supervisor, "verbose");
	else
		log_set_level((enum log_level)level);
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct worker *w = arg;

	switch (h->type) {
	case MSG_CONF:
	case MSG_SECRETS:
	case MSG_CONF_END:
	case MSG_CONF_COMMIT:
		worker_conf_frame(w, h->type, r, fd);
		break;
	case MSG_INFLIGHT:
		on_inflight(w, r, fd);
		break;
	case MSG_PEER:
		on_peer(w, h->id, r, fd);
		break;
	case MSG_PING:
		on_ping(w, r);
		break;
	case MSG_STOP:
		on_stop(w, r);
		break;
	case MSG_VERBOSE:
		on_verbose(w, r);
		break;
	case MSG_CTL:
		on_ctl(w, h->id, r);
		break;
	case MSG_SANDBOX:
		channel_broken(c, "second sandbox");
		break;
	default:
		w->ops->on_supervisor(w, h, r, fd);
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	struct worker *w = arg;

	if (!w->stopping)
		log_warnx("channel to the supervisor: %s; the %s exits", why,
		    role_name(w->ops->role));
	worker_exit(w);
}

static const struct channel_ops supervisor_ops = {
	.on_frame = on_frame,
	.on_broken = on_broken,
};

static void
sandbox_receive(struct sandbox *sb, enum role role)
{
	struct msg_header h;
	struct reader r;
	uint8_t *payload;
	int fd;

	sandbox_init(sb, role);
	if (frame_read(CHANNEL_FD, role, ROLE_SUPERVISOR, &h, &payload, &fd,
		SANDBOX_WAIT_MS) == -1)
		fatal("no message from the supervisor on descriptor %d; this "
		      "program is started by cc-slurm-adapter -daemon",
		    CHANNEL_FD);
	if (h.type != MSG_SANDBOX)
		fatalx("the first message is %s, not sandbox",
		    msg_name(h.type));
	rd_init(&r, payload, h.length);
	sandbox_read(&r, sb);
	if (rd_end(&r) == -1 || sb->role != role)
		fatalx("malformed sandbox message");
	free(payload);
}

static void
channel_open(struct worker *w)
{
	w->supervisor = channel_new(w->base, CHANNEL_FD, w->ops->role,
	    ROLE_SUPERVISOR, &supervisor_ops, w);
	if (w->supervisor == NULL)
		fatal("cannot open the channel to the %s",
		    role_name(ROLE_SUPERVISOR));
}

void
worker_main(const struct worker_ops *ops, void *arg, int argc, char **argv)
{
	static struct worker w; /* lives as long as the process */
	struct sandbox sb;

	w.ops = ops;
	w.arg = arg;
	log_open(ops->role, argc, argv);
	signals_ignore();
	sandbox_receive(&sb, ops->role);
	crash_init();
	breakout_map();
	time_zone_load();
	if (ops->prepare != NULL)
		ops->prepare(&w);
	/* Before the sandbox, so that no filter needs these calls. */
	w.base = event_base_new();
	if (w.base == NULL)
		fatalx("out of memory");
	w.sandbox_mode = sb.mode;
	sandbox_enter(&sb, w.layers, sizeof(w.layers));
	sandbox_clear(&sb);
	channel_open(&w);
	if (ops->init != NULL)
		ops->init(&w);
	hello_send(&w);
	breakout_begin(&w);
	while (event_base_loop(w.base, EVLOOP_ONCE) == 0)
		worker_summary_turn();
	log_errorx("the event loop ended; the %s exits", role_name(ops->role));
	worker_exit(&w);
}

void
worker_ctl_row(struct worker *w, uint64_t request, const struct writer *row)
{
	channel_send(w->supervisor, MSG_CTL_ROW, request, row, -1);
}

void
worker_ctl_end(struct worker *w, uint64_t request, enum ctl_status status,
    const char *text)
{
	struct writer out;
	size_t n = text != NULL ? strlen(text) : 0;

	wr_init(&out, STATUS_MAX + 64);
	wr_u8(&out, (uint8_t)status);
	wr_blob(&out, text, n < STATUS_MAX ? n : STATUS_MAX);
	channel_send(w->supervisor, MSG_CTL_END, request, &out, -1);
	wr_clear(&out);
}

void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	char value[STATUS_MAX];
	struct writer row;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	wr_init(&row, STATUS_MAX + 256);
	ctl_row(&row, CTL_T_STATUS, role_name(w->ops->role), key, value, NULL);
	worker_ctl_row(w, request, &row);
	wr_clear(&row);
}

void
worker_check(struct worker *w, uint64_t request, const char *kind,
    const char *fmt, ...)
{
	char text[STATUS_MAX];
	struct writer row;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wr_init(&row, STATUS_MAX + 64);
	ctl_row(&row, CTL_T_CHECK, kind, text, NULL);
	worker_ctl_row(w, request, &row);
	wr_clear(&row);
}
