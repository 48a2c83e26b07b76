/* SPDX-License-Identifier: MIT */
/* Commands: output, deadlines, limits, and commands that misbehave. */
#include "config.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/slurm/runner.h"
#include "tests/unit/check.h"

struct outcome {
	struct event_base *base;
	enum command_outcome outcome;
	uint64_t bytes;
	char err[128];
	char out[256];
	size_t len;
	int refuse;
};

static int
on_output(const char *p, size_t n, void *arg)
{
	struct outcome *o = arg;

	if (n > sizeof(o->out) - 1 - o->len)
		n = sizeof(o->out) - 1 - o->len;
	memcpy(o->out + o->len, p, n);
	o->len += n;
	o->out[o->len] = '\0';
	return o->refuse ? -1 : 0;
}

static void
on_end(const struct command_end *end, void *arg)
{
	struct outcome *o = arg;

	o->outcome = end->outcome;
	o->bytes = end->bytes;
	snprintf(o->err, sizeof(o->err), "%s", end->err);
	event_base_loopbreak(o->base);
}

static struct runner *runner;

static void
shell(struct outcome *o, const char *text, unsigned ms, uint64_t max)
{
	const char *argv[] = { "/bin/sh", "-c", text, NULL };
	struct command_spec spec = { .argv = argv,
		.deadline_ms = ms,
		.max_bytes = max,
		.on_output = on_output,
		.on_end = on_end,
		.arg = o };

	o->len = 0;
	o->out[0] = '\0';
	CHECK(runner_start(runner, &spec) != NULL);
	event_base_dispatch(o->base);
	CHECK_INT(runner_running(runner), 0);
}

static void
test_runner(void)
{
	static const char *const env[] = { "A=b", NULL };
	const char *missing[] = { "/nonexistent/squeue", NULL };
	struct outcome o = { .base = event_base_new() };
	struct command_spec spec = { .argv = missing,
		.deadline_ms = 1000,
		.max_bytes = 1,
		.on_end = on_end,
		.arg = &o };
	time_t before = time(NULL);
	const char *preload;

	runner = runner_new(o.base, env);
	CHECK(runner != NULL);
	shell(&o, "echo $A$HOME$USER; echo no >&2", 5000, 100);
	CHECK_INT(o.outcome, COMMAND_OK);
	CHECK_STR(o.out, "b\n");
	CHECK_STR(o.err, "no");
	shell(&o, "exit 3", 5000, 100);
	CHECK_INT(o.outcome, COMMAND_FAILED);
	shell(&o, "kill -9 $$", 5000, 100);
	CHECK_INT(o.outcome, COMMAND_FAILED);
	/* A deadline, also for what it has forked and what ignores signals. */
	shell(&o, "trap '' TERM INT; sleep 100 & sleep 100", 200, 100);
	CHECK_INT(o.outcome, COMMAND_TIMEOUT);
	/* It ends, its child holds the pipe: the child is killed. */
	shell(&o, "echo x; sleep 100 &", 5000, 100);
	CHECK_INT(o.outcome, COMMAND_OK);
	CHECK_STR(o.out, "x\n");
	shell(&o, "yes", 5000, 100000);
	CHECK_INT(o.outcome, COMMAND_TOO_LONG);
	o.refuse = 1;
	shell(&o, "yes", 5000, 100000000);
	CHECK_INT(o.outcome, COMMAND_REFUSED);
	o.refuse = 0;
	/* More on standard error than is kept. */
	shell(&o, "yes no | head -c 1000000 >&2; echo y", 5000, 100);
	CHECK_INT(o.outcome, COMMAND_OK);
	CHECK_STR(o.out, "y\n");
	CHECK(runner_start(runner, &spec) != NULL);
	event_base_dispatch(o.base);
	/* Under valgrind the child of posix_spawn is a fork, and ends with 127. */
	preload = getenv("LD_PRELOAD");
	CHECK_INT(o.outcome,
	    preload != NULL && strstr(preload, "vgpreload") != NULL ?
		COMMAND_FAILED :
		COMMAND_SPAWN);
	CHECK_INT(runner_total(runner), 9);
	CHECK(time(NULL) - before < 5);
	runner_free(runner);
	event_base_free(o.base);
}

int
main(void)
{
	test_runner();
	return check_done();
}
