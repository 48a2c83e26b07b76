/* SPDX-License-Identifier: MIT */
/*
 * Which configuration is in force, and how another one comes into force: the
 * parser reads the file, every worker that serves is asked, and only when all
 * have said conf-ok does anyone switch.  Whatever goes wrong before that
 * leaves the old one where it was, also for workers started later.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/system/supervisor.h"

#define ROUND_SECONDS	15	/* for all workers to look at it */

static void
round_clear(struct supervisor *sup)
{
	struct round *round = &sup->round;

	if (round->deadline != NULL)
		event_free(round->deadline);
	conf_clear(&round->conf);
	if (round->active && round->secrets != -1)
		close(round->secrets);
	memset(round, 0, sizeof(*round));
	round->secrets = -1;
}

/* Tells everyone who wants to know, and does the reload that waited for this. */
static void __attribute__((format(printf, 3, 4)))
reload_end(struct supervisor *sup, int ok, const char *fmt, ...)
{
	char text[REASON_MAX], status[REASON_MAX + 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	round_clear(sup);
	snprintf(sup->reload_outcome, sizeof(sup->reload_outcome), "%s", text);
	sup->reload_time = time(NULL);
	if (ok)
		log_notice("%s", text);
	else
		log_errorx("%s", text);
	snprintf(status, sizeof(status), "%s%s", ok ? "serving; " :
	    "serving with the old configuration; ", text);
	notify_ready(status);
	control_reload_done(sup, ok, text);
	if (sup->reload_wanted) {
		sup->reload_wanted = 0;
		reload_begin(sup);
	}
}

static void
switch_member(struct child *c, unsigned restarts)
{
	serve_use(c);
	if (restarts & (1u << c->role))
		child_restart(c, "what has changed takes that", 1);
}

/* Everyone has said yes. */
static void
round_switch(struct supervisor *sup)
{
	struct round *round = &sup->round;
	struct child *c;
	int role;

	conf_clear(&sup->conf);
	sup->conf = round->conf;
	conf_init(&round->conf);
	if (sup->secrets != -1)
		close(sup->secrets);
	sup->secrets = round->secrets;
	round->secrets = -1;
	control_users(sup);
	sockets_ctl_mode(sup);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->children[role];
		if (round->members & (1u << role))
			switch_member(c, round->restarts);
		else if (round->restarts & (1u << role))
			child_restart(c, "what has changed takes that", 1);
		else if (c->state == CHILD_CLOSED && c->asked != 0)
			conf_offer(c, &sup->conf, sup->secrets);
	}
	reload_end(sup, 1, "configuration %u is in force: %u value%s "
	    "changed, secrets read anew",
	    sup->conf.generation, round->changed,
	    round->changed == 1 ? "" : "s");
}

static void
round_check(struct supervisor *sup)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if ((sup->round.members & (1u << role)) != 0 &&
		    sup->children[role].agreed != sup->round.conf.generation)
			return;
	}
	round_switch(sup);
}

static void
on_round_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sup = arg;
	char names[128] = "";
	size_t len;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if ((sup->round.members & (1u << role)) == 0 ||
		    sup->children[role].agreed == sup->round.conf.generation)
			continue;
		len = strlen(names);
		snprintf(names + len, sizeof(names) - len, "%s%s",
		    len > 0 ? ", " : "", role_name((enum role)role));
	}
	reload_end(sup, 0, "configuration refused: no answer within %d s from: "
	    "%s; the old one stays in force", ROUND_SECONDS, names);
}

/* The listener gets all who may knock, those too that need not be named. */
int
conf_resolve(struct supervisor *sup, struct conf *conf)
{
	char *uids = prep_uids_complete(conf_str(conf, CONF_PREP_ALLOWED_UIDS),
	    &sup->places);
	int rc = -1;

	if (uids != NULL)
		rc = conf_set(conf, CONF_PREP_ALLOWED_UIDS, uids);
	free(uids);
	return rc;
}

static void
round_begin(struct supervisor *sup, struct conf *conf, int secrets)
{
	static const struct timeval most = { .tv_sec = ROUND_SECONDS };
	struct round *round = &sup->round;
	int role;

	round->active = 1;
	round->conf = *conf;
	round->secrets = secrets;
	round->conf.generation = ++sup->generations;
	if (conf_resolve(sup, &round->conf) == -1) {
		reload_end(sup, 0, "configuration refused: no memory");
		return;
	}
	round->changed = conf_diff(&sup->conf, &round->conf, &round->restarts);
	round->deadline = evtimer_new(sup->base, on_round_deadline, sup);
	if (round->deadline == NULL || event_add(round->deadline, &most) == -1) {
		reload_end(sup, 0, "configuration refused: no memory");
		return;
	}
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (sup->children[role].state != CHILD_SERVING)
			continue;
		round->members |= 1u << role;
		conf_offer(&sup->children[role], &round->conf,
		    round->secrets);
	}
	round_check(sup);
}

static void
on_loaded(struct supervisor *sup, struct conf *conf, int secrets,
    const char *reason)
{
	if (conf == NULL)
		reload_end(sup, 0, "configuration refused: %s; the old one "
		    "stays in force", reason);
	else
		round_begin(sup, conf, secrets);
}

void
reload_begin(struct supervisor *sup)
{
	if (sup->stopping)
		return;
	if (sup->loader != NULL || sup->round.active || !sup->announced) {
		sup->reload_wanted = 1;
		return;
	}
	log_info("reading %s again", sup->config_path);
	notify_reloading();
	if (load_start(sup, on_loaded) == -1)
		reload_end(sup, 0, "configuration not read: %s; the old one "
		    "stays in force", strerror(errno));
}

void
conf_first(struct supervisor *sup, struct conf *conf, int secrets)
{
	sup->conf = *conf;
	sup->conf.generation = ++sup->generations;
	sup->secrets = secrets;
	sup->round.secrets = -1;
	snprintf(sup->reload_outcome, sizeof(sup->reload_outcome),
	    "read at the start");
	sup->reload_time = time(NULL);
}

/* While a round is on, the old one: should it change, it is offered again. */
void
reload_hello(struct child *c)
{
	conf_offer(c, &c->sup->conf, c->sup->secrets);
}

/* The first configuration: all or none, too. */
static void
first_check(struct supervisor *sup)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (sup->children[role].agreed != sup->conf.generation)
			return;
	}
	if (sup->trial) {
		stop_begin(sup, "all have looked at it", 0);
		return;
	}
	sup->settled = 1;
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		serve_use(&sup->children[role]);
}

void
reload_ok(struct child *c, uint32_t generation)
{
	struct supervisor *sup = c->sup;

	c->agreed = generation;
	if (sup->round.active && (sup->round.members & (1u << c->role)) != 0) {
		if (generation == sup->round.conf.generation)
			round_check(sup);
	} else if (generation != sup->conf.generation)
		conf_offer(c, &sup->conf, sup->secrets);
	else if (sup->settled)
		serve_use(c);
	else
		first_check(sup);
}

void
reload_bad(struct child *c, uint32_t generation, const char *reason)
{
	struct supervisor *sup = c->sup;

	if (sup->round.active && generation == sup->round.conf.generation) {
		reload_end(sup, 0, "configuration refused by the %s: %s; the "
		    "old one stays in force", role_name(c->role), reason);
	} else if (!sup->settled) {
		log_errorx("%s: refused by the %s: %s", sup->config_path,
		    role_name(c->role), reason);
		stop_begin(sup, "the configuration was refused", 1);
	} else {
		log_errorx("the %s refuses the configuration in force: %s",
		    role_name(c->role), reason);
		child_kill(c, "it refuses the configuration in force");
	}
}

void
reload_child_gone(struct child *c)
{
	struct supervisor *sup = c->sup;

	if (sup->round.active && (sup->round.members & (1u << c->role)) != 0)
		reload_end(sup, 0, "configuration refused: the %s died while "
		    "it looked at it; the old one stays in force",
		    role_name(c->role));
}
