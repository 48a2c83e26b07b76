/* SPDX-License-Identifier: MIT */
/*
 * The admin tool's door.  The kernel says who knocks; a request is of one
 * size; what a worker knows is asked of it, one worker after the other, and
 * its rows are passed on as they come.  Nobody here can hold up the loop: all
 * waits have limits, and so has what may pile up unread.
 */
#include "config.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "supervisor/supervisor.h"

#define CLIENTS_MAX	16
#define REQUEST_SECONDS	5
#define WRITE_SECONDS	10	/* a tool that stopped reading */
#define ANSWER_SECONDS	25	/* of one worker; the tool itself waits 30 */
#define LONG_SECONDS	600	/* a round with Slurm or cc-backend, a spool's check */
#define UNREAD_MAX	(8u * 1024 * 1024)
#define TEXT_MAX_ALL	2048	/* bytes of all workers' last words together */

#define L_	(1u << ROLE_LISTENER)
#define C_	(1u << ROLE_COLLECTOR)
#define W_	(1u << ROLE_SUBMITTER)

/* Who is asked, and what takes root. */
static const struct {
	unsigned	roles;
	int		root;
	int		slow;
} verbs[CTL__COUNT] = {
	[CTL_STATUS] = { L_ | C_ | W_, 0, 0 },
	[CTL_QUEUE] = { W_, 0, 0 },
	[CTL_RETRY] = { W_, 0, 0 },
	[CTL_DROP] = { W_, 1, 0 },
	[CTL_SYNC] = { C_ | W_, 0, 1 },
	[CTL_LOG] = { 0, 0, 0 },
	[CTL_RELOAD] = { 0, 0, 0 },
	[CTL_METRICS] = { L_ | C_ | W_, 0, 0 },
	[CTL_BACKFILL] = { C_, 0, 1 },
	[CTL_SPOOL] = { W_, 0, 1 },
	[CTL_REPAIR] = { W_, 1, 1 },
};

struct client {
	struct client	*next;
	struct control	*control;
	struct bufferevent *bev;
	struct event	*limit;		/* of what is awaited now */
	uid_t		 uid;
	uint64_t	 id;		/* of the request, in the workers' frames */
	struct ctl_request req;
	int		 asked;		/* the request is here */
	int		 at;		/* role whose answer is awaited, 0 = none */
	int		 reload;	/* awaits the outcome of a reload */
	int		 ended;		/* the end is in the buffer */
	enum ctl_status	 status;
	char		 text[TEXT_MAX_ALL];
};

struct control {
	struct supervisor *sup;
	struct event	*accepting;
	struct client	*clients;
	unsigned	 n_clients;
	uint64_t	 ids;		/* used so far */
	struct ctl_users users;
};

static void step(struct client *c);

static void
client_free(struct client *c)
{
	struct client **p = &c->control->clients;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->control->n_clients--;
	bufferevent_free(c->bev);
	event_free(c->limit);
	free(c);
}

static void
limit_set(struct client *c, int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	event_add(c->limit, &tv);
}

static void
reply(struct client *c, uint8_t kind, const void *payload, size_t len)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	uint32_t n = (uint32_t)len;

	if (len > CTL_REPLY_MAX)
		return;
	evbuffer_add(out, &n, sizeof(n));
	evbuffer_add(out, &kind, sizeof(kind));
	evbuffer_add(out, payload, len);
}

/* More is freed when the last byte is out. */
static void
client_end(struct client *c)
{
	struct writer w;

	if (c->ended)
		return;
	c->ended = 1;
	c->at = 0;
	c->reload = 0;
	wr_init(&w, CTL_REPLY_MAX);
	wr_u8(&w, (uint8_t)c->status);
	wr_str(&w, c->text);
	reply(c, CTL_KIND_END, w.buf, w.len);
	wr_clear(&w);
	limit_set(c, WRITE_SECONDS);
}

static void
text_add(struct client *c, const char *text)
{
	size_t len = strlen(c->text);

	if (text[0] != '\0')
		snprintf(c->text + len, sizeof(c->text) - len, "%s%s",
		    len > 0 ? "; " : "", text);
}

static void
client_refuse(struct client *c, enum ctl_status status, const char *text)
{
	c->status = status;
	text_add(c, text);
	client_end(c);
}

static void
own_row(void *arg, const struct writer *row)
{
	struct client *c = arg;

	if (wr_end(row) == 0)
		reply(c, CTL_KIND_ROW, row->buf, row->len);
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
	limit_set(c, LONG_SECONDS);
	log_notice("reload, asked for by user %u", (unsigned)c->uid);
	reload_begin(sup);
}

static void
begin(struct client *c)
{
	struct supervisor *sup = c->control->sup;
	const char *wrong = ctl_request_check(&c->req);

	if (wrong != NULL) {
		client_refuse(c, CTL_ERROR, wrong);
		return;
	}
	if (!ctl_users_may(&c->control->users, c->uid,
	    verbs[c->req.verb].root)) {
		log_warnx("admin tool: user %u may not do that (verb %u)",
		    (unsigned)c->uid, c->req.verb);
		client_refuse(c, CTL_DENIED, verbs[c->req.verb].root ?
		    "that takes root" : "only root and ctlUsers may do that");
		return;
	}
	c->id = ++c->control->ids;
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
	limit_set(c, verbs[c->req.verb].slow ? LONG_SECONDS : ANSWER_SECONDS);
	if (rc == -1)
		control_child_gone(c->control->sup, child->role);
}

/* Status and metrics say by themselves that a worker is away. */
static void
is_away(struct client *c, enum role role)
{
	char text[64];

	if (c->req.verb == CTL_STATUS || c->req.verb == CTL_METRICS)
		return;
	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "the %s is away", role_name(role));
	text_add(c, text);
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

	if (c == NULL)
		return;		/* it has gone meanwhile */
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) > UNREAD_MAX) {
		log_warnx("admin tool of user %u does not read its answer",
		    (unsigned)c->uid);
		client_free(c);
		return;
	}
	reply(c, CTL_KIND_ROW, row, len);
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
	text_add(c, text);
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

static void
on_limit(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;
	char text[64];

	if (!c->asked || c->ended) {
		client_free(c);
		return;
	}
	c->status = CTL_ERROR;
	snprintf(text, sizeof(text), "no answer from the %s", c->at != 0 ?
	    role_name((enum role)c->at) : "workers");
	text_add(c, text);
	client_end(c);
}

static void
on_readable(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);

	if (c->asked) {		/* one request is all */
		evbuffer_drain(in, evbuffer_get_length(in));
		return;
	}
	if (evbuffer_get_length(in) < sizeof(c->req))
		return;
	evbuffer_remove(in, &c->req, sizeof(c->req));
	c->asked = 1;
	begin(c);
}

static void
on_written(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;

	if (c->ended)
		client_free(c);
}

/* The tool may shut its writing side: it still reads. */
static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	struct client *c = arg;

	if ((what & BEV_EVENT_EOF) && (what & BEV_EVENT_READING) && c->asked) {
		bufferevent_disable(bev, EV_READ);
		return;
	}
	client_free(c);
}

static void
client_new(struct control *control, int fd, uid_t uid)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		close(fd);
		return;
	}
	c->control = control;
	c->uid = uid;
	c->status = CTL_OK;
	c->bev = bufferevent_socket_new(control->sup->base, fd,
	    BEV_OPT_CLOSE_ON_FREE);
	c->limit = evtimer_new(control->sup->base, on_limit, c);
	if (c->bev == NULL || c->limit == NULL) {
		if (c->bev != NULL)
			bufferevent_free(c->bev);
		else
			close(fd);
		free(c);
		return;
	}
	c->next = control->clients;
	control->clients = c;
	control->n_clients++;
	bufferevent_setcb(c->bev, on_readable, on_written, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, 2 * sizeof(c->req));
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	limit_set(c, REQUEST_SECONDS);
}

static void
on_accept(evutil_socket_t listening, short what, void *arg)
{
	struct control *control = arg;
	struct ucred who;
	socklen_t len = sizeof(who);
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd == -1)
		return;
	if (control->n_clients >= CLIENTS_MAX ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == -1) {
		close(fd);
		return;
	}
	client_new(control, fd, who.uid);
}

int
control_open(struct supervisor *sup)
{
	struct control *control = calloc(1, sizeof(*control));

	if (control == NULL)
		return -1;
	control->sup = sup;
	control->accepting = event_new(sup->base, sup->ctl_fd,
	    EV_READ | EV_PERSIST, on_accept, control);
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
