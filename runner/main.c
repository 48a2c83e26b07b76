/* SPDX-License-Identifier: MIT */
/*
 * Entry of the runner.  It checks each question of the collector, starts the
 * command, and sends the pipe and the end of the answer.  It runs as the user
 * who may see all jobs, and has no secret.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/crash_point.h"
#include "common/log.h"
#include "common/text/time_text.h"
#include "runner/confine/confine.h"
#include "runner/runner.h"

#define MISSING_CHECK_S 5 /* while a command is missing */

struct runner {
	struct worker *w;
	struct channel *collector; /* NULL = none */
	struct commands *commands;
	struct confine *confine;
	struct slurm_site site;
	struct event *check; /* timer: are the missing commands there? */
	struct lastrun lastrun;
};

static void
info_send(struct runner *r)
{
	struct writer w;

	if (r->collector == NULL)
		return;
	wr_init(&w, 1024);
	wr_str(&w, r->site.user);
	wr_u8(&w, geteuid() == 0);
	wr_str(&w, r->site.missing);
	wr_u64(&w, r->site.replaced);
	wr_i64(&w, lastrun_time(&r->lastrun));
	(void)channel_send(r->collector, MSG_RUNNER_INFO, 0, &w, -1);
	wr_clear(&w);
}

/* The collector reads Slurm's version again when commands were replaced. */
static void
commands_check(struct runner *r)
{
	static const struct timeval again = { .tv_sec = MISSING_CHECK_S };

	if (slurm_site_check(&r->site))
		info_send(r);
	if (r->site.missing[0] != '\0' && event_add(r->check, &again) == -1)
		fatalx("out of memory");
}

static void
on_check(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	commands_check(arg);
}

/* --- commands --- */

static void
on_started(uint64_t id, int fd, void *arg)
{
	struct runner *r = arg;

	if (r->collector != NULL)
		(void)channel_send(r->collector, MSG_ANSWER_FD, id, NULL, fd);
	else
		close(fd);
	CRASH_POINT("runner.started");
}

static void
on_ended(uint64_t id, const struct command_result *end, void *arg)
{
	struct runner *r = arg;
	struct writer w;

	if (r->collector == NULL)
		return;
	CRASH_POINT("runner.ended");
	wr_init(&w, RUNNER_ERR_MAX + 64);
	wr_u8(&w, (uint8_t)end->how);
	wr_u32(&w, (uint32_t)end->status);
	wr_u32(&w, end->ms);
	wr_u64(&w, end->peak);
	wr_str(&w, end->err);
	(void)channel_send(r->collector, MSG_ANSWER_END, id, &w, -1);
	wr_clear(&w);
}

static const struct commands_ops commands_ops = {
	.started = on_started,
	.ended = on_ended,
};

/* --- messages of the collector --- */

/* Where the C library finds the names of users and groups. */
static const char *const user_files[NAME_FILES_MAX + 1] = { "/etc/passwd",
	"/etc/group", "/etc/nsswitch.conf", NULL };

/* Starts the command of a question that was checked.  0, or -1. */
static int
question_start(struct runner *r, uint64_t id, const struct question *q)
{
	const struct question_type *type = question_type(q->kind);
	struct question_site site = { .user = r->site.user,
		.socket = r->site.munge_socket };
	struct question_args args;
	char path[1100];

	if (q->cluster > r->site.clusters ||
	    commands_running(r->commands) >= questions_max(r->site.clusters))
		return -1;
	if (q->cluster > 0)
		site.cluster = r->site.cluster[q->cluster - 1];
	commands_check(r);
	site.program = slurm_site_path(&r->site, type->command, path,
	    sizeof(path));
	if (question_args(q, &site, &args) == -1) {
		question_args_clear(&args);
		return -1;
	}
	return command_start(r->commands, id, type->deadline_ms,
	    question_has_users(q->kind) ? user_files : NULL, &args);
}

static void
on_question(struct runner *r, struct channel *ch, uint64_t id,
    struct reader *rd)
{
	struct question q;

	question_read(rd, &q);
	if (rd_end(rd) == -1 || question_start(r, id, &q) == -1)
		channel_broken(ch, "question");
	question_clear(&q);
}

static void
on_resume_time(struct runner *r, struct channel *ch, struct reader *rd)
{
	static struct log_limit limit;
	int64_t epoch = rd_time(rd);

	if (rd_end(rd) == -1)
		channel_broken(ch, "resume-time");
	else if (lastrun_set(&r->lastrun, epoch, time(NULL)) == -1)
		log_limited(&limit, log_warn,
		    "cannot set the time of the last-run file to %s",
		    time_text(epoch));
}

/* cancel, pause, continue have no payload. */
static void
on_control(struct runner *r, struct channel *ch, const struct msg_header *h,
    struct reader *rd)
{
	if (rd_end(rd) == -1)
		channel_broken(ch, msg_name(h->type));
	else if (h->type == MSG_CANCEL)
		command_cancel(r->commands, h->id);
	else
		command_pause(r->commands, h->id, h->type == MSG_PAUSE);
}

static void
on_neighbour(struct worker *w, struct channel *ch, const struct msg_header *h,
    struct reader *rd, int fd)
{
	struct runner *r = w->arg;

	if (fd != -1)
		close(fd);
	if (h->type == MSG_QUESTION)
		on_question(r, ch, h->id, rd);
	else if (h->type == MSG_RESUME_TIME)
		on_resume_time(r, ch, rd);
	else
		on_control(r, ch, h, rd);
}

/* Nobody reads the answers to the questions of another collector. */
static void
on_peer(struct worker *w, enum role peer, struct channel *ch)
{
	struct runner *r = w->arg;

	(void)peer;
	commands_kill(r->commands);
	r->collector = ch;
	info_send(r);
}

/* --- messages of the supervisor --- */

static void
on_init(struct worker *w)
{
	struct runner *r = w->arg;

	r->w = w;
	r->lastrun.fd = -1;
	r->commands = commands_new(w->base, &commands_ops, r);
	r->check = evtimer_new(w->base, on_check, r);
	if (r->commands == NULL || r->check == NULL)
		fatalx("out of memory");
}

static void
on_conf_commit(struct worker *w)
{
	struct runner *r = w->arg;
	const struct confine_conf conf = {
		.mode = w->sandbox_mode,
		.slurm_conf = conf_str(&w->conf, CONF_SLURM_CONF),
		.extra_paths = conf_str(&w->conf, CONF_SLURM_EXTRA_PATHS),
	};

	confine_free(r->confine);
	r->confine = confine_new(&conf);
	if (r->confine == NULL)
		fatal("cannot prepare the sandbox of Slurm's commands");
	if (slurm_site_conf(&r->site, &w->conf) == -1)
		fatalx("out of memory");
	commands_setup(r->commands, r->site.env, r->confine);
	commands_check(r);
	info_send(r);
}

static void
on_start(struct worker *w)
{
	struct runner *r = w->arg;

	log_notice("sandbox of Slurm's commands: %s",
	    confine_layers(r->confine));
}

static void
on_supervisor(struct worker *w, const struct msg_header *h, struct reader *rd,
    int fd)
{
	struct runner *r = w->arg;

	(void)rd;
	if (h->type == MSG_LASTRUN) {
		lastrun_take(&r->lastrun, fd);
		return;
	}
	if (fd != -1)
		close(fd);
	log_debug("the supervisor sent %s", msg_name(h->type));
}

static void
on_ctl(struct worker *w, uint64_t request, const struct ctl_request *req)
{
	struct runner *r = w->arg;

	if (req->verb != CTL_STATUS) {
		worker_ctl_end(w, request, CTL_ERROR,
		    "the runner does not support this request");
		return;
	}
	worker_status(w, request, "user", "%s", r->site.user);
	worker_status(w, request, "commands", "%s",
	    r->site.missing[0] != '\0' ? r->site.missing : "all installed");
	worker_status(w, request, "commands_sandbox", "%s",
	    confine_layers(r->confine));
	worker_ctl_end(w, request, CTL_OK, NULL);
}

/* After the next start all questions are repeated; nothing is lost. */
static void
on_stop(struct worker *w, uint32_t grace_ms)
{
	struct runner *r = w->arg;

	(void)grace_ms;
	commands_kill(r->commands);
	worker_exit(w);
}

static const struct worker_ops ops = {
	.role = ROLE_RUNNER,
	.init = on_init,
	.conf_commit = on_conf_commit,
	.start = on_start,
	.on_supervisor = on_supervisor,
	.on_peer = on_peer,
	.on_neighbour = on_neighbour,
	.on_ctl = on_ctl,
	.on_stop = on_stop,
};

int
main(int argc, char **argv)
{
	static struct runner runner;

	worker_main(&ops, &runner, argc, argv);
}
