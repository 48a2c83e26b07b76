/* SPDX-License-Identifier: MIT */
/*
 * Which controller is active, from answers of `scontrol ping`, and when the
 * submitter is told (activeOnly).
 */
#include "config.h"

#include <sys/utsname.h>

#include <stdarg.h>
#include <stdlib.h>

#include "collector/query/query_lanes.h"
#include "tests/unit/check.h"
#include "tests/unit/collector/simulation.h"

static struct cluster *c;
static struct controller_role *role;

/* Instead of the row of `status`: a note. */
void
worker_status(struct worker *w, uint64_t request, const char *key,
    const char *fmt, ...)
{
	char text[256];
	va_list ap;

	(void)w;
	(void)request;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sim_note("%s: %s", key, text);
}

static void
begin(void)
{
	c = sim_begin(NULL, NULL);
	conf_init(&c->site->w->conf);
	conf_set(&c->site->w->conf, CONF_ACTIVE_ONLY, "true");
	role = sim_keep(controller_role_new(c->site));
}

static void
end(void)
{
	conf_clear(&c->site->w->conf);
}

/* Pings and answers for two controllers; a place of -1: this host is none. */
static void
ping(int ours, const char *first, const char *second)
{
	struct utsname me;
	char text[512];

	CHECK_INT(uname(&me), 0);
	sim_pass(60);
	controller_role_kick(role);
	CHECK_STR(sim_asked(), "scontrol");
	CHECK_STR(sim_args("scontrol"), "ping");
	snprintf(text, sizeof(text),
	    "Slurmctld(primary) at %s is %s\nSlurmctld(backup) at %s is %s\n",
	    ours == 0 ? me.nodename : "one.example", first,
	    ours == 1 ? me.nodename : "two.example", second);
	sim_answer("scontrol", text);
}

static void
test_primary(void)
{
	begin();
	ping(0, "UP", "UP");
	CHECK_STR(sim_said(), "role active rank 0");
	/* Each answer is sent: the submitter may have ignored the last one. */
	ping(0, "UP", "DOWN");
	CHECK_STR(sim_said(), "role active rank 0");
	ping(0, "DOWN", "UP");
	CHECK_STR(sim_said(), "role passive rank 0");
	ping(0, "UP", "UP");
	CHECK_STR(sim_said(), "role active rank 0");
	/* A new submitter gets the role without a question. */
	controller_role_peer(role);
	CHECK_STR(sim_asked(), "");
	CHECK_STR(sim_said(), "role active rank 0");
	end();
}

/* The backup is active when squeue has answered after it became the first. */
static void
test_backup(void)
{
	begin();
	ping(1, "UP", "UP");
	CHECK_STR(sim_said(), "role passive rank 1");
	controller_role_status(role, 1);
	CHECK_STR(sim_said(),
	    "controllers: this host has a backup of 2 controllers; another "
	    "one is active");
	ping(1, "DOWN", "UP");
	CHECK_STR(sim_said(), "role passive rank 1");
	sim_pass(1);
	health_good(&c->ctld);
	ping(1, "DOWN", "UP");
	CHECK_STR(sim_said(), "role active rank 1");
	ping(1, "UP", "UP");
	CHECK_STR(sim_said(), "role passive rank 1");
	/* An answer of the time before counts no more. */
	ping(1, "DOWN", "UP");
	CHECK_STR(sim_said(), "role passive rank 1");
	end();
}

/* Without an answer, and when no controller is up, the role stays the same. */
static void
test_no_answer(void)
{
	begin();
	controller_role_peer(role);
	CHECK_STR(sim_said(), "");
	controller_role_status(role, 1);
	CHECK_STR(sim_said(), "controllers: not known yet");
	ping(0, "UP", "UP");
	CHECK_STR(sim_said(), "role active rank 0");
	ping(0, "DOWN", "DOWN");
	CHECK_STR(sim_said(), "");
	sim_pass(60);
	controller_role_kick(role);
	sim_answer_late("scontrol");
	CHECK_STR(sim_said(), "");
	/* Some versions end with status 1 when a controller is down. */
	sim_pass(60);
	controller_role_kick(role);
	sim_answer_failed("scontrol",
	    "Slurmctld(primary) at one.example is DOWN\n"
	    "Slurmctld(backup) at two.example is UP\n",
	    "");
	CHECK_STR(sim_said(), "role passive rank 0");
	end();
}

/* This host has no controller: nothing is sent from here. */
static void
test_other_host(void)
{
	begin();
	ping(-1, "UP", "UP");
	CHECK_STR(sim_said(), "role passive rank 0");
	ping(-1, "DOWN", "UP");
	CHECK_STR(sim_said(), "role passive rank 0");
	end();
}

/* One question for each poll interval, and none without the key. */
static void
test_interval(void)
{
	begin();
	ping(0, "UP", "UP");
	(void)sim_said();
	controller_role_kick(role);
	CHECK_STR(sim_asked(), "");
	sim_pass(60);
	controller_role_kick(role);
	controller_role_kick(role);
	CHECK_STR(sim_asked(), "scontrol");
	sim_answer("scontrol", "");
	conf_set(&c->site->w->conf, CONF_ACTIVE_ONLY, "false");
	sim_pass(60);
	controller_role_kick(role);
	CHECK_STR(sim_asked(), "");
	controller_role_peer(role);
	CHECK_STR(sim_said(), "");
	end();
}

int
main(void)
{
	test_primary();
	test_backup();
	test_no_answer();
	test_other_host();
	test_interval();
	return check_done();
}
