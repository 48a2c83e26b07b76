/* SPDX-License-Identifier: MIT */
/*
 * Commands; see runner.h.  A command has ended when its process is reaped and
 * both its pipes are at their end.  The other processes of its group are
 * killed with it, so that nobody else holds the pipes open.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/slurm/runner.h"
#include "common/log.h"

#define READ_STEP    (64u * 1024) /* one read; a pipe holds as much */
#define READS_A_TURN 16		  /* reads, then other events are handled */
#define LINGER_MS    5000 /* that the pipes may stay open after the end */

struct command {
	struct command *next;
	struct runner *runner;
	struct command_spec spec; /* its argv points to argv below */
	char **argv;		  /* owned */
	int waiting;		  /* not started yet */
	pid_t pid;		  /* 0 = reaped, or never started */
	int status;
	int killed;
	enum command_outcome verdict; /* why it was killed */
	struct event *out;	      /* NULL = at its end */
	struct event *err;
	struct event *timer;
	struct timespec started;
	struct timespec paused_at;
	long paused_ms;
	int paused;
	int ending; /* on_end is being called */
	uint64_t bytes;
	size_t err_len;
	char err_text[RUNNER_ERR_MAX];
};

struct runner {
	struct event_base *base;
	struct event *child;
	struct command *commands;
	char **env; /* owned */
	unsigned running;
	uint64_t total;
	uint64_t peak; /* resident bytes of the biggest command */
	char peak_name[32];
	char buf[READ_STEP];
};

static void command_check(struct command *cmd);

static long
ms_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long)(now.tv_sec - t->tv_sec) * 1000 +
	    (now.tv_nsec - t->tv_nsec) / 1000000;
}

static void
pipe_close(struct event **ev)
{
	int fd;

	if (*ev == NULL)
		return;
	fd = event_get_fd(*ev);
	event_free(*ev);
	close(fd);
	*ev = NULL;
}

static void
timer_set(struct command *cmd, long ms)
{
	struct timeval tv;

	if (ms < 0)
		ms = 0;
	tv.tv_sec = ms / 1000;
	tv.tv_usec = ms % 1000 * 1000;
	event_add(cmd->timer, &tv);
}

static void
command_kill(struct command *cmd, enum command_outcome verdict)
{
	if (!cmd->killed)
		cmd->verdict = verdict;
	cmd->killed = 1;
	if (cmd->pid > 0)
		kill(-cmd->pid, SIGKILL);
	pipe_close(&cmd->out);
	pipe_close(&cmd->err);
	command_check(cmd);
}

static void
command_unlink(struct command *cmd)
{
	struct command **p;

	for (p = &cmd->runner->commands; *p != NULL; p = &(*p)->next) {
		if (*p == cmd) {
			*p = cmd->next;
			break;
		}
	}
	cmd->runner->running--;
}

static void
command_destroy(struct command *cmd)
{
	pipe_close(&cmd->out);
	pipe_close(&cmd->err);
	if (cmd->timer != NULL)
		event_free(cmd->timer);
	words_free(cmd->argv);
	free(cmd);
}

static void
command_finish(struct command *cmd)
{
	struct command_end end;
	size_t n = cmd->err_len;

	memset(&end, 0, sizeof(end));
	if (cmd->killed || cmd->verdict == COMMAND_SPAWN)
		end.outcome = cmd->verdict;
	else
		end.outcome = cmd->status == 0 ? COMMAND_OK : COMMAND_FAILED;
	end.status = cmd->status;
	end.ms = ms_since(&cmd->started) - cmd->paused_ms;
	end.bytes = cmd->bytes;
	while (n > 0 &&
	    (cmd->err_text[n - 1] == '\n' || cmd->err_text[n - 1] == ' '))
		n--;
	cmd->err_text[n] = '\0';
	end.err = cmd->err_text;
	command_unlink(cmd);
	cmd->ending = 1;
	if (cmd->spec.on_end != NULL)
		cmd->spec.on_end(&end, cmd->spec.arg);
	command_destroy(cmd);
}

static void command_begin(struct command *cmd);

/* The command has ended when it is reaped and both pipes are at their end. */
static void
command_check(struct command *cmd)
{
	if (cmd->pid == 0 && cmd->out == NULL && cmd->err == NULL &&
	    !cmd->paused)
		timer_set(cmd, 0);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;

	(void)fd;
	(void)what;
	if (cmd->waiting) {
		command_begin(cmd);
		return;
	}
	if (cmd->pid == 0 && cmd->out == NULL && cmd->err == NULL) {
		command_finish(cmd);
		return;
	}
	/*
	 * Also when the command has ended but another process holds its pipes.
	 */
	command_kill(cmd, COMMAND_TIMEOUT);
}

static void
on_out(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;
	struct runner *r = cmd->runner;
	ssize_t n;
	int turn;

	(void)what;
	for (turn = 0; turn < READS_A_TURN; turn++) {
		if (cmd->paused || cmd->out == NULL)
			return;
		n = read(fd, r->buf, sizeof(r->buf));
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			pipe_close(&cmd->out);
			command_check(cmd);
			return;
		}
		cmd->bytes += (uint64_t)n;
		if (cmd->bytes > cmd->spec.max_bytes) {
			command_kill(cmd, COMMAND_TOO_LONG);
			return;
		}
		if (cmd->spec.on_output != NULL &&
		    cmd->spec.on_output(r->buf, (size_t)n, cmd->spec.arg) ==
			-1) {
			command_kill(cmd, COMMAND_REFUSED);
			return;
		}
	}
}

static void
on_err(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;
	char drop[1024];
	size_t room = sizeof(cmd->err_text) - 1 - cmd->err_len;
	ssize_t n;

	(void)what;
	if (room > 0)
		n = read(fd, cmd->err_text + cmd->err_len, room);
	else
		n = read(fd, drop, sizeof(drop));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		pipe_close(&cmd->err);
		command_check(cmd);
		return;
	}
	if (room > 0)
		cmd->err_len += (size_t)n;
}

static void
peak_note(const struct command *cmd, uint64_t bytes)
{
	struct runner *r = cmd->runner;
	const char *slash = strrchr(cmd->argv[0], '/');

	if (bytes <= r->peak)
		return;
	r->peak = bytes;
	snprintf(r->peak_name, sizeof(r->peak_name), "%s",
	    slash != NULL ? slash + 1 : cmd->argv[0]);
}

/*
 * Kills the rest of the group while its id is still valid; then the pipes have
 * some time to run empty.
 */
static void
command_reap(struct command *cmd)
{
	struct rusage usage;
	siginfo_t si;

	memset(&si, 0, sizeof(si));
	if (waitid(P_PID, (id_t)cmd->pid, &si, WEXITED | WNOHANG | WNOWAIT) ==
		-1 ||
	    si.si_pid == 0)
		return;
	kill(-cmd->pid, SIGKILL);
	if (wait4(cmd->pid, &cmd->status, WNOHANG, &usage) != cmd->pid)
		return;
	peak_note(cmd, (uint64_t)usage.ru_maxrss * 1024);
	cmd->pid = 0;
	if (cmd->paused)
		return;
	timer_set(cmd, LINGER_MS);
	command_check(cmd);
}

static void
on_child(evutil_socket_t sig, short what, void *arg)
{
	struct runner *r = arg;
	struct command *cmd;

	(void)sig;
	(void)what;
	for (cmd = r->commands; cmd != NULL; cmd = cmd->next)
		if (cmd->pid > 0)
			command_reap(cmd);
}

int
runner_environment(struct runner *r, const char *const *env)
{
	char **copy = words_copy(env);

	if (copy == NULL)
		return -1;
	words_free(r->env);
	r->env = copy;
	return 0;
}

struct runner *
runner_new(struct event_base *base, const char *const *env)
{
	struct runner *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->base = base;
	r->child = evsignal_new(base, SIGCHLD, on_child, r);
	if (r->child == NULL || event_add(r->child, NULL) == -1 ||
	    runner_environment(r, env) == -1) {
		runner_free(r);
		return NULL;
	}
	return r;
}

void
runner_free(struct runner *r)
{
	struct command *cmd;

	if (r == NULL)
		return;
	while ((cmd = r->commands) != NULL) {
		if (cmd->pid > 0)
			kill(-cmd->pid, SIGKILL);
		command_unlink(cmd);
		command_destroy(cmd);
	}
	if (r->child != NULL)
		event_free(r->child);
	words_free(r->env);
	free(r);
}

/* The event owns the reading end; -1 on memory. */
static int
pipe_watch(struct command *cmd, struct event **ev, int fd,
    event_callback_fn on_read)
{
	*ev = event_new(cmd->runner->base, fd, EV_READ | EV_PERSIST, on_read,
	    cmd);
	if (*ev == NULL) {
		close(fd);
		return -1;
	}
	return event_add(*ev, NULL);
}

static int
command_spawn(struct command *cmd)
{
	int out[2], err[2], rc;

	if (pipe_new(out) == -1)
		return errno;
	if (pipe_new(err) == -1) {
		rc = errno;
		close(out[0]);
		close(out[1]);
		return rc;
	}
	rc = spawn_command(&cmd->pid, cmd->spec.argv, cmd->runner->env, out[1],
	    err[1]);
	close(out[1]);
	close(err[1]);
	if (pipe_watch(cmd, &cmd->out, out[0], on_out) == -1 ||
	    pipe_watch(cmd, &cmd->err, err[0], on_err) == -1)
		rc = rc != 0 ? rc : ENOMEM;
	return rc;
}

static void
command_begin(struct command *cmd)
{
	int rc;

	cmd->waiting = 0;
	clock_gettime(CLOCK_MONOTONIC, &cmd->started);
	timer_set(cmd, (long)cmd->spec.deadline_ms);
	rc = command_spawn(cmd);
	if (rc != 0) {
		cmd->err_len = (size_t)snprintf(cmd->err_text,
		    sizeof(cmd->err_text), "%s: %s", cmd->argv[0],
		    strerror(rc));
		command_kill(cmd, COMMAND_SPAWN);
	} else
		log_trace("started %s", cmd->argv[0]);
}

struct command *
runner_start(struct runner *r, const struct command_spec *spec)
{
	struct command *cmd = calloc(1, sizeof(*cmd));

	if (cmd == NULL)
		return NULL;
	cmd->runner = r;
	cmd->spec = *spec;
	cmd->argv = words_copy(spec->argv);
	cmd->timer = evtimer_new(r->base, on_timer, cmd);
	if (cmd->timer == NULL || cmd->argv == NULL) {
		command_destroy(cmd);
		return NULL;
	}
	cmd->spec.argv = (const char *const *)cmd->argv;
	cmd->next = r->commands;
	r->commands = cmd;
	r->running++;
	r->total++;
	if (spec->wait_ms == 0) {
		command_begin(cmd);
		return cmd;
	}
	cmd->waiting = 1;
	timer_set(cmd, (long)spec->wait_ms);
	return cmd;
}

void
command_pause(struct command *cmd, int pause)
{
	long left;

	if (cmd->paused == pause || cmd->ending || cmd->waiting)
		return;
	cmd->paused = pause;
	if (pause) {
		clock_gettime(CLOCK_MONOTONIC, &cmd->paused_at);
		if (cmd->out != NULL)
			event_del(cmd->out);
		event_del(cmd->timer);
		return;
	}
	cmd->paused_ms += ms_since(&cmd->paused_at);
	if (cmd->out != NULL)
		event_add(cmd->out, NULL);
	if (cmd->pid == 0) {
		timer_set(cmd, LINGER_MS);
		command_check(cmd);
		return;
	}
	left = (long)cmd->spec.deadline_ms + cmd->paused_ms -
	    ms_since(&cmd->started);
	timer_set(cmd, left);
}

unsigned
runner_running(const struct runner *r)
{
	return r->running;
}

uint64_t
runner_total(const struct runner *r)
{
	return r->total;
}

uint64_t
runner_peak(const struct runner *r, const char **name)
{
	*name = r->peak > 0 ? r->peak_name : "none";
	return r->peak;
}
