/* SPDX-License-Identifier: MIT */
/*
 * The requests of the admin tool.  The supervisor answers some itself and sends
 * the others to one worker after the other, whose rows it forwards.  Every wait
 * has a limit.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/control.h"

#define WORKER_TIMEOUT_MS 7000 /* per worker, when all are asked */
#define WORKER_LEAST_MS	  1000 /* the same, after the whole time */

#define L_ (1u << ROLE_LISTENER)
#define C_ (1u << ROLE_COLLECTOR)
#define R_ (1u << ROLE_RUNNER)
#define W_ (1u << ROLE_SUBMITTER)
#define E_ (1u << ROLE_EXPORTER)
#define V_ (1u << ROLE_RECEIVER)

/* Which workers get a request, and which requests only root may send. */
static const struct {
	const char *name; /* for a line of the log */
	unsigned roles;
	int root;
} verbs[CTL__COUNT] = {
	[CTL_STATUS] = { "status", L_ | C_ | R_ | W_ | E_ | V_, 0 },
	[CTL_QUEUE] = { "queue", W_, 0 },
	[CTL_RETRY] = { "retry", W_, 0 },
	[CTL_DROP] = { "drop", W_, 1 },
	[CTL_SYNC] = { "sync", C_ | W_, 0 },
	[CTL_LOG] = { "log", 0, 0 },
	[CTL_RELOAD] = { "reload", 0, 0 },
	[CTL_METRICS] = { "metrics", L_ | C_ | W_ | V_, 0 },
	[CTL_BACKFILL] = { "backfill", W_ | V_, 0 },
	[CTL_SPOOL] = { "spool", W_, 0 },
	[CTL_REPAIR] = { "repair", W_, 1 },
	[CTL_CHECK] = { "check", 0, 1 },
	[CTL_GPUS] = { "gpus", C_ | W_, 0 },
	[CTL_EXPLAIN] = { "explain", W_, 0 },
	[CTL_EXPLAIN_SLURM] = { "explain", C_ | V_, 0 },
	[CTL_HISTORY] = { "history", W_, 0 },
	[CTL_WARNINGS] = { "warnings", 0, 0 },
	[CTL_JOB_PART] = { "explain", C_ | V_, 0 },
};

static void request_next_worker(struct client *c);

static void
on_own_row(void *arg, const struct writer *row)
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
		client_reply(c, CTL_ERROR, "log levels are 0 to 5");
		return;
	}
	workers_set_log_level(&c->control->sup->workers, (enum log_level)level);
	log_notice("log level %d, set by user %u", (int)level,
	    (unsigned)c->uid);
	snprintf(text, sizeof(text), "log level %d", (int)level);
	client_reply(c, CTL_OK, text);
}

static void
on_reload(struct client *c)
{
	struct supervisor *sup = c->control->sup;

	if (sup->parser != NULL || sup->reload.active || !sup->ready_sent) {
		client_reply(c, CTL_ERROR,
		    "a reload or the start is still under way");
		return;
	}
	c->waits_reload = 1;
	client_timer_set(c, clock_left(c->deadline_ms));
	log_notice("reload requested by user %u", (unsigned)c->uid);
	reload_begin(sup);
}

/*
 * A forced state that was sent cannot be taken back; an export with --all has
 * the scripts of users in it.
 */
static int
is_destructive(const struct ctl_request *req)
{
	if (req->verb == CTL_SPOOL)
		return req->a == CTL_SPOOL_IMPORT ||
		    (req->flags & CTL_FLAG_ALL) != 0;
	return verbs[req->verb].root || (req->flags & CTL_FLAG_FORCE) != 0;
}

static void
request_begin(struct client *c)
{
	struct supervisor *sup = c->control->sup;
	const char *wrong = ctl_request_check(&c->req);

	if (wrong != NULL) {
		client_reply(c, CTL_ERROR, wrong);
		return;
	}
	if (!ctl_user_allowed(&c->control->users, c->uid,
		is_destructive(&c->req))) {
		log_warnx("admin tool: the request `%s` of user %u is refused: "
			  "only root may send it",
		    verbs[c->req.verb].name, (unsigned)c->uid);
		client_reply(c, CTL_DENIED, "only root may do that");
		return;
	}
	c->id = ++c->control->ids;
	c->deadline_ms = clock_ms() + ctl_seconds(c->req.verb) * 1000;
	if (c->req.verb == CTL_LOG)
		on_log(c);
	else if (c->req.verb == CTL_RELOAD)
		on_reload(c);
	else if (c->req.verb == CTL_CHECK)
		client_reply(c, CTL_ERROR, "only -test makes this request");
	else {
		if (c->req.verb == CTL_STATUS)
			status_report(sup, on_own_row, c);
		else if (c->req.verb == CTL_METRICS)
			metrics_report(sup, on_own_row, c);
		else if (c->req.verb == CTL_WARNINGS &&
		    warnings_report(on_own_row, c) == 0)
			client_text(c,
			    "no warning or error since the daemon started");
		request_next_worker(c);
	}
}

/* Without an answer of one worker, the rows of the others are sent. */
static int
is_report(const struct client *c)
{
	return c->req.verb == CTL_STATUS || c->req.verb == CTL_METRICS;
}

static void
request_send(struct client *c, struct child *child)
{
	int left = clock_left(c->deadline_ms), rc;
	struct writer w;

	wr_init(&w, sizeof(c->req));
	wr_mem(&w, &c->req, sizeof(c->req));
	rc = channel_send(child->channel, MSG_CTL, c->id, &w, -1);
	wr_clear(&w);
	c->worker = (int)child->role;
	if (is_report(c) && left > WORKER_TIMEOUT_MS)
		left = WORKER_TIMEOUT_MS;
	else if (is_report(c) && left < WORKER_LEAST_MS)
		left = WORKER_LEAST_MS;
	client_timer_set(c, left);
	if (rc == -1)
		control_child_gone(child);
}

/* In status and metrics, the row "state" shows that a worker is down. */
static void
worker_missing(struct client *c, enum role role)
{
	char text[64];

	if (is_report(c))
		return;
	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "the %s is not ready", role_name(role));
	client_text(c, text);
}

/* Sends the request to the next worker, or ends the answer. */
static void
request_next_worker(struct client *c)
{
	struct supervisor *sup = c->control->sup;
	int role = c->worker == 0 ? WORKER_FIRST : c->worker + 1;
	struct child *child;

	for (; role <= WORKER_LAST; role++) {
		if ((verbs[c->req.verb].roles & (1u << role)) == 0)
			continue;
		child = &sup->workers.children[(enum role)role];
		if (!child_is_used(child))
			continue;
		if (child->state == CHILD_READY && child->channel != NULL) {
			request_send(c, child);
			return;
		}
		worker_missing(c, (enum role)role);
	}
	client_finish(c);
}

static struct client *
client_find(const struct child *child, uint64_t request)
{
	const struct supervisor *sup = child->workers->arg;
	struct client *c;

	if (sup->control == NULL)
		return NULL;
	for (c = sup->control->clients; c != NULL; c = c->next) {
		if (c->id == request && c->worker == (int)child->role &&
		    !c->end_queued)
			return c;
	}
	return NULL;
}

/* The admin tool acts on the supervisor's rows of status. */
static int
row_is_own(const struct child *child, const uint8_t *row, size_t len)
{
	char process[64];
	struct reader r;
	unsigned table;

	rd_init(&r, row, len);
	table = rd_u8(&r);
	rd_u8(&r); /* number of fields */
	if (table == CTL_T_SUMMARY || table == CTL_T_PROBLEM ||
	    table == CTL_T_WARNING)
		return 0;
	if (r.err || table != CTL_T_STATUS)
		return !r.err;
	rd_name(&r, process, sizeof(process));
	return !r.err && strcmp(process, role_name(child->role)) == 0;
}

void
control_row(struct child *child, uint64_t request, const uint8_t *row,
    size_t len)
{
	struct client *c = client_find(child, request);

	if (!row_is_own(child, row, len)) {
		channel_broken(child->channel, "ctl-row");
		return;
	}
	if (c != NULL) /* else it has disconnected */
		client_row(c, row, len);
}

void
control_result(struct child *child, uint64_t request, enum ctl_status status,
    const char *text)
{
	struct client *c = client_find(child, request);

	if (c == NULL)
		return;
	if (status != CTL_OK)
		c->status = status;
	client_text(c, text);
	request_next_worker(c);
}

void
control_child_gone(struct child *child)
{
	struct supervisor *sup = child->workers->arg;
	struct client *c;

	if (sup->control == NULL)
		return;
	scrape_child_gone(sup->control, child);
	c = sup->control->clients;
	while (c != NULL) {
		if (c->worker != (int)child->role || c->end_queued) {
			c = c->next;
			continue;
		}
		worker_missing(c, child->role);
		request_next_worker(c);
		/* request_next_worker() can have freed any client. */
		c = sup->control->clients;
	}
}

void
control_reload_done(struct supervisor *sup, int ok, const char *text)
{
	struct client *c;

	if (sup->control == NULL)
		return;
	for (c = sup->control->clients; c != NULL; c = c->next) {
		if (c->waits_reload)
			client_reply(c, ok ? CTL_OK : CTL_ERROR, text);
	}
}

static void
request_timeout(struct client *c)
{
	char text[64];

	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "no answer from the %s",
	    c->worker != 0 ? role_name((enum role)c->worker) : "workers");
	client_text(c, text);
	if (c->worker != 0 && is_report(c))
		request_next_worker(c);
	else
		client_finish(c);
}

int
control_open(struct supervisor *sup)
{
	struct control *control = calloc(1, sizeof(*control));

	if (control == NULL)
		goto fail;
	control->sup = sup;
	control->on_request = request_begin;
	control->on_timeout = request_timeout;
	control->accepting = event_new(sup->base, sup->setup.ctl_fd,
	    EV_READ | EV_PERSIST, client_accept, control);
	if (control->accepting == NULL ||
	    event_add(control->accepting, NULL) == -1)
		goto fail;
	sup->control = control;
	control_users_update(sup);
	return 0;
fail:
	log_errorx("admin socket: out of memory");
	if (control != NULL && control->accepting != NULL)
		event_free(control->accepting);
	free(control);
	return -1;
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
control_users_update(struct supervisor *sup)
{
	if (sup->control != NULL)
		ctl_users_read(&sup->control->users,
		    conf_str(&sup->conf, CONF_CTL_USERS));
}
