/* SPDX-License-Identifier: MIT */
/*
 * The parser process, seen from the supervisor.  A separate process reads
 * config.json, so that no secret enters the memory of the supervisor.  Its
 * messages are bounded and checked as a worker's are; it has ten seconds.
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

#include "supervisor/config/config_file.h"
#include "supervisor/supervisor.h"

#define PARSER_TIMEOUT_S    10 /* the file server may not answer */
#define PARSER_TIMEOUT_TEXT "10 s"
#define SECRETS_SEALS	    (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static const char other_version[] =
    "the programs have been replaced by another version: restart the service";

struct parser {
	struct supervisor *sup;
	struct channel *channel;
	struct event *deadline;
	pid_t pid;
	int same_version; /* `hello` was read */
	struct conf conf;
	struct secrets secrets;
	parser_done *done;
};

void
secrets_close(struct secrets *secrets)
{
	if (secrets->submitter != -1)
		close(secrets->submitter);
	if (secrets->receiver != -1)
		close(secrets->receiver);
	*secrets = NO_SECRETS;
}

/* The child may still run: children_reap() waits for it then. */
static void
parser_free(struct parser *p)
{
	channel_free(p->channel);
	if (p->deadline != NULL)
		event_free(p->deadline);
	conf_clear(&p->conf);
	secrets_close(&p->secrets);
	free(p);
}

/* Calls done and frees the parser.  reason NULL: success. */
static void
parser_finish(struct parser *p, const char *reason)
{
	struct supervisor *sup = p->sup;
	struct conf conf = p->conf;
	struct secrets secrets = p->secrets;
	parser_done *done = p->done;
	char text[REASON_MAX];

	sup->parser = NULL;
	log_pipe_read(sup->parser_log);
	if (reason == NULL) {
		conf_init(&p->conf);
		p->secrets = NO_SECRETS;
		parser_free(p);
		done(sup, &conf, secrets, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%s", reason);
	if (p->pid != 0)
		kill(p->pid, SIGKILL);
	parser_free(p);
	done(sup, NULL, NO_SECRETS, text);
}

/* 1 when a configuration is in force, whose deliver and source stay. */
static int
is_reload(const struct supervisor *sup)
{
	return sup->conf.generation != 0;
}

/* Accepts only a memfd that cannot change and not a pipe, which may block. */
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

/* Takes fd; *to is the memfd of the process that gets it. */
static void
on_secrets(struct parser *p, struct reader *r, int fd, int *to)
{
	const char *wrong = rd_end(r) == 0 ? secrets_check(fd) :
					     "malformed secrets";

	if (wrong != NULL || *to != -1) {
		close(fd);
		parser_finish(p,
		    wrong != NULL ? wrong :
				    "the parser sent the secrets twice");
		return;
	}
	*to = fd;
}

static void
on_bad(struct parser *p, struct reader *r)
{
	char *reason;

	rd_u32(r);
	reason = rd_strdup(r, MSG_PAYLOAD_MAX);
	parser_finish(p, rd_end(r) == 0 ? reason : "malformed conf-bad");
	free(reason);
}

static void
on_end(struct parser *p, struct reader *r)
{
	const struct conf *in_force = is_reload(p->sup) ? &p->sup->conf :
							  &p->conf;

	rd_u32(r);
	if (rd_end(r) == -1)
		parser_finish(p, "malformed conf-end");
	else
		parser_finish(p,
		    p->secrets.submitter == -1 ||
			    (conf_reads_stream(in_force) &&
				p->secrets.receiver == -1) ?
			"the parser sent no secrets" :
			NULL);
}

/* The program may have been replaced by another version since our start. */
static void
on_hello(struct parser *p, struct reader *r)
{
	struct writer w;

	wr_init(&w, MSG_PAYLOAD_MAX);
	parser_hello(&w);
	p->same_version = wr_end(&w) == 0 && r->left == w.len &&
	    memcmp(r->p, w.buf, w.len) == 0;
	wr_clear(&w);
	if (!p->same_version)
		parser_finish(p, other_version);
}

static void
on_frame(struct channel *c, const struct msg_header *h, struct reader *r,
    int fd, void *arg)
{
	struct parser *p = arg;

	if (h->type != MSG_HELLO && !p->same_version) {
		if (fd != -1)
			close(fd);
		parser_finish(p, other_version);
		return;
	}
	switch (h->type) {
	case MSG_HELLO:
		on_hello(p, r);
		break;
	case MSG_CONF:
		conf_read(r, &p->conf);
		if (rd_end(r) == -1)
			channel_broken(c, "conf");
		break;
	case MSG_SECRETS:
		on_secrets(p, r, fd, &p->secrets.submitter);
		break;
	case MSG_RECEIVER_SECRETS:
		on_secrets(p, r, fd, &p->secrets.receiver);
		break;
	case MSG_CONF_BAD:
		on_bad(p, r);
		break;
	case MSG_CONF_END:
		on_end(p, r);
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
	parser_finish(arg,
	    "the parser took longer than " PARSER_TIMEOUT_TEXT
	    "; does the file server answer?");
}

static const struct channel_ops ops = {
	.on_frame = on_frame,
	.on_broken = on_broken,
};

static pid_t
parser_spawn(const struct supervisor *sup, int fd, int log)
{
	char path[4096], name[] = "supervisor", flag[] = "-parse-config";
	char number[] = "3", given[] = "explicit", usual[] = "default";
	char level[8], deliver[16], source[16], missing[SLURM_USER_MAX];
	char *file = strdup(sup->setup.config_path);
	char *argv[] = { name, flag, file, number, level,
		sup->config_explicit ? given : usual,
		is_reload(sup) ? deliver : NULL, source,
		sup->setup.missing_user[0] != '\0' ? missing : NULL, NULL };
	char **env = env_parser();
	pid_t pid = -1;

	snprintf(level, sizeof(level), "%d", (int)log_get_level());
	snprintf(deliver, sizeof(deliver), "%s",
	    conf_str(&sup->conf, CONF_DELIVER));
	snprintf(source, sizeof(source), "%s",
	    conf_str(&sup->conf, CONF_SOURCE));
	snprintf(missing, sizeof(missing), "%s", sup->setup.missing_user);
	if (file != NULL && env != NULL &&
	    snprintf(path, sizeof(path), "%s/supervisor",
		sup->setup.program_dir) < (int)sizeof(path))
		pid = process_spawn(path, argv, env, fd, log);
	env_free(env);
	free(file);
	return pid;
}

int
parser_start(struct supervisor *sup, parser_done *done)
{
	static const struct timeval most = { .tv_sec = PARSER_TIMEOUT_S };
	struct parser *p = calloc(1, sizeof(*p));
	int fds[2], log;

	if (p == NULL)
		return -1;
	p->sup = sup;
	p->done = done;
	p->secrets = NO_SECRETS;
	conf_init(&p->conf);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1) {
		parser_free(p);
		return -1;
	}
	log_pipe_free(sup->parser_log);
	sup->parser_log = log_pipe_new(sup->base, "config", &log);
	p->pid = sup->parser_log != NULL ? parser_spawn(sup, fds[1], log) : -1;
	if (sup->parser_log != NULL)
		close(log);
	close(fds[1]);
	p->channel = channel_new(sup->base, fds[0], ROLE_SUPERVISOR,
	    ROLE_PARSER, &ops, p);
	p->deadline = evtimer_new(sup->base, on_deadline, p);
	if (p->pid == -1 || p->channel == NULL || p->deadline == NULL ||
	    event_add(p->deadline, &most) == -1) {
		parser_free(p);
		return -1;
	}
	sup->parser = p;
	return 0;
}

int
parser_has_pid(const struct supervisor *sup, pid_t pid)
{
	return sup->parser != NULL && sup->parser->pid == pid;
}

/* The channel reports an end without an answer. */
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
	struct parser *p = sup->parser;

	if (p == NULL)
		return;
	sup->parser = NULL;
	if (p->pid != 0)
		kill(p->pid, SIGKILL);
	parser_free(p);
}
