/* SPDX-License-Identifier: MIT */
/*
 * Plays supervisor, listener and submitter to one collector and its runner, the
 * program "runner" in the folder of the collector, and prints what they say as
 * JSON lines, for tests and for looking at them.
 *
 *   collector_drive [-u USER] [-l LASTRUN] [-c CURSOR] [-d LEVEL] COLLECTOR
 *	[KEY=VALUE...]
 *
 * Lines on standard input: "event JOB", "sync", "backfill FROM TO",
 * "ask JOB START", "flow 0|1", "ack 0|1", "submitter" (a new one, which knows
 * what was stored), "status", "sleep MS", "wait" (until nothing has come for
 * 2 s), "quit".  End of input is like "quit".
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <jansson.h>

#include "common/model/conf.h"
#include "common/model/ctl.h"
#include "common/ipc/channel.h"
#include "common/model/job.h"
#include "common/log.h"
#include "common/worker/sandbox.h"

#define STORED_MAX 200000

struct child {
	enum role role;
	pid_t pid;
	int ready;
	struct channel *channel;
};

static struct {
	struct event_base *base;
	struct child collector;
	struct child runner;
	struct channel *submitter;
	struct channel *listener;
	struct event *input;
	struct event *pause;
	int acks;
	uint64_t seq; /* of the last record */
	uint64_t events;
	int64_t last_ms; /* something was said */
	int waiting;
	char line[4096];
	size_t len;
	char cluster[CLUSTER_MAX];
	int64_t cursor;
	struct open_key *open;
	size_t n_open;
} d;

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
print(json_t *line)
{
	json_object_set_new(line, "ms", json_integer(now_ms()));
	d.last_ms = now_ms();
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(line);
}

static void
text_set(json_t *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(o, key, json_string(text));
}

static json_t *
host_json(const struct job_host *host)
{
	json_t *h = json_object(), *cpus = json_array(), *accels = json_array();
	char range[32];
	uint32_t i;

	json_object_set_new(h, "host", json_string(host->name));
	for (i = 0; i < host->n_cpus; i++) {
		snprintf(range, sizeof(range), "%u-%u", host->cpus[i].first,
		    host->cpus[i].last);
		json_array_append_new(cpus, json_string(range));
	}
	for (i = 0; i < host->n_accels; i++)
		json_array_append_new(accels, json_string(host->accels[i]));
	json_object_set_new(h, "cpus", cpus);
	json_object_set_new(h, "accels", accels);
	json_object_set_new(h, "shape",
	    json_pack("[iii]", host->sockets, host->cores, host->threads));
	return h;
}

static json_t *
job_json(const struct job *job)
{
	json_t *o = json_object(), *hosts = json_array();
	uint32_t i;

#define NUMBER(key, v) \
	json_object_set_new(o, key, json_integer((json_int_t)(v)))
	text_set(o, "what", "record");
	NUMBER("job", job->key.job);
	NUMBER("start", job->key.start);
	NUMBER("flags", job->flags);
	NUMBER("submit", job->submit);
	NUMBER("end", job->end);
	text_set(o, "state",
	    job->state == END_NOT ? "running" : job_end_name(job->state));
	text_set(o, "shared", job_shared_name(job->shared));
	NUMBER("restarts", job->restarts);
	NUMBER("arrayJob", job->array_job);
	NUMBER("arrayTask", job->array_task);
	NUMBER("hetJob", job->het_job);
	NUMBER("nodes", job->nodes);
	NUMBER("cpuCount", job->cpus);
	NUMBER("accelCount", job->accels);
	NUMBER("walltime", job->walltime);
	NUMBER("memory", job->memory);
	NUMBER("exit", job->exit_code);
#undef NUMBER
	text_set(o, "cluster", job->key.cluster);
	text_set(o, "user", job->user);
	text_set(o, "account", job->account);
	text_set(o, "partition", job->partition);
	text_set(o, "qos", job->qos);
	text_set(o, "name", job->name);
	text_set(o, "script", job->script);
	text_set(o, "reason", job->reason);
	text_set(o, "adminComment", job->admin_comment);
	text_set(o, "message", job->message);
	if (job->slurm_info != NULL)
		json_object_set_new(o, "slurmInfoBytes",
		    json_integer((json_int_t)strlen(job->slurm_info)));
	for (i = 0; i < job->n_hosts && i < 64; i++)
		json_array_append_new(hosts, host_json(&job->hosts[i]));
	json_object_set_new(o, "hosts", hosts);
	return o;
}

static void
send_u64(struct channel *c, enum msg_type type, uint64_t v)
{
	struct writer w;

	wr_init(&w, 16);
	wr_u64(&w, v);
	channel_send(c, type, 0, &w, -1);
	wr_clear(&w);
}

/* Keeps which runs a spool would have open. */
static void
open_keep(const struct job *job)
{
	size_t i;

	if (job->flags & JOB_PARTIAL)
		return;
	for (i = 0; i < d.n_open; i++)
		if (run_key_equal(&d.open[i].key, &job->key))
			break;
	if (job->end != 0 && i < d.n_open)
		d.open[i] = d.open[--d.n_open];
	else if (job->end == 0 && i == d.n_open && i < STORED_MAX)
		d.open[d.n_open++] = (struct open_key) { job->key,
			job->submit };
}

static void
on_record(struct reader *r)
{
	struct job job;

	job_init(&job);
	d.seq = rd_u64(r);
	job_read(r, &job);
	if (rd_end(r) == -1) {
		print(json_pack("{ss}", "what", "malformed record"));
		exit(1);
	}
	open_keep(&job);
	print(job_json(&job));
	job_clear(&job);
}

static void
on_submitter_frame(struct channel *c, const struct msg_header *h,
    struct reader *r, int fd, void *arg)
{
	json_t *o;
	uint32_t n;

	if (fd != -1)
		close(fd);
	switch (h->type) {
	case MSG_RECORD:
		on_record(r);
		break;
	case MSG_WATERMARK:
		d.seq = rd_u64(r);
		rd_name(r, d.cluster, sizeof(d.cluster));
		rd_u8(r);
		d.cursor = rd_i64(r);
		print(json_pack("{ss,si}", "what", "mark", "until",
		    (int)d.cursor));
		break;
	case MSG_NOT_FOUND:
		d.seq = rd_u64(r);
		rd_name(r, d.cluster, sizeof(d.cluster));
		rd_u64(r);
		n = rd_u32(r);
		o = json_pack("{ss,si}", "what", "denied", "runs", (int)n);
		print(o);
		break;
	default:
		print(json_pack("{ss}", "what", msg_name(h->type)));
	}
	if (d.acks)
		send_u64(c, MSG_RECORD_ACK, d.seq);
}

static void
on_listener_frame(struct channel *c, const struct msg_header *h,
    struct reader *r, int fd, void *arg)
{
	(void)c;
	(void)fd;
	(void)arg;
	print(json_pack("{ss,sI}", "what", msg_name(h->type), "event",
	    (json_int_t)rd_u64(r)));
}

static void
on_ctl_row(struct reader *r)
{
	char *text[8];
	unsigned i, n;

	rd_u8(r);
	n = rd_u8(r);
	for (i = 0; i < n && i < 8; i++)
		text[i] = rd_strdup(r, 65536);
	if (n >= 3 && text[1] != NULL && text[2] != NULL)
		print(json_pack("{ss,ss,ss}", "what", "status", "key", text[1],
		    "value", text[2]));
	while (i > 0)
		free(text[--i]);
}

/* Gives the child one end of a channel to role. */
static void
send_peer(const struct child *c, enum role role, int fd)
{
	struct writer w;

	wr_init(&w, 4);
	wr_u8(&w, (uint8_t)role);
	channel_send(c->channel, MSG_PEER, 1, &w, fd);
	wr_clear(&w);
}

/* Both have their configuration: they get a channel to each other. */
static void
on_ready(struct child *c)
{
	int fds[2];

	c->ready = 1;
	if (!d.collector.ready || !d.runner.ready)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		fatal("socketpair");
	send_peer(&d.collector, ROLE_RUNNER, fds[0]);
	send_peer(&d.runner, ROLE_COLLECTOR, fds[1]);
}

static void
on_supervisor_frame(struct channel *c, const struct msg_header *h,
    struct reader *r, int fd, void *arg)
{
	struct writer w;
	uint32_t generation;
	const uint8_t *text;
	size_t n;

	if (fd != -1)
		close(fd);
	switch (h->type) {
	case MSG_SUMMARY: /* once a second; no test reads it */
		break;
	case MSG_CONF_OK:
		generation = rd_u32(r);
		wr_init(&w, 4);
		wr_u32(&w, generation);
		channel_send(c, MSG_CONF_COMMIT, 0, &w, -1);
		wr_clear(&w);
		break;
	case MSG_CONF_BAD:
		rd_u32(r);
		text = rd_blob(r, &n);
		fprintf(stderr, "conf-bad: %.*s\n", (int)n, (const char *)text);
		exit(1);
	case MSG_CTL_ROW:
		on_ctl_row(r);
		break;
	case MSG_CTL_END:
	case MSG_PONG:
		break;
	case MSG_READY:
		on_ready(arg);
		/* FALLTHROUGH */
	default:
		print(json_pack("{ss,ss}", "what", msg_name(h->type), "from",
		    role_name(channel_peer(c))));
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	(void)arg;
	print(json_pack("{ss,ss,ss}", "what", "broken", "to",
	    role_name(channel_peer(c)), "why", why));
	exit(1);
}

static const struct channel_ops supervisor_ops = { on_supervisor_frame,
	on_broken, NULL };
static const struct channel_ops submitter_ops = { on_submitter_frame, on_broken,
	NULL };
static const struct channel_ops listener_ops = { on_listener_frame, on_broken,
	NULL };

/* A channel of ours to the collector. */
static struct channel *
link_peer(enum role role, const struct channel_ops *ops)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		fatal("socketpair");
	send_peer(&d.collector, role, fds[1]);
	return channel_new(d.base, fds[0], role, ROLE_COLLECTOR, ops, NULL);
}

/* What a spool says at first: its cursor, its open runs. */
static void
submitter_begin(void)
{
	struct writer w;
	size_t i;

	d.submitter = link_peer(ROLE_SUBMITTER, &submitter_ops);
	wr_init(&w, 1024 * 1024);
	if (d.cursor != 0) {
		wr_str(&w, d.cluster);
		wr_i64(&w, d.cursor);
		channel_send(d.submitter, MSG_RESUME_FROM, 0, &w, -1);
		wr_reset(&w);
	}
	wr_u8(&w, OPEN_RUNS_LAST);
	wr_u32(&w, (uint32_t)d.n_open);
	for (i = 0; i < d.n_open; i++)
		wr_open_key(&w, &d.open[i]);
	channel_send(d.submitter, MSG_OPEN_RUNS, 0, &w, -1);
	wr_clear(&w);
}

static void
say_event(uint64_t job)
{
	struct writer w;

	wr_init(&w, 256);
	wr_u64(&w, ++d.events);
	wr_str(&w, "");
	wr_u64(&w, job);
	wr_u8(&w, 1);
	wr_i64(&w, 0);
	wr_str(&w, "");
	channel_send(d.listener, MSG_EVENT, 0, &w, -1);
	wr_clear(&w);
	print(json_pack("{ss,sI,sI}", "what", "said", "event",
	    (json_int_t)d.events, "job", (json_int_t)job));
}

static void
say_ask(uint64_t job, int64_t start)
{
	struct run_key key = { .job = job, .start = start };
	struct writer w;

	snprintf(key.cluster, sizeof(key.cluster), "%s", d.cluster);
	wr_init(&w, 256);
	wr_str(&w, d.cluster);
	wr_u64(&w, 7);
	wr_u32(&w, 1);
	wr_run_key(&w, &key);
	channel_send(d.submitter, MSG_LOOKUP, 0, &w, -1);
	wr_clear(&w);
}

static void
say_backfill(int64_t from, int64_t to)
{
	struct writer w;

	wr_init(&w, 256);
	wr_str(&w, d.cluster);
	wr_i64(&w, from);
	wr_i64(&w, to);
	wr_u8(&w, 0);
	channel_send(d.submitter, MSG_BACKFILL_RANGE, 0, &w, -1);
	wr_clear(&w);
}

static void
say_status(void)
{
	struct ctl_request req = { .magic = CTL_MAGIC,
		.version = CTL_VERSION,
		.verb = CTL_STATUS };
	struct writer w;

	wr_init(&w, sizeof(req));
	wr_mem(&w, &req, sizeof(req));
	channel_send(d.collector.channel, MSG_CTL, 1, &w, -1);
	channel_send(d.runner.channel, MSG_CTL, 1, &w, -1);
	wr_clear(&w);
}

static void
quit(void)
{
	kill(d.collector.pid, SIGKILL);
	kill(d.runner.pid, SIGKILL);
	waitpid(d.collector.pid, NULL, 0);
	waitpid(d.runner.pid, NULL, 0);
	exit(0);
}

static void
sleep_ms(long ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	event_del(d.input);
	event_add(d.pause, &tv);
}

static void
on_line(const char *line)
{
	unsigned long long a = 0;
	long long b = 0;
	struct writer w;

	if (sscanf(line, "event %llu", &a) == 1)
		say_event(a);
	else if (sscanf(line, "ask %llu %lld", &a, &b) == 2)
		say_ask(a, b);
	else if (sscanf(line, "backfill %llu %lld", &a, &b) == 2)
		say_backfill((int64_t)a, b);
	else if (sscanf(line, "ack %llu", &a) == 1) {
		d.acks = (int)a;
		if (d.acks)
			send_u64(d.submitter, MSG_RECORD_ACK, d.seq);
	} else if (sscanf(line, "flow %llu", &a) == 1) {
		wr_init(&w, 4);
		wr_u8(&w, (uint8_t)a);
		channel_send(d.submitter, MSG_FLOW, 0, &w, -1);
		wr_clear(&w);
	} else if (sscanf(line, "sleep %llu", &a) == 1)
		sleep_ms((long)a);
	else if (strcmp(line, "wait") == 0) {
		d.waiting = 1;
		sleep_ms(100);
	} else if (strcmp(line, "sync") == 0)
		channel_send(d.submitter, MSG_POLL_NOW, 0, NULL, -1);
	else if (strcmp(line, "lost") == 0)
		d.n_open = 0;
	else if (strcmp(line, "submitter") == 0) {
		channel_free(d.submitter);
		submitter_begin();
	} else if (strcmp(line, "status") == 0)
		say_status();
	else if (strcmp(line, "quit") == 0)
		quit();
	else
		fprintf(stderr, "unknown: %s\n", line);
}

static void
lines_run(void)
{
	char *nl;
	size_t n;

	while (event_pending(d.input, EV_READ, NULL) &&
	    (nl = memchr(d.line, '\n', d.len)) != NULL) {
		*nl = '\0';
		on_line(d.line);
		n = (size_t)(nl - d.line) + 1;
		memmove(d.line, d.line + n, d.len - n);
		d.len -= n;
	}
}

static void
on_input(evutil_socket_t fd, short what, void *arg)
{
	ssize_t n = read(fd, d.line + d.len, sizeof(d.line) - d.len);

	(void)what;
	(void)arg;
	if (n <= 0)
		quit();
	d.len += (size_t)n;
	lines_run();
}

static void
on_pause(evutil_socket_t fd, short what, void *arg)
{
	struct timeval tv = { 0, 100000 };

	(void)fd;
	(void)what;
	(void)arg;
	if (d.waiting && now_ms() - d.last_ms < 2000) {
		event_add(d.pause, &tv);
		return;
	}
	d.waiting = 0;
	event_add(d.input, NULL);
	lines_run();
}

static void
become(const char *user)
{
	struct passwd *pw = getpwnam(user);

	if (pw == NULL || initgroups(user, pw->pw_gid) == -1 ||
	    setgid(pw->pw_gid) == -1 || setuid(pw->pw_uid) == -1)
		fatal("become %s", user);
}

static void
start(struct child *c, enum role role, const char *program, const char *level,
    const char *user)
{
	struct sandbox sb;
	struct writer w;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		fatal("socketpair");
	c->role = role;
	c->pid = fork();
	if (c->pid == -1)
		fatal("fork");
	if (c->pid == 0) {
		if (user != NULL)
			become(user);
		if (dup2(open("/dev/null", O_RDWR), 0) == -1 ||
		    dup2(0, 1) == -1 || dup2(fds[1], 3) == -1)
			_exit(126);
		execl(program, program, "-d", level, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	sandbox_init(&sb, role);
	sb.mode = SANDBOX_OFF;
	wr_init(&w, 65536);
	sandbox_write(&w, &sb);
	if (frame_write(fds[0], ROLE_SUPERVISOR, role, MSG_SANDBOX, 0, &w,
		-1) == -1)
		fatal("sandbox");
	wr_clear(&w);
	c->channel = channel_new(d.base, fds[0], ROLE_SUPERVISOR, role,
	    &supervisor_ops, c);
}

static void
start_both(const char *program, const char *level, const char *user)
{
	const char *slash = strrchr(program, '/');
	char runner[4096];

	snprintf(runner, sizeof(runner), "%.*srunner",
	    slash != NULL ? (int)(slash + 1 - program) : 0, program);
	start(&d.runner, ROLE_RUNNER, runner, level, user);
	start(&d.collector, ROLE_COLLECTOR, program, level, user);
}

/* The key of KEY=VALUE; *value is the rest. */
static enum conf_key
key_of(const char *item, const char **value)
{
	const char *equals = strchr(item, '=');
	size_t n = equals != NULL ? (size_t)(equals - item) : 0;
	const char *name;
	int k;

	for (k = 0; k < CONF__COUNT; k++) {
		name = conf_rule((enum conf_key)k)->name;
		if (strlen(name) == n && memcmp(name, item, n) == 0)
			break;
	}
	if (k == CONF__COUNT)
		fatalx("%s: no such key, or no value", item);
	*value = equals + 1;
	return (enum conf_key)k;
}

/* Each child gets its own part of the configuration. */
static void
send_conf(const struct child *c, char **items)
{
	enum conf_key key;
	const char *value;
	struct writer w;

	wr_init(&w, 1024 * 1024);
	for (; *items != NULL; items++) {
		key = key_of(*items, &value);
		if (!(conf_rule(key)->roles & 1u << c->role))
			continue;
		wr_reset(&w);
		conf_write(&w, key, value);
		channel_send(c->channel, MSG_CONF, 0, &w, -1);
	}
	wr_reset(&w);
	wr_u32(&w, 1);
	channel_send(c->channel, MSG_CONF_END, 0, &w, -1);
	wr_clear(&w);
}

static void
send_lastrun(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd == -1)
		fatal("%s", path);
	channel_send(d.runner.channel, MSG_LASTRUN, 0, NULL, fd);
}

int
main(int argc, char **argv)
{
	const char *user = NULL, *level = "3", *lastrun = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "u:l:c:d:C:")) != -1) {
		if (opt == 'u')
			user = optarg;
		else if (opt == 'l')
			lastrun = optarg;
		else if (opt == 'c')
			d.cursor = strtoll(optarg, NULL, 10);
		else if (opt == 'C')
			snprintf(d.cluster, sizeof(d.cluster), "%s", optarg);
		else if (opt == 'd')
			level = optarg;
		else
			return 2;
	}
	if (optind >= argc)
		return 2;
	log_init("drive", LOG_LEVEL_WARN);
	signal(SIGPIPE, SIG_IGN);
	d.acks = 1;
	d.base = event_base_new();
	d.open = calloc(STORED_MAX, sizeof(*d.open));
	start_both(argv[optind], level, user);
	if (lastrun != NULL)
		send_lastrun(lastrun);
	send_conf(&d.runner, argv + optind + 1);
	send_conf(&d.collector, argv + optind + 1);
	d.listener = link_peer(ROLE_LISTENER, &listener_ops);
	submitter_begin();
	d.input = event_new(d.base, 0, EV_READ | EV_PERSIST, on_input, NULL);
	d.pause = evtimer_new(d.base, on_pause, NULL);
	event_add(d.input, NULL);
	event_base_dispatch(d.base);
	return 0;
}
