/* SPDX-License-Identifier: MIT */
/*
 * The two-step switch: nobody uses a configuration before everyone has agreed
 * to it, and whatever goes wrong leaves the old one in force.  What reload.c
 * calls is played here and written down.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "supervisor/system/supervisor.h"
#include "tests/unit/check.h"

static struct supervisor sup;
static void (*loaded)(struct supervisor *, struct conf *, int, const char *);
static unsigned offered[ROLE__COUNT], used[ROLE__COUNT];
static unsigned restarted, killed, stopped;
static int outcome;	/* -1 none, 0 refused, 1 in force */

int
parser_start(struct supervisor *s, void (*done)(struct supervisor *,
    struct conf *, int, const char *))
{
	loaded = done;
	return 0;
}

void
conf_send(struct child *c, const struct conf *conf, int secrets)
{
	c->conf_sent = conf->generation;
	c->conf_agreed = 0;
	offered[c->role] = conf->generation;
}

void
worker_activate(struct child *c)
{
	used[c->role] = c->conf_agreed;
}

void
child_restart(struct child *c, const char *why, int expected_exit)
{
	restarted |= 1u << c->role;
}

void
child_kill(struct child *c, const char *why)
{
	killed |= 1u << c->role;
}

void
shutdown_begin(struct supervisor *s, const char *why, int status)
{
	stopped = 1;
}

void
control_reload_done(struct supervisor *s, int ok, const char *text)
{
	outcome = ok;
}

void control_users_update(struct supervisor *s) { }
void sockets_ctl_mode(const struct supervisor *s) { }
void notify_ready(const char *status) { }
void notify_reloading(void) { }

char *
hook_uids_complete(const char *list, const struct setup *setup)
{
	return strdup("[\"0\"]");
}

static void
agree(enum role role)
{
	reload_ok(&sup.children[role], sup.children[role].conf_sent);
}

static void
all_agree(void)
{
	agree(ROLE_LISTENER);
	agree(ROLE_COLLECTOR);
	agree(ROLE_SUBMITTER);
}

/* A file was read: one value in it, or nothing but defaults. */
static void
file_says(enum conf_key key, const char *value)
{
	struct conf conf;

	outcome = -1;
	restarted = 0;
	reload_begin(&sup);
	conf_init(&conf);
	if (value != NULL)
		conf_set(&conf, key, value);
	loaded(&sup, &conf, dup(0), NULL);
}

static void
start(void)
{
	struct conf conf;
	int role;

	memset(&sup, 0, sizeof(sup));
	sup.base = event_base_new();
	sup.secrets = -1;
	sup.config_path = "config.json";
	conf_init(&conf);
	conf_add_own_uids(&sup, &conf);
	conf_set_first(&sup, &conf, dup(0));
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		sup.children[role].sup = &sup;
		sup.children[role].role = (enum role)role;
		sup.children[role].state = CHILD_SANDBOXED;
		reload_hello(&sup.children[role]);
		used[role] = 0;
	}
	killed = stopped = 0;
}

static void
serve_all(void)
{
	int role;

	start();
	all_agree();
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		sup.children[role].state = CHILD_READY;
	sup.ready_sent = 1;
}

static void
end(void)
{
	conf_clear(&sup.conf);
	if (sup.secrets != -1)
		close(sup.secrets);
	event_base_free(sup.base);
}

static void
test_first(void)
{
	start();
	agree(ROLE_LISTENER);
	agree(ROLE_SUBMITTER);
	CHECK_INT(used[ROLE_LISTENER], 0);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(used[ROLE_COLLECTOR], 1);
	CHECK_INT(used[ROLE_SUBMITTER], 1);
	end();

	start();
	reload_bad(&sup.children[ROLE_COLLECTOR], 1, "no");
	CHECK_INT(stopped, 1);
	end();
}

static void
test_switch(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	CHECK_INT(offered[ROLE_LISTENER], 2);
	agree(ROLE_LISTENER);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);
	CHECK_INT(outcome, -1);
	agree(ROLE_SUBMITTER);
	CHECK_INT(outcome, 1);
	CHECK_INT(used[ROLE_LISTENER], 2);
	CHECK_INT(used[ROLE_SUBMITTER], 2);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 5);
	CHECK_INT(sup.conf.generation, 2);
	CHECK_INT(restarted, 0);
	end();
}

static void
test_refused(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	agree(ROLE_LISTENER);
	reload_bad(&sup.children[ROLE_COLLECTOR], 2, "no");
	CHECK_INT(outcome, 0);
	agree(ROLE_SUBMITTER);		/* too late: it is offered the old one */
	CHECK_INT(offered[ROLE_SUBMITTER], 1);
	CHECK_INT(used[ROLE_LISTENER], 1);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);

	file_says(CONF_POLL_INTERVAL, "6");
	agree(ROLE_LISTENER);
	reload_child_gone(&sup.children[ROLE_SUBMITTER]);
	CHECK_INT(outcome, 0);
	CHECK_INT(conf_int(&sup.conf, CONF_POLL_INTERVAL), 60);

	outcome = -1;
	reload_begin(&sup);
	loaded(&sup, NULL, -1, "line 3: what is that?");
	CHECK_INT(outcome, 0);
	CHECK_INT(sup.conf.generation, 1);
	end();
}

/* One that is away is not asked; what is in force then is what it gets. */
static void
test_away(void)
{
	struct child *c = &sup.children[ROLE_COLLECTOR];

	serve_all();
	c->state = CHILD_DOWN;
	file_says(CONF_POLL_INTERVAL, "5");
	c->state = CHILD_SANDBOXED;
	reload_hello(c);
	CHECK_INT(offered[ROLE_COLLECTOR], 1);
	agree(ROLE_LISTENER);
	agree(ROLE_SUBMITTER);
	CHECK_INT(outcome, 1);
	CHECK_INT(offered[ROLE_COLLECTOR], 3 - 1);
	agree(ROLE_COLLECTOR);
	CHECK_INT(used[ROLE_COLLECTOR], 2);
	reload_bad(c, 2, "changed its mind");
	CHECK_INT(killed, 1u << ROLE_COLLECTOR);
	end();
}

static void
test_effects(void)
{
	serve_all();
	file_says(CONF_SLURM_BIN_DIR, "/opt/slurm/bin");
	all_agree();
	CHECK_INT(restarted, 1u << ROLE_COLLECTOR);
	file_says(CONF_SLURM_EXTRA_PATHS, "[\"/opt\"]");
	all_agree();
	CHECK_INT(restarted, 1u << ROLE_COLLECTOR);
	CHECK_STR(conf_str(&sup.conf, CONF_SLURM_BIN_DIR), "");
	/* Takes a restart of the service: said, and left as it is. */
	file_says(CONF_SPOOL_DIR, "/elsewhere");
	all_agree();
	CHECK_INT(outcome, 1);
	CHECK_STR(conf_str(&sup.conf, CONF_SPOOL_DIR), "");
	end();
}

/* A second wish while one is under way comes after it. */
static void
test_twice(void)
{
	serve_all();
	file_says(CONF_POLL_INTERVAL, "5");
	loaded = NULL;
	reload_begin(&sup);
	CHECK(loaded == NULL);
	all_agree();
	CHECK(loaded != NULL);
	CHECK_INT(sup.reload_pending, 0);
	end();
}

int
main(void)
{
	log_init("test", LOG_LEVEL_FATAL);
	test_first();
	test_switch();
	test_refused();
	test_away();
	test_effects();
	test_twice();
	return check_done();
}
