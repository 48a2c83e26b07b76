/* SPDX-License-Identifier: MIT */
/* Commands: output, deadlines, limits, and commands that misbehave. */
#include "config.h"

#include <sys/wait.h>

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/clock.h"
#include "runner/confine/confine.h"
#include "runner/runner.h"
#include "tests/unit/check.h"

#define MOST_MS	 60000 /* of a command that ends; only a failure reaches it */
#define CLOCK_MS 20    /* that the clock of libevent may be behind */

static struct event_base *base;
static struct commands *cs;

static struct {
	enum answer_how how;
	int status;
	uint32_t ms;
	char err[RUNNER_ERR_MAX];
	char out[256];
	int fd;
	int ended;
} seen;

static void
on_started(uint64_t id, int fd, void *arg)
{
	CHECK_INT(id, 7);
	CHECK(arg == &seen);
	seen.fd = fd;
}

static void
on_ended(uint64_t id, const struct command_result *end, void *arg)
{
	CHECK_INT(id, 7);
	CHECK(arg == &seen);
	seen.how = end->how;
	seen.status = end->status;
	seen.ms = end->ms;
	snprintf(seen.err, sizeof(seen.err), "%s", end->err);
	seen.ended++;
	event_base_loopbreak(base);
}

static const struct commands_ops ops = { on_started, on_ended };

static const char *const *names; /* of the next command */
static const char *input = "";	 /* the same */

static void
begin(const char *program, const char *text, unsigned ms)
{
	struct question_args args = { .argv = { program, "-c", text, NULL } };

	wr_init(&args.text, 1);
	snprintf(args.input, sizeof(args.input), "%s", input);
	memset(&seen, 0, sizeof(seen));
	seen.fd = -1;
	CHECK_INT(command_start(cs, 7, ms, names, &args), 0);
	CHECK_INT(commands_running(cs), 1);
}

static void
finish(void)
{
	struct pollfd p = { .events = 0 };
	ssize_t n;

	event_base_dispatch(base);
	CHECK_INT(seen.ended, 1);
	CHECK_INT(commands_running(cs), 0);
	if (seen.fd == -1)
		return;
	n = read(seen.fd, seen.out, sizeof(seen.out) - 1);
	seen.out[n > 0 ? n : 0] = '\0';
	/* No process is left that holds the pipe. */
	p.fd = seen.fd;
	CHECK_INT(poll(&p, 1, MOST_MS), 1);
	close(seen.fd);
}

static void
shell(const char *text, unsigned ms)
{
	begin("/bin/sh", text, ms);
	finish();
}

static void
test_ends(void)
{
	shell("echo $A$HOME$USER; echo no >&2", MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK_INT(seen.status, 0);
	CHECK_STR(seen.out, "b\n");
	CHECK_STR(seen.err, "no");
	shell("exit 3", MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK(WIFEXITED(seen.status) && WEXITSTATUS(seen.status) == 3);
	shell("kill -9 $$", MOST_MS);
	CHECK(WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == 9);
	/* More on standard error than is kept, and NUL bytes in it. */
	shell("printf 'a\\000b' >&2; yes no | head -c 1000000 >&2; echo y",
	    MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK_STR(seen.out, "y\n");
	CHECK_INT(strncmp(seen.err, "a?bno\nno", 8), 0);
	/* A newline at the end is cut. */
	CHECK(strlen(seen.err) >= RUNNER_ERR_MAX - 2);
	begin("/nonexistent/squeue", "", MOST_MS);
	finish();
	CHECK_INT(seen.how, ANSWER_NOT_STARTED);
	CHECK(strstr(seen.err, "/nonexistent/squeue") != NULL);
	CHECK(strstr(seen.err, "No such file") != NULL);
}

/* The input ends; without one, standard input is ours. */
static void
test_input(void)
{
	char longest[HOOK_CREDENTIAL_MAX], own[256];
	ssize_t n;

	input = "MUNGE:A:";
	shell("cat; grep -ac 'M[U]NGE:A' /proc/$$/cmdline", 5000);
	CHECK_STR(seen.out, "MUNGE:A:0\n");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	input = longest;
	shell("wc -c", 5000);
	CHECK_INT(atoi(seen.out), HOOK_CREDENTIAL_MAX - 1);
	/* A command that does not read it. */
	shell("echo x", 5000);
	CHECK_STR(seen.out, "x\n");
	input = "";
	n = readlink("/proc/self/fd/0", own, sizeof(own) - 1);
	own[n > 0 ? n : 0] = '\0';
	shell("readlink -n /proc/$$/fd/0", 5000);
	CHECK_STR(seen.out, own);
}

static void
test_deadlines(void)
{
	/* Also for what it has forked and what ignores signals. */
	shell("trap '' TERM INT; sleep 100 & sleep 100", 200);
	CHECK_INT(seen.how, ANSWER_TIMEOUT);
	CHECK(WIFSIGNALED(seen.status));
	/* The command ends, its child holds the pipes: the child is killed. */
	shell("echo x; sleep 100 &", MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK_STR(seen.out, "x\n");
}

static void
on_cancel(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	command_cancel(cs, 7);
	command_cancel(cs, 8); /* no such command */
}

static void
on_continue(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	command_pause(cs, 7, 0);
}

static void
test_control(void)
{
	const struct timeval soon = { .tv_usec = 100000 };
	const struct timeval later = { .tv_usec = 600000 };
	long long began;

	begin("/bin/sh", "sleep 100", MOST_MS);
	event_base_once(base, -1, EV_TIMEOUT, on_cancel, NULL, &soon);
	finish();
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK(WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == 9);
	/* The deadline of 300 ms does not pass in a pause. */
	begin("/bin/sh", "sleep 0.7; echo x", 300);
	command_pause(cs, 7, 1);
	finish();
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK_STR(seen.out, "x\n");
	/* The deadline passes after the pause, which does not count. */
	began = clock_ms();
	begin("/bin/sh", "sleep 100", 300);
	command_pause(cs, 7, 1);
	event_base_once(base, -1, EV_TIMEOUT, on_continue, NULL, &later);
	finish();
	CHECK_INT(seen.how, ANSWER_TIMEOUT);
	CHECK(seen.ms >= 300 - CLOCK_MS);
	CHECK(clock_ms() - began - seen.ms >= 600 - CLOCK_MS);
}

/* A file of names that is replaced while a command runs. */
static void
test_names(void)
{
	static char file[] = "/tmp/test_commands.XXXXXX";
	static const char *const files[] = { "/nonexistent", file, NULL };
	int fd = mkstemp(file);
	char text[200];

	CHECK(fd != -1);
	close(fd);
	names = files;
	shell("echo x", MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	snprintf(text, sizeof(text), "echo x >%s.new; mv %s.new %s; echo y",
	    file, file, file);
	shell(text, MOST_MS);
	CHECK_INT(seen.how, ANSWER_STALE);
	CHECK(strstr(seen.err, file) != NULL);
	CHECK(strstr(seen.err, "was replaced while /bin/sh ran") != NULL);
	/* The next one finds the new file from its start on. */
	shell("echo z", MOST_MS);
	CHECK_INT(seen.how, ANSWER_EXITED);
	snprintf(text, sizeof(text), "rm %s", file);
	shell(text, MOST_MS);
	CHECK_INT(seen.how, ANSWER_STALE);
	names = NULL;
}

static char conf_dir[] = "/tmp/test_commands.XXXXXX";

/* A command that prints text and then replaces file of conf_dir. */
static void
conf_begin(const char *text, const char *file)
{
	char script[1000];

	snprintf(script, sizeof(script),
	    "cd %s; echo '%s' >&2; echo '# x' | cat %s - >new; mv new %s; "
	    "sleep 100",
	    conf_dir, text, file, file);
	begin("/bin/sh", script, 20000);
}

/*
 * Slurm's commands look for a missing include for 60 s.  A command that does so
 * is ended when slurm.conf or an include is replaced.
 */
static void
test_slurm_conf(void)
{
	static const char waits[] = "sacct: error: s_p_parse_file: cannot stat "
				    "file gone.conf: No such file or "
				    "directory, retrying in 1sec up to 60sec";
	struct timeval soon = { .tv_sec = 2 };
	char text[300];
	long long began;

	/* slurm.conf is the same: Slurm's own retry is not disturbed. */
	snprintf(text, sizeof(text), "echo '%s' >&2; sleep 2; echo x", waits);
	shell(text, 20000);
	CHECK_INT(seen.how, ANSWER_EXITED);
	CHECK_STR(seen.out, "x\n");
	/* A command that waits for no file continues. */
	conf_begin("sacct: error: something else", "slurm.conf");
	event_base_once(base, -1, EV_TIMEOUT, on_cancel, NULL, &soon);
	finish();
	CHECK_INT(seen.how, ANSWER_EXITED);
	conf_begin(waits, "slurm.conf");
	finish();
	began = clock_ms();
	CHECK_INT(seen.how, ANSWER_STALE);
	CHECK(strstr(seen.err,
		  "slurm.conf or an include was replaced while "
		  "/bin/sh waited") != NULL);
	/* The next one is ended later, and for an include as well. */
	conf_begin(waits, "more.conf");
	finish();
	CHECK_INT(seen.how, ANSWER_STALE);
	CHECK(clock_ms() - began >= COMMANDS_CONF_EVERY_MS - CLOCK_MS);
}

static void
conf_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", conf_dir, name);
	f = fopen(path, "w");
	CHECK(f != NULL);
	fputs(text, f);
	CHECK_INT(fclose(f), 0);
}

static void
conf_remove(void)
{
	char text[100];

	snprintf(text, sizeof(text), "rm -r %s", conf_dir);
	shell(text, MOST_MS);
}

/* Nobody hears of commands that are killed together. */
static void
test_kill(void)
{
	struct question_args twice = { .argv = { "/bin/true", NULL } };

	wr_init(&twice.text, 1);
	begin("/bin/sh", "sleep 100", MOST_MS);
	CHECK_INT(command_start(cs, 7, MOST_MS, NULL, &twice), -1);
	commands_kill(cs);
	CHECK_INT(commands_running(cs), 0);
	close(seen.fd);
	shell("echo next", MOST_MS);
	CHECK_STR(seen.out, "next\n");
}

int
main(void)
{
	static char variable[] = "A=b";
	static char *const env[] = { variable, NULL };
	char slurm_conf[PATH_MAX];
	const struct confine_conf off = { .mode = SANDBOX_OFF,
		.slurm_conf = slurm_conf };
	struct confine *c;

	CHECK(mkdtemp(conf_dir) != NULL);
	snprintf(slurm_conf, sizeof(slurm_conf), "%s/slurm.conf", conf_dir);
	conf_file("slurm.conf", "Include more.conf\n");
	conf_file("more.conf", "Include gone.conf\n");
	c = confine_new(&off);
	base = event_base_new();
	cs = commands_new(base, &ops, &seen);
	CHECK(cs != NULL && c != NULL);
	commands_setup(cs, env, c);
	test_ends();
	test_input();
	test_deadlines();
	test_control();
	test_names();
	test_slurm_conf();
	test_kill();
	conf_remove();
	return check_done();
}
