/* SPDX-License-Identifier: MIT */
/*
 * The parser's child, seen from here: config.json is read by a process that
 * lives for that alone, so that no secret ever enters this one.  Its frames
 * are bounded and checked like everyone's; it has ten seconds.
 */
#include "config.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/supervisor.h"

#define PARSER_SECONDS	10	/* a file on a dead file server is not waited for */
#define SECRETS_SEALS	(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct parser {
	struct supervisor *sup;
	struct channel	*channel;
	struct event	*deadline;
	pid_t		 pid;
	struct conf	 conf;
	int		 secrets;
	parser_done	*done;
};

/* The child may live on for a moment: children_reap takes it then. */
static void
parser_free(struct parser *l)
{
	channel_free(l->channel);
	if (l->deadline != NULL)
		event_free(l->deadline);
	conf_clear(&l->conf);
	if (l->secrets != -1)
		close(l->secrets);
	free(l);
}

/* Tells and is gone.  reason NULL: it went well. */
static void
parser_finish(struct parser *l, const char *reason)
{
	struct supervisor *sup = l->sup;
	struct conf conf = l->conf;
	int secrets = l->secrets;
	parser_done *done = l->done;
	char text[REASON_MAX];

	sup->parser = NULL;
	if (reason == NULL) {
		conf_init(&l->conf);
		l->secrets = -1;
		parser_free(l);
		done(sup, &conf, secrets, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%s", reason);
	if (l->pid != 0)
		kill(l->pid, SIGKILL);
	parser_free(l);
	done(sup, NULL, -1, text);
}

/* Only what cannot change any more, and is no pipe that would hang a reader. */
static const char *
secrets_check(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals == -1 || (seals & SECRETS_SEALS) != SECRETS_SEALS)
		return "the parser's secrets are not sealed";
	if (fstat(fd, &st) == -1 || st.st_size > (off_t)CONF_SECRETS_MAX)
		return "the parser's secrets are too long";
	return NULL;
}

static void
on_secrets(struct parser *l, struct reader *r, int fd)
{
	const char *wrong = rd_end(r) == 0 ? secrets_check(fd) :
	    "malformed secrets";

	if (wrong != NULL || l->secrets != -1) {
		close(fd);
		parser_finish(l, wrong != NULL ? wrong : "secrets came twice");
		return;
	}
	l->secrets = fd;
}

static void
on_bad(struct parser *l, struct reader *r)
{
	char *reason;

	rd_u32(r);
	reason = rd_strdup(r, MSG_PAYLOAD_MAX);
	parser_finish(l, rd_end(r) == 0 ? reason : "malformed conf-bad");
	free(reason);
}

static void
on_end(struct parser *l, struct reader *r)
{
	rd_u32(r);
	if (rd_end(r) == -1)
		parser_finish(l, "malformed conf-end");
	else
		parser_finish(l, l->secrets != -1 ? NULL : "no secrets came");
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct parser *l = arg;

	switch (h->type) {
	case MSG_CONF:
		conf_read(r, &l->conf);
		if (rd_end(r) == -1)
			channel_broken(c, "conf");
		break;
	case MSG_SECRETS:
		on_secrets(l, r, fd);
		break;
	case MSG_CONF_BAD:
		on_bad(l, r);
		break;
	case MSG_CONF_END:
		on_end(l, r);
		break;
	default:
		channel_broken(c, msg_name(h->type));
		if (fd != -1)
			close(fd);
	}
}

static void
on_broken(struct channel *c, const char *why, void *arg)
{
	char reason[REASON_MAX];

	snprintf(reason, sizeof(reason),
	    "the parser ended without an answer (%s)", why);
	parser_finish(arg, reason);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	parser_finish(arg, "the parser took too long; is the file on a dead server?");
}

static const struct channel_ops ops = {
	.on_frame = on_frame,
	.on_broken = on_broken,
};

static pid_t
parser_spawn(const struct supervisor *sup, int fd)
{
	char path[4096], name[] = "supervisor", flag[] = "-parse-config";
	char number[] = "3", given[] = "explicit", level[8];
	char *file = strdup(sup->setup.config_path);
	char *argv[] = { name, flag, file, number, level,
		sup->config_explicit ? given : NULL, NULL };
	char **env = env_parser();
	pid_t pid = -1;

	snprintf(level, sizeof(level), "%d", (int)log_get_level());
	if (file != NULL && env != NULL && snprintf(path, sizeof(path),
	    "%s/supervisor", sup->setup.program_dir) < (int)sizeof(path))
		pid = process_spawn(path, argv, env, fd);
	env_free(env);
	free(file);
	return pid;
}

int
parser_start(struct supervisor *sup, parser_done *done)
{
	static const struct timeval most = { .tv_sec = PARSER_SECONDS };
	struct parser *l = calloc(1, sizeof(*l));
	int fds[2];

	if (l == NULL)
		return -1;
	l->sup = sup;
	l->done = done;
	l->secrets = -1;
	conf_init(&l->conf);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1) {
		parser_free(l);
		return -1;
	}
	l->pid = parser_spawn(sup, fds[1]);
	close(fds[1]);
	l->channel = channel_new(sup->base, fds[0], ROLE_SUPERVISOR,
	    ROLE_PARSER, &ops, l);
	l->deadline = evtimer_new(sup->base, on_deadline, l);
	if (l->pid == -1 || l->channel == NULL || l->deadline == NULL) {
		parser_free(l);
		return -1;
	}
	event_add(l->deadline, &most);
	sup->parser = l;
	return 0;
}

int
parser_has_pid(const struct supervisor *sup, pid_t pid)
{
	return sup->parser != NULL && sup->parser->pid == pid;
}

/* How it ended matters only when it has not answered: its channel tells. */
int
parser_reaped(struct supervisor *sup, pid_t pid, int status)
{
	if (!parser_has_pid(sup, pid))
		return 0;
	sup->parser->pid = 0;
	if (WIFSIGNALED(status))
		log_warnx("the parser was killed by signal %d",
		    WTERMSIG(status));
	return 1;
}

void
parser_cancel(struct supervisor *sup)
{
	struct parser *l = sup->parser;

	if (l == NULL)
		return;
	sup->parser = NULL;
	if (l->pid != 0)
		kill(l->pid, SIGKILL);
	parser_free(l);
}
