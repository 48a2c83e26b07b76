/* SPDX-License-Identifier: MIT */
/*
 * The processes of commands; see runner.h.  A command has ended when its
 * process is reaped and its standard error is at its end.  The other processes
 * of its group are killed with it.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "common/log.h"
#include "runner/confine/confine.h"
#include "runner/runner.h"

#define LINGER_MS  5000	   /* that standard error may stay open after the end */
#define STARTS_MAX 2	   /* attempts to start one command */
#define PAUSES_MAX 3600000 /* ms of all pauses of one command */
#define TOKEN	   1000	   /* of the limit of starts */
#define CONF_MS	   1000	   /* between two looks at slurm.conf */

/* In the message of all versions of Slurm about a file that it waits for. */
#define RETRYING "retrying in"

/* Which files have the names; all 0 for a file that does not exist. */
struct name_files {
	struct {
		ino_t inode;
		struct timespec changed;
	} file[NAME_FILES_MAX];
};

struct command {
	struct command *next;
	struct commands *all;
	uint64_t id;
	struct question_args args; /* owned */
	unsigned deadline_ms;
	const char *const *names; /* borrowed, NULL = none */
	struct name_files before; /* at the start */
	int waiting;		  /* not started yet */
	pid_t pid;		  /* 0 = reaped, or never started */
	int status;
	int failed; /* never started */
	int killed;
	int timeout;
	int conf_stale;	       /* killed because slurm.conf has changed */
	uint64_t conf_changes; /* confine_conf_changes() at the start */
	struct event *err;     /* NULL = at its end */
	struct event *timer;
	long long started_ms; /* clock_ms() */
	long long paused_at;  /* the same; 0 = not paused */
	long long paused_ms;  /* of earlier pauses */
	uint64_t peak;
	size_t err_len;
	char err_text[RUNNER_ERR_MAX];
};

struct commands {
	struct event_base *base;
	const struct commands_ops *ops;
	void *arg;
	char *const *env;	 /* borrowed */
	struct confine *confine; /* borrowed */
	struct event *child;
	struct event *conf;	 /* timer, while a command waits for a file */
	long long conf_ended_at; /* clock_ms(); 0 = never */
	struct command *first;
	unsigned running;
	long long tokens; /* thousandths */
	long long tokens_at;
};

static void
err_close(struct command *cmd)
{
	int fd;

	if (cmd->err == NULL)
		return;
	fd = event_get_fd(cmd->err);
	event_free(cmd->err);
	close(fd);
	cmd->err = NULL;
}

static void
timer_set(struct command *cmd, long long ms)
{
	struct timeval tv = clock_timeval(ms > 0 ? ms : 0);

	if (event_add(cmd->timer, &tv) == -1)
		fatalx("out of memory");
}

static int
has_ended(const struct command *cmd)
{
	return !cmd->waiting && cmd->pid == 0 && cmd->err == NULL;
}

static void
command_check(struct command *cmd)
{
	if (has_ended(cmd))
		timer_set(cmd, 0);
}

static void
command_destroy(struct command *cmd)
{
	struct command **p = &cmd->all->first;

	while (*p != cmd)
		p = &(*p)->next;
	*p = cmd->next;
	cmd->all->running--;
	err_close(cmd);
	if (cmd->timer != NULL)
		event_free(cmd->timer);
	question_args_clear(&cmd->args);
	free(cmd);
}

/* Standard error as one text for the log. */
static void
err_trim(struct command *cmd)
{
	size_t i, n = cmd->err_len;

	while (n > 0 &&
	    (cmd->err_text[n - 1] == '\n' || cmd->err_text[n - 1] == ' '))
		n--;
	for (i = 0; i < n; i++)
		if (cmd->err_text[i] == '\0')
			cmd->err_text[i] = '?';
	cmd->err_text[n] = '\0';
}

static struct name_files
name_files(const char *const *names)
{
	struct name_files n;
	struct stat st;
	size_t i;

	memset(&n, 0, sizeof(n));
	for (i = 0; names != NULL && names[i] != NULL && i < NAME_FILES_MAX;
	     i++) {
		if (stat(names[i], &st) == -1)
			continue;
		n.file[i].inode = st.st_ino;
		n.file[i].changed = st.st_ctim;
	}
	return n;
}

/* The name of a file that was replaced since the start; NULL = none. */
static const char *
name_file_replaced(const struct command *cmd)
{
	struct name_files now = name_files(cmd->names);
	size_t i;

	for (i = 0;
	     cmd->names != NULL && cmd->names[i] != NULL && i < NAME_FILES_MAX;
	     i++)
		if (now.file[i].inode != cmd->before.file[i].inode ||
		    now.file[i].changed.tv_sec !=
			cmd->before.file[i].changed.tv_sec ||
		    now.file[i].changed.tv_nsec !=
			cmd->before.file[i].changed.tv_nsec)
			return cmd->names[i];
	return NULL;
}

static enum answer_how
command_how(struct command *cmd)
{
	const char *replaced;

	if (cmd->failed)
		return ANSWER_NOT_STARTED;
	if (cmd->timeout)
		return ANSWER_TIMEOUT;
	if (cmd->conf_stale) {
		snprintf(cmd->err_text, sizeof(cmd->err_text),
		    "slurm.conf or an include was replaced while %s waited "
		    "for an include",
		    cmd->args.argv[0]);
		cmd->err_len = strlen(cmd->err_text);
		return ANSWER_STALE;
	}
	if (cmd->killed || (replaced = name_file_replaced(cmd)) == NULL)
		return ANSWER_EXITED;
	snprintf(cmd->err_text, sizeof(cmd->err_text),
	    "%s was replaced while %s ran", replaced, cmd->args.argv[0]);
	cmd->err_len = strlen(cmd->err_text);
	return ANSWER_STALE;
}

static void
command_finish(struct command *cmd)
{
	struct commands *cs = cmd->all;
	struct command_result end = {
		.how = command_how(cmd),
		.status = cmd->status,
		.ms = (uint32_t)(clock_ms() - cmd->started_ms - cmd->paused_ms),
		.peak = cmd->peak,
		.err = cmd->err_text,
	};

	err_trim(cmd);
	cs->ops->ended(cmd->id, &end, cs->arg);
	command_destroy(cmd);
}

static void
command_kill(struct command *cmd)
{
	cmd->killed = 1;
	cmd->waiting = 0;
	if (cmd->pid > 0)
		kill(-cmd->pid, SIGKILL);
	err_close(cmd);
	command_check(cmd);
}

/* --- commands that wait for an include of slurm.conf --- */

static int
is_retrying(const struct command *cmd)
{
	return cmd->pid > 0 && !cmd->killed &&
	    memmem(cmd->err_text, cmd->err_len, RETRYING, strlen(RETRYING)) !=
	    NULL;
}

/* Slurm looks for the file that slurm.conf named when the command read it. */
static void
conf_check(struct commands *cs)
{
	uint64_t changes = confine_conf_changes(cs->confine);
	int allowed = cs->conf_ended_at == 0 ||
	    clock_ms() - cs->conf_ended_at >= COMMANDS_CONF_EVERY_MS;
	struct timeval tv = clock_timeval(CONF_MS);
	struct command *cmd;
	int waits = 0;

	for (cmd = cs->first; cmd != NULL; cmd = cmd->next) {
		if (!is_retrying(cmd))
			continue;
		if (!allowed || cmd->conf_changes == changes) {
			waits = 1;
			continue;
		}
		cmd->conf_stale = 1;
		cs->conf_ended_at = clock_ms();
		command_kill(cmd);
	}
	if (waits && event_add(cs->conf, &tv) == -1)
		fatalx("out of memory");
}

static void
on_conf(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	conf_check(arg);
}

/* --- standard error --- */

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
		err_close(cmd);
		command_check(cmd);
		return;
	}
	if (room == 0)
		return;
	cmd->err_len += (size_t)n;
	if (is_retrying(cmd))
		conf_check(cmd->all);
}

/* --- start --- */

static void __attribute__((format(printf, 2, 3)))
not_started(struct command *cmd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd->err_text, sizeof(cmd->err_text), fmt, ap);
	va_end(ap);
	cmd->err_len = strlen(cmd->err_text);
	cmd->failed = 1;
	command_check(cmd);
}

static int
err_watch(struct command *cmd, int fd)
{
	cmd->err = event_new(cmd->all->base, fd, EV_READ | EV_PERSIST, on_err,
	    cmd);
	if (cmd->err == NULL) {
		close(fd);
		return -1;
	}
	return event_add(cmd->err, NULL);
}

/*
 * Starts the process.  The command may have been replaced after its rules were
 * made: then the new one is not executable, and the rules are made again.
 */
static void
command_execute(struct command *cmd, const struct command_fds *fds)
{
	struct commands *cs = cmd->all;
	const char *program = cmd->args.argv[0], *why = "";
	struct confine_rules rules;
	int rc, i;

	for (i = 0; i < STARTS_MAX; i++) {
		if (confine_prepare(cs->confine, program, &rules) == -1) {
			not_started(cmd, "%s: %s", program, strerror(errno));
			return;
		}
		cmd->conf_changes = confine_conf_changes(cs->confine);
		rc = command_spawn(&cmd->pid, cmd->args.argv, cs->env, &rules,
		    fds, &why);
		confine_release(&rules);
		if (rc != EACCES)
			break;
	}
	if (rc != 0)
		not_started(cmd, "%s %s: %s", program, why, strerror(rc));
	else
		log_trace("started %s", program);
}

/*
 * The reading end of a pipe that contains the standard input of the command; -1
 * when there is none, or with errno.  An empty pipe has room for all of it.
 */
static int
input_open(const struct command *cmd)
{
	size_t n = strlen(cmd->args.input);
	int in[2], saved;

	errno = 0;
	if (n == 0 || pipe2(in, O_CLOEXEC) == -1)
		return -1;
	if (write(in[1], cmd->args.input, n) != (ssize_t)n) {
		saved = errno;
		close(in[0]);
		in[0] = -1;
		errno = saved != 0 ? saved : EIO;
	}
	saved = errno;
	close(in[1]);
	errno = saved;
	return in[0];
}

static void
command_begin(struct command *cmd)
{
	struct command_fds fds;
	int out[2], err[2];

	cmd->waiting = 0;
	cmd->started_ms = clock_ms();
	cmd->before = name_files(cmd->names);
	timer_set(cmd, cmd->deadline_ms);
	if (pipe_new(out) == -1) {
		not_started(cmd, "pipe: %s", strerror(errno));
		return;
	}
	if (pipe_new(err) == -1) {
		not_started(cmd, "pipe: %s", strerror(errno));
		close(out[0]);
		close(out[1]);
		return;
	}
	if (err_watch(cmd, err[0]) == -1)
		fatalx("out of memory");
	fds = (struct command_fds) { input_open(cmd), out[1], err[1] };
	if (fds.in == -1 && errno != 0)
		not_started(cmd, "pipe: %s", strerror(errno));
	else
		command_execute(cmd, &fds);
	if (fds.in != -1)
		close(fds.in);
	close(out[1]);
	close(err[1]);
	cmd->all->ops->started(cmd->id, out[0], cmd->all->arg);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct command *cmd = arg;

	(void)fd;
	(void)what;
	if (cmd->waiting)
		command_begin(cmd);
	else if (has_ended(cmd))
		command_finish(cmd);
	else if (cmd->pid == 0) {
		/* Another process holds standard error. */
		err_close(cmd);
		command_finish(cmd);
	} else {
		cmd->timeout = !cmd->killed;
		command_kill(cmd);
	}
}

/* Returns the ms until the next start is allowed, and takes one token. */
static long long
start_delay(struct commands *cs)
{
	long long now = clock_ms();

	cs->tokens += (now - cs->tokens_at) * COMMANDS_PER_SECOND;
	if (cs->tokens > COMMANDS_BURST * TOKEN)
		cs->tokens = COMMANDS_BURST * TOKEN;
	cs->tokens_at = now;
	cs->tokens -= TOKEN;
	return cs->tokens >= 0 ? 0 : -cs->tokens / COMMANDS_PER_SECOND + 1;
}

static struct command *
command_find(const struct commands *cs, uint64_t id)
{
	struct command *cmd;

	for (cmd = cs->first; cmd != NULL; cmd = cmd->next)
		if (cmd->id == id)
			return cmd;
	return NULL;
}

int
command_start(struct commands *cs, uint64_t id, unsigned deadline_ms,
    const char *const *names, struct question_args *args)
{
	struct command *cmd;
	long long wait;

	if (command_find(cs, id) != NULL ||
	    (cmd = calloc(1, sizeof(*cmd))) == NULL) {
		question_args_clear(args);
		return -1;
	}
	cmd->all = cs;
	cmd->id = id;
	cmd->args = *args;
	cmd->deadline_ms = deadline_ms;
	cmd->names = names;
	cmd->next = cs->first;
	cs->first = cmd;
	cs->running++;
	cmd->timer = evtimer_new(cs->base, on_timer, cmd);
	if (cmd->timer == NULL) {
		command_destroy(cmd);
		return -1;
	}
	cmd->started_ms = clock_ms();
	wait = start_delay(cs);
	if (wait == 0) {
		command_begin(cmd);
		return 0;
	}
	cmd->waiting = 1;
	timer_set(cmd, wait);
	return 0;
}

void
command_cancel(struct commands *cs, uint64_t id)
{
	struct command *cmd = command_find(cs, id);

	if (cmd != NULL && !cmd->killed)
		command_kill(cmd);
}

/* In a pause the deadline does not pass, for PAUSES_MAX at most. */
void
command_pause(struct commands *cs, uint64_t id, int pause)
{
	struct command *cmd = command_find(cs, id);

	if (cmd == NULL || cmd->waiting || cmd->pid == 0 || cmd->killed ||
	    (cmd->paused_at != 0) == pause)
		return;
	if (pause) {
		cmd->paused_at = clock_ms();
		timer_set(cmd, PAUSES_MAX - cmd->paused_ms);
		return;
	}
	cmd->paused_ms += clock_ms() - cmd->paused_at;
	cmd->paused_at = 0;
	timer_set(cmd,
	    cmd->started_ms + cmd->deadline_ms + cmd->paused_ms - clock_ms());
}

/* --- end --- */

/*
 * Kills the rest of the group while its id is still valid; then standard error
 * has some time to end.
 */
static void
command_reap(struct command *cmd)
{
	struct rusage usage;

	kill(-cmd->pid, SIGKILL);
	if (wait4(cmd->pid, &cmd->status, WNOHANG, &usage) != cmd->pid)
		return;
	cmd->peak = (uint64_t)usage.ru_maxrss * 1024;
	cmd->pid = 0;
	if (cmd->paused_at != 0)
		cmd->paused_ms += clock_ms() - cmd->paused_at;
	cmd->paused_at = 0;
	timer_set(cmd, LINGER_MS);
	command_check(cmd);
}

/* Returns the id of a process that has ended and is not reaped; 0 = none. */
static pid_t
ended_pid(void)
{
	siginfo_t si;

	memset(&si, 0, sizeof(si));
	if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == -1)
		return 0;
	return si.si_pid;
}

static void
on_child(evutil_socket_t sig, short what, void *arg)
{
	struct commands *cs = arg;
	struct command *cmd;
	pid_t pid;

	(void)sig;
	(void)what;
	while ((pid = ended_pid()) != 0) {
		for (cmd = cs->first; cmd != NULL; cmd = cmd->next)
			if (cmd->pid == pid)
				break;
		if (cmd != NULL)
			command_reap(cmd);
		else
			/* of commands_kill(), or of a start that failed */
			waitpid(pid, NULL, WNOHANG);
	}
}

struct commands *
commands_new(struct event_base *base, const struct commands_ops *ops, void *arg)
{
	struct commands *cs = calloc(1, sizeof(*cs));

	if (cs == NULL)
		return NULL;
	cs->base = base;
	cs->ops = ops;
	cs->arg = arg;
	cs->tokens = COMMANDS_BURST * TOKEN;
	cs->tokens_at = clock_ms();
	cs->child = evsignal_new(base, SIGCHLD, on_child, cs);
	cs->conf = evtimer_new(base, on_conf, cs);
	if (cs->child == NULL || cs->conf == NULL ||
	    event_add(cs->child, NULL) == -1) {
		if (cs->child != NULL)
			event_free(cs->child);
		if (cs->conf != NULL)
			event_free(cs->conf);
		free(cs);
		return NULL;
	}
	return cs;
}

void
commands_setup(struct commands *cs, char *const *env, struct confine *c)
{
	cs->env = env;
	cs->confine = c;
}

void
commands_kill(struct commands *cs)
{
	struct command *cmd;

	while ((cmd = cs->first) != NULL) {
		if (cmd->pid > 0)
			kill(-cmd->pid, SIGKILL);
		command_destroy(cmd);
	}
}

unsigned
commands_running(const struct commands *cs)
{
	return cs->running;
}
