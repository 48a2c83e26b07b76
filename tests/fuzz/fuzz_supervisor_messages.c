/* SPDX-License-Identifier: MIT */
/*
 * The messages of compromised workers and of a compromised parser to the supervisor,
 * which runs as root, with the handlers of the service: starts, reloads, requests of
 * the admin tool, scrapes, broken neighbours, restarts, quarantine.  No process is
 * started and none is killed: the target itself is at the other end of each channel.
 * The first byte selects the configuration and how far the start has come.  A message
 * that its sender must not send breaks the channel of this sender, and no other one.
 * A configuration comes into force when all workers have agreed to it.  Only workers
 * are killed, and no descriptor stays open.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include "common/ipc/frame.h"
#include "supervisor/control.h"
#include "supervisor/summary.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/lifetime.h"

/* the callbacks of the workers' channels */
int supervisor_main(int argc, char **argv);
#define main supervisor_main
#include "supervisor/main.c"
#undef main

#define FRAMES_MAX 64	     /* of one input */
#define TURNS	   4	     /* of the loop, until all channels are empty */
#define PID_FIRST  100000000 /* no process has such a number */
#define SEALS	   (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

#define CENTRE	 1u
#define EXPORTER 2u
#define PARSED	 4u /* the parser has sent the first configuration */
#define RUNNING	 8u /* all workers are ready */

static struct supervisor sup;
static int started; /* the workers were */

/* --- processes, in place of real ones --- */

static struct process {
	pid_t pid; /* 0 = none */
	int far;   /* its end of the channel */
	int inflight;
	int killed;
} processes[ROLE__COUNT];
static pid_t last_pid;

static enum role
role_of(const char *name)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (strcmp(name, role_name((enum role)role)) == 0)
			return (enum role)role;
	return ROLE_PARSER;
}

pid_t __wrap_process_spawn(const char *path, char *const argv[],
    char *const envp[], int fd, int log);

pid_t
__wrap_process_spawn(const char *path, char *const argv[], char *const envp[],
    int fd, int log)
{
	struct process *p = &processes[role_of(argv[0])];

	if (p->pid != 0) {
		/* A parser that has answered may still run. */
		HOLDS(p == &processes[ROLE_PARSER]);
		close(p->far);
	}
	p->pid = ++last_pid;
	p->far = dup(fd);
	p->inflight = -1;
	p->killed = 0;
	HOLDS(p->far != -1);
	return p->pid;
}

int __wrap_kill(pid_t pid, int sig);

int
__wrap_kill(pid_t pid, int sig)
{
	int role;

	for (role = 0; role < ROLE__COUNT; role++)
		if (processes[role].pid == pid)
			break;
	HOLDS(role < ROLE__COUNT && sig == SIGKILL);
	processes[role].killed = 1;
	return 0;
}

static void
process_clear(struct process *p)
{
	if (p->pid == 0)
		return;
	close(p->far);
	if (p->inflight != -1)
		close(p->inflight);
	memset(p, 0, sizeof(*p));
}

/* As after waitpid(). */
static void
process_end(enum role role, int status)
{
	struct process *p = &processes[role];
	pid_t pid = p->pid;

	if (pid == 0)
		return;
	process_clear(p);
	if (role == ROLE_PARSER)
		(void)parser_reaped(&sup, pid, status);
	else
		child_exited(&sup.workers.children[role], status);
}

static void
killed_end(void)
{
	int role;

	for (role = 0; role < ROLE__COUNT; role++)
		if (processes[role].killed)
			process_end((enum role)role, SIGKILL);
}

/* What the supervisor sends. */
static void
sent_read(enum role role)
{
	struct process *p = &processes[role];
	struct msg_header h;
	uint8_t *payload;
	int fd;

	while (p->pid != 0 &&
	    frame_read(p->far, role, ROLE_SUPERVISOR, &h, &payload, &fd, 0) ==
		0) {
		if (h.type == MSG_INFLIGHT && p->inflight == -1)
			p->inflight = fd;
		else if (fd != -1)
			close(fd);
		free(payload);
	}
}

static void
turns(void)
{
	int i, role;

	for (i = 0; i < TURNS; i++) {
		lifetime_pass(sup.base, 0);
		for (role = 0; role < ROLE__COUNT; role++)
			sent_read((enum role)role);
	}
}

/* --- the system, in place of the host's --- */

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
int __wrap_sockets_hook_repair(struct setup *setup, const struct conf *conf);
void __wrap_resolver_files_send(struct child *c);
void __wrap_resolver_files_check(struct workers *w);
struct path_watch *__wrap_path_watch_new(struct event_base *base,
    void (*changed)(void *arg), void *arg);

static int next_client; /* the daemon's end of its connection */

int
__wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	return next_client;
}

int
__wrap_sockets_hook_repair(struct setup *setup, const struct conf *conf)
{
	return 0;
}

void
__wrap_resolver_files_send(struct child *c)
{
}

void
__wrap_resolver_files_check(struct workers *w)
{
}

struct path_watch *
__wrap_path_watch_new(struct event_base *base, void (*changed)(void *arg),
    void *arg)
{
	return NULL;
}

/* --- the supervisor --- */

static void
on_gone(struct child *c)
{
	control_child_gone(c);
	if (!sup.workers.stopping)
		reload_child_gone(c);
}

static const struct child_ops gone_ops = { .gone = on_gone };

static void
on_in_force(struct supervisor *s)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (s->reload.roles_asked & (1u << role))
			HOLDS(s->workers.children[role].conf_agreed ==
			    s->conf.generation);
}

static void
on_stop(struct supervisor *s, const char *why, int status)
{
	HOLDS(*why != '\0' && !s->conf_committed);
	s->workers.stopping = 1;
}

static const struct reload_ops quiet_ops = {
	.parse = parser_start,
	.committed = on_in_force,
	.finished = control_reload_done,
	.stop = on_stop,
};

static void
workers_begin(void)
{
	started = 1;
	summary_init(&sup);
	workers_start(&sup.workers);
	watchdog_init(&sup.workers);
	turns();
}

static void
on_first(struct supervisor *s, struct conf *conf, struct secrets secrets,
    const char *reason)
{
	HOLDS(!started && (conf == NULL) == (reason != NULL));
	if (conf == NULL) {
		HOLDS(strlen(reason) < REASON_MAX);
		started = 1;
		return;
	}
	HOLDS(secrets.submitter != -1);
	conf_set_first(s, conf, secrets);
	workers_begin();
}

static void
conf_make(unsigned choice)
{
	struct secrets secrets = { dup(0), choice & CENTRE ? dup(0) : -1 };
	struct conf conf;

	conf_init(&conf);
	HOLDS(conf_set(&conf, CONF_SOURCE,
		  choice & CENTRE ? "stream" : "slurm") == 0);
	HOLDS(conf_set(&conf, CONF_METRICS_LISTEN,
		  choice & EXPORTER ? "127.0.0.1:9190" : "") == 0);
	conf_set_first(&sup, &conf, secrets);
}

static void
sup_begin(unsigned choice, int ctl)
{
	struct workers *w = &sup.workers;

	memset(&sup, 0, sizeof(sup));
	started = 0;
	last_pid = PID_FIRST;
	setup_init(&sup.setup);
	sup.setup.config_path = "/nonexistent";
	sup.setup.program_dir = strdup("/nonexistent");
	sup.setup.ctl_fd = ctl;
	sup.pidfile = -1;
	sup.secrets = sup.reload.secrets = NO_SECRETS;
	sup.reload_ops = &quiet_ops;
	sup.base = w->base = event_base_new();
	HOLDS(sup.base != NULL && sup.setup.program_dir != NULL);
	w->setup = &sup.setup;
	w->conf = &sup.conf;
	w->events = &channel_events;
	w->ops = &gone_ops;
	w->arg = &sup;
	HOLDS(control_open(&sup) == 0);
	if (choice & PARSED) {
		conf_make(choice);
		workers_begin();
	} else
		HOLDS(parser_start(&sup, on_first) == 0);
}

static void
sup_end(void)
{
	int role;

	sup.workers.stopping = 1;
	parser_cancel(&sup);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		process_end((enum role)role, 0);
	process_clear(&processes[ROLE_PARSER]);
	control_close(&sup);
	log_pipe_free(sup.parser_log);
	secrets_close(&sup.secrets);
	secrets_close(&sup.reload.secrets);
	event_base_loop(sup.base, EVLOOP_NONBLOCK);
}

/* --- the senders --- */

static int
send_all(int far, const void *p, size_t n)
{
	return n == 0 ||
	    send(far, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static void
message_send(struct process *p, const struct msg_header *h, const void *payload)
{
	/* The rest of a message has no place: the process closes its end. */
	if (!send_all(p->far, h, sizeof(*h)) ||
	    !send_all(p->far, payload, h->length))
		shutdown(p->far, SHUT_RDWR);
}

/* A memfd, which the first byte of the payload seals. */
static void
secrets_send(struct process *p, struct msg_header *h, const char *payload)
{
	int fd = memfd_create("secrets", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	HOLDS(fd != -1);
	if (h->length == 0 || payload[0] != 0)
		HOLDS(fcntl(fd, F_ADD_SEALS, SEALS) == 0);
	h->flags = MSG_FLAG_FD;
	h->length = 0;
	/* The kernel may refuse a descriptor to a channel that takes none. */
	if (frame_sendmsg(p->far, (const uint8_t *)h, sizeof(*h), fd) == -1)
		message_send(p, h, payload);
	close(fd);
}

/* The numbers of requests and of pairs are those in use. */
static uint64_t
id_of(unsigned type)
{
	if (type == MSG_CTL_ROW || type == MSG_CTL_END)
		return sup.control->ids;
	return type == MSG_PEER_LOST ? sup.workers.link_ids : 1;
}

static void
channels_read(struct channel *to[ROLE__COUNT])
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		to[role] = sup.workers.children[role].channel;
}

/* Another process is killed only after a reload or the end of its partner. */
static void
others_hold(enum role from, struct channel *before[ROLE__COUNT])
{
	struct channel *now[ROLE__COUNT] = { NULL };
	int role;

	channels_read(now);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (role != (int)from && before[role] != NULL)
			HOLDS(now[role] == before[role]);
}

static void
message_hold(enum role from, struct msg_header *h, const char *payload)
{
	struct channel *before[ROLE__COUNT] = { NULL };
	struct process *p = &processes[from];
	const char *wrong;

	if (p->pid == 0)
		return;
	channels_read(before);
	h->id = id_of(h->type);
	if (h->type == MSG_SECRETS || h->type == MSG_RECEIVER_SECRETS)
		secrets_send(p, h, payload);
	else
		message_send(p, h, payload);
	wrong = msg_check(h, from, ROLE_SUPERVISOR);
	turns();
	others_hold(from, before);
	if (wrong != NULL && from != ROLE_PARSER)
		HOLDS(sup.workers.children[from].channel == NULL);
	killed_end();
}

/* As a worker of this version starts. */
static void
worker_serve(enum role role)
{
	struct child *c = &sup.workers.children[role];
	struct process *p = &processes[role];
	struct msg_header h = { .type = MSG_HELLO };
	struct writer w;

	if (p->pid == 0 || c->state != CHILD_STARTED)
		return;
	wr_init(&w, 64);
	wr_u32(&w, MSG_VERSION);
	wr_u8(&w, (uint8_t)role);
	wr_str(&w, "seccomp");
	h.length = (uint32_t)w.len;
	message_send(p, &h, w.buf);
	turns();
	wr_reset(&w);
	wr_u32(&w, c->conf_sent);
	h.type = MSG_CONF_OK;
	h.length = (uint32_t)w.len;
	message_send(p, &h, w.buf);
	turns();
	wr_clear(&w);
}

static void
workers_serve(void)
{
	struct msg_header h = { .type = MSG_READY };
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		worker_serve((enum role)role);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		if (processes[role].pid != 0 &&
		    sup.workers.children[role].state == CHILD_SANDBOXED)
			message_send(&processes[role], &h, NULL);
	turns();
}

/* The admin tool: a request of one verb with the bytes as its arguments. */
static void
client_ask(const char *payload, size_t n)
{
	struct ctl_request req;
	int fds[2];

	if (sup.control == NULL)
		return;
	memset(&req, 0, sizeof(req));
	memcpy(&req, payload, n < sizeof(req) ? n : sizeof(req));
	req.magic = CTL_MAGIC;
	req.version = CTL_VERSION;
	req.verb %= CTL__COUNT + 1;
	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		  fds) == 0);
	next_client = fds[0];
	client_accept(sup.setup.ctl_fd, EV_READ, sup.control);
	(void)send_all(fds[1], &req, sizeof(req));
	turns();
	/* Some clients wait for the answer, which nobody reads. */
	if (n > 0 && payload[n - 1] & 1)
		shutdown(fds[1], SHUT_WR);
	close(fds[1]);
}

static void
time_apply(const char *payload, size_t n)
{
	lifetime_pass(sup.base, frame_ms(payload, n, 3));
	killed_end();
	turns();
}

/* The page of a worker that is about to crash. */
static void
inflight_write(const struct process *p, const char *payload, size_t n)
{
	struct stat st;

	if (p->pid != 0 && p->inflight != -1 && fstat(p->inflight, &st) == 0)
		(void)!pwrite(p->inflight, payload,
		    n < (size_t)st.st_size ? n : (size_t)st.st_size, 0);
}

static void
frame_apply(struct msg_header *h, const char *payload)
{
	enum role from = (enum role)(WORKER_FIRST + h->id % ROLE_PARSER);

	switch (h->type) {
	case MSG_PING:
		time_apply(payload, h->length);
		break;
	case MSG_STOP:
		process_end(from, h->length > 0 ? payload[0] & 127 : 0);
		turns();
		break;
	case MSG_LISTEN:
		workers_serve();
		break;
	case MSG_CONF_COMMIT:
		if (sup.conf.generation != 0)
			reload_begin(&sup);
		turns();
		break;
	case MSG_CTL:
		client_ask(payload, h->length);
		break;
	case MSG_INFLIGHT:
		inflight_write(&processes[from], payload, h->length);
		break;
	default:
		message_hold(from, h, payload);
	}
	if (sup.overview != NULL)
		summary_turn(&sup);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/*
	 * MSG_PING: time passes; MSG_STOP: a process ends; MSG_LISTEN: all
	 * workers get ready; MSG_CONF_COMMIT: a reload; MSG_CTL: the admin tool;
	 * MSG_INFLIGHT: the page of a crash.  MSG_EVENT_ACK: no one may send it.
	 */
	static const enum msg_type types[] = { MSG_HELLO, MSG_CONF_OK,
		MSG_CONF_BAD, MSG_READY, MSG_PONG, MSG_CTL_ROW, MSG_CTL_END,
		MSG_PEER_LOST, MSG_SCRAPE, MSG_SUMMARY, MSG_CONF, MSG_SECRETS,
		MSG_RECEIVER_SECRETS, MSG_CONF_END, MSG_EVENT_ACK, MSG_PING,
		MSG_STOP, MSG_LISTEN, MSG_CONF_COMMIT, MSG_CTL, MSG_INFLIGHT };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };
	struct msg_header h;
	char *payload;
	int ctl[2], lowest, i;

	fuzz_quiet();
	signal(SIGPIPE, SIG_IGN);
	if (n < 1)
		return 0;
	lowest = dup(0);
	close(lowest);
	HOLDS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ctl) == 0);
	lifetime_begin();
	sup_begin(bytes[0], ctl[0]);
	if (bytes[0] & RUNNING)
		workers_serve();
	for (i = 0; i < FRAMES_MAX && !sup.workers.stopping &&
	     frames_next(&f, &h, &payload);
	     i++) {
		frame_apply(&h, payload);
		free(payload);
	}
	sup_end();
	lifetime_end();
	event_base_free(sup.base);
	close(ctl[0]);
	close(ctl[1]);
	HOLDS(dup(0) == lowest && close(lowest) == 0);
	return 0;
}
