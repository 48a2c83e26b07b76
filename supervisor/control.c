/* SPDX-License-Identifier: MIT */
/*
 * The admin tool's requests: the supervisor does some itself; what a worker
 * knows is asked of it, one worker after the other, and its rows are passed on
 * as they come.  Nobody here can hold up the loop: all waits have limits.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "supervisor/control.h"

#define SHARE_MS	7000	/* of one worker when all are asked: one may be deaf */

#define L_	(1u << ROLE_LISTENER)
#define C_	(1u << ROLE_COLLECTOR)
#define W_	(1u << ROLE_SUBMITTER)

/* Who is asked, and what takes root. */
static const struct {
	unsigned	roles;
	int		root;
} verbs[CTL__COUNT] = {
	[CTL_STATUS] = { L_ | C_ | W_, 0 },
	[CTL_QUEUE] = { W_, 0 },
	[CTL_RETRY] = { W_, 0 },
	[CTL_DROP] = { W_, 1 },
	[CTL_SYNC] = { C_ | W_, 0 },
	[CTL_LOG] = { 0, 0 },
	[CTL_RELOAD] = { 0, 0 },
	[CTL_METRICS] = { L_ | C_ | W_, 0 },
	[CTL_BACKFILL] = { W_, 0 },
	[CTL_SPOOL] = { W_, 0 },
	[CTL_REPAIR] = { W_, 1 },
};

static void step(struct client *c);

static void
own_row(void *arg, const struct writer *row)
{
	if (wr_end(row) == 0)
		client_row(arg, row->buf, row->len);
}

static void
on_log(struct client *c)
{
	int64_t level = c->req.a;
	char text[64];

	if (level < 0 || level >= LOG_LEVEL__COUNT) {
		client_refuse(c, CTL_ERROR, "log levels are 0 to 5");
		return;
	}
	link_verbose(c->control->sup, (enum log_level)level);
	log_notice("log level %d, set by user %u", (int)level,
	    (unsigned)c->uid);
	snprintf(text, sizeof(text), "log level %d", (int)level);
	client_refuse(c, CTL_OK, text);
}

static void
on_reload(struct client *c)
{
	struct supervisor *sup = c->control->sup;

	if (sup->loader != NULL || sup->round.active || !sup->announced) {
		client_refuse(c, CTL_ERROR, "a reload or the start is still "
		    "under way");
		return;
	}
	c->reload = 1;
	client_limit(c, clock_left(c->end));
	log_notice("reload, asked for by user %u", (unsigned)c->uid);
	reload_begin(sup);
}

/*
 * A state that is sent because it was forced cannot be taken back, and what
 * users have written into their scripts is theirs.
 */
static int
destroys(const struct ctl_request *req)
{
	if (req->verb == CTL_SPOOL)
		return req->a == CTL_SPOOL_IMPORT ||
		    (req->flags & CTL_FLAG_ALL) != 0;
	return verbs[req->verb].root || (req->flags & CTL_FLAG_FORCE) != 0;
}

void
control_begin(struct client *c)
{
	struct supervisor *sup = c->control->sup;
	const char *wrong = ctl_request_check(&c->req);

	if (wrong != NULL) {
		client_refuse(c, CTL_ERROR, wrong);
		return;
	}
	if (!ctl_users_may(&c->control->users, c->uid, destroys(&c->req))) {
		log_warnx("admin tool: user %u may not do that (verb %u)",
		    (unsigned)c->uid, c->req.verb);
		client_refuse(c, CTL_DENIED, "that takes root");
		return;
	}
	c->id = ++c->control->ids;
	c->end = clock_ms() + ctl_seconds(c->req.verb) * 1000;
	if (c->req.verb == CTL_LOG)
		on_log(c);
	else if (c->req.verb == CTL_RELOAD)
		on_reload(c);
	else {
		if (c->req.verb == CTL_STATUS)
			report_status(sup, own_row, c);
		else if (c->req.verb == CTL_METRICS)
			report_metrics(sup, own_row, c);
		step(c);
	}
}

/* What one worker cannot say is no reason to leave out the others. */
static int
asks_all(const struct client *c)
{
	return c->req.verb == CTL_STATUS || c->req.verb == CTL_METRICS;
}

static void
ask(struct client *c, struct child *child)
{
	struct writer w;
	int rc;

	wr_init(&w, sizeof(c->req));
	wr_mem(&w, &c->req, sizeof(c->req));
	rc = channel_send(child->channel, MSG_CTL, c->id, &w, -1);
	wr_clear(&w);
	c->at = (int)child->role;
	client_limit(c, asks_all(c) ? SHARE_MS : clock_left(c->end));
	if (rc == -1)
		control_child_gone(c->control->sup, child->role);
}

/* Status and metrics say by themselves that a worker is away. */
static void
is_away(struct client *c, enum role role)
{
	char text[64];

	if (asks_all(c))
		return;
	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "the %s is away", role_name(role));
	client_text(c, text);
}

/* To the next worker that is to be asked, or to the end. */
static void
step(struct client *c)
{
	struct supervisor *sup = c->control->sup;
	int role = c->at == 0 ? WORKER_FIRST : c->at + 1;
	struct child *child;

	for (; role <= WORKER_LAST; role++) {
		if ((verbs[c->req.verb].roles & (1u << role)) == 0)
			continue;
		child = child_of(sup, (enum role)role);
		if (child->state == CHILD_SERVING && child->channel != NULL) {
			ask(c, child);
			return;
		}
		is_away(c, (enum role)role);
	}
	client_end(c);
}

static struct client *
client_of(struct supervisor *sup, enum role from, uint64_t request)
{
	struct client *c;

	if (sup->control == NULL)
		return NULL;
	for (c = sup->control->clients; c != NULL; c = c->next) {
		if (c->id == request && c->at == (int)from && !c->ended)
			return c;
	}
	return NULL;
}

void
control_row(struct supervisor *sup, enum role from, uint64_t request,
    const uint8_t *row, size_t len)
{
	struct client *c = client_of(sup, from, request);

	if (c != NULL)		/* else it has gone meanwhile */
		client_row(c, row, len);
}

void
control_end(struct supervisor *sup, enum role from, uint64_t request,
    enum ctl_status status, const char *text)
{
	struct client *c = client_of(sup, from, request);

	if (c == NULL)
		return;
	if (status != CTL_OK)
		c->status = status;
	client_text(c, text);
	step(c);
}

void
control_child_gone(struct supervisor *sup, enum role role)
{
	struct client *c, *next;

	if (sup->control == NULL)
		return;
	for (c = sup->control->clients; c != NULL; c = next) {
		next = c->next;
		if (c->at != (int)role || c->ended)
			continue;
		is_away(c, role);
		step(c);
	}
}

void
control_reload_done(struct supervisor *sup, int ok, const char *text)
{
	struct client *c;

	if (sup->control == NULL)
		return;
	for (c = sup->control->clients; c != NULL; c = c->next) {
		if (c->reload)
			client_refuse(c, ok ? CTL_OK : CTL_ERROR, text);
	}
}

void
control_late(struct client *c)
{
	char text[64];

	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "no answer from the %s", c->at != 0 ?
	    role_name((enum role)c->at) : "workers");
	client_text(c, text);
	if (c->at != 0 && asks_all(c))
		step(c);
	else
		client_end(c);
}

int
control_open(struct supervisor *sup)
{
	struct control *control = calloc(1, sizeof(*control));

	if (control == NULL)
		return -1;
	control->sup = sup;
	control->accepting = event_new(sup->base, sup->ctl_fd,
	    EV_READ | EV_PERSIST, client_accept, control);
	if (control->accepting == NULL ||
	    event_add(control->accepting, NULL) == -1) {
		free(control);
		return -1;
	}
	sup->control = control;
	control_users(sup);
	return 0;
}

void
control_close(struct supervisor *sup)
{
	struct control *control = sup->control;

	if (control == NULL)
		return;
	while (control->clients != NULL)
		client_free(control->clients);
	event_free(control->accepting);
	free(control);
	sup->control = NULL;
}

void
control_users(struct supervisor *sup)
{
	if (sup->control != NULL)
		ctl_users_read(&sup->control->users,
		    conf_str(&sup->conf, CONF_CTL_USERS));
}
