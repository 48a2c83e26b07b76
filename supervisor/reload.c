/* SPDX-License-Identifier: MIT */
/*
 * The configuration in force and the switch to another one.  The parser reads
 * the file; every ready worker gets its part and checks it; when these have
 * answered conf-ok, all switch.  After a failure before that, the old
 * configuration stays in force, also for workers that start later.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/supervisor.h"

#define RELOAD_TIMEOUT_S 15  /* for the answers of all workers */
#define ROLES_MAX	 128 /* bytes of the names of all workers */
/*
 * The receiver applies `clusters` without a restart.  If it restarted together with
 * the submitter, the active centre would lose its lease: each of the two gets the
 * lease back from the other.
 */
#define RESTART_ROLES \
	(1u << ROLE_LISTENER | 1u << ROLE_COLLECTOR | 1u << ROLE_RUNNER | \
	    1u << ROLE_SUBMITTER)

/* Appends the name of a key; kept has space for all of them. */
static void
kept_add(char kept[KEPT_MAX], const char *name)
{
	size_t n = strlen(kept);

	if (n + strlen(name) + 3 > KEPT_MAX)
		fatalx("KEPT_MAX is too small for the names of all keys");
	snprintf(kept + n, KEPT_MAX - n, "%s%s", n > 0 ? ", " : "", name);
}

/* Keeps the old value: only a restart of the service can change it. */
static int
value_keep(const struct conf *old, struct conf *next, enum conf_key key)
{
	log_warnx("%s changes only with a restart of the service; its value "
		  "stays \"%s\"",
	    conf_rule(key)->name, conf_str(old, key));
	return conf_set(next, key, conf_str(old, key));
}

/*
 * Compares next with old.  Values that need a restart of the service are set
 * back (logged), and kept gets their names.  Returns the number of values that
 * change; *restarts gets the roles that must be restarted.
 */
static unsigned
conf_diff(const struct conf *old, struct conf *next, unsigned *restarts,
    char kept[KEPT_MAX])
{
	/* The names in `clusters` are for the new source. */
	int other_source = conf_reads_stream(old) != conf_reads_stream(next);
	const struct conf_rule *rule;
	unsigned changed = 0;
	int key;

	*restarts = 0;
	kept[0] = '\0';
	for (key = 0; key < CONF__COUNT; key++) {
		rule = conf_rule(key);
		if (strcmp(conf_str(old, key), conf_str(next, key)) == 0)
			continue;
		if (rule->effect == CONF_EFFECT_SERVICE ||
		    (key == CONF_CLUSTERS && other_source)) {
			kept_add(kept, rule->name);
			if (value_keep(old, next, key) == -1)
				log_warnx(
				    "out of memory: the old value of %s is "
				    "not kept",
				    rule->name);
			continue;
		}
		changed++;
		if (rule->effect == CONF_EFFECT_RESTART)
			*restarts |= rule->roles & RESTART_ROLES;
		log_info("%s has changed", rule->name);
	}
	return changed;
}

static void
values_send(struct child *c, const struct conf *conf)
{
	struct writer w;
	int key;

	wr_init(&w, MSG_PAYLOAD_MAX);
	for (key = 0; key < CONF__COUNT; key++) {
		if (conf->values[key] == NULL ||
		    !conf_is_for(conf, key, c->role))
			continue;
		wr_reset(&w);
		conf_write(&w, key, conf->values[key]);
		channel_send(c->channel, MSG_CONF, 0, &w, -1);
	}
	wr_clear(&w);
}

/* Sends the part of conf that is for this worker, and conf-end. */
static void
conf_send(struct child *c, const struct conf *conf,
    const struct secrets *secrets)
{
	struct writer w;
	int fd = -1, copy;

	if (c->channel == NULL)
		return;
	values_send(c, conf);
	if (c->role == ROLE_SUBMITTER)
		fd = secrets->submitter;
	else if (c->role == ROLE_RECEIVER)
		fd = secrets->receiver;
	if (fd != -1) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (copy == -1) {
			log_error("cannot duplicate the descriptor for %s",
			    msg_name(MSG_SECRETS));
			return; /* without conf-end, the reload times out */
		}
		channel_send(c->channel, MSG_SECRETS, 0, NULL, copy);
	}
	wr_init(&w, sizeof(uint32_t));
	wr_u32(&w, conf->generation);
	channel_send(c->channel, MSG_CONF_END, 0, &w, -1);
	wr_clear(&w);
	c->conf_sent = conf->generation;
	c->conf_agreed = 0;
}

static void
reload_clear(struct supervisor *sup)
{
	struct reload *reload = &sup->reload;

	if (reload->deadline != NULL)
		event_free(reload->deadline);
	conf_clear(&reload->conf);
	if (reload->active)
		secrets_close(&reload->secrets);
	memset(reload, 0, sizeof(*reload));
	reload->secrets = NO_SECRETS;
}

/*
 * The offer is withdrawn.  It may have replaced that of the configuration in force
 * before the worker answered.
 */
static void
offer_again(struct supervisor *sup)
{
	struct child *c;
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->workers.children[role];
		if ((sup->reload.roles_asked & (1u << role)) &&
		    c->state == CHILD_READY &&
		    c->conf_used != sup->conf.generation)
			conf_send(c, &sup->conf, &sup->secrets);
	}
}

/* Reports the result and starts a pending reload. */
static void __attribute__((format(printf, 3, 4)))
reload_end(struct supervisor *sup, int ok, const char *fmt, ...)
{
	char text[REASON_MAX], status[REASON_MAX + 64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!ok)
		offer_again(sup);
	reload_clear(sup);
	snprintf(sup->reload_result, sizeof(sup->reload_result), "%s", text);
	sup->reload_time = time(NULL);
	log_about(ok ? LOG_ID_CONFIG_LOADED : LOG_ID_CONFIG_REFUSED, NULL, 0);
	sup->reload_failed = !ok;
	if (ok)
		log_notice("%s", text);
	else
		log_errorx("%s", text);
	snprintf(status, sizeof(status), "%s%s",
	    ok ? "serving; " : "serving with the old configuration; ", text);
	notify_ready(status);
	sup->reload_ops->finished(sup, ok, text);
	if (sup->reload_pending) {
		sup->reload_pending = 0;
		reload_begin(sup);
	}
}

static void
worker_commit(struct child *c, unsigned restarts)
{
	worker_activate(c);
	if (restarts & (1u << c->role))
		child_restart(c, "a changed value needs a restart", 1);
}

/* Appends the name of a role; names has space for all of them. */
static void
role_add(char names[ROLES_MAX], enum role role)
{
	size_t n = strlen(names);

	snprintf(names + n, ROLES_MAX - n, "%s%s", n > 0 ? ", " : "",
	    role_name(role));
}

/*
 * The end of the answer: the workers that were not asked.  The reload does not
 * wait for them: it can be the repair of a worker that does not get ready.
 */
static void
unchecked_text(const struct supervisor *sup, char *text, size_t size)
{
	char names[ROLES_MAX] = "";
	unsigned n = 0;
	int role;

	text[0] = '\0';
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if ((sup->reload.roles_asked & (1u << role)) ||
		    !child_is_used(&sup->workers.children[role]))
			continue;
		role_add(names, (enum role)role);
		n++;
	}
	if (n > 0)
		snprintf(text, size, "; not checked by: %s, which %s not ready",
		    names, n == 1 ? "was" : "were");
}

/* All workers that were asked have agreed. */
static void
reload_commit(struct supervisor *sup)
{
	struct reload *reload = &sup->reload;
	char kept[KEPT_MAX + 64], unchecked[ROLES_MAX + 64];
	struct child *c;
	int role;

	unchecked_text(sup, unchecked, sizeof(unchecked));
	conf_clear(&sup->conf);
	sup->conf = reload->conf;
	conf_init(&reload->conf);
	secrets_close(&sup->secrets);
	sup->secrets = reload->secrets;
	reload->secrets = NO_SECRETS;
	sockets_ctl_mode(&sup->setup, &sup->conf);
	sup->reload_ops->committed(sup);
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->workers.children[role];
		if (reload->roles_asked & (1u << role))
			worker_commit(c, reload->restarts);
		else if (reload->restarts & (1u << role))
			child_restart(c, "a changed value needs a restart", 1);
		else if (c->state >= CHILD_SANDBOXED && c->conf_sent != 0)
			/* It started meanwhile, with the old one. */
			conf_send(c, &sup->conf, &sup->secrets);
	}
	snprintf(kept, sizeof(kept), "%s%s",
	    reload->kept[0] != '\0' ?
		"; changes only with a restart of the service: " :
		"",
	    reload->kept);
	reload_end(sup, 1,
	    "configuration %u is in force: %u value%s changed, secrets read "
	    "again%s%s",
	    sup->conf.generation, reload->changed,
	    reload->changed == 1 ? "" : "s", kept, unchecked);
}

/* 1 when a reload is under way and the worker was asked to agree to it. */
static int
is_asked(const struct supervisor *sup, int role)
{
	return sup->reload.active &&
	    (sup->reload.roles_asked & (1u << role)) != 0;
}

static void
reload_check(struct supervisor *sup)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (is_asked(sup, role) &&
		    sup->workers.children[role].conf_agreed !=
			sup->reload.conf.generation)
			return;
	}
	reload_commit(sup);
}

static void
on_reload_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sup = arg;
	char names[ROLES_MAX] = "";
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (!is_asked(sup, role) ||
		    sup->workers.children[role].conf_agreed ==
			sup->reload.conf.generation)
			continue;
		role_add(names, (enum role)role);
	}
	reload_end(sup, 0,
	    "configuration refused: no answer within %d s from: "
	    "%s; the old one stays in force",
	    RELOAD_TIMEOUT_S, names);
}

/* The listener gets all users that may connect, root and slurmUser too. */
int
conf_add_own_uids(struct supervisor *sup, struct conf *conf)
{
	char *uids = hook_uids_complete(conf_str(conf, CONF_PREP_ALLOWED_UIDS),
	    &sup->setup);
	int rc = -1;

	if (uids != NULL)
		rc = conf_set(conf, CONF_PREP_ALLOWED_UIDS, uids);
	if (rc == -1)
		log_errorx("prepAllowedUids: out of memory");
	free(uids);
	return rc;
}

static void
reload_offer(struct supervisor *sup, struct conf *conf, struct secrets secrets)
{
	static const struct timeval most = { .tv_sec = RELOAD_TIMEOUT_S };
	struct reload *reload = &sup->reload;
	struct child *c;
	int role;

	reload->active = 1;
	reload->conf = *conf;
	reload->secrets = secrets;
	reload->conf.generation = ++sup->generations;
	if (conf_add_own_uids(sup, &reload->conf) == -1) {
		reload_end(sup, 0,
		    "configuration refused: %s; the old one stays in force",
		    "out of memory");
		return;
	}
	reload->changed = conf_diff(&sup->conf, &reload->conf,
	    &reload->restarts, reload->kept);
	/* Landlock's rules of a process cannot be extended. */
	if (sandbox_ports_differ(&sup->conf, &reload->conf, ROLE_SUBMITTER))
		reload->restarts |= 1u << ROLE_SUBMITTER;
	if (sandbox_ports_differ(&sup->conf, &reload->conf, ROLE_RECEIVER))
		reload->restarts |= 1u << ROLE_RECEIVER;
	reload->deadline = evtimer_new(sup->base, on_reload_deadline, sup);
	if (reload->deadline == NULL ||
	    event_add(reload->deadline, &most) == -1) {
		reload_end(sup, 0,
		    "configuration refused: %s; the old one stays in force",
		    "out of memory");
		return;
	}
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		c = &sup->workers.children[role];
		/* A worker that is restarted gets it at its next start. */
		if (c->state != CHILD_READY || c->stop_requested)
			continue;
		reload->roles_asked |= 1u << role;
		conf_send(c, &reload->conf, &reload->secrets);
	}
	reload_check(sup);
}

static void
on_parsed(struct supervisor *sup, struct conf *conf, struct secrets secrets,
    const char *reason)
{
	if (conf == NULL)
		reload_end(sup, 0,
		    "configuration refused: %s; the old one stays in force",
		    reason);
	else
		reload_offer(sup, conf, secrets);
}

void
reload_begin(struct supervisor *sup)
{
	if (sup->workers.stopping)
		return;
	if (sup->parser != NULL || sup->reload.active || !sup->ready_sent) {
		sup->reload_pending = 1;
		return;
	}
	/*
	 * The new configuration may have a host name that only the new hosts
	 * file has.
	 */
	resolver_files_check(&sup->workers);
	log_info("reading %s again", sup->setup.config_path);
	notify_reloading();
	if (sup->reload_ops->parse(sup, on_parsed) == -1)
		reload_end(sup, 0,
		    "configuration not read: %s; the old one stays in force",
		    strerror(errno));
}

void
conf_set_first(struct supervisor *sup, struct conf *conf,
    struct secrets secrets)
{
	sup->conf = *conf;
	sup->conf.generation = ++sup->generations;
	sup->secrets = secrets;
	sup->reload.secrets = NO_SECRETS;
	snprintf(sup->reload_result, sizeof(sup->reload_result),
	    "read at the start");
	sup->reload_time = time(NULL);
}

/*
 * Sends the configuration in force: during a reload the old one, after the
 * switch the new one.
 */
void
reload_hello(struct child *c)
{
	const struct supervisor *sup = c->workers->arg;

	conf_send(c, &sup->conf, &sup->secrets);
}

/* The first configuration comes into force for all workers at once, too. */
static void
first_conf_check(struct supervisor *sup)
{
	int role;

	for (role = WORKER_FIRST; role <= WORKER_LAST; role++) {
		if (child_is_used(&sup->workers.children[role]) &&
		    sup->workers.children[role].conf_agreed !=
			sup->conf.generation)
			return;
	}
	if (sup->workers.config_test) {
		sup->reload_ops->tested(sup);
		return;
	}
	sup->conf_committed = 1;
	for (role = WORKER_FIRST; role <= WORKER_LAST; role++)
		worker_activate(&sup->workers.children[role]);
}

void
reload_ok(struct child *c, uint32_t generation)
{
	struct supervisor *sup = c->workers->arg;

	c->conf_agreed = generation;
	if (is_asked(sup, c->role)) {
		if (generation == sup->reload.conf.generation)
			reload_check(sup);
	} else if (generation != sup->conf.generation)
		conf_send(c, &sup->conf, &sup->secrets);
	else if (sup->conf_committed)
		worker_activate(c);
	else
		first_conf_check(sup);
}

void
reload_bad(struct child *c, uint32_t generation, const char *reason)
{
	struct supervisor *sup = c->workers->arg;

	if (sup->reload.active && generation == sup->reload.conf.generation) {
		reload_end(sup, 0,
		    "configuration refused by the %s: %s; the "
		    "old one stays in force",
		    role_name(c->role), reason);
	} else if (!sup->conf_committed) {
		log_errorx("%s: refused by the %s: %s", sup->setup.config_path,
		    role_name(c->role), reason);
		sup->reload_ops->stop(sup, "the configuration was refused", 1);
	} else if (generation != sup->conf.generation) {
		/* The reload has ended; the worker uses the one in force. */
		log_debug("the %s refuses a configuration that is not in "
			  "force, ignored: %s",
		    role_name(c->role), reason);
	} else {
		log_errorx("the %s refuses the configuration in force: %s",
		    role_name(c->role), reason);
		child_kill(c, "it refuses the configuration in force");
	}
}

void
reload_child_gone(struct child *c)
{
	struct supervisor *sup = c->workers->arg;

	if (is_asked(sup, c->role))
		reload_end(sup, 0,
		    "configuration refused: the %s ended while "
		    "it checked it; the old one stays in force",
		    role_name(c->role));
}
