/* SPDX-License-Identifier: MIT */
/*
 * The worker processes: start, stop, end, restart.  The first start runs the
 * same code as a restart.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/crash_point.h"
#include "common/worker/breakout.h"
#include "supervisor/workers/workers.h"

#define STABLE_MS      60000 /* after that, the count of failures is 0 */
#define RESTART_GRACE  2000  /* ms, to finish the work under way */
#define EXIT_MARGIN_MS 300   /* after the grace, on a busy machine */

/*
 * Delay before the next start after so many failures in a row, in ms.  The
 * first restart is immediate: most causes are gone then.  A cause that stays
 * must not load the machine.
 */
static unsigned
restart_delay(unsigned failures)
{
	static const unsigned waits[] = { 0, 0, 100, 500, 1000, 2000, 5000,
		10000, 30000 };
	const unsigned n = sizeof(waits) / sizeof(waits[0]);

	return waits[failures < n ? failures : n - 1];
}

static void
timer_set(struct event *timer, unsigned ms)
{
	struct timeval tv = clock_timeval(ms);

	if (event_add(timer, &tv) == -1)
		log_errorx("out of memory: a timer of %u ms is not set", ms);
}

static void
on_restart(evutil_socket_t fd, short what, void *arg)
{
	child_start(arg);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	child_kill(c,
	    c->channel_error[0] != '\0' ? c->channel_error :
					  "it did not end in time");
}

void
child_init(struct workers *w, enum role role)
{
	struct child *c = &w->children[role];

	c->workers = w;
	c->role = role;
	c->restart = evtimer_new(w->base, on_restart, c);
	c->deadline = evtimer_new(w->base, on_deadline, c);
	if (c->restart == NULL || c->deadline == NULL)
		fatalx("out of memory");
}

static pid_t
worker_spawn(struct child *c, int fd, int log)
{
	char level[8], path[4096];
	char name[32], records[] = "-p", flag[] = "-d";
	char *argv[] = { name, records, flag, level, NULL };
	char **env = env_worker(c->role);
	pid_t pid = -1;

	snprintf(level, sizeof(level), "%d", (int)log_get_level());
	snprintf(name, sizeof(name), "%s", role_name(c->role));
	if (env != NULL &&
	    snprintf(path, sizeof(path), "%s/%s",
		c->workers->setup->program_dir, name) < (int)sizeof(path))
		pid = process_spawn(path, argv, env, fd, log);
	env_free(env);
	return pid;
}

static void
child_reset(struct child *c)
{
	c->conf_sent = 0;
	c->conf_agreed = 0;
	c->conf_used = 0;
	c->stop_requested = 0;
	c->expected_exit = 0;
	c->has_descriptors = 0;
	c->kill_sent = 0;
	c->kill_reason = NULL;
	c->channel_error[0] = '\0';
	c->layers[0] = '\0';
	c->started_ms = clock_ms();
	c->ping_sent_ms = 0;
}

void
child_start(struct child *c)
{
	int fds[2] = { -1, -1 }, log = -1;

	child_reset(c);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1 ||
	    (c->log = log_pipe_new(c->workers->base, role_name(c->role),
		 &log)) == NULL ||
	    (c->pid = worker_spawn(c, fds[1], log)) == -1)
		goto fail;
	close(fds[1]);
	close(log);
	CRASH_POINT("supervisor.spawned");
	c->state = CHILD_STARTED;
	watchdog_started(c->workers);
	log_info("the %s is started (pid %d)", role_name(c->role), (int)c->pid);
	if (worker_channel_open(c, fds[0]) == -1)
		child_kill(c, "its channel cannot be opened");
	return;
fail:
	c->pid = 0;
	log_error("the %s cannot be started; next attempt in %u s",
	    role_name(c->role), restart_delay(++c->failures) / 1000);
	if (fds[0] != -1) {
		close(fds[0]);
		close(fds[1]);
	}
	if (log != -1)
		close(log);
	log_pipe_free(c->log);
	c->log = NULL;
	timer_set(c->restart, restart_delay(c->failures));
}

void
child_kill(struct child *c, const char *why)
{
	if (c->pid == 0)
		return;
	log_about(LOG_ID_WORKER_KILLED, NULL, 0);
	log_warnx("the %s (pid %d) is killed: %s", role_name(c->role),
	    (int)c->pid, why);
	c->kill_reason = why;
	if (kill(c->pid, SIGKILL) == -1)
		log_error("cannot kill process %d", (int)c->pid);
}

/* A worker that is not ready has no work under way: it is killed. */
void
child_stop(struct child *c, uint32_t grace_ms)
{
	c->stop_requested = 1;
	if (c->pid == 0)
		return;
	if (c->state != CHILD_READY || c->channel == NULL) {
		kill(c->pid, SIGKILL);
		return;
	}
	worker_channel_stop(c, grace_ms);
	timer_set(c->deadline, grace_ms + EXIT_MARGIN_MS);
}

void
child_restart(struct child *c, const char *why, int expected_exit)
{
	if (c->pid == 0 || c->stop_requested)
		return;
	log_notice("the %s is restarted: %s", role_name(c->role), why);
	c->expected_exit = expected_exit;
	child_stop(c, RESTART_GRACE);
}

static void
exit_log(struct child *c, const char *how, unsigned wait)
{
	const char *why = c->kill_reason != NULL ? c->kill_reason : "";
	int is_last = c->workers->stopping || c->workers->config_test;

	snprintf(c->last_exit, sizeof(c->last_exit), "%s%s%s", how,
	    why[0] != '\0' ? ": " : "", why);
	if (c->stop_requested)
		log_info("the %s %s", role_name(c->role), how);
	else if (is_last)
		log_warnx("the %s %s", role_name(c->role), c->last_exit);
	else if (wait == 0) {
		log_about(LOG_ID_WORKER_ENDED, NULL, 0);
		log_errorx("the %s (pid %d) %s; restart now",
		    role_name(c->role), (int)c->pid, c->last_exit);
	} else {
		log_about(LOG_ID_WORKER_ENDED, NULL, 0);
		log_errorx("the %s (pid %d) %s; restart in %u.%u s",
		    role_name(c->role), (int)c->pid, c->last_exit, wait / 1000,
		    wait % 1000 / 100);
	}
}

static unsigned
restart_delay_after(struct child *c)
{
	if (c->expected_exit || BREAKOUT_BUILD)
		return 0;
	if (clock_ms() - c->started_ms >= STABLE_MS)
		c->failures = 0;
	return restart_delay(++c->failures);
}

/*
 * Collector and runner start and end together: the remaining process has
 * questions or commands of the process that ended.
 */
static void
partner_restart(const struct child *c)
{
	struct child *all = c->workers->children;

	if (c->workers->stopping || c->workers->config_test)
		return;
	if (c->role == ROLE_COLLECTOR)
		child_restart(&all[ROLE_RUNNER], "the collector has ended", 1);
	else if (c->role == ROLE_RUNNER)
		child_restart(&all[ROLE_COLLECTOR], "the runner has ended", 1);
}

void
child_exited(struct child *c, int status)
{
	struct workers *w = c->workers;
	char how[256];
	unsigned wait;

	/* Logs the last lines of the process before the line about its end. */
	log_pipe_free(c->log);
	c->log = NULL;
	exit_reason_text(w->setup->kmsg, c->pid, status, how, sizeof(how));
	wait = restart_delay_after(c);
	exit_log(c, how, wait);
	evtimer_del(c->deadline);
	c->pid = 0;
	c->state = CHILD_DOWN;
	channel_free(c->channel);
	c->channel = NULL;
	if (!c->stop_requested)
		quarantine_note_exit(c, status);
	/* An expected end is caused by the partner or by a reload. */
	if (!c->expected_exit)
		partner_restart(c);
	inflight_free(c->inflight);
	c->inflight = NULL;
	w->ops->gone(c);
	if (w->stopping)
		return;
	c->restarts++;
	timer_set(c->restart, wait);
}

struct child *
child_find(struct workers *w, pid_t pid)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (w->children[role].pid == pid)
			return &w->children[role];
	}
	return NULL;
}

const char *
children_text(const struct workers *w, int unanswered)
{
	static char text[ROLE__COUNT * 32];
	const struct child *c;
	size_t len = 0;
	int role;

	text[0] = '\0';
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &w->children[role];
		if (c->pid == 0 || (unanswered && c->conf_agreed != 0))
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%s (%ld)", len > 0 ? ", " : "", role_name(c->role),
		    (long)c->pid);
	}
	return len > 0 ? text : "the workers";
}
