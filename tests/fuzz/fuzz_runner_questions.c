/* SPDX-License-Identifier: MIT */
/*
 * The messages of a compromised collector to the runner, through the real dispatch:
 * questions, cancels, pauses, the time of the last-run file.  No process is started
 * and none is killed.  Between the messages, commands write to standard error, end in
 * any order or never, the time passes, and the collector is replaced.  A question is
 * refused exactly if it is malformed, names no cluster, has the number of another one
 * or is one too many.  Each accepted question of a collector ends once.  The runner
 * kills its own processes only, and no descriptor stays open.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>

#include "common/clock.h"
#include "tests/fuzz/lifetime.h"
#include "tests/fuzz/neighbour.h"

/* on_neighbour() and the callbacks */
int runner_main(int argc, char **argv);
#define main runner_main
#include "runner/main.c"
#undef main

#define FRAMES_MAX    64 /* of one input */
#define PROCESSES_MAX 256
#define IDS	      16	/* numbers of questions; some are used twice */
#define TURNS	      4		/* of the loop, until all pipes are empty */
#define PID_FIRST     100000000 /* no process has such a number */
#define AHEAD	      86400	/* s; of the last-run file */
#define BIN_DIR	      "/usr/bin"
#define ROUNDS_MAX    1000 /* until all commands have ended */

#define SEVERAL 1u /* clusters are configured */

static struct runner runner;
static struct worker worker;
static int far;
/* the questions of this collector that have no end */
static uint8_t open_ids[IDS];

/* --- processes, in place of real ones --- */

static struct process {
	int err; /* the writing end of its standard error; -1 = closed */
	int status;
	int ended; /* it waits to be reaped */
	int reaped;
} processes[PROCESSES_MAX];
static int n_processes;

int
pipe_new(int fds[2])
{
	HOLDS(pipe2(fds, O_CLOEXEC) == 0);
	return fcntl(fds[0], F_SETFL, O_NONBLOCK);
}

int
command_spawn(pid_t *pid, const char *const *argv, char *const *env,
    const struct confine_rules *rules, const struct command_fds *fds,
    const char **what)
{
	struct process *p = &processes[n_processes];
	size_t n;

	HOLDS(strncmp(argv[0], BIN_DIR "/", sizeof(BIN_DIR)) == 0);
	for (n = 1; argv[n] != NULL; n++)
		HOLDS(n < QUESTION_ARGS_MAX);
	HOLDS(fds->out != -1 && fds->err != -1);
	if (n_processes == PROCESSES_MAX) {
		*pid = 0;
		*what = "cannot be started";
		return EAGAIN;
	}
	p->err = dup(fds->err);
	HOLDS(p->err != -1 && fcntl(p->err, F_SETFL, O_NONBLOCK) == 0);
	p->ended = p->reaped = 0;
	*pid = PID_FIRST + n_processes++;
	return 0;
}

static void
err_close(struct process *p)
{
	if (p->err != -1)
		close(p->err);
	p->err = -1;
}

static void
process_end(struct process *p, int status)
{
	if (p->ended || p->reaped)
		return;
	p->ended = 1;
	p->status = status;
}

int __wrap_kill(pid_t pid, int sig);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *si, int flags);
pid_t __wrap_wait4(pid_t pid, int *status, int flags, struct rusage *usage);
pid_t __wrap_waitpid(pid_t pid, int *status, int flags);

/* A group has its number until its process is reaped. */
int
__wrap_kill(pid_t pid, int sig)
{
	int i = -pid - PID_FIRST;

	HOLDS(sig == SIGKILL && i >= 0 && i < n_processes);
	HOLDS(!processes[i].reaped);
	process_end(&processes[i], SIGKILL);
	err_close(&processes[i]);
	return 0;
}

int
__wrap_waitid(idtype_t type, id_t id, siginfo_t *si, int flags)
{
	int i;

	HOLDS(type == P_ALL && (flags & WNOWAIT));
	for (i = 0; i < n_processes; i++)
		if (processes[i].ended && !processes[i].reaped) {
			si->si_pid = PID_FIRST + i;
			return 0;
		}
	si->si_pid = 0;
	return 0;
}

pid_t
__wrap_wait4(pid_t pid, int *status, int flags, struct rusage *usage)
{
	int i = pid - PID_FIRST;

	HOLDS(i >= 0 && i < n_processes && processes[i].ended &&
	    !processes[i].reaped);
	memset(usage, 0, sizeof(*usage));
	*status = processes[i].status;
	processes[i].reaped = 1;
	return pid;
}

pid_t
__wrap_waitpid(pid_t pid, int *status, int flags)
{
	struct rusage usage;
	int unused;

	return __wrap_wait4(pid, status != NULL ? status : &unused, flags,
	    &usage);
}

/* --- the host --- */

static uint64_t conf_changes;

int
confine_prepare(struct confine *c, const char *program,
    struct confine_rules *rules)
{
	memset(rules, 0, sizeof(*rules));
	rules->ruleset = -1;
	return 0;
}

void
confine_release(struct confine_rules *rules)
{
}

struct confine *
confine_new(const struct confine_conf *conf)
{
	return NULL;
}

void
confine_free(struct confine *c)
{
}

uint64_t
confine_conf_changes(struct confine *c)
{
	return conf_changes;
}

const char *
confine_layers(struct confine *c)
{
	return "none";
}

int
slurm_site_conf(struct slurm_site *site, const struct conf *conf)
{
	return -1;
}

int
slurm_site_check(struct slurm_site *site)
{
	return 0;
}

const char *
slurm_site_path(const struct slurm_site *site, enum slurm_command cmd,
    char *buf, size_t size)
{
	HOLDS((unsigned)cmd < CMD__COUNT);
	snprintf(buf, size, BIN_DIR "/%s", slurm_command_name(cmd));
	return buf;
}

/* --- the runner --- */

static void
runner_begin(unsigned choice)
{
	memset(&runner, 0, sizeof(runner));
	n_processes = 0;
	conf_changes = 0;
	on_init(&worker);
	runner.lastrun.fd = memfd_create("lastrun", MFD_CLOEXEC);
	HOLDS(runner.lastrun.fd != -1);
	snprintf(runner.site.user, sizeof(runner.site.user), "slurm");
	if (choice & SEVERAL) {
		runner.site.clusters = 2;
		strcpy(runner.site.cluster[0], "alpha");
		strcpy(runner.site.cluster[1], "beta");
	}
}

static void
runner_end(void)
{
	int i;

	commands_kill(runner.commands);
	for (i = 0; i < n_processes; i++)
		err_close(&processes[i]);
	close(runner.lastrun.fd);
}

/* --- the collector --- */

static void
collector_begin(void)
{
	struct channel *old = worker.peers[ROLE_COLLECTOR];

	if (old != NULL)
		close(far);
	memset(open_ids, 0, sizeof(open_ids));
	worker.peers[ROLE_COLLECTOR] = neighbour_open(worker.base, ROLE_RUNNER,
	    ROLE_COLLECTOR, &far);
	on_peer(&worker, ROLE_COLLECTOR, worker.peers[ROLE_COLLECTOR]);
	channel_free(old);
}

static void
collector_end(void)
{
	channel_free(worker.peers[ROLE_COLLECTOR]);
	worker.peers[ROLE_COLLECTOR] = NULL;
	close(far);
}

static void
end_hold(const struct msg_header *h, const uint8_t *payload)
{
	struct reader r;
	const uint8_t *err;
	size_t len;

	HOLDS(h->id < IDS && open_ids[h->id]);
	open_ids[h->id] = 0;
	rd_init(&r, payload, h->length);
	HOLDS(rd_u8(&r) <= ANSWER_STALE);
	rd_u32(&r);
	rd_u32(&r);
	rd_u64(&r);
	err = rd_blob(&r, &len);
	HOLDS(rd_end(&r) == 0 && len < RUNNER_ERR_MAX);
	HOLDS(len == 0 || memchr(err, '\0', len) == NULL);
}

static void
sent_read(void)
{
	struct msg_header h;
	uint8_t *payload;
	int fd;

	while (frame_read(far, ROLE_COLLECTOR, ROLE_RUNNER, &h, &payload, &fd,
		   0) == 0) {
		if (h.type == MSG_ANSWER_FD)
			HOLDS(h.id < IDS && open_ids[h.id]);
		else if (h.type == MSG_ANSWER_END)
			end_hold(&h, payload);
		if (fd != -1)
			close(fd);
		free(payload);
	}
}

static void
turns(void)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		(void)raise(SIGCHLD);
		lifetime_pass(worker.base, 0);
		sent_read();
	}
}

/* --- the messages --- */

static int
question_is_valid(const struct msg_header *h, struct reader *r)
{
	struct question q;
	int valid;

	question_read(r, &q);
	valid = rd_end(r) == 0 && q.cluster <= runner.site.clusters &&
	    commands_running(runner.commands) <
		questions_max(runner.site.clusters) &&
	    !open_ids[h->id];
	question_clear(&q);
	return valid;
}

static int
is_valid(const struct msg_header *h, struct reader r)
{
	int64_t epoch;

	if (h->type == MSG_QUESTION)
		return question_is_valid(h, &r);
	if (h->type != MSG_RESUME_TIME)
		return 1;
	epoch = rd_i64(&r);
	return epoch >= 0 && epoch <= TIME_S_MAX;
}

static void
message_holds(struct msg_header *h, const char *payload)
{
	struct reader r;
	int valid;

	h->id %= IDS;
	if (msg_check(h, ROLE_COLLECTOR, ROLE_RUNNER) != NULL)
		return;
	rd_init(&r, payload, h->length);
	valid = is_valid(h, r);
	if (valid && h->type == MSG_QUESTION)
		open_ids[h->id] = 1;
	on_neighbour(&worker, worker.peers[ROLE_COLLECTOR], h, &r, -1);
	HOLDS(commands_running(runner.commands) <=
	    questions_max(runner.site.clusters));
	HOLDS(lastrun_time(&runner.lastrun) <= time(NULL) + AHEAD);
	turns();
	HOLDS(broken == !valid);
}

/* Standard error of a process, and its end. */
static void
process_apply(uint64_t which, const char *payload, size_t n)
{
	struct process *p;

	if (n_processes == 0 || n < 2)
		return;
	p = &processes[(which + (unsigned char)payload[0]) %
	    (unsigned)n_processes];
	if (p->err != -1 && n > 2)
		(void)!write(p->err, payload + 2, n - 2);
	if (payload[1] & 1)
		process_end(p, (unsigned char)payload[1] << 7);
	if (payload[1] & 2)
		err_close(p);
	conf_changes += (payload[1] & 4) != 0;
}

static void
messages_hold(struct frames *f)
{
	struct msg_header h;
	char *payload;
	int i;

	for (i = 0; i < FRAMES_MAX && !broken && frames_next(f, &h, &payload);
	     i++) {
		if (h.type == MSG_PING)
			lifetime_pass(worker.base,
			    frame_ms(payload, h.length, 3));
		else if (h.type == MSG_PONG)
			process_apply(h.id, payload, h.length);
		else if (h.type == MSG_PEER)
			collector_begin();
		else
			message_holds(&h, payload);
		free(payload);
		turns();
	}
}

/* All commands end at their deadlines, at the latest. */
static void
commands_end(void)
{
	int i;

	for (i = 0; i < ROUNDS_MAX && commands_running(runner.commands) > 0;
	     i++) {
		lifetime_pass(worker.base, 60000);
		turns();
	}
	HOLDS(commands_running(runner.commands) == 0);
	for (i = 0; i < IDS && !broken; i++)
		HOLDS(!open_ids[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	/*
	 * MSG_PING: time passes; MSG_PONG: a process writes or ends; MSG_PEER: a
	 * new collector
	 */
	static const enum msg_type types[] = { MSG_QUESTION, MSG_CANCEL,
		MSG_PAUSE, MSG_CONTINUE, MSG_RESUME_TIME, MSG_PING, MSG_PONG,
		MSG_PEER };
	struct frames f = { bytes + 1, n - 1, types,
		sizeof(types) / sizeof(types[0]) };
	int lowest;

	fuzz_quiet();
	if (n < 1)
		return 0;
	lowest = dup(0);
	close(lowest);
	lifetime_begin();
	worker.base = event_base_new();
	HOLDS(worker.base != NULL);
	worker.ops = &ops;
	worker.arg = &runner;
	broken = 0;
	runner_begin(bytes[0]);
	collector_begin();
	messages_hold(&f);
	commands_end();
	runner_end();
	collector_end();
	lifetime_end();
	event_base_free(worker.base);
	HOLDS(dup(0) == lowest && close(lowest) == 0);
	return 0;
}
