/* SPDX-License-Identifier: MIT */
/* The collector's tables, its configuration, and commands that misbehave. */
#include "config.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "collector/base/cluster.h"
#include "collector/base/settings.h"
#include "collector/base/tables.h"
#include "collector/slurm/runner.h"
#include "tests/unit/check.h"

static void
test_idmap(void)
{
	struct idmap m = { 0 };
	uint64_t i, sum = 0, key;
	uint32_t *v, value;
	size_t at = 0;
	int added;

	CHECK(idmap_get(&m, 1) == NULL);
	CHECK(idmap_put(&m, 0, &added) == NULL);
	for (i = 1; i <= 5000; i++) {
		v = idmap_put(&m, i * 64, &added);
		CHECK(v != NULL && added);
		*v = (uint32_t)i;
	}
	v = idmap_put(&m, 64, &added);
	CHECK(v != NULL && !added && *v == 1);
	/* Every second one goes; the others stay reachable. */
	for (i = 2; i <= 5000; i += 2)
		idmap_remove(&m, i * 64);
	CHECK_INT(m.n, 2500);
	for (i = 1; i <= 5000; i++) {
		v = idmap_get(&m, i * 64);
		CHECK((v != NULL) == (i % 2 == 1));
		CHECK(v == NULL || *v == i);
	}
	while ((key = idmap_next(&m, &at, &value)) != 0)
		sum += value;
	CHECK_INT(sum, 2500 * 2500);
	idmap_clear(&m);
}

static void
test_open(void)
{
	struct open_runs o = { 0 };
	struct open_run *run;
	size_t at;
	uint64_t i;
	int n = 0;

	CHECK(sizeof(struct open_run) <= 40);
	CHECK(open_find(&o, 1, 1) == NULL);
	for (i = 1; i <= 3000; i++)
		CHECK(open_put(&o, i, 1000 + (int64_t)i) != NULL);
	CHECK_INT(o.n, 3000);
	/* The same run once; a second run of one job beside it. */
	CHECK(open_put(&o, 5, 1005) == open_find(&o, 5, 1005));
	CHECK_INT(o.n, 3000);
	CHECK(open_put(&o, 5, 2000) != NULL);
	at = 0;
	while (open_of_job(&o, 5, &at) != NULL)
		n++;
	CHECK_INT(n, 2);
	for (i = 1; i <= 3000; i += 3)
		open_remove(&o, open_find(&o, i, 1000 + (int64_t)i));
	for (i = 1; i <= 3000; i++)
		CHECK((open_find(&o, i, 1000 + (int64_t)i) != NULL) ==
		    (i % 3 != 1));
	/* A start that moved, by squeue, and by its submission alone. */
	run = open_find(&o, 6, 1006);
	run->start_now = 1500;
	run->submit = 900;
	CHECK(open_find(&o, 6, 1500) == run);
	CHECK(open_match(&o, 6, 1700, 900, 0) == run);
	CHECK(open_match(&o, 6, 1700, 950, 0) == NULL);
	CHECK(open_match(&o, 6, 900, 900, 0) == NULL);
	/* The clock was set back while it ran: it began before it was submitted. */
	CHECK(open_match(&o, 6, 800, 900, 0) == run);
	CHECK(open_match(&o, 6, 800, 950, 0) == NULL);
	/* Known from the spool only: no restart, so it can be no other. */
	run = open_find(&o, 8, 1008);
	CHECK(open_match(&o, 8, 1700, 900, 0) == run);
	CHECK(open_match(&o, 8, 1700, 900, 1) == NULL);
	CHECK(open_match(&o, 8, 1700, 1600, 0) == NULL);
	open_clear(&o);
}

static void
test_done(void)
{
	struct done_runs d = { { 0 }, { 0 } };
	uint64_t i;

	CHECK_INT(run_number(0, 1), 0);
	CHECK_INT(run_number(1, 0), 0);
	CHECK_INT(run_number(1, -5), 0);
	CHECK_INT(run_number(1ull << 32, 5), 0);
	for (i = 1; i <= DONE_GENERATION + 10; i++)
		done_put(&d, i, 100);
	CHECK(done_has(&d, 1, 100));
	CHECK(!done_has(&d, 1, 101));
	CHECK(done_has(&d, DONE_GENERATION + 10, 100));
	for (; i <= 3 * DONE_GENERATION; i++)
		done_put(&d, i, 100);
	CHECK(!done_has(&d, 1, 100));
	done_clear(&d);
}

/* Once slurmctld has said its time, no step of our clock is in it. */
static void
test_slurm_clock(void)
{
	static struct cluster c;
	struct slurm_clock k = { .said = 0 };
	int64_t now = now_wall();

	CHECK_INT(slurm_clock_at(&k, 50, 1000), 1000);
	CHECK_INT(slurm_clock_at(&k, 90, 4600), 4600);
	slurm_clock_set(&k, 1700000000, 100);
	CHECK_INT(slurm_clock_at(&k, 100, 1000), 1700000000);
	CHECK_INT(slurm_clock_at(&k, 160, 1000), 1700000060);
	CHECK_INT(slurm_clock_at(&k, 160, 1800000000), 1700000060);
	/* Its own steps are. */
	slurm_clock_set(&k, 1699996400, 200);
	CHECK_INT(slurm_clock_at(&k, 210, 1800000000), 1699996410);

	CHECK(slurm_now(&c) >= now && slurm_now(&c) <= now_wall());
	slurm_clock_set(&c.clock, now - 3600, now_s());
	CHECK(slurm_now(&c) >= now - 3600 && slurm_now(&c) < now - 1800);
}

static const struct {
	const char	*text;
	const char	*host;
	uint32_t	 index;
	const char	*want;		/* NULL = none */
} gpus[] = {
	{ "{}", "n1", 0, NULL },
	{ "{\"^n1$\":[\"a\",\"b\"]}", "n1", 1, "b" },
	{ "{\"^n1$\":[\"a\",\"b\"]}", "n11", 1, NULL },
	{ "{\"n\":[\"a\"],\"n1\":[\"b\"]}", "n1", 0, "a" },
	{ "{\"n1\":[\"b\"],\"n\":[\"a\"]}", "n1", 0, "b" },
	{ "{\"n[12]\":[\"a\"]}", "xn2x", 0, "a" },
	{ "{\"n1\":[\"a\"]}", "n1", 1, NULL },
	{ "{\"n\":{\"0\":\"a\",\"3\":\"d\"}}", "n7", 3, "d" },
	{ "{\"n\":{\"0\":\"a\",\"3\":\"d\"}}", "n7", 1, NULL },
	{ "{\"n.\":{\"0\":\"a\"}}", "n7", 0, NULL },
	{ "{\"^(a+)+$\":[\"a\"],\"a\":[\"b\"]}",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 0, "b" },
};

static const char *const bad_gpus[] = {
	"", "[]", "{\"[\":[]}", "{\"n\":\"a\"}", "{\"n\":[1]}",
	"{\"n\":[\"\"]}", "{\"n\":{\"x\":\"a\"}}", "{\"n\":{\"9999\":\"a\"}}",
	"{\"n\":[\"012345678901234567890123456789012345678901234567890123456789abcd\"]}",
};

static void
test_gpus(void)
{
	char reason[256], address[ACCEL_MAX];
	struct gpu_map *map;
	size_t i;

	for (i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		map = gpu_map_new(gpus[i].text, reason, sizeof(reason));
		CHECK(map != NULL);
		if (map == NULL)
			continue;
		CHECK_STR(gpu_address(map, gpus[i].host, gpus[i].index,
		    address) == 0 ? address : NULL, gpus[i].want);
		gpu_map_free(map);
	}
	for (i = 0; i < sizeof(bad_gpus) / sizeof(bad_gpus[0]); i++) {
		reason[0] = '\0';
		map = gpu_map_new(bad_gpus[i], reason, sizeof(reason));
		CHECK(map == NULL && reason[0] != '\0');
		gpu_map_free(map);
	}
}

static void
test_settings(void)
{
	struct settings *set;
	struct conf conf;
	struct job job;
	char reason[256];

	conf_init(&conf);
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set != NULL && set->poll == 60 && set->names.n == 1);
	job_init(&job);
	CHECK(set != NULL && !settings_ignores(set, &job));
	settings_free(set);
	conf_set(&conf, CONF_IGNORE_HOSTS, "^login");
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set != NULL && !settings_ignores(set, &job));
	job_add_host(&job, "login1");
	CHECK(set != NULL && settings_ignores(set, &job));
	job_add_host(&job, "n1");
	CHECK(set != NULL && !settings_ignores(set, &job));
	settings_free(set);
	conf_set(&conf, CONF_IGNORE_HOSTS, "(");
	set = settings_new(&conf, reason, sizeof(reason));
	CHECK(set == NULL && strstr(reason, "offset") != NULL);
	settings_free(set);
	job_clear(&job);
	conf_clear(&conf);
}

struct outcome {
	struct event_base *base;
	enum command_outcome outcome;
	uint64_t	 bytes;
	char		 err[128];
	char		 out[256];
	size_t		 len;
	int		 refuse;
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
	struct command_spec spec = { .argv = argv, .deadline_ms = ms,
		.max_bytes = max, .on_output = on_output, .on_end = on_end,
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
	struct command_spec spec = { .argv = missing, .deadline_ms = 1000,
		.max_bytes = 1, .on_end = on_end, .arg = &o };
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
	CHECK_INT(o.outcome, preload != NULL && strstr(preload, "vgpreload") !=
	    NULL ? COMMAND_FAILED : COMMAND_SPAWN);
	CHECK_INT(runner_total(runner), 9);
	CHECK(time(NULL) - before < 5);
	runner_free(runner);
	event_base_free(o.base);
}

int
main(void)
{
	test_idmap();
	test_open();
	test_done();
	test_slurm_clock();
	test_gpus();
	test_settings();
	test_runner();
	return check_done();
}
